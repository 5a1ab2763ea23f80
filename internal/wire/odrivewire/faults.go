package odrivewire

import "github.com/halyard-robotics/halyard/servo"

// Part is a part of an axis with an error word of its own. From 0.5.2 to 0.5.6 the error of a part stops an axis whose
// own word may stay 0.
type Part byte

// The parts. Firmware 0.6 has only the axis, and the reason of the last disarming.
const (
	AxisPart Part = iota
	MotorPart
	EncoderPart
	ControllerPart
	SensorlessPart
	DisarmReason
	numParts
)

// errorWords are the error words of an axis.
type ErrorWords [numParts]uint64

// partTables are the table, the property of 0.5 and the name of each part.
var PartTables = [numParts]struct {
	faults   servo.FaultTable
	Property Property
	prefix   string
}{
	AxisPart: {faults05, AxisErrors, ""}, MotorPart: {motorFaults, MotorErrors, "motor error "},
	EncoderPart:    {encoderFaults, EncoderErrors, "encoder error "},
	ControllerPart: {controllerFaults, ControllerErrors, "controller error "},
	SensorlessPart: {sensorlessFaults, SensorlessErrors, "sensorless estimator error "},
	DisarmReason:   {faults06, DisarmReasons, "disarmed by "},
}

// parts are those with a word in a dialect, in addition to the axis.
func Parts(d Dialect) []Part {
	if d == V05 {
		return []Part{MotorPart, EncoderPart, ControllerPart, SensorlessPart}
	}
	return []Part{DisarmReason}
}

// report is what w says in dialect d.
func (w *ErrorWords) Report(d Dialect) (r servo.Report) {
	for p, bits := range w {
		t := PartTables[p]
		if Part(p) == AxisPart && d == V06 {
			t.faults = faults06
		}
		if Part(p) == DisarmReason && bits&^w[AxisPart] == 0 {
			continue // it is active still
		}
		if bits != 0 {
			r.Join(t.faults.Report(t.prefix, bits))
		}
	}
	if w.HostOnly(d) {
		r.Alarm, r.Fix = 0, ""
	}
	return r
}

// hostOnly reports whether w has no fault of the axis: at most that its host was silent, or asked it to stop.
func (w *ErrorWords) HostOnly(d Dialect) bool {
	host := uint64(watchdog06 | estop06)
	if d == V05 {
		host = uint64(watchdog05 | estop05)
	}
	for p, bits := range w {
		if Part(p) == AxisPart || Part(p) == DisarmReason {
			bits &^= host
		}
		if bits != 0 {
			return false
		}
	}
	return true
}

// latched is the words that keep an axis from taking torque; why it was disarmed does not.
func (w *ErrorWords) Latched() (bits uint64) {
	for _, v := range w[:DisarmReason] {
		bits |= v
	}
	return bits
}

// The errors that are no fault of the axis.
const (
	watchdog06 Errors = 1 << 24
	estop06    Errors = 1 << 25
	watchdog05 Errors = 0x800
	estop05    Errors = 0x4000
)

const (
	volts   = servo.AlarmVoltage
	heat    = servo.AlarmHeat
	over    = servo.AlarmOverload
	shock   = servo.AlarmShock
	encoder = servo.AlarmEncoder
	limit   = servo.AlarmRange
)

