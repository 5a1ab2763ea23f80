package dynamixel

import "github.com/halyard-robotics/halyard/servo"

// xl320Models is the XL-320: protocol 2.0 over a table of the AX kind, without current, bus watchdog, indirect
// addresses or fast reads. Source: e-Manual, x/xl320. DynamixelSDK's xl320.model gives it 12 bits; it has 10.
func xl320Models() []*Model {
	return []*Model{{
		Name: "xl-320", Number: 350, Protocol: 2, RAMStart: 24, BulkRead: true,
		Faults: servo.FaultTable{
			servo.Bit(0x01, "Overload Error", servo.AlarmOverload, ""),
			servo.Bit(0x02, "Overheating Error", servo.AlarmHeat, ""),
			servo.Bit(0x04, "Input Voltage Error", servo.AlarmVoltage,
				"bring its supply within min_voltage..max_voltage"),
		},
		Bauds:        []Baud{{3, 1000000}, {2, 115200}, {1, 57600}, {0, 9600}},
		TicksPerTurn: 1023 * 360. / 300, Centre: 512, MinTicks: 0, MaxTicks: 1023,
		// control_mode 1 is a wheel without speed control, 2 is a joint.
		OperatingModes: []byte{1, 2}, Modes: modes(2, -1, -1, 1),
		Registers: []Register{
			// EEPROM.
			servo.Reg("model_number", 0, 2, ReadOnly, unsigned, 0, 65535, 350, number),
			servo.Reg("firmware", 2, 1, ReadOnly, unsigned, 0, 255, 29, number),
			servo.Reg("id", 3, 1, EEPROM, unsigned, 0, 252, 1, number),
			servo.Reg("baud_rate", 4, 1, EEPROM, unsigned, 0, 3, 3, number),
			servo.Reg("return_delay", 5, 1, EEPROM, unsigned, 0, 254, 250, microsecond),
			servo.Reg("cw_angle_limit", 6, 2, EEPROM, unsigned, 0, 1023, 0, ticks1024),
			servo.Reg("ccw_angle_limit", 8, 2, EEPROM, unsigned, 0, 1023, 1023, ticks1024),
			// control_mode in the e-Manual; the same register by purpose, with codes of its own.
			servo.Reg("operating_mode", 11, 1, EEPROM, unsigned, 1, 2, 2, number),
			servo.Reg("temperature_limit", 12, 1, EEPROM, unsigned, 0, 150, 65, celsius),
			servo.Reg("min_voltage", 13, 1, EEPROM, unsigned, 50, 250, 60, decivolt),
			servo.Reg("max_voltage", 14, 1, EEPROM, unsigned, 50, 250, 90, decivolt),
			servo.Reg("max_torque", 15, 2, EEPROM, unsigned, 0, 1023, 1023, share1023),
			servo.Reg("status_return", 17, 1, EEPROM, unsigned, 0, 2, 2, number),
			// Bits of its own, see Faults.
			servo.Reg("shutdown", 18, 1, EEPROM, unsigned, 0, 7, 3, number),
			// RAM.
			servo.Reg("torque_enable", 24, 1, RAM, unsigned, 0, 1, 0, number),
			// Red, green and blue.
			servo.Reg("led", 25, 1, RAM, unsigned, 0, 7, 0, number),
			servo.Reg("position_d_gain", 27, 1, RAM, unsigned, 0, 254, 0, number),
			servo.Reg("position_i_gain", 28, 1, RAM, unsigned, 0, 254, 0, number),
			servo.Reg("position_p_gain", 29, 1, RAM, unsigned, 0, 254, 32, number),
			servo.Reg("goal_position", 30, 2, RAM, unsigned, 0, 1023, 512, ticks1024),
			servo.Reg("moving_speed", 32, 2, RAM, Magnitude, -1023, 1023, 0, speedAX),
			// One byte further than the AX's.
			servo.Reg("torque_limit", 35, 2, RAM, unsigned, 0, 1023, 1023, share1023),
			// Measured.
			servo.Reg("present_position", 37, 2, ReadOnly, unsigned, 0, 1023, 512, ticks1024),
			servo.Reg("present_velocity", 39, 2, ReadOnly, Magnitude, -1023, 1023, 0, speedAX),
			servo.Reg("present_load", 41, 2, ReadOnly, Magnitude, -1023, 1023, 0, share1023),
			servo.Reg("present_voltage", 45, 1, ReadOnly, unsigned, 0, 255, 74, decivolt),
			servo.Reg("present_temperature", 46, 1, ReadOnly, unsigned, 0, 255, 25, celsius),
			servo.Reg("registered", 47, 1, ReadOnly, unsigned, 0, 1, 0, number),
			servo.Reg("moving", 49, 1, ReadOnly, unsigned, 0, 1, 0, number),
			servo.Reg("hardware_error", 50, 1, ReadOnly, unsigned, 0, 255, 0, number),
			servo.Reg("punch", 51, 2, RAM, unsigned, 0, 1023, 32, number),
		},
	}}
}
