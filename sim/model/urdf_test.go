package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

const armFile = "testdata/arm/urdf/arm.urdf"

func loadArm(t *testing.T, o URDFOptions) *Robot {
	t.Helper()
	r, err := LoadURDF(armFile, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sub(a, b vec) vec { return add(a, scale(-1, b)) }

func near(a, b vec) bool { d := sub(a, b); return dot(d, d) < 1e-18 }

func TestURDFArm(t *testing.T) {
	r := loadArm(t, URDFOptions{})
	if r.Name != "table_arm" || !r.Fixed || r.Root() != 0 || r.Simloid != hal.None {
		t.Errorf("got name %q, fixed %v, root %d, Simloid id %d", r.Name, r.Fixed, r.Root(), r.Simloid)
	}
	var bodies, joints []string
	for i := range r.Bodies {
		bodies = append(bodies, r.Bodies[i].Name)
	}
	for i := range r.Joints {
		joints = append(joints, r.Joints[i].Name)
	}
	if got := strings.Join(bodies, " "); got != "world shoulder upper_arm forearm wrist hand left_finger right_finger" {
		t.Errorf("bodies: got %s", got)
	}
	if got := strings.Join(joints, " "); got != "pan lift elbow wrist_roll wrist_pitch left_finger" {
		t.Errorf("joints: got %s", got)
	}
	// Links that are welded are still found, each in its body.
	if r.Body("base") != 0 || r.Body("tool") != r.Body("hand") || r.Body("gripper") != hal.None {
		t.Errorf("welded links: got base in %d, tool in %d", r.Body("base"), r.Body("tool"))
	}
	if world := r.Bodies[0]; world.Mass != 2 || !near(world.CentreOfMass, vec{0, 0, 0.05}) || math.Abs(world.Inertia[2]-0.0085) > 1e-12 {
		t.Errorf("base: got mass %g at %v, inertia %v", world.Mass, world.CentreOfMass, world.Inertia)
	}
	if err := r.Layout().Validate(); err != nil {
		t.Error(err)
	}
	elbow := r.Joints[r.Joint("elbow")]
	if !near(elbow.Anchor, vec{0, 0, 0.48}) || !near(elbow.Axis, vec{0, 1, 0}) || elbow.Stops != [2]float64{0.1, 2.6} ||
		elbow.Default != 0.1 || elbow.MaxTorque() != 8 || elbow.MaxVelocity() != 3.5 || r.Bodies[elbow.Parent].Name != "upper_arm" {
		t.Errorf("elbow: got %+v", elbow)
	}
	// The hand's frame is turned by 90 degrees about z, and its hinge with it.
	if pitch := r.Joints[r.Joint("wrist_pitch")]; !near(pitch.Axis, vec{0, 1, 0}) || !near(pitch.Anchor, vec{0, 0, 0.78}) {
		t.Errorf("wrist_pitch: got axis %v at %v", pitch.Axis, pitch.Anchor)
	}
	if roll := r.Joints[r.Joint("wrist_roll")]; !roll.Wraps || roll.Stops != [2]float64{} || roll.Limits[1] != math.Pi {
		t.Errorf("wrist_roll: got wraps %v, stops %v, limits %v", roll.Wraps, roll.Stops, roll.Limits)
	}
	if pan := r.Joints[0]; pan.Damping != 0.05 || pan.Friction != 0.1 {
		t.Errorf("pan: got damping %g, friction %g", pan.Damping, pan.Friction)
	}
	finger := r.Joints[5]
	if finger.Linkage.Kind != Slide || r.Layout().Actuators[5].Kind != hal.Slide || !near(finger.Axis, vec{-1, 0, 0}) {
		t.Errorf("left_finger: got %v along %v", finger.Linkage.Kind, finger.Axis)
	}
	if len(r.Passive) != 1 || r.Passive[0].Mimic == nil || *r.Passive[0].Mimic != (Mimic{Joint: 5, Times: 1}) {
		t.Errorf("right_finger: got %+v", r.Passive)
	}
	// Boxes around the meshes: a text one in millimetres, a binary one that calls itself solid.
	if s := r.Bodies[0].Shapes[0]; s.Kind != Box || !near(s.Half, vec{0.08, 0.08, 0.03}) || !near(s.Pose.Position, vec{0, 0, 0.05}) {
		t.Errorf("base: got %v of half size %v at %v", s.Kind, s.Half, s.Pose.Position)
	}
	if s := r.Bodies[r.Body("forearm")].Shapes[0]; s.Kind != Box || math.Abs(s.Half[2]-0.125) > 1e-7 || math.Abs(s.Pose.Position[2]-0.125) > 1e-7 {
		t.Errorf("forearm: got %v of half size %v at %v", s.Kind, s.Half, s.Pose.Position)
	}
	if got := printed(r.Mass(), 2); got != "6.36" {
		t.Errorf("mass: got %s kg, want 6.36", got)
	}
}

func TestURDFOptions(t *testing.T) {
	r := loadArm(t, URDFOptions{Floating: true, Servos: map[string]string{"elbow": "xm430-w350"}})
	if r.Fixed {
		t.Error("got a fixed robot, want a floating one")
	}
	if j := r.Joints[r.Joint("elbow")]; j.Servo == nil || j.Servo.Name != "xm430-w350" || j.Motor != nil || !j.Modes[hal.DutyMode] {
		t.Errorf("elbow: got servo %v, motor %v", j.Servo, j.Motor)
	}
	_, err := LoadURDF(armFile, URDFOptions{Servos: map[string]string{"knee": "mx-28", "pan": "mx-29"}})
	for _, want := range []string{`joint "knee": got a servo`, `joint "pan": got servo "mx-29"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := LoadURDF("testdata/arm/none.urdf", URDFOptions{}); hal.KindOf(err) != hal.Invalid || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	b, err := os.ReadFile(armFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseURDF(b, URDFOptions{}); err == nil || !strings.Contains(err.Error(), `link "base".collision[0].mesh: "package://arm/meshes/base.stl": got a mesh`) {
		t.Errorf("without a folder: got %v", err)
	}
	open := Meshes("testdata", map[string]string{"arm": "testdata/arm"})
	if f, err := open("package://arm/meshes/base.stl"); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if _, err := open("package://leg/base.stl"); err == nil || !strings.Contains(err.Error(), `package "leg"`) {
		t.Errorf("unknown package: got %v", err)
	}
}

func TestUnmatched(t *testing.T) {
	r := loadArm(t, URDFOptions{})
	missing, unknown := Unmatched(r, []string{"pan", "lift", "elbow", "wrist", "left_finger", "right_finger"})
	if fmt.Sprint(missing) != "[wrist_roll wrist_pitch]" || fmt.Sprint(unknown) != "[wrist right_finger]" {
		t.Errorf("got missing %v, unknown %v", missing, unknown)
	}
}

// urdf wraps the inside of a robot.
func urdf(inside string) []byte { return []byte(`<robot name="r">` + inside + `</robot>`) }

const (
	solid  = `<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>`
	ab     = `<link name="a">` + solid + `</link><link name="b">` + solid + `</link>`
	fromAB = `<parent link="a"/><child link="b"/>`
	limit  = `<limit lower="-1" upper="1" effort="1" velocity="1"/>`
)

func TestURDFFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no xml", "robot", "EOF"},
		{"another root", "<sdf/>", "robot"},
		{"no name", "<robot><link name='a'/></robot>", `robot.name: got ""`},
		{"no link", "<robot name='r'/>", "link: got none"},
		{"xacro", "<robot name='r' xmlns:xacro='x'><xacro:property name='a'/></robot>", "xacro"},
		{"cut short", "<robot name='r'><link name='a'>", "unexpected EOF"},
		{"same name", string(urdf(`<link name="a"/><link name="a"/>`)), `link[1].name: got "a", want one of its own; link[0] has it too`},
		{"bad name", string(urdf(`<link name="a/b"/>`)), `link[0].name: got "a/b"`},
		{"unknown parent", string(urdf(ab + `<joint name="j" type="fixed"><parent link="c"/><child link="b"/></joint>`)), `joint "j".parent: got "c"`},
		{"own parent", string(urdf(ab + `<joint name="j" type="fixed"><parent link="b"/><child link="b"/></joint>`)), `joint "j": got "b" as parent and child`},
		{"loop", string(urdf(ab + `<joint name="j" type="fixed">` + fromAB + `</joint><joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>`)), `link[0]: "a" hangs in a loop`},
		{"two parents", string(urdf(ab + `<link name="c">` + solid + `</link><joint name="j" type="fixed">` + fromAB + `</joint><joint name="k" type="fixed"><parent link="c"/><child link="b"/></joint>`)), `joint "k".child: got "b", which joint "j" holds`},
		{"two roots", string(urdf(ab)), `link[1]: no joint holds "b"`},
		{"type", string(urdf(ab + `<joint name="j" type="planar">` + fromAB + `</joint>`)), `joint "j".type: got "planar"`},
		{"no limit", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + `</joint>`)), `joint "j".limit: missing`},
		{"falling limit", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + `<limit lower="1" upper="0" effort="1" velocity="1"/></joint>`)), `joint "j".limit: got 1..0`},
		{"no effort", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + `<limit lower="0" upper="1" effort="0"/></joint>`)), `joint "j".limit.velocity: got nothing`},
		{"effort zero", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + `<limit lower="0" upper="1" effort="0" velocity="1"/></joint>`)), `joint "j".limit.effort: got 0`},
		{"axis", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + `<axis xyz="0 0 0"/>` + limit + `</joint>`)), `joint "j".axis: got [0 0 0]`},
		{"not a number", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + `<origin xyz="0 NaN 0" rpy="1 2"/>` + limit + `</joint>`)), `joint "j".origin.xyz: got "NaN"`},
		{"two angles", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + `<origin xyz="0 NaN 0" rpy="1 2"/>` + limit + `</joint>`)), `joint "j".origin.rpy: got "1 2"`},
		{"negative damping", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + `<dynamics damping="-1"/>` + limit + `</joint>`)), `joint "j".dynamics.damping: got -1`},
		{"negative mass", string(urdf(`<link name="a"><inertial><mass value="-1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>`)), `link "a".inertial.mass: got -1`},
		{"impossible inertia", string(urdf(`<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="3"/></inertial></link>`)), `link "a".inertial.inertia: got [1 1 3`},
		{"half an inertia", string(urdf(`<link name="a"><inertial><mass value="1"/></inertial></link>`)), `link "a".inertial: got one or none, want mass and inertia`},
		{"nothing that moves", string(urdf(`<link name="a"/><link name="b"/><joint name="j" type="revolute">` + fromAB + limit + `</joint>`)), `link "b".inertial: missing`},
		{"no solid", string(urdf(`<link name="a"><collision><geometry/></collision></link>`)), `link "a".collision[0].geometry: got 0 solids`},
		{"flat box", string(urdf(`<link name="a"><collision><geometry><box size="1 0 1"/></geometry></collision></link>`)), `link "a".collision[0].box.size: got 0`},
		{"no radius", string(urdf(`<link name="a"><collision><geometry><sphere/></geometry></collision></link>`)), `link "a".collision[0].sphere.radius: got nothing`},
		{"collada", string(urdf(`<link name="a"><collision><geometry><mesh filename="a.dae"/></geometry></collision></link>`)), `link "a".collision[0].mesh: "a.dae": got ".dae", want an .stl or .obj file`},
		{"mimics an unknown joint", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + limit + `<mimic joint="k"/></joint>`)), `joint "j".mimic.joint: got "k"`},
		{"mimics itself", string(urdf(ab + `<joint name="j" type="revolute">` + fromAB + limit + `<mimic joint="j"/></joint>`)), `joint "j".mimic.joint: got a loop`},
		{"floats inside", string(urdf(ab + `<joint name="j" type="floating">` + fromAB + `</joint>`)), `joint "j".type: got floating`},
		{"too large", "<robot name='r'>" + strings.Repeat(" ", maxURDF), "want at most 4194304"},
		{"too many", string(urdf(strings.Repeat("<link name='a'/>", maxBodies+1))), "link: got 1025, want at most 1024"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ParseURDF([]byte(c.text), URDFOptions{})
			if r != nil || hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an invalid error with %s", err, c.want)
			}
		})
	}
}

