package feetech

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

// The words of the tables.
const (
	readOnly = servo.ReadOnly
	ram      = servo.RAM
	eeprom   = servo.EEPROM
	plain    = servo.Unsigned
)

// The units of raw values, all series. A register without a unit is a plain number.
var (
	number      = servo.Measure{}
	celsius     = servo.Measure{Unit: "°C", Scale: 1}
	decivolt    = servo.Measure{Unit: "V", Scale: 0.1}
	permille    = servo.Measure{Unit: "1", Scale: 1e-3}
	percent     = servo.Measure{Unit: "1", Scale: 1e-2}
	microsecond = servo.Measure{Unit: "s", Scale: 2e-6}
	centisecond = servo.Measure{Unit: "s", Scale: 10e-3}
	millisecond = servo.Measure{Unit: "s", Scale: 1e-3}

	ticks4096 = servo.Measure{Unit: "rad", Scale: 2 * math.Pi / 4096, Zero: 2048}
	steps4096 = servo.Measure{Unit: "rad", Scale: 2 * math.Pi / 4096}      // a distance, not a place
	speed4096 = servo.Measure{Unit: "rad/s", Scale: 2 * math.Pi / 4096}    // step/s
	accel4096 = servo.Measure{Unit: "rad/s²", Scale: 200 * math.Pi / 4096} // 100 step/s²
	milliamps = servo.Measure{Unit: "A", Scale: 6.5e-3}                    // not verified
)

// phaseFineSpeed is the bit of phase by which speeds are in step/s; else in 50 of them.
const phaseFineSpeed = 1 << 2

// coarseSpeed is the speed unit without phaseFineSpeed, 0.732 rpm, in step/s.
const coarseSpeed = 50

// stsModels are the STS series. Source: Feetech's memory table of the STS3215 and data sheets of each at its voltage.
// The STS3032's model number is not published. The STS3095's figures are those its users drive it by; its current is an
// estimate.
func stsModels() []*Model {
	all := []*Model{
		{Name: "sts3215", Number: 777},
		{Name: "sts3032", Number: 0},
		{Name: "sts3095", Number: 2569},
		{Name: "sts3250", Number: 2825},
	}
	for _, m := range all {
		m.rated()
		m.Series, m.Registers, m.RAMStart = STS, stsRegisters(int64(m.Number)), 40
		m.TicksPerTurn, m.Centre, m.MaxTicks = 4096, 2048, 4095
		m.Modes = [hal.NumModes]int{hal.PositionMode: modePosition, hal.VelocityMode: modeVelocity,
			hal.TorqueMode: -1, hal.DutyMode: modePWM}
	}
	return all
}

