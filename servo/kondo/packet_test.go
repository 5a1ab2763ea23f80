package kondo

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/kondowire"
)

func TestTable(t *testing.T) {
	m := ModelByName("krs-2552")
	for i := range m.Registers {
		if r := &m.Registers[i]; r.Default < r.Min || r.Default > r.Max {
			t.Errorf("%s: default %d is outside of %d..%d", r.Name, r.Default, r.Min, r.Max)
		}
	}
	// 3500..7500..11500 are 270 degrees; 0 is free.
	if u := m.Units(); u.MinTicks != 3500 || u.CentreTicks != 7500 || u.MaxTicks != 11500 ||
		math.Abs((u.MaxTicks-u.MinTicks)/u.TicksPerTurn-0.75) > 1e-12 || free != 0 {
		t.Errorf("units: got %+v", u)
	}
	for name, sc := range map[string]uint16{"stretch": kondowire.Stretch, "speed": kondowire.Speed,
		"current_limit": kondowire.Current,
		"heat_limit":    kondowire.Heat} {
		if r := m.Register(name); r == nil || r.Addr != sc {
			t.Errorf("%s: want it at parameter %d", name, sc)
		}
	}
	if ModelByName("krs-1") != nil || m.Register("x") != nil || len(Models()) != len(catalogue) {
		t.Error("found what is not there")
	}
	if code, ok := m.BaudCode(115200); !ok || Bauds()[code] != 115200 {
		t.Errorf("115200: got code %d", code)
	}
}
