package dynamics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// randomContact makes the rows and the matrix of a contact with n rows; its friction has these bounds.
func randomContact(r *rand.Rand, n int) ([]row, []float64) {
	rows := make([]row, n)
	l, a := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		rows[i] = row{f: r.Float64(), bound: 0.1 + r.Float64()}
		for j := range i {
			l[i*n+j] = 0.4 * r.NormFloat64()
		}
		l[i*n+i] = 0.5 + r.Float64()
	}
	for i := range n {
		for j := range n {
			for k := range n {
				a[i*n+j] += l[i*n+k] * l[j*n+k]
			}
		}
	}
	return rows, a
}

// The friction that grip finds is the minimum of f'Af/2 + f'c within the ellipsoid: no feasible neighbour is better,
// and where it is inside, nothing is left of the row's acceleration.
func TestGripIsTheMinimum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	slid, held := 0, 0
	for trial := range 2000 {
		n := [...]int{3, 4, 6}[trial%3]
		rows, a := randomContact(r, n)
		var rest, df [maxRows]float64
		for i := range n {
			rest[i] = 2 * r.NormFloat64()
		}
		start := rest
		k := block{push: r.Float64()}
		grip(&k, rows, a, &rest, &df)
		f := make([]float64, n)
		for i := range n {
			f[i] = rows[i].f + df[i]
		}
		if f[0] < 0 {
			t.Fatalf("normal: got %g", f[0])
		}
		// the acceleration that is left
		left := make([]float64, n)
		for i := range n {
			left[i] = start[i]
			for j := range n {
				left[i] += a[i*n+j] * df[j]
			}
		}
		size := 0.0
		for i := 1; i < n; i++ {
			size += f[i] * f[i] / (rows[i].bound * rows[i].bound)
		}
		if math.Sqrt(size) > f[0]*(1+1e-9) {
			t.Fatalf("cone: got %g, want at most %g", math.Sqrt(size), f[0])
		}
		if f[0] == 0 {
			continue
		}
		// KKT: left = -lambda f/bound², lambda >= 0, and 0 inside
		if math.Sqrt(size) < f[0]*(1-1e-6) {
			held++
			for i := 1; i < n; i++ {
				if math.Abs(left[i]) > 1e-9 {
					t.Fatalf("%d rows, inside: row %d keeps %g", n, i, left[i])
				}
			}
			continue
		}
		slid++
		lambda := 0.0
		for i := 1; i < n; i++ {
			lambda -= left[i] * f[i]
		}
		lambda /= size
		if lambda < -1e-9 {
			t.Fatalf("%d rows: friction drives: lambda %g", n, lambda)
		}
		for i := 1; i < n; i++ {
			if want := -lambda * f[i] / (rows[i].bound * rows[i].bound); math.Abs(left[i]-want) > 1e-6*(1+lambda) {
				t.Fatalf("%d rows: row %d: got %g left, want %g", n, i, left[i], want)
			}
		}
	}
	t.Logf("%d slid, %d held", slid, held)
	if slid < 50 || held < 50 {
		t.Errorf("got %d sliding and %d holding contacts, want many of both", slid, held)
	}
}

func TestGripBox(t *testing.T) {
	rows, a := []row{{f: 1}, {bound: 2}, {bound: 3}}, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	rest, df := [maxRows]float64{0, -10, 1}, [maxRows]float64{}
	grip(&block{box: true}, rows, a, &rest, &df)
	if df != [maxRows]float64{0, 2, -1} {
		t.Errorf("got %v, want 2 at its limit and -1 free", df)
	}
}

