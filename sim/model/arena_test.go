package model

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// The arenas have the manual's start, which is the first, and nothing stands in it.
func TestArenas(t *testing.T) {
	manual := map[string][3]float64{"yellow": {4.5, -1.9, -1.8}, "orange": {1.2, 2.3, -1.16}, "red": {0.76, -2.3, -1.8},
		"hall": {4.5, -1.9, -1.8}}
	if names := ArenaNames(); len(names) != len(manual) {
		t.Errorf("got %v, want %d arenas", names, len(manual))
	}
	for name, want := range manual {
		s := loadScene(t, name, 1)
		if len(s.Course.Starts) < 2 || s.Course.Starts[0].Pose.Position != want {
			t.Errorf("%s: got %v, want starts from %v on", name, s.Course.Starts, want)
		}
		if s.Ground == nil || s.Arena.Level != "DM-USAR_"+name {
			t.Errorf("%s: got ground %v, level %q", name, s.Ground, s.Arena.Level)
		}
		for _, at := range s.Course.Starts {
			for i := range s.Fixed {
				if f := &s.Fixed[i]; f.Kind == Box && close(f, at.Pose.Position, 0.2) {
					t.Errorf("%s: start %s: fixed[%d] at %v is within 0.3 m", name, at.Name, i, f.Pose.Position)
				}
			}
		}
		if name != "hall" && (len(s.Arena.Victims) < 3 || len(s.Arena.Tags) < 2) {
			t.Errorf("%s: got %d victims and %d tags", name, len(s.Arena.Victims), len(s.Arena.Tags))
		}
	}
}

// close reports whether a point is nearer to a box than room, in the box's own directions.
func close(box *Shape, at [3]float64, room float64) bool {
	v := box.Pose.Inverse().Of(at)
	for i := range v {
		if math.Abs(v[i]) > box.Half[i]+room {
			return false
		}
	}
	return true
}

// Each cell of the yellow maze can be reached from the start, each by one way or more.
func TestYellowIsConnected(t *testing.T) {
	src, err := SceneSource("yellow")
	if err != nil {
		t.Fatal(err)
	}
	var f sceneFile
	if d, _ := yaml.Decode(src, "yellow", &f); d.Err() != nil {
		t.Fatal(d.Err())
	}
	d := drawing{rows: f.Arena.Plans[0].Rows, bottom: len(f.Arena.Plans[0].Rows) - 1}
	wide, high := 10, 8
	seen := map[[2]int]bool{}
	todo := [][2]int{{3, 6}} // the start's cell
	for len(todo) > 0 {
		c := todo[0]
		todo = todo[1:]
		if seen[c] || c[0] < 0 || c[1] < 0 || c[0] >= wide || c[1] >= high {
			continue
		}
		seen[c] = true
		for _, step := range []struct {
			wall byte
			to   [2]int
		}{
			{d.across(c[1], c[0]), [2]int{c[0], c[1] - 1}}, {d.across(c[1]+1, c[0]), [2]int{c[0], c[1] + 1}},
			{d.up(c[0], c[1]), [2]int{c[0] - 1, c[1]}}, {d.up(c[0]+1, c[1]), [2]int{c[0] + 1, c[1]}},
		} {
			if step.wall == ' ' {
				todo = append(todo, step.to)
			}
		}
	}
	if len(seen) != wide*high {
		for y := high - 1; y >= 0; y-- {
			row := ""
			for x := range wide {
				row += map[bool]string{true: ".", false: "#"}[seen[[2]int{x, y}]]
			}
			t.Log(row)
		}
		t.Errorf("got %d cells, want %d", len(seen), wide*high)
	}
}

