package drivers

import (
	"errors"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
)

func TestBuildNominal(t *testing.T) {
	l, c := layoutOf(ax, "waist", "elbow"), newChain(ax, 2)
	joints := jointsOf(c)
	if _, err := Build(l, joints, true); err != nil {
		t.Errorf("emulated: %v", err)
	}
	if joints[0].Calibration != nil {
		t.Error("the caller's joints were written to")
	}
	_, err := Build(l, joints, false)
	if hal.KindOf(err) != hal.Uncalibrated {
		t.Fatalf("real: got %v", err)
	}
	for _, want := range []string{`joint "waist"`, `joint "elbow"`, "halyard doctor"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("real: want %s in:\n%v", want, err)
		}
	}
}

// What does not fit is refused before anything moves, all of it at once.
func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*hal.Layout, []Joint)
		kind   hal.Kind
		want   []string
	}{
		{"too few", func(l *hal.Layout, _ []Joint) { l.Actuators = append(l.Actuators, l.Actuators[0]) }, hal.Invalid,
			[]string{"joints: got 2, want 3"}},
		{"no chain", func(_ *hal.Layout, j []Joint) { j[1].Chain = nil }, hal.Invalid,
			[]string{`joint "elbow": body: servo: missing`}},
		{"one servo twice", func(_ *hal.Layout, j []Joint) { j[1].Index = 0 }, hal.Invalid,
			[]string{`got the one of joint "waist"`}},
		{"mode", func(l *hal.Layout, _ []Joint) { l.Actuators[0].Goal[hal.TorqueMode] = 0 }, hal.Invalid,
			[]string{"mode torque: servo ax-12a has none"}},
		{"of another servo", func(_ *hal.Layout, j []Joint) {
			j[0].Calibration.Servo = calibration.Servo{Model: "mx-28", ID: 5}
		},
			hal.Uncalibrated, []string{"got one of mx-28 id 5, want of ax-12a id 1", "halyard doctor"}},
		{"not valid", func(_ *hal.Layout, j []Joint) { j[0].Calibration.Gear = 0 }, hal.Invalid,
			[]string{"calibration: gear: got 0"}},
		{"beside the limits", func(_ *hal.Layout, j []Joint) {
			j[0].Calibration.ZeroTicks, j[0].Calibration.Direction = 3000, -1
		}, hal.Invalid, []string{"want some of the soft limits -2.5..2.5"}},
		{"several", func(_ *hal.Layout, j []Joint) { j[0].Calibration, j[1].Chain = nil, nil }, hal.Uncalibrated,
			[]string{"a real joint needs a calibration", "servo: missing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := layoutOf(ax, "waist", "elbow")
			joints := jointsOf(newChain(ax, 2))
			for i := range joints {
				joints[i].Calibration = nominal(l.Actuators[i].Name, &joints[i])
			}
			c.change(l, joints)
			b, err := NewBody(l, joints)
			if b != nil || hal.KindOf(err) != c.kind {
				t.Fatalf("got %v, want %v", err, c.kind)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want %q in:\n%v", want, err)
				}
			}
		})
	}
}

// A sensor in the layout that no device drives is said to be absent, every cycle.
func TestUndrivenSensor(t *testing.T) {
	r := newRobot(t, ax, []string{"waist"}, func(l *hal.Layout, _ []Joint) {
		l.Infos = append(l.Infos, hal.Channel{Name: "gyro", Quantity: hal.AngularVelocity, Min: -10, Max: 10})
		l.Sensors = []hal.Sensor{{Name: "gyro", First: len(l.Outputs) + len(l.Infos) - 1, Count: 1}}
	})
	r.cycle()
	if s := r.f.Status[1]; s.Time >= 0 || hal.KindOf(s.Err) != hal.Absent || !errors.Is(s.Err, errUndriven) {
		t.Errorf("got %+v", s)
	}
}

// What a file does not say of torque comes from the data sheet, without writing to the file's values.
func TestTorqueFromDataSheet(t *testing.T) {
	var c *calibration.Joint
	r := newRobot(t, xm, []string{"waist"}, func(_ *hal.Layout, j []Joint) {
		c = j[0].Calibration
		c.Torque, c.Gear = calibration.Torque{}, 2
	})
	near(t, "constant", r.parts[0].(*joint).cal.Torque.Constant, 4.1/2.3*2)
	if c.Torque.Constant != 0 {
		t.Error("the caller's calibration was written to")
	}
}
