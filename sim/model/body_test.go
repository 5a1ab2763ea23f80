package model

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// example takes the robot out of the package's documentation, so that it stays true.
func example(t *testing.T) []byte {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(doc)) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok {
			b.WriteString(text)
		}
	}
	return []byte(strings.ReplaceAll(b.String(), "MODEL", "ax-12a")) // any servo's
}

func TestDocExample(t *testing.T) {
	r, err := Parse(example(t), "f")
	if err != nil {
		t.Fatal(err)
	}
	trunk, head := r.Bodies[0], r.Bodies[1]
	if got, want := trunk.Mass, 500*(0.1*0.1*0.19+math.Pi*1e-4*(0.1+4.0/300)); math.Abs(got-want) > 1e-12 {
		t.Errorf("trunk: got %g kg, want %g", got, want)
	}
	if trunk.Shapes[0].Material != (Material{Friction: 1, Torsion: 0.002}) ||
		trunk.Shapes[1].Material.Friction != 0.5 || trunk.Shapes[1].Collides {
		t.Errorf("trunk: got %+v", trunk.Shapes)
	}
	if head.CentreOfMass != (vec{0.01}) || math.Abs(head.Inertia[0]-0.4*0.2*0.0016) > 1e-15 {
		t.Errorf("head: got centre %v, inertia %v", head.CentreOfMass, head.Inertia)
	}
	j := r.Joints[0]
	if j.Parent != 0 || j.Child != 1 || j.Sign != 1 || j.Stops != [2]float64{radians(-50), radians(50)} ||
		j.Load.Min != 0 || j.Partner != 0 {
		t.Errorf("nod: got %+v", j.Linkage)
	}
	if a := r.Accelerometers[0]; a.Body != 1 || len(a.Axes) != 2 || a.Axes[1] != (vec{0, 0, 1}) || a.Range != 2*9.81 {
		t.Errorf("balance: got %+v", a)
	}
	if r.Root() != 0 || r.Body("tail") != hal.None || r.Touch(0, 1) || r.Fixed {
		t.Errorf("got root %d, tail %d", r.Root(), r.Body("tail"))
	}
	sound(t, r)
}

// Closed formulas compared with a sum over small cubes.
func TestInertia(t *testing.T) {
	const n = 60
	for _, s := range []Shape{
		{Kind: Sphere, Radius: 0.5}, {Kind: Capsule, Radius: 0.3, Half: vec{2: 0.4}},
		{Kind: Box, Half: vec{0.1, 0.2, 0.3}}, {Kind: Cylinder, Radius: 0.4, Half: vec{2: 0.25}},
	} {
		inside := func(p vec) bool {
			q := math.Hypot(p[0], p[1])
			switch s.Kind {
			case Sphere:
				return dot(p, p) < 0.25
			case Capsule:
				return math.Hypot(q, math.Max(0, math.Abs(p[2])-0.4)) < 0.3
			case Cylinder:
				return q < 0.4 && math.Abs(p[2]) < 0.25
			}
			return math.Abs(p[0]) < 0.1 && math.Abs(p[1]) < 0.2 && math.Abs(p[2]) < 0.3
		}
		var volume float64
		var sum mat
		const step = 1.5 / n
		for i := range n * n * n {
			p := vec{(float64(i%n)+0.5)*step - 0.75, (float64(i/n%n)+0.5)*step - 0.75, (float64(i/n/n)+0.5)*step - 0.75}
			if inside(p) {
				volume += step * step * step
				sum.add(moved(step*step*step, p))
			}
		}
		if got := s.Volume(); math.Abs(got/volume-1) > 0.03 {
			t.Errorf("%s: volume: got %g, want about %g", s.Kind, got, volume)
		}
		got := s.inertia(s.Volume())
		for k := range 3 {
			if math.Abs(got[k][k]/sum[k][k]-1) > 0.04 {
				t.Errorf("%s: inertia %d: got %g, want about %g", s.Kind, k, got[k][k], sum[k][k])
			}
		}
	}
}