func TestURDFFloatingAndPassive(t *testing.T) {
	r, err := ParseURDF(urdf(`<link name="world"/>`+ab+`
		<joint name="free" type="floating"><parent link="world"/><child link="a"/></joint>
		<joint name="caster" type="continuous">`+fromAB+`</joint>`), URDFOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Fixed || len(r.Bodies) != 2 || r.Bodies[0].Name != "a" || len(r.Joints) != 0 {
		t.Errorf("got fixed %v, %d bodies, %d joints", r.Fixed, len(r.Bodies), len(r.Joints))
	}
	if len(r.Passive) != 1 || r.Passive[0].Name != "caster" || r.Passive[0].Mimic != nil || r.Passive[0].Child != 1 {
		t.Errorf("caster: got %+v", r.Passive)
	}
}

// A chain of mimics ends at its motor: c = 2 b + 1, b = 3 a + 0.5.
func TestURDFMimicChain(t *testing.T) {
	var links, joints strings.Builder
	for i, mimic := range []string{"", `<mimic joint="j0" multiplier="3" offset="0.5"/>`, `<mimic joint="j1" multiplier="2" offset="1"/>`} {
		fmt.Fprintf(&links, `<link name="l%d">%s</link>`, i, solid)
		fmt.Fprintf(&joints, `<joint name="j%d" type="revolute"><parent link="l%d"/><child link="l%d"/>%s%s</joint>`, i, i, i+1, limit, mimic)
	}
	r, err := ParseURDF(urdf(links.String()+`<link name="l3">`+solid+`</link>`+joints.String()), URDFOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := *r.Passive[1].Mimic; got != (Mimic{Joint: 0, Times: 6, Plus: 2}) {
		t.Errorf("got %+v, want 6 times joint 0 plus 2", got)
	}
}

// Two welded rods have the mass and inertia of one rod of both lengths, in any frames of the file.
func TestURDFWeld(t *testing.T) {
	rod := func(name, origin string) string {
		return `<link name="` + name + `"><inertial><origin ` + origin + `/><mass value="1"/><inertia ixx="0" iyy="0.0833333333333333" izz="0.0833333333333333"/></inertial></link>`
	}
	r, err := ParseURDF(urdf(rod("a", `xyz="0.5 0 0"`)+rod("b", `xyz="0 -0.5 0" rpy="0 0 1.5707963267948966"`)+
		`<joint name="j" type="fixed"><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>`+fromAB+`</joint>`), URDFOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := r.Bodies[0]
	if len(r.Bodies) != 1 || b.Mass != 2 || !near(b.CentreOfMass, vec{1, 0, 0}) {
		t.Errorf("got %d bodies, mass %g at %v", len(r.Bodies), b.Mass, b.CentreOfMass)
	}
	for i, want := range [6]float64{0, 2 * 4.0 / 12, 2 * 4.0 / 12} {
		if math.Abs(b.Inertia[i]-want) > 1e-12 {
			t.Errorf("inertia %d: got %g, want %g", i, b.Inertia[i], want)
		}
	}
}

// binarySTL makes a mesh of triangles that all have the same three corners.
func binarySTL(says uint32, corners ...[9]float32) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 80), says)
	for _, c := range corners {
		b = append(b, make([]byte, 12)...)
		for _, x := range c {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		b = append(b, 0, 0)
	}
	return b
}

// A mesh is read once, however often a URDF of 4 MB names it, and all of them together are bounded.
func TestURDFReadsMeshesOnce(t *testing.T) {
	one := binarySTL(1, [9]float32{1: 1})
	opened := 0
	open := func(string) (io.ReadCloser, error) {
		opened++
		return io.NopCloser(bytes.NewReader(one)), nil
	}
	collision := func(name string) string {
		return `<collision><geometry><mesh filename="` + name + `"/></geometry></collision>`
	}
	text := urdf(`<link name="a">` + strings.Repeat(collision("a.stl"), maxShapes) + `</link>`)
	if _, err := ParseURDF(text, URDFOptions{Open: open}); err != nil || opened != 1 {
		t.Errorf("got a mesh opened %d times, %v", opened, err)
	}
	o := URDFOptions{Open: open, boxes: map[string][2]vec{}, read: maxMeshes + 1}
	if _, err := o.box("b.stl"); err == nil || opened != 1 {
		t.Errorf("beyond all meshes: got %d opened, %v", opened, err)
	}
}

func FuzzURDF(f *testing.F) {
	b, err := os.ReadFile(armFile)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b, binarySTL(1, [9]float32{1: 1}))
	f.Add(urdf(`<link name="a"><visual><geometry><mesh filename="a.obj" scale="1 2 -3"/></geometry></visual><visual><origin xyz="1 2 3" rpy="1 2 3"/><geometry><sphere radius="1"/></geometry></visual></link>`), []byte("v 0 0 0\nf 1 1 1"))
	f.Add(urdf(ab+`<joint name="j" type="revolute">`+fromAB+limit+`</joint>`), []byte("solid facet vertex 0 0 0"))
	f.Add(urdf(`<link name="world"/>`+ab+`<joint name="j" type="floating"><parent link="world"/><child link="a"/></joint>`), []byte{})
	f.Fuzz(func(t *testing.T, text, mesh []byte) {
		open := func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(mesh)), nil }
		r, err := ParseURDF(text, URDFOptions{Open: open})
		if err != nil {
			return
		}
		sound(t, r)
	})
}

