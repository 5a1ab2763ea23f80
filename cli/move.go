package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/manual"
)

// ownConfig is the config of commands without CONFIG, where no rig runs: halyard new writes it.
const ownConfig = "robot.yaml"

// operator moves a rig: of this process, or the running one called name.
type operator struct {
	app    *app
	rig    *hal.Rig
	name   string
	folder string // of poses and motions
}

// moveFlags are the flags of the commands that move.
type moveFlags struct {
	configFlags
	speed string
}

func (f *moveFlags) add(c *cobra.Command) {
	f.configFlags.add(c)
	c.Flags().StringVar(&f.speed, "speed", "", `greatest speed, such as 20deg/s or 50mm/s (default 0.5rad/s, 0.05m/s)`)
}

// operate calls f with the running rig of a config, or, where none runs, opens the config, arms it, and ends it after
// f. target is a config or the name of a running rig; "" is the only rig that runs, else robot.yaml in this folder.
func (a *app) withRig(ctx context.Context, flags *configFlags, target string,
	f func(context.Context, *operator) error) error {
	o := &operator{app: a, folder: "."}
	if target == "" {
		name, err := control.Running()
		if err != nil {
			return err
		}
		if o.name = name; name == "" {
			if _, err := os.Stat(ownConfig); err != nil {
				return &hal.Error{Kind: hal.Absent, Op: "move", Try: "halyard new, or halyard move CONFIG JOINT=30deg",
					Err: fmt.Errorf("no rig is running, and no %s is in this folder", ownConfig)}
			}
			target = ownConfig
		}
	}
	if target != "" && control.Runs(target) {
		o.name = target
	}
	var c *halyard.Config
	if o.name == "" {
		var err error
		if c, err = flags.load(a, []string{target}); err != nil {
			return err
		}
		if c.Dir != "" {
			o.folder = c.Dir
		}
		if control.Runs(c.Name) {
			o.name = c.Name
		}
	}
	if o.name == "" {
		return a.opened(ctx, c, o, f)
	}
	if flags.body != "" || len(flags.set) > 0 {
		return &hal.Error{Kind: hal.Invalid, Op: "move", Try: "without --body and --set",
			Err: fmt.Errorf("the rig %s is running with a body of its own", o.name)}
	}
	a.note("%s is running: it moves there.", o.name)
	return f(ctx, o)
}

// terse leaves out what a short command reports by its own end: lost answers, and torque that stays on.
type terse struct{ slog.Handler }

func (t terse) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn || r.Message == "device fault" || strings.HasPrefix(r.Message, "joint holds") {
		return nil
	}
	return t.Handler.Handle(ctx, r)
}

// openTries is how often a robot is opened whose servos do not all answer.
const openTries = 3

// knownTime is how long the positions of an opened robot may take to become known.
const knownTime = 5 * time.Second

// opened runs the robot of c, without servers, while f moves it.
func (a *app) opened(ctx context.Context, c *halyard.Config, o *operator,
	f func(context.Context, *operator) error) error {
	a.note("%s", bodyLine(c))
	c.Servers, c.Record.File = nil, ""
	for i := range c.Agents {
		g := &c.Agents[i].Guard
		g.Armed = true             // typing the command is the act of the operator; what holds goes on holding
		if g.OnTimeout == "park" { // it stays where it was moved to
			g.OnTimeout = "hold"
		}
	}
	var s *halyard.System
	var err error
	for range openTries { // a single answer that is lost must not end a short command
		s, err = halyard.Open(c, a.options(slog.New(terse{a.log().Handler()}))...)
		if k := hal.KindOf(err); err == nil || ctx.Err() != nil || k != hal.BusFault && k != hal.Timeout &&
			k != hal.Absent {
			break
		}
	}
	if err != nil {
		return err
	}
	o.rig = s.Rig()
	torqueOff := func() { stopRigs([]*hal.Rig{o.rig}, "a second signal") }
	a.torqueOff.Store(&torqueOff)
	defer a.torqueOff.Store(nil)
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	ran := make(chan error, 1)
	go func() { ran <- s.Run(running) }()
	err = o.known(ctx)
	if err == nil {
		err = f(ctx, o)
	}
	end()
	err = errors.Join(err, <-ran, s.Close())
	a.part(c)
	return err
}

// known waits until the positions of all joints are measured.
func (o *operator) known(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, knownTime, errors.New("timeout"))
	defer cancel()
	err := o.do(ctx, &manual.Request{Op: manual.Watch}, func(u manual.Update) error {
		for _, j := range u.Joints {
			if math.IsNaN(float64(j.Position)) {
				return nil
			}
		}
		return errEnough
	})
	if err == nil && ctx.Err() != nil && errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err // one that stays unknown is reported when it is to move
}

var errEnough = errors.New("enough")

