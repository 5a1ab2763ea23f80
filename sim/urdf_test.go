package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// newArm is the six-joint arm of a URDF on the table, with ideal motors of the file's torques and speeds.
func newArm(t *testing.T) *rig {
	m, err := model.OpenFile("model/testdata/arm/urdf/arm.urdf", model.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Scene: NewScene(SceneConfig{Seed: 1}), t: t}
	if r.body, err = r.Add("arm", m, hal.Pose{}); err != nil {
		t.Fatal(err)
	}
	r.frame = hal.NewFrame(r.body.Layout())
	return r
}

// goal sets the goal of joint i.
func (r *rig) goal(i int, v float64) {
	r.frame.Inputs[r.body.Layout().Actuators[i].Goal[hal.PositionMode]] = v
}

// An arm that a URDF describes is listed, goes to its goals under gravity within its speeds and torques, holds there,
// and its second finger does what the first does.
func TestURDFArmMoves(t *testing.T) {
	r := newArm(t)
	joints := r.body.Layout().Actuators
	names := make([]string, len(joints))
	for i := range joints {
		names[i] = joints[i].Name
	}
	if want := []string{"pan", "lift", "elbow", "wrist_roll", "wrist_pitch", "left_finger"}; !slices.Equal(names,
		want) {
		t.Fatalf("joints: got %q, want %q", names, want)
	}
	m := r.body.model
	left, right := m.Body("left_finger"), m.Body("right_finger")
	base := r.body.Pose(0)
	r.enable(true)
	for _, goals := range [][]float64{
		{0, 0, 0.1, 0, 0, 0.03},
		{1.2, 0.9, 1.1, 2, -0.8, 0},
		{-2, 1.4, 0.2, -3, 1, 0.02}, // stretched out: lift needs 11 of its 12 N·m
		{0.5, -1, 2.2, 0.3, 0, 0.01},
	} {
		for i, g := range goals {
			r.goal(i, g)
		}
		fastest := make([]float64, len(goals))
		strongest := make([]float64, len(goals))
		for range 300 {
			r.cycle(1)
			for i, a := range joints {
				fastest[i] = math.Max(fastest[i], math.Abs(r.frame.Measured[a.Velocity])/a.Limits.MaxVelocity)
				strongest[i] = math.Max(strongest[i], math.Abs(r.frame.Measured[a.Torque])/a.Limits.MaxTorque)
			}
		}
		for i, g := range goals {
			got := r.frame.Measured[joints[i].Position]
			if joints[i].Wraps {
				got = g + math.Remainder(got-g, 2*math.Pi)
			}
			tolerance := 0.01
			if joints[i].Kind == hal.Slide {
				tolerance = 0.001
			}
			t.Logf("%-11s %+.3f for %+.3f, at most %.2f of its speed and %.2f of its torque", names[i], got, g,
				fastest[i], strongest[i])
			if math.Abs(got-g) > tolerance {
				t.Errorf("%s: got %g, want %g", names[i], got, g)
			}
			// Where a motor gives all it has, the load may drive it beyond its speed.
			if fastest[i] > 1.1 && strongest[i] < 0.99 || fastest[i] > 1.3 || strongest[i] > 1.01 {
				t.Errorf("%s: got %.2f of its speed and %.2f of its torque, want no more than in the file", names[i],
					fastest[i], strongest[i])
			}
		}
		// Both fingers are as far from the middle of the hand.
		hand := r.body.Pose(m.Body("hand")).Inverse()
		a, b := hand.Times(r.body.Pose(left)).Position, hand.Times(r.body.Pose(right)).Position
		if want := 0.02 + goals[5]; math.Abs(a[1]-want) > 0.001 || math.Abs(b[1]+want) > 0.001 {
			t.Errorf("fingers: got %.4f and %.4f m, want %.4f to either side", a[1], b[1], want)
		}
	}
	if at := r.body.Pose(0); at != base {
		t.Errorf("base: got %v, want %v", at, base)
	}
	// The motors held it: without them it falls, onto its stops or the table.
	hand := m.Body("hand")
	held := r.body.Pose(hand).Position[2]
	r.enable(false)
	r.cycle(300)
	fallen := r.body.Pose(hand).Position[2]
	t.Logf("torque off: the hand falls from %.3f to %.3f m", held, fallen)
	if fallen > held-0.1 || fallen < 0 {
		t.Errorf("torque off: got the hand at %.3f m, want it fallen, above the table", fallen)
	}
}

// Goals beyond the file's limits end there.
func TestURDFArmLimits(t *testing.T) {
	r := newArm(t)
	r.enable(true)
	for i, a := range r.body.Layout().Actuators {
		// one at a time, since together they would meet the table
		r.must(r.Reset(0))
		clear(r.frame.Inputs)
		for k := range r.body.Layout().Actuators {
			r.frame.Inputs[r.body.Layout().Actuators[k].TorqueLimit] = math.NaN()
			r.frame.Inputs[r.body.Layout().Actuators[k].Goal[hal.PositionMode]] = r.body.joints[k].Model.Default
		}
		r.goal(i, 100)
		r.cycle(300)
		if got := r.frame.Measured[a.Position]; !a.Wraps && a.Name != "lift" &&
			math.Abs(got-r.body.joints[i].Model.Stops[1]) > 0.01 {
			t.Errorf("%s: got %g, want its stop at %g", a.Name, got, r.body.joints[i].Model.Stops[1])
		}
	}
}