// However a bar is cut into shapes and turned, it weighs the same.
func TestWeigh(t *testing.T) {
	whole := readBody(t, `{name: b, density_kgm3: 1000, shapes: [{box: [0.2, 0.02, 0.04], at_m: [0.1, 0, 0]}]}`)
	for _, text := range []string{
		`{name: b, mass_kg: 0.16, shapes: [{box: [0.1, 0.02, 0.04], at_m: [0.05, 0, 0]}, {box: [0.1, 0.02, 0.04], at_m: [0.15, 0, 0]}]}`,
		`{name: b, shapes: [{box: [0.05, 0.02, 0.04], at_m: [0.025, 0, 0], mass_kg: 0.04}, {box: [0.15, 0.02, 0.04], at_m: [0.125, 0, 0], mass_kg: 0.12}]}`,
		`{name: b, density_kgm3: 1000, shapes: [{box: [0.02, 0.2, 0.04], at_m: [0.1, 0, 0], rotation_deg: [0, 0, 90]}]}`,
		`{name: b, density_kgm3: 1000, shapes: [{box: [0.04, 0.02, 0.2], at_m: [0.1, 0, 0], along: x}]}`,
		`{name: b, density_kgm3: 1000, shapes: [{box: [0.02, 0.04, 0.2], at_m: [0.1, 0, 0], rotation_deg: [90, 0, 90]}]}`,
	} {
		b := readBody(t, text)
		if math.Abs(b.Mass-whole.Mass) > 1e-15 || !near(b.CentreOfMass, whole.CentreOfMass) {
			t.Errorf("%s: got %g kg at %v, want %g at %v", text, b.Mass, b.CentreOfMass, whole.Mass, whole.CentreOfMass)
		}
		for k := range b.Inertia {
			if math.Abs(b.Inertia[k]-whole.Inertia[k]) > 1e-12 {
				t.Errorf("%s: inertia: got %v, want %v", text, b.Inertia, whole.Inertia)
				break
			}
		}
	}
	// What is given holds.
	b := readBody(t, `{name: b, mass_kg: 2, com_m: [0, 0, 1], inertia_kgm2: [2, 2, 3, 0.1, 0.2, 0.3], shapes: [{sphere: 1}]}`)
	if b.Mass != 2 || b.CentreOfMass != (vec{0, 0, 1}) || b.Inertia != [6]float64{2, 2, 3, 0.1, 0.2, 0.3} {
		t.Errorf("got %g, %v, %v", b.Mass, b.CentreOfMass, b.Inertia)
	}
}

func TestAlong(t *testing.T) {
	for name, want := range map[string]vec{"x": {1, 0, 0}, "y": {0, 1, 0}, "z": {0, 0, 1}} {
		b := readBody(t, "{name: b, mass_kg: 1, shapes: [{capsule: [0.1, 1], along: "+name+"}]}")
		m := matrix(b.Shapes[0].Pose.Rotation)
		if got := m.times(vec{0, 0, 1}); !near(got, want) {
			t.Errorf("along %s: got %v, want %v", name, got, want)
		}
	}
}

func readBody(t *testing.T, text string) Body {
	t.Helper()
	r, err := Parse([]byte(`{name: r, supply: {volts: 12}, base: fixed, bodies: [{name: root}, `+text+
		`], joints: [{name: j, servo: mx-28, limits_deg: [-1, 1], parent: root, child: b, anchor_m: [0, 0, 0], axis: [0, 0, 1]}]}`), "f")
	if err != nil {
		t.Fatal(err)
	}
	return r.Bodies[1]
}

func TestPlausible(t *testing.T) {
	for _, c := range []struct {
		i    [6]float64
		want bool
	}{
		{[6]float64{}, true},
		{[6]float64{1, 1, 1}, true},
		{[6]float64{1, 1, 2}, true}, // a plate
		{[6]float64{0, 1, 1}, true}, // a rod
		{[6]float64{1, 1, 2.1}, false},
		{[6]float64{-0.1, 1, 1}, false},
		{[6]float64{1, 1, 1, 0.4}, true},
		{[6]float64{1, 1, 1, 0.6}, false},
		{[6]float64{1, 1, 1, 2}, false},
		{[6]float64{math.NaN(), 1, 1}, false},
		{[6]float64{math.Inf(1), 1, 1}, false},
		{[6]float64{1, 1, 1, math.NaN()}, false},
		{[6]float64{1e-9, 1e-9, 1e-9}, true},
		{[6]float64{1e-9, 1e-9, 3e-9}, false},
	} {
		if got := plausible(c.i); got != c.want {
			t.Errorf("%v: got %v, want %v", c.i, got, c.want)
		}
	}
}

