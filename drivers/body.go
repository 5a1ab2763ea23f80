package drivers

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Joint is one actuator of the layout: a servo of a chain with its calibration, or, if Writer is set, a PWM channel
// with its calibration.
type Joint struct {
	Chain       servo.Chain
	Index       int                // of the servo in its chain
	Calibration *calibration.Joint // not written to; nil only for Build
	Writer      *OutputWriter
	Channel     int                // of the Writer's output
	Pulse       *calibration.Pulse // not written to
	Bus         string             // name in the config, for errors
	Port        string             // the bus's port, for the commands in errors
	ID          int                // address on the bus
}

// Body is a robot of devices. It implements hal.Body; it does not own the devices.
type Body struct {
	layout *hal.Layout
	parts  []part   // one an actuator
	lines  []halter // each once
	senses []sense  // one a sensor
}

// part is one actuator's device as the body works it. None does I/O.
type part interface {
	write(f *hal.Frame, a *hal.Actuator, enable bool)
	read(f *hal.Frame, a *hal.Actuator) hal.Status
	alarm() servo.Alarm
	holding() bool
	release()            // stages torque off
	line() (halter, int) // the line that halts it, and its index there
	refused(error) error // that it did not halt, as a user sees it
}

// halter switches torque off for all that is connected to one line: a servo.Chain, an OutputWriter. It answers with one
// error for each that did not acknowledge, nil for the rest.
type halter interface{ Halt() []error }

// joint is a Joint with its state between cycles.
type joint struct {
	Joint
	name      string
	cal       calibration.Joint
	units     servo.Units
	goal      servo.Goal
	reach     [2]float64 // allowed goals, ticks: its range, extended to the position at which it was enabled
	led       bool       // its position goal is of this enabling
	turns     float64    // ticks: the servo's count beyond the calibration's turn
	odd       int        // readings in a row with other turns, oddTurns
	oddTurns  float64
	lastTurns float64 // turns of the last reading, and of the last two that agreed
	sure      float64
	oddAt     time.Duration // the chain's time of the last of them
	limit     float64       // N·m, the torque limit that was commanded last
	time      time.Duration // rig time of the values
	clock     time.Duration // the chain's time of the same values
	cache     cache
}

// NewBody returns the body of layout, whose actuators are joints, in the same order. It does no I/O. It reports all
// mismatches together, each a *hal.Error with its Joint. Uncalibrated: the calibration is missing or of another servo.
// Invalid: the servo does not support a mode or range of the layout.
func NewBody(layout *hal.Layout, joints []Joint) (*Body, error) {
	if err := check(layout, joints); err != nil {
		return nil, err
	}
	b := &Body{layout: estimated(layout, joints), parts: make([]part, len(joints))}
	for i, j := range joints {
		if j.Writer != nil {
			b.parts[i] = newOutput(j, &layout.Actuators[i])
		} else {
			b.parts[i] = newJoint(j, &layout.Actuators[i])
		}
		if line, _ := b.parts[i].line(); !slices.Contains(b.lines, line) {
			b.lines = append(b.lines, line)
		}
	}
	for i := range layout.Sensors {
		b.senses = append(b.senses, sense{name: layout.Sensors[i].Name})
	}
	return b, nil
}

func newJoint(j Joint, a *hal.Actuator) *joint {
	c := &joint{
		Joint: j, name: a.Name, cal: *j.Calibration, units: j.Chain.Units(j.Index),
		goal: servo.Goal{Mode: hal.NoMode, Limit: 1}, limit: a.Limits.MaxTorque, time: -1, clock: -1,
		lastTurns: math.NaN(), sure: math.NaN(),
	}
	// A file without torque leaves the data sheet's values.
	c.cal.Torque.Constant = cmp.Or(c.cal.Torque.Constant, c.units.TorqueConstant*c.cal.Gear)
	return c
}

