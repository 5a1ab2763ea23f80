package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/model"
)

// stress is one robot on one scene under random commands.
type stress struct {
	robot, scene string
	amid         bool // after a second, when loose things lie, it is put down in the midst of them
}

// gauge is the worst of a run.
type gauge struct {
	speed, spin float64 // m/s and rad/s, of any body, stones too
	energy      float64 // of all motion, as a share of what gravity and the motors can have given
	// m, of a robot's contact with what never moves: a fall at 3 m/s is 30 mm deep before its first step of 10 ms sees
	// it
	deepest float64
	// m, of that, what lasted for 0.2 s in the ground, less what the robot's whole weight takes on one soft contact
	sunk float64
	// m, the same in fixed boxes: a stair is 5 mm thick, and what falls passes into it or through it in one step
	wedged float64
	times  float64 // real time, on a machine that others use too
}

// worse is the worst of two.
func (g gauge) worse(h gauge) gauge {
	return gauge{math.Max(g.speed, h.speed), math.Max(g.spin, h.spin), math.Max(g.energy, h.energy),
		math.Max(g.deepest, h.deepest), math.Max(g.sunk, h.sunk), math.Max(g.wedged, h.wedged),
		math.Min(g.times, h.times)}
}

// stressed are the robots of the test: Simloid's, and the humanoid.
func stressed() []string {
	var names []string
	for _, id := range model.SimloidIDs() {
		names = append(names, fmt.Sprintf("simloid-%d", id))
	}
	return append(names, "a-series")
}

// grounds are the scenes that Simloid's clients know, stairs and plates among them.
func grounds(t *testing.T) (names []string) {
	for _, name := range model.SceneNames() {
		s, err := model.LoadScene(name, 1)
		if err != nil {
			t.Fatal(err)
		}
		if s.Simloid != hal.None {
			names = append(names, name)
		}
	}
	return names
}

// newStress puts the robot into its scene, with the step of its own simulator.
func newStress(t testing.TB, c stress) *rig {
	m, err := model.Load(c.robot)
	if err != nil {
		t.Fatal(err)
	}
	cfg := SceneConfig{Seed: 1, Scene: func(seed int64) (*model.Scene, error) { return model.LoadScene(c.scene, seed) }}
	if m.Simloid != hal.None {
		cfg.Substep = 10 * time.Millisecond
	}
	r := &rig{Scene: NewScene(cfg), t: t}
	if r.body, err = r.Add("robot", m, hal.Pose{}); err != nil {
		t.Fatal(err)
	}
	r.frame = hal.NewFrame(r.body.Layout())
	if c.amid {
		r.cycle(100)
		r.must(r.Place("robot", hal.Pose{Position: [3]float64{0, -3.2, midst(c.scene)}}))
	}
	r.enable(true)
	return r
}

// midst is a height, m, from which a robot does not fall far in the midst of a scene: at 10 ms a step, a fall at 1 m/s
// is 10 mm deep before it is felt, which is more than a stair is thick.
func midst(scene string) float64 {
	switch scene {
	case "flat":
		return 0.01
	case "hills":
		return 0.35
	case "plates", "shaky":
		return 0.06
	}
	return 0.08
}

// babble gives each joint now and then another mode, goal and torque limit, all within what its layout offers.
func (r *rig) babble(rng *rand.Rand) {
	for i := range r.body.Layout().Actuators {
		if rng.IntN(30) != 0 {
			continue
		}
		a := &r.body.Layout().Actuators[i]
		var modes []hal.Mode
		for m, in := range a.Goal {
			if in != hal.None {
				r.frame.Inputs[in] = math.NaN()
				modes = append(modes, hal.Mode(m))
			}
		}
		m := modes[rng.IntN(len(modes))]
		share := rng.Float64()
		in := r.body.Layout().Inputs[a.Goal[m]]
		r.frame.Inputs[a.Goal[m]] = in.FromFraction(share)
		if a.TorqueLimit != hal.None {
			r.frame.Inputs[a.TorqueLimit] = a.Limits.MaxTorque * rng.Float64()
		}
		r.frame.Enable[i] = rng.IntN(10) != 0
	}
}

// lookout is what look needs of the cycles before: the depth of each body's deepest contact with the ground, and with
// fixed boxes, in the last cycles, one row a body.
type lookout struct {
	ground, boxes [][20]float64
	soft          float64 // m
	most          float64 // J
}

