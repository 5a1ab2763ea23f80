package model

import (
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

func TestEmbedded(t *testing.T) {
	want := map[string]int{"a-series": 21, "hobby-hexapod": 18, "koch": 6, "lx16a-arm": 6, "pendulum": 1, "so101": 6,
		"xl430-pendulum": 1, "xm430-arm": 6}
	names := Names()
	if len(names) != len(want) {
		t.Errorf("Names: got %v, want %d", names, len(want))
	}
	for _, name := range names {
		r, err := Load(name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Name != name || len(r.Joints) != want[name] {
			t.Errorf("%s: got name %q and %d joints, want %d", name, r.Name, len(r.Joints), want[name])
		}
		l := r.Layout()
		if err := l.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if src, err := Source(name); err != nil || !strings.Contains(string(src), "name: "+name) {
			t.Errorf("%s: source: got %d bytes and %v", name, len(src), err)
		}
	}
	if _, err := Load("b-series"); hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), "pendulum") {
		t.Errorf("Load(b-series): got %v, want an invalid error that names the robots", err)
	}
}

// The motor order, the paths and the limits of the original (wire facts, robots).
func TestASeries(t *testing.T) {
	rows := []struct {
		name, path string
		low, high  float64 // degrees
	}{
		{"waist", "/Waist", 0, 150},
		{"right_shoulder_yaw", "/Right/ShoulderYaw", -150, 150}, {"left_shoulder_yaw", "/Left/ShoulderYaw", -150, 150},
		{"right_shoulder_pitch", "/Right/ShoulderPitch", -106.5, 94.5},
		{"left_shoulder_pitch", "/Left/ShoulderPitch", -94.5, 106.5},
		{"right_elbow", "/Right/Elbow", -106.5, 87}, {"left_elbow", "/Left/Elbow", -87, 106.5},
		{"right_hip_roll", "/Right/HipRoll", -45, 150}, {"left_hip_roll", "/Left/HipRoll", -150, 45},
		{"right_hip_pitch", "/Right/HipPitch", -75, 40}, {"left_hip_pitch", "/Left/HipPitch", -40, 75},
		{"right_hip_yaw", "/Right/HipYaw", -15, 150}, {"left_hip_yaw", "/Left/HipYaw", -150, 15},
		{"right_knee", "/Right/Knee", 0, 150}, {"left_knee", "/Left/Knee", -150, 0},
		{"right_ankle_yaw", "/Right/AnkleYaw", -81, 29.5}, {"left_ankle_yaw", "/Left/AnkleYaw", -29.5, 81},
		{"right_ankle_pitch", "/Right/AnklePitch", -66.5, 55}, {"left_ankle_pitch", "/Left/AnklePitch", -55, 66.5},
		{"head_pan", "/Head/Pan", -135, 135}, {"head_tilt", "/Head/Tilt", -95, 150},
	}
	r, err := Load("a-series")
	if err != nil {
		t.Fatal(err)
	}
	l := r.Layout()
	if len(l.Actuators) != len(rows) {
		t.Fatalf("actuators: got %d, want %d", len(l.Actuators), len(rows))
	}
	for i, want := range rows {
		a := &l.Actuators[i]
		if a.Name != want.name || a.Path != want.path {
			t.Errorf("joint %d: got %q %q, want %q %q", i, a.Name, a.Path, want.name, want.path)
		}
		if a.Limits.MinPosition != radians(want.low) || a.Limits.MaxPosition != radians(want.high) {
			t.Errorf("%s: limits: got %g..%g, want %g..%g degrees", a.Name, a.Limits.MinPosition, a.Limits.MaxPosition,
				want.low, want.high)
		}
		// Inputs are interleaved, and every motor is normalised over the original's 300 degrees.
		if a.Goal[hal.PositionMode] != 2*i || a.TorqueLimit != 2*i+1 {
			t.Errorf("%s: inputs: got %d and %d, want %d and %d", a.Name, a.Goal[hal.PositionMode], a.TorqueLimit, 2*i,
				2*i+1)
		}
		if c := l.Inputs[2*i]; c.Name != want.name+"/position" || c.Min != radians(-150) || c.Max != radians(150) {
			t.Errorf("%s: channel: got %+v", a.Name, c)
		}
		if c := l.Inputs[2*i+1]; c.Name != want.name+"/torque_limit" || c.Min != 0 || c.Max != a.Limits.MaxTorque {
			t.Errorf("%s: channel: got %+v", a.Name, c)
		}
		if c := l.Measured(a.Position); c.Name != want.name+"/position" || a.Position != i {
			t.Errorf("%s: output: got %q at %d", a.Name, c.Name, a.Position)
		}
		for q, at := range map[hal.Quantity]int{hal.Velocity: a.Velocity, hal.Torque: a.Torque, hal.Voltage: a.Voltage,
			hal.Temperature: a.Temperature} {
			if c := l.Measured(at); c.Name != want.name+"/"+q.String() || c.Quantity != q || at < len(rows) {
				t.Errorf("%s: info: got %q at %d, want %v", a.Name, c.Name, at, q)
			}
		}
	}
}