// Layout is the body's layout.
func (b *Body) Layout() *hal.Layout { return b.layout }

// Write stages every goal in its chain or output writer. It does no I/O, allocates nothing and never fails.
func (b *Body) Write(f *hal.Frame) error {
	for i, p := range b.parts {
		p.write(f, &b.layout.Actuators[i], f.Enable[i])
	}
	return nil
}

func (j *joint) write(f *hal.Frame, a *hal.Actuator, enable bool) {
	if !a.Wraps {
		j.countTurns(enable && j.goal.Enable)
	}
	if enable && !j.goal.Enable { // without a mode: where it is, its goals begin
		j.reach = [2]float64{math.Inf(-1), math.Inf(1)}
	}
	j.goal.Enable = enable
	if limit := input(f, a.TorqueLimit); !math.IsNaN(limit) {
		j.limit = limit
	}
	// The guard sets at most one goal; with torque off none counts. Without a goal the joint holds its position.
	changed := false
	for m := range hal.NumModes {
		if v := input(f, a.Goal[m]); !math.IsNaN(v) && enable {
			j.command(a, m, v)
			changed = true
		}
	}
	if !changed {
		j.goal.Mode, j.led = hal.NoMode, false
	}
	j.goal.Limit = j.effortLimit(a)
	if len(a.Gains) > 0 {
		j.tune(f, a)
	}
	j.fence(a)
	j.Chain.SetGoal(j.Index, j.goal)
}

// tune gives the servo the commanded gains, with the others as at power-up.
func (j *joint) tune(f *hal.Frame, a *hal.Actuator) {
	for k, g := range a.Gains {
		unit := j.units.Gains[min(k, 2)] * j.cal.Gear * j.cal.Gear
		if unit == 0 {
			continue
		}
		v := input(f, g.Input)
		if j.goal.Tuned = j.goal.Tuned || !math.IsNaN(v); math.IsNaN(v) {
			v = g.PowerUp
		}
		j.goal.Gains[min(k, 2)] = v / unit
	}
}

// fence gives the servo the soft limits too, for the goals that its chain makes: its position when it was enabled.
func (j *joint) fence(a *hal.Actuator) {
	if a.Wraps {
		return
	}
	low, high := j.cal.Ticks(a.Limits.MinPosition), j.cal.Ticks(a.Limits.MaxPosition)
	j.goal.Low, j.goal.High = min(low, high)+j.turns, max(low, high)+j.turns
}

// oddTurns readings that agree are believed that a servo with torque counts other turns than before: more than a guard
// needs to see a jump and take its torque.
const oddTurns = 10

// countTurns sees which turns the servo counts. One wrong reading would move every goal by a turn, to the end of its
// range.
func (j *joint) countTurns(enabled bool) {
	s := j.Chain.State(j.Index)
	turns := s.Position - j.cal.Unwrap(s.Position)
	switch {
	case math.IsNaN(turns):
	case !enabled && !math.IsNaN(j.sure):
		j.turns, j.odd = j.sure, 0
	case turns == j.turns || !enabled:
		j.turns, j.odd = turns, 0
	case s.Time != j.oddAt:
		if turns != j.oddTurns {
			j.odd = 0
		}
		j.oddAt, j.oddTurns = s.Time, turns
		if j.odd++; j.odd >= oddTurns {
			j.turns, j.odd = turns, 0
		}
	}
}

