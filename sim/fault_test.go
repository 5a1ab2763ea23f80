package sim

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/model"
)

// hash is of all that the scene is made of, the system's whole state.
func (s *Scene) hash() uint64 { return s.system.Hash() }

// crowd is wildcat1 among rocks, and a humanoid on top of it, so that all touch all.
func crowd(t testing.TB) (*rig, *rand.Rand) {
	r := newStress(t, stress{robot: "simloid-31", scene: "shaky", amid: true})
	m, err := model.LoadSimloid(50)
	r.must(err)
	_, err = r.Add("other", m, hal.Pose{Position: [3]float64{0.1, -3.1, 0.42}})
	r.must(err)
	return r, rand.New(rand.NewPCG(5, 6))
}

// babbled runs n cycles and returns the hashes.
func (r *rig) babbled(rng *rand.Rand, n int) (h []uint64) {
	for range n {
		r.babble(rng)
		r.cycle(1)
		h = append(h, r.hash())
	}
	return h
}

func same(t *testing.T, what string, want, got []uint64) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: cycle %d: got state %#x, want %#x", what, i, got[i], want[i])
			return
		}
	}
}

// A scene where everything touches everything goes on from a snapshot as it did the first time, to the bit, and two
// runs are the same on one processor and on eight.
func TestCrowdRepeats(t *testing.T) {
	const before, after = 30, 120
	one, rng := crowd(t)
	one.babbled(rng, before)
	one.must(one.Save())
	inputs, enable := slices.Clone(one.frame.Inputs), slices.Clone(one.frame.Enable)
	want := one.babbled(rand.New(rand.NewPCG(7, 8)), after)
	between := 0
	for i := range one.system.Touches() {
		c := one.system.Touch(i).Contact
		a, b := one.system.Geom(int(c.A)).Body, one.system.Geom(int(c.B)).Body
		if min(a, b) >= 0 && (a < one.thing) != (b < one.thing) {
			between++
		}
	}
	if between == 0 {
		t.Error("no robot touches a rock: this tests little")
	}
	for what, do := range map[string]func(){
		"at once":                   func() {},
		"after a reset":             func() { one.must(one.Reset(0)); one.babbled(rng, 10) },
		"after one to another seed": func() { one.must(one.Reset(9)); one.babbled(rng, 10) },
	} {
		do()
		one.must(one.Restore())
		copy(one.frame.Inputs, inputs)
		copy(one.frame.Enable, enable)
		same(t, "restored "+what, want, one.babbled(rand.New(rand.NewPCG(7, 8)), after))
	}
	for _, n := range []int{1, 8} {
		old := runtime.GOMAXPROCS(n)
		two, rng := crowd(t)
		two.babbled(rng, before)
		same(t, "second run", want, two.babbled(rand.New(rand.NewPCG(7, 8)), after))
		runtime.GOMAXPROCS(old)
	}
}

// A push that a snapshot holds lasts for one Advance after it is restored too.
func TestSnapshotOfPush(t *testing.T) {
	r := newStress(t, stress{robot: "simloid-31", scene: "flat"})
	r.cycle(10)
	r.must(r.Push("robot", r.body.parts[r.body.root].Name, [3]float64{20, 0, 0}))
	r.must(r.Save())
	run := func() (h []uint64) {
		for range 20 {
			r.cycle(1)
			h = append(h, r.hash())
		}
		return h
	}
	want := run()
	r.must(r.Restore())
	same(t, "restored", want, run())
}

// A snapshot stays valid when another robot is added and removed: the others return to their state, and stay finite.
func TestSnapshotBeforeCompany(t *testing.T) {
	r := newStress(t, stress{robot: "simloid-31", scene: "shaky", amid: true})
	rng := rand.New(rand.NewPCG(5, 6))
	r.babbled(rng, 30)
	r.must(r.Save())
	poses := func() (p []hal.Pose) {
		for i := range r.body.parts {
			p = append(p, r.body.Pose(i))
		}
		for i := range r.ground.Free {
			p = append(p, hal.Pose(r.system.Pose(r.thing+i)))
		}
		return p
	}
	want := poses()
	check := func(what string) {
		t.Helper()
		r.must(r.Restore())
		moved := 0
		for i, p := range poses() {
			if p != want[i] {
				moved++
			}
		}
		if moved > 0 {
			t.Errorf("%s: %d of %d bodies are not where they were", what, moved, len(want))
		}
	}
	r.babbled(rng, 20)
	m, err := model.Load("a-series")
	r.must(err)
	_, err = r.Add("other", m, hal.Pose{Position: [3]float64{1, 0, 0}})
	r.must(err)
	r.babbled(rng, 20)
	check("a robot was added")
	r.babbled(rng, 20)
	r.must(r.Remove("other"))
	r.babbled(rng, 20)
	check("and removed")
	r.babbled(rng, 20)
}

// finiteNow reports whether all that the rig reads is finite.
func (r *rig) finiteNow() bool {
	r.must(r.body.Read(r.frame))
	for _, v := range r.frame.Measured {
		if v-v != 0 {
			return false
		}
	}
	for i := range r.body.parts {
		if p := r.body.Pose(i); p.Position[0]-p.Position[0] != 0 || p.Rotation[0]-p.Rotation[0] != 0 {
			return false
		}
	}
	return true
}