// The names are those of ODrive's odrive-interface.yaml: 0.5.1 with the system's errors in the axis, 0.5.2 to 0.5.6
// with them in the motor, and 0.6. What to do is by its comments there.
var faults05 = servo.FaultTable{
	servo.Bit(0x1, "INVALID_STATE", shock,
		"calibrate motor and encoder first: odrivetool: odrv0.axis0.requested_state = 3"),
	servo.Bit(0x2, "DC_BUS_UNDER_VOLTAGE", volts, "check the supply and its leads; dc_bus_undervoltage_trip_level"),
	servo.Bit(0x4, "DC_BUS_OVER_VOLTAGE", volts,
		"braking pumps the supply up: fit and enable the brake resistor, or brake more slowly"),
	servo.Bit(0x8, "CURRENT_MEASUREMENT_TIMEOUT", shock, ""),
	servo.Bit(0x10, "BRAKE_RESISTOR_DISARMED", shock, "restart the board, which arms the brake resistor"),
	servo.Bit(0x20, "MOTOR_DISARMED", shock, ""),
	servo.Bit(0x40, "MOTOR_FAILED", shock, ""),
	servo.Bit(0x80, "SENSORLESS_ESTIMATOR_FAILED", encoder, ""),
	servo.Bit(0x100, "ENCODER_FAILED", encoder, ""),
	servo.Bit(0x200, "CONTROLLER_FAILED", encoder, ""),
	servo.Bit(0x400, "POS_CTRL_DURING_SENSORLESS", shock, "without an encoder there is no position mode"),
	servo.Bit(uint64(watchdog05), "WATCHDOG_TIMER_EXPIRED", 0, ""),
	servo.Bit(0x1000, "MIN_ENDSTOP_PRESSED", limit, ""),
	servo.Bit(0x2000, "MAX_ENDSTOP_PRESSED", limit, ""),
	servo.Bit(uint64(estop05), "ESTOP_REQUESTED", 0, ""),
	servo.Bit(0x2_0000, "HOMING_WITHOUT_ENDSTOP", shock, "enable an endstop before homing"),
	servo.Bit(0x4_0000, "OVER_TEMP", heat, ""),
	servo.Bit(0x8_0000, "UNKNOWN_POSITION", encoder, "calibrate the encoder, or look for its index first"),
}

var motorFaults = servo.FaultTable{
	servo.Bit(0x1, "PHASE_RESISTANCE_OUT_OF_RANGE", shock,
		"check the motor's wires; resistance_calib_max_voltage, calibration_current"),
	servo.Bit(0x2, "PHASE_INDUCTANCE_OUT_OF_RANGE", shock, "check the motor's wires"),
	servo.Bit(0x4, "ADC_FAILED", shock, ""),
	servo.Bit(0x8, "DRV_FAULT", shock,
		"a short of the motor's wires, a low supply or noise: check them; if it stays, the bridge is damaged"),
	servo.Bit(0x10, "CONTROL_DEADLINE_MISSED", shock, ""),
	servo.Bit(0x20, "NOT_IMPLEMENTED_MOTOR_TYPE", shock, "set motor.config.motor_type"),
	servo.Bit(0x40, "BRAKE_CURRENT_OUT_OF_RANGE", shock, "set brake_resistance as the resistor is"),
	servo.Bit(0x80, "MODULATION_MAGNITUDE", volts, "the supply is too low for this speed: raise it, or go slower"),
	servo.Bit(0x100, "BRAKE_DEADTIME_VIOLATION", shock, ""),
	servo.Bit(0x200, "UNEXPECTED_TIMER_CALLBACK", shock, ""),
	servo.Bit(0x400, "CURRENT_SENSE_SATURATION", shock, "raise requested_current_range, or lower the current"),
	servo.Bit(0x1000, "CURRENT_LIMIT_VIOLATION", over,
		"the current was above current_lim + current_lim_margin: lower the gains, or widen the margin"),
	servo.Bit(0x2000, "BRAKE_DUTY_CYCLE_NAN", shock, ""),
	servo.Bit(0x4000, "DC_BUS_OVER_REGEN_CURRENT", shock,
		"fit a brake resistor, or set dc_max_negative_current as the supply can take"),
	servo.Bit(0x8000, "DC_BUS_OVER_CURRENT", shock, "set dc_max_positive_current as the supply can give"),
	servo.Bit(0x1_0000, "MODULATION_IS_NAN", shock, ""),
	servo.Bit(0x2_0000, "MOTOR_THERMISTOR_OVER_TEMP", heat, ""),
	servo.Bit(0x4_0000, "FET_THERMISTOR_OVER_TEMP", heat, ""),
	servo.Bit(0x8_0000, "TIMER_UPDATE_MISSED", shock, ""),
	servo.Bit(0x10_0000, "CURRENT_MEASUREMENT_UNAVAILABLE", shock, ""),
	servo.Bit(0x20_0000, "CONTROLLER_FAILED", encoder, ""),
	servo.Bit(0x40_0000, "I_BUS_OUT_OF_RANGE", shock, "set I_bus_hard_min and I_bus_hard_max as the supply can take"),
	servo.Bit(0x80_0000, "BRAKE_RESISTOR_DISARMED", shock, "restart the board, which arms the brake resistor"),
	servo.Bit(0x100_0000, "SYSTEM_LEVEL", volts, "an error of the board: odrivetool: odrv0.error; check the supply"),
	servo.Bit(0x200_0000, "BAD_TIMING", shock, ""),
	servo.Bit(0x400_0000, "UNKNOWN_PHASE_ESTIMATE", encoder, "calibrate the encoder"),
	servo.Bit(0x800_0000, "UNKNOWN_PHASE_VEL", encoder, "calibrate the encoder"),
	servo.Bit(0x1000_0000, "UNKNOWN_TORQUE", encoder, ""),
	servo.Bit(0x2000_0000, "UNKNOWN_CURRENT_COMMAND", shock, ""),
	servo.Bit(0x4000_0000, "UNKNOWN_CURRENT_MEASUREMENT", shock, ""),
	servo.Bit(0x8000_0000, "UNKNOWN_VBUS_VOLTAGE", volts, ""),
	servo.Bit(0x1_0000_0000, "UNKNOWN_VOLTAGE_COMMAND", shock, ""),
	servo.Bit(0x2_0000_0000, "UNKNOWN_GAINS", shock, "calibrate the motor"),
	servo.Bit(0x4_0000_0000, "CONTROLLER_INITIALIZING", shock, ""),
	servo.Bit(0x8_0000_0000, "UNBALANCED_PHASES", shock, "check the motor's wires"),
}

