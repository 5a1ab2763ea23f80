package peers

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Figures are what a run tells. Those of the other model are 0.
type Figures struct {
	StepsPerSecond float64 // median of five runs, control law included
	Steps          int     // until the end, or until the run diverged

	DriftEnd, DriftMax float64    // of the energy, as a share of M g L
	JointError         float64    // m, the most that the two anchors of a hinge were apart
	Tip1, Tip2         [2]float64 // m, x and z of the tip at 1 s and 2 s; 0 where the run is shorter

	Torso  [3]float64 // m, at the end
	MeanZ  float64    // m, of the torso in the second half
	Lowest float64    // m, of the feet's lowest points after 1 s
	Leg    [3]float64 // rad, roll, pitch and knee of the leg FL at the end
}

// dt is the step of both models, s.
const dt = 0.001

// Run simulates model "chain" of n links or "quad" for so many steps of 1 ms: five times for the clock, and once more
// for all other figures. A run that diverges ends early: the figures are those until then, and the error is its
// *dynamics.Diverged.
func Run(model string, n int, integrator dynamics.Integrator, steps int) (Figures, error) {
	var spec dynamics.Spec
	switch {
	case steps < 1 || steps > 10_000_000:
		return Figures{}, fmt.Errorf("peers: steps: got %d, want 1 to 10000000", steps)
	case model == "chain" && n >= 1 && n <= 10_000:
		spec = Chain(n)
	case model == "chain":
		return Figures{}, fmt.Errorf("peers: links: got %d, want 1 to 10000", n)
	case model == "quad":
		spec = Quad()
	default:
		return Figures{}, fmt.Errorf("peers: model: got %q, want chain or quad", model)
	}
	spec.Options.Integrator = integrator
	m, err := dynamics.New(spec)
	if err != nil {
		return Figures{}, err
	}
	s, err := dynamics.NewSystem(m)
	if err != nil {
		return Figures{}, err
	}
	if model == "quad" {
		s.Before = Squat
	}
	f := Figures{StepsPerSecond: speed(s, steps)}
	s.Reset()
	if model == "quad" {
		return f, watchQuad(s, &f, steps)
	}
	return f, watchChain(s, &f, n, steps)
}

// speed returns the median of the steps a second of five runs.
func speed(s *dynamics.System, steps int) float64 {
	var rates []float64
	for range 5 {
		s.Reset()
		done := 0
		start := time.Now()
		for done < steps && s.Step(dt) == nil {
			done++
		}
		rates = append(rates, float64(max(done, 1))/max(time.Since(start).Seconds(), 1e-9))
	}
	slices.Sort(rates)
	return rates[2]
}

// watchChain runs the chain and looks at it after every step.
func watchChain(s *dynamics.System, f *Figures, n, steps int) error {
	size := float64(n) * 9.81 * linkLength * float64(n)
	kinetic, potential := s.Energy()
	start := kinetic + potential
	for i := 1; i <= steps; i++ {
		if err := s.Step(dt); err != nil {
			return err
		}
		f.Steps = i
		kinetic, potential = s.Energy()
		f.DriftEnd = (kinetic + potential - start) / size
		f.DriftMax = max(f.DriftMax, math.Abs(f.DriftEnd))
		f.JointError = max(f.JointError, gap(s, n))
		switch i {
		case 1000:
			f.Tip1 = tip(s, n-1)
		case 2000:
			f.Tip2 = tip(s, n-1)
		}
	}
	return nil
}

// along returns the point of body b at local x, in the world.
func along(s *dynamics.System, b int, x float64) [3]float64 {
	p := s.Pose(b)
	w, i, j, k := p.Rotation[0], p.Rotation[1], p.Rotation[2], p.Rotation[3]
	return [3]float64{
		p.Position[0] + x*(1-2*(j*j+k*k)), p.Position[1] + x*2*(i*j+w*k), p.Position[2] + x*2*(i*k-w*j),
	}
}

// tip returns x and z of the chain's end.
func tip(s *dynamics.System, b int) [2]float64 {
	p := along(s, b, linkLength/2)
	return [2]float64{p[0], p[2]}
}

// gap returns the greatest distance between the two anchors of a hinge of the chain.
func gap(s *dynamics.System, n int) float64 {
	most := 0.0
	var end [3]float64
	for i := range n {
		a := along(s, i, -linkLength/2)
		most = max(most, math.Hypot(math.Hypot(a[0]-end[0], a[1]-end[1]), a[2]-end[2]))
		end = along(s, i, linkLength/2)
	}
	return most
}

// watchQuad runs the quad and looks at it after every step.
func watchQuad(s *dynamics.System, f *Figures, steps int) error {
	f.Lowest = math.Inf(1)
	counted := 0
	for i := 1; i <= steps; i++ {
		if err := s.Step(dt); err != nil {
			return err
		}
		f.Steps = i
		f.Torso = s.Pose(0).Position
		if i > steps/2 {
			f.MeanZ += f.Torso[2]
			counted++
		}
		if i < 1000 {
			continue
		}
		for lower := 3; lower <= 12; lower += 3 {
			p := s.Pose(lower)
			x, y := p.Rotation[1], p.Rotation[2]
			f.Lowest = min(f.Lowest, p.Position[2]-0.15*(1-2*(x*x+y*y))-footRadius)
		}
	}
	f.MeanZ /= float64(counted)
	copy(f.Leg[:], s.Q[7:10])
	if math.IsInf(f.Lowest, 1) {
		f.Lowest = 0
	}
	return nil
}
