package odrive

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// device is the state of one axis in addition to servo.Device, on a serial line or on CAN.
type device struct {
	cfg     *servo.ServoConfig
	m       *Model
	dialect odrivewire.Dialect

	heartbeat odrivewire.HeartbeatMessage // last reported state
	words     odrivewire.ErrorWords       // its error words
	own       float64                     // A, the current limit that the axis came with, NaN = unknown: never exceeded
	limit     float64                     // A, current limit in the axis, NaN = unknown
	wrote     float64                     // A, the last limit that was written here, NaN = none
	guarded   bool                        // its watchdog is on
	turn      int                         // selects the values of the next health read
	part      int                         // likewise, of the part whose error word is read next
	turned    bool                        // its last goal was no position: to hold is to stay where it is then

	// Only serial: an implausible position, turns, accepted if the next one agrees.
	strange   float64
	strangeAt time.Duration
	doubted   bool

	// Only CAN.
	beatAt    time.Duration      // time of the last heartbeat, < 0 = never
	commanded odrivewire.State   // last commanded state
	staged    bool               // a command of another state is staged
	changedAt time.Duration      // time of the last change of the commanded state
	due       uint32             // pending replies, as bits by command
	received  bool               // estimates have come
	sdo       odrivewire.SDO     // as it answered last
	ceiling   uint16             // the endpoint of its current limit, 0 = not known
	control   odrivewire.Control // that it was armed in
}

// judge updates the torque state from the state that the axis reports.
func (d *device) judge(dev *servo.Device, b odrivewire.HeartbeatMessage) {
	d.heartbeat = b
	d.note(dev, odrivewire.AxisPart, uint64(b.Errors))
	torque := b.State != odrivewire.Idle && b.State != odrivewire.Undefined // every other state drives the motor
	dev.SawTorque(servo.SwitchOf(torque), !torque && dev.State.Alarm != 0)
	dev.State.Torque = torque
}

// note notes an error word of the axis. Its texts are made where it changes.
func (d *device) note(dev *servo.Device, p odrivewire.Part, bits uint64) {
	if d.words[p] != bits {
		d.words[p] = bits
		dev.State.Report = d.words.Report(d.dialect)
	}
}

// remaining is the error of an axis that was asked to clear its errors and still has some.
func (d *device) remaining(dev *servo.Device) error {
	if d.words.Latched() != 0 {
		return dev.State.Report.Left()
	}
	return nil
}

// amps is the current limit that an axis must have, the lower of ours and its own, and whether it has another. Without
// its own none is written.
func (d *device) amps(dev *servo.Device) (amps float64, changed bool) {
	amps = min(dev.Share()*d.m.Amps, d.own)
	if math.IsNaN(amps) {
		return amps, false
	}
	if math.Abs(amps-d.limit) < 0.01*d.m.Amps && (amps > 0 || d.limit == 0) {
		return amps, false
	}
	d.limit, d.wrote = amps, amps
	return amps, true
}

// holds reports whether torque of dev must be off until the next Enable, and is not confirmed off: its line was lost
// for less than its watchdog time. It needs a command, since every packet to it feeds the watchdog.
func holds(dev *servo.Device) bool { return dev.Stage == servo.Inhibited && dev.Torque != servo.Off }

// wanted is the control mode of an axis for a goal.
func wanted(g *servo.Goal) odrivewire.Control {
	switch g.Mode {
	case hal.VelocityMode:
		return odrivewire.VelocityControl
	case hal.TorqueMode:
		return odrivewire.TorqueControl
	}
	return odrivewire.PositionControl
}

// goal is the control mode and value to send: turns, turns/s or N·m. rest requests no motion.
func (d *device) goal(dev *servo.Device, rest bool) (odrivewire.Control, float64) {
	g := &dev.Goal
	c, turned := wanted(g), d.turned
	d.turned = c != odrivewire.PositionControl
	switch c {
	case odrivewire.VelocityControl:
		return c, servo.Bounded(g.Velocity, d.m.Velocity, rest) / (2 * math.Pi)
	case odrivewire.TorqueControl:
		return c, servo.Bounded(g.Effort, d.m.Amps*dev.Share(), rest) * d.m.Kt
	}
	return odrivewire.PositionControl,
		turns(dev.Position(rest || turned && g.Mode != hal.PositionMode, g.Mode != hal.PositionMode, -counted, counted))
}
