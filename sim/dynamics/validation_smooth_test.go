package dynamics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/peers"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// The tests called Plan are the rows of the validation plan, in its order; "go test -run Plan -v" prints each row with
// its value and the criterion. That of the rays is TestAgainstBrute of internal/sim/ray.

// holds logs the value of a row with its limit, and fails where it is above that or not a number.
func holds(t *testing.T, row string, got, most float64, unit string) {
	t.Helper()
	t.Logf("%-46s %8.2g %s, want at most %g", row, got, unit, most)
	if !(got <= most) {
		t.Errorf("%s: got %g %s, want at most %g", row, got, unit, most)
	}
}

// named appends the integrator to the name of a row.
func named(row string, in dynamics.Integrator) string {
	return row + ", " + map[dynamics.Integrator]string{dynamics.Euler: "Euler", dynamics.RK4: "RK4"}[in]
}

// Three amplitudes against 4 sqrt(I/(m g l)) K(sin(a/2)), K by the arithmetic-geometric mean.
func TestPlanPendulum(t *testing.T) {
	for _, in := range both {
		worst := 0.0
		for _, a := range []float64{0.1, 1, 2.5} {
			x, y := 1.0, math.Cos(a/2)
			for range 10 {
				x, y = (x+y)/2, math.Sqrt(x*y)
			}
			want := 4 * math.Sqrt((2.0/12+2*0.25)/(2*9.81*0.5)) * math.Pi / (2 * x)
			s := system(t, pendulum(in))
			s.Q[0] = a
			worst = math.Max(worst, math.Abs(period(t, s)/want-1))
		}
		most := map[dynamics.Integrator]float64{dynamics.RK4: 1e-6, dynamics.Euler: 1e-3}[in]
		holds(t, named("pendulum period", in), worst, most, "of it")
	}
}

// chain is the chain of the comparison with other engines, released from the horizontal.
func chain(t *testing.T, n int, in dynamics.Integrator) *dynamics.System {
	spec := peers.Chain(n)
	spec.Options.Integrator = in
	return system(t, spec)
}

// The tips of chain 2 that Bullet, DART and MuJoCo agree on with Euler, MuJoCo with RK4.
func TestPlanTips(t *testing.T) {
	for in, tips := range map[dynamics.Integrator][2][2]float64{
		dynamics.RK4:   {{0.284594, -0.110744}, {-0.029708, -0.013596}},
		dynamics.Euler: {{0.286227, -0.107383}, {0.099151, -0.019066}},
	} {
		s := chain(t, 2, in)
		worst := 0.0
		for _, want := range tips {
			steps(t, s, 1000, 1e-3)
			a, b := s.Q[0], s.Q[0]+s.Q[1]
			worst = math.Max(worst, math.Abs(0.2*(math.Cos(a)+math.Cos(b))-want[0]))
			worst = math.Max(worst, math.Abs(-0.2*(math.Sin(a)+math.Sin(b))-want[1]))
		}
		holds(t, named("chain 2, tip at 1 s and 2 s", in), worst, 1e-6, "m")
	}
}

// The energy of long chains over 10 s as a share of M g L.
func TestPlanDrift(t *testing.T) {
	for _, c := range []struct {
		n    int
		most float64
		row  string
	}{{10, 5e-5, "chain 10, drift in 10 s"}, {20, 1e-3, "chain 20, drift in 10 s"},
		{40, 6e-3, "chain 40, drift in 10 s"}} {
		s := chain(t, c.n, dynamics.RK4)
		worst := 0.0
		for range 10_000 {
			steps(t, s, 1, 1e-3)
			k, u := s.Energy() // 0 in the beginning
			worst = math.Max(worst, math.Abs(k+u)/(9.81*0.2*float64(c.n*c.n)))
		}
		holds(t, named(c.row, dynamics.RK4), worst, c.most, "of M g L")
	}
}

