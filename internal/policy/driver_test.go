package policy

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/policyconf"
)

// biped is a layout of two joints, an IMU that is mounted upside down, and two feet.
func biped() *hal.Layout {
	l := &hal.Layout{}
	for i, name := range []string{"hip", "knee"} {
		l.Inputs = append(l.Inputs, hal.Channel{Name: name + "/position", Quantity: hal.Position, Min: -2, Max: 2})
		for _, q := range []hal.Quantity{hal.Position, hal.Velocity} {
			l.Outputs = append(l.Outputs, hal.Channel{Name: name + "/" + q.String(), Quantity: q, Min: -9, Max: 9})
		}
		l.Actuators = append(l.Actuators,
			hal.Actuator{Name: name, Goal: [hal.NumModes]int{i, hal.None, hal.None, hal.None},
				TorqueLimit: hal.None, Position: 2 * i, Velocity: 2*i + 1, Torque: hal.None, Voltage: hal.None,
				Temperature: hal.None, Default: 0.5,
				Limits: hal.Limits{MinPosition: -2, MaxPosition: 2, MaxVelocity: 6}})
	}
	for _, s := range []hal.Sensor{{Name: "imu", Kind: "imu", First: 4, Count: 10,
		Mount: hal.Pose{Rotation: [4]float64{0, 1, 0, 0}}}, {Name: "left", Kind: "contact", First: 14, Count: 1},
		{Name: "right", Kind: "contact", First: 15, Count: 1}} {
		for range s.Count {
			l.Outputs = append(l.Outputs, hal.Channel{Min: -99, Max: 99})
		}
		l.Sensors = append(l.Sensors, s)
	}
	return l
}

// echo is a network whose actions are the last two observations.
func echo(t *testing.T, n int) *Network {
	t.Helper()
	w := make([]float32, 2*n)
	w[n-2], w[2*n-1] = 1, 1
	net, err := Read(newModel(1).input("obs", 1, n).floats("w", w, 2, n).
		node("Gemm", "obs,w", "actions", attr{"transB", 1}).output("actions", 1, 2).bytes())
	if err != nil {
		t.Fatal(err)
	}
	return net
}

func one(term string) policyconf.PolicyTerm {
	return policyconf.PolicyTerm{Term: term, History: 1, Period: time.Second}
}