func (o *operator) do(ctx context.Context, q *manual.Request, seen func(manual.Update) error) error {
	if o.rig != nil {
		return manual.Run(ctx, o.rig, q, seen)
	}
	return control.Operate(ctx, o.name, q, seen)
}

// order executes an order of an operator.
func (o *operator) order(ctx context.Context, what control.Order) error {
	if o.rig == nil {
		_, err := control.Send(ctx, o.name, what)
		return err
	}
	if ans := control.Execute(o.rig, what, "asked by the command"); ans.Error != "" {
		return &hal.Error{Kind: ans.Kind, Err: errors.New(ans.Error)}
	}
	return nil
}

// moved executes a request that moves, and shows its joints.
func (o *operator) moved(ctx context.Context, q *manual.Request) error {
	o.app.note("Ctrl-C stops: the joints hold.")
	var last manual.Update
	err := o.do(ctx, q, func(u manual.Update) error {
		last = u
		return nil
	})
	if hal.KindOf(err) == hal.Differs { // with what was reached
		err = errors.Join(show(o.app, last.Joints), err)
	}
	return shown(o.app, last.Joints, err)
}

// bodyLine tells on what kind of body a config runs.
func bodyLine(configured ...*halyard.Config) string {
	real, other, emulated := false, false, false
	var ports []string
	for _, c := range configured {
		for i := range c.Agents {
			real, other = real || c.Agents[i].Has(configs.Real), other || c.Agents[i].HasOther(configs.Real)
			emulated = emulated || c.Agents[i].Has(configs.Emulated)
		}
		for _, class := range c.Classes { // a client's INIT makes them move
			real, other = real || class.Has(configs.Real), other || class.HasOther(configs.Real)
			emulated = emulated || class.Has(configs.Emulated)
		}
		for _, b := range c.Buses {
			if b.Port != "" {
				ports = append(ports, b.Port)
			}
		}
	}
	at := ""
	if len(ports) == 1 {
		at = " (" + ports[0] + ")"
	}
	switch {
	case real && other:
		return "MIXED BODY: some devices are REAL" + at + ". Keep clear, and a hand on the power switch."
	case real:
		return "REAL BODY" + at + ": this moves hardware. Keep clear, and a hand on the power switch."
	case emulated:
		return "EMULATED: the drivers run on emulated devices; no hardware is touched."
	}
	return "SIMULATED: no hardware is touched."
}

// goalsOf separates JOINT=POSITION from the arguments; what is left is the target, at most one.
func goalsOf(args []string) (target string, goals map[string]string, err error) {
	goals = map[string]string{}
	for _, arg := range args {
		joint, position, is := strings.Cut(arg, "=")
		switch _, twice := goals[joint]; {
		case is && !twice:
			goals[joint] = position
		case is:
			return "", nil, &hal.Error{Kind: hal.Invalid, Op: "move", Err: fmt.Errorf("got %s twice", joint)}
		case target != "":
			return "", nil, &hal.Error{Kind: hal.Invalid, Op: "move", Try: "halyard move " + target + " JOINT=30deg",
				Err: fmt.Errorf("got %q, want JOINT=POSITION", arg)}
		default:
			target = arg
		}
	}
	return target, goals, nil
}

func newMove(a *app) *cobra.Command {
	var f moveFlags
	var relative bool
	c := &cobra.Command{
		Use:   "move [CONFIG] JOINT=POSITION...",
		Short: "move joints to positions",
		Long: "Moves joints to positions, smoothly and all in the same time, then holds them. Ctrl-C stops: the joints " +
			"hold.\nPOSITION has a unit: 30deg, 0.5rad, 40mm, 0.04m; without one it is in the units of --units.\n" +
			"If the rig of CONFIG is running (halyard serve), it moves there and must be armed; otherwise the command " +
			"opens CONFIG, switches\nthe torque on, and ends. Without CONFIG: the rig that is running, else " +
			ownConfig +
			" in this folder.",
		Example: "  halyard move so101 elbow_flex=30deg\n  halyard move elbow_flex=-10deg gripper=20deg --relative\n" +
			"  halyard move my-so101.yaml wrist_roll=0.5rad --speed 20deg/s --body emulated",
		Args:              arguments("[CONFIG] JOINT=POSITION...", "halyard move so101 elbow_flex=30deg"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			target, goals, err := goalsOf(args)
			if err != nil {
				return err
			}
			if len(goals) == 0 {
				return &hal.Error{Kind: hal.Invalid, Op: "move", Err: errors.New("got no goal, want JOINT=POSITION"),
					Try: "halyard move " + target + " elbow_flex=30deg"}
			}
			f.brief = true
			q := &manual.Request{Op: manual.Move, Goals: goals, Relative: relative, Units: a.units, Speed: f.speed}
			return a.withRig(cmd.Context(), &f.configFlags, target, func(ctx context.Context, o *operator) error {
				return o.moved(ctx, q)
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&relative, "relative", false, "positions are relative to the present ones")
	return c
}