// stsRegisters is the memory table of all STS and SMS servos.
func stsRegisters(model int64) []servo.Register {
	return []servo.Register{
		// Read only.
		servo.Reg("firmware", 0, 1, readOnly, plain, 0, 255, 3, number),
		servo.Reg("firmware_minor", 1, 1, readOnly, plain, 0, 255, 10, number),
		servo.Reg("byte_order", 2, 1, readOnly, plain, 0, 1, 0, number),
		servo.Reg("model_number", 3, 2, readOnly, plain, 0, 65535, model, number),
		// EEPROM.
		servo.Reg("id", 5, 1, eeprom, plain, 0, feetechwire.LastID, 1, number),
		servo.Reg("baud_rate", 6, 1, eeprom, plain, 0, 7, 0, number),
		servo.Reg("return_delay", 7, 1, eeprom, plain, 0, 254, 0, microsecond),
		// 0: answers only pings and reads, 1: all.
		servo.Reg("response_level", 8, 1, eeprom, plain, 0, 1, 1, number),
		// Both zero: no limits.
		servo.Reg("min_position", 9, 2, eeprom, plain, 0, 4094, 0, ticks4096),
		servo.Reg("max_position", 11, 2, eeprom, plain, 0, 4095, 4095, ticks4096),
		servo.Reg("temperature_limit", 13, 1, eeprom, plain, 0, 100, 70, celsius),
		servo.Reg("max_voltage", 14, 1, eeprom, plain, 0, 254, 140, decivolt),
		servo.Reg("min_voltage", 15, 1, eeprom, plain, 0, 254, 40, decivolt),
		// The value of torque_limit at power-on.
		servo.Reg("max_torque", 16, 2, eeprom, plain, 0, 1000, 1000, permille),
		servo.Reg("phase", 18, 1, eeprom, plain, 0, 254, 12, number),
		// The alarms that switch torque off; bits as in the error byte.
		servo.Reg("unload_condition", 19, 1, eeprom, plain, 0, 63, 44, number),
		servo.Reg("alarm_led", 20, 1, eeprom, plain, 0, 254, 47, number),
		servo.Reg("position_p_gain", 21, 1, eeprom, plain, 0, 254, 32, number),
		servo.Reg("position_d_gain", 22, 1, eeprom, plain, 0, 254, 32, number),
		servo.Reg("position_i_gain", 23, 1, eeprom, plain, 0, 254, 0, number),
		servo.Reg("punch", 24, 2, eeprom, plain, 0, 1000, 16, permille),
		servo.Reg("cw_dead_band", 26, 1, eeprom, plain, 0, 32, 1, number),
		servo.Reg("ccw_dead_band", 27, 1, eeprom, plain, 0, 32, 1, number),
		servo.Reg("protection_current", 28, 2, eeprom, plain, 0, 511, 500, milliamps),
		servo.Reg("angular_resolution", 30, 1, eeprom, plain, 1, 100, 1, number),
		// Present = actual - offset.
		servo.Reg("homing_offset", 31, 2, eeprom, servo.Magnitude11, -2047, 2047, 0, steps4096),
		servo.Reg("operating_mode", 33, 1, eeprom, plain, 0, 3, 0, number),
		servo.Reg("protective_torque", 34, 1, eeprom, plain, 0, 100, 20, percent),
		servo.Reg("protection_time", 35, 1, eeprom, plain, 0, 254, 200, centisecond),
		servo.Reg("overload_torque", 36, 1, eeprom, plain, 0, 100, 80, percent),
		servo.Reg("velocity_p_gain", 37, 1, eeprom, plain, 0, 100, 10, number),
		servo.Reg("overcurrent_time", 38, 1, eeprom, plain, 0, 254, 200, centisecond),
		servo.Reg("velocity_i_gain", 39, 1, eeprom, plain, 0, 254, 10, number),
		// RAM. Torque 128 makes the present position 2048.
		servo.Reg("torque_enable", 40, 1, ram, plain, 0, 128, 0, number),
		servo.Reg("goal_acceleration", 41, 1, ram, plain, 0, 254, 0, accel4096),
		servo.Reg("goal_position", 42, 2, ram, servo.Magnitude15, -32767, 32767, 0, ticks4096),
		// Time of a motion; the duty in PWM mode.
		servo.Reg("goal_time", 44, 2, ram, servo.Magnitude10, -1000, 1000, 0, permille),
		servo.Reg("goal_velocity", 46, 2, ram, servo.Magnitude15, -32767, 32767, 0, speed4096),
		servo.Reg("torque_limit", 48, 2, ram, plain, 0, 1000, 1000, permille),
		servo.Reg("lock", 55, 1, ram, plain, 0, 1, 1, number),
		// Measured. The first five are read in every cycle.
		servo.Reg("present_position", 56, 2, readOnly, servo.Magnitude15, -32767, 32767, 2048, ticks4096),
		servo.Reg("present_velocity", 58, 2, readOnly, servo.Magnitude15, -32767, 32767, 0, speed4096),
		servo.Reg("present_load", 60, 2, readOnly, servo.Magnitude10, -1000, 1000, 0, permille),
		servo.Reg("present_voltage", 62, 1, readOnly, plain, 0, 255, 74, decivolt),
		servo.Reg("present_temperature", 63, 1, readOnly, plain, 0, 255, 25, celsius),
		servo.Reg("registered", 64, 1, readOnly, plain, 0, 1, 0, number),
		servo.Reg("hardware_error", 65, 1, readOnly, plain, 0, 255, 0, number),
		servo.Reg("moving", 66, 1, readOnly, plain, 0, 1, 0, number),
		servo.Reg("present_current", 69, 2, readOnly, servo.Magnitude15, -32767, 32767, 0, milliamps),
		// Factory values with unpublished units and defaults: displayed, read-only.
		servo.Reg("moving_threshold", 80, 1, readOnly, plain, 0, 255, 0, number),
		servo.Reg("dts", 81, 1, readOnly, plain, 0, 255, 0, number),
		servo.Reg("speed_unit", 82, 1, readOnly, plain, 0, 255, 0, number),
		servo.Reg("max_speed", 84, 1, readOnly, plain, 0, 255, 0, number),
		servo.Reg("max_acceleration", 85, 1, readOnly, plain, 0, 255, 0, number),
		servo.Reg("acceleration_multiplier", 86, 1, readOnly, plain, 0, 255, 0, number),
	}
}