func TestModes(t *testing.T) {
	r, err := Load("xm430-arm")
	if err != nil {
		t.Fatal(err)
	}
	l := r.Layout()
	a := &l.Actuators[0]
	for m, want := range []string{"base/position", "base/velocity", "base/torque", "base/duty"} {
		if got := l.Inputs[a.Goal[m]].Name; got != want {
			t.Errorf("mode %d: got %q, want %q", m, got, want)
		}
	}
	if got := l.Inputs[a.Goal[hal.PositionMode]]; got.Min != -math.Pi || got.Max != math.Pi {
		t.Errorf("position channel: got %+v, want a whole turn", got)
	}
}

func TestSub(t *testing.T) {
	r, err := Load("a-series")
	if err != nil {
		t.Fatal(err)
	}
	part, err := r.Sub([]string{"head_pan", "left_elbow"})
	if err != nil {
		t.Fatal(err)
	}
	if len(part.Joints) != 2 || part.Joints[0].Name != "left_elbow" || part.Joints[1].Name != "head_pan" {
		t.Errorf("got %d joints, want left_elbow and head_pan in the robot's order", len(part.Joints))
	}
	if err := part.Layout().Validate(); err != nil {
		t.Error(err)
	}
	if _, err := r.Sub([]string{"tail", "left_elbow", "wing"}); err == nil ||
		!strings.Contains(err.Error(), `joints[0]: got "tail"`) ||
		!strings.Contains(err.Error(), `joints[2]: got "wing"`) {
		t.Errorf("unknown joints: got %v, want both named", err)
	}
}

// Ten faults in one file are ten lines, each with its path.
func TestFaults(t *testing.T) {
	const bad = `
name: Bad Robot
supply: {volts: 0, ohms: -1}
colour: red
joints:
  - {name: a, servo: ax-13, limits_deg: [-10, 10], default_deg: 20}
  - {name: a, servo: ax-12a, limits_deg: [10, -10]}
  - {name: b, servo: ax-12a, limits_deg: [-200, 200], modes: [torque, jump]}
  - {name: c, servo: mx-28, load: {mass_kg: 1}}
  - {name: d, servo: mx-28, limits_deg: [-10, 10], stops_deg: [-5, 5], load: {backlash_deg: 1, inertia_kgm2: .nan}}
`
	_, err := Parse([]byte(bad), "f")
	if hal.KindOf(err) != hal.Invalid {
		t.Fatalf("got %v, want an invalid error", err)
	}
	for _, want := range []string{
		"f:4:1: colour: got an unknown key", `name: got "Bad Robot"`, "supply.volts: got 0", "supply.ohms: got -1",
		`joints[0].servo: got "ax-13"`, "joints[0].default_deg: got 20",
		`joints[1].name: got "a", want one of its own; joints[0].name has it too`,
		"joints[1].limits_deg: got [10, -10]",
		"joints[2].limits_deg: got [-200 200]", `joints[2].modes[0]: got "torque"`, `joints[2].modes[1]: got "jump"`,
		"joints[3].limits_deg: got nothing", "joints[3].load: got mass_kg 1 and length_m 0",
		"joints[4].stops_deg: got stops", "joints[4].load.inertia_kgm2: got .nan",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no fault %q", want)
		}
	}
	if t.Failed() {
		t.Logf("got:\n%v", err)
	}
	for _, text := range []string{"", "[]", "joints: 3", "\x00", "name: x\njoints: []"} {
		if _, err := Parse([]byte(text), "f"); hal.KindOf(err) != hal.Invalid {
			t.Errorf("Parse(%q): got %v, want an invalid error", text, err)
		}
	}
}

// A joint without modes in the file has the position mode; if its motor lacks that, all modes of the motor.
func TestModesNotSaid(t *testing.T) {
	const text = `
name: modes
supply: {volts: 36, ohms: 0.1}
joints:
  - {name: a, servo: xm430-w350, limits_deg: [-10, 10], load: {inertia_kgm2: 0.01}}
  - {name: b, servo: vesc-4-hall, limits_deg: [-10, 10], load: {inertia_kgm2: 0.01}}
  - {name: c, servo: odrive-v3, modes: [position, velocity, torque], limits_deg: [-10, 10], load: {inertia_kgm2: 0.01}}
`
	r, err := Parse([]byte(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][hal.NumModes]bool{
		{hal.PositionMode: true},
		{hal.VelocityMode: true, hal.TorqueMode: true, hal.DutyMode: true},
		{hal.PositionMode: true, hal.VelocityMode: true, hal.TorqueMode: true},
	} {
		if got := r.Joints[i].Modes; got != want {
			t.Errorf("%s: got modes %v, want %v", r.Joints[i].Name, got, want)
		}
	}
	if _, err := Parse([]byte(strings.Replace(text, "velocity, torque", "duty", 1)), "f"); err == nil ||
		!strings.Contains(err.Error(), "which odrive-v3 does not have") {
		t.Errorf("the duty of an ODrive, whose protocol has none: got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range append(append(Names(), RescueNames()...), "simloid-31", "simloid-60") {
		src, _ := Source(name)
		f.Add(src)
	}
	f.Add([]byte("joints: [{name: a, limits_deg: [1e999, .inf]}]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b, "f")
		if err != nil {
			return
		}
		sound(t, r)
	})
}