func TestBodyFaults(t *testing.T) {
	const bad = `
name: r
supply: {volts: 12}
simloid: -3
base: hanging
joint_defaults: {servo: mx-28}
materials:
  both: {friction: 1, force_n: 1}
  neither: {torsion_m: -1}
  hot: {friction: .nan, restitution: 2}
bodies:
  - {name: a, mass_kg: -1, shapes: [{sphere: 0.1}]}
  - {name: a, mass_kg: 1, density_kgm3: 1, shapes: [{sphere: 0.1}]}
  - {name: Big, density_kgm3: .inf}
  - {name: c, mass_kg: 1, inertia_kgm2: [1, 1, 3], position_m: [0, .nan, 0], rotation_deg: [0, 0]}
  - {name: d, mass_kg: 1}
  - {name: e, mass_kg: 1, shapes: [{sphere: 1, box: [1, 1, 1]}, {capsule: [0, 1]}, {box: [1, 1]}, {box: [1, 1, 1], along: w, material: soap}]}
  - {name: f}
  - {name: loop1, mass_kg: 1, shapes: [{sphere: 1}]}
  - {name: loop2, mass_kg: 1, shapes: [{sphere: 1}]}
no_contact: [[a, a], [a], [a, z]]
accelerometers:
  - {name: x, body: z, axes: [+x, up]}
  - {name: x, body: c, axes: []}
joints:
  - {name: j0, limits_deg: [-1, 1], parent: a, child: c, anchor_m: [0, 0, 0], axis: [0, 0, 1]}
  - {name: j1, limits_deg: [-1, 1], parent: a, child: c, anchor_m: [0, 0, 0], axis: [0, 0, 0]}
  - {name: j2, limits_deg: [-1, 1], parent: z, child: d, axis: [0, 0, .nan], sign: 2, start_deg: 400}
  - {name: j3, limits_deg: [-1, 1], parent: e, child: e, anchor_m: [0, 0, 0], axis: [0, 0, 1], mirrors: j3}
  - {name: j4, limits_deg: [-1, 1], parent: loop1, child: loop2, anchor_m: [0, 0, 0], axis: [0, 0, 1], mirrors: j0}
  - {name: j5, limits_deg: [-1, 1], parent: loop2, child: loop1, anchor_m: [0, 0, 0], axis: [0, 0, 1], mirrors: j0}
  - {name: j6, motor: steam, servo: mx-28, torque_factor: -1, limits_deg: [-1, 1], mirrors: absent}
passive:
  - {name: j0, kind: rope, parent: a, child: f, mimic: {joint: j9, times: .nan}}
  - {name: p, kind: slide, stops_deg: [0, 1], stops_m: [1, 0], parent: a, child: f, anchor_m: [0, 0, 0], axis: [1, 0, 0]}
`
	_, err := Parse([]byte(bad), "f")
	if hal.KindOf(err) != hal.Invalid {
		t.Fatalf("got %v, want an invalid error", err)
	}
	for _, want := range []string{
		"simloid: got -3", `base: got "hanging"`, "f:8:3: materials.both: got friction and force_n, want either",
		"materials.neither.friction: got nothing",
		"materials.neither.torsion_m: got -1", "materials.hot.friction: got .nan", "materials.hot.restitution: got 2",
		"bodies[0].mass_kg: got -1", `bodies[1].name: got "a", want one of its own; bodies[0].name has it too`,
		"bodies[1]: got several masses, want one of mass_kg",
		`bodies[2].name: got "Big"`, "bodies[2].density_kgm3: got .inf", "bodies[3].inertia_kgm2: got [1 1 3]",
		"bodies[3].position_m[1]: got .nan", "bodies[3].rotation_deg: got 2", "bodies[4].inertia_kgm2: got nothing",
		"bodies[5].shapes[0]: got 2 solids", "bodies[5].shapes[1].capsule[0]: got 0",
		"bodies[5].shapes[2].box: got 2, want a list of 3",
		`bodies[5].shapes[3].along: got "w"`, `bodies[5].shapes[3].material: got "soap"`, "bodies[6]: got no mass",
		`bodies[7]: "loop1" hangs in a loop`, `bodies[8]: "loop2" hangs in a loop`,
		`no_contact[0]: got "a" twice`, "no_contact[1]: got", `no_contact[2][1]: got "z"`,
		`accelerometers[0].body: got "z"`, `accelerometers[0].axes[1]: got "up"`, "accelerometers[1].axes: got none",
		`accelerometers[1].name: got "x", want one of its own; accelerometers[0].name has it too`,
		`joints[1].child: got "c", which joints[0] holds already`, "joints[1].axis: got [0 0 0]",
		`joints[2].parent: got "z"`, "joints[2].anchor_m: got nothing", "joints[2].axis[2]: got .nan",
		"joints[2].sign: got 2",
		"joints[2].start_deg: got 400", `joints[3]: got "e" as parent and child`,
		"joints[3].mirrors: got the joint itself",
		`joints[5].mirrors: got "j0", but one`, `joints[6].motor: got "steam", want`,
		"joints[6].torque_factor: got -1", `joints[6].mirrors: got "absent"`,
		`passive[0].name: got "j0", want one of its own; joints[0] has it too`, `passive[0].kind: got "rope"`,
		`passive[0].mimic.joint: got "j9"`,
		"passive[0].mimic.times: got .nan", "passive[1].stops_deg: got [0 1] for a slide",
		"passive[1].stops_m: got [1, 0]",
		`passive[1].child: got "f", which passive[0] holds already`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no fault %q", want)
		}
	}
	if t.Failed() {
		t.Logf("got:\n%v", err)
	}
}

