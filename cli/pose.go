package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/manual"
	"github.com/halyard-robotics/halyard/internal/report"
)

func newPose(a *app) *cobra.Command {
	top := &cobra.Command{Use: "pose", Short: "save the positions of all joints, and move back to them",
		Long: "Saves the positions of all joints under a name, and moves back to them. Poses are files in the folder " +
			"poses beside the config.\nCONFIG is as for halyard move."}
	var f moveFlags
	sub := func(use, short, example string, flags bool, run func(ctx context.Context, target, name string) error) {
		c := &cobra.Command{Use: use, Short: short, Example: "  " + example, Args: cobra.ArbitraryArgs,
			RunE: func(cmd *cobra.Command, args []string) error {
				verb, _, _ := strings.Cut(use, " ")
				target, name, err := named(args, "pose "+verb, verb == "list", example)
				if err != nil {
					return err
				}
				return run(cmd.Context(), target, name)
			}}
		if flags {
			f.add(c)
		}
		top.AddCommand(c)
	}
	sub("save [CONFIG] NAME", "save the present positions", "halyard pose save rest", true,
		func(ctx context.Context, target, name string) error {
			return a.withRig(ctx, &f.configFlags, target, func(ctx context.Context, o *operator) error {
				rows, err := o.savePose(ctx, name)
				return shown(a, rows, err)
			})
		})
	sub("go [CONFIG] NAME", "move to a saved pose", "halyard pose go rest", true,
		func(ctx context.Context, target, name string) error {
			return a.withRig(ctx, &f.configFlags, target, func(ctx context.Context, o *operator) error {
				p, err := manual.LoadPose(o.folder, name)
				if err != nil {
					return err
				}
				return o.moved(ctx, &manual.Request{Op: manual.Move, Goals: p.Goals(), Speed: f.speed})
			})
		})
	sub("list [CONFIG]", "list saved poses", "halyard pose list", false,
		func(_ context.Context, target, _ string) error {
			folder := "."
			if _, err := os.Stat(target); target != "" && err == nil {
				folder = filepath.Dir(target)
			}
			list, err := manual.Poses(folder)
			return shown(a, list, err)
		})
	return top
}

// named separates NAME, the last argument, from CONFIG; with bare there is no NAME.
func named(args []string, op string, bare bool, example string) (target, name string, err error) {
	n := len(args)
	if !bare && n > 0 {
		n--
		name = args[n]
		err = manual.CheckName(name)
	}
	if n == 1 {
		target = args[0]
	}
	if n > 1 || !bare && name == "" {
		err = &hal.Error{Kind: hal.Invalid, Op: op, Err: fmt.Errorf("got %d arguments, want [CONFIG] NAME", len(args)),
			Try: example}
	}
	return target, name, err
}

// savePose saves where the joints are.
func (o *operator) savePose(ctx context.Context, name string) ([]manual.SavedJoint, error) {
	var now manual.Update
	if err := o.do(ctx, &manual.Request{Op: manual.Watch}, func(u manual.Update) error {
		now = u
		return errEnough
	}); !errors.Is(err, errEnough) {
		return nil, cmp.Or(err, error(&hal.Error{Kind: hal.Timeout, Op: "pose save", Err: errors.New("no position")}))
	}
	file, saved, err := manual.SavePose(o.folder, name, now.Joints)
	if err != nil {
		return nil, err
	}
	o.app.note("%s is saved. Next: halyard pose go %s", file, name)
	return saved, nil
}

// slidesOf are the names of joints whose unit is metres, as a motion names them.
func slidesOf(m *manual.Motion, joints []manual.Joint) map[string]bool {
	slides := map[string]bool{}
	for i, j := range joints {
		slides[m.Joints[i]] = j.Unit == "m"
	}
	return slides
}

