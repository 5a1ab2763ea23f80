package dynamics_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/sim/peers"
	"github.com/halyard-robotics/halyard/sim/collide"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Each case spoils a good spec; want are the paths of all faults, in order, with a word of each text.
var faults = []struct {
	name  string
	spoil func(s *dynamics.Spec)
	want  []string
}{
	{"negative mass", func(s *dynamics.Spec) { s.Bodies[2].Mass = -1 }, []string{"bodies[2].mass: got -1"}},
	{"NaN mass", func(s *dynamics.Spec) { s.Bodies[2].Mass = math.NaN() }, []string{"bodies[2].mass: got NaN"}},
	{"huge mass", func(s *dynamics.Spec) { s.Bodies[2].Mass = 1e300 }, []string{"bodies[2].mass: got 1e+300"}},
	{"COM", func(s *dynamics.Spec) { s.Bodies[1].COM[2] = math.Inf(1) }, []string{"bodies[1].com: got +Inf"}},
	{"asymmetric inertia", func(s *dynamics.Spec) { s.Bodies[0].Inertia[1] = 0.01 },
		[]string{"bodies[0].inertia: got"}},
	{"negative inertia", func(s *dynamics.Spec) { s.Bodies[0].Inertia[4] = -0.01 },
		[]string{"bodies[0].inertia: got principal moments"}},
	{"impossible inertia", func(s *dynamics.Spec) { s.Bodies[0].Inertia = [9]float64{0: 1, 4: 1, 8: 3} },
		[]string{"bodies[0].inertia: got principal moments"}},
	{"inertia without mass", func(s *dynamics.Spec) { s.Bodies[1].Mass = 0 }, []string{"bodies[1].inertia: got"}},
	{"unknown parent", func(s *dynamics.Spec) { s.Bodies[4].Parent = 99 },
		[]string{"bodies[4].parent: got body 99, want -1 to 12"}},
	{"negative parent", func(s *dynamics.Spec) { s.Bodies[4].Parent = -2 }, []string{"bodies[4].parent: got body -2"}},
	{"own parent", func(s *dynamics.Spec) { s.Bodies[4].Parent = 4 },
		[]string{"bodies[4].parent: got a loop through body 4"}},
	{"loop", func(s *dynamics.Spec) { s.Bodies[4].Parent = 6 },
		[]string{"bodies[4].parent: got a loop through body 4"}},
	{"two loops", func(s *dynamics.Spec) { s.Bodies[1].Parent, s.Bodies[4].Parent = 3, 6 },
		[]string{"bodies[1].parent: got a loop", "bodies[4].parent: got a loop"}},
	{"free child", func(s *dynamics.Spec) { s.Bodies[1].Joint.Kind = dynamics.Free },
		[]string{"bodies[1].parent: got body 0 of a free joint"}},
	{"kind", func(s *dynamics.Spec) { s.Bodies[1].Joint.Kind = 17 }, []string{"bodies[1].joint.kind: got 17"}},
	{"axis", func(s *dynamics.Spec) { s.Bodies[1].Joint.Axis = [3]float64{} },
		[]string{"bodies[1].joint.axis: got length 0"}},
	{"NaN axis", func(s *dynamics.Spec) { s.Bodies[1].Joint.Axis[1] = math.NaN() },
		[]string{"bodies[1].joint.axis: got NaN"}},
	{"rotation", func(s *dynamics.Spec) { s.Bodies[1].Rotation = [4]float64{math.NaN()} },
		[]string{"bodies[1].rotation: got"}},
	{"limits", func(s *dynamics.Spec) {
		s.Bodies[1].Joint.Limited, s.Bodies[1].Joint.Limits = true, [2]float64{1, -1}
	}, []string{"bodies[1].joint.limits: got [1 -1]"}},
	{"limits of a ball", func(s *dynamics.Spec) {
		s.Bodies[1].Joint.Kind, s.Bodies[1].Joint.Limited = dynamics.Ball, true
	}, []string{"bodies[1].joint: got a stiffness or limits on a ball"}},
	{"damping", func(s *dynamics.Spec) { s.Bodies[1].Joint.Damping = -1 }, []string{"bodies[1].joint.damping: got -1"}},
	{"stribeck", func(s *dynamics.Spec) { s.Bodies[1].Joint.Static = 1 }, []string{"bodies[1].joint.stribeck: got 0"}},
	{"softness", func(s *dynamics.Spec) { s.Bodies[1].Joint.Stop.ERP = 2 },
		[]string{"bodies[1].joint.stop.erp: got 2"}},
	{"geom body", func(s *dynamics.Spec) { s.Geoms[1].Body = 13 }, []string{"geoms[1].body: got body 13"}},
	{"geom shape", func(s *dynamics.Spec) { s.Geoms[2].Radius = -1 }, []string{"geoms[2]: sphere: radius"}},
	{"geom material", func(s *dynamics.Spec) { s.Geoms[2].Material = collide.Material{Friction: -1, Restitution: 2} },
		[]string{"geoms[2].material: got -1", "geoms[2].material.restitution: got 2"}},
	{"equality", func(s *dynamics.Spec) {
		s.Equalities = []dynamics.Equality{{A: 1, B: 1}, {Kind: dynamics.Mirror, A: 0, B: 40}, {Kind: 9},
			{Kind: dynamics.Mirror, A: 0, B: 1}}
	}, []string{"equalities[0].b: got 1, which is a too", "equalities[1].b: got body 40", "equalities[2].kind: got 9",
		"equalities[3].a: got the free"}},
	{"no contact", func(s *dynamics.Spec) { s.NoContact = [][2]int{{0, 1}, {-3, 2}} },
		[]string{"noContact[1]: got body -3"}},
	{"massless", func(s *dynamics.Spec) {
		s.Bodies[3].Mass, s.Bodies[3].Inertia = 0, [9]float64{}
	}, []string{"bodies[3].mass: got 0 for the body and all that it carries"}},
	{"options", func(s *dynamics.Spec) {
		s.Options.Integrator, s.Options.Gravity[0], s.Options.Contact.CFM = 5, math.NaN(), -1
	}, []string{"options.integrator: got 5", "options.gravity: got NaN", "options.contact.cfm: got -1"}},
	{"several", func(s *dynamics.Spec) {
		s.Bodies[1].Mass, s.Bodies[5].Joint.Axis, s.Geoms[0].Body = -1, [3]float64{}, 50
	}, []string{"bodies[1].mass", "bodies[5].joint.axis", "geoms[0].body"}},
	{"a million links", func(s *dynamics.Spec) { s.Bodies = make([]dynamics.Body, 1_000_000) },
		[]string{"bodies: got 1000000, want at most 100000"}},
}