// Faults of the whole: each file has one alone.
func TestTreeFaults(t *testing.T) {
	const head = "name: r\nsupply: {volts: 12}\njoint_defaults: {servo: mx-28}\n"
	body := func(name string) string { return "  - {name: " + name + ", density_kgm3: 1, shapes: [{sphere: 1}]}\n" }
	joint := func(parent, child string) string {
		return "  - {name: " + parent + child + ", limits_deg: [-1, 1], parent: " + parent + ", child: " + child +
			", anchor_m: [0, 0, 0], axis: [0, 0, 1]}\n"
	}
	many := strings.Repeat("  - {name: a}\n", maxBodies+1)
	for _, c := range []struct{ name, text, want string }{
		{"a second root", head + "bodies:\n" + body("a") + body("b") + body("c") + "joints:\n" + joint("a", "b"),
			`bodies[2]: no joint holds "c"`},
		{"too many bodies", head + "bodies:\n" + many + "joints:\n" + joint("a", "b"),
			"bodies: got 1025, want at most 1024"},
		{"too many joints", head + "joints:\n" + many, "joints: got 1025, want at most 1024"},
		{"a joint without bodies", head + "joints:\n" + joint("a", "b"),
			"joints[0]: got parent, child, anchor_m or axis without bodies"},
		{"a base without bodies", head + "base: fixed\njoints:\n  - {name: a, limits_deg: [-1, 1]}\n",
			"bodies: got none"},
		{"passive without bodies", head + "joints:\n  - {name: a, limits_deg: [-1, 1]}\npassive: [{name: p}]\n",
			"passive: got 1 without bodies"},
		{"a root without mass", head + "bodies:\n  - {name: a}\n" + body("b") + "joints:\n" + joint("a", "b"),
			"bodies[0]: got no mass"},
		{"two motors", head + "joints:\n  - {name: a, limits_deg: [-1, 1], servo: mx-28, motor: simloid-rx-28}\n",
			`joints[0].motor: got "simloid-rx-28" and servo "mx-28"`},
		{"too long", head + strings.Repeat("#", yaml.MaxBytes), "want a file of at most 384 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Parse([]byte(c.text), "f"); hal.KindOf(err) != hal.Invalid ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if _, err := Parse([]byte(head+"bodies:\n"+body("b")+body("a")+body("c")+"joints:\n"+joint("a", "b")+
		joint("b", "c")), "f"); err != nil {
		t.Errorf("a child before its parent: %v", err)
	}
}