// reshape gives one of wildcat1's legs another mass from a reset on.
func (r *rig) reshape(mass float64) {
	r.must(r.body.Change(func(m *model.Robot) {
		b := &m.Bodies[m.Body("lflu")]
		b.Mass, b.Inertia = mass, [6]float64{1e-3 * mass, 1e-3 * mass, 1e-3 * mass}
	}))
	r.must(r.Reset(0))
}

// What would tear a robot apart stops it: the error says whose joint it was, the robot has torque off, nothing that can
// be read is ever not a number, the rest of the scene goes on, and a reset heals it.
func TestDivergedRobotIsLimp(t *testing.T) {
	for what, spoil := range map[string]func(r *rig){
		"push":    func(r *rig) { r.must(r.Push("robot", "lfll", [3]float64{9e5, 9e5, 9e5})) },
		"light":   func(r *rig) { r.reshape(1e-9) },
		"heavy":   func(r *rig) { r.reshape(1e8) },
		"gravity": func(r *rig) { r.must(r.SetGravity([3]float64{0, 0, 1e4})) },
		"motor": func(r *rig) {
			r.must(r.SetMotor("robot", []float64{1e5, 1e5, 1e-5, 1e-5, 0, 0, 0, 1e-3, 1e6, 1e6}))
			for i, a := range r.body.Layout().Actuators {
				r.frame.Inputs[a.Goal[hal.PositionMode]] = math.NaN()
				voltage(r, i, 1)
			}
		},
	} {
		r := newStress(t, stress{robot: "simloid-31", scene: "flat"})
		m, err := model.LoadSimloid(90)
		r.must(err)
		other, err := r.Add("other", m, hal.Pose{Position: [3]float64{2, 2, 0}})
		r.must(err)
		r.cycle(10)
		stand(false)(r, 0)
		own := slices.Clone(r.body.Model().Bodies)
		spoil(r)
		var fault error
		begun := r.system.Time
		for range 300 {
			r.must(r.body.Write(r.frame))
			if err := r.Advance(period); err != nil && fault == nil {
				fault = err
			}
			if !r.finiteNow() {
				t.Fatalf("%s: something that is not finite was read", what)
			}
		}
		t.Logf("%s: %v", what, fault)
		if fault == nil {
			if what == "push" || what == "motor" {
				t.Errorf("%s: nothing diverged", what)
			}
		} else {
			if hal.KindOf(fault) != hal.Unsafe || !strings.Contains(fault.Error(), "robot/") {
				t.Errorf("%s: got %v, want an unsafe error that names the robot", what, fault)
			}
			if r.frame.Status[0].Err == nil {
				t.Errorf("%s: its joints do not report it", what)
			}
			if r.fault == nil && !(r.system.Time > begun+2.9) {
				t.Errorf("%s: got %g s, want time to go on for the others", what, r.system.Time-begun)
			}
			if other.fault != nil {
				t.Errorf("%s: the other robot has torque off too", what)
			}
		}
		// heals
		r.must(r.body.Change(func(m *model.Robot) { copy(m.Bodies, own) }))
		r.must(r.SetGravity([3]float64{0, 0, -9.81}))
		r.must(r.Reset(0))
		for i := range r.frame.Inputs {
			r.frame.Inputs[i] = math.NaN()
		}
		r.enable(false)
		r.cycle(100)
		if r.frame.Status[0].Err != nil || r.fault != nil {
			t.Errorf("%s: after a reset: got %v, %v", what, r.frame.Status[0].Err, r.fault)
		}
	}
}

// The integration error of the original's hinges never adds more than the motor's own torque, at any joint speed.
func TestOpenIsBounded(t *testing.T) {
	for _, v := range []float64{10, 100, 1e4, -1e5} {
		m := motor{velocity: v}
		for range 20 {
			m.torque = 0
			m.open(0.01, 0.01, 2)
			if !(math.Abs(m.torque) <= 2) {
				t.Errorf("at %g rad/s: got %g N·m, want at most 2", v, m.torque)
			}
		}
	}
}

// A cycle among rocks, asleep and awake, does not allocate.
func TestCrowdNoAllocation(t *testing.T) {
	r, rng := crowd(t)
	r.babbled(rng, 30)
	if n := testing.AllocsPerRun(50, func() { r.cycle(1) }); n != 0 {
		t.Errorf("a cycle allocates %g times", n)
	}
}

// A snapshot of a scene that has become empty holds none of the robots that were in the one before.
func TestSnapshotOfEmptyScene(t *testing.T) {
	r := newStress(t, stress{robot: "simloid-31", scene: "flat"})
	r.must(r.Save())
	r.must(r.Remove("robot"))
	r.must(r.Save())
	m, err := model.Load("simloid-31")
	r.must(err)
	r.body, err = r.Add("robot", m, hal.Pose{})
	r.must(err)
	r.must(r.Restore())
	r.enable(true)
	r.cycle(1)
}
