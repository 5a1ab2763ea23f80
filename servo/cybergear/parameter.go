package cybergear

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

// Parameters are the values of a motor that tools read and write, under the names common to all servos; the manual's
// names are in the comments. All but the id are lost at power-off. torque_enable is not a parameter of the motor:
// writing 0 sends a stop, and it cannot be read. The slice belongs to the caller.
//
// Ranges and defaults: the manual, section 4.1.11 (3.3.3), of the parameters that single frames read and write.
func Parameters() []servo.Register {
	const ro, ram, keep, plain, signed, float = servo.ReadOnly, servo.RAM, servo.EEPROM, servo.Unsigned, servo.Signed,
		servo.Float
	const maxInt = math.MaxInt32
	milli := func(unit string) servo.Measure { return servo.Measure{Unit: unit, Scale: 1e-3} }
	angle, gain := servo.Measure{Unit: "rad", Scale: 1e-4}, servo.Measure{Scale: 1e-4}
	none := servo.Measure{}
	all := []servo.Register{
		servo.Reg("id", 0, 1, keep, plain, 0, cybergearwire.LastID, 127, none),
		servo.Reg("torque_enable", 1, 1, ram, plain, 0, 1, 0, none),
		// run_mode
		servo.Reg("operating_mode", uint16(cybergearwire.RunMode), 1, ram, plain, cybergearwire.Operating,
			cybergearwire.InCurrent, cybergearwire.Operating, none),
		servo.Reg("can_timeout", uint16(cybergearwire.CANTimeout), 4, ram, plain, 0, 100000, 0,
			servo.Measure{Unit: "s", Scale: timeoutUnit}),
		// iq_ref
		servo.Reg("goal_current", uint16(cybergearwire.IqRef), 4, ram, float, -23000, 23000, 0, milli("A")),
		// spd_ref
		servo.Reg("goal_velocity", uint16(cybergearwire.SpeedRef), 4, ram, float, -30000, 30000, 0, milli("rad/s")),
		// loc_ref
		servo.Reg("goal_position", uint16(cybergearwire.AngleRef), 4, ram, float, -125000, 125000, 0, angle),
		// limit_torque
		servo.Reg("max_torque", uint16(cybergearwire.LimitTorque), 4, ram, float, 0, 12000, 12000, milli("N·m")),
		// limit_spd
		servo.Reg("max_velocity", uint16(cybergearwire.LimitSpeed), 4, ram, float, 0, 30000, 2000, milli("rad/s")),
		// limit_cur
		servo.Reg("max_current", uint16(cybergearwire.LimitCurrent), 4, ram, float, 0, 23000, 23000, milli("A")),
		// cur_kp
		servo.Reg("current_p_gain", uint16(cybergearwire.CurrentP), 4, ram, float, 0, 100000, 1250, gain),
		// cur_ki
		servo.Reg("current_i_gain", uint16(cybergearwire.CurrentI), 4, ram, float, 0, 100000, 158, gain),
		// cur_filt_gain
		servo.Reg("current_filter", uint16(cybergearwire.CurrentFilter), 4, ram, float, 0, 10000, 1000, gain),
		// loc_kp
		servo.Reg("position_p_gain", uint16(cybergearwire.AngleP), 4, ram, float, 0, 5000000, 300000, gain),
		// spd_kp
		servo.Reg("velocity_p_gain", uint16(cybergearwire.SpeedP), 4, ram, float, 0, 1000000, 10000, gain),
		// spd_ki
		servo.Reg("velocity_i_gain", uint16(cybergearwire.SpeedI), 4, ram, float, 0, 100000, 20, gain),
		// mechPos
		servo.Reg("present_position", uint16(cybergearwire.MechAngle), 4, ro, float, -maxInt, maxInt, 0, angle),
		// iqf
		servo.Reg("present_current", uint16(cybergearwire.IqNow), 4, ro, float, -maxInt, maxInt, 0, milli("A")),
		// mechVel
		servo.Reg("present_velocity", uint16(cybergearwire.MechSpeed), 4, ro, float, -maxInt, maxInt, 0,
			milli("rad/s")),
		// VBUS
		servo.Reg("present_voltage", uint16(cybergearwire.BusVolts), 4, ro, float, 0, maxInt, 0, milli("V")),
		// rotation
		servo.Reg("present_turns", uint16(cybergearwire.Turns), 2, ro, signed, math.MinInt16, math.MaxInt16, 0, none),
	}
	all[1].Unread = true
	return all
}
