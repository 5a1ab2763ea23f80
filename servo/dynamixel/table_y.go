package dynamixel

import (
	"strconv"

	"github.com/halyard-robotics/halyard/servo"
)

// yVariant holds the differences between models with the Y control table.
type yVariant struct {
	name            string
	number          int64
	gear            int64 // turns of the motor a turn of the output
	velocity        int64 // velocity_limit, 0.01 rpm, and its greatest
	maxVelocity     int64
	acceleration    int64 // acceleration_limit, 10 rev/min², and its greatest
	maxAcceleration int64
	maxCurrent      int64 // the greatest current_limit, 0.01 A
	threshold       int64 // in_position_threshold and moving_threshold
	temperature     int64 // of the motor, limit, °C
	braked          bool
}

// yVariants are the DYNAMIXEL-Y: M is the bare motor, R one with a gear; B and A are these with a spring-applied brake.
// Source: e-Manual, y/<model>-rh, specifications and control table; Dynamixel2Arduino has the same greatest velocities
// and currents.
func yVariants() []yVariant {
	return []yVariant{
		{"ym070-210-m001", 4000, 1, 550_000, 642_200, 44_000, 38_520_000, 2080, 1000, 80, false},
		{"ym070-210-b001", 4010, 1, 550_000, 642_200, 44_000, 38_520_000, 2080, 1000, 80, true},
		{"ym070-210-r051", 4020, 51, 3921, 12_592, 313, 755_294, 2080, 19, 60, false},
		{"ym070-210-r099", 4030, 99, 2020, 6486, 161, 389_090, 2080, 10, 60, false},
		{"ym070-210-a051", 4040, 51, 3921, 12_592, 313, 755_294, 2080, 19, 60, true},
		{"ym070-210-a099", 4050, 99, 2020, 6486, 161, 389_090, 2080, 10, 60, true},
		{"ym080-230-m001", 4120, 1, 310_000, 355_600, 24_800, 21_336_000, 2240, 1000, 80, false},
		{"ym080-230-b001", 4130, 1, 310_000, 355_600, 24_800, 21_336_000, 2240, 1000, 80, true},
		{"ym080-230-r051", 4140, 51, 3921, 6972, 313, 418_352, 2240, 19, 60, false},
		{"ym080-230-r099", 4150, 99, 2020, 3591, 161, 215_515, 2240, 10, 60, false},
		{"ym080-230-a051", 4160, 51, 3921, 6972, 313, 418_352, 2240, 19, 60, true},
		{"ym080-230-a099", 4170, 99, 2020, 3591, 161, 215_515, 2240, 10, 60, true},
	}
}

// The units of the Y table, of the output shaft as long as the electronic gear is the real one (e-Manual; ROBOTIS'
// model files for ros2_control and Dynamixel2Arduino have the same position and velocity).
const (
	pulsesY  = 524288 // a turn
	currentY = 0.01   // A
	limitY   = 2080   // the factory's current_limit
)

// ErrorCode is one value of the error_code register that takes the place of hardware_error's bits in the Y table.
type ErrorCode struct {
	Code   byte
	Name   string
	Alarm  servo.Alarm
	Torque bool // torque stays on
	Hold   bool // the servo holds its position and takes no goals while torque is on
	Clears bool // the error clear instruction clears it, if its cause is gone
}

// errorCodesY is the e-Manual's list; the names are its labels. Which alarm each one is, is ours: an inverter's fault
// counts as shock, all that makes the position doubtful as encoder, an exceeded bound as range.
func errorCodesY() []ErrorCode {
	return []ErrorCode{
		{1, "over voltage", servo.AlarmVoltage, false, false, true},
		{2, "low voltage", servo.AlarmVoltage, false, false, true},
		{3, "inverter overheating", servo.AlarmHeat, false, false, true},
		{4, "motor overheating", servo.AlarmHeat, false, false, true},
		{5, "overload", servo.AlarmOverload, false, false, true},
		{7, "inverter", servo.AlarmShock, false, false, false},
		{9, "battery warning", 0, true, false, false},
		{10, "battery", servo.AlarmEncoder, false, false, false},
		{11, "magnet: multi-turn position lost", servo.AlarmEncoder, false, false, false},
		{12, "multi-turn", servo.AlarmEncoder, false, false, false},
		{13, "encoder", servo.AlarmEncoder, false, false, false},
		{14, "hall sensor", servo.AlarmEncoder, false, false, false},
		{15, "calibration data", servo.AlarmEncoder, false, false, false},
		{17, "following", servo.AlarmRange, true, true, true},
		{18, "bus watchdog", servo.AlarmRange, true, true, true},
		{19, "over speed", servo.AlarmRange, true, true, true},
		{20, "position limit reached", servo.AlarmRange, true, true, true},
	}
}

