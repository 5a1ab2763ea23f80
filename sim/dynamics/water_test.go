package dynamics_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// randomAdded is any inertia that water may have: G G' of random G.
func randomAdded(r *rand.Rand) *[6][6]float64 {
	var g, a [6][6]float64
	for i := range g {
		for j := range g {
			g[i][j] = r.NormFloat64()
		}
	}
	for i := range a {
		for j := range a {
			for k := range a {
				a[i][j] += float64(g[i][k] * g[j][k])
			}
		}
	}
	for i := range a {
		for j := range i {
			a[i][j] = a[j][i]
		}
	}
	return &a
}

func diagonal(d ...float64) *[6][6]float64 {
	var a [6][6]float64
	for i, x := range d {
		a[i][i] = x
	}
	return &a
}

// diver is one free body of m kg and 1 kg·m² in water.
func diver(m float64, added *[6][6]float64, o dynamics.Options) dynamics.Spec {
	return dynamics.Spec{Options: o, Bodies: []dynamics.Body{{
		Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Free}, Mass: m,
		Inertia: [9]float64{0: 1, 4: 1, 8: 1}, Added: added,
	}}}
}

// What holds for any tree holds for one in water: forward and inverse dynamics, both recursions, and the energy of the
// mass matrix agree.
func TestWaterIdentities(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 30))
		spec := randomTree(r, 2+r.IntN(8))
		for i := range spec.Bodies {
			if i == 0 || r.IntN(2) == 0 {
				spec.Bodies[i].Added = randomAdded(r)
			}
		}
		spec.Options.Articulated = -1
		s := system(t, spec)
		spec.Options.Articulated = 1
		other := system(t, spec)
		scramble(r, s)
		for b := range s.Water {
			s.Water[b] = dynamics.Water{Share: r.Float64(), Current: [3]float64{r.Float64(), r.Float64(), r.Float64()},
				Drag: [6]float64{1, 2, 3, 4, 5, 6}, Centre: [3]float64{0.1, r.Float64(), 0}}
		}
		if err := s.Save(&other.State); err != nil {
			t.Fatal(err)
		}
		other.Moved()
		nv := len(s.V)
		qdd, aba, tau, h := make([]float64, nv), make([]float64, nv), make([]float64, nv), make([]float64, nv*nv)
		if err := errors.Join(s.ForwardDynamics(1e-3, qdd), other.ForwardDynamics(1e-3, aba)); err != nil {
			t.Fatal(seed, err)
		}
		s.InverseDynamics(qdd, tau)
		size := 1.0
		for _, a := range qdd {
			size = math.Max(size, math.Abs(a))
		}
		for i := range qdd {
			near(t, "aba - crba", aba[i], qdd[i], 1e-8*size)
			near(t, "rnea(forward(0))", tau[i], 0, 1e-8*size)
		}
		for b := range s.Water {
			s.Water[b].Current = [3]float64{}
		}
		s.MassMatrix(h)
		energy := 0.0
		for i, v := range s.V {
			for j, w := range s.V {
				energy += h[i*nv+j] * v * w / 2
			}
		}
		kinetic, _ := s.Energy()
		near(t, "energy of the mass matrix", kinetic, energy, 1e-9*(1+energy))
		// And the implicit drag is the same in both.
		if err := errors.Join(s.Step(1e-3), other.Step(1e-3)); err != nil {
			t.Fatal(seed, err)
		}
	}
}

// Kirchhoff: in a fluid without friction nothing is lost, neither energy nor the momenta of body and water together,
// however crooked the added inertia. Without C_A it would be.
func TestKirchhoff(t *testing.T) {
	rk4 := dynamics.Options{Integrator: dynamics.RK4}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 31))
		spec := diver(2, randomAdded(r), rk4)
		spec.Bodies[0].COM = [3]float64{0.1, -0.2, 0.3}
		s := system(t, spec)
		scramble(r, s)
		conserved(t, s, 1000, 1e-7)
	}
	// Two in one, with a joint between.
	r := rand.New(rand.NewPCG(9, 31))
	spec := diver(2, randomAdded(r), rk4)
	spec.Bodies = append(spec.Bodies, dynamics.Body{
		Parent: 0, Position: [3]float64{0.5, 0, 0},
		Joint: dynamics.Joint{Kind: dynamics.Hinge, Axis: [3]float64{1, 1, 0}},
		Mass:  1, COM: [3]float64{0, 0, 0.2}, Inertia: [9]float64{0: 0.1, 4: 0.1, 8: 0.1}, Added: randomAdded(r),
	}, dynamics.Body{Parent: 1, Position: [3]float64{0, 0.3, 0.1}, Rotation: [4]float64{0.8, 0, 0.6, 0},
		Added: randomAdded(r)})
	s := system(t, spec)
	scramble(r, s)
	conserved(t, s, 1000, 1e-7)
}