// effortLimit is the torque limit as the servo takes it: a share of the greatest current, or of the supply.
func (j *joint) effortLimit(a *hal.Actuator) float64 {
	s := j.Chain.State(j.Index)
	if j.units.Current {
		if j.limit >= a.Limits.MaxTorque { // the servo's own limit
			return 1
		}
		return clamp(j.limit/(j.cal.Torque.Constant*j.units.MaxEffort), 0, 1)
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
	// A drive that is being switched to another mode may count from elsewhere afterwards.
	j.led = j.led && m == j.goal.Mode && j.Chain.State(j.Index).Drive != hal.Switching
	j.goal.Mode = m
	switch m {
	case hal.PositionMode:
		j.goal.Position = j.ticks(a, v)
		j.led = true
	case hal.VelocityMode:
		j.goal.Velocity = clamp(j.cal.ShaftVelocity(v), -j.units.MaxVelocity, j.units.MaxVelocity)
	case hal.TorqueMode:
		j.goal.Effort = clamp(j.cal.Effort(v), -j.units.MaxEffort, j.units.MaxEffort)
	case hal.DutyMode:
		j.goal.Duty = clamp(float64(j.cal.Direction)*v, -1, 1)
	}
}

// ticks is the servo's goal for the joint at radians, clamped to the soft limits even if the guard passed more. The
// servo may count other turns than the calibration; its present position shows which. A goal never leaves the
// calibrated range.
func (j *joint) ticks(a *hal.Actuator, radians float64) float64 {
	if !a.Wraps {
		radians = clamp(radians, a.Limits.MinPosition, a.Limits.MaxPosition)
	}
	ticks, present := j.cal.Ticks(radians), j.Chain.State(j.Index).Position
	known := !math.IsNaN(present)
	switch {
	case a.Wraps && known: // the short way round, from the last goal: a reading may be wrong
		if j.goal.Mode == hal.PositionMode && j.led && !j.parted(present) {
			present = j.goal.Position
		}
		ticks = present + math.Remainder(ticks-present, j.cal.TicksPerTurn*j.cal.Gear)
	case !a.Wraps:
		low, high := j.cal.RangeTicks[0], j.cal.RangeTicks[1]
		if known {
			// Enabled outside of its range it is led back, not made to leap: the bounds follow it inward, never
			// outward.
			at := j.cal.Unwrap(present)
			j.reach = [2]float64{min(low, max(j.reach[0], at)), max(high, min(j.reach[1], at))}
			low, high = j.reach[0], j.reach[1]
		}
		ticks = clamp(ticks, low, high)
		ticks += j.turns
	}
	return clamp(ticks, j.units.MinTicks, j.units.MaxTicks)
}

// parted reports whether several readings in a row show a continuous joint away from its goal. Either it is whole turns
// away, turned by hand faster than its goal, and must not be driven back all those turns. Or it is beyond the end of
// the range of a one-turn servo, which would take the long way round to its goal.
func (j *joint) parted(present float64) bool {
	s, turn, need := j.Chain.State(j.Index), j.cal.TicksPerTurn*j.cal.Gear, oddTurns
	most := turn
	if u := &j.units; u.MaxTicks-u.MinTicks < u.TicksPerTurn {
		most, need = u.TicksPerTurn/2, 2
	}
	if math.Abs(present-j.goal.Position) <= most {
		j.odd = 0
		return false
	}
	if s.Time != j.oddAt {
		if math.Abs(present-j.oddTurns) > turn/2 { // garbled: it cannot turn so far from one to the next
			j.odd = 0
		}
		j.odd, j.oddAt, j.oddTurns = j.odd+1, s.Time, present
	}
	return j.odd >= need
}

// Read copies the state of every device. A missing value keeps its old value and time; the reason and the device's
// alarms are in its Status. It does no I/O and allocates only at the first occurrence of a fault.
func (b *Body) Read(f *hal.Frame) error {
	for i, p := range b.parts {
		f.Status[i] = p.read(f, &b.layout.Actuators[i])
	}
	for i := range b.senses {
		f.Status[len(b.parts)+i] = b.senses[i].read(f, &b.layout.Sensors[i])
	}
	return nil
}

func (j *joint) read(f *hal.Frame, a *hal.Actuator) hal.Status {
	s := j.Chain.State(j.Index)
	// Values with a changed time are new, even with an error. A device that reports less often than every cycle has no
	// new values in the other cycles.
	if s.Time >= 0 && s.Time != j.clock {
		j.clock = s.Time
		turns := s.Position - j.cal.Unwrap(s.Position)
		if turns == j.lastTurns || math.IsNaN(j.lastTurns) {
			j.sure = turns
		}
		// Without torque, one wrong reading must not set the position at which torque is switched on, whole turns away.
		if j.lastTurns = turns; turns == j.sure || math.IsNaN(turns) || a.Wraps || j.goal.Enable {
			j.time = max(f.Time-s.Delay, 0)
		}
	}
	// NaN, a value that a servo has not reported, passes through the calibration and stops in measure.
	angle := j.cal.Radians(s.Position)
	if a.Wraps {
		angle = math.Remainder(angle, 2*math.Pi)
	}
	measure(f, a.Position, angle)
	measure(f, a.Velocity, j.cal.Velocity(s.Velocity))
	measure(f, a.Torque, j.cal.TorqueOf(s.Effort))
	measure(f, a.Voltage, s.Voltage)
	measure(f, a.Temperature, s.Temperature)
	if s.Err != nil && f.Time-j.time >= hal.LossAge { // how it moves now is not known; its position is its last
		unknown(f, a.Velocity)
		unknown(f, a.Torque)
	}
	err := s.Err
	if err == nil && s.Alarm == 0 {
		err = s.Inhibit // its values are good, but it gives way
	}
	// An alarm that has not taken the torque lets the joint go on.
	return hal.Status{Time: j.time, Delay: s.Delay, Err: j.fault(err, s.Report), Drive: s.Drive, Warns: err == nil &&
		s.Inhibit == nil && s.Spares}
}

// Alarms appends the alarms of each actuator's device to dst, in the layout's order.
func (b *Body) Alarms(dst []servo.Alarm) []servo.Alarm {
	for _, p := range b.parts {
		dst = append(dst, p.alarm())
	}
	return dst
}

// Halt switches torque off for everything that is connected to the body's lines, all lines at once so that a dead one
// delays no other, and stages goals without torque. It waits for them all. A line that other bodies share halts for
// them too. Its error joins one *hal.Error for each actuator of this body that did not acknowledge.
func (b *Body) Halt() error {
	for _, p := range b.parts {
		p.release()
	}
	// Each line has its own goroutine and its own result: they share only the wait.
	answers := make([][]error, len(b.lines))
	var all sync.WaitGroup
	for i, l := range b.lines {
		all.Go(func() { answers[i] = l.Halt() })
	}
	all.Wait()
	var faults []error
	for k, l := range b.lines {
		for _, p := range b.parts {
			// A shared line answers for strangers too; those are their own body's to report.
			if line, i := p.line(); line == l && i < len(answers[k]) && answers[k][i] != nil {
				faults = append(faults, p.refused(answers[k][i]))
			}
		}
	}
	return errors.Join(faults...)
}

// input is input channel at of f, NaN if absent.
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

// unknown sets measured channel at of f to NaN, where there is one.
func unknown(f *hal.Frame, at int) {
	if at != hal.None {
		f.Measured[at] = math.NaN()
	}
}

func clamp(v, low, high float64) float64 { return math.Min(high, math.Max(low, v)) }

// Holding reports whether an actuator's device has torque on; see hal.TorqueReporter.
func (b *Body) Holding(actuator int) bool { return b.parts[actuator].holding() }

func (j *joint) alarm() servo.Alarm  { return j.Chain.State(j.Index).Alarm }
func (j *joint) holding() bool       { return j.Chain.State(j.Index).Torque }
func (j *joint) line() (halter, int) { return j.Chain, j.Index }

func (j *joint) release() {
	j.goal.Enable, j.goal.Mode = false, hal.NoMode
	j.Chain.SetGoal(j.Index, servo.Goal{})
}

func (j *joint) refused(err error) error { return j.describe("halt", err, "cut its power") }