// Values of controller_state.
const (
	stateStart         = 0
	stateInit          = 1
	StateOff           = 2
	StateDynamicBrake  = 3 // torque off, the windings shorted
	StateProcessOn     = 4 // torque on under way: no goals are taken
	StateRunning       = 5
	StateProcessOff    = 6 // slowing down, closing the brake
	stateDetectedFault = 7
	StateFault         = 8
)

// controllerStates are the e-Manual's labels.
var controllerStates = [...]string{
	"start", "init system", "inverter off", "dynamic brake", "process torque on", "running", "process torque off",
	"detected hw fault", "hw fault",
}

// yModels are the DYNAMIXEL-Y. No source documents whether they answer fast reads, so the chain does not use them.
func yModels() []*Model {
	var all []*Model
	for _, v := range yVariants() {
		m := &Model{
			Name: v.name, Number: uint16(v.number), Protocol: 2, RAMStart: 8, BulkRead: true,
			Bauds:        append([]Baud{{9, 10_500_000}, {8, 6_000_000}}, bauds2()...),
			Indirect:     []Indirect{{256, 634, 128, 0, 919}},
			TicksPerTurn: pulsesY, MinTicks: -pulsesY / 2, MaxTicks: pulsesY / 2,
			CurrentControl: true, CurrentUnit: currentY, MaxCurrent: limitY * currentY,
			OperatingModes: []byte{0, 1, 3}, Modes: modes(3, 1, 0, -1), ErrorCodes: errorCodesY(), Gear: v.gear,
			Registers: v.registers(),
		}
		all = append(all, m)
	}
	return all
}

