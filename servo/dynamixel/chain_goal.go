package dynamixel

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// encodeGoal puts d's goal into d.bytes, d.length bytes for d.goalAt. rest asks for no motion instead: the present
// position, or a velocity, current or duty of zero.
func (d *device) encodeGoal(rest bool) {
	_, mode := d.wantedMode()
	g := &d.Goal
	// In the order of hal's modes.
	value := [...]float64{g.Position, g.Velocity, g.Effort, g.Duty}[mode]
	if mode == hal.PositionMode {
		// A position at rest is a place; every other mode rests at zero. Without a mode, and after torque went on until
		// the first goal, it is where the servo was at that moment.
		value = d.Position(rest, g.Mode != hal.PositionMode, d.minTicks, d.maxTicks)
	} else if rest || math.IsNaN(value) {
		value = 0
	}
	if d.reg.movingSpeed != nil {
		d.encodeLegacy(mode, value)
		return
	}
	var r *Register
	var raw int64
	switch mode {
	case hal.PositionMode:
		r, raw = d.reg.goalPosition, int64(math.Round(value))
	case hal.VelocityMode:
		r = d.reg.goalVelocity
		// Beyond velocity_limit the servo would refuse the whole goal and keep the old one.
		raw = bound(r.Raw(value), d.maxLimit[limitVelocity])
	case hal.TorqueMode:
		r = d.reg.goalCurrent
		// No register limits the goal of this mode, nor of the next: the goal itself is cut.
		raw = bound(r.Raw(value), d.shareOf(r, limitCurrent))
	default:
		r = d.reg.goalPWM
		raw = bound(r.Raw(value), d.shareOf(r, limitOutput))
	}
	d.goalAt, d.length = r.Addr, len(r.Append(d.bytes[:0], raw))
}

// encodeLegacy is encodeGoal for tables like the AX's, with moving_speed after goal_position. In joint mode both are
// written, in wheel mode only the speed, which is a velocity for MX and a duty for AX and XL-320.
func (d *device) encodeLegacy(mode hal.Mode, value float64) {
	speed := d.reg.movingSpeed
	switch mode {
	case hal.PositionMode:
		// Position first, speed behind it: one packet of four bytes.
		b := d.reg.goalPosition.Append(d.bytes[:0], int64(math.Round(value)))
		raw := int64(0) // no speed control: as fast as it can
		if v := d.cfg.Velocity; v > 0 {
			raw = max(1, speed.Raw(v))
		}
		d.goalAt, d.length = d.reg.goalPosition.Addr, len(speed.Append(b, raw))
	case hal.VelocityMode:
		d.goalAt, d.length = speed.Addr, len(speed.Append(d.bytes[:0], speed.Raw(value)))
	default:
		raw := int64(math.Round(min(max(value, -1), 1) * float64(speed.Max)))
		d.goalAt, d.length = speed.Addr, len(speed.Append(d.bytes[:0], raw))
	}
}

func bound(v, limit int64) int64 { return min(max(v, -limit), limit) }
