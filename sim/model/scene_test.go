package model

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

func loadScene(t *testing.T, name string, seed int64) *Scene {
	t.Helper()
	s, err := LoadScene(name, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScenes(t *testing.T) {
	want := map[string]struct{ id, fixed, fields, free int }{
		"flat": {0, 0, 0, 0}, "hurdles": {1, 9, 0, 0}, "hills": {2, 0, 1, 0},
		"shaky": {3, 0, 0, 200}, "stairs": {4, 32, 0, 0}, "plates": {5, 0, 0, 27},
	}
	if names := SceneNames(); len(names) != len(want)+2 { // and the two pools
		t.Errorf("got %v, want %d scenes", names, len(want)+2)
	}
	for name, w := range want {
		s := loadScene(t, name, 1)
		if s.Name != name || s.Simloid != w.id || len(s.Fixed) != w.fixed || len(s.Fields) != w.fields ||
			len(s.Free) != w.free {
			t.Errorf("%s: got %q, id %d, %d fixed, %d fields, %d free", name, s.Name, s.Simloid, len(s.Fixed),
				len(s.Fields), len(s.Free))
		}
		if s.Ground == nil || s.Ground.Friction != 1 || s.Ground.ForceLimit {
			t.Errorf("%s: ground: got %+v, want a friction of 1", name, s.Ground)
		}
	}
	if _, err := LoadScene("moon", 1); hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), "shaky") {
		t.Errorf("moon: got %v, want an invalid error that names the scenes", err)
	}
}

func TestHurdlesAndStairs(t *testing.T) {
	for i, s := range loadScene(t, "hurdles", 0).Fixed {
		n := float64(i + 1)
		if !near(s.Half, vec{0.75, 0.125, 0.001 * n}) || !near(s.Pose.Position, vec{0, -n - 0.5, 0.001*n + 0.001}) ||
			s.Material.Friction != 10 || !s.Collides {
			t.Errorf("hurdle %d: got %+v", i, s)
		}
	}
	for i, s := range loadScene(t, "stairs", 0).Fixed {
		n := float64(i)
		if !near(s.Half, vec{0.4 + 0.025*n, 0.15, 0.0025}) ||
			!near(s.Pose.Position, vec{0, -1.31 - 0.31*n, 0.0125 + 0.01*n}) || s.Material.Friction != 1000 {
			t.Errorf("step %d: got %+v", i, s)
		}
	}
}

func TestHills(t *testing.T) {
	f := loadScene(t, "hills", 0).Fields[0]
	if f.Columns != 10 || f.Rows != 50 || len(f.Heights) != 500 || f.Position != (vec{0, -5, 0}) {
		t.Fatalf("got %d by %d at %v", f.Columns, f.Rows, f.Position)
	}
	if math.Abs(f.Spacing[0]-2.0/9) > 1e-15 || math.Abs(f.Spacing[1]-10.0/49) > 1e-15 {
		t.Errorf("spacing: got %v, want 2/9 and 10/49", f.Spacing)
	}
	// The formula of the table, written down once more, at the world's x and y of each sample.
	for j := range f.Rows {
		for i := range f.Columns {
			x := (float64(i) - 4.5) * f.Spacing[0]
			y := -5 + (float64(j)-24.5)*f.Spacing[1]
			fx, fy := x, (-y-5)/5 // fy is -1 at y = 0 and 1 at y = -10
			across := 0.5*math.Tanh(4*math.Cos(2.0/3*math.Pi*fx)) + 0.5
			along := (fy + 1) * math.Pow(math.Cos(4.5*math.Pi/(fy+2)), 2)
			if got, want := f.Heights[j*10+i], 0.0001+0.5*across*along; math.Abs(got-want) > 2e-9 {
				t.Fatalf("height at %.3f, %.3f: got %g, want %g", x, y, got, want)
			}
		}
	}
	// The highest point of the surface is at y = -6.5; the samples come close to it.
	var top float64
	var at int
	for k, h := range f.Heights {
		if h > top {
			top, at = h, k
		}
	}
	if y := -5 + (float64(at/10)-24.5)*f.Spacing[1]; top < 0.6 || top > 0.639 || math.Abs(y+6.5) > 0.2 {
		t.Errorf("top: got %g m at y = %g, want up to 0.638 at -6.5", top, y)
	}
	if first := f.Heights[len(f.Heights)-5]; first > 0.001 {
		t.Errorf("at y = 0: got %g m, want next to nothing", first)
	}
}