// registers is the control table in the order of addresses. Its areas alternate: EEPROM, RAM, hybrid (kept over a power
// loss if written with torque off), EEPROM again, RAM. A range that ends at a limit register is that register's
// greatest range.
func (v *yVariant) registers() []Register {
	const least, most = -1 << 31, 1<<31 - 1
	var brakeDelay, goalDelay, holding int64 // ms, ms, %
	if v.braked {
		brakeDelay, goalDelay, holding = 20, 200, 30
	}
	regs := []Register{
		servo.Reg("model_number", 0, 2, ReadOnly, unsigned, 0, 65535, v.number, number),
		servo.Reg("model_information", 2, 4, ReadOnly, unsigned, 0, 1<<32-1, 0, number),
		servo.Reg("firmware", 6, 1, ReadOnly, unsigned, 0, 255, 12, number),
		servo.Reg("id", 7, 1, EEPROM, unsigned, 0, 252, 1, number),
		// -1 = tripped. The unit is that of the e-Manual's example, 100 for 2000 ms.
		servo.Reg("bus_watchdog", 8, 2, RAM, signed, -1, 127, 0, watchdog),
		servo.Reg("shadow_id", 10, 1, EEPROM, unsigned, 0, 255, 255, number),
		servo.Reg("protocol_type", 11, 1, EEPROM, unsigned, 2, 2, 2, number),
		servo.Reg("baud_rate", 12, 1, EEPROM, unsigned, 0, 9, 1, number),
		servo.Reg("return_delay", 13, 1, EEPROM, unsigned, 0, 254, 250, microsecond),
		servo.Reg("status_return", 15, 1, RAM, unsigned, 0, 2, 2, number),
		servo.Reg("registered", 16, 1, ReadOnly, unsigned, 0, 1, 0, number),
		// Bits: 0 reverse, 2 time-based profile, 6 dynamic brake with torque off.
		servo.Reg("drive_mode", 32, 1, EEPROM, unsigned, 0, 77, 0, number),
		// 0 current, 1 velocity, 3 position.
		servo.Reg("operating_mode", 33, 1, EEPROM, unsigned, 0, 3, 3, number),
		servo.Reg("startup", 34, 1, EEPROM, unsigned, 0, 1, 0, number),
		// 0 = no position limit reached error.
		servo.Reg("position_limit_threshold", 38, 2, EEPROM, unsigned, 0, 32767, 0, pulseY),
		servo.Reg("in_position_threshold", 40, 4, EEPROM, unsigned, 0, most, v.threshold, pulseY),
		servo.Reg("following_error_threshold", 44, 4, EEPROM, unsigned, 0, most, 0, pulseY),
		servo.Reg("moving_threshold", 48, 4, EEPROM, unsigned, 0, most, v.threshold, thresholdY),
		servo.Reg("homing_offset", 52, 4, EEPROM, signed, least, most, 0, pulseY),
		servo.Reg("inverter_temperature_limit", 56, 1, EEPROM, unsigned, 0, 100, 80, celsius),
		// motor_temperature_limit in the e-Manual; the same register by purpose as other models'.
		servo.Reg("temperature_limit", 57, 1, EEPROM, unsigned, 0, 100, v.temperature, celsius),
		servo.Reg("max_voltage", 60, 2, EEPROM, unsigned, 240, 400, 320, decivolt),
		servo.Reg("min_voltage", 62, 2, EEPROM, unsigned, 160, 400, 160, decivolt),
		servo.Reg("pwm_limit", 64, 2, EEPROM, unsigned, 0, 1000, 1000, permille),
		servo.Reg("current_limit", 66, 2, EEPROM, unsigned, 0, v.maxCurrent, limitY, ampere(currentY)),
		servo.Reg("acceleration_limit", 68, 4, EEPROM, unsigned, 0, v.maxAcceleration, v.acceleration, accelY),
		servo.Reg("velocity_limit", 72, 4, EEPROM, unsigned, 0, v.maxVelocity, v.velocity, speedY),
		servo.Reg("max_position", 76, 4, EEPROM, signed, least, most, pulsesY/2, pulseY),
		servo.Reg("min_position", 84, 4, EEPROM, signed, least, most, -pulsesY/2, pulseY),
		servo.Reg("gear_numerator", 96, 4, EEPROM, unsigned, 1, 1_045_576, v.gear, number),
		servo.Reg("gear_denominator", 100, 4, EEPROM, unsigned, 1, 1_045_576, 1, number),
		// How long the servo slows down after torque_enable has gone to 0.
		servo.Reg("safe_stop_time", 104, 2, EEPROM, unsigned, 0, 32767, 200, millisecond),
		servo.Reg("brake_delay", 106, 2, EEPROM, unsigned, 0, 32767, brakeDelay, millisecond),
		servo.Reg("goal_update_delay", 108, 2, EEPROM, unsigned, 0, 32767, goalDelay, millisecond),
		servo.Reg("overexcitation_voltage", 110, 1, EEPROM, unsigned, 0, 100, 100, percent),
		servo.Reg("normal_excitation_voltage", 111, 1, EEPROM, unsigned, 0, 100, holding, percent),
		servo.Reg("overexcitation_time", 112, 2, EEPROM, unsigned, 0, 32767, goalDelay, millisecond),
		servo.Reg("present_velocity_lpf_frequency", 132, 2, EEPROM, unsigned, 0, 32767, 0, decihertz),
		servo.Reg("goal_current_lpf_frequency", 134, 2, EEPROM, unsigned, 0, 32767, 0, decihertz),
		servo.Reg("position_ff_lpf_time", 136, 2, EEPROM, unsigned, 0, 512, 0, ticks5kHz),
		servo.Reg("velocity_ff_lpf_time", 138, 2, EEPROM, unsigned, 0, 512, 0, ticks5kHz),
		servo.Reg("controller_state", 152, 1, ReadOnly, unsigned, 0, 255, StateOff, number),
		servo.Reg("error_code", 153, 1, ReadOnly, unsigned, 0, 255, 0, number),
	}
	for i := range uint16(16) {
		regs = append(regs, servo.Reg("error_code_history_"+strconv.Itoa(int(i)+1), 154+i, 1, ReadOnly, unsigned, 0,
			255, 0, number))
	}
	regs = append(regs,
		// 0 changed, 1 save, 2 saved.
		servo.Reg("hybrid_save", 170, 1, RAM, unsigned, 0, 2, 0, number),
		// Hybrid. The gains' units are not published.
		servo.Reg("velocity_i_gain", 212, 4, RAM, unsigned, 0, most, 2_446_559, number),
		servo.Reg("velocity_p_gain", 216, 4, RAM, unsigned, 0, most, 24_778, number),
		servo.Reg("velocity_ff_gain", 220, 4, RAM, unsigned, 0, most, 0, number),
		servo.Reg("position_d_gain", 224, 4, RAM, unsigned, 0, most, 9090, number),
		servo.Reg("position_i_gain", 228, 4, RAM, unsigned, 0, most, 0, number),
		servo.Reg("position_p_gain", 232, 4, RAM, unsigned, 0, most, 6_283_185, number),
		servo.Reg("position_ff_gain", 236, 4, RAM, unsigned, 0, most, 0, number),
		servo.Reg("profile_acceleration", 240, 4, RAM, unsigned, 0, v.maxAcceleration, v.acceleration, accelY),
		servo.Reg("profile_velocity", 244, 4, RAM, unsigned, 0, v.maxVelocity, v.velocity, speedY),
		servo.Reg("profile_acceleration_time", 248, 4, RAM, unsigned, 0, 262_144, 400, ticks5kHz),
		servo.Reg("profile_time", 252, 4, RAM, unsigned, 0, 524_288, 800, ticks5kHz),
	)
	for i := range uint16(128) {
		regs = append(regs, servo.Reg("indirect_address_"+strconv.Itoa(int(i)+1), 256+2*i, 2, EEPROM, unsigned, 0, 919,
			int64(634+i), number))
	}
	regs = append(regs,
		servo.Reg("torque_enable", 512, 1, RAM, unsigned, 0, 1, 0, number),
		servo.Reg("led", 513, 1, RAM, unsigned, 0, 1, 0, number),
		// Added to the goals.
		servo.Reg("pwm_offset", 516, 2, RAM, signed, -1000, 1000, 0, permille),
		servo.Reg("current_offset", 518, 2, RAM, signed, -v.maxCurrent, v.maxCurrent, 0, ampere(currentY)),
		servo.Reg("velocity_offset", 520, 4, RAM, signed, -v.maxVelocity, v.maxVelocity, 0, speedY),
		// The first three bound the output of the position mode, and those that are not its goal that of each other
		// mode.
		servo.Reg("goal_pwm", 524, 2, RAM, signed, -1000, 1000, 0, permille),
		servo.Reg("goal_current", 526, 2, RAM, signed, -v.maxCurrent, v.maxCurrent, 0, ampere(currentY)),
		servo.Reg("goal_velocity", 528, 4, RAM, signed, -v.maxVelocity, v.maxVelocity, 0, speedY),
		servo.Reg("goal_position", 532, 4, RAM, signed, least, most, 0, pulseY),
		// Bits: 0 in position, 1 profile ongoing, 2 moving, 3 following error, 4 and 5 kind of profile, 6 position in
		// range.
		servo.Reg("moving_status", 541, 1, ReadOnly, unsigned, 0, 255, 0, number),
		servo.Reg("realtime_tick", 542, 2, ReadOnly, unsigned, 0, 32767, 0, millisecond),
		servo.Reg("present_pwm", 544, 2, ReadOnly, signed, -32768, 32767, 0, permille),
		servo.Reg("present_current", 546, 2, ReadOnly, signed, -32768, 32767, 0, ampere(currentY)),
		servo.Reg("present_velocity", 548, 4, ReadOnly, signed, least, most, 0, speedY),
		servo.Reg("present_position", 552, 4, ReadOnly, signed, least, most, 0, pulseY),
		servo.Reg("position_trajectory", 560, 4, ReadOnly, signed, least, most, 0, pulseY),
		servo.Reg("velocity_trajectory", 564, 4, ReadOnly, signed, least, most, 0, pulsesPerSecondY),
		// Inferred: 0.1 V as its limits have it and ROBOTIS' model files; the e-Manual's table has 0.01 V.
		servo.Reg("present_voltage", 568, 2, ReadOnly, unsigned, 0, 65535, 240, decivolt),
		servo.Reg("present_inverter_temperature", 570, 1, ReadOnly, unsigned, 0, 255, 25, celsius),
		// Of the motor.
		servo.Reg("present_temperature", 571, 1, ReadOnly, unsigned, 0, 255, 25, celsius),
	)
	for i := range uint16(128) {
		regs = append(regs, servo.Reg("indirect_data_"+strconv.Itoa(int(i)+1), 634+i, 1, RAM, unsigned, 0, 255, 0,
			number))
	}
	return append(regs, servo.Reg("backup_ready", 919, 1, ReadOnly, unsigned, 0, 1, 0, number))
}
