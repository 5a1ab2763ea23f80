package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/report"
)

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
				return &hal.Error{Kind: hal.Invalid, Op: "estop --all",
					Err: fmt.Errorf("got RIG %q too, want one or the other", args[0])}
			case everywhere:
				return a.stopped(control.StopAll(cmd.Context(), control.Folders()))
			case o == control.OrderStop && len(args) == 0: // an emergency stop must not require a name
				return a.stopped(control.StopAll(cmd.Context(), []string{control.Folder()}))
			}
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			ans, err := control.Send(cmd.Context(), name, o)
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
					control.OrderStatus: fmt.Sprintf(
						"%s, %s, %d ticks, %d missed (%.2f s behind the clock), %d faults%s",
						ans.Rig.State, ans.Rig.Clock, ans.Rig.Ticks, ans.Rig.Missed, float64(ans.Rig.Behind),
						ans.Rig.Faults, latched),
				}[o])
				for _, b := range ans.Buses {
					if b.Span > 1 && o == control.OrderStatus {
						a.note("bus %s is slower than the cycle: its joints have new values every %d cycles "+
							"(try: halyard plan)", b.Name, b.Span)
					}
				}
			}
			return err
		},
	}
	if o == control.OrderStop {
		c.Flags().BoolVar(&everywhere, "all", false, "stop every rig of this user, in every runtime folder")
	}
	return c
}

// stoppedRow is a joint of a rig that an emergency stop reached. A rig without joints has a row of its own.
type stoppedRow struct {
	Rig string `json:"rig"`
	control.JointStatus
}

func (r stoppedRow) Cells() report.Cells {
	return append(report.Cells{{"rig", r.Rig}}, r.JointStatus.Cells()...)
}

// stopped reports the answers of rigs to an emergency stop: each with its name, and unconfirmed joints as an error.
func (a *app) stopped(answers []*control.Answer, err error) error {
	var joints []control.JointStatus
	var rows []stoppedRow
	for _, ans := range answers {
		joints = append(joints, ans.Joints...)
		for _, j := range ans.Joints {
			rows = append(rows, stoppedRow{ans.Rig.Name, j})
		}
		if len(ans.Joints) == 0 {
			rows = append(rows, stoppedRow{ans.Rig.Name, control.JointStatus{State: hal.Stopped.String()}})
		}
	}
	if len(answers) > 0 {
		if e := show(a, rows); e != nil {
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

// recovered describes the remaining steps after a reset.
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