func TestPlan(t *testing.T) {
	s, err := ParseScene([]byte(`
name: plan
plans:
  - {at_m: [1, 2, 3], cell_m: 2, height_m: 1, thickness_m: 0.1, rows: ["+--+==+", "|     !", "+     +"]}
`), "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ at, half [3]float64 }{
		{[3]float64{2, 4, 3.5}, [3]float64{1.05, 0.05, 0.5}}, {[3]float64{4, 4, 3.5}, [3]float64{1.05, 0.05, 0.5}},
		{[3]float64{1, 3, 3.5}, [3]float64{0.05, 1.05, 0.5}}, {[3]float64{5, 3, 3.5}, [3]float64{0.05, 1.05, 0.5}},
	}
	if len(s.Fixed) != len(want) {
		t.Fatalf("got %d walls, want %d", len(s.Fixed), len(want))
	}
	for i, w := range want {
		if f := &s.Fixed[i]; far(f.Pose.Position, w.at) > 1e-12 || far(f.Half, w.half) > 1e-12 {
			t.Errorf("wall %d: got %v, %v, want %v", i, f.Pose.Position, f.Half, w)
		}
	}
}

func far(a, b [3]float64) float64 {
	return math.Abs(a[0]-b[0]) + math.Abs(a[1]-b[1]) + math.Abs(a[2]-b[2])
}

// The robots have the manual's masses, sizes and classes.
func TestRescueRobots(t *testing.T) {
	want := map[string]struct {
		class         string
		mass          float64
		sonars, wheel int
	}{
		"p2at": {"USARBot.P2AT", 14, 16, 4}, "p2dx": {"USARBot.P2DX", 9, 8, 2}, "atrvjr": {"USARBot.ATRVJr", 50, 17, 4},
		"rover": {"USARBot.Rover", 0, 0, 4}, "usarbc": {"USARBot.USARBc", 0, 0, 2},
		"usarcar":   {"USARBot.USARCar", 0, 0, 4},
		"papagoose": {"USARBot.PapaGoose", 0, 6, 6}, "tarantula": {"USARBot.Tarantula", 0, 0, 8},
		"omnidrive": {"USARBot.Omni", 0, 0, 0},
		"pioneer":   {"USARBot.Pioneer", 14, 16, 4}, "p3at": {"USARBot.P3AT", 0, 16, 4},
		"kenaf": {"USARBot.Kenaf", 20, 0, 8}, "talon": {"USARBot.Talon", 52, 0, 8},
		"matilda": {"USARBot.Matilda", 28, 0, 8},
	}
	if names := RescueNames(); len(names) != len(want) {
		t.Errorf("got %v, want %d robots", names, len(want))
	}
	kinds := map[string]bool{}
	for name, w := range want {
		r, err := Load("usarsim-" + name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sonars := 0
		for _, s := range r.Sensors {
			kinds[s.Kind] = true
			if s.Kind == "sonar" {
				sonars++
			}
		}
		if r.Rescue.Class != w.class || sonars != w.sonars || len(r.Rescue.Left)+len(r.Rescue.Right) != w.wheel {
			t.Errorf("%s: got %s with %d sonars, wheels %v and %v", name, r.Rescue.Class, sonars, r.Rescue.Left,
				r.Rescue.Right)
		}
		if w.mass > 0 && math.Abs(r.Mass()-w.mass) > 0.05*w.mass {
			t.Errorf("%s: got %g kg, want %g", name, r.Mass(), w.mass)
		}
	}
	for _, kind := range append(slices.Collect(maps.Keys(deviceKinds())), "contact", "pose") {
		if !kinds[kind] {
			t.Errorf("no robot has a sensor of kind %s", kind)
		}
	}
}

// All that is wrong comes together, each with its path.
func TestArenaFaults(t *testing.T) {
	_, err := ParseScene([]byte(`
name: bad
tags: [{id: 2000, at_m: [0, 0, 0]}, {id: 1, at_m: [0, 0]}, {id: 1, at_m: [0, 0, 0]}]
victims: [{name: "a b", at_m: [0, 0, 0], loudness: 3}]
plans: [{cell_m: 1, height_m: 1, thickness_m: 0.1, rows: ["+--+", "#"]}]
`), "f", 1)
	for _, part := range []string{"tags[0].id", "tags[1].at_m", "tags[2].id", "victims[0].name",
		"victims[0]: got moves_m", "plans[0].rows", "plans[0].rows[1]"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want a fault of %s", err, part)
		}
	}
	src, err := Source("usarsim-p2at")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, fault string }{
		{"kind: odometry", "kind: odometry, left: absent", "sensors[17].left"},
		{"class: USARBot.P2AT", "class: P 2", "usarsim.class"},
		{"left: [left_front_wheel", "left: [left_wheel", "usarsim.left[0]"},
		{"range_m: 80", "range_m: -1", "range_m"},
		{"range_m: 80, resolution_deg: 1", "range_m: 80, resolution_deg: 0.01", "rays"},
		{"kind: pose", "kind: pose, noise: 1", "got device values"},
		{"torque_nm: 8", "torque_nm: 0", "joints[0].torque_nm"},
	} {
		_, err := Parse([]byte(strings.Replace(string(src), c.from, c.to, 1)), "f")
		if hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: got %v, want a fault of %s", c.to, err, c.fault)
		}
	}
}

