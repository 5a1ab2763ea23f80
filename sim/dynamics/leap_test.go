package dynamics

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/sim/collide"
)

// plough is a slender robot that is pushed along: two feet of four corners each, one that slides and turns and one that
// holds, dry joints, a joint in its stop, and an outrigger that hangs in the air.
func plough(t *testing.T, torsion float64) *System {
	t.Helper()
	cube := func(m float64) [9]float64 { return [9]float64{0: 0.004 * m, 4: 0.005 * m, 8: 0.006 * m} }
	rough := collide.Material{Friction: 0.7, Torsion: torsion}
	spec := Spec{
		Bodies: []Body{
			{Parent: World, Position: [3]float64{0, 0, 0.3}, Joint: Joint{Kind: Free}, Mass: 3, Inertia: cube(3)},
			{Parent: 0, Joint: Joint{Kind: Hinge, Axis: [3]float64{0, 1, 0}, Dry: 2}, Position: [3]float64{0, 0.1, 0},
				Mass: 0.5, COM: [3]float64{0, 0, -0.1}, Inertia: cube(0.5)},
			{Parent: 1, Joint: Joint{Kind: Hinge, Axis: [3]float64{1, 0, 0}, Dry: 0.01, Limited: true,
				Limits: [2]float64{0, 1}}, Position: [3]float64{0, 0, -0.25}, Mass: 0.4, Inertia: cube(0.4)},
			{Parent: 0, Joint: Joint{Kind: Hinge, Axis: [3]float64{0, 1, 0}, Dry: 0.1},
				Position: [3]float64{0, -0.1, 0}, Mass: 0.5, COM: [3]float64{0, 0, -0.1}, Inertia: cube(0.5)},
			{Parent: 3, Joint: Joint{Kind: Hinge, Axis: [3]float64{1, 0, 0}, Dry: 1}, Position: [3]float64{0, 0, -0.25},
				Mass: 0.4, Inertia: cube(0.4)},
		},
		Geoms: []collide.Geom{{Shape: collide.Shape{Kind: collide.Plane}, Material: rough, Body: World,
			Local: collide.Identity()}},
		Options: Options{Gravity: [3]float64{0, 0, -9.81}, Tolerance: 1e-8, Iterations: 100_000},
	}
	for _, b := range [...]int{2, 4} {
		spec.Geoms = append(spec.Geoms, collide.Geom{
			Shape:    collide.Shape{Kind: collide.Box, Half: [3]float64{0.06, 0.04, 0.03}},
			Material: rough, Body: b, Local: collide.At(0.01, 0, -0.02005),
		})
	}
	m, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSystem(m)
	if err != nil {
		t.Fatal(err)
	}
	s.Force[0] = Wrench{Force: [3]float64{14, 3, 0}, Torque: [3]float64{0, 0, 1.5}}
	s.Tau[7] = -1
	return s
}