// tower is a small system with contacts, a loop and friction, for looking into the solver.
func tower(t *testing.T) *System {
	t.Helper()
	cube := [9]float64{0: 0.01, 4: 0.02, 8: 0.03}
	m := collide.Material{Friction: 0.5, Torsion: 0.01}
	spec := Spec{
		Bodies: []Body{
			{Parent: World, Position: [3]float64{0, 0, 0.099}, Joint: Joint{Kind: Free}, Mass: 1, Inertia: cube},
			{Parent: 0, Position: [3]float64{0, 0, 0.1}, Joint: Joint{Kind: Hinge, Axis: [3]float64{1, 1, 0}, Dry: 0.1},
				Mass: 1, COM: [3]float64{0.05, 0, 0.1}, Inertia: cube},
			{Parent: 1, Position: [3]float64{0, 0, 0.2}, Joint: Joint{Kind: Ball, Dry: 0.2}, Mass: 1,
				COM: [3]float64{0, 0.1, 0}, Inertia: cube},
			{Parent: World, Position: [3]float64{0.05, 0, 0.298}, Joint: Joint{Kind: Free}, Mass: 2, Inertia: cube},
		},
		Equalities: []Equality{{Kind: Point, A: 2, B: 0, AnchorA: [3]float64{0, 0, -0.2},
			AnchorB: [3]float64{0, 0, 0.1001}}},
		NoContact: [][2]int{{0, 2}, {1, 3}, {2, 3}},
		Options:   Options{Gravity: [3]float64{1, 0, -9.81}, Iterations: 2000, Tolerance: 1e-9},
	}
	for b := range 4 {
		spec.Geoms = append(spec.Geoms,
			collide.Geom{Shape: collide.Shape{Kind: collide.Box, Half: [3]float64{0.1, 0.1, 0.1}}, Material: m, Body: b,
				Local: collide.Identity()})
	}
	spec.Geoms = append(spec.Geoms, collide.Geom{Shape: collide.Shape{Kind: collide.Plane}, Material: m, Body: World,
		Local: collide.Identity()})
	model, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSystem(model)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.V {
		s.V[i] = 0.1 * float64(i%5-2)
	}
	s.Moved()
	return s
}

// Y Y' of the solver is J H^-1 J' by the public Jacobian and mass matrix, and the accelerations in the end are
// those of the free system plus H^-1 J' f.
func TestWhitening(t *testing.T) {
	s := tower(t)
	nv := len(s.V)
	free, with := make([]float64, nv), make([]float64, nv)
	h := make([]float64, nv*nv)
	s.MassMatrix(h)
	if err := s.ForwardDynamics(1e-3, with); err != nil {
		t.Fatal(err)
	}
	v := &s.solver
	if s.Touches() < 4 {
		t.Fatalf("touches: got %d, want some", s.Touches())
	}
	// the generalised force of all contacts, by Jacobians at their points
	tau := make([]float64, nv)
	jac := make([]float64, 6*nv)
	for i := range s.Touches() {
		c := s.Touch(i)
		k := &v.blocks[v.first+i]
		for side, g := range [...]int32{c.Contact.A, c.Contact.B} {
			body, sign := s.Geom(int(g)).Body, 1-2*float64(side)
			if body == World {
				continue
			}
			pose := s.Pose(body)
			r := r3.PackQuat(pose.Rotation).Mat()
			local := r.Back(r3.Pack(c.Contact.Position).Sub(r3.Pack(pose.Position)))
			s.Jacobian(jac, body, local.Array())
			for j := range nv {
				for x := range 3 {
					tau[j] += sign * (jac[x*nv+j]*c.Force[x] + jac[(3+x)*nv+j]*c.Torque[x])
				}
			}
			if side == 0 && s.Geom(int(c.Contact.B)).Body == World {
				// J of the normal row, and its Y from the arena
				n := c.Contact.Normal
				row := make([]float64, nv)
				for j := range nv {
					row[j] = n[0]*jac[j] + n[1]*jac[nv+j] + n[2]*jac[2*nv+j]
				}
				want := quadratic(h, row)
				got := 0.0
				for x := range int(k.count) {
					y := v.values[int(k.values)+x*int(k.rows)]
					got += y * y
				}
				if math.Abs(got-want) > 1e-9*want {
					t.Errorf("contact %d: A: got %g, want %g", i, got, want)
				}
			}
		}
	}
	for i := range v.blocks[:v.first] {
		k := &v.blocks[i]
		if k.kind == dry {
			tau[k.source] += v.row[k.row].f
		}
		if k.kind == equal {
			for side, b := range [...]int{2, 0} {
				e := &s.m.spec.Equalities[0]
				s.Jacobian(jac, b, [...][3]float64{e.AnchorA, e.AnchorB}[side])
				for x := range 3 {
					for j := range nv {
						tau[j] += (1 - 2*float64(side)) * jac[x*nv+j] * v.row[int(k.row)+x].f
					}
				}
			}
		}
	}
	s.space, s.m.spec.Equalities = nil, nil
	for i := range s.Drive {
		s.Drive[i].Dry = 0
	}
	copy(s.Tau, tau)
	if err := s.ForwardDynamics(1e-3, free); err != nil {
		t.Fatal(err)
	}
	for i := range free {
		if math.Abs(free[i]-with[i]) > 1e-7*(1+math.Abs(with[i])) {
			t.Errorf("degree of freedom %d: got %g with constraints, want %g with their forces", i, with[i], free[i])
		}
	}
}

