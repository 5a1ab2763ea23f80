package assembly

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// rehearsed is a real line, some of whose readings are falsified on purpose: a drill of what the robot does when a
// sensor or a cable fails. Goals, alarms, torque switches and stops are never touched.
type rehearsed struct {
	servo.Chain
	servos []rehearsedServo
}

// rehearsedServo has the faults of one servo.
type rehearsedServo struct {
	wire.Plan
	now     time.Duration // the line's time, of the newest reading
	missed  bool          // that one was dropped
	shown   servo.State   // what counts as read
	history []servo.State // the last readings, a ring, for Stale
	next    int
	out     servo.State
}

// readingsKept bounds the age of stale values, readings.
const readingsKept = 1024

var errDropped = &hal.Error{Kind: hal.Timeout, Op: "read", Err: errors.New("no reply: a fault of a rehearsal"),
	Try: "end the faults of the joint"}

// State is the state of a servo as its faults have it.
func (c *rehearsed) State(i int) *servo.State {
	s, d := c.Chain.State(i), &c.servos[i]
	if len(d.Planted()) == 0 {
		return s
	}
	if s.Time != d.now {
		d.now = s.Time
		d.read(s)
	}
	d.out = *s
	d.out.Position, d.out.Velocity, d.out.Effort = d.shown.Position, d.shown.Velocity, d.shown.Effort
	d.out.Voltage, d.out.Temperature, d.out.Time = d.shown.Voltage, d.shown.Temperature, d.shown.Time
	if d.missed && d.out.Err == nil {
		d.out.Err = errDropped
	}
	return &d.out
}

// read takes a new reading.
func (d *rehearsedServo) read(s *servo.State) {
	if len(d.history) < cap(d.history) {
		d.history = append(d.history, *s)
	} else {
		d.history[d.next] = *s
		d.next = (d.next + 1) % len(d.history)
	}
	if d.missed = d.Occurs(wire.Dropped, 0, d.now) != nil; d.missed {
		return
	}
	if d.Find(wire.Stuck, 0, d.now) == nil {
		d.shown = *s
		if f := d.Find(wire.Stale, 0, d.now); f != nil {
			d.shown = *d.recall(d.now - f.Delay)
		}
		if f := d.Find(wire.Wrong, 0, d.now); f != nil {
			d.shown.Position += math.Trunc(f.Offset)
		}
	}
	d.shown.Time = s.Time // as an emulated servo's: what is measured is old, the reply is new
}

// recall is the newest reading that is at least as old as at, or the oldest there is.
func (d *rehearsedServo) recall(at time.Duration) *servo.State {
	best := &d.history[d.next%len(d.history)]
	for k := range d.history {
		if r := &d.history[k]; r.Time <= at && r.Time > best.Time {
			best = r
		}
	}
	return best
}

// plant plants a fault in servo i, whose time begins with its next reading.
func (c *rehearsed) plant(i int, f wire.Fault) error {
	switch f.Kind {
	case wire.Dropped, wire.Stuck, wire.Stale, wire.Wrong:
	default:
		return fmt.Errorf("%s: got a real servo, want stale, dropped, stuck or wrong: its readings can be falsified "+
			"alone",
			f.Kind)
	}
	d, s := &c.servos[i], c.Chain.State(i)
	if d.history == nil {
		d.history = append(make([]servo.State, 0, readingsKept), *s)
	}
	if len(d.Planted()) == 0 {
		d.now, d.shown, d.missed = s.Time, *s, false
	}
	f.Target = 0
	d.Add(f, d.now)
	return nil
}

// heal ends all faults of servo i.
func (c *rehearsed) heal(i int) { c.servos[i] = rehearsedServo{} }

// Plant plants a fault in servos of the rig at a cycle's edge, emulated or real: the text is that of
// EmulatedWorld.Plant.
func (s *System) Plant(text string) error {
	var lines []faultLine
	for k := range s.Lines {
		l := &s.Lines[k]
		if l.Emu != nil {
			lines = append(lines, faultLineOf(l.Name, l.Emu))
			continue
		}
		on := s.Plan.On(l.Name, l.kind)
		has := func(id int) bool {
			return slices.ContainsFunc(on, func(h plan.JointRef) bool { return s.Plan.Joint(h).Hardware.ID == id })
		}
		lines = append(lines, faultLine{l.Name, has, func(f wire.Fault) (err error) {
			for i, h := range on {
				if f.Target == wire.All || f.Target == s.Plan.Joint(h).Hardware.ID {
					err = errors.Join(err, s.rehearse(l, i, f))
				}
			}
			return err
		}})
	}
	return plantFault(text, "", lines)
}

// rehearse plants a fault in servo i of a real line, and logs it.
func (s *System) rehearse(l *line, i int, f wire.Fault) error {
	if err := l.drill.plant(i, f); err != nil {
		return err
	}
	s.Log.Warn("rehearsal: the readings of a real joint are falsified", "joint",
		s.Plan.JointName(s.Plan.On(l.Name, l.kind)[i]), "fault", f.Kind)
	return nil
}