func TestShaky(t *testing.T) {
	a, b, c := loadScene(t, "shaky", 7), loadScene(t, "shaky", 7), loadScene(t, "shaky", 8)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed gave other stones")
	}
	if reflect.DeepEqual(a.Free, c.Free) {
		t.Error("another seed gave the same stones")
	}
	names := map[string]bool{}
	for i := range a.Free {
		s := &a.Free[i]
		half, at := s.Shapes[0].Half, s.Pose.Position
		for k := range 3 {
			if half[k] < 0.01 || half[k] > 0.02 {
				t.Errorf("%s: half size %v, want 0.01 to 0.02", s.Name, half)
			}
		}
		if math.Abs(at[0]) > 0.5 || at[1] < -10 || at[1] > -1 || at[2]-half[2] < 0.1 || at[2]-half[2] > 0.5 {
			t.Errorf("%s: at %v", s.Name, at)
		}
		if got, want := s.Mass, 2800*8*half[0]*half[1]*half[2]; math.Abs(got-want) > 1e-12 || names[s.Name] {
			t.Errorf("%s: got %g kg, want %g, and a name of its own", s.Name, got, want)
		}
		names[s.Name] = true
	}
}

func TestPlates(t *testing.T) {
	s := loadScene(t, "plates", 3)
	var scattered int
	for i := range s.Free {
		p := &s.Free[i]
		var column, row int
		if n, _ := fmt.Sscanf(p.Name, "plate-%d-%d-0", &column, &row); n != 2 {
			continue
		}
		scattered++
		half, at := p.Shapes[0].Half, p.Pose.Position
		if half[0] < 0.05 || half[0] > 0.05+0.0125*float64(row+1) || half[2] > 0.001+0.0015*float64(row+1) {
			t.Errorf("%s: half size %v", p.Name, half)
		}
		if math.Abs(at[0]-0.25*float64(column-2)) > half[0] || math.Abs(at[1]+1.5+0.25*float64(row)) > half[1] {
			t.Errorf("%s: at %v", p.Name, at)
		}
	}
	if scattered != 25 {
		t.Errorf("got %d plates, want 25", scattered)
	}
}

