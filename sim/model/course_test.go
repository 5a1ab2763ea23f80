package model

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

func TestPool(t *testing.T) {
	s := loadScene(t, "pool", 1)
	if w := s.Water; w == nil || w.Surface != 0 || w.Density != 997 || w.Turbidity != 0.06 {
		t.Fatalf("water: got %+v", w)
	}
	c := &s.Course
	kinds := map[ZoneKind]int{}
	for i := range c.Zones {
		kinds[c.Zones[i].Kind]++
	}
	if len(c.Starts) != 3 || kinds[Checkpoint] != 2 || kinds[NoGo] != 2 || kinds[Finish] != 1 || kinds[Action] != 2 {
		t.Errorf("course: got %d starts, %v", len(c.Starts), kinds)
	}
	// What a newcomer sees first is near every start, and no start is in a zone.
	for _, start := range c.Starts {
		near := 0
		for _, th := range s.Things {
			at := s.Fixed[th.First].Pose.Position
			if d := add(at, scale(-1, start.Pose.Position)); math.Sqrt(dot(d, d)) < 12 {
				near++
			}
		}
		if near < 4 {
			t.Errorf("%s: got %d things within 12 m, want 4", start.Name, near)
		}
		for i := range c.Zones {
			if c.Zones[i].Contains(start.Pose.Position) {
				t.Errorf("%s: is in %s", start.Name, c.Zones[i].ID)
			}
		}
	}
	for _, th := range s.Things {
		if th.Count < 1 || th.First+th.Count > len(s.Fixed) || s.Fixed[th.First].Material.Paint == nil {
			t.Errorf("%s: got %+v", th.Name, th)
		}
	}
	// The second gate is turned, and so is its checkpoint.
	if at := s.Fixed[s.Things[5].First].Pose.Position; !near(at,
		vec{13 - 0.85*math.Sin(16*math.Pi/180), 2 + 0.85*math.Cos(16*math.Pi/180), -1.7}) {
		t.Errorf("gate-2: left post: got %v", at)
	}
}

// TestQualification: of the pool its first gate alone, with its checkpoint and a finish behind it.
func TestQualification(t *testing.T) {
	s, whole := loadScene(t, "qualification", 1), loadScene(t, "pool", 1)
	if s.Water == nil || *s.Water != *whole.Water || len(s.Things) != 1 || s.Things[0].Name != "gate-1" {
		t.Fatalf("got %+v and %+v, want the pool's water and gate-1", s.Water, s.Things)
	}
	if got, want := s.Fixed[s.Things[0].First].Pose, whole.Fixed[whole.Things[0].First].Pose; got != want {
		t.Errorf("the gate: got %v, want %v", got, want)
	}
	gate := s.Course.Zones[0]
	if len(s.Course.Zones) != 2 || gate.Kind != Checkpoint || !gate.Contains([3]float64{6, 0, -1.5}) ||
		s.Course.Zones[1].Kind != Finish {
		t.Errorf("zones: got %+v, want a checkpoint in the gate and a finish", s.Course.Zones)
	}
}

func TestContains(t *testing.T) {
	// its z points along x
	at := hal.Pose{Position: [3]float64{1, 2, 3}, Rotation: [4]float64{math.Sqrt(0.5), 0, math.Sqrt(0.5), 0}}
	for _, c := range []struct {
		name    string
		shape   Shape
		in, out [3]float64 // from the middle
	}{
		{"sphere", Shape{Kind: Sphere, Radius: 0.5}, [3]float64{0.4, 0.2, 0.2}, [3]float64{0.4, 0.3, 0.1}},
		{"box", Shape{Kind: Box, Half: vec{0.1, 0.2, 0.3}}, [3]float64{0.29, 0.19, 0.09}, [3]float64{0.29, 0.19, 0.11}},
		{"cylinder", Shape{Kind: Cylinder, Radius: 0.5, Half: vec{0, 0, 1}}, [3]float64{0.99, 0.3, 0.3},
			[3]float64{1.01, 0.3, 0.3}},
		{"capsule", Shape{Kind: Capsule, Radius: 0.5, Half: vec{0, 0, 1}}, [3]float64{1.4, 0.1, 0},
			[3]float64{1.4, 0.4, 0}},
	} {
		c.shape.Pose = at
		z := Zone{Shape: c.shape}
		if !z.Contains(add(at.Position, c.in)) || z.Contains(add(at.Position, c.out)) {
			t.Errorf("%s: got in %t, out %t", c.name, z.Contains(add(at.Position, c.in)),
				!z.Contains(add(at.Position, c.out)))
		}
		z.Shape.Pose.Position[0] = math.NaN()
		if z.Contains(at.Position) {
			t.Errorf("%s: contains what is nowhere", c.name)
		}
	}
	if Finish.String() != "FinishZone" || ZoneKind(9).String() != "Zone" {
		t.Error("kinds: got other names")
	}
}

// One scene with everything wrong with it: every fault has its path.
func TestCourseFaults(t *testing.T) {
	_, err := ParseScene([]byte(`name: x
materials:
  a: {friction: 1, second: [1, 1, 1]}
  b: {friction: 1, colour: [1, 2, 3], pattern: dots}
  c: {friction: 1, colour: [1, 1, 1], size_m: 1}
water: {density_kgm3: 0, turbidity: -1, current_ms: [0, 0, 20], surface_m: .inf}
objects:
  - {class: "G 1", name: one}
  - {class: g, name: one, shapes: [{sphere: 1, material: d}]}
course:
  starts: [{name: s, spread_deg: 200}, {name: s}]
  checkpoints: [{id: "a,b", sphere: 1}, {id: c, sphere: 1, mass_kg: 1}]
  finish: [{id: c}]
`), "f", 1)
	for _, want := range []string{
		"materials.a.pattern: got nothing", "materials.b.colour", `materials.b.pattern: got "dots"`,
		"materials.b.size_m", "materials.c.pattern: got nothing",
		"water.density_kgm3: got 0", "water.turbidity: got -1", "water.current_ms[2]: got 20",
		"water.surface_m: got .inf",
		`objects[0].class: got "G 1"`, "objects[0].shapes: got nothing", `objects[1].name: got "one"`,
		`objects[1].shapes[0].material: got "d"`,
		"course.starts[0].spread_deg: got 200", `course.starts[1].name: got "s"`,
		`course.checkpoints[0].id: got "a,b"`, "course.checkpoints[1]: got a mass", `course.finish[0].id: got "c"`,
		"course.finish[0]: got 0 solids",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant a fault with %q", err, want)
		}
	}
}

// The scene of docs/okon.md is a file that can be read.
func TestDocumentedCourse(t *testing.T) {
	page, err := os.ReadFile("../../docs/okon.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```yaml\nwater:")
	block, _, _ = strings.Cut(block, "```")
	s, err := ParseScene([]byte("name: my-pool\nwater:"+block), "f", 1)
	if err != nil || s.Water == nil || len(s.Things) != 1 || len(s.Course.Zones) != 4 || len(s.Course.Starts) != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
}
