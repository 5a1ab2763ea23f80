package peers

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Figures are the results of a run. Those of other models are 0.
type Figures struct {
	StepsPerSecond float64 // median of five runs, control law included
	Steps          int     // until the end, or until the run diverged

	DriftEnd, DriftMax float64    // of the energy, as a share of M g L
	JointError         float64    // m, the most that the two anchors of a hinge were apart
	Tip1, Tip2         [2]float64 // m, x and z of the tip at 1 s and 2 s; 0 where the run is shorter

	Torso  [3]float64 // m, of the quad's torso or the humanoid's pelvis, at the end
	Pose2  [3]float64 // m, of the same at 2 s; 0 where the run is shorter
	MeanZ  float64    // m, mean height of the same in the second half; of the heap, of all boxes
	Lowest float64    // m, of the feet's lowest points after 1 s
	Leg    [3]float64 // rad, roll, pitch and knee of the quad's leg FL at the end

	Deepest  float64 // m, the deepest contact of the humanoid or the heap after 1 s; of the heap, at the end
	Contacts float64 // of the humanoid or the heap, mean of the second half
	Kinetic  float64 // J, energy of the heap at the end
	Sweeps   float64 // of the solver, mean of the second half
}

// dt is the step of all models, s.
const dt = 0.001

// Models returns the names of the models.
func Models() []string { return []string{"chain", "quad", "humanoid", "heap"} }

// New returns a system of the named model, ready to step, with its control law. n is the number of links of the chain,
// 1 to 10000; the other models ignore it.
func New(model string, n int, integrator dynamics.Integrator) (*dynamics.System, error) {
	var spec dynamics.Spec
	var law func(*dynamics.System, float64)
	switch model {
	case "chain":
		if n < 1 || n > 10_000 {
			return nil, fmt.Errorf("peers: links: got %d, want 1 to 10000", n)
		}
		spec = Chain(n)
	case "quad":
		spec, law = Quad(), Squat
	case "humanoid":
		spec, law = Humanoid(), Stand
	case "heap":
		spec = Heap()
	default:
		return nil, fmt.Errorf("peers: model: got %q, want one of %v", model, Models())
	}
	spec.Options.Integrator = integrator
	m, err := dynamics.New(spec)
	if err != nil {
		return nil, err
	}
	s, err := dynamics.NewSystem(m)
	if err != nil {
		return nil, err
	}
	s.Before = law
	return s, nil
}

// Run simulates a model for so many steps of 1 ms: five times for the clock, and once more for all other figures. A run
// that diverges ends early: the figures are those until then, and the error is its *dynamics.Diverged.
func Run(model string, n int, integrator dynamics.Integrator, steps int) (Figures, error) {
	if steps < 1 || steps > 10_000_000 {
		return Figures{}, fmt.Errorf("peers: steps: got %d, want 1 to 10000000", steps)
	}
	s, err := New(model, n, integrator)
	if err != nil {
		return Figures{}, err
	}
	f := Figures{StepsPerSecond: speed(s, steps)}
	s.Reset()
	switch model {
	case "chain":
		return f, watchChain(s, &f, n, steps)
	case "quad":
		return f, watchQuad(s, &f, steps)
	}
	return f, watchContacts(s, &f, steps, model == "heap")
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

// watchChain runs the chain and examines it after every step.
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

// watchQuad runs the quad and examines it after every step.
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

// watchContacts runs the humanoid or the heap and examines it after every step.
func watchContacts(s *dynamics.System, f *Figures, steps int, heap bool) error {
	counted := 0
	for i := 1; i <= steps; i++ {
		if err := s.Step(dt); err != nil {
			return err
		}
		f.Steps = i
		if i == 2000 {
			f.Pose2 = s.Pose(0).Position
		}
		deepest := 0.0
		for k := range s.Touches() {
			deepest = max(deepest, s.Touch(k).Contact.Depth)
		}
		switch {
		case heap:
			f.Deepest = deepest
		case i >= 1000:
			f.Deepest = max(f.Deepest, deepest)
		}
		if i > steps/2 {
			f.MeanZ += meanHeight(s, heap)
			f.Contacts += float64(s.Touches())
			f.Sweeps += float64(s.Sweeps())
			counted++
		}
	}
	f.MeanZ, f.Contacts, f.Sweeps = f.MeanZ/float64(counted), f.Contacts/float64(counted), f.Sweeps/float64(counted)
	f.Torso = s.Pose(0).Position
	f.Kinetic, _ = s.Energy()
	return nil
}

// meanHeight is that of all boxes of the heap, or of the humanoid's pelvis.
func meanHeight(s *dynamics.System, heap bool) float64 {
	if !heap {
		return s.Pose(0).Position[2]
	}
	sum := 0.0
	for b := range s.Model().Bodies() {
		sum += s.Pose(b).Position[2]
	}
	return sum / float64(s.Model().Bodies())
}
