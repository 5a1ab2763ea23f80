package feetech

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

// The value of operating_mode of HLS servos in addition to position and velocity. 3 is PWM without a loop, whose unit
// is not published: it is not offered.
const modeCurrent = 2

// The firmware of HLS servos. Only this distinguishes them from an STS: byte order and ids are the same.
const (
	firmwareHLS      = 3
	firstHLS, endHLS = 40, 60 // minor versions
)

// HLS servos differ from STS in the unit of speed: 50 step/s, 0.732 rpm, for every value of phase.
var speedHLS = servo.Measure{Unit: "rad/s", Scale: coarseSpeed * 2 * math.Pi / 4096}

// hlsModels are the HLS series, "constant force" servos with a current loop. Source: Feetech's memory table of the
// series, read off an HLS3930M and an HLS2915M of firmware 3.45, and the data sheets at 12 V. Estimates: the speeds of
// the first two, which are in no data sheet that we found and were computed from torque and current; the speed of the
// HLS3930, from its goal_velocity at power-on; the current of the HLS3950, from the STS3250, which has the same motor.
func hlsModels() []*Model {
	all := []*Model{
		{Name: "hls3915", Number: 5130},
		{Name: "hls2915", Number: 6922},
		{Name: "hls3930", Number: 4106},
		{Name: "hls3950", Number: 4618},
	}
	for _, m := range all {
		m.rated()
		protection, fastest := int64(1000), int64(100)
		if m.StallCurrent < 2 {
			protection, fastest = 450, 250
		}
		m.Series, m.RAMStart = HLS, 40
		m.Registers = hlsRegisters(int64(m.Number), protection, fastest)
		m.TicksPerTurn, m.Centre, m.MaxTicks = 4096, 2048, 4095
		m.Modes = [hal.NumModes]int{hal.PositionMode: modePosition, hal.VelocityMode: modeVelocity,
			hal.TorqueMode: modeCurrent, hal.DutyMode: -1}
	}
	return all
}

