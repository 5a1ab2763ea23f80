package servo

import (
	"strings"
	"testing"
)

func TestFaultTable(t *testing.T) {
	table := FaultTable{Bit(1, "Input Voltage Error", AlarmVoltage, ""),
		Bit(0x20, "Overload Error", AlarmOverload, "take the load away")}
	for _, c := range []struct {
		bits       uint64
		alarm      Alarm
		text, does string
	}{
		{0, 0, "none", ""},
		{1, AlarmVoltage, "Input Voltage Error (0x1): voltage", "check its supply"},
		{0x21, AlarmVoltage | AlarmOverload, "Input Voltage Error, Overload Error (0x21): voltage, overload",
			"check its supply; take the load away"},
		{0x40, AlarmShock, "a fault that its maker's list does not have (0x40): electrical", ""},
	} {
		var r Report
		r.Set(table, 1)
		if r.Set(table, c.bits); r.Alarm != c.alarm || r.String() != c.text || r.Fix != c.does {
			t.Errorf("%#x: got %v, %q, want %v, %q", c.bits, r, r.Fix, c.text, c.does)
		}
		if err := r.Left(); (err == nil) != (c.bits == 0) || err != nil &&
			!strings.Contains(err.Error(), "still there") {
			t.Errorf("%#x: got %v", c.bits, err)
		}
		if n := testing.AllocsPerRun(10, func() { r.Set(table, c.bits) }); n > 0 {
			t.Errorf("%#x: %g allocations of a fault that lasts", c.bits, n)
		}
	}
	if table.Alarm(0x61) != AlarmVoltage|AlarmOverload || table.Bits(AlarmOverload|AlarmHeat) != 0x20 {
		t.Errorf("got %v, %#x", table.Alarm(0x61), table.Bits(AlarmOverload|AlarmHeat))
	}
}