// A robot without joints is restored where it was saved, as any other.
func TestRestoreWithoutJoints(t *testing.T) {
	m, err := model.ParseFile([]byte(`<robot name="ball"><link name="ball">
		<inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>
		<collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>`), "ball.urdf", model.FileOptions{Base: "floating"})
	if err != nil {
		t.Fatal(err)
	}
	s := NewScene(SceneConfig{})
	b, err := s.Add("ball", m, hal.Pose{Position: [3]float64{0, 0, 1}})
	r := &rig{Scene: s, t: t}
	r.must(err)
	r.must(s.Place("ball", hal.Pose{Position: [3]float64{2, 0, 1}, Rotation: [4]float64{1}}))
	r.must(s.Save())
	want := b.Pose(0)
	r.must(s.Place("ball", hal.Pose{Position: [3]float64{3, 0, 1}, Rotation: [4]float64{1}}))
	r.must(s.Restore())
	if got := b.Pose(0); got != want {
		t.Errorf("pose: got %v, want that of the snapshot, %v", got, want)
	}
}

// TestGains: an MJCF's position actuator is a spring and a damper, as its gains say, up to its force; a velocity
// actuator a damper. The judge is the closed solution of the damped oscillator.
func TestGains(t *testing.T) {
	const body = `<mujoco><option gravity="0 0 0"/><worldbody><body name="a"><joint name="j" axis="0 0 1" range="-180 180" armature="0.02"/>
		<inertial pos="0 0 0" mass="1" diaginertia="0.03 0.03 0.03"/></body></worldbody><actuator>%s</actuator></mujoco>`
	const inertia = 0.05
	start := func(actuator string) *rig {
		m, err := model.ParseFile(fmt.Appendf(nil, body, actuator), "a.xml", model.FileOptions{Base: "fixed"})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{Scene: NewScene(SceneConfig{Seed: 1}), t: t}
		r.body, err = r.Add("a", m, hal.Pose{})
		r.must(err)
		r.frame = hal.NewFrame(r.body.Layout())
		r.enable(true)
		return r
	}
	for _, c := range []struct {
		actuator string
		kp, kd   float64
	}{
		{`<position joint="j" kp="20" kv="0.4"/>`, 20, 0.4},
		{`<position joint="j" kp="5" gear="2" dampratio="0.5"/>`, 20, math.Sqrt(20 * inertia)},
		{`<general joint="j" gainprm="20" biastype="affine" biasprm="0 -20 -0.4"/>`, 20, 0.4},
	} {
		r := start(c.actuator)
		if m := r.body.model.Joints[0].Motor; m.Kp != c.kp || math.Abs(m.Kd-c.kd) > 1e-9 {
			t.Errorf("%s: got kp %g, kd %g, want %g and %g", c.actuator, m.Kp, m.Kd, c.kp, c.kd)
		}
		r.goal(0, 0.5)
		w, d := math.Sqrt(c.kp/inertia), c.kd/inertia/2
		wd := math.Sqrt(w*w - d*d)
		for i := 1; i <= 40; i++ {
			r.cycle(1)
			at := float64(i) * 0.01
			want := 0.5 - 0.5*math.Exp(-d*at)*(math.Cos(wd*at)+d/wd*math.Sin(wd*at))
			if got := r.frame.Measured[r.body.Layout().Actuators[0].Position]; math.Abs(got-want) > 0.01 {
				t.Errorf("%s: at %.2f s: got %.4f rad, want %.4f", c.actuator, at, got, want)
				break
			}
		}
	}
	weak := start(`<position joint="j" kp="20" kv="0.1" forcerange="-1 1"/>`)
	weak.goal(0, 3)
	weak.cycle(10)
	if v := weak.body.joints[0].velocity(); math.Abs(v-0.1/inertia) > 0.01 {
		t.Errorf("at its force: got %g rad/s after 0.1 s, want %g", v, 0.1/inertia)
	}
	speed := start(`<velocity joint="j" kv="0.5"/>`)
	speed.frame.Inputs[speed.body.Layout().Actuators[0].Goal[hal.PositionMode]] = math.NaN()
	speed.frame.Inputs[speed.body.Layout().Actuators[0].Goal[hal.VelocityMode]] = 2
	speed.cycle(10)
	if v, want := speed.body.joints[0].velocity(), 2*(1-math.Exp(-0.5/inertia*0.1)); math.Abs(v-want) > 0.01 {
		t.Errorf("velocity actuator: got %g rad/s after 0.1 s, want %g", v, want)
	}
}
