package dynamixel

import (
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// alarms1 are the bits of a 1.0 error byte for the servo's state, as the e-Manual names them. Bits for checksum and
// instruction errors concern a packet and are counted, not displayed.
func alarms1() servo.FaultTable {
	return servo.FaultTable{
		servo.Bit(0x01, "Input Voltage Error", servo.AlarmVoltage, "bring its supply within min_voltage..max_voltage"),
		servo.Bit(0x02, "Angle Limit Error", servo.AlarmRange, ""),
		servo.Bit(0x04, "Overheating Error", servo.AlarmHeat, ""),
		servo.Bit(0x08, "Range Error", servo.AlarmRange, ""),
		servo.Bit(0x20, "Overload Error", servo.AlarmOverload, ""),
	}
}

// packetSound are the bits of a 1.0 error byte that alarms1 has.
const packetSound = 0x2F

// bauds1 are the documented codes of AX; MX adds three faster ones. The register takes any code 1..254.
func bauds1() []Baud {
	return []Baud{
		{1, 1000000}, {3, 500000}, {4, 400000}, {7, 250000}, {9, 200000}, {16, 115200}, {34, 57600}, {103, 19200},
		{207, 9600},
	}
}

// modes returns the operating_mode codes of position, velocity, torque and duty mode; -1 if absent.
func modes(position, velocity, torque, duty int) (m [hal.NumModes]int) {
	m[hal.PositionMode], m[hal.VelocityMode], m[hal.TorqueMode], m[hal.DutyMode] = position, velocity, torque, duty
	return m
}

// The modes of a 1.0 servo, selected by its angle limits; both zero is a wheel.
const (
	jointMode = 0
	wheelMode = 1
)

// axModels are the AX series, protocol 1.0. Source: e-Manual, ax/ax-12a. Writing a goal position also switches torque
// on; an alarm of the shutdown mask clears torque_enable and torque_limit.
func axModels() []*Model {
	return []*Model{{
		Name: "ax-12a", Number: 12, Protocol: 1, RAMStart: 24, Bauds: bauds1(), Faults: alarms1(),
		TicksPerTurn: 1023 * 360. / 300, Centre: 512, MinTicks: 0, MaxTicks: 1023,
		// The wheel mode has no speed control: it is a duty.
		Modes: modes(jointMode, -1, -1, wheelMode),
		Registers: []Register{
			// EEPROM.
			servo.Reg("model_number", 0, 2, ReadOnly, unsigned, 0, 65535, 12, number),
			servo.Reg("firmware", 2, 1, ReadOnly, unsigned, 0, 255, 24, number),
			servo.Reg("id", 3, 1, EEPROM, unsigned, 0, 253, 1, number),
			servo.Reg("baud_rate", 4, 1, EEPROM, unsigned, 0, 254, 1, number),
			// Factory 250 = 500 µs: it costs more than the answer at 1 Mbit/s. 0 is right for any host that turns in
			// time.
			servo.Reg("return_delay", 5, 1, EEPROM, unsigned, 0, 254, 250, microsecond),
			// Both zero make a wheel.
			servo.Reg("cw_angle_limit", 6, 2, EEPROM, unsigned, 0, 1023, 0, ticks1024),
			servo.Reg("ccw_angle_limit", 8, 2, EEPROM, unsigned, 0, 1023, 1023, ticks1024),
			servo.Reg("temperature_limit", 11, 1, EEPROM, unsigned, 0, 99, 70, celsius),
			servo.Reg("min_voltage", 12, 1, EEPROM, unsigned, 50, 160, 60, decivolt),
			servo.Reg("max_voltage", 13, 1, EEPROM, unsigned, 50, 160, 140, decivolt),
			// The value of torque_limit at power-on.
			servo.Reg("max_torque", 14, 2, EEPROM, unsigned, 0, 1023, 1023, share1023),
			// 0: answers only pings, 1: also reads, 2: all.
			servo.Reg("status_return", 16, 1, EEPROM, unsigned, 0, 2, 2, number),
			servo.Reg("alarm_led", 17, 1, EEPROM, unsigned, 0, 127, bitHeat|bitOverload, number),
			servo.Reg("shutdown", 18, 1, EEPROM, unsigned, 0, 127, bitHeat|bitOverload, number),
			// RAM: switches and settings.
			servo.Reg("torque_enable", 24, 1, RAM, unsigned, 0, 1, 0, number),
			servo.Reg("led", 25, 1, RAM, unsigned, 0, 1, 0, number),
			// Margin: dead zone in counts. Slope: counts from punch to full output, in steps of powers of two.
			servo.Reg("cw_compliance_margin", 26, 1, RAM, unsigned, 0, 255, 1, number),
			servo.Reg("ccw_compliance_margin", 27, 1, RAM, unsigned, 0, 255, 1, number),
			servo.Reg("cw_compliance_slope", 28, 1, RAM, unsigned, 1, 254, 32, number),
			servo.Reg("ccw_compliance_slope", 29, 1, RAM, unsigned, 1, 254, 32, number),
			// RAM: goals. goal_position and moving_speed are written together in every cycle.
			servo.Reg("goal_position", 30, 2, RAM, unsigned, 0, 1023, 512, ticks1024),
			// As a joint 0 means no speed control, as fast as it can; as a wheel it is a duty in 1/1023 with the sign
			// in bit 10.
			servo.Reg("moving_speed", 32, 2, RAM, Magnitude, -1023, 1023, 0, speedAX),
			// Set to zero by an alarm of the shutdown mask; writing it again clears the latch.
			servo.Reg("torque_limit", 34, 2, RAM, unsigned, 0, 1023, 1023, share1023),
			// Measured. The first three are read in every cycle.
			servo.Reg("present_position", 36, 2, ReadOnly, unsigned, 0, 1023, 512, ticks1024),
			servo.Reg("present_velocity", 38, 2, ReadOnly, Magnitude, -1023, 1023, 0, speedAX),
			// An estimate from the duty, not a measured torque.
			servo.Reg("present_load", 40, 2, ReadOnly, Magnitude, -1023, 1023, 0, share1023),
			servo.Reg("present_voltage", 42, 1, ReadOnly, unsigned, 0, 255, 120, decivolt),
			servo.Reg("present_temperature", 43, 1, ReadOnly, unsigned, 0, 255, 25, celsius),
			servo.Reg("registered", 44, 1, ReadOnly, unsigned, 0, 1, 0, number),
			servo.Reg("moving", 46, 1, ReadOnly, unsigned, 0, 1, 0, number),
			// 1 locks the EEPROM until the next power-up.
			servo.Reg("lock", 47, 1, RAM, unsigned, 0, 1, 0, number),
			servo.Reg("punch", 48, 2, RAM, unsigned, 32, 1023, 32, number),
		},
	}}
}
