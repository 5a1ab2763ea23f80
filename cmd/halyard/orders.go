package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/control"
)

// sendOrder sends an order to the rig called name in this user's folder; without a name to the only one that runs.
func sendOrder(ctx context.Context, name string, o control.Order) (*control.Answer, error) {
	if name == "" {
		running := runningRigs(control.Folder())
		if len(running) > 1 {
			return nil, &hal.Error{Kind: hal.Invalid, Op: string(o), Err: fmt.Errorf("%d rigs are running, name one: %s", len(running), strings.Join(running, ", ")),
				Try: fmt.Sprintf("halyard %s %s", o, running[0])}
		}
		if len(running) == 0 {
			return nil, noRig(o)
		}
		name = running[0]
	}
	return sendTo(ctx, control.ControlSocket(name), name, o)
}

// noRig is the error of an order without a name where no rig runs in this user's folder: it names the folder, and the rigs of
// the user's other folders, which a shell with another environment has.
func noRig(o control.Order) error {
	e := &hal.Error{Kind: hal.Absent, Op: string(o), Err: fmt.Errorf("no rig is running in %s", control.Folder()), Try: "halyard serve"}
	for _, dir := range control.Folders() {
		if names := runningRigs(dir); dir != control.Folder() && len(names) > 0 {
			e.Err, e.Try = fmt.Errorf("%w; running in %s: %s", e.Err, dir, strings.Join(names, ", ")), "halyard estop --all"
		}
	}
	return e
}

// sendTo sends an order to the rig called name that listens at path.
func sendTo(ctx context.Context, path, name string, o control.Order) (*control.Answer, error) {
	if err := control.CheckFolder(filepath.Dir(path)); hal.KindOf(err) == hal.Unsafe {
		return nil, err // who made the folder may have made the socket
	}
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, control.ControlPatience)
	defer cancel()
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, &hal.Error{Kind: hal.Absent, Op: string(o), Err: fmt.Errorf("no rig called %q is running", name), Try: "halyard serve"}
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(control.ControlPatience))
	fmt.Fprintln(conn, o)
	var ans control.Answer
	if err := json.NewDecoder(io.LimitReader(conn, 1<<20)).Decode(&ans); err != nil {
		return nil, &hal.Error{Kind: hal.Timeout, Op: string(o), Err: fmt.Errorf("no answer: %w: cut the power", err)}
	}
	if ans.Error != "" {
		return &ans, &hal.Error{Kind: ans.Kind, Err: errors.New(ans.Error)}
	}
	return &ans, nil
}

// stopAll sends the emergency stop to every rig that runs in folders, at once. It returns each answer, with the rig's name, and
// what those did not say that did not answer.
func stopAll(ctx context.Context, folders []string) (answers []*control.Answer, err error) {
	type rig struct{ dir, name string }
	var rigs []rig
	for _, dir := range folders {
		for _, name := range runningRigs(dir) {
			rigs = append(rigs, rig{dir, name})
		}
	}
	if len(rigs) == 0 {
		return nil, noRig(control.OrderStop)
	}
	all, errs := make([]*control.Answer, len(rigs)), make([]error, len(rigs))
	var waiting sync.WaitGroup
	for i, r := range rigs {
		waiting.Go(func() {
			all[i], errs[i] = sendTo(ctx, filepath.Join(r.dir, r.name+".sock"), r.name, control.OrderStop)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("%s: %w", r.name, errs[i])
			}
		})
	}
	waiting.Wait()
	for _, a := range all {
		if a != nil {
			answers = append(answers, a)
		}
	}
	return answers, errors.Join(errs...)
}

// runningRigs are the names of the rigs that run in dir.
func runningRigs(dir string) (names []string) {
	all, _ := filepath.Glob(filepath.Join(dir, "*.sock"))
	for _, path := range all {
		if c, err := net.DialTimeout("unix", path, control.ControlPatience); err == nil {
			c.Close()
			names = append(names, strings.TrimSuffix(filepath.Base(path), ".sock"))
		}
	}
	return names
}

// newOrder makes the sub-command that sends o.
func newOrder(a *app, o control.Order, short string) *cobra.Command {
	var everywhere bool
	c := &cobra.Command{
		Use:   string(o) + " [RIG]",
		Short: short,
		Args:  arguments("[RIG]", "halyard "+string(o)),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case everywhere && len(args) > 0:
				return &hal.Error{Kind: hal.Invalid, Op: "estop --all", Err: fmt.Errorf("got RIG %q too, want one or the other", args[0])}
			case everywhere:
				return a.stopped(stopAll(cmd.Context(), control.Folders()))
			case o == control.OrderStop && len(args) == 0: // who wants all to stand still has no time to name one
				return a.stopped(stopAll(cmd.Context(), []string{control.Folder()}))
			}
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			ans, err := sendOrder(cmd.Context(), name, o)
			if ans == nil {
				return err
			}
			if o == control.OrderStop {
				return a.stopped([]*control.Answer{ans}, err)
			}
			if o == control.OrderStatus {
				if e := show(a, ans.Joints); e != nil {
					return e
				}
			}
			if err == nil {
				latched := ""
				if ans.Rig.Stopped {
					latched = ", STOPPED: halyard reset, then halyard arm"
				}
				a.note("%s: %s", ans.Rig.Name, map[control.Order]string{
					control.OrderReset:  recovered(ans.Joints),
					control.OrderArm:    "armed: commands move it",
					control.OrderDisarm: "disarmed: torque is off. Next: halyard arm",
					control.OrderStatus: fmt.Sprintf("%s, %d ticks, %d missed (%.2f s behind the clock), %d faults%s", ans.Rig.Clock, ans.Rig.Ticks, ans.Rig.Missed, float64(ans.Rig.Behind), ans.Rig.Faults, latched),
				}[o])
			}
			return err
		},
	}
	if o == control.OrderStop {
		c.Flags().BoolVar(&everywhere, "all", false, "stop every rig of this user, in every runtime folder")
	}
	return c
}

// stopped reports what rigs said to an emergency stop: each by its name, and what did not confirm as an error.
func (a *app) stopped(answers []*control.Answer, err error) error {
	var joints []control.JointStatus
	for _, ans := range answers {
		joints = append(joints, ans.Joints...)
	}
	if len(answers) > 0 {
		if e := show(a, joints); e != nil {
			return e
		}
	}
	err = errors.Join(err, unacknowledged(joints))
	for _, ans := range answers {
		what := "stopped, latched. Next: halyard reset, then halyard arm"
		if unacknowledged(ans.Joints) != nil {
			what = "STOP NOT CONFIRMED: cut the power"
		}
		a.note("%s: %s", ans.Rig.Name, what)
	}
	return err
}

// recovered says what a reset has left to do.
func recovered(joints []control.JointStatus) string {
	n := 0
	for _, j := range joints {
		if j.State == hal.Disarmed.String() {
			n++
		}
	}
	if n == 0 {
		return "nothing was latched, nothing has changed"
	}
	return fmt.Sprintf("cleared, %d of %d joints are disarmed. Next: halyard arm", n, len(joints))
}

// unacknowledged is an error where a joint did not confirm a stop.
func unacknowledged(joints []control.JointStatus) error {
	n := 0
	for _, j := range joints {
		if j.Acked != nil && !*j.Acked {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &hal.Error{Kind: hal.BusFault, Op: "estop", Err: fmt.Errorf("NOT CONFIRMED by %d joints: cut the power", n)}
}