// A solve with leaps gives the same accelerations as sweeps without leaps run to convergence, with a few sweeps instead
// of hundreds, for sticking, sliding and opening contacts.
func TestLeapIsTheSolution(t *testing.T) {
	for _, torsion := range []float64{0, 0.01, -1} {
		s := plough(t, max(torsion, 0))
		if torsion < 0 {
			s = pile(t)
		}
		alone, leapt := make([]float64, len(s.V)), make([]float64, len(s.V))
		slid, held, open, far, quick, ran := 0, 0, 0, 0.0, 0, 0
		n, few, most := 400, 10, 0.75
		if torsion < 0 {
			n, few, most = 100, 0, 0.4
		}
		for i := range n {
			s.solver.leaps = 0
			if err := s.ForwardDynamics(1e-3, alone); err != nil {
				t.Fatal(err)
			}
			sweeps := s.solver.sweeps
			s.solver.leaps = mostLeaps
			if err := s.ForwardDynamics(1e-3, leapt); err != nil {
				t.Fatal(err)
			}
			v := &s.solver
			for j := range v.blocks {
				switch k := &v.blocks[j]; {
				case k.kind != contact:
				case v.row[k.row].f <= 0:
					open++
				case k.push > 0:
					slid++
				default:
					held++
				}
			}
			if sweeps < 100_000 { // sweeps alone do not always end
				ran++
				if v.sweeps <= 10 {
					quick++
				}
				size, off := 0.0, 0.0
				for j := range alone {
					size, off = max(size, math.Abs(alone[j])), max(off, math.Abs(alone[j]-leapt[j]))
				}
				far = max(far, off/(1+size))
			}
			if err := s.Step(1e-3); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		t.Logf("torsion %g: %d steps, %d contacts slid, %d held, %d open; %d steps of at most 10 sweeps, "+
			"accelerations off by %.1e", torsion, ran, slid, held, open, quick, far)
		if slid < 100 || torsion <= 0 && held < 100 || open < few || ran < n*3/4 {
			t.Errorf("got %d contacts that slid, %d that held, %d open in %d steps, want many of each", slid, held,
				open, ran)
		}
		if far > 5e-5 || float64(quick) < most*float64(ran) {
			t.Errorf("leaps: got accelerations off by %g and %d of %d steps of at most 10 sweeps, want 5e-5 and %g "+
				"of them", far, quick, ran, most)
		}
	}
}

// pile is four crates on one another, the lowest of which is pulled away under the others.
func pile(t *testing.T) *System {
	t.Helper()
	rough := collide.Material{Friction: 0.4}
	spec := Spec{
		Geoms: []collide.Geom{{Shape: collide.Shape{Kind: collide.Plane}, Material: rough, Body: World,
			Local: collide.Identity()}},
		Options: Options{Gravity: [3]float64{0, 0, -9.81}, Tolerance: 1e-8, Iterations: 100_000},
	}
	for i := range 4 {
		x := float64(i)
		spec.Bodies = append(spec.Bodies, Body{
			Parent: World, Position: [3]float64{0.01 * x, -0.005 * x * x, 0.0499 + 0.0999*x}, Joint: Joint{Kind: Free},
			Mass: 1 + 0.3*x, Inertia: [9]float64{0: 0.004, 4: 0.005, 8: 0.006},
		})
		spec.Geoms = append(spec.Geoms, collide.Geom{
			Shape:    collide.Shape{Kind: collide.Box, Half: [3]float64{0.1, 0.08, 0.05}},
			Material: rough, Body: i, Local: collide.Identity(),
		})
	}
	m, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSystem(m)
	if err != nil {
		t.Fatal(err)
	}
	s.Force[0].Force = [3]float64{40, 4, 0}
	return s
}

// The envelope's factor solves what its matrix is, with neighbours far apart as well.
func TestEnvelope(t *testing.T) {
	s := pile(t)
	qdd := make([]float64, len(s.V))
	if err := s.ForwardDynamics(1e-3, qdd); err != nil {
		t.Fatal(err)
	}
	v, e := &s.solver, &s.solver.joint
	island := v.order[v.starts[0]:v.starts[1]]
	if v.trees(s.m, island); !e.plan(v, s.m, island) {
		t.Fatal("got no plan")
	}
	e.unit()
	n := e.n
	whole := make([]float64, n*n)
	for i := range n {
		whole[i*n+i] = 1
	}
	for _, i := range island {
		k := &v.blocks[i]
		v.role(k, v.row[k.row:][:k.rows])
		v.stiffen(s.m, k)
		index, y, slope := v.index[k.index:][:k.count], v.values[k.values:], v.slope[k.square:]
		for x, p := range index {
			for z, q := range index {
				for a := range 3 {
					for b := range 3 {
						whole[int(e.local[p])*n+int(e.local[q])] += y[3*x+a] * slope[3*a+b] * y[3*z+b]
					}
				}
			}
		}
	}
	if !e.factor() {
		t.Fatal("got no factor")
	}
	z, want := make([]float64, len(s.V)), make([]float64, n)
	for i := range z {
		z[i] = float64(i%7) - 3
	}
	right := append([]float64{}, z...)
	e.solve(s.m, z)
	for i := range s.V {
		for j := range s.V {
			want[i] += whole[int(e.local[i])*n+int(e.local[j])] * z[j]
		}
	}
	for i := range want {
		if math.Abs(want[i]-right[i]) > 1e-8 {
			t.Fatalf("row %d: got %g, want %g", i, want[i], right[i])
		}
	}
}

func TestEliminate(t *testing.T) {
	a := []float64{0, 2, 1, 1, -2, -3, -1, 1, 2}
	x := []float64{-8, 0, 3}
	if !eliminate(a, x) || math.Abs(x[0]+4) > 1e-14 || math.Abs(x[1]+5) > 1e-14 || math.Abs(x[2]-2) > 1e-14 {
		t.Errorf("got %v, want -4, -5, 2", x)
	}
	if eliminate([]float64{1, 2, 2, 4}, []float64{1, 2}) {
		t.Error("singular: got a solution")
	}
}
