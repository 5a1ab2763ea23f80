package sim

import (
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// chance is a robot that falls, with random values.
const chance = `
name: chance
supply: {volts: 12}
bodies:
  - {name: trunk, position_m: [0, 0, 0.3], mass_kg: 1, shapes: [{box: [0.2, 0.1, 0.1]}], random: {mass: 20%, friction: 50%}}
  - {name: arm, position_m: [0, 0, 0.5], mass_kg: 0.5, shapes: [{capsule: [0.02, 0.2]}], random: {mass: 20%}}
joints:
  - {name: lift, servo: xm430-w350, limits_deg: [-90, 90], parent: trunk, child: arm, anchor_m: [0, 0, 0.38], axis: [0, 1, 0],
     friction_nm: 0.1, start_spread_deg: 20, random: {strength: 30%, friction: 30%}}
`

// falling is n such robots in a row.
func falling(t *testing.T, seed int64, names ...string) *rig {
	t.Helper()
	m, err := model.Parse([]byte(chance), "chance")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Scene: NewScene(SceneConfig{Seed: seed}), t: t}
	for i, name := range names {
		b, err := r.Add(name, m, hal.Pose{Position: [3]float64{0, float64(i), 0}})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			r.body = b
		}
	}
	r.frame = hal.NewFrame(r.body.Layout())
	return r
}

// fall is a hash of a second of the first robot's fall, and how heavy it is.
func (r *rig) fall() (bits uint64, mass float64) {
	for i := range r.frame.Inputs {
		r.frame.Inputs[i] = math.NaN()
	}
	r.enable(true)
	r.input("lift/position", 1)
	h := uint64(14695981039346656037)
	for range 100 {
		r.cycle(1)
		for body := range r.body.parts {
			p := r.body.Pose(body)
			for _, v := range append(p.Position[:], p.Rotation[:]...) {
				h = (h ^ math.Float64bits(v)) * 1099511628211
			}
		}
	}
	return h, r.body.Model().Mass()
}

// The same seed makes the same robot, bit for bit, after any other seeds and with other robots in the scene. Another
// seed makes another robot.
func TestRandomFigures(t *testing.T) {
	r := falling(t, 7, "one")
	seven, heavy := r.fall()
	if heavy == 1.5 || math.Abs(heavy-1.5) > 0.3 {
		t.Errorf("got %g kg, want 1.5 within 20%%, and not exactly", heavy)
	}
	r.must(r.Reset(8))
	eight, light := r.fall()
	if eight == seven || light == heavy {
		t.Errorf("two seeds: got the same robot of %g kg", light)
	}
	for _, c := range []struct {
		seed int64
		want uint64
		mass float64
	}{{7, seven, heavy}, {0, seven, heavy}, {8, eight, light}, {7, seven, heavy}} {
		r.must(r.Reset(c.seed))
		if got, mass := r.fall(); got != c.want || mass != c.mass {
			t.Errorf("reset with %d again: got %#x of %g kg, want %#x of %g kg", c.seed, got, mass, c.want, c.mass)
		}
	}
	// The hash is of the first robot alone; the second is too far to be felt.
	two := falling(t, 7, "one", "two")
	if _, mass := two.fall(); mass != heavy || two.Body("two").Model().Mass() == heavy {
		t.Errorf("with another robot: got %g kg next to %g kg, want %g kg", mass, two.Body("two").Model().Mass(), heavy)
	}
	for i := range two.body.model.Joints {
		if got, want := two.body.model.Joints[i].Strength, r.body.model.Joints[i].Strength; got != want || got == 1 {
			t.Errorf("strength next to another robot: got %g, want %g", got, want)
		}
	}
}

// A snapshot is of the robot that was drawn then.
func TestRestoreBringsTheDrawnRobotBack(t *testing.T) {
	r := falling(t, 7, "one")
	r.cycle(5)
	r.must(r.Save())
	want, mass := r.fall()
	r.must(r.body.Reshape(0, func(b *model.Body) { b.Weigh(3) }))
	r.must(r.Reset(8))
	r.cycle(3)
	r.must(r.Restore())
	if got, kg := r.fall(); got != want || r.body.model.Mass() != mass {
		t.Errorf("restored: got %#x of %g kg, want %#x of %g kg", got, kg, want, mass)
	}
	// what was set since counts from the next reset on
	r.must(r.Reset(0))
	if got := r.body.Model().Bodies[0].Mass; math.Abs(got-3) > 0.6 || math.Abs(got-3) < 1e-9 {
		t.Errorf("after the next reset: got %g kg, want about 3", got)
	}
}

