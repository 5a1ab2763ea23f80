package vesc

import (
	"math"

	"github.com/halyard-robotics/halyard/servo"
)

// Parameters are the values that a controller reports, for tools, all read-only: its configuration is one block of
// bytes whose layout depends on the firmware and VESC Tool. The slice belongs to the caller.
func Parameters() []servo.Register {
	var list []servo.Register
	for i, p := range parameters() {
		scale := 1e-3 // of the timeout
		switch {
		case p.unit == "":
			scale = 0
		case i < int(numFields):
			scale = 1 / fields[p.field].scale
		}
		list = append(list, servo.Reg(p.name, uint16(i), 4, servo.ReadOnly, servo.Signed, math.MinInt32, math.MaxInt32,
			0, servo.Measure{Unit: p.unit, Scale: scale}))
	}
	return list
}

// parameter is one of them: a field of Values, or a value of identify.
type parameter struct {
	name, unit string
	field      Field
}

// The rows behind the fields.
const (
	rowFirmware = numFields + iota
	rowPolePairs
	rowTimeout
)

// parameters are the fields in their order, then the others. Counters since power-on are the raw wire values.
func parameters() []parameter {
	return []parameter{
		{"present_temperature", "°C", TempFET}, {"motor_temperature", "°C", TempMotor},
		{"present_current", "A", Current},
		{"supply_current", "A", CurrentIn}, {"current_d", "A", CurrentD}, {"current_q", "A", CurrentQ},
		{"present_pwm", "1", Duty},
		{"electrical_rpm", "1/min", ERPM}, {"present_voltage", "V", Volts}, {"used_charge", "A·h", AmpHours},
		{"regained_charge", "A·h", AmpHoursIn},
		{"used_energy", "W·h", WattHours}, {"regained_energy", "W·h", WattHoursIn}, {"tachometer", "", Tacho},
		{"tachometer_way", "", TachoAbs},
		{"errors", "", FaultCode}, {"present_position", "°", PosNow}, {"id", "", ControllerID},
		{"bridge_temperature", "°C", TempFETs},
		{"voltage_d", "V", VoltsD}, {"voltage_q", "V", VoltsQ}, {"status", "", Status},
		{name: "firmware"}, {name: "pole_pairs"}, {name: "timeout", unit: "s"},
	}
}
