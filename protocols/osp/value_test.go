package osp

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// TestValueText: the text of every kind of value as the original writes it, and back.
func TestValueText(t *testing.T) {
	for _, c := range []struct {
		kind  string
		value hal.Value
		text  string
		once  bool // it is not read back the same
	}{
		{"Bool", hal.Value{Kind: hal.BoolValue, Bool: true}, "T", false},
		{"Bool", hal.Value{Kind: hal.BoolValue}, "F", false},
		{"Int", hal.Value{Kind: hal.IntValue, Int: -42}, "-42", false},
		{"Int", hal.Value{Kind: hal.IntValue, Int: math.MaxInt64}, "9223372036854775807", false},
		{"Double", hal.Value{Kind: hal.DoubleValue, Double: 0.01}, "0.01", false},
		{"Double", hal.Value{Kind: hal.DoubleValue, Double: 1.0 / 3}, "0.333333333333333", true},
		{"Double", hal.Value{Kind: hal.DoubleValue, Double: 100000}, "100000", false},
		{"Double", hal.Value{Kind: hal.DoubleValue, Double: 1e15}, "1e+15", false},
		{"Double", hal.Value{Kind: hal.DoubleValue, Double: 1e-5}, "1e-05", false},
		{"Double", hal.Value{Kind: hal.DoubleValue, Double: math.NaN()}, "nan", true},
		{"Double", hal.Value{Kind: hal.DoubleValue, Double: math.Inf(1)}, "inf", true},
		{"Double", hal.Value{Kind: hal.DoubleValue, Double: math.Inf(-1)}, "-inf", true},
		{"Interface", hal.Value{Kind: hal.InterfaceValue, Double: -0.5}, "-0.5", false},
		{"String", hal.Value{Kind: hal.StringValue, Text: " as it is "}, " as it is ", false},
		{"String", hal.Value{Kind: hal.StringValue}, "", false},
		{"Vector3D", hal.Value{Kind: hal.VectorValue, Vector: [4]float64{1, -2.5, 1e-9}}, "(1,-2.5,1e-09)", false},
		{"Vector3D", hal.Value{Kind: hal.VectorValue, Vector: [4]float64{math.Pi}}, "(3.1415927,0,0)", true},
		{"Quaternion", hal.Value{Kind: hal.QuaternionValue, Vector: [4]float64{1, 0, 0, 0.5}}, "(1,0,0,0.5)", false},
	} {
		if got := typeNames[c.value.Kind]; got != c.kind {
			t.Errorf("%s: type: got %s, want %s", c.text, got, c.kind)
		}
		if got := string(appendValue([]byte("="), &c.value)); got != "="+c.text {
			t.Errorf("%s: got %q, want %q", c.kind, got, "="+c.text)
		}
		if got, err := parseValue(c.value.Kind, c.text); !c.once && (err != nil || got != c.value) {
			t.Errorf("%s: parse %q: got %+v, %v, want %+v", c.kind, c.text, got, err, c.value)
		}
	}
}

func TestParseValue(t *testing.T) {
	for text, want := range map[string]bool{"1": true, "t": true, "TRUE": true, "True": true, "0": false, "f": false,
		"FALSE": false} {
		if got, err := parseValue(hal.BoolValue, text); err != nil || got.Bool != want {
			t.Errorf("bool %q: got %v, %v, want %v", text, got.Bool, err, want)
		}
	}
	if got, err := parseValue(hal.VectorValue, " ( 1 , 2 ,3 ) "); err != nil || got.Vector != [4]float64{1, 2, 3} {
		t.Errorf("vector with blanks: got %v, %v", got.Vector, err)
	}
	for _, c := range []struct {
		kind hal.ValueKind
		text string
	}{
		{hal.BoolValue, ""}, {hal.BoolValue, "yes"}, {hal.IntValue, ""}, {hal.IntValue, "1.5"},
		{hal.IntValue, "9223372036854775808"},
		{hal.DoubleValue, ""}, {hal.DoubleValue, "nan"}, {hal.DoubleValue, "inf"}, {hal.DoubleValue, "1e999"},
		{hal.InterfaceValue, "x"},
		{hal.VectorValue, "1,2,3"}, {hal.VectorValue, "(1,2,3"}, {hal.VectorValue, "(1,2)"},
		{hal.VectorValue, "(1,2,3,4)"},
		{hal.VectorValue, "(1,,3)"}, {hal.QuaternionValue, "(1,2,3)"}, {hal.QuaternionValue, "(1,0,0,nan)"},
	} {
		if got, err := parseValue(c.kind, c.text); err == nil {
			t.Errorf("%s %q: got %+v, want an error", typeNames[c.kind], c.text, got)
		}
	}
}

