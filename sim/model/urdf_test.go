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
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

const armFile = "testdata/arm/urdf/arm.urdf"

func loadArm(t *testing.T, o FileOptions) *Robot {
	t.Helper()
	r, err := OpenFile(armFile, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sub(a, b vec) vec { return add(a, scale(-1, b)) }

func near(a, b vec) bool { d := sub(a, b); return dot(d, d) < 1e-18 }

func TestURDFArm(t *testing.T) {
	r := loadArm(t, FileOptions{})
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
	if world := r.Bodies[0]; world.Mass != 2 || !near(world.CentreOfMass, vec{0, 0, 0.05}) ||
		math.Abs(world.Inertia[2]-0.0085) > 1e-12 {
		t.Errorf("base: got mass %g at %v, inertia %v", world.Mass, world.CentreOfMass, world.Inertia)
	}
	if err := r.Layout().Validate(); err != nil {
		t.Error(err)
	}
	elbow := r.Joints[r.Joint("elbow")]
	if !near(elbow.Anchor, vec{0, 0, 0.48}) || !near(elbow.Axis, vec{0, 1, 0}) || elbow.Stops != [2]float64{0.1, 2.6} ||
		elbow.Default != 0.1 || elbow.MaxTorque() != 8 || elbow.MaxVelocity() != 3.5 ||
		r.Bodies[elbow.Parent].Name != "upper_arm" {
		t.Errorf("elbow: got %+v", elbow)
	}
	// The hand's frame is turned by 90 degrees about z, and its hinge with it.
	if pitch := r.Joints[r.Joint("wrist_pitch")]; !near(pitch.Axis, vec{0, 1, 0}) ||
		!near(pitch.Anchor, vec{0, 0, 0.78}) {
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
	// Hulls of the meshes: a text one in millimetres, a binary one that calls itself solid.
	if s := r.Bodies[0].Shapes[0]; s.Kind != Hull || math.Abs(s.Hull.Half()[2]-0.03) > 1e-9 ||
		!near(s.Pose.Position, vec{0, 0, 0.05}) {
		t.Errorf("base: got %v of half size %v at %v", s.Kind, s.Hull.Half(), s.Pose.Position)
	}
	if s := r.Bodies[r.Body("forearm")].Shapes[0]; s.Kind != Hull || math.Abs(s.Hull.Half()[2]-0.125) > 1e-7 ||
		math.Abs(s.Pose.Position[2]-0.125) > 1e-7 {
		t.Errorf("forearm: got %v of half size %v at %v", s.Kind, s.Hull.Half(), s.Pose.Position)
	}
	if !r.Ghost || r.Touch(0, 3) || len(r.Notes) != 1 || r.Repairs != 0 {
		t.Errorf("got ghost %v, notes %v", r.Ghost, r.Notes)
	}
	if got := printed(r.Mass(), 2); got != "6.36" {
		t.Errorf("mass: got %s kg, want 6.36", got)
	}
}

func TestFileOptions(t *testing.T) {
	r := loadArm(t, FileOptions{Base: "floating", Servos: map[string]string{"elbow": "xm430-w350"}})
	if r.Fixed {
		t.Error("got a fixed robot, want a floating one")
	}
	if j := r.Joints[r.Joint("elbow")]; j.Servo == nil || j.Servo.Name != "xm430-w350" || j.Motor != nil ||
		!j.Modes[hal.DutyMode] {
		t.Errorf("elbow: got servo %v, motor %v", j.Servo, j.Motor)
	}
	_, err := OpenFile(armFile, FileOptions{Servos: map[string]string{"knee": "mx-28", "pan": "mx-29"}})
	for _, want := range []string{`joint "knee": got a servo`, `joint "pan": got servo "mx-29"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := OpenFile("testdata/arm/none.urdf", FileOptions{}); hal.KindOf(err) != hal.Invalid ||
		!errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	b, err := os.ReadFile(armFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseFile(b, "r.urdf", FileOptions{}); err == nil ||
		!strings.Contains(err.Error(), `link "base".collision[0].mesh: "package://arm/meshes/base.stl": got a mesh`) {
		t.Errorf("without a folder: got %v", err)
	}
	open := Meshes("testdata/r.urdf", nil, map[string]string{"arm": "testdata/arm"})
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
	r := loadArm(t, FileOptions{})
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
	joint := func(kind, inside string) string {
		return string(urdf(ab + `<joint name="j" type="` + kind + `">` + fromAB + inside + `</joint>`))
	}
	collision := func(geometry string) string {
		return string(urdf(`<link name="a"><collision><geometry>` + geometry + `</geometry></collision></link>`))
	}
	for _, c := range []struct{ name, text, want string }{
		{"no xml", "robot", "r.urdf:1: got no element"},
		{"another root", "<html/>", "got <html>"},
		{"no link", "<robot name='r'/>", "link: got none"},
		{"xacro", "<robot name='r' xmlns:xacro='x'>\n<xacro:property name='a'/></robot>",
			"r.urdf:2: got <xacro:property>, want the URDF that xacro makes of it (try: xacro r.urdf"},
		{"cut short", "<robot name='r'><link name='a'>", "unexpected EOF"},
		{"laughs", `<!DOCTYPE r [<!ENTITY a "a">]><robot name="&a;"/>`, "entity"},
		{"same name", string(urdf(`<link name="a"/><link name="a"/>`)),
			`link[1].name: got "a", want a name of its own`},
		{"unknown parent", string(urdf(ab +
			`<joint name="j" type="fixed"><parent link="c"/><child link="b"/></joint>`)), `joint "j".parent: got "c"`},
		{"unknown child", string(urdf(ab + `<joint name="j" type="fixed"><parent link="a"/><child link="c"/></joint>`)),
			`joint "j".child: got "c"`},
		{"own parent", string(urdf(ab + `<joint name="j" type="fixed"><parent link="b"/><child link="b"/></joint>`)),
			`joint "j": got "b" as parent and child`},
		{"loop", string(urdf(ab + `<joint name="j" type="fixed">` + fromAB +
			`</joint><joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>`)), `it hangs in a loop`},
		{"two parents", string(urdf(ab + `<link name="c">` + solid + `</link><joint name="j" type="fixed">` + fromAB +
			`</joint><joint name="k" type="fixed"><parent link="c"/><child link="b"/></joint>`)),
			`joint "k".child: got "b", which joint "j" holds`},
		{"two roots", string(urdf(ab)), `link "b": no joint holds it`},
		{"same joint", string(urdf(ab + `<link name="c">` + solid + `</link><joint name="j" type="continuous">` +
			fromAB + `</joint><joint name="j" type="continuous"><parent link="b"/><child link="c"/></joint>`)),
			`joint: got "j", want a name of its own`},
		{"type", joint("screw", ""), `joint "j".type: got "screw"`},
		{"axis", joint("revolute", `<axis xyz="0 0 0"/>`+limit), `joint "j".axis: got [0 0 0]`},
		{"not a number", joint("revolute", `<origin xyz="0 NaN 0" rpy="1 2"/>`+limit),
			`joint "j".origin.xyz: got "NaN"`},
		{"a letter", joint("revolute", `<origin xyz="0 1.0f 0"/>`+limit), `joint "j".origin.xyz: got "1.0f"`},
		{"two angles", joint("revolute", `<origin xyz="0 0 0" rpy="1 2"/>`+limit), `joint "j".origin.rpy: got "1 2"`},
		{"far away", joint("revolute", `<origin xyz="0 1e300 0"/>`+limit), `joint "j".origin.xyz: got 1e+300`},
		{"negative damping", joint("revolute", `<dynamics damping="-1"/>`+limit), `joint "j".dynamics: got -1`},
		{"no solid", collision(""), `link "a".collision[0].geometry: got no solid`},
		{"cone", collision("<cone/>"), `link "a".collision[0].cone: got <cone>`},
		{"negative box", collision(`<box size="1 -1 1"/>`), `link "a".collision[0].box: got a size of -0.5`},
		{"no radius", collision("<sphere/>"), `link "a".collision[0].sphere.radius: got nothing`},
		{"unknown mesh", collision(`<mesh filename="a.ply"/>`), `link "a".collision[0].mesh: "a.ply": got ".ply"`},
		{"mimics itself", joint("revolute", limit+`<mimic joint="j"/>`), `joint "j".mimic.joint: got a loop`},
		{"floats inside", joint("floating", ""), `joint "j".type: got a floating joint`},
		{"too large", "<robot name='r'>" + strings.Repeat(" ", maxFile), "want at most 33554432"},
		{"too many", string(urdf(strings.Repeat("<link name='a'/>", maxBodies+1))),
			"link: got 1025, want at most 1024"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ParseFile([]byte(c.text), "r.urdf", FileOptions{})
			if r != nil || hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), c.want) ||
				!strings.HasPrefix(err.Error(), "r.urdf") {
				t.Errorf("got %v, want an invalid error with %s", err, c.want)
			}
		})
	}
}

// What other programs accept is repaired, with a note that names the line and the element; and refused where the caller
// says so.
func TestURDFRepairs(t *testing.T) {
	body := func(inertial, collision string) string {
		return string(urdf("\n" + `<link name="a"/><link name="b">` + inertial + collision +
			`</link><joint name="j" type="revolute">` + fromAB + limit + `</joint>`))
	}
	limited := func(l string) string {
		return string(urdf("\n" + ab + `<joint name="j" type="revolute">` + fromAB + l + `</joint>`))
	}
	const box = `<collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>`
	inertial := func(mass, inertia string) string {
		return `<inertial><mass value="` + mass + `"/>` + inertia + `</inertial>`
	}
	mass := func(want, moment float64) func(t *testing.T, r *Robot) {
		return func(t *testing.T, r *Robot) {
			if b := r.Bodies[1]; math.Abs(b.Mass-want) > 1e-9*want || math.Abs(b.Inertia[2]-moment) > 1e-6*moment ||
				!plausible(b.Inertia) {
				t.Errorf("got mass %g, inertia %v, want %g and %g", b.Mass, b.Inertia, want, moment)
			}
		}
	}
	ball := 0.4 * 2 * math.Pow(math.Cbrt(2.0/1000*3/(4*math.Pi)), 2)
	endless := func(t *testing.T, r *Robot) {
		if j := &r.Joints[0]; !j.Wraps || j.Limits[1] != math.Pi {
			t.Errorf("got wraps %v, limits %v", j.Wraps, j.Limits)
		}
	}
	strong := func(t *testing.T, r *Robot) {
		if j := &r.Joints[0]; j.MaxTorque() < minTorque || j.MaxVelocity() < 1 {
			t.Errorf("got %g N·m, %g rad/s", j.MaxTorque(), j.MaxVelocity())
		}
	}
	for _, c := range []struct {
		name, text, want string
		check            func(t *testing.T, r *Robot)
	}{
		{"no inertial", body("", box), `link "b".inertial: repaired: none -> 1 kg: from its collision solids`,
			mass(1, 1.0/600)},
		{"mass zero", body(inertial("0", ""), box), `link "b".inertial: repaired: mass 0 -> 1 kg`, mass(1, 1.0/600)},
		{"mass negative", body(inertial("-1", ""), box), `link "b".inertial: repaired: mass -1 -> 1 kg`,
			mass(1, 1.0/600)},
		{"no inertia", body(inertial("3", ""), box), `link "b".inertial.inertia: repaired: none -> `, mass(3, 3.0/600)},
		{"inertia zero", body(inertial("3", `<inertia ixx="0" iyy="0" izz="0"/>`), box),
			`link "b".inertial.inertia: repaired: [0 0 0`, mass(3, 3.0/600)},
		{"half an inertia", body(inertial("3", `<inertia ixx="1"/>`), box), `link "b".inertial.inertia: repaired: none`,
			mass(3, 3.0/600)},
		{"point", body(inertial("2", `<inertia ixx="0" iyy="0" izz="0"/>`), ""), "a sphere of its mass", mass(2, ball)},
		{"negative", body(inertial("2", `<inertia ixx="1" iyy="1" izz="-1"/>`), ""), "a sphere of its mass",
			mass(2, ball)},
		{"indefinite", body(inertial("2",
			`<inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="1e-6" ixz="1e-6" iyz="-1e-6"/>`), ""),
			"a sphere of its mass", mass(2, ball)},
		{"triangle", body(inertial("2", `<inertia ixx="1" iyy="1" izz="3"/>`), ""),
			`principal moments [1 1 3] -> [1 1 2]`, mass(2, 2)},
		{"nothing at all", body("", ""), `link "b".inertial: repaired: none -> 0.01 kg`, nil},
		{"flat box", body(solid, `<collision><geometry><box size="1 0 1"/></geometry></collision>`),
			`box: repaired: 0 m -> 0.001 m`, nil},
		{"zero limits", limited(`<limit lower="0" upper="0" effort="1" velocity="1"/>`),
			`joint "j".limit: repaired: 0..0 -> no limits`, endless},
		{"reversed limits", limited(`<limit lower="1" upper="-1" effort="1" velocity="1"/>`),
			`joint "j".limit: repaired: 1..-1 -> no limits`, endless},
		{"far limits", limited(`<limit lower="-1e16" upper="1e16" effort="1" velocity="1"/>`),
			`joint "j".limit: repaired: -1e+16..1e+16 -> no limits`, endless},
		{"no effort", limited(`<limit lower="-1" upper="1"/>`),
			`joint "j".limit.effort: repaired: unknown (0 or absent)`, strong},
		{"zero velocity", limited(`<limit lower="-1" upper="1" effort="0" velocity="0"/>`),
			`joint "j".limit.velocity: repaired: unknown`, strong},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ParseFile([]byte(c.text), "r.urdf", FileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			sound(t, r)
			if notes := r.Notes.Error(); !strings.Contains(notes, c.want) || !strings.Contains(notes, "r.urdf:2: ") ||
				r.Repairs == 0 {
				t.Errorf("got %d repairs: %s, want %s", r.Repairs, notes, c.want)
			}
			if c.check != nil {
				c.check(t, r)
			}
			want := strings.Replace(c.want, "repaired: ", "", 1)
			if _, err := ParseFile([]byte(c.text), "r.urdf", FileOptions{Strict: true}); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("strict: got %v, want %s", err, want)
			}
		})
	}
}

// Files that need no repair, though they look unusual.
func TestURDFAsFound(t *testing.T) {
	read := func(text string) *Robot {
		r, err := ParseFile([]byte(text), "r.urdf", FileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sound(t, r)
		return r
	}
	// Joints may hang on the world without a link for it.
	held := read(string(urdf(`<link name="a"/><joint name="w" type="fixed"><parent link="world"/><child link="a"/></joint>`)))
	if !held.Fixed || !strings.Contains(held.Notes.Error(), `joint "w".parent: got no link "world": the world itself`) {
		t.Errorf("no link world: got fixed %v, notes %v", held.Fixed, held.Notes)
	}
	// Equal limits fix the joint there: the child is turned, and has no joint.
	r := read(string(urdf(ab + `<joint name="j" type="revolute">` + fromAB +
		`<axis xyz="0 0 1"/><limit lower="0.5" upper="0.5"/></joint>`)))
	if len(r.Joints) != 0 || len(r.Bodies) != 1 || r.Bodies[0].Mass != 2 || r.Body("b") != 0 {
		t.Errorf("equal limits: got %d joints, %d bodies", len(r.Joints), len(r.Bodies))
	}
	// Names with spaces and slashes are safe and stay different; good ones stay.
	r = read(`<robot name="my robot"><link name="a"/><link name="b c">` + solid + `</link><link name="b/c">` + solid +
		`</link>
		<joint name="j 1" type="continuous"><parent link="a"/><child link="b c"/></joint><joint name="j_1" type="continuous"><parent link="a"/><child link="b/c"/></joint></robot>`)
	if r.Name != "my_robot" || r.Joint("j_1") != 1 || r.Joint("j_1_2") != 0 || r.Body("b_c") == r.Body("b_c_2") ||
		r.Body("b_c_2") == hal.None {
		t.Errorf("names: got %s, %+v", r.Name, r.Joints)
	}
	// A planar joint is two slides and a hinge, without motors; a ball is one.
	r = read(string(urdf(ab + `<joint name="p" type="planar">` + fromAB + `<axis xyz="0 0 2"/></joint>`)))
	if len(r.Passive) != 3 || r.Passive[0].Linkage.Kind != Slide || r.Passive[2].Name != "p_RZ" || len(r.Bodies) != 4 ||
		r.Bodies[3].Mass != 1 {
		t.Errorf("planar: got %+v of %d bodies", r.Passive, len(r.Bodies))
	}
	r = read(string(urdf(ab + `<joint name="p" type="ball">` + fromAB + `</joint>`)))
	if len(r.Passive) != 1 || r.Passive[0].Linkage.Kind != Ball {
		t.Errorf("ball: got %+v", r.Passive)
	}
	// A carrier without mass is none of the lumps; a spring of Gazebo's, friction and self-collision are read; the rest
	// is counted.
	r = read(string(urdf(`<link name="a"/><link name="b"/><link name="c">` + solid +
		`<collision><geometry><sphere radius="1"/></geometry></collision></link>
		<joint name="j" type="continuous">` + fromAB + `</joint><joint name="k" type="continuous"><axis xyz="0 1 0"/><parent link="b"/><child link="c"/></joint>
		<gazebo reference="k"><springStiffness>3</springStiffness><springReference>0.5</springReference></gazebo>
		<gazebo reference="c"><selfCollide>true</selfCollide><mu1>0.25</mu1></gazebo><transmission/><transmission/>`)))
	if r.Bodies[1].Mass != 0 || r.Joints[1].Stiffness != 3 || r.Joints[1].Rest != 0.5 || r.Ghost ||
		r.Bodies[2].Shapes[0].Material.Friction != 0.25 {
		t.Errorf("got %+v", r)
	}
	if notes := r.Notes.Error(); !strings.Contains(notes, "2 <transmission> left out") {
		t.Errorf("got notes %s", notes)
	}
	// A quaternion of URDF 1.1; an absent name.
	r = read(`<robot version="1.1">` + ab + `<joint name="j" type="continuous">` + fromAB +
		`<origin quat_xyzw="0 0 2 2"/></joint></robot>`)
	if !near(r.Joints[0].Axis, vec{0, 1, 0}) || r.Name != "r" {
		t.Errorf("quaternion: got axis %v of %s", r.Joints[0].Axis, r.Name)
	}
	// A follower of a joint that equal limits fix is fixed too.
	r = read(string(urdf(ab + `<link name="c">` + solid + `</link><joint name="j" type="revolute">` + fromAB +
		`<limit lower="1" upper="1"/></joint>
		<joint name="k" type="revolute"><parent link="b"/><child link="c"/><limit lower="0" upper="0"/><mimic joint="j" multiplier="2"/></joint>`)))
	if len(r.Bodies) != 1 {
		t.Errorf("got %d bodies, want one", len(r.Bodies))
	}
}

func TestURDFFloatingAndEndless(t *testing.T) {
	r, err := ParseFile(urdf(`<link name="world"/>`+ab+`
		<joint name="free" type="floating"><parent link="world"/><child link="a"/></joint>
		<joint name="caster" type="continuous">`+fromAB+`</joint>`), "r.urdf", FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Fixed || len(r.Bodies) != 2 || r.Bodies[0].Name != "a" || len(r.Joints) != 1 {
		t.Errorf("got fixed %v, %d bodies, %d joints", r.Fixed, len(r.Bodies), len(r.Joints))
	}
	if j := r.Joints[0]; j.Name != "caster" || !j.Wraps || j.Child != 1 || j.Motor == nil {
		t.Errorf("caster: got %+v", j)
	}
}

// A joint that mimics one that is not there moves by itself, and a note says so.
func TestURDFMimicsNone(t *testing.T) {
	r, err := ParseFile(urdf(ab+`<joint name="j" type="revolute">`+fromAB+limit+`<mimic joint="k"/></joint>`), "r.urdf",
		FileOptions{})
	if err != nil || len(r.Joints) != 1 || r.Joints[0].Name != "j" || r.Repairs == 0 ||
		!strings.Contains(fmt.Sprint(r.Notes), `follows "k"`) {
		t.Errorf("got %v, %v", r, err)
	}
}

// A chain of mimics ends at its motor: c = 2 b + 1, b = 3 a + 0.5.
func TestURDFMimicChain(t *testing.T) {
	var links, joints strings.Builder
	for i, mimic := range []string{"", `<mimic joint="j0" multiplier="3" offset="0.5"/>`,
		`<mimic joint="j1" multiplier="2" offset="1"/>`} {
		fmt.Fprintf(&links, `<link name="l%d">%s</link>`, i, solid)
		fmt.Fprintf(&joints, `<joint name="j%d" type="revolute"><parent link="l%d"/><child link="l%d"/>%s%s</joint>`, i,
			i, i+1, limit, mimic)
	}
	r, err := ParseFile(urdf(links.String()+`<link name="l3">`+solid+`</link>`+joints.String()), "r.urdf",
		FileOptions{})
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
		return `<link name="` + name + `"><inertial><origin ` + origin +
			`/><mass value="1"/><inertia ixx="0" iyy="0.0833333333333333" izz="0.0833333333333333"/></inertial></link>`
	}
	r, err := ParseFile(urdf(rod("a", `xyz="0.5 0 0"`)+rod("b", `xyz="0 -0.5 0" rpy="0 0 1.5707963267948966"`)+
		`<joint name="j" type="fixed"><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>`+fromAB+`</joint>`), "r.urdf",
		FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := r.Bodies[0]
	if len(b.Frames) != 1 || b.Merged[0] != "b" || !near(b.Frames[0].Position, vec{1, 0, 0}) {
		t.Errorf("the welded link: got %q at %+v, want b, 1 m ahead", b.Merged, b.Frames)
	}
	if len(r.Bodies) != 1 || b.Mass != 2 || !near(b.CentreOfMass, vec{1, 0, 0}) {
		t.Errorf("got %d bodies, mass %g at %v", len(r.Bodies), b.Mass, b.CentreOfMass)
	}
	for i, want := range [6]float64{0, 2 * 4.0 / 12, 2 * 4.0 / 12} {
		if math.Abs(b.Inertia[i]-want) > 1e-12 {
			t.Errorf("inertia %d: got %g, want %g", i, b.Inertia[i], want)
		}
	}
}

// A link that moves has moments above 0: a stick gets a little thickness, and six equal numbers, which no body has, go.
func TestURDFSticks(t *testing.T) {
	for text, want := range map[string]string{
		`ixx="0" iyy="0.02" izz="0.02"`:                                     "[0 0.02 0.02] -> [4e-05 0.02 0.02]",
		`ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="1e-6" ixz="1e-6" iyz="1e-6"`: "a sphere of its mass",
	} {
		r, err := ParseFile(urdf(`<link name="a"/><link name="b"><inertial><mass value="2"/><inertia `+text+
			`/></inertial></link><joint name="j" type="continuous">`+fromAB+`</joint>`), "r.urdf", FileOptions{})
		if err != nil || !strings.Contains(fmt.Sprint(r.Notes), want) ||
			!strings.Contains(fmt.Sprint(r.Notes), `link "b"`) {
			t.Errorf("%s: got %v, want %s", text, r.Notes, want)
		} else if i := r.Bodies[1].Inertia; min(i[0], i[1], i[2]) <= 0 {
			t.Errorf("%s: got %v, want moments above 0", text, i)
		}
	}
}

// A mesh that is nowhere else is the only file of its name in the URDF's tree, with a note; one of two is none.
func TestURDFOnlyMesh(t *testing.T) {
	dir := t.TempDir()
	for _, at := range []string{"a/b/one.obj", "a/two.obj", "b/two.obj"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(at)), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
		if err := os.WriteFile(filepath.Join(dir, at), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, found := range map[string]bool{"package://gone/x/one.obj": true, "../meshes/one.obj": true,
		"../meshes/two.obj": false, "package://gone/two.obj": false} {
		file := filepath.Join(dir, "r.urdf")
		text := urdf(`<link name="a"><collision><geometry><mesh filename="` + name +
			`"/></geometry></collision></link>`)
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenFile(file, FileOptions{})
		if !found && (err == nil || !strings.Contains(err.Error(), filepath.Base(name)) &&
			!strings.Contains(err.Error(), "gone")) {
			t.Errorf("%s: got %v, want a fault that names it", name, err)
		}
		if found && (err != nil || !strings.Contains(fmt.Sprint(r.Notes), "the only file of that name is")) {
			t.Errorf("%s: got %v, want it with a note", name, err)
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
	if _, err := ParseFile(text, "r.urdf", FileOptions{Open: open}); err != nil || opened != 1 {
		t.Errorf("got a mesh opened %d times, %v", opened, err)
	}
	store := meshStore{open: open, read: maxMeshes + 1}
	if _, err := store.fit(&solidPart{mesh: "b.stl"}); err == nil || opened != 1 {
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
	f.Add(urdf(`<link name="world"/>`+ab+
		`<joint name="j" type="floating"><parent link="world"/><child link="a"/></joint>`), []byte{})
	f.Add([]byte(`<sdf version="1.4"><model name="m"><link name="a"><pose relative_to="b">1 2 3 0 0 1</pose></link><link name="b"/><joint name="j" type="revolute2"><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz></axis></joint><include><uri>x.sdf</uri></include></model></sdf>`),
		[]byte(`<sdf><model name="n"><model name="o"/></model></sdf>`))
	f.Fuzz(func(t *testing.T, text, mesh []byte) {
		open := func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(mesh)), nil }
		r, err := ParseFile(text, "r.urdf", FileOptions{Open: open})
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
		carries := slices.Contains(r.Parents(), i)
		if b.Mass < 0 || b.Mass == 0 && !carries && !(r.Fixed && i == r.Root()) {
			t.Errorf("%s: got mass %g", b.Name, b.Mass)
		}
		if b.Mass > 0 && !plausible(b.Inertia) {
			t.Errorf("%s: got inertia %v", b.Name, b.Inertia)
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
			finite(b.Name+" look", append(append(l.Shape.Pose.Position[:], l.Shape.Pose.Rotation[:]...),
				l.Scale[:]...)...)
			if l.First < 0 || l.First > l.End || l.End > len(b.Shapes) || (l.Mesh == "" && !(l.Shape.Volume() > 0)) {
				t.Errorf("%s: look %d: got %+v for %d shapes", b.Name, k, l, len(b.Shapes))
			}
		}
	}
	links := make([]*Linkage, 0, len(r.Joints)+len(r.Passive))
	for i := range r.Joints {
		links = append(links, &r.Joints[i].Linkage)
		finite(r.Joints[i].Name, r.Joints[i].Start, r.Joints[i].Default, r.Joints[i].MaxTorque(),
			r.Joints[i].MaxVelocity())
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