// sound checks what every robot that was read can be relied on for.
func sound(t *testing.T, r *Robot) {
	t.Helper()
	if err := r.Layout().Validate(); err != nil && len(r.Joints) > 0 {
		t.Errorf("a robot that parses has a bad layout: %v", err)
	}
	if len(r.Order()) != len(r.Bodies) {
		t.Errorf("order: got %d of %d bodies", len(r.Order()), len(r.Bodies))
	}
	finite := func(what string, xs ...float64) {
		for _, x := range xs {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%s: got %v, want finite numbers", what, xs)
			}
		}
	}
	for i := range r.Bodies {
		b := &r.Bodies[i]
		finite(b.Name, append(append(b.Inertia[:], b.Mass), b.CentreOfMass[:]...)...)
		finite(b.Name, append(b.Pose.Position[:], b.Pose.Rotation[:]...)...)
		if b.Mass < 0 || b.Mass == 0 && !(r.Fixed && i == r.Root()) {
			t.Errorf("%s: got mass %g", b.Name, b.Mass)
		}
		for k := range b.Shapes {
			s := &b.Shapes[k]
			finite(b.Name, append(s.Pose.Position[:], s.Volume())...)
			if !(s.Volume() > 0) {
				t.Errorf("%s: shape %d: got volume %g", b.Name, k, s.Volume())
			}
		}
	}
	for i := range r.Bodies {
		b := &r.Bodies[i]
		for k := range b.Looks {
			l := &b.Looks[k]
			finite(b.Name+" look", append(append(l.Shape.Pose.Position[:], l.Shape.Pose.Rotation[:]...), l.Scale[:]...)...)
			if l.First < 0 || l.First > l.End || l.End > len(b.Shapes) || (l.Mesh == "" && !(l.Shape.Volume() > 0)) {
				t.Errorf("%s: look %d: got %+v for %d shapes", b.Name, k, l, len(b.Shapes))
			}
		}
	}
	links := make([]*Linkage, 0, len(r.Joints)+len(r.Passive))
	for i := range r.Joints {
		links = append(links, &r.Joints[i].Linkage)
		finite(r.Joints[i].Name, r.Joints[i].Start, r.Joints[i].Default, r.Joints[i].MaxTorque(), r.Joints[i].MaxVelocity())
	}
	for i := range r.Passive {
		links = append(links, &r.Passive[i].Linkage)
		if m := r.Passive[i].Mimic; m != nil {
			finite("mimic", m.Times, m.Plus)
		}
	}
	for _, l := range links {
		finite("joint", append(append(l.Anchor[:], l.Axis[:]...), l.Damping, l.Friction, l.Stops[0], l.Stops[1])...)
		if len(r.Bodies) > 0 && math.Abs(dot(l.Axis, l.Axis)-1) > 1e-9 {
			t.Errorf("axis: got %v, want length 1", l.Axis)
		}
	}
}