// Energy and momenta of what nothing pushes from outside. The torques in the quad's joints are springs and constant
// ones, which are a potential as well: their work is subtracted.
func TestPlanMomenta(t *testing.T) {
	box := system(t, dynamics.Spec{
		Bodies: []dynamics.Body{{Parent: dynamics.World, Joint: dynamics.Joint{Kind: dynamics.Free}, Mass: 3,
			Inertia: solid(3, [3]float64{0.15, 0.1, 0.05})}},
		Options: dynamics.Options{Integrator: dynamics.RK4},
	})
	copy(box.V, []float64{1, -0.5, 0.25, 0.01, 6, 0.02}) // about the middle axis: it turns over again and again
	spec := peers.Quad()
	spec.Geoms, spec.Options = nil, dynamics.Options{Integrator: dynamics.RK4}
	for i := 1; i < len(spec.Bodies); i++ {
		spec.Bodies[i].Joint.Stiffness = 0.05
	}
	quad := system(t, spec)
	copy(quad.V, []float64{0.1, 0.2, -0.1, 0.5, -0.3, 0.2})
	for k := 6; k < 18; k++ {
		quad.Tau[k] = 0.01 * float64(k%5-2)
	}
	for row, s := range map[string]*dynamics.System{"tumbling free box, 10 s": box,
		"floating quad with torques, 10 s": quad} {
		s.Moved()
		sum := func() [7]float64 {
			m := momenta(s)
			for k := 6; k < len(s.V); k++ {
				m[0] -= s.Tau[k] * s.Q[k+1]
			}
			return m
		}
		start, worst := sum(), [2]float64{}
		for range 10_000 {
			steps(t, s, 1, 1e-3)
			for i, x := range sum() {
				k := min(i, 1)
				worst[k] = math.Max(worst[k], math.Abs(x-start[i]))
			}
		}
		holds(t, row+", energy", worst[0], 1e-9, "J")
		holds(t, row+", momenta", worst[1], 1e-9, "kg m/s, kg m²/s")
	}
}

// The algorithms against each other on random forests of hinges, slides, balls and free bodies.
func TestPlanIdentities(t *testing.T) {
	jacobian, rnea, aba, crba := 0.0, 0.0, 0.0, 0.0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 31))
		spec := randomTree(r, 2+r.IntN(14))
		spec.Options.Articulated = -1
		s := system(t, spec)
		spec.Options.Articulated = 1
		recursive := system(t, spec)
		scramble(r, s)
		n := len(s.V)
		size := 1.0
		for i := range s.Tau {
			s.Tau[i] = 10 * (2*r.Float64() - 1)
		}
		if err := s.Save(&recursive.State); err != nil {
			t.Fatal(err)
		}
		qdd, other, tau, bias := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for x, dst := range map[*dynamics.System][]float64{s: qdd, recursive: other} {
			if err := x.ForwardDynamics(1e-3, dst); err != nil {
				t.Fatal(seed, err)
			}
		}
		for _, x := range qdd {
			size = math.Max(size, math.Abs(x))
		}
		s.InverseDynamics(qdd, tau)
		s.InverseDynamics(make([]float64, n), bias)
		h := make([]float64, n*n)
		s.MassMatrix(h)
		for i := range n {
			sum := bias[i]
			for j := range n {
				sum += h[i*n+j] * qdd[j]
			}
			rnea = math.Max(rnea, math.Abs(tau[i]-s.Tau[i])/size)
			crba = math.Max(crba, math.Abs(sum-s.Tau[i])/size)
			aba = math.Max(aba, math.Abs(other[i]-qdd[i])/size)
		}
		jacobians(t, s, func(_ string, err float64) { jacobian = math.Max(jacobian, err) })
	}
	holds(t, "RNEA(forward(tau)) = tau", rnea, 1e-9, "of the greatest")
	holds(t, "CRBA qdd + bias = tau", crba, 1e-9, "of the greatest")
	holds(t, "ABA = LTDL of CRBA", aba, 1e-9, "of the greatest")
	holds(t, "Jacobians = differences", jacobian, 1e-9, "m/s, rad/s")
}
