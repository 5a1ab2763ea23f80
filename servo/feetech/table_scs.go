package feetech

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

// scsModels are the SCS series. Source: Feetech's memory tables of SCS15 and SCS0009; their spans (200 and 300 degrees)
// and the SCS15's model number are not verified. A wheel is made of them by limits of zero, which the chain does not
// use.
func scsModels() []*Model {
	all := []*Model{
		{Name: "scs0009", Number: 1284, TicksPerTurn: 1023 * 360. / 300},
		{Name: "scs15", Number: 0, TicksPerTurn: 1023 * 360. / 200},
	}
	for _, m := range all {
		m.rated()
		tick := 2 * math.Pi / m.TicksPerTurn
		m.Series, m.RAMStart, m.Centre, m.MaxTicks = SCS, 40, 512, 1023
		m.Registers = scsRegisters(int64(m.Number), servo.Measure{Unit: "rad", Scale: tick, Zero: 512},
			servo.Measure{Unit: "rad/s", Scale: tick})
		// All words of the series have their high byte first.
		for i := range m.Registers {
			m.Registers[i].Encoding |= servo.BigEndian
		}
		m.Modes = [hal.NumModes]int{hal.PositionMode: modePosition, hal.VelocityMode: -1, hal.TorqueMode: -1,
			hal.DutyMode: -1}
	}
	return all
}

// scsRegisters is the memory table of the SCS servos; position and speed have the given units.
func scsRegisters(model int64, position, speed servo.Measure) []servo.Register {
	return []servo.Register{
		// Read only.
		servo.Reg("firmware", 0, 1, readOnly, plain, 0, 255, 2, number),
		servo.Reg("firmware_minor", 1, 1, readOnly, plain, 0, 255, 4, number),
		servo.Reg("byte_order", 2, 1, readOnly, plain, 0, 1, 1, number),
		servo.Reg("model_number", 3, 2, readOnly, plain, 0, 65535, model, number),
		// EEPROM.
		servo.Reg("id", 5, 1, eeprom, plain, 0, feetechwire.LastID, 1, number),
		servo.Reg("baud_rate", 6, 1, eeprom, plain, 0, 7, 0, number),
		servo.Reg("return_delay", 7, 1, eeprom, plain, 0, 254, 0, microsecond),
		servo.Reg("response_level", 8, 1, eeprom, plain, 0, 1, 1, number),
		// Both zero make a wheel.
		servo.Reg("min_position", 9, 2, eeprom, plain, 0, 1023, 0, position),
		servo.Reg("max_position", 11, 2, eeprom, plain, 0, 1023, 1023, position),
		servo.Reg("temperature_limit", 13, 1, eeprom, plain, 0, 100, 80, celsius),
		servo.Reg("max_voltage", 14, 1, eeprom, plain, 0, 254, 90, decivolt),
		servo.Reg("min_voltage", 15, 1, eeprom, plain, 0, 254, 40, decivolt),
		// While the lock is closed a write changes the copy in RAM: the only torque limit that the series has.
		servo.Reg("max_torque", 16, 2, eeprom, plain, 0, 1000, 1000, permille),
		servo.Reg("unload_condition", 19, 1, eeprom, plain, 0, 63, 37, number),
		servo.Reg("alarm_led", 20, 1, eeprom, plain, 0, 254, 37, number),
		servo.Reg("position_p_gain", 21, 1, eeprom, plain, 0, 254, 15, number),
		servo.Reg("position_d_gain", 22, 1, eeprom, plain, 0, 254, 0, number),
		servo.Reg("position_i_gain", 23, 1, eeprom, plain, 0, 254, 0, number),
		servo.Reg("punch", 24, 2, eeprom, plain, 0, 1000, 20, permille),
		servo.Reg("cw_dead_band", 26, 1, eeprom, plain, 0, 32, 1, number),
		servo.Reg("ccw_dead_band", 27, 1, eeprom, plain, 0, 32, 1, number),
		servo.Reg("protective_torque", 37, 1, eeprom, plain, 0, 100, 40, percent),
		servo.Reg("protection_time", 38, 1, eeprom, plain, 0, 254, 80, centisecond),
		// RAM.
		servo.Reg("torque_enable", 40, 1, ram, plain, 0, 1, 0, number),
		servo.Reg("goal_position", 42, 2, ram, servo.Magnitude15, 0, 1023, 0, position),
		servo.Reg("goal_time", 44, 2, ram, plain, 0, 9999, 0, millisecond),
		servo.Reg("goal_velocity", 46, 2, ram, servo.Magnitude15, 0, 9999, 0, speed),
		servo.Reg("lock", 48, 1, ram, plain, 0, 1, 1, number),
		// Measured.
		servo.Reg("present_position", 56, 2, readOnly, servo.Magnitude15, -32767, 32767, 512, position),
		servo.Reg("present_velocity", 58, 2, readOnly, servo.Magnitude15, -32767, 32767, 0, speed),
		servo.Reg("present_load", 60, 2, readOnly, servo.Magnitude10, -1000, 1000, 0, permille),
		servo.Reg("present_voltage", 62, 1, readOnly, plain, 0, 255, 60, decivolt),
		servo.Reg("present_temperature", 63, 1, readOnly, plain, 0, 255, 25, celsius),
		servo.Reg("registered", 64, 1, readOnly, plain, 0, 1, 0, number),
		servo.Reg("hardware_error", 65, 1, readOnly, plain, 0, 255, 0, number),
		servo.Reg("moving", 66, 1, readOnly, plain, 0, 1, 0, number),
	}
}