func newLookout(r *rig) *lookout {
	n := r.system.Model().Bodies()
	w := &lookout{ground: make([][20]float64, n), boxes: make([][20]float64, n)}
	m := r.body.model
	if r.bare {
		w.soft = m.Mass() * standardGravity * contactCFM * odeStep / contactERP
	}
	// a metre for all to fall, and half a turn of each motor
	w.most = r.system.Model().Mass() * standardGravity
	for i := range m.Joints {
		w.most += m.Joints[i].MaxTorque() * math.Pi
	}
	return w
}

// look takes the worst of the present state, at the end of cycle k, into g.
func (w *lookout) look(r *rig, k int, g *gauge) {
	s := r.system
	for b := range w.ground {
		v, spin := s.Velocity(b)
		g.speed = math.Max(g.speed, math.Sqrt(v[0]*v[0]+v[1]*v[1]+v[2]*v[2]))
		g.spin = math.Max(g.spin, math.Sqrt(spin[0]*spin[0]+spin[1]*spin[1]+spin[2]*spin[2]))
		w.ground[b][k%20], w.boxes[b][k%20] = 0, 0
	}
	kinetic, _ := s.Energy()
	g.energy = math.Max(g.energy, kinetic/w.most)
	for i := range s.Touches() {
		c := s.Touch(i).Contact
		a, b := s.Geom(int(c.A)), s.Geom(int(c.B))
		body := max(a.Body, b.Body)
		if min(a.Body, b.Body) < 0 && body < r.thing {
			at := &w.boxes[body][k%20]
			if max(a.Kind, b.Kind) >= collide.Plane {
				at = &w.ground[body][k%20]
			}
			*at = math.Max(*at, c.Depth)
			g.deepest = math.Max(g.deepest, c.Depth)
		}
	}
	for b := range w.ground {
		g.sunk = math.Max(g.sunk, slices.Min(w.ground[b][:])-w.soft)
		g.wedged = math.Max(g.wedged, slices.Min(w.boxes[b][:])-w.soft)
	}
	if n := s.Dropped(); n > 0 {
		r.t.Errorf("%d contacts dropped", n)
	}
}

// run lets c run for cycles of 10 ms and returns the worst of it. Every value that leaves the scene must be finite.
func (c stress) run(t *testing.T, cycles int) gauge {
	r := newStress(t, c)
	rng := rand.New(rand.NewPCG(1, stream(1, c.robot, c.scene)))
	w := newLookout(r)
	var g gauge
	var took time.Duration
	for k := range cycles {
		r.babble(rng)
		begun := time.Now()
		r.must(r.body.Write(r.frame))
		if err := r.Advance(period); err != nil {
			t.Fatalf("%v at %.2f s: %v", c, float64(k)/100, err)
		}
		r.must(r.body.Read(r.frame))
		took += time.Since(begun)
		w.look(r, k, &g)
		for i, v := range r.frame.Measured {
			if v-v != 0 {
				t.Fatalf("%v at %.2f s: measured channel %d: got %g", c, float64(k)/100, i, v)
			}
		}
	}
	g.times = float64(cycles) * period.Seconds() / took.Seconds()
	return g
}

// Every robot of Simloid's and the humanoid withstand random commands on every scene: from their start, and dropped
// into the midst of it. The run is 0.6 simulated seconds each; with
//
//	HALYARD_LONG=1 go test -run TestRobust -timeout 60m -v ./sim
//
// it is 60.
func TestRobust(t *testing.T) {
	cycles := haltest.Sample(20, 60)
	if os.Getenv("HALYARD_LONG") != "" {
		cycles = 6000
	}
	t.Logf("%-10s %-8s %7s %6s %6s %7s %8s %8s %9s", "robot", "scene", "x real", "m/s", "rad/s", "energy", "deep mm",
		"sunk mm", "wedged mm")
	for _, robot := range stressed() {
		for _, scene := range grounds(t) {
			if scene == "pool" {
				continue // no robot swims: it falls four metres
			}
			c := stress{robot: robot, scene: scene}
			g := c.run(t, cycles)
			c.amid = true
			g = g.worse(c.run(t, cycles))
			t.Logf("%-10s %-8s %7.1f %6.2f %6.1f %7.3f %8.1f %8.2f %9.2f", robot, scene, g.times, g.speed, g.spin,
				g.energy, 1e3*g.deepest, 1e3*g.sunk, 1e3*g.wedged)
			most := 1.0
			if g.wedged > 0.005 {
				most = 2 // what is stuck between two stairs is thrown out by both
			}
			if g.speed > 30 || g.spin > 600 || g.energy > most {
				t.Errorf("%s on %s: got %+v, want it not to explode", robot, scene, g)
			}
			if g.sunk > 0.005 {
				t.Errorf("%s on %s: sank %.1f mm into the ground, want at most 5", robot, scene, 1e3*g.sunk)
			}
		}
	}
}
