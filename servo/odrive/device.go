package odrive

import (
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// device is the state of one axis in addition to servo.Device, on a serial line or on CAN.
type device struct {
	cfg     *servo.ServoConfig
	m       *Model
	dialect Dialect

	heartbeat HeartbeatMessage // what it said last of its state
	limit     float64          // A, current limit in the axis, NaN = unknown
	guarded   bool             // its watchdog is on
	turn      int              // what the next look reads
	turned    bool             // its last goal was no position: to hold is to stay where it is then

	// Serial alone: a position that it cannot have come to, turns, believed if the next one agrees.
	strange   float64
	strangeAt time.Duration
	doubted   bool

	// CAN alone.
	beatAt  time.Duration // when the last heartbeat came, < 0 = never
	asked   State         // what it was commanded to do
	telling bool          // that is staged
	toldAt  time.Duration // when it was last told another state
	due     uint32        // commands whose frames are waited for, as bits
	heard   bool          // estimates have come
	sdo     SDO           // as it answered last
	control Control       // that it was armed in
}

// judge takes what axis says of its state.
func (d *device) judge(seat *servo.Device, b HeartbeatMessage) {
	d.heartbeat = b
	alarm := b.Errors.Alarm(d.dialect)
	seat.State.Alarm = alarm
	torque := servo.Off
	if b.State != Idle && b.State != Undefined { // every other state drives the motor
		torque = servo.On
	}
	seat.SawTorque(torque, torque == servo.Off && alarm != 0)
	seat.State.Torque = torque == servo.On
}

// remaining is the error of an axis that was freed of its errors and has some.
func (d *device) remaining() error {
	if e := d.heartbeat.Errors; e != 0 {
		return fmt.Errorf("still there: %#x: %v", uint32(e), e.Alarm(d.dialect))
	}
	return nil
}

// amps is the current limit that an axis must have, and whether it has another.
func (d *device) amps(seat *servo.Device) (amps float64, changed bool) {
	amps = seat.Share() * d.m.Amps
	if math.Abs(amps-d.limit) < 0.01*d.m.Amps && (amps > 0 || d.limit == 0) {
		return amps, false
	}
	d.limit = amps
	return amps, true
}

// holds reports that seat must be limp until it is enabled again and is not known to be: its line was lost for less than its
// watchdog's time. It has to be told, since every word to it feeds the watchdog.
func holds(seat *servo.Device) bool { return seat.Stage == servo.Inhibited && seat.Torque != servo.Off }

// wanted is what an axis controls for a goal.
func wanted(g *servo.Goal) Control {
	switch g.Mode {
	case hal.VelocityMode:
		return VelocityControl
	case hal.TorqueMode:
		return TorqueControl
	}
	return PositionControl
}

// goal is what an axis must be told: turns, turns/s or N·m. rest asks for no motion.
func (d *device) goal(seat *servo.Device, rest bool) (Control, float64) {
	g := &seat.Goal
	known := func(v, most float64) float64 {
		if rest || math.IsNaN(v) {
			return 0
		}
		return min(max(v, -most), most)
	}
	c, turned := wanted(g), d.turned
	d.turned = c != PositionControl
	switch c {
	case VelocityControl:
		return c, known(g.Velocity, d.m.Velocity) / (2 * math.Pi)
	case TorqueControl:
		return c, known(g.Effort, d.m.Amps) * d.m.Kt
	}
	return PositionControl, turns(seat.Position(rest || turned && g.Mode != hal.PositionMode, g.Mode != hal.PositionMode, -counted, counted))
}