func TestFaults(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			spec := peers.Quad()
			c.spoil(&spec)
			_, err := dynamics.New(spec)
			var f dynamics.Faults
			if !errors.As(err, &f) {
				t.Fatalf("got %v, want faults", err)
			}
			if len(f) != len(c.want) {
				t.Errorf("got %d faults, want %d:\n%v", len(f), len(c.want), err)
			}
			for i, w := range c.want {
				if i < len(f) && !strings.HasPrefix(f[i].Path+": "+f[i].Text, w) {
					t.Errorf("got %q: %q, want %q", f[i].Path, f[i].Text, w)
				}
			}
		})
	}
}

// The number of listed faults is bounded.
func TestFaultsAreBounded(t *testing.T) {
	spec := dynamics.Spec{Bodies: make([]dynamics.Body, 50_000)}
	for i := range spec.Bodies {
		spec.Bodies[i] = dynamics.Body{Parent: 1_000_000, Mass: -1}
	}
	_, err := dynamics.New(spec)
	if n := strings.Count(err.Error(), "\n"); n != 100 {
		t.Errorf("got %d lines, want 101", n+1)
	}
}

// A chain of 100,000 links is taken, and steps; what it cannot have is refused.
func TestLongChain(t *testing.T) {
	spec := peers.Chain(100_000)
	spec.Options.Gravity = [3]float64{}
	s := system(t, spec)
	s.V[0] = 0.01
	if err := s.Step(1e-3); err != nil {
		t.Fatal(err)
	}
	spec.Bodies[7].Joint.Limited = true
	if _, err := dynamics.New(spec); err == nil || !strings.Contains(err.Error(), "bodies[7].joint") {
		t.Errorf("limits: got %v, want a fault of bodies[7].joint", err)
	}
}

func TestEmpty(t *testing.T) {
	s := system(t, dynamics.Spec{})
	steps(t, s, 3, 1e-3)
	s = system(t, dynamics.Spec{Bodies: []dynamics.Body{{Parent: dynamics.World, Position: [3]float64{1, 2, 3}}},
		Geoms: []collide.Geom{floor(collide.Material{})}})
	steps(t, s, 3, 1e-3)
	if p := s.Pose(0).Position; p != [3]float64{1, 2, 3} {
		t.Errorf("welded to the world: got %v", p)
	}
}