// What is changed counts from the next reset on, not before, though another robot comes; what cannot be is refused.
func TestChangeWaitsForTheReset(t *testing.T) {
	r := newRig(t, "a-series", 1)
	other, err := r.Add("other", r.body.next, hal.Pose{Position: [3]float64{2, 0, 0}})
	r.must(err)
	foot := r.body.model.Body("left_foot")
	at := other.Pose(foot)
	weight := func() float64 { return r.system.Model().Mass() } // of all
	was, one, light := weight(), other.model.Mass(), other.model.Bodies[foot].Mass
	r.must(other.Reshape(foot, func(b *model.Body) { b.Weigh(0.5) }))
	if got := other.Model().Bodies[foot].Mass; got != 0.5 {
		t.Errorf("once it is set: got %g kg, want 0.5", got)
	}
	if got := other.Pose(foot); got != at {
		t.Errorf("once it is set: the foot is at %v, want it still at %v", got, at)
	}
	_, err = r.Add("third", r.body.next, hal.Pose{Position: [3]float64{4, 0, 0}})
	r.must(err)
	if got := weight(); math.Abs(got-was-one) > 1e-9 {
		t.Errorf("before the reset: got %g kg, want %g", got, was+one)
	}
	r.must(r.Reset(0))
	if got, want := weight(), was+one+0.5-light; math.Abs(got-want) > 1e-9 {
		t.Errorf("after the reset: got %g kg, want %g", got, want)
	}
	for what, spoil := range map[string]func(*model.Body){
		"a negative mass":  func(b *model.Body) { b.Mass = -1 },
		"no number":        func(b *model.Body) { b.CentreOfMass[1] = math.NaN() },
		"no such inertia":  func(b *model.Body) { b.Inertia[0] = 100 },
		"a negative width": func(b *model.Body) { b.Shapes[0].Half[0] = -1 },
	} {
		if err := other.Reshape(foot, spoil); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: got %v, want it refused", what, err)
		}
	}
	if got := other.Model().Bodies[foot]; got.Mass != 0.5 || got.CentreOfMass[1] != 0 {
		t.Errorf("after what was refused: got %+v", got)
	}
}

// Loose things and the ground are changed and placed as robots are, and keep what was set with every seed.
func TestThings(t *testing.T) {
	m, err := model.LoadSimloid(31)
	if err != nil {
		t.Fatal(err)
	}
	s := NewScene(SceneConfig{Scene: func(seed int64) (*model.Scene, error) { return model.LoadScene("shaky", seed) }})
	if s.Things() != nil || s.Ground() != nil {
		t.Error("got things before there is a world")
	}
	if _, err := s.Add("cat", m, hal.Pose{Position: [3]float64{0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Things()); n != 200 {
		t.Fatalf("got %d things, want 200", n)
	}
	up := hal.Pose{Position: [3]float64{5, 6, 7}, Rotation: [4]float64{1}}
	if err := s.PlaceThing(3, up); err != nil {
		t.Fatal(err)
	}
	b, p, _ := s.Thing(3)
	if p != up {
		t.Errorf("placed: got %v, want %v", p, up)
	}
	before := s.system.Model().Mass()
	if err := s.ChangeThing(3, func(b *model.Body) {
		b.Weigh(9)
		b.Resize(0, 0, [3]float64{0.5, 0.5, 0.5})
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetGround(model.Material{Friction: 0.1}); err != nil {
		t.Fatal(err)
	}
	if got := s.system.Model().Mass(); got != before {
		t.Errorf("before the reset: got %g kg, want %g", got, before)
	}
	light := b.Mass
	for _, seed := range []int64{0, 5, 6} {
		if err := s.Reset(seed); err != nil {
			t.Fatal(err)
		}
		if b, _, _ := s.Thing(3); b.Mass != 9 || s.ground.Ground.Friction != 0.1 {
			t.Errorf("after a reset with %d: got %g kg on a friction of %g, want 9 on 0.1", seed, b.Mass,
				s.ground.Ground.Friction)
		}
		if got, want := s.system.Model().Mass(), before-light+9; seed == 0 && math.Abs(got-want) > 1e-9 {
			t.Errorf("after the reset: got %g kg, want %g", got, want)
		}
	}
	for what, err := range map[string]error{
		"no mass":    s.ChangeThing(3, func(b *model.Body) { b.Mass = -1 }),
		"no thing":   s.ChangeThing(200, func(*model.Body) {}),
		"nowhere":    s.PlaceThing(3, hal.Pose{Position: [3]float64{math.NaN()}, Rotation: [4]float64{1}}),
		"no turn":    s.PlaceThing(3, hal.Pose{}.Times(hal.Pose{Position: [3]float64{math.Inf(1)}})),
		"no surface": s.SetGround(model.Material{Friction: -1}),
	} {
		if hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: got %v, want it refused", what, err)
		}
	}
}

// Touches are not recorded before WatchTouches; then each pair is reported once a cycle, without allocation.
func TestTouches(t *testing.T) {
	r := newRig(t, "a-series", 1)
	r.cycle(300) // it falls
	count := map[string]int{}
	tell := func(a, b hal.Part) { count[a.Agent+"/"+a.Body+" "+b.Agent+"/"+b.Body]++ }
	if r.Touches(tell); len(count) > 0 {
		t.Errorf("unasked: got %v", count)
	}
	r.WatchTouches()
	r.cycle(20)
	r.Touches(tell)
	ground := 0
	for pair, n := range count {
		if n != 1 {
			t.Errorf("%s: reported %d times, want once", pair, n)
		}
		if strings.HasPrefix(pair, "/ a-series/") {
			ground++
		}
	}
	if ground < 2 {
		t.Errorf("lying on the ground: got %v", count)
	}
	told := 0
	tell = func(a, b hal.Part) { told++ }
	if n := testing.AllocsPerRun(50, func() { r.cycle(1); r.Touches(tell) }); n > 0 || told == 0 {
		t.Errorf("a cycle: got %g allocations and %d touches, want none and some", n, told)
	}
	r.must(r.Reset(0))
	if told = 0; true {
		r.Touches(tell)
	}
	if told != 0 {
		t.Errorf("after a reset: got %d touches, want none", told)
	}
}