var encoderFaults = servo.FaultTable{
	servo.Bit(0x1, "UNSTABLE_GAIN", encoder, "lower encoder.config.bandwidth"),
	servo.Bit(0x2, "CPR_POLEPAIRS_MISMATCH", encoder, "set encoder.config.cpr and motor.config.pole_pairs as they are"),
	servo.Bit(0x4, "NO_RESPONSE", encoder, "check the encoder's cable and supply"),
	servo.Bit(0x8, "UNSUPPORTED_ENCODER_MODE", encoder, "set encoder.config.mode"),
	servo.Bit(0x10, "ILLEGAL_HALL_STATE", encoder,
		"noise on the Hall sensors' wires: shield them, fit capacitors of 22 nF"),
	servo.Bit(0x20, "INDEX_NOT_FOUND_YET", encoder,
		"look for the index first: odrivetool: odrv0.axis0.requested_state = 6"),
	servo.Bit(0x40, "ABS_SPI_TIMEOUT", encoder, "check the encoder's cable and supply"),
	servo.Bit(0x80, "ABS_SPI_COM_FAIL", encoder, "check the encoder's cable and supply"),
	servo.Bit(0x100, "ABS_SPI_NOT_READY", encoder, "check the encoder's cable and supply"),
	servo.Bit(0x200, "HALL_NOT_CALIBRATED_YET", encoder, "calibrate the Hall sensors' polarity"),
}

var controllerFaults = servo.FaultTable{
	servo.Bit(0x1, "OVERSPEED", over,
		"the speed was above vel_limit by vel_limit_tolerance: lower the gains, or command less"),
	servo.Bit(0x2, "INVALID_INPUT_MODE", shock, ""),
	servo.Bit(0x4, "UNSTABLE_GAIN", shock, "lower the gains"),
	servo.Bit(0x8, "INVALID_MIRROR_AXIS", shock, ""),
	servo.Bit(0x10, "INVALID_LOAD_ENCODER", encoder, ""),
	servo.Bit(0x20, "INVALID_ESTIMATE", encoder, "calibrate the encoder"),
	servo.Bit(0x40, "INVALID_CIRCULAR_RANGE", shock, ""),
	servo.Bit(0x80, "SPINOUT_DETECTED", encoder,
		"the encoder slips on the shaft, or its offset is wrong: fasten it, calibrate it"),
}