// Munk's moment: a body that drifts across its long axis is turned with (A_y - A_x) u v.
func TestMunk(t *testing.T) {
	s := system(t, diver(10, diagonal(5, 20, 20, 1, 2, 3), dynamics.Options{}))
	u, v := 1.5, 0.4
	s.V[0], s.V[1] = u, v
	s.Moved()
	qdd := make([]float64, 6)
	if err := s.ForwardDynamics(1e-3, qdd); err != nil {
		t.Fatal(err)
	}
	near(t, "yaw acceleration", qdd[5], -(20-5)*u*v/(1+3), 1e-12)
	// In a current it is the velocity through the water that counts.
	s.V[0] += 0.7
	s.Water[0].Current = [3]float64{0.7, 0, 0}
	if err := s.ForwardDynamics(1e-3, qdd); err != nil {
		t.Fatal(err)
	}
	near(t, "yaw acceleration in a current", qdd[5], -(20-5)*u*v/(1+3), 1e-12)
}

// A current is nothing but a moving world: a body that drifts with it moves as in still water.
func TestCurrent(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 32))
	added := randomAdded(r)
	drag := [6]float64{3, 5, 7, 1, 2, 3}
	c := [3]float64{0.8, -0.3, 0.2}
	still, moving := system(t, diver(3, added, dynamics.Options{})), system(t, diver(3, added, dynamics.Options{}))
	scramble(r, still)
	if err := moving.Restore(&still.State); err != nil {
		t.Fatal(err)
	}
	for i, x := range c {
		moving.V[i] += x
	}
	still.Water[0].Drag, moving.Water[0].Drag = drag, drag
	moving.Water[0].Current = c
	steps(t, still, 1000, 1e-3)
	steps(t, moving, 1000, 1e-3)
	for i := range 3 {
		near(t, "velocity", moving.V[i]-c[i], still.V[i], 1e-9)
		near(t, "spin", moving.V[3+i], still.V[3+i], 1e-9)
		near(t, "way", moving.Q[i]-c[i], still.Q[i], 1e-9)
	}
}

// Gravity pulls at the body and not at the water: a sphere, whose added mass is half of what it displaces, falls with
// (m - d) g / (m + d/2). Out of the water it falls as all things do.
func TestAddedFall(t *testing.T) {
	const m, d = 2.0, 1.5
	s := system(t, diver(m, diagonal(d/2, d/2, d/2, 0, 0, 0), dynamics.Options{Gravity: down}))
	s.Force[0].Force[2] = d * 9.81
	steps(t, s, 100, 1e-3)
	near(t, "in water", s.V[2], -0.1*9.81*(m-d)/(m+d/2), 1e-12)
	s.Reset()
	s.Water[0].Share = 0
	steps(t, s, 100, 1e-3)
	near(t, "in air", s.V[2], -0.981, 1e-12)
}

// Drag is implicit: a thousand times what an explicit step would allow neither overshoots nor changes the terminal
// speed, and an added mass a thousand times that of the body is only inertia.
func TestStiffWater(t *testing.T) {
	s := system(t, diver(1, diagonal(1e3, 1e3, 1e3, 1e3, 1e3, 1e3), dynamics.Options{}))
	s.Force[0].Force = [3]float64{1001, 0, 0}
	steps(t, s, 1000, 1e-3)
	near(t, "speed after 1 s of 1 m/s²", s.V[0], 1, 1e-9)
	s = system(t, diver(1, diagonal(0), dynamics.Options{}))
	s.V[0], s.V[3] = 2, 2
	s.Water[0].Drag = [6]float64{1e6, 1e6, 1e6, 1e6, 1e6, 1e6}
	s.Force[0].Force = [3]float64{3, 0, 0}
	last := s.V[0]
	for range 20 {
		steps(t, s, 1, 1e-3)
		if !(s.V[0] > 0 && s.V[0] <= last && s.V[3] >= 0) {
			t.Fatalf("got %g m/s after %g, %g rad/s; want neither overshoot nor growth", s.V[0], last, s.V[3])
		}
		last = s.V[0]
	}
	near(t, "terminal speed", s.V[0], 3e-6, 1e-12)
}

// Drag off the origin turns the body, as a force at that point does.
func TestDragCentre(t *testing.T) {
	s := system(t, diver(2, diagonal(0), dynamics.Options{}))
	s.V[0] = 1
	s.Water[0] = dynamics.Water{Drag: [6]float64{4, 9, 9, 0, 0, 0}, Centre: [3]float64{0.5, 0, 0.1}}
	qdd := make([]float64, 6)
	if err := s.ForwardDynamics(1e-3, qdd); err != nil {
		t.Fatal(err)
	}
	near(t, "deceleration", qdd[0], -2, 1e-12)
	near(t, "pitch", qdd[4], -0.4, 1e-12)
}

