package odrivewire

import (
	"strconv"
)

// State is the state of an axis.
type State byte

// The states that this program commands or checks.
const (
	Undefined  State = 0
	Idle       State = 1
	ClosedLoop State = 8
)

// Control is the control mode of an axis.
type Control byte

// The controls.
const (
	TorqueControl   Control = 1
	VelocityControl Control = 2
	PositionControl Control = 3
)

// Passthrough is the input mode that applies a goal without a filter or ramp.
const Passthrough = 1

// Dialect is the firmware series of a controller.
type Dialect byte

// The dialects, by the minor version.
const (
	V05 Dialect = 5
	V06 Dialect = 6
)

// Property is a value that the ASCII protocol reads or writes.
type Property byte

// The properties.
const (
	FirmwareMajor  Property = iota // 0
	FirmwareMinor                  // 5 or 6
	BusVolts                       // V of the supply
	CurrentState                   // State
	RequestedState                 // State
	AxisErrors                     // bits, by the firmware
	IqMeasured                     // A of the motor, signed as the torque
	CurrentLimit                   // A
	InputMode                      // Passthrough ..
	FETCelsius                     // °C of the bridge
	WatchdogTime                   // s
	WatchdogOn                     // 0 or 1
	HardwareMajor                  // of the board; only 0.5
	MotorErrors                    // bits; only 0.5, as the next three
	EncoderErrors
	ControllerErrors
	SensorlessErrors
	DisarmReasons // bits, those of AxisErrors; only 0.6
)

// properties are their names in 0.5 and, where it has another, in 0.6; a name that begins with a point is an axis's.
var Properties = [...]struct{ V05, v06 string }{
	FirmwareMajor:  {"fw_version_major", ""},
	FirmwareMinor:  {"fw_version_minor", ""},
	BusVolts:       {"vbus_voltage", ""},
	CurrentState:   {".current_state", ""},
	RequestedState: {".requested_state", ""},
	AxisErrors:     {".error", ".active_errors"},
	IqMeasured:     {".motor.current_control.Iq_measured", ".motor.foc.Iq_measured"},
	CurrentLimit:   {".motor.config.current_lim", ".config.motor.current_soft_max"},
	InputMode:      {".controller.config.input_mode", ""},
	FETCelsius:     {".motor.fet_thermistor.temperature", ""},
	WatchdogTime:   {".config.watchdog_timeout", ""},
	WatchdogOn:     {".config.enable_watchdog", ""},
	HardwareMajor:  {"hw_version_major", ""},

	MotorErrors: {".motor.error", ""}, EncoderErrors: {".encoder.error", ""},
	ControllerErrors: {".controller.error", ""},
	SensorlessErrors: {".sensorless_estimator.error", ""}, DisarmReasons: {".disarm_reason", ""},
}

// Append appends the name of p for an axis.
func (p Property) Append(dst []byte, d Dialect, axis int) []byte {
	name := Properties[p].V05
	if d == V06 && Properties[p].v06 != "" {
		name = Properties[p].v06
	}
	if name[0] == '.' {
		dst = strconv.AppendInt(append(dst, "axis"...), int64(axis), 10)
	}
	return append(dst, name...)
}