func newTeach(a *app) *cobra.Command {
	var f moveFlags
	var t teaching
	c := &cobra.Command{
		Use:   "teach [CONFIG] NAME",
		Short: "record a motion by hand and play it back",
		Long: "Switches the torque off, records the motion that you show by hand, then eases in and plays it back.\n" +
			"The motion is a file of comma-separated values in the folder motions beside the config, in the units of " +
			"--units.\nHold what could fall: without torque an arm drops. With --compliant the joints keep a fifth of " +
			"their torque and follow your hand.\nCONFIG is as for halyard move.",
		Example: "  halyard teach nod\n  halyard teach nod --play --pace 0.5\n  halyard teach so101 nod --compliant",
		Args:    arguments("[CONFIG] NAME", "halyard teach nod"),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, name, err := named(args, "teach", false, "halyard teach nod")
			if err != nil {
				return err
			}
			f.brief = true
			t.in, t.speed = commission.NewAsker(a.in), f.speed
			return a.withRig(cmd.Context(), &f.configFlags, target, func(ctx context.Context, o *operator) error {
				return t.run(ctx, o, name)
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&t.play, "play", false, "play the motion that is recorded already")
	c.Flags().BoolVar(&t.compliant, "compliant", false, "keep a fifth of the torque; the joints follow your hand")
	c.Flags().Float64Var(&t.seconds, "seconds", 0, "record so long, in place of the second Enter")
	c.Flags().Float64Var(&t.pace, "pace", 1, "play at this times the recorded pace")
	return c
}

// motionRow is a recorded motion.
type motionRow struct {
	Motion  string        `json:"motion"`
	File    string        `json:"file"`
	Samples int           `json:"samples"`
	Seconds report.Number `json:"seconds"`
	Joints  string        `json:"joints"` // that move
}

// Cells implements report.Row.
func (r motionRow) Cells() report.Cells {
	return report.Cells{{"motion", r.Motion}, {"file", r.File}, {"samples", r.Samples}, {"seconds", r.Seconds},
		{"joints that move", r.Joints}}
}

// teaching is one run of halyard teach.
type teaching struct {
	in              *commission.Asker
	play, compliant bool
	seconds, pace   float64
	speed           string
}

func (t *teaching) run(ctx context.Context, o *operator, name string) error {
	file := manual.MotionFile(o.folder, name)
	if !t.play {
		if err := t.record(ctx, o, name, file); err != nil {
			return err
		}
		o.app.note("Enter plays it back, n leaves it.")
		if answer, err := t.in.Line(ctx); err != nil || answer != "" {
			if errors.Is(err, context.Canceled) {
				return err
			}
			o.app.note("Next: halyard teach %s --play", name)
			return nil
		}
	}
	m, err := manual.LoadMotion(file)
	if err != nil {
		return err
	}
	return o.moved(ctx, &manual.Request{Op: manual.Play, Motion: m, Pace: t.pace, Speed: t.speed})
}

// record records what a hand shows. At its end the joints hold again.
func (t *teaching) record(ctx context.Context, o *operator, name, file string) error {
	if t.compliant {
		o.app.note("Enter starts: the joints keep a fifth of their torque and follow your hand.")
	} else {
		o.app.note("Hold the robot: Enter switches the torque off, and what nothing holds falls.")
	}
	if _, err := t.in.Line(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		return &hal.Error{Kind: hal.Invalid, Op: "teach", Err: fmt.Errorf("the input ended: %w", err)}
	}
	op := manual.Guide
	if !t.compliant {
		op = manual.Watch
		if err := o.order(ctx, control.OrderDisarm); err != nil {
			return err
		}
	}
	recording, end := context.WithCancel(ctx)
	defer end()
	if t.seconds > 0 {
		recording, end = context.WithTimeout(ctx, time.Duration(t.seconds*float64(time.Second)))
		defer end()
		o.app.note("Recording for %g s: move it by hand.", t.seconds)
	} else {
		o.app.note("Recording: move it by hand. Enter ends it; hold the robot until it says that it holds.")
		go func() {
			defer end()
			t.in.Line(recording)
		}()
	}
	var r manual.Record
	var joints []manual.Joint
	err := o.do(recording, &manual.Request{Op: op}, func(u manual.Update) error {
		joints = u.Joints
		return r.Add(u)
	})
	if e := ctx.Err(); e != nil {
		return e
	}
	if !t.compliant { // where it is now
		err = errors.Join(err, o.order(ctx, control.OrderArm), o.hold(ctx))
	}
	if err != nil {
		return err
	}
	o.app.note("It holds: let go.")
	moves := r.Moving()
	if len(moves) == 0 {
		return &hal.Error{Kind: hal.Invalid, Op: "teach " + name,
			Err: errors.New("no joint has moved; the motion is not saved"),
			Try: "halyard teach " + name}
	}
	r.Trim()
	if err := manual.SaveMotion(file, &r.Motion, o.app.units, slidesOf(&r.Motion, joints)); err != nil {
		return err
	}
	n := len(r.Samples)
	return show(o.app, []motionRow{{name, file, n, report.Number(r.Samples[n-1].Time - r.Samples[0].Time),
		strings.Join(moves, ", ")}})
}

// hold holds all joints where they are: armed without a command they have no torque yet.
func (o *operator) hold(ctx context.Context) error {
	return o.do(ctx, &manual.Request{Op: manual.Hold}, func(manual.Update) error { return nil })
}
