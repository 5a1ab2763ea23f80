package vesc

import (
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
)

func TestTable(t *testing.T) {
	for _, m := range Models() {
		if u := m.Units(); ModelByName(m.Name) != m || u.MaxVelocity <= 0 || u.TorqueConstant <= 0 ||
			u.MinTicks >= u.MaxTicks || m.Register("x") != nil {
			t.Errorf("%s: got %+v", m.Name, u)
		}
	}
	if ModelByName("vesc-5") != nil {
		t.Error("found what is not there")
	}
	if f := vescwire.Fault(5); f.Alarm() != servo.AlarmHeat ||
		f.String() != "over temperature of the bridge (FAULT_CODE_OVER_TEMP_FET, 5)" {
		t.Errorf("fault 5: got %v, %v", f, f.Alarm())
	}
	if f := vescwire.Fault(200); f.Alarm() != servo.AlarmShock || !strings.Contains(f.String(), "fault 200") ||
		vescwire.Fault(0).Alarm() != 0 {
		t.Errorf("fault 200: got %v, %v", f, f.Alarm())
	}
}