// A fence is a post every gap and two rails; lamps and daylight are as written.
func TestFencesAndLamps(t *testing.T) {
	s, err := ParseScene([]byte(`{name: a, materials: {metal: {friction: 0.5, mirror: true}}, daylight: 0.25, lights: [{at_m: [1, 2, 3], half_deg: 30, power: 2}],
fences: [{from_m: [1, 1, 0], to_m: [1, 2, 0], height_m: 0.5, gap_m: 0.25, bar_m: 0.02, material: metal}]}`), "f", 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Fixed) != 5+2 || !s.Fixed[0].Material.Mirror {
		t.Fatalf("got %d shapes, want five posts and two rails", len(s.Fixed))
	}
	post, rail := s.Fixed[1], s.Fixed[6]
	if p := post.Pose.Position; p != [3]float64{1, 1.25, 0.25} || post.Half != [3]float64{0.01, 0.01, 0.25} {
		t.Errorf("second post: got %v at %v", post.Half, p)
	}
	if p := rail.Pose.Position; math.Abs(p[1]-1.5) > 1e-12 || math.Abs(p[2]-0.49) > 1e-12 || rail.Half[0] != 0.5 {
		t.Errorf("upper rail: got %v at %v", rail.Half, p)
	}
	if a := s.Arena; a.Daylight != 0.25 || len(a.Lights) != 1 || a.Lights[0].Towards != [3]float64{0, 0, -1} ||
		math.Abs(a.Lights[0].Half-math.Pi/6) > 1e-12 {
		t.Errorf("light: got %+v", a)
	}
	_, err = ParseScene([]byte(`{name: a, materials: {m: {friction: 0.5, mirror: true, glass: true}}, daylight: 2, lights: [{at_m: [1, 2, 3], towards: [0, 0, 0], half_deg: 300, power: -1}],
fences: [{from_m: [1, 1, 0], to_m: [1, 1.1, 1], height_m: 0.5, gap_m: 0.25, bar_m: 0.02, material: m}, {from_m: [0, 0, 0], to_m: [9000, 0, 0], height_m: 1, gap_m: 0.001, bar_m: 0.1, material: m}]}`), "f", 1)
	for _, want := range []string{"materials.m: got glass and mirror", "daylight: got 2, want 0..1",
		"lights[0].towards: no direction", "lights[0].half_deg: got 300",
		"lights[0].power: got -1", "fences[0]: got a fence from", "fences[1]: got 9000003"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// Segments are checked as the rest of a victim is.
func TestSegmentFaults(t *testing.T) {
	_, err := ParseScene([]byte(`{name: a, materials: {m: {friction: 0.5}}, victims: [
{name: A, at_m: [0, 0, 0], material: m, segments: [{name: tail, rate_degs: 1}, {name: head, to_deg: [0, 0, 0], rate_degs: 1}, {name: left_leg, to_deg: [0, 9, 0], rate_degs: 0}, {name: left_leg, to_deg: [0, 9, 0], rate_degs: 1}]},
{false_positive: true, at_m: [0, 0, 0], material: m, segments: [{name: head, to_deg: [0, 0, 9], rate_degs: 1}]},
{name: B, at_m: [0, 0, 0], material: m, segments: [{}, {}, {}, {}, {}, {}, {}, {}, {}]}]}`), "f", 1)
	for _, want := range []string{`victims[0].segments[0].name: got "tail"`, "victims[0].segments[1].to_deg: got",
		"victims[0].segments[2].rate_degs: got 0",
		`victims[0].segments[3].name: got "left_leg"`, "victims[1].segments: got 1 of a false positive",
		"victims[2].segments: got 9, want at most 8"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}
