package dynamixel

import (
	"cmp"
	"slices"

	"github.com/halyard-robotics/halyard/servo"
)

// mxModels are the MX series under protocol 1.0. Under 2.0 their control table is the X series' (table_x.go).
// Source: e-Manual, mx/mx-28, mx-64, mx-106.
func mxModels() []*Model {
	mx28 := mx("mx-28", 29, 160)

	// MX-64 and MX-106 measure current and have a torque mode in addition to the modes by angle limits. The chain does
	// not use it: its goal and measured current are not next to the other registers and would need a second write and
	// read per cycle.
	mx64 := mx("mx-64", 310, 240, mxCurrent()...)
	mx64.CurrentUnit = 4.5e-3

	mx106 := mx("mx-106", 320, 240, mxCurrent()...)
	mx106.CurrentUnit = 4.5e-3
	// Only the MX-106 can follow a master servo.
	mx106.Registers = insert(mx106.Registers, servo.Reg("drive_mode", 10, 1, EEPROM, unsigned, 0, 3, 0, number))
	return []*Model{mx28, mx64, mx106}
}

// mx is the common table of all MX in 1.0.
func mx(name string, id uint16, maxVoltage int64, more ...Register) *Model {
	regs := []Register{
		// EEPROM. Addresses and meanings are the AX's except where noted.
		servo.Reg("model_number", 0, 2, ReadOnly, unsigned, 0, 65535, int64(id), number),
		servo.Reg("firmware", 2, 1, ReadOnly, unsigned, 0, 255, 41, number),
		servo.Reg("id", 3, 1, EEPROM, unsigned, 0, 253, 1, number),
		servo.Reg("baud_rate", 4, 1, EEPROM, unsigned, 0, 254, 34, number),
		servo.Reg("return_delay", 5, 1, EEPROM, unsigned, 0, 254, 250, microsecond),
		// Both zero: wheel; both 4095: multi-turn.
		servo.Reg("cw_angle_limit", 6, 2, EEPROM, unsigned, 0, 4095, 0, ticks4096),
		servo.Reg("ccw_angle_limit", 8, 2, EEPROM, unsigned, 0, 4095, 4095, ticks4096),
		servo.Reg("temperature_limit", 11, 1, EEPROM, unsigned, 0, 99, 80, celsius),
		servo.Reg("min_voltage", 12, 1, EEPROM, unsigned, 50, 250, 60, decivolt),
		servo.Reg("max_voltage", 13, 1, EEPROM, unsigned, 50, 250, maxVoltage, decivolt),
		servo.Reg("max_torque", 14, 2, EEPROM, unsigned, 0, 1023, 1023, share1023),
		servo.Reg("status_return", 16, 1, EEPROM, unsigned, 0, 2, 2, number),
		servo.Reg("alarm_led", 17, 1, EEPROM, unsigned, 0, 127, bitHeat|bitOverload, number),
		servo.Reg("shutdown", 18, 1, EEPROM, unsigned, 0, 127, bitHeat|bitOverload, number),
		// The multi-turn mode's zero and how many turns fit into 16 bits.
		servo.Reg("multi_turn_offset", 20, 2, EEPROM, signed, -24576, 24576, 0, turns4096),
		servo.Reg("resolution_divider", 22, 1, EEPROM, unsigned, 1, 4, 1, number),
		// RAM: switches and settings. A PID takes the place of compliance.
		servo.Reg("torque_enable", 24, 1, RAM, unsigned, 0, 1, 0, number),
		servo.Reg("led", 25, 1, RAM, unsigned, 0, 1, 0, number),
		servo.Reg("position_d_gain", 26, 1, RAM, unsigned, 0, 254, 0, number),
		servo.Reg("position_i_gain", 27, 1, RAM, unsigned, 0, 254, 0, number),
		servo.Reg("position_p_gain", 28, 1, RAM, unsigned, 0, 254, 32, number),
		// signed, since the multi-turn mode goes to -7 turns.
		servo.Reg("goal_position", 30, 2, RAM, signed, -28672, 28672, 2048, ticks4096),
		servo.Reg("moving_speed", 32, 2, RAM, Magnitude, -1023, 1023, 0, speedMX),
		servo.Reg("torque_limit", 34, 2, RAM, unsigned, 0, 1023, 1023, share1023),
		servo.Reg("present_position", 36, 2, ReadOnly, signed, -28672, 28672, 2048, ticks4096),
		servo.Reg("present_velocity", 38, 2, ReadOnly, Magnitude, -1023, 1023, 0, speedMX),
		servo.Reg("present_load", 40, 2, ReadOnly, Magnitude, -1023, 1023, 0, share1023),
		servo.Reg("present_voltage", 42, 1, ReadOnly, unsigned, 0, 255, 120, decivolt),
		servo.Reg("present_temperature", 43, 1, ReadOnly, unsigned, 0, 255, 25, celsius),
		servo.Reg("registered", 44, 1, ReadOnly, unsigned, 0, 1, 0, number),
		servo.Reg("moving", 46, 1, ReadOnly, unsigned, 0, 1, 0, number),
		servo.Reg("lock", 47, 1, RAM, unsigned, 0, 1, 0, number),
		servo.Reg("punch", 48, 2, RAM, unsigned, 0, 1023, 0, number),
		// From firmware 40 on.
		servo.Reg("realtime_tick", 50, 2, ReadOnly, unsigned, 0, 32767, 0, millisecond),
		// 0 = as fast as it can.
		servo.Reg("goal_acceleration", 73, 1, RAM, unsigned, 0, 254, 0, accelMX),
	}
	return &Model{
		Name: name, Number: id, Protocol: 1, RAMStart: 24, Faults: alarms1(), BulkRead: true,
		Bauds:        append([]Baud{{252, 3000000}, {251, 2500000}, {250, 2250000}, {0, 2000000}}, bauds1()...),
		TicksPerTurn: 4096, Centre: 2048, MinTicks: 0, MaxTicks: 4095,
		// The wheel mode controls the speed, unlike the AX's.
		Modes: modes(jointMode, wheelMode, -1, -1), Registers: insert(regs, more...),
	}
}

// mxCurrent are the registers of current and torque control of MX-64 and MX-106.
func mxCurrent() []Register {
	return []Register{
		// 2048 is no current.
		servo.Reg("present_current", 68, 2, ReadOnly, unsigned, 0, 4095, 2048, current4m5),
		// 1 makes goal_torque the only goal.
		servo.Reg("torque_mode", 70, 1, RAM, unsigned, 0, 1, 0, number),
		servo.Reg("goal_torque", 71, 2, RAM, Magnitude, -1023, 1023, 0, ampere(4.5e-3)),
	}
}

// insert adds more to regs, in the order of addresses.
func insert(regs []Register, more ...Register) []Register {
	regs = append(regs, more...)
	slices.SortFunc(regs, func(a, b Register) int { return cmp.Compare(a.Addr, b.Addr) })
	return regs
}
