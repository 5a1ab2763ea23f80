package vesc

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
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
		case i < int(vescwire.NumFields):
			scale = 1 / vescwire.Fields[p.field].Scale
		}
		list = append(list, servo.Reg(p.name, uint16(i), 4, servo.ReadOnly, servo.Signed, math.MinInt32, math.MaxInt32,
			0, servo.Measure{Unit: p.unit, Scale: scale}))
	}
	return list
}

// parameter is one of them: a field of Values, or a value of identify.
type parameter struct {
	name, unit string
	field      vescwire.Field
}

// The rows behind the fields.
const (
	rowFirmware = vescwire.NumFields + iota
	rowPolePairs
	rowTimeout
)

// parameters are the fields in their order, then the others. Counters since power-on are the raw wire values.
func parameters() []parameter {
	return []parameter{
		{"present_temperature", "°C", vescwire.TempFET}, {"motor_temperature", "°C", vescwire.TempMotor},
		{"present_current", "A", vescwire.Current},
		{"supply_current", "A", vescwire.CurrentIn}, {"current_d", "A", vescwire.CurrentD},
		{"current_q", "A", vescwire.CurrentQ},
		{"present_pwm", "1", vescwire.Duty},
		{"electrical_rpm", "1/min", vescwire.ERPM}, {"present_voltage", "V", vescwire.Volts},
		{"used_charge", "A·h", vescwire.AmpHours},
		{"regained_charge", "A·h", vescwire.AmpHoursIn},
		{"used_energy", "W·h", vescwire.WattHours}, {"regained_energy", "W·h", vescwire.WattHoursIn},
		{"tachometer", "", vescwire.Tacho},
		{"tachometer_way", "", vescwire.TachoAbs},
		{"errors", "", vescwire.FaultCode}, {"present_position", "°", vescwire.PosNow},
		{"id", "", vescwire.ControllerID},
		{"bridge_temperature", "°C", vescwire.TempFETs},
		{"voltage_d", "V", vescwire.VoltsD}, {"voltage_q", "V", vescwire.VoltsQ}, {"status", "", vescwire.Status},
		{name: "firmware"}, {name: "pole_pairs"}, {name: "timeout", unit: "s"},
	}
}