// A dry robot moves the same to the bit with a swimming one in the system. A body without weight in water moves as in
// air.
func TestDryBeside(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 33))
	spec := randomTree(r, 6)
	dry := system(t, spec)
	spec.Bodies = append(spec.Bodies, diver(1, randomAdded(r), dynamics.Options{}).Bodies...)
	beside := system(t, spec)
	scramble(r, dry)
	copy(beside.Q, dry.Q)
	copy(beside.V, dry.V)
	beside.Moved()
	steps(t, dry, 200, 1e-3)
	steps(t, beside, 200, 1e-3)
	for i := range dry.Q {
		if math.Float64bits(dry.Q[i]) != math.Float64bits(beside.Q[i]) {
			t.Fatalf("coordinate %d: got %v beside a wet body, %v alone", i, beside.Q[i], dry.Q[i])
		}
	}
	if len(dry.Water) != 0 || len(beside.Water) != 7 {
		t.Errorf("water: got %d and %d entries, want 0 and 7", len(dry.Water), len(beside.Water))
	}
	air, none := system(t, diver(2, nil, dynamics.Options{Gravity: down})),
		system(t, diver(2, diagonal(0), dynamics.Options{Gravity: down}))
	scramble(r, air)
	copy(none.Q, air.Q)
	copy(none.V, air.V)
	steps(t, air, 500, 1e-3)
	steps(t, none, 500, 1e-3)
	for i := range air.Q {
		near(t, "without inertia or drag", none.Q[i], air.Q[i], 1e-12)
	}
}

// Water is part of the state, a step in it allocates nothing, and what is not a number is named.
func TestWaterState(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 34))
	s := system(t, diver(3, randomAdded(r), dynamics.Options{Gravity: down}))
	s.Water[0] = dynamics.Water{Share: 0.5, Current: [3]float64{1, 0, 0}, Drag: [6]float64{1, 1, 1, 1, 1, 1}}
	saved := s.NewState()
	if err := s.Save(saved); err != nil {
		t.Fatal(err)
	}
	before := s.Hash()
	steps(t, s, 10, 1e-3)
	after := s.Hash()
	s.Water[0].Share = 1
	if s.Hash() == after {
		t.Error("hash: got the same for another share")
	}
	if err := s.Restore(saved); err != nil || s.Hash() != before {
		t.Errorf("restored: got %v and another hash", err)
	}
	steps(t, s, 10, 1e-3)
	if s.Hash() != after {
		t.Error("after the restore: got another future")
	}
	if n := testing.AllocsPerRun(50, func() { steps(t, s, 1, 1e-3) }); n > 0 {
		t.Errorf("got %g allocations a step, want 0", n)
	}
	s.Water[0].Drag[2] = math.NaN()
	var bad *dynamics.Diverged
	if err := s.Step(1e-3); !errors.As(err, &bad) || bad.What != "water" {
		t.Errorf("drag of NaN: got %v, want it named", err)
	}
	for _, a := range []*[6][6]float64{
		diagonal(-1), diagonal(math.NaN()), {0: {1, 2}, 1: {2, 1}}, {0: {1, 1}, 1: {0, 1}}, {0: {1: 1}, 1: {0: 1}},
	} {
		var faults dynamics.Faults
		if _, err := dynamics.New(diver(1, a, dynamics.Options{})); !errors.As(err, &faults) ||
			faults[0].Path != "bodies[0].added" {
			t.Errorf("added %v: got %v, want a fault", a, err)
		}
	}
}

// In still water with drag and without gravity all motion stops: energy falls with every step, for every tree.
func TestWaterCalms(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 35))
		spec := randomTree(r, 1+r.IntN(5))
		for i := range spec.Bodies {
			spec.Bodies[i].Added = randomAdded(r)
		}
		spec.Options = dynamics.Options{Integrator: dynamics.RK4}
		s := system(t, spec)
		scramble(r, s)
		for b := range s.Water {
			s.Water[b].Drag = [6]float64{5, 5, 5, 5, 5, 5}
		}
		last, _ := s.Energy()
		first := last
		for range 500 {
			steps(t, s, 1, 1e-3)
			now, _ := s.Energy()
			if !(now <= last*(1+1e-12)) {
				t.Fatalf("tree %d: got %g J after %g, want less", seed, now, last)
			}
			last = now
		}
		if last > 0.9*first {
			t.Errorf("tree %d: got %g J of %g left", seed, last, first)
		}
	}
}
