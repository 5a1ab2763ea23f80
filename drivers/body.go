// Package drivers is the hardware Body: joints on servo chains, real or emulated, with each joint's calibration
// between them and the layout. It sees chains by their shape, never a brand.
//
//	Write: radians ─calibration─► ticks ─► Chain.SetGoal      the rig calls Chain.Send
//	Read:  radians ◄─calibration─ ticks ◄─ Chain.State        the rig called Chain.Receive
//
// Calibration is applied here and nowhere else; what is on the far side of a chain knows ticks alone.
package drivers

import (
	"errors"
	"math"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Joint is one actuator of the layout: a servo of a chain and how to read it.
type Joint struct {
	Chain       servo.Chain
	Index       int                // of the servo in its chain
	Calibration *calibration.Joint // not written to; nil only for Build
	Bus         string             // name in the config, for errors
	Port        string             // the bus's port, for the commands in errors
	ID          int                // address on the bus
}

// Body is a robot on servo chains. It implements hal.Body; it owns neither the chains nor their ports.
type Body struct {
	layout *hal.Layout
	joints []joint
	chains []servo.Chain // each once
	absent []error       // one a sensor: nothing here drives it
}

// joint is a Joint with what the body keeps of it between cycles.
type joint struct {
	Joint
	name  string
	cal   calibration.Joint
	units servo.Units
	goal  servo.Goal
	limit float64       // N·m, the torque limit that was commanded last
	time  time.Duration // rig time of the values
	clock time.Duration // the chain's time of the same values
	cache cache
}

// NewBody returns the body of layout, whose actuators are joints, in the same order. It does no I/O. It reports
// all that does not fit at once, each a *hal.Error with its Joint: Uncalibrated where the calibration is missing or
// of another servo, Invalid where the servo cannot do what the layout offers.
func NewBody(layout *hal.Layout, joints []Joint) (*Body, error) {
	if err := check(layout, joints); err != nil {
		return nil, err
	}
	b := &Body{layout: layout, joints: make([]joint, len(joints))}
	for i, j := range joints {
		b.joints[i] = joint{
			Joint: j, name: layout.Actuators[i].Name, cal: *j.Calibration, units: j.Chain.Units(j.Index),
			goal: servo.Goal{Mode: hal.NoMode, Limit: 1}, limit: layout.Actuators[i].Limits.MaxTorque, time: -1, clock: -1,
		}
		// A file that says nothing of torque leaves the data sheet's word for it.
		if c := &b.joints[i]; c.cal.Torque.Constant == 0 {
			c.cal.Torque.Constant = c.units.StallTorque / c.units.MaxEffort * c.cal.Gear
		}
		if !contains(b.chains, j.Chain) {
			b.chains = append(b.chains, j.Chain)
		}
	}
	for _, s := range layout.Sensors {
		b.absent = append(b.absent, &hal.Error{Kind: hal.Absent, Op: "sensor " + s.Name, Err: errUndriven})
	}
	return b, nil
}

var errUndriven = errors.New("no device drives it")

// contains says whether c is among chains; there are few.
func contains(chains []servo.Chain, c servo.Chain) bool {
	for _, have := range chains {
		if have == c {
			return true
		}
	}
	return false
}

// Layout is the body's layout.
func (b *Body) Layout() *hal.Layout { return b.layout }

// Write stages every joint's goal in its chain. It does no I/O, allocates nothing and never fails.
func (b *Body) Write(f *hal.Frame) error {
	for i := range b.joints {
		j, a := &b.joints[i], &b.layout.Actuators[i]
		if f.Enable[i] && !j.goal.Enable {
			j.goal.Mode = hal.NoMode // whatever was commanded before, it starts from where it is
		}
		j.goal.Enable = f.Enable[i]
		if limit := input(f, a.TorqueLimit); !math.IsNaN(limit) {
			j.limit = limit
		}
		// At most one goal is set, the guard sees to that; while limp none counts.
		for m := range hal.NumModes {
			if v := input(f, a.Goal[m]); !math.IsNaN(v) && j.goal.Enable {
				j.command(a, m, v)
			}
		}
		j.goal.Limit = j.effortLimit(a)
		j.Chain.SetGoal(j.Index, j.goal)
	}
	return nil
}

// effortLimit is the torque limit in the form that the servo knows: a share of the greatest current, or of the supply.
func (j *joint) effortLimit(a *hal.Actuator) float64 {
	s := j.Chain.State(j.Index)
	if j.units.Current {
		return clamp(j.limit/a.Limits.MaxTorque, 0, 1)
	}
	towards := j.goal.Position - s.Position
	switch j.goal.Mode {
	case hal.VelocityMode:
		towards = j.goal.Velocity
	case hal.DutyMode:
		towards = j.goal.Duty
	case hal.TorqueMode:
		towards = j.goal.Effort
	}
	return a.DutyLimit(j.limit, s.Velocity/j.cal.Gear, towards)
}

// command sets the goal of one mode, in the servo's own measure.
func (j *joint) command(a *hal.Actuator, m hal.Mode, v float64) {
	j.goal.Mode = m
	switch m {
	case hal.PositionMode:
		j.goal.Position = j.ticks(a, v)
	case hal.VelocityMode:
		j.goal.Velocity = clamp(j.cal.ShaftVelocity(v), -j.units.MaxVelocity, j.units.MaxVelocity)
	case hal.TorqueMode:
		j.goal.Effort = clamp(j.cal.Effort(v), -j.units.MaxEffort, j.units.MaxEffort)
	case hal.DutyMode:
		j.goal.Duty = clamp(float64(j.cal.Direction)*v, -1, 1)
	}
}

// ticks is where the servo must go for the joint to be at radians. The servo may count other turns than the
// calibration does; its own present position tells which. What was not measured to be safe is never asked for.
func (j *joint) ticks(a *hal.Actuator, radians float64) float64 {
	ticks, present := j.cal.Ticks(radians), j.Chain.State(j.Index).Position
	known := !math.IsNaN(present)
	switch {
	case a.Wraps && known: // the short way round
		ticks = present + math.Remainder(ticks-present, j.cal.TicksPerTurn*j.cal.Gear)
	case !a.Wraps:
		ticks = clamp(ticks, j.cal.RangeTicks[0], j.cal.RangeTicks[1])
		if known {
			ticks += present - j.cal.Unwrap(present)
		}
	}
	return clamp(ticks, j.units.MinTicks, j.units.MaxTicks)
}

// Read takes every servo's state. What a servo did not say keeps its old value and time; why it did not, and what it
// complains of, is in its Status. It does no I/O and, but for the first time that a fault occurs, allocates nothing.
func (b *Body) Read(f *hal.Frame) error {
	for i := range b.joints {
		j, a := &b.joints[i], &b.layout.Actuators[i]
		s := j.Chain.State(j.Index)
		// New are the values of this cycle, and those that came although something was wrong with them.
		if s.Time >= 0 && (s.Err == nil || s.Time != j.clock) {
			j.time, j.clock = f.Time, s.Time
		}
		// NaN, which is what a servo has not said, passes through the calibration and stops in measure.
		angle := j.cal.Radians(s.Position)
		if a.Wraps {
			angle = math.Remainder(angle, 2*math.Pi)
		}
		measure(f, a.Position, angle)
		measure(f, a.Velocity, j.cal.Velocity(s.Velocity))
		measure(f, a.Torque, j.cal.TorqueOf(s.Effort))
		measure(f, a.Voltage, s.Voltage)
		measure(f, a.Temperature, s.Temperature)
		f.Status[i] = hal.Status{Time: j.time, Err: j.fault(s.Err, s.Alarm)}
	}
	for i, err := range b.absent {
		f.Status[len(b.joints)+i].Err = err
	}
	return nil
}

// Alarms appends what each joint's servo complains of, in the layout's order, to dst.
func (b *Body) Alarms(dst []servo.Alarm) []servo.Alarm {
	for i := range b.joints {
		j := &b.joints[i]
		dst = append(dst, j.Chain.State(j.Index).Alarm)
	}
	return dst
}

// Halt takes the torque off every servo of every chain, all chains at once so that a dead one delays no other, and
// stages limp goals. It waits for them all. A chain that other bodies share halts for them too. Its error joins one
// *hal.Error for each joint of this body that did not acknowledge.
func (b *Body) Halt() error {
	for i := range b.joints {
		j := &b.joints[i]
		j.goal.Enable, j.goal.Mode = false, hal.NoMode
		j.Chain.SetGoal(j.Index, servo.Goal{})
	}
	// Each chain has a goroutine of its own here and an answer of its own: nothing is shared but the wait.
	answers := make([][]error, len(b.chains))
	var all sync.WaitGroup
	for i, c := range b.chains {
		all.Go(func() { answers[i] = c.Halt() })
	}
	all.Wait()
	var faults []error
	for k, c := range b.chains {
		for i := range b.joints {
			j := &b.joints[i]
			// A shared chain answers for strangers too; those are their own body's to report.
			if j.Chain == c && j.Index < len(answers[k]) && answers[k][j.Index] != nil {
				faults = append(faults, j.describe("halt", answers[k][j.Index], "halyard estop"))
			}
		}
	}
	return errors.Join(faults...)
}

// input is input channel at of f, NaN where there is none.
func input(f *hal.Frame, at int) float64 {
	if at == hal.None {
		return math.NaN()
	}
	return f.Inputs[at]
}

// measure sets measured channel at of f, where there is one and v is known.
func measure(f *hal.Frame, at int, v float64) {
	if at != hal.None && !math.IsNaN(v) {
		f.Measured[at] = v
	}
}

func clamp(v, low, high float64) float64 { return math.Min(high, math.Max(low, v)) }

// Holding tells whether an actuator's servo has torque on; see hal.Holder.
func (b *Body) Holding(actuator int) bool {
	j := &b.joints[actuator]
	return j.Chain.State(j.Index).Torque
}
