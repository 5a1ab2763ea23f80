package hydro

import (
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/camera"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// small is a vehicle with one of each.
const small = `name: small
mass_kg: 2
inertia_kgm2: [0.1, 0.1, 0.1, 0.01, 0, 0]
hull: {volume_m3: 0.002, box_m: [0.1, 0.2, 0.1], cells: [2, 2, 2]}
added_mass:
  matrix:
    - [2, 0, 0, 0, 0.1, 0]
    - [0, 2, 0, -0.1, 0, 0]
    - [0, 0, 2, 0, 0, 0]
    - [0, -0.1, 0, 1, 0, 0]
    - [0.1, 0, 0, 0, 1, 0]
    - [0, 0, 0, 0, 0, 1]
drag: {law: sum, linear: [1, 1, 1, 1, 1, 1], quadratic: [1, 1, 1, 1, 1, 1]}
curve: {neutral_us: 1500, span_us: 400, table_n: [[1100, -10], [1475, 0], [1525, 0], [1900, 20]]}
thrusters:
  - {name: a, axis: [0, 3, 4]}
  - {name: b, yaw_deg: 90}
shapes:
  - {sphere: 0.1}
  - {cylinder: [0.1, 0.4], along: x}
cameras:
  - {name: c, down_deg: 90, field_of_view_deg: 60, size: [4, 3], range_m: [0, 10]}
`

func TestParse(t *testing.T) {
	v, err := Parse([]byte(small), "small")
	if err != nil {
		t.Fatal(err)
	}
	near(t, "product of inertia", v.Inertia[1], 0.01, 0)
	near(t, "coupling", v.Added[1][3], -0.1, 0)
	near(t, "axis", v.Thrusters[0].Direction[2], 0.8, 1e-15)
	near(t, "yaw", v.Thrusters[1].Direction[1], 1, 1e-15)
	near(t, "table", v.Curve.Force(1712.5), 10, 1e-9)
	near(t, "volts without a supply in the file", New(v, 0).Volts, 16, 0)
	near(t, "which have no effect", v.Supply.scale(8), 1, 0)
	if v.Thruster("b") != 1 || v.Thruster("z") != -1 {
		t.Error("thruster: got the wrong index")
	}
	shapes := v.Geoms(3)
	if len(shapes) != 2 || shapes[1].Body != 3 || shapes[1].Kind != collide.Cylinder || shapes[1].Half[2] != 0.2 {
		t.Errorf("geoms: got %+v", shapes)
	}
	c := v.Cameras(3)[0]
	if c.Body != 3 || c.Width != 4 || math.Abs(c.FieldOfView-math.Pi/3) > 1e-12 ||
		math.Abs(c.Mount.Rotation[2]-math.Sqrt2/2) > 1e-12 {
		t.Errorf("camera: got %+v", c)
	}
}

// TestBuiltIn: the files of the package are whole: a studio takes their cameras, and Okon's values are the original's.
func TestBuiltIn(t *testing.T) {
	if names := strings.Join(Names(), " "); names != "bluerov2-heavy okon" {
		t.Errorf("names: got %q", names)
	}
	for _, name := range Names() {
		v := load(t, name)
		if v.Name != name || len(v.Thrusters) != 8 || len(v.shapes) == 0 {
			t.Errorf("%s: got %q with %d thrusters and %d shapes", name, v.Name, len(v.Thrusters), len(v.shapes))
		}
		scene := camera.Scene{Geoms: v.Geoms(0), Paints: make([]camera.Paint, len(v.shapes)), Water: &camera.Water{}}
		s, err := camera.New(&scene, 1, v.Cameras(0), 1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s.Close()
	}
	okon := load(t, "okon")
	near(t, "righting arm", okon.Hull.Centre[2]-okon.COM[2], 0.002, 1e-15)
	near(t, "battery", New(okon, 0).Volts, 16, 0)
	near(t, "weight", okon.Mass*9.81, 123.12, 0.01)
	near(t, "buoyancy", okon.Hull.Volume*997*9.81, 123.23, 0.01)
	var wrong *hal.Error
	if _, err := Load("nautilus"); !errors.As(err, &wrong) || wrong.Kind != hal.Invalid ||
		!strings.Contains(err.Error(), "okon") {
		t.Errorf("nautilus: got %v, want the names there are", err)
	}
	if _, err := Source("../hydro/okon"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path: got %v, want not there", err)
	}
}

// TestFaults: one file, one report of all that is wrong with it.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"name: small", "name: Small One", `small:1:7: name: got "Small One", want lower-case letters`},
		{"name: small", "nmae: small", `small:1:1: nmae: got an unknown key, want name, title`},
		{"mass_kg: 2", "mass_kg: -1", "small:2:10: mass_kg: got -1, want 1e-3..1e6"},
		{"mass_kg: 2", "mass_kg: .nan", "mass_kg: got .nan"},
		{"mass_kg: 2", "mass_kg: .inf", "mass_kg: got .inf"},
		{"[0.1, 0.1, 0.1, 0.01, 0, 0]", "[0.1, 0.1, 0.5]", "small:3:1: inertia_kgm2: inertia: got principal moments"},
		{"[0.1, 0.1, 0.1, 0.01, 0, 0]", "[1, 1]", "inertia_kgm2: got 2, want a list of 3 or 6 numbers"},
		{"volume_m3: 0.002", "volume_m3: -3", "hull.volume_m3: got -3"},
		{"cells: [2, 2, 2]", "cells: [2, 0, 2]", "small:4:61: hull.cells[1]: got 0, want 1..32"},
		{", cells: [2, 2, 2]", "", "hull.cells: got nothing, want a list of 3 numbers"},
		{"cells: [2, 2, 2]", "cells: [2, 2, 2], ramp_m: 1", "either a ramp or a box"},
		{"[2, 0, 0, 0, 0.1, 0]", "[2, 1, 0, 0, 0.1, 0]", "added_mass: added: got"},
		{"[2, 0, 0, 0, 0.1, 0]", "[2, 1]", "added_mass.matrix[0]: got 2, want"},
		{"  matrix:\n", "  kg: [1, 1, 1]\n  matrix:\n", "added_mass.matrix: got it with kg"},
		{"law: sum", "law: cubic", `drag.law: got "cubic", want sum or greater`},
		{"linear: [1, 1, 1, 1, 1, 1]", "linear: [1, 1, 1, 1, 1, -1]", "drag.linear[5]: got -1"},
		{"[1475, 0]", "[1075, 0]", "small:14:64: curve.table_n[1]: got 1075 us after 1100"},
		{"table_n", "table_m", "curve: got 0 of polynomial"},
		{"[[1100, -10], [1475, 0], [1525, 0], [1900, 20]]", "[[1, 2]]", "curve.table_n: got no piece"},
		{"table_n: [[1100, -10], [1475, 0], [1525, 0], [1900, 20]]",
			"polynomial: [{from_us: 1400, to_us: 1600, newtons: [1, 2, 3]}]", "across neutral"},
		{"name: b", "name: a", `thrusters[1].name: got "a", want one of its own; thrusters[0].name has it too`},
		{"axis: [0, 3, 4]", "axis: [0, 0, 0]", "thrusters[0].axis: got [0 0 0], want a direction"},
		{"axis: [0, 3, 4]", "axis: [0, 3, 4], up: true", "thrusters[0]: got 2 of"},
		{"sphere: 0.1", "sphere: -1", "shapes[0]"},
		{"sphere: 0.1", "sphere: 1, box: [1, 1, 1]", "shapes[0]: got 2 of"},
		{"along: x", "along: w", "shapes[1].along"},
		{"size: [4, 3]", "size: [4, 0]", "cameras[0].size[1]"},
		{"range_m: [0, 10]", "range_m: [10, 1]", "cameras[0].range_m"},
		{"field_of_view_deg: 60", "field_of_view_deg: 200", "cameras[0].field_of_view_deg"},
		{small, "", "small: name: got nothing"},
		{small, "a: &a 1\nb: *a", "got an anchor"},
		{small, "\t: {", "small:1:1: got a syntax error"},
	} {
		_, err := Parse([]byte(strings.Replace(small, c.from, c.to, 1)), "small")
		if hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: got %v, want a fault with %q", c.to[:min(len(c.to), 40)],
				c.from[:min(len(c.from), 40)], err, c.want)
		}
	}
	_, err := Parse([]byte("mass_kg: -1\nlag_ms: -1\nunknown: 3\n"), "small")
	for _, want := range []string{"unknown", "name:", "mass_kg", "lag_ms", "hull", "drag", "curve"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("all together: got %v, want one of %s too", err, want)
		}
	}
}

// FuzzParse: any file is refused or makes a vehicle that swims: a second in water without NaN.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	for _, name := range Names() {
		b, err := Source(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, s := range []string{"", "name: a\n", "{", "curve: {table_kgf: [[1]]}", "thrusters: [{}]",
		"hull: {cells: [1,1,1], box_m: [1,1,1]}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := Parse(b, "f")
		if err != nil {
			return
		}
		d := launch(t, v, fresh, 0)
		for i := range d.Input {
			d.Input[i] = 1
		}
		for range 20 {
			// A vehicle of a gram with a megaton of thrust may diverge, which the engine reports and reverts.
			if err := d.Step(dt); err != nil {
				break
			}
		}
		for _, x := range append(d.Q, d.V...) {
			if x-x != 0 {
				t.Fatalf("got %v, %v", d.Q, d.V)
			}
		}
	})
}
