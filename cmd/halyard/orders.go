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

// sendOrder sends an order to the rig called name; without a name to the only one that runs.
func sendOrder(ctx context.Context, name string, o control.Order) (*control.Answer, error) {
	if name == "" {
		running := runningRigs()
		if len(running) > 1 {
			return nil, &hal.Error{Kind: hal.Invalid, Op: string(o), Err: fmt.Errorf("%d rigs are running, name one: %s", len(running), strings.Join(running, ", ")),
				Try: fmt.Sprintf("halyard %s %s", o, running[0])}
		}
		if len(running) == 0 {
			return nil, &hal.Error{Kind: hal.Absent, Op: "find the rig", Err: errors.New("none is running"), Try: "halyard serve"}
		}
		name = running[0]
	}
	path := control.ControlSocket(name)
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

// stopAll sends the emergency stop to every rig that runs, at once: who wants all to stand still has no time to name one.
// What one of them does not say is an error; the joints are those of all that answered.
func stopAll(ctx context.Context) (*control.Answer, error) {
	running := runningRigs()
	if len(running) <= 1 {
		return sendOrder(ctx, "", control.OrderStop)
	}
	answers, errs := make([]*control.Answer, len(running)), make([]error, len(running))
	var all sync.WaitGroup
	for i, name := range running {
		all.Go(func() { answers[i], errs[i] = sendOrder(ctx, name, control.OrderStop) })
	}
	all.Wait()
	whole := &control.Answer{Rig: control.RigStatus{Name: strings.Join(running, ", ")}}
	for _, a := range answers {
		if a != nil {
			whole.Joints = append(whole.Joints, a.Joints...)
		}
	}
	return whole, errors.Join(errs...)
}

// runningRigs are the names of the rigs that run.
func runningRigs() (names []string) {
	all, _ := filepath.Glob(control.ControlSocket("*"))
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
	return &cobra.Command{
		Use:   string(o) + " [RIG]",
		Short: short,
		Args:  arguments("[RIG]", "halyard "+string(o)),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			var ans *control.Answer
			var err error
			if o == control.OrderStop && name == "" {
				ans, err = stopAll(cmd.Context())
			} else {
				ans, err = sendOrder(cmd.Context(), name, o)
			}
			if ans == nil {
				return err
			}
			if o == control.OrderStatus || o == control.OrderStop {
				if e := show(a, ans.Joints); e != nil {
					return e
				}
			}
			if o == control.OrderStop {
				err = errors.Join(err, unacknowledged(ans.Joints))
			}
			if err == nil {
				latched := ""
				if ans.Rig.Stopped {
					latched = ", STOPPED: halyard reset, then halyard arm"
				}
				a.note("%s: %s", ans.Rig.Name, map[control.Order]string{
					control.OrderStop:   "stopped, latched. Next: halyard reset, then halyard arm",
					control.OrderReset:  recovered(ans.Joints),
					control.OrderArm:    "armed: commands move it",
					control.OrderStatus: fmt.Sprintf("%s, %d ticks, %d missed, %d faults%s", ans.Rig.Clock, ans.Rig.Ticks, ans.Rig.Missed, ans.Rig.Faults, latched),
				}[o])
			}
			return err
		},
	}
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
