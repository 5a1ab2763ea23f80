package dynamixel

import (
	"strconv"

	"github.com/halyard-robotics/halyard/internal/sheet"
	"github.com/halyard-robotics/halyard/servo"
)

// xVariant holds the differences between models with the X control table.
type xVariant struct {
	name          string
	number        int64
	currentLimit  int64   // 0: no current control, present_load instead of present_current
	currentUnit   float64 // A a count
	velocityLimit int64
	temperature   int64 // limit, °C
	minVolts      int64 // limits, 0.1 V
	maxVolts      int64
	threshold     int64    // moving_threshold
	velocityPI    [2]int64 // gains at power-up
	positionPID   [3]int64
}

// Gains and volts that several models share.
var (
	velocityXM = [2]int64{100, 1920}
	positionXM = [3]int64{800, 0, 0}
	positionXH = [3]int64{900, 0, 0}
	positionMX = [3]int64{850, 0, 0}
)

// xVariants is one row a model. Source: e-Manual, x/<model> and mx/<model>-2: control table, specifications at the
// row's voltage. The XH540's current unit is the XM540's. A 2XL430 is two of these in one case, each with its id.
func xVariants() []xVariant {
	const mA = 1e-3
	return []xVariant{
		{"mx-28-2", 30, 0, 0, 380, 80, 95, 160, 10, velocityXM, positionMX},
		{"mx-64-2", 311, 1941, 3.36 * mA, 435, 80, 95, 160, 10, velocityXM, positionMX},
		{"mx-106-2", 321, 2047, 3.36 * mA, 360, 80, 95, 160, 10, velocityXM, positionMX},
		{"xl330-m077", 1190, 1750, 1 * mA, 1620, 70, 35, 70, 10, [2]int64{40, 400},
			[3]int64{400, 400, 0}},
		{"xl330-m288", 1200, 1750, 1 * mA, 445, 70, 35, 70, 10, [2]int64{180, 1600},
			[3]int64{400, 0, 0}},
		{"xc330-t181", 1210, 910, 1 * mA, 510, 70, 55, 140, 10, [2]int64{40, 1200}, positionXH},
		{"xc330-t288", 1220, 910, 1 * mA, 320, 70, 55, 140, 10, [2]int64{40, 1200}, positionXH},
		{"xc330-m181", 1230, 2352, 1 * mA, 545, 70, 35, 70, 10, [2]int64{100, 1400},
			[3]int64{1200, 0, 500}},
		{"xc330-m288", 1240, 2352, 1 * mA, 350, 70, 35, 70, 10, [2]int64{50, 1600},
			[3]int64{1100, 0, 500}},
		{"xl430-w250", 1060, 0, 0, 265, 72, 60, 140, 10, [2]int64{100, 1000}, [3]int64{640, 0, 4000}},
		{"xc430-w150", 1070, 0, 0, 460, 80, 60, 160, 20, velocityXM, [3]int64{460, 0, 0}},
		{"xc430-w240", 1080, 0, 0, 306, 80, 60, 160, 10, velocityXM, [3]int64{700, 0, 0}},
		{"2xl430-w250", 1090, 0, 0, 250, 72, 60, 140, 10, [2]int64{100, 1800},
			[3]int64{640, 0, 2000}},
		{"xm430-w350", 1020, 1193, 2.69 * mA, 350, 80, 95, 160, 10, velocityXM, positionXM},
		{"xm430-w210", 1030, 1193, 2.69 * mA, 330, 80, 95, 160, 10, velocityXM, positionXM},
		{"xm540-w150", 1130, 2047, 2.69 * mA, 230, 80, 95, 160, 10, velocityXM, positionXM},
		{"xm540-w270", 1120, 2047, 2.69 * mA, 128, 80, 95, 160, 10, velocityXM, positionXM},
		{"xh430-w350", 1000, 648, 2.69 * mA, 130, 80, 95, 160, 10, velocityXM, positionXH},
		{"xh430-w210", 1010, 648, 2.69 * mA, 360, 80, 95, 160, 10, velocityXM, positionXH},
		{"xh430-v350", 1040, 689, 1.34 * mA, 285, 80, 110, 300, 10, velocityXM, positionXM},
		{"xh430-v210", 1050, 689, 1.34 * mA, 380, 80, 110, 300, 10, velocityXM, positionXM},
		{"xh540-w150", 1110, 2047, 2.69 * mA, 300, 80, 95, 160, 10, velocityXM, positionXM},
		{"xh540-w270", 1100, 2047, 2.69 * mA, 167, 80, 95, 160, 10, velocityXM, positionXM},
		{"xw540-t260", 1170, 2047, 2.69 * mA, 167, 80, 95, 160, 10, velocityXM, positionXM},
		{"xw540-t140", 1180, 2047, 2.69 * mA, 304, 80, 95, 160, 10, velocityXM, positionXM},
	}
}