func TestSceneFile(t *testing.T) {
	s, err := ParseScene([]byte(`
name: yard
fixed: [{cylinder: [0.1, 1], at_m: [1, 0, 0.5]}]
fields: [{name: ramp, size_m: [1, 2], heights_m: [[0, 0, 0], [1, 2, 3]]}]
free: [{name: ball, mass_kg: 1, position_m: [0, 0, 2], shapes: [{sphere: 0.1}]}]
`), "f", 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.Ground != nil || s.Simloid != hal.None || s.Fixed[0].Material.Friction != 1 || s.Free[0].Mass != 1 {
		t.Errorf("got %+v", s)
	}
	if f := s.Fields[0]; f.Columns != 3 || f.Rows != 2 || f.Spacing != [2]float64{0.5, 2} || f.Heights[4] != 2 {
		t.Errorf("ramp: got %+v", f)
	}
}

func TestSceneFaults(t *testing.T) {
	const bad = `
name: Bad
colour: red
simloid: 5000
ground: mud
materials: {ice: {friction: -1}}
fixed: [{box: [1, 1, -1]}, {material: mud}]
fields:
  - {size_m: [1]}
  - {size_m: [1, 1], formula: cosine-hills, heights_m: [[0]]}
  - {size_m: [1, 1], formula: sea}
  - {size_m: [1, 1], formula: cosine-hills, samples: [1, 2000]}
  - {size_m: [1, 1], heights_m: [[0, 1], [2]], material: mud}
  - {size_m: [1, 1], heights_m: [[0, 1], [2, .nan]]}
  - {size_m: [1, 1], heights_m: []}
free: [{name: a}, {name: a, mass_kg: 1, shapes: [{sphere: 1}]}]
scatter:
  - {name: a, count: 1000000, density_kgm3: 0, size_x_m: [0, 1], size_y_m: [2, 1], size_z_m: [1], x_m: [0, .inf], y_m: [0, 0], z_m: [0, 0], material: mud}
`
	_, err := ParseScene([]byte(bad), "f", 0)
	if hal.KindOf(err) != hal.Invalid {
		t.Fatalf("got %v, want an invalid error", err)
	}
	for _, want := range []string{
		"f:3:1: colour: got an unknown key", `name: got "Bad"`, "simloid: got 5000", `ground: got "mud"`,
		"materials.ice.friction: got -1",
		"fixed[0].box[2]: got -1", "fixed[1]: got 0 solids", `fixed[1].material: got "mud"`,
		"fields[0].size_m: got 1, want a list of 2",
		"fields[1]: got formula and heights_m, want either", `fields[2].formula: got "sea"`,
		"fields[3].samples[0]: got 1",
		"fields[4].heights_m[1]: got 1 heights, want 2", `fields[4].material: got "mud"`,
		"fields[5].heights_m[1][1]: got .nan",
		"fields[6].heights_m: got 0 rows", "free[0]: got no mass", `free[1].name: got "a"`,
		`scatter[0].name: got "a"`, "scatter[0].count: got 1000000", "scatter[0].density_kgm3: got 0",
		"scatter[0].size_x_m[0]: got 0",
		"scatter[0].size_y_m: got [2, 1], want rising", "scatter[0].size_z_m: got 1, want",
		"scatter[0].x_m[1]: got .inf", `scatter[0].material: got "mud"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no fault %q", want)
		}
	}
	if t.Failed() {
		t.Logf("got:\n%v", err)
	}
	for _, text := range []string{"", "[]", "\x00", "fixed: 3"} {
		if _, err := ParseScene([]byte(text), "f", 0); hal.KindOf(err) != hal.Invalid {
			t.Errorf("ParseScene(%q): got %v, want an invalid error", text, err)
		}
	}
}

func FuzzParseScene(f *testing.F) {
	for _, name := range append(SceneNames(), ArenaNames()...) {
		src, err := SceneSource(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src, int64(1))
	}
	f.Add([]byte("name: a\nfields: [{size_m: [1, 1], heights_m: [[0, 1], [2, 3]]}]"), int64(0))
	f.Fuzz(func(t *testing.T, b []byte, seed int64) {
		s, err := ParseScene(b, "f", seed)
		if err != nil {
			return
		}
		for i := range s.Free {
			if b := &s.Free[i]; !(b.Mass > 0) || !plausible(b.Inertia) {
				t.Errorf("%s: got %g kg and %v", b.Name, b.Mass, b.Inertia)
			}
		}
		for i := range s.Fields {
			if f := &s.Fields[i]; f.Columns*f.Rows != len(f.Heights) || !(f.Spacing[0] > 0 && f.Spacing[1] > 0) {
				t.Errorf("%s: got %d heights of %d by %d", f.Name, len(f.Heights), f.Columns, f.Rows)
			}
		}
	})
}

// A few lines cannot make a scene of hundreds of megabytes: the heights of all formulas together are bounded.
func TestFieldsAreBounded(t *testing.T) {
	text := "name: a\nmaterials: {m: {friction: 1}}\nfields:\n" +
		strings.Repeat("  - {size_m: [1, 1], formula: cosine-hills, samples: [1024, 1024], material: m}\n", 5)
	_, err := ParseScene([]byte(text), "f", 1)
	if hal.KindOf(err) != hal.Invalid ||
		!strings.Contains(err.Error(), "fields[4].samples: got 5242880, want at most 4194304") {
		t.Errorf("got %v, want a fault of the fifth", err)
	}
}
