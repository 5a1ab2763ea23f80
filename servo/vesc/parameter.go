package vesc

import (
	"math"

	"github.com/halyard-robotics/halyard/servo"
)

// Parameters are what a controller says of itself, for tools, all of it read-only: its configuration is one block of bytes
// whose layout is the firmware's own, and VESC Tool's. The slice is the caller's.
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
		list = append(list, servo.Reg(p.name, uint16(i), 4, servo.ReadOnly, servo.Signed, math.MinInt32, math.MaxInt32, 0, servo.Measure{Unit: p.unit, Scale: scale}))
	}
	return list
}

// parameter is one of them: a field of Values, or what identify says.
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

// parameters are the fields in their order, then the rest. What is counted since power-on is raw as the wire has it.
func parameters() []parameter {
	return []parameter{
		{"present_temperature", "°C", TempFET}, {"motor_temperature", "°C", TempMotor}, {"present_current", "A", Current},
		{"supply_current", "A", CurrentIn}, {"current_d", "A", CurrentD}, {"current_q", "A", CurrentQ}, {"present_pwm", "1", Duty},
		{"electrical_rpm", "1/min", ERPM}, {"present_voltage", "V", Volts}, {"used_charge", "A·h", AmpHours}, {"regained_charge", "A·h", AmpHoursIn},
		{"used_energy", "W·h", WattHours}, {"regained_energy", "W·h", WattHoursIn}, {"tachometer", "", Tacho}, {"tachometer_way", "", TachoAbs},
		{"errors", "", FaultCode}, {"present_position", "°", PosNow}, {"id", "", ControllerID}, {"bridge_temperature", "°C", TempFETs},
		{"voltage_d", "V", VoltsD}, {"voltage_q", "V", VoltsQ}, {"status", "", Status},
		{name: "firmware"}, {name: "pole_pairs"}, {name: "timeout", unit: "s"},
	}
}