// xModels are the X series and the MX series under protocol 2.0.
func xModels() []*Model {
	var all []*Model
	for _, v := range xVariants() {
		all = append(all, v.model())
	}
	return all
}

func (v *xVariant) volts() float64 { return sheet.Of(v.name).Volts }
func (v *xVariant) isX330() bool   { return v.number >= 1190 } // the small ones, XL330 and XC330
func (v *xVariant) isXL330() bool  { return v.number == 1190 || v.number == 1200 }
func (v *xVariant) isMX() bool     { return v.number < 1000 }

// with ports; the XW540 is closed against water
func (v *xVariant) isX540() bool  { return v.number >= 1100 && v.number <= 1130 }
func (v *xVariant) isXW540() bool { return v.number == 1170 || v.number == 1180 }

// alarms2 are the bits of hardware_error of the X series, as the e-Manual names them.
func alarms2() servo.FaultTable {
	return servo.FaultTable{
		servo.Bit(0x01, "Input Voltage Error", servo.AlarmVoltage, "bring its supply within min_voltage..max_voltage"),
		servo.Bit(0x04, "Overheating Error", servo.AlarmHeat, ""),
		servo.Bit(0x08, "Motor Encoder Error", servo.AlarmEncoder,
			"switch its power off and on; if it returns, the servo is for repair"),
		servo.Bit(0x10, "Electrical Shock Error", servo.AlarmShock,
			"its circuit had a shock or its motor gets too little power: check supply and cables"),
		servo.Bit(0x20, "Overload Error", servo.AlarmOverload, "take the load away that is above its maximum for long"),
	}
}

// bauds2 are the codes of the X series from 4.5 Mbit/s down.
func bauds2() []Baud {
	return []Baud{
		{7, 4500000}, {6, 4000000}, {5, 3000000}, {4, 2000000}, {3, 1000000}, {2, 115200}, {1, 57600}, {0, 9600},
	}
}

func (v *xVariant) model() *Model {
	m := &Model{
		Name: v.name, Number: uint16(v.number), Protocol: 2, RAMStart: 64, Faults: alarms2(), Bauds: bauds2(),
		TicksPerTurn: 4096, Centre: 2048, MinTicks: 0, MaxTicks: 4095,
		CurrentControl: v.currentLimit > 0, CurrentUnit: v.currentUnit,
		MaxCurrent:     float64(v.currentLimit) * v.currentUnit,
		OperatingModes: []byte{1, 3, 4, 16}, Modes: modes(3, 1, -1, 16),
		FastRead: true, BulkRead: true, Registers: v.registers(),
	}
	if m.CurrentControl {
		// Mode 5 is position with goal_current as the torque limit.
		m.OperatingModes, m.Modes = []byte{0, 1, 3, 4, 5, 16}, modes(5, 1, 0, 16)
	}
	if v.isX330() {
		m.Bauds = m.Bauds[1:]
		m.Indirect = []Indirect{{168, 208, 20, 64, 227}}
	} else {
		m.Indirect = []Indirect{{168, 224, 28, 64, 661}, {578, 634, 28, 64, 661}}
	}
	m.Registers = appendIndirect(m.Registers, m.Indirect)
	return m
}

// appendIndirect adds the pointers and windows, numbered through as the e-Manual does.
func appendIndirect(regs []Register, tables []Indirect) []Register {
	k := 1
	for _, t := range tables {
		for i := range t.Count {
			// At power-up every pointer points at its own window.
			n, at := strconv.Itoa(k+int(i)), int64(t.Data+i)
			regs = append(regs, servo.Reg("indirect_address_"+n, t.Addr+2*i, 2, RAM, unsigned, int64(t.Min),
				int64(t.Max), at, number))
		}
		for i := range t.Count {
			n := strconv.Itoa(k + int(i))
			regs = append(regs, servo.Reg("indirect_data_"+n, t.Data+i, 1, RAM, unsigned, 0, 255, 0, number))
		}
		k += int(t.Count)
	}
	return regs
}