// Files that would take the YAML library minutes are refused at once.
func TestTame(t *testing.T) {
	bomb := "a0: &a0 [x, x]\n"
	for i := range 30 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d]\n", i+1, i+1, i, i)
	}
	for _, c := range []struct{ name, text, want string }{
		{"bomb", bomb, "f:1:5: a0: got an anchor"},
		{"anchor", "name: &s {volts: 12}\n", "f:1:7: name: got an anchor"},
		{"merge", "name: {<<: 1}\n", "f:1:8: name: got a merge key"},
		{"brackets", "name: " + strings.Repeat("[", 1<<10), "f:1:38: got more than 32 levels"},
		{"braces", "name: " + strings.Repeat("{a: ", 1<<10), "got more than 32 levels"},
	} {
		if _, err := Parse([]byte(c.text), "f"); hal.KindOf(err) != hal.Invalid ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %.200v, want %s", c.name, err, c.want)
		}
		if _, err := ParseScene([]byte(c.text), "f", 0); hal.KindOf(err) != hal.Invalid ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: scene: got %.200v, want %s", c.name, err, c.want)
		}
	}
}

func TestParentsFirst(t *testing.T) {
	for _, c := range []struct{ parents, order, loop string }{
		{"[-1 0 1]", "[0 1 2]", "[]"},
		{"[2 0 -1]", "[2 0 1]", "[]"},
		{"[1 2 0 -1 3]", "[3 4]", "[2 1 0]"},
		{"[1 0 0 2]", "[]", "[1 0 2 3]"},
		{"[]", "[]", "[]"},
	} {
		var parents []int
		for _, w := range strings.Fields(strings.Trim(c.parents, "[]")) {
			var p int
			fmt.Sscan(w, &p)
			parents = append(parents, p)
		}
		order, loop := parentsFirst(parents)
		if fmt.Sprint(order) != c.order || fmt.Sprint(loop) != c.loop {
			t.Errorf("%s: got %v and %v, want %s and %s", c.parents, order, loop, c.order, c.loop)
		}
	}
}

func TestPassive(t *testing.T) {
	r, err := Parse([]byte(`
name: gripper
supply: {volts: 12}
base: fixed
bodies:
  - {name: palm}
  - {name: left, density_kgm3: 1, shapes: [{box: [1, 1, 1]}]}
  - {name: right, density_kgm3: 1, shapes: [{box: [1, 1, 1]}]}
  - {name: tip, density_kgm3: 1, shapes: [{cylinder: [1, 1]}]}
joints:
  - {name: left, servo: mx-28, limits_deg: [-1, 1], parent: palm, child: left, anchor_m: [0, 0, 0], axis: [0, 0, 2]}
passive:
  - {name: right, kind: slide, stops_m: [0, 0.1], parent: palm, child: right, anchor_m: [0, 0, 0], axis: [0, 1, 0], damping_nms: 2, mimic: {joint: left, times: -0.5, plus_m: 0.05}}
  - {name: glue, kind: weld, parent: left, child: tip}
`), "f")
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Passive[0]; p.Kind != Slide || p.Stops != [2]float64{0, 0.1} || p.Damping != 2 ||
		*p.Mimic != (Mimic{0, -0.5, 0.05}) {
		t.Errorf("right: got %+v", p)
	}
	if r.Passive[1].Kind != Weld || r.Joints[0].Axis != (vec{0, 0, 1}) || fmt.Sprint(r.Parents()) != "[-1 0 0 1]" {
		t.Errorf("got %v, axis %v, parents %v", r.Passive[1].Kind, r.Joints[0].Axis, r.Parents())
	}
	for i, want := range []string{"hinge", "slide", "weld", "ball", "no joint"} {
		if got := JointKind(i).String(); got != want {
			t.Errorf("kind %d: got %q, want %q", i, got, want)
		}
	}
}