var sensorlessFaults = servo.FaultTable{
	servo.Bit(0x1, "UNSTABLE_GAIN", encoder, "lower the estimator's bandwidth"),
	servo.Bit(0x2, "UNKNOWN_CURRENT_MEASUREMENT", shock, ""),
}

var faults06 = servo.FaultTable{
	servo.Bit(0x1, "INITIALIZING", shock, "wait until it has started"),
	servo.Bit(0x2, "SYSTEM_LEVEL", shock, "update the firmware; tell ODrive"),
	servo.Bit(0x4, "TIMING_ERROR", shock, "update the firmware; tell ODrive"),
	servo.Bit(0x8, "MISSING_ESTIMATE", encoder, "calibrate the encoder, or look for its index first; check its cable"),
	servo.Bit(0x10, "BAD_CONFIG", shock, "set it up with odrivetool, the web GUI shows what is wrong"),
	servo.Bit(0x20, "DRV_FAULT", shock, "check the motor's wires and the supply; if it stays, the bridge is damaged"),
	servo.Bit(0x40, "MISSING_INPUT", shock, "give the input that its configuration wants"),
	servo.Bit(0x100, "DC_BUS_OVER_VOLTAGE", volts,
		"braking pumps the supply up: fit a brake resistor, or brake more slowly"),
	servo.Bit(0x200, "DC_BUS_UNDER_VOLTAGE", volts, "check the supply and its leads; dc_bus_undervoltage_trip_level"),
	servo.Bit(0x400, "DC_BUS_OVER_CURRENT", shock, "set dc_max_positive_current as the supply can give"),
	servo.Bit(0x800, "DC_BUS_OVER_REGEN_CURRENT", shock,
		"set dc_max_negative_current as the supply can take, or fit a brake resistor"),
	servo.Bit(0x1000, "CURRENT_LIMIT_VIOLATION", over,
		"the current was above current_hard_max: lower the gains, or current_soft_max"),
	servo.Bit(0x2000, "MOTOR_OVER_TEMP", heat, ""),
	servo.Bit(0x4000, "INVERTER_OVER_TEMP", heat, ""),
	servo.Bit(0x8000, "VELOCITY_LIMIT_VIOLATION", over,
		"the speed was above vel_limit by vel_limit_tolerance: lower the gains, or command less"),
	servo.Bit(0x1_0000, "POSITION_LIMIT_VIOLATION", limit, ""),
	servo.Bit(uint64(watchdog06), "WATCHDOG_TIMER_EXPIRED", 0, ""),
	servo.Bit(uint64(estop06), "ESTOP_REQUESTED", 0, ""),
	servo.Bit(0x400_0000, "SPINOUT_DETECTED", encoder,
		"the encoder slips on the shaft, or its offset is wrong: fasten it, calibrate it"),
	servo.Bit(0x800_0000, "BRAKE_RESISTOR_DISARMED", shock, "clear the errors, which arms the brake resistor"),
	servo.Bit(0x1000_0000, "THERMISTOR_DISCONNECTED", heat, "check the thermistor's cable"),
	servo.Bit(0x4000_0000, "CALIBRATION_ERROR", encoder, "calibrate again: procedure_result says what failed"),
}

// Errors are the bits of an axis's own error word, which the dialects number differently.
type Errors uint32

// Alarm converts e to the common alarms. Errors that only report a missing or stopping host are not alarms.
func (e Errors) Alarm(d Dialect) servo.Alarm {
	w := ErrorWords{AxisPart: uint64(e)}
	return w.Report(d).Alarm
}

// boardWide are the motor errors that only the clearing of the whole board ends: it arms the brake resistor again.
const BoardWide = 0x180_0000