func FuzzParseValue(f *testing.F) {
	for _, text := range []string{"T", "-42", "1e-5", "(1,2,3)", "(1,0,0,0)", "((", ""} {
		f.Add(uint8(hal.VectorValue), text)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		k := hal.ValueKind(kind) % (hal.InterfaceValue + 1)
		v, err := parseValue(k, text)
		if err != nil {
			return
		}
		if _, err := parseValue(k, string(appendValue(nil, &v))); err != nil {
			t.Fatalf("%s %q: %v", typeNames[k], appendValue(nil, &v), err)
		}
	})
}

// TestTerminals: the names and scales of every kind of channel.
func TestTerminals(t *testing.T) {
	l := &hal.Layout{
		Inputs: []hal.Channel{
			{Name: "knee/position", Quantity: hal.Position, Min: -math.Pi, Max: math.Pi},
			{Name: "knee/torque_limit", Quantity: hal.TorqueLimit, Min: 0, Max: 2},
			{Name: "knee/velocity", Quantity: hal.Velocity, Min: -6, Max: 6},
			{Name: "knee/torque", Quantity: hal.Torque, Min: -2, Max: 2},
			{Name: "knee/duty", Quantity: hal.Duty, Min: -1, Max: 1},
			{Name: "rail/position", Quantity: hal.Position, Min: 0, Max: 0.5},
		},
		Outputs: []hal.Channel{
			{Name: "knee/position", Quantity: hal.Position, Min: -math.Pi, Max: math.Pi},
			{Name: "rail/position", Quantity: hal.Position, Min: 0, Max: 0.5},
		},
		Infos: []hal.Channel{
			{Name: "knee/velocity", Quantity: hal.Velocity, Min: -6, Max: 6},
			{Name: "knee/torque_now", Quantity: hal.Torque, Min: -2, Max: 2},
			{Name: "knee/voltage", Quantity: hal.Voltage, Min: 0, Max: 16},
			{Name: "knee/temperature", Quantity: hal.Temperature, Min: 0, Max: 100},
			{Name: "gyro/x", Quantity: hal.AngularVelocity, Min: -math.Pi, Max: math.Pi},
		},
		Actuators: []hal.Actuator{
			{Name: "knee", Path: "/Right/Knee", Goal: [hal.NumModes]int{0, 2, 3, 4}, TorqueLimit: 1,
				Position: 0, Velocity: 2, Torque: 3, Voltage: 4, Temperature: 5},
			{Name: "rail", Kind: hal.Slide, Goal: [hal.NumModes]int{5, hal.None, hal.None, hal.None},
				TorqueLimit: hal.None,
				Position:    1, Velocity: hal.None, Torque: hal.None, Voltage: hal.None, Temperature: hal.None},
		},
	}
	got := newTerminals(l)
	for i, c := range []struct {
		at         *terminal
		name       string
		si         float64
		normalised float32
		physical   float64
	}{
		{&got.inputs[0], "/Right/Knee/DesiredAngle", math.Pi / 2, 0.5, 90},
		{&got.inputs[1], "/Right/Knee/DesiredTorque", 0.5, 0.25, 0.5},
		{&got.inputs[2], "/Right/Knee/DesiredVelocity", -6, -1, -6 * 180 / math.Pi},
		{&got.inputs[3], "/Right/Knee/DesiredJointTorque", 1, 0.5, 1},
		{&got.inputs[4], "/Right/Knee/DesiredDuty", 0, 0, 0},
		{&got.inputs[5], "/rail/DesiredAngle", 0.25, 0.5, 0.25},
		{&got.outputs[0], "/Right/Knee/JointAngle", -math.Pi, -1, -180},
		{&got.outputs[1], "/rail/JointAngle", 0.5, 1, 0.5},
		{&got.infos[0], "/Right/Knee/JointVelocity", 3, 0.5, 3 * 180 / math.Pi},
		{&got.infos[1], "/Right/Knee/JointTorque", -2, -1, -2},
		{&got.infos[2], "/Right/Knee/Voltage", 12, 0.75, 12},
		{&got.infos[3], "/Right/Knee/Temperature", 40, 0.4, 40},
		{&got.infos[4], "/gyro/x", math.Pi, 1, 180},
	} {
		if c.at.name != c.name {
			t.Errorf("%d: name: got %s, want %s", i, c.at.name, c.name)
		}
		if v := c.at.normalised(c.si); v != c.normalised {
			t.Errorf("%s: %v normalised: got %v, want %v", c.name, c.si, v, c.normalised)
		}
		if v := c.at.fromNormalised(c.normalised); !almost(v, c.si) {
			t.Errorf("%s: %v from normalised: got %v, want %v", c.name, c.normalised, v, c.si)
		}
		if v := c.at.physical(c.si); !almost(v, c.physical) {
			t.Errorf("%s: %v physical: got %v, want %v", c.name, c.si, v, c.physical)
		}
		if v := c.at.normalised(math.NaN()); v == v {
			t.Errorf("%s: NaN normalised: got %v, want NaN", c.name, v)
		}
		if v := c.at.normalised(1e9); v != 1 {
			t.Errorf("%s: beyond its range: got %v, want 1", c.name, v)
		}
	}
}