// registers is the control table up to the indirect area.
func (v *xVariant) registers() []Register {
	const position = 1048575 // 256 turns either way, of the extended position mode
	fastest, shutdown, protocolMin, protocolMax := int64(7), int64(52), int64(1), int64(2)
	velocityMax, voltFloor := int64(1023), v.minVolts
	if v.isX330() {
		fastest, protocolMin, protocolMax, velocityMax = 6, 2, 22, 2047
	}
	if v.isXL330() {
		shutdown = 53
	}
	if v.volts() == 5 {
		voltFloor = 31
	}
	regs := []Register{
		// EEPROM, 0..63. Locked while torque_enable is 1.
		servo.Reg("model_number", 0, 2, ReadOnly, unsigned, 0, 65535, v.number, number),
		servo.Reg("model_information", 2, 4, ReadOnly, unsigned, 0, 1<<32-1, 0, number),
		servo.Reg("firmware", 6, 1, ReadOnly, unsigned, 0, 255, 52, number),
		servo.Reg("id", 7, 1, EEPROM, unsigned, 0, 252, 1, number),
		servo.Reg("baud_rate", 8, 1, EEPROM, unsigned, 0, fastest, 1, number),
		servo.Reg("return_delay", 9, 1, EEPROM, unsigned, 0, 254, 250, microsecond),
		// Bits: 0 reverse, 1 slave (x540, MX-106), 2 time-based profile, 3 torque on by goal.
		servo.Reg("drive_mode", 10, 1, EEPROM, unsigned, 0, 13, 0, number),
		// 0 current, 1 velocity, 3 position, 4 extended position, 5 current-based position, 16 PWM.
		servo.Reg("operating_mode", 11, 1, EEPROM, unsigned, 0, 16, 3, number),
		// A second id whose instructions are executed but not answered; 253 and above: none.
		servo.Reg("shadow_id", 12, 1, EEPROM, unsigned, 0, 255, 255, number),
		servo.Reg("protocol_type", 13, 1, EEPROM, unsigned, protocolMin, protocolMax, 2, number),
		// Added to the encoder's position.
		servo.Reg("homing_offset", 20, 4, EEPROM, signed, -1044479, 1044479, 0, turns4096),
		servo.Reg("moving_threshold", 24, 4, EEPROM, unsigned, 0, 1023, v.threshold, speedX),
		servo.Reg("temperature_limit", 31, 1, EEPROM, unsigned, 0, 100, v.temperature, celsius),
		servo.Reg("max_voltage", 32, 2, EEPROM, unsigned, voltFloor, v.maxVolts, v.maxVolts, decivolt),
		servo.Reg("min_voltage", 34, 2, EEPROM, unsigned, voltFloor, v.maxVolts, v.minVolts, decivolt),
		servo.Reg("pwm_limit", 36, 2, EEPROM, unsigned, 0, 885, 885, pwm885),
		servo.Reg("velocity_limit", 44, 4, EEPROM, unsigned, 0, velocityMax, v.velocityLimit, speedX),
		servo.Reg("max_position", 48, 4, EEPROM, unsigned, 0, 4095, 4095, ticks4096),
		servo.Reg("min_position", 52, 4, EEPROM, unsigned, 0, 4095, 0, ticks4096),
		// Bits: 0 torque on at power-up, 1 RAM restored from the backup.
		servo.Reg("startup", 60, 1, EEPROM, unsigned, 0, 3, 0, number),
		servo.Reg("shutdown", 63, 1, EEPROM, unsigned, 0, 63, shutdown, number),
		// RAM: switches and state.
		servo.Reg("torque_enable", 64, 1, RAM, unsigned, 0, 1, 0, number),
		servo.Reg("status_return", 68, 1, RAM, unsigned, 0, 2, 2, number),
		servo.Reg("registered", 69, 1, ReadOnly, unsigned, 0, 1, 0, number),
		// Only a reboot clears it.
		servo.Reg("hardware_error", 70, 1, ReadOnly, unsigned, 0, 255, 0, number),
		// RAM: gains, in the firmware's own units.
		servo.Reg("velocity_i_gain", 76, 2, RAM, unsigned, 0, 16383, v.velocityPI[1], number),
		servo.Reg("velocity_p_gain", 78, 2, RAM, unsigned, 0, 16383, v.velocityPI[0], number),
		servo.Reg("position_d_gain", 80, 2, RAM, unsigned, 0, 16383, v.positionPID[2], number),
		servo.Reg("position_i_gain", 82, 2, RAM, unsigned, 0, 16383, v.positionPID[1], number),
		servo.Reg("position_p_gain", 84, 2, RAM, unsigned, 0, 16383, v.positionPID[0], number),
		servo.Reg("feedforward_2nd_gain", 88, 2, RAM, unsigned, 0, 16383, 0, number),
		servo.Reg("feedforward_1st_gain", 90, 2, RAM, unsigned, 0, 16383, 0, number),
		// RAM: goals. A tripped watchdog makes them read-only until 0 is written to it.
		servo.Reg("bus_watchdog", 98, 1, RAM, signed, -1, 127, 0, watchdog), // -1 = tripped
		// The goal of the PWM mode and the limit of position and velocity modes.
		servo.Reg("goal_pwm", 100, 2, RAM, signed, -885, 885, 885, pwm885),
		servo.Reg("goal_velocity", 104, 4, RAM, signed, -velocityMax, velocityMax, 0, speedX),
		// 0 = no bound.
		servo.Reg("profile_acceleration", 108, 4, RAM, unsigned, 0, 32767, 0, accelX),
		servo.Reg("profile_velocity", 112, 4, RAM, unsigned, 0, 32767, 0, speedX),
		servo.Reg("goal_position", 116, 4, RAM, signed, -position, position, 0, ticks4096),
		// Measured. present_current or present_load, present_velocity and present_position lie together: 126..135.
		servo.Reg("realtime_tick", 120, 2, ReadOnly, unsigned, 0, 32767, 0, millisecond),
		servo.Reg("moving", 122, 1, ReadOnly, unsigned, 0, 1, 0, number),
		servo.Reg("moving_status", 123, 1, ReadOnly, unsigned, 0, 255, 0, number),
		servo.Reg("present_pwm", 124, 2, ReadOnly, signed, -885, 885, 0, pwm885),
		servo.Reg("present_velocity", 128, 4, ReadOnly, signed, -1<<31, 1<<31-1, 0, speedX),
		servo.Reg("present_position", 132, 4, ReadOnly, signed, -1<<31, 1<<31-1, 2048, ticks4096),
		servo.Reg("velocity_trajectory", 136, 4, ReadOnly, signed, -1<<31, 1<<31-1, 0, speedX),
		servo.Reg("position_trajectory", 140, 4, ReadOnly, signed, -1<<31, 1<<31-1, 0, ticks4096),
		servo.Reg("present_voltage", 144, 2, ReadOnly, unsigned, 0, 65535, int64(10*v.volts()), decivolt),
		servo.Reg("present_temperature", 146, 1, ReadOnly, unsigned, 0, 255, 25, celsius),
	}
	return insert(regs, v.extras()...)
}