// quadratic returns x' H^-1 x.
func quadratic(h, x []float64) float64 {
	n := len(x)
	l, y := append([]float64{}, h...), append([]float64{}, x...)
	cholesky(l, n)
	substitute(l, n, y)
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// In the end every row has what it wants, or stands at a bound that lets it not have it.
func TestConverged(t *testing.T) {
	s := tower(t)
	qdd := make([]float64, len(s.V))
	if err := s.ForwardDynamics(1e-3, qdd); err != nil {
		t.Fatal(err)
	}
	v := &s.solver
	// Four corners can pull against each other along the floor without moving anything, so the forces settle late; the
	// accelerations do not wait for them.
	s.options.Iterations = 50
	early := make([]float64, len(s.V))
	if err := s.ForwardDynamics(1e-3, early); err != nil {
		t.Fatal(err)
	}
	worst, size := 0.0, 0.0
	for i := range qdd {
		worst, size = max(worst, math.Abs(early[i]-qdd[i])), max(size, math.Abs(qdd[i]))
	}
	t.Logf("%d rows: 50 sweeps leave %.1e of the accelerations", v.rows, worst/size)
	if worst > 0.02*size {
		t.Errorf("50 sweeps: off by %g of %g", worst, size)
	}
	for i := range v.blocks {
		k := &v.blocks[i]
		rows := v.row[k.row : k.row+k.rows]
		switch k.kind {
		case dry:
			if math.Abs(rows[0].f) > rows[0].bound {
				t.Errorf("dry friction: got %g, want at most %g", rows[0].f, rows[0].bound)
			}
		case stop:
			if rows[0].f < 0 {
				t.Errorf("stop: got %g", rows[0].f)
			}
		case contact:
			size := 0.0
			for _, r := range rows[1:] {
				size += r.f * r.f / (r.bound * r.bound)
			}
			if rows[0].f < 0 || math.Sqrt(size) > rows[0].f*(1+1e-9) {
				t.Errorf("contact: got normal %g, friction %g of it", rows[0].f, math.Sqrt(size)/rows[0].f)
			}
		}
	}
}

// A warm start finds what a cold one finds, sooner.
func TestWarmStart(t *testing.T) {
	s := tower(t)
	s.Place(3, collide.Pose{Position: [3]float64{3, 0, 0.099}, Rotation: [4]float64{1}}, [3]float64{0, 0, -0.1},
		[3]float64{})
	s.options.Tolerance, s.solver.leaps = 1e-4, 0
	qdd, again := make([]float64, len(s.V)), make([]float64, len(s.V))
	if err := s.ForwardDynamics(1e-3, qdd); err != nil {
		t.Fatal(err)
	}
	cold := s.solver.sweeps
	s.solver.keep(s)
	if err := s.ForwardDynamics(1e-3, again); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d sweeps from nothing, %d from the forces found", cold, s.solver.sweeps)
	if s.solver.sweeps*4 > cold {
		t.Errorf("sweeps: got %d warm and %d cold", s.solver.sweeps, cold)
	}
	for i := range qdd {
		if math.Abs(again[i]-qdd[i]) > 1e-2*(1+math.Abs(qdd[i])) {
			t.Errorf("degree of freedom %d: got %g, want %g", i, again[i], qdd[i])
		}
	}
}

func TestSoftness(t *testing.T) {
	standard := Softness{Time: 0.01, Ratio: 1, Impedance: 0.9}
	for _, c := range []struct {
		name       string
		p          Softness
		h, v, r, a float64
		want, give float64
	}{
		{"default", Softness{}, 1e-3, 0, -1e-3, 2, 1e-3 / (0.9 * 1e-4), 2 * 0.1 / 0.9},
		{"damping", Softness{}, 1e-3, 0.5, 0, 2, -0.5 * 2 / (0.9 * 0.01), 2 * 0.1 / 0.9},
		{"never below two steps", Softness{Time: 1e-5}, 1e-3, 0, -1e-4, 1, 1e-4 / (0.9 * 4e-6), 0.1 / 0.9},
		{"impedance is clamped", Softness{Impedance: 1}, 1e-3, 0, -1e-3, 1, 1e-3 / (0.9999 * 1e-4), 1e-4 / 0.9999},
		{"far off", Softness{}, 1e-3, 0, -5, 1, pull * 2 / (0.9 * 0.01), 0.1 / 0.9},
		{"ERP and CFM", Softness{ERP: 0.2, CFM: 1e-5}, 0.01, 0.3, -1e-3, 7, -30 + 0.2/1e-4*1e-3, 1e-3},
	} {
		var p spring
		p.set(&c.p, &standard, c.h)
		want, give := p.reference(c.v, c.r, c.a)
		if math.Abs(want-c.want) > 1e-9*(1+math.Abs(c.want)) || math.Abs(give-c.give) > 1e-12 {
			t.Errorf("%s: got %g, %g, want %g, %g", c.name, want, give, c.want, c.give)
		}
	}
}

func TestBlend(t *testing.T) {
	plain, slick := collide.Material{Friction: 0.9, Torsion: 0.1}, collide.Material{Friction: 0.4, Restitution: 0.5}
	limit := collide.Material{Friction: 7, ForceLimit: true}
	if m := blend(&plain, &slick); math.Abs(m.Friction-0.6) > 1e-15 || m.Torsion != 0.1 || m.Restitution != 0.5 ||
		m.rows() != 4 {
		t.Errorf("got %+v, %d rows", m, m.rows())
	}
	for _, m := range []mixture{blend(&plain, &limit), blend(&limit, &plain)} {
		if m.Friction != 7 || !m.ForceLimit || m.rows() != 3 {
			t.Errorf("force limit: got %+v, %d rows", m, m.rows())
		}
	}
	if m := blend(&collide.Material{}, &plain); m.Friction != 0 || m.rows() != 4 {
		t.Errorf("ice that turns: got %+v, %d rows", m, m.rows())
	}
	if m := blend(&collide.Material{}, &collide.Material{}); m.rows() != 1 {
		t.Errorf("ice: got %d rows", m.rows())
	}
}

// With no room for a contact it is left out and counted; the rest goes on.
func TestNoRoom(t *testing.T) {
	spec := tower(t).m.spec
	spec.Options.Contacts = 1
	m, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSystem(m)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := s.Step(1e-3); err != nil {
			t.Fatal(err)
		}
	}
	if s.Dropped() == 0 || s.Touches() > 1 {
		t.Errorf("got %d contacts, %d dropped", s.Touches(), s.Dropped())
	}
}