// hlsRegisters is the memory table of all HLS servos. protection is the current at which torque is switched off, and
// the value of goal_current at power-on; fastest is goal_velocity then.
func hlsRegisters(model, protection, fastest int64) []servo.Register {
	return []servo.Register{
		// Read only.
		servo.Reg("firmware", 0, 1, readOnly, plain, 0, 255, firmwareHLS, number),
		servo.Reg("firmware_minor", 1, 1, readOnly, plain, 0, 255, 45, number),
		servo.Reg("byte_order", 2, 1, readOnly, plain, 0, 1, 0, number),
		servo.Reg("model_number", 3, 2, readOnly, plain, 0, 65535, model, number),
		// EEPROM.
		servo.Reg("id", 5, 1, eeprom, plain, 0, feetechwire.LastID, 1, number),
		servo.Reg("baud_rate", 6, 1, eeprom, plain, 0, 7, 0, number),
		// A second id whose instructions are executed and not answered. The factory default, 253, means none.
		servo.Reg("shadow_id", 7, 1, eeprom, plain, 0, feetechwire.LastID, feetechwire.LastID, number),
		servo.Reg("response_level", 8, 1, eeprom, plain, 0, 1, 1, number),
		// Both zero: no limits.
		servo.Reg("min_position", 9, 2, eeprom, plain, 0, 4094, 0, ticks4096),
		servo.Reg("max_position", 11, 2, eeprom, plain, 0, 4095, 4095, ticks4096),
		servo.Reg("temperature_limit", 13, 1, eeprom, plain, 0, 100, 80, celsius),
		servo.Reg("max_voltage", 14, 1, eeprom, plain, 0, 254, 160, decivolt),
		servo.Reg("min_voltage", 15, 1, eeprom, plain, 0, 254, 40, decivolt),
		// The value of torque_limit at power-on.
		servo.Reg("max_torque", 16, 2, eeprom, plain, 0, 1000, 1000, permille),
		// Its bits differ from those of STS, except phaseMultiTurn.
		servo.Reg("phase", 18, 1, eeprom, plain, 0, 254, 32, number),
		servo.Reg("unload_condition", 19, 1, eeprom, plain, 0, 254, 13, number),
		servo.Reg("alarm_led", 20, 1, eeprom, plain, 0, 254, 13, number),
		servo.Reg("position_p_gain", 21, 1, eeprom, plain, 0, 254, 32, number),
		servo.Reg("position_d_gain", 22, 1, eeprom, plain, 0, 254, 32, number),
		servo.Reg("position_i_gain", 23, 1, eeprom, plain, 0, 254, 0, number),
		servo.Reg("punch", 24, 1, eeprom, plain, 0, 254, 16, permille),
		// Four of the integral's counts each; 0: no limit.
		servo.Reg("integral_limit", 25, 1, eeprom, plain, 0, 254, 0, number),
		servo.Reg("cw_dead_band", 26, 1, eeprom, plain, 0, 16, 1, number),
		servo.Reg("ccw_dead_band", 27, 1, eeprom, plain, 0, 16, 1, number),
		servo.Reg("protection_current", 28, 2, eeprom, plain, 0, 2047, protection, milliamps),
		servo.Reg("angular_resolution", 30, 1, eeprom, plain, 1, 128, 1, number),
		// Present = actual - offset.
		servo.Reg("homing_offset", 31, 2, eeprom, servo.Magnitude15, -4095, 4095, 0, steps4096),
		servo.Reg("operating_mode", 33, 1, eeprom, plain, 0, 3, 0, number),
		servo.Reg("current_p_gain", 34, 1, eeprom, plain, 0, 254, 20, number),
		servo.Reg("current_i_gain", 35, 1, eeprom, plain, 0, 254, 10, number),
		servo.Reg("velocity_p_gain", 37, 1, eeprom, plain, 0, 254, 20, number),
		servo.Reg("overcurrent_time", 38, 1, eeprom, plain, 0, 254, 200, centisecond),
		servo.Reg("velocity_i_gain", 39, 1, eeprom, plain, 0, 254, 2, number),
		// RAM. Torque 2 damps; there is no 128.
		servo.Reg("torque_enable", 40, 1, ram, plain, 0, 2, 0, number),
		servo.Reg("goal_acceleration", 41, 1, ram, plain, 0, 254, 0, accel4096),
		servo.Reg("goal_position", 42, 2, ram, servo.Magnitude15, -32767, 32767, 0, ticks4096),
		// The goal in the current mode, else the greatest current: at 0 the motor has no torque.
		servo.Reg("goal_current", 44, 2, ram, servo.Magnitude15, -2047, 2047, protection, milliamps),
		servo.Reg("goal_velocity", 46, 2, ram, servo.Magnitude15, -32767, 32767, fastest, speedHLS),
		servo.Reg("torque_limit", 48, 2, ram, plain, 0, 1000, 1000, permille),
		servo.Reg("lock", 55, 1, ram, plain, 0, 1, 1, number),
		// Measured. The registers from the first to present_current are read in every cycle.
		servo.Reg("present_position", 56, 2, readOnly, servo.Magnitude15, -32767, 32767, 2048, ticks4096),
		servo.Reg("present_velocity", 58, 2, readOnly, servo.Magnitude15, -32767, 32767, 0, speedHLS),
		servo.Reg("present_load", 60, 2, readOnly, servo.Magnitude10, -1000, 1000, 0, permille),
		servo.Reg("present_voltage", 62, 1, readOnly, plain, 0, 255, 120, decivolt),
		servo.Reg("present_temperature", 63, 1, readOnly, plain, 0, 255, 25, celsius),
		servo.Reg("registered", 64, 1, readOnly, plain, 0, 1, 0, number),
		servo.Reg("hardware_error", 65, 1, readOnly, plain, 0, 255, 0, number),
		// Bit 0: it moves; bit 1: it is not yet there.
		servo.Reg("moving", 66, 1, readOnly, plain, 0, 3, 0, number),
		servo.Reg("target_position", 67, 2, readOnly, servo.Magnitude15, -32767, 32767, 0, ticks4096),
		servo.Reg("present_current", 69, 2, readOnly, servo.Magnitude15, -32767, 32767, 0, milliamps),
	}
}