// extras are the registers that not every variant has.
func (v *xVariant) extras() []Register {
	var regs []Register
	if n := v.currentLimit; n > 0 {
		a := ampere(v.currentUnit)
		// goal_current is the goal of the current mode and the torque limit of current-based position.
		regs = append(regs, servo.Reg("current_limit", 38, 2, EEPROM, unsigned, 0, n, n, a),
			servo.Reg("goal_current", 102, 2, RAM, signed, -n, n, n, a),
			servo.Reg("present_current", 126, 2, ReadOnly, signed, -32768, 32767, 0, a))
	} else {
		regs = append(regs, servo.Reg("present_load", 126, 2, ReadOnly, signed, -1000, 1000, 0, permille))
	}
	if v.isX330() {
		slope, unit := int64(140), 1.977
		if v.volts() > 5 {
			slope, unit = 255, 3.955
		}
		regs = append(regs, servo.Reg("pwm_slope", 62, 1, EEPROM, unsigned, 1, 255, slope,
			Measure{Unit: "V/s", Scale: unit}))
	}
	if v.isMX() {
		// Old X firmware had it too; new tables leave it out.
		regs = append(regs, servo.Reg("acceleration_limit", 40, 4, EEPROM, unsigned, 0, 32767, 32767, accelX))
	} else {
		regs = append(regs, servo.Reg("backup_ready", 147, 1, ReadOnly, unsigned, 0, 1, 1, number))
	}
	if !v.isXW540() {
		regs = append(regs, servo.Reg("led", 65, 1, RAM, unsigned, 0, 1, 0, number))
	}
	if v.isX540() {
		for i := range uint16(3) {
			n := strconv.Itoa(int(i) + 1)
			regs = append(regs, servo.Reg("external_port_mode_"+n, 56+i, 1, EEPROM, unsigned, 0, 3, 3, number),
				servo.Reg("external_port_data_"+n, 152+2*i, 2, RAM, unsigned, 0, 4095, 0, number))
		}
	}
	return regs
}