func TestTerms(t *testing.T) {
	history := one("joint_vel")
	history.History, history.Scale, history.Clip = 2, []float64{0.1}, 3
	before := one("actions")
	before.Delay = 1
	feet := one("foot_contact")
	feet.Sensors = []string{"right", "left"}
	offset := one("joint_pos")
	offset.Offset, offset.Scale = []float64{1, 2}, []float64{2, 3}
	c := policyconf.Policy{File: "a.onnx",
		Observations: []policyconf.PolicyTerm{one("base_ang_vel"), one("projected_gravity"),
			feet, one("phase"), one("phase_cos"), one("command"), history, one("actions"), before, one("targets"),
			offset},
		Action: policyconf.Action{Mode: "position", Scale: []float64{0.5}}}
	d, err := NewDriver("walk", echo(t, 3+3+2+2+2+3+4+2+2+2+2), c, biped(), 20*time.Millisecond, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	half := math.Sqrt2 / 2
	// The sensor lies on its back (mount 180° about x) in a base that is rolled by 90°: its own roll is 270°.
	m := []float64{0.7, 40, 0.3, -2, -half, half, 0, 0, 1, 2, 3, 0, 0, 0, 1, 0}
	status, in := make([]hal.Status, 5), make([]float64, 2)
	d.Command(0, 5) // at most 1
	if err := d.Act(m, status, in); err != nil {
		t.Fatal(err)
	}
	want := []float64{1, -2, -3, 0, -1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 0.3, -0.2, 0.3, -0.2, 0, 0, 0, 0, 0.5, 0.5,
		2 * 1.2, 3 * 1.8}
	check := func(want []float64) {
		t.Helper()
		for i, x := range want {
			if got := float64(d.step.Observation[i]); math.Abs(got-x) > 1e-6 {
				t.Errorf("observation %d: got %v, want %v (%v)", i, got, x, d.step.Observation)
			}
		}
	}
	check(want)
	if math.Abs(in[0]-(0.5+0.5*2.4)) > 1e-6 || math.Abs(in[1]-(0.5+0.5*5.4)) > 1e-6 {
		t.Errorf("got goals %v, want the defaults and half the outputs", in)
	}
	m[1] = -10
	if err := d.Act(m, status, in); err != nil {
		t.Fatal(err)
	}
	angle := 2 * math.Pi * 0.02
	check([]float64{1, -2, -3, 0, -1, 0, 0, 1, math.Sin(angle), math.Cos(angle), math.Cos(angle), math.Sin(angle), 1, 0,
		0,
		0.3, -0.2, -0.3, -0.2, 2.4, 5.4, 0, 0, 1.7, 3.2, 2.4, 5.4})
	if n := testing.AllocsPerRun(50, func() { d.Act(m, status, in) }); n != 0 {
		t.Errorf("got %v allocations a step, want 0", n)
	}
}

// A policy acts on nothing unknown, stale or not finite, and begins softly.
func TestSilentAndSoft(t *testing.T) {
	c := policyconf.Policy{File: "a.onnx", Ramp: 40 * time.Millisecond,
		Observations: []policyconf.PolicyTerm{one("joint_pos"),
			one("actions")}, Action: policyconf.Action{Mode: "position", Offset: []float64{1}}}
	w := make([]float32, 8)
	net, err := Read(newModel(1).input("obs", 1, 4).floats("w", w, 2, 4).floats("b", []float32{0, 0}, 2).
		node("Gemm", "obs,w,b", "actions", attr{"transB", 1}).output("actions", 1, 2).bytes())
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDriver("walk", net, c, biped(), 20*time.Millisecond, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	m, status, in := make([]float64, 16), make([]hal.Status, 5), make([]float64, 2)
	m[2] = math.NaN()
	if err := d.Act(m, status, in); err == nil || !math.IsNaN(in[0]) || !strings.Contains(err.Error(), "joint_pos") {
		t.Errorf("got %v, %v, want no goal where a position is unknown", in, err)
	}
	m[2] = 0
	status[1].Err = hal.ErrNoValue
	if err := d.Act(m, status, in); err == nil || !math.IsNaN(in[0]) {
		t.Errorf("got %v, %v, want no goal beside a fault", in, err)
	}
	status[1].Err = nil
	var seen []float64
	for range 3 {
		if err := d.Act(m, status, in); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, in[0])
	}
	if !slices.Equal(seen, []float64{0.5, 1, 1}) {
		t.Errorf("got %v, want half the way to 1, then all", seen)
	}
	for i := range w {
		w[i] = float32(math.Inf(1))
	}
	net, _ = Read(newModel(1).input("obs", 1, 4).floats("w", w, 2, 4).node("Gemm", "obs,w", "actions",
		attr{"transB", 1}).
		output("actions", 1, 2).bytes())
	if d, err = NewDriver("walk", net, c, biped(), 20*time.Millisecond, 1, false); err != nil {
		t.Fatal(err)
	}
	if err := d.Act(m, status, in); err == nil || !math.IsNaN(in[0]) {
		t.Errorf("got %v, %v, want no goal from an output that is not finite", in, err)
	}
}

func TestMisfits(t *testing.T) {
	position := policyconf.Action{Mode: "position"}
	terms := []policyconf.PolicyTerm{one("joint_pos"), one("joint_vel")}
	for want, c := range map[string]policyconf.Policy{
		"no observation_names in the file":                 {Action: position},
		"got 2 values (joint_pos 2), want the network's 4": {Observations: terms[:1], Action: position},
		`joint "wing": got none of that name`: {Observations: terms, Joints: []string{"wing", "hip"},
			Action: position},
		"want 1: hip": {Observations: terms, Joints: []string{"hip"},
			Action: position},
		"default of hip: got 30.000, want -2.000 to 2.000": {Observations: terms, Default: []float64{30, 40},
			Action: position},
		"got mode torque": {Observations: terms,
			Action: policyconf.Action{Mode: "torque"}},
		"rate: got 30 Hz": {Observations: terms, Rate: 30, Action: position},
		"observation base_lin_vel: the robot has no sensor for it, want one of kind pose": {
			Observations: append(slices.Clone(terms), one("base_lin_vel")), Action: position},
		"got 3 scales": {Observations: terms,
			Action: policyconf.Action{Mode: "position", Scale: []float64{1, 2, 3}}},
	} {
		_, err := NewDriver("walk", echo(t, 4), c, biped(), 20*time.Millisecond, 1, true)
		if err == nil || hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// The file's own words count where the config has none.
func TestMetadata(t *testing.T) {
	net := echo(t, 4)
	net.Meta = map[string]string{"joint_names": "knee_joint,hip", "default_joint_pos": "0.100,0.200",
		"action_scale": "0.5", "observation_names": "joint_pos_rel,last_action"}
	c := policyconf.Policy{Action: policyconf.Action{Mode: "position"}}
	d, err := NewDriver("walk", net, c, biped(), 20*time.Millisecond, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(d.joints, []int{1, 0}) || !slices.Equal(d.home, []float64{0.1, 0.2}) || d.scale[1] != 0.5 ||
		d.terms[1].Term != "actions" || len(d.Notes) != 4 {
		t.Errorf("got %+v", d)
	}
	c.Default = []float64{0.3}
	if d, err = NewDriver("walk", net, c, biped(), 20*time.Millisecond, 1, true); err != nil || d.home[0] != 0.3 {
		t.Errorf("got %v, %v, want the config's default", d, err)
	}
	if rows := d.Check(); len(rows) != 7 || !rows[0].Fits {
		t.Errorf("got %+v", rows)
	}
}
