package model

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// mjcfFiles opens files of a test by name.
func mjcfFiles(files map[string]string) func(string) (io.ReadCloser, error) {
	return func(name string) (io.ReadCloser, error) {
		text, ok := files[name]
		if !ok {
			return nil, fmt.Errorf("%s: no such file", name)
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

func mjcf(t *testing.T, inside string, files map[string]string) *Robot {
	t.Helper()
	r, err := ParseFile([]byte("<mujoco model='m'>"+inside+"</mujoco>"), "m.xml", FileOptions{Open: mjcfFiles(files)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// drawn is where a body is in the pose of its joints' starts: as the file draws it.
func drawn(r *Robot, body string) hal.Pose {
	at := make([]hal.Pose, len(r.Bodies))
	parents := r.Parents()
	for i := range r.Bodies {
		up := parents[i]
		if up == hal.None {
			at[i] = r.Bodies[i].Pose
			continue
		}
		moved := hal.Pose{Rotation: [4]float64{1}}
		for _, j := range r.Joints {
			if j.Child == i {
				a := axis{kind: j.Kind, anchor: j.Anchor, along: j.Axis}
				moved = a.turn(j.Start)
			}
		}
		at[i] = within(within(within(at[up], inverse(r.Bodies[up].Pose)), moved), r.Bodies[i].Pose)
	}
	return at[r.Body(body)]
}

func nearly(a, b float64) bool { return math.Abs(a-b) < 1e-6*math.Max(1, math.Abs(b)) }

// TestMJCFValues: masses, ranges and places are MuJoCo's.
func TestMJCFValues(t *testing.T) {
	const link = `<geom type="sphere" size="0.1"/>`
	ball := 4.0 / 3 * math.Pi // kg, of link
	for name, k := range map[string]struct {
		inside string
		mass   map[string]float64
		ranges map[string][2]float64
		starts map[string]float64
		places map[string][3]float64
	}{
		"degrees, the rule": {inside: `<worldbody><body name="b"><joint name="j" range="-90 45"/>` + link +
			`</body></worldbody>`,
			mass: map[string]float64{"b": ball}, ranges: map[string][2]float64{"j": {-math.Pi / 2, math.Pi / 4}}},
		"radians; slides are metres in both": {
			inside: `<compiler angle="radian"/><worldbody><body name="b"><joint name="s" type="slide" range="-0.2 0.3"/>` +
				`<joint name="j" range="-1 1"/>` + link + `</body></worldbody>`,
			ranges: map[string][2]float64{"s": {-0.2, 0.3}, "j": {-1, 1}}},
		"a slide in a file of degrees": {
			inside: `<worldbody><body name="b"><joint name="s" type="slide" range="-0.2 0.3"/>` + link +
				`</body></worldbody>`,
			ranges: map[string][2]float64{"s": {-0.2, 0.3}}},
		"classes inherit, and the element wins": {
			inside: `<default><joint range="-10 10"/><geom density="2000"/><default class="a"><joint range="-20 20"/>` +
				`<default class="b"><joint range="-30 30"/></default></default></default><worldbody><body name="x" childclass="a"><joint name="j1"/>` + link +
				`<body name="y"><joint name="j2" class="b"/>` + link +
				`<body name="z"><joint name="j3" class="main"/>` +
				link + `<body name="w"><joint name="j4" range="-5 5"/>` + link +
				`</body></body></body></body></worldbody>`, mass: map[string]float64{"x": 2 * ball},
			ranges: map[string][2]float64{"j1": {-math.Pi / 9, math.Pi / 9}, "j2": {-math.Pi / 6, math.Pi / 6},
				"j3": {-math.Pi / 18, math.Pi / 18}, "j4": {-math.Pi / 36, math.Pi / 36}}},
		"fromto, densities and masses": {
			inside: `<worldbody><body name="c"><joint name="j"/><geom type="capsule" fromto="0 0 0 0 0 -1" size="0.1"/></body>` +
				`<body name="e"><joint name="k"/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body><body name="y"><joint name="l"/><geom type="cylinder" size="0.1 0.2" density="500"/></body>` +
				`<body name="i"><joint name="m"/><inertial pos="0 0 0" mass="0.75" diaginertia="0.01 0.01 0.01"/>` +
				link +
				`</body></worldbody>`,
			mass: map[string]float64{"c": 35.6047167, "e": 8 * math.Pi, "y": 2 * math.Pi, "i": 0.75}},
		"a reference turns what the file draws": {
			inside: `<worldbody><body name="a" pos="0 0 1"><joint name="j" axis="0 0 1" range="0 90" ref="30"/>` +
				link +
				`<body name="b" pos="1 0 0"><joint name="k" axis="0 0 1" ref="-20" pos="0.5 0 0" range="-90 90"/><joint name="s" type="slide" axis="0 1 0" ref="0.3" range="-1 1"/>` + link +
				`<body name="c" pos="0 1 0"><joint name="l" range="-9 9"/>` + link +
				`</body></body></body></worldbody>`,
			ranges: map[string][2]float64{"j": {0, math.Pi / 2}},
			starts: map[string]float64{"j": math.Pi / 6, "k": -math.Pi / 9, "s": 0.3},
			places: map[string][3]float64{"a": {0, 0, 1}, "b": {1, 0, 1}, "c": {1, 1, 1}}},
		"orientations": {inside: `<worldbody><body name="q" quat="0.70710678 0 0 0.70710678"><joint name="a"/>` + link +
			`<body name="e" pos="1 0 0" euler="90 0 90"><joint name="b"/>` + link +
			`<body name="x" pos="1 0 0" xyaxes="0 1 0 -1 0 0"><joint name="c"/>` + link +
			`<body name="z" pos="1 0 0" zaxis="1 0 0"><joint name="d"/>` + link +
			`<body name="tip" pos="0 0 1"><joint name="f"/>` + link + `</body></body></body></body></body></worldbody>`,
			places: map[string][3]float64{"e": {0, 1, 0}, "x": {0, 1, 1}, "z": {0, 0, 1}, "tip": {0, -1, 1}}},
		"frame and replicate": {inside: `<worldbody><body name="hub"><joint name="h"/>` + link +
			`<frame pos="0 0 0.5" euler="0 0 90"><body name="mast" pos="0.2 0 0"><joint name="m"/>` + link +
			`</body></frame><replicate count="3" euler="0 0 120" sep="_"><body name="s" pos="0.3 0 0"><joint name="j"/>` + link + `</body></replicate></body></worldbody>`,
			places: map[string][3]float64{"mast": {0, 0.2, 0.5}, "s_0": {0.3, 0, 0},
				"s_1": {-0.15, 0.3 * math.Sin(2*math.Pi/3), 0}}},
		"the keyframe home": {inside: `<keyframe><key name="other" qpos="9 9"/><key name="home" qpos="0.4 -0.9"/></keyframe><worldbody><body name="a"><joint name="j"/>` + link +
			`<body name="b"><joint name="k"/>` + link + `</body></body></worldbody>`,
			starts: map[string]float64{"j": 0.4, "k": -0.9}},
		"a total mass": {inside: `<compiler settotalmass="14"/><worldbody><body name="a"><joint name="j"/>` + link +
			`<body name="b"><joint name="k"/>` + link + link + link + `</body></body></worldbody>`,
			mass: map[string]float64{"a": 3.5, "b": 10.5}},
		"a base that stands has its mass": {inside: `<worldbody><body name="base">` + link +
			`<body name="b"><joint name="k"/>` + link + `</body></body></worldbody>`,
			mass: map[string]float64{"base": ball}},
	} {
		t.Run(name, func(t *testing.T) {
			r := mjcf(t, k.inside, nil)
			for body, want := range k.mass {
				if got := r.Bodies[r.Body(body)].Mass; !nearly(got, want) {
					t.Errorf("mass of %s: got %.7g, want %.7g", body, got, want)
				}
			}
			for joint, want := range k.ranges {
				if got := r.Joints[r.Joint(joint)].Limits; !nearly(got[0], want[0]) || !nearly(got[1], want[1]) {
					t.Errorf("limits of %s: got %v, want %v", joint, got, want)
				}
			}
			for joint, want := range k.starts {
				if got := r.Joints[r.Joint(joint)].Start; !nearly(got, want) {
					t.Errorf("start of %s: got %v, want %v", joint, got, want)
				}
			}
			for body, want := range k.places {
				if got := drawn(r, body).Position; !nearly(got[0], want[0]) || !nearly(got[1], want[1]) ||
					!nearly(got[2], want[2]) {
					t.Errorf("place of %s: got %v, want %v", body, got, want)
				}
			}
		})
	}
}

// TestMJCFRobot: which tree is the robot, what moves it, what follows, what is sensed.
func TestMJCFRobot(t *testing.T) {
	const link = `<geom type="sphere" size="0.1"/>`
	free := mjcf(t, `<worldbody><geom type="plane" size="9 9 1"/><body name="ball" pos="1 0 0"><freejoint/>`+link+
		`</body><body name="trunk" pos="0 0 0.5"><freejoint/>`+link+
		`<site name="imu" pos="0 0 0.1"/><body name="leg"><joint name="hip" range="-60 60"/>`+link+
		`</body></body></worldbody><actuator><motor joint="hip" gear="20" ctrlrange="-1 1"/></actuator>`+
		`<sensor><accelerometer site="imu"/><gyro site="imu"/></sensor><keyframe><key name="home" qpos="1 0 0 1 0 0 0  0 0 0.7 1 0 0 0 0.3"/></keyframe>`, nil)
	if free.Fixed || len(free.Bodies) != 2 || free.Bodies[0].Name != "trunk" || len(free.Joints) != 1 ||
		free.Joints[0].Motor.MaxTorque != 20 {
		t.Errorf("a free robot beside a ball: got fixed %v, %d bodies, %d joints", free.Fixed, len(free.Bodies),
			len(free.Joints))
	}
	if z := free.Bodies[0].Pose.Position[2]; !nearly(z, 0.7) || !nearly(free.Joints[0].Start, 0.3) {
		t.Errorf("home: got z %g, hip %g", z, free.Joints[0].Start)
	}
	if len(free.Sensors) != 1 || free.Sensors[0].Kind != "imu" || !nearly(free.Sensors[0].Pose.Position[2], 0.1) {
		t.Errorf("sensors: got %+v", free.Sensors)
	}
	hand := mjcf(t, `<worldbody><body name="a"><joint name="lead" range="-90 90" ref="10"/>`+link+
		`<body name="b"><joint name="tail" range="-90 90"/>`+link+`<body name="c"><joint name="loose"/>`+link+
		`</body></body></body></worldbody><equality><joint joint1="tail" joint2="lead" polycoef="0.1 -0.5 0 0 0"/></equality><actuator><position joint="lead" kp="20"/></actuator>`, nil)
	if len(hand.Joints) != 1 || len(hand.Passive) != 2 {
		t.Fatalf("got %d joints, %d passive, want 1 and 2", len(hand.Joints), len(hand.Passive))
	}
	for _, p := range hand.Passive {
		if m := p.Mimic; p.Name == "tail" && (m == nil || !nearly(m.Times, -0.5) ||
			!nearly(m.Plus, 0.1+0.5*math.Pi/18)) || p.Name == "loose" && m != nil {
			t.Errorf("%s: got %+v", p.Name, m)
		}
	}
	tendon := mjcf(t, `<worldbody><body name="a"><joint name="p" range="-1 1"/>`+link+
		`<body name="b"><joint name="q" range="-1 1"/>`+link+`</body></body></worldbody>`+
		`<tendon><fixed name="t"><joint joint="p" coef="0.5"/><joint joint="q" coef="1"/></fixed></tendon><actuator><motor tendon="t" ctrlrange="-4 4"/></actuator>`, nil)
	if len(tendon.Joints) != 1 || len(tendon.Passive) != 1 || tendon.Passive[0].Mimic == nil ||
		!nearly(tendon.Passive[0].Mimic.Times, 2) {
		t.Errorf("a tendon: got %+v, %+v", tendon.Joints, tendon.Passive)
	}
	through := mjcf(t, `<worldbody><body name="a"><joint name="j"/><geom type="sphere" size="0.1" contype="0" conaffinity="0"/></body></worldbody>`, nil)
	for _, b := range through.Bodies {
		for _, s := range b.Shapes {
			if s.Collides {
				t.Errorf("contype 0, conaffinity 0: %s collides", b.Name)
			}
		}
	}
	stiff := mjcf(t, `<worldbody><body name="a"><joint name="j" damping="1e11"/>`+link+`</body></worldbody>`, nil)
	if stiff.Joints[0].Damping != maxForce || stiff.Repairs == 0 {
		t.Errorf("a damping of 1e11: got %g, %d repairs", stiff.Joints[0].Damping, stiff.Repairs)
	}
	// Values of MuJoCo 3.14, which holds corners in 32 bits; a mesh beside the file that includes it.
	const cup = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nv 0.5 0.5 0.2\nf 1 4 3 2\n" +
		"f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nf 5 6 9\nf 6 7 9\nf 7 8 9\nf 8 5 9\n"
	for how, want := range map[string][3]float64{"": {899.9598, 0.44994, 136.6767},
		`inertia="exact"`: {733.3333, 0.39091, 114.2061}, `inertia="convex"`: {1000, 0.5, 166.6667}} {
		r := mjcf(t, `<include file="parts/a.xml"/><worldbody><body name="b"><joint/><geom type="mesh" mesh="c"/></body></worldbody>`,
			map[string]string{"parts/a.xml": `<mujoco><asset><mesh name="c" file="../cup.obj" ` + how +
				`/></asset></mujoco>`,
				"cup.obj": cup})
		b := &r.Bodies[r.Body("b")]
		if math.Abs(b.Mass-want[0]) > 1e-3 || math.Abs(b.CentreOfMass[2]-want[1]) > 1e-5 ||
			math.Abs(b.Inertia[0]-want[2]) > 2e-3 {
			t.Errorf("a mesh with %s: got %g kg at %v, inertia %v, want %v", how, b.Mass, b.CentreOfMass, b.Inertia,
				want)
		}
	}
	still := mjcf(t, `<worldbody><geom type="plane" size="1 1 1"/><geom type="box" size="1 1 1"/></worldbody>`, nil)
	if !still.Fixed || len(still.Bodies) != 1 || len(still.Bodies[0].Shapes) != 1 || len(still.Joints) != 0 {
		t.Errorf("a world without bodies: got %+v", still)
	}
	floating := mjcf(t, `<worldbody><body name="a"><freejoint name="root"/>`+link+`<body name="b"><joint name="j"/>`+
		link+
		`</body></body></worldbody><actuator><motor joint="root"/><motor joint="j"/></actuator>`, nil)
	if len(floating.Joints) != 1 || !strings.Contains(fmt.Sprint(floating.Notes), "an actuator of a free joint") {
		t.Errorf("an actuator of a free joint: got %+v, notes %v", floating.Joints, floating.Notes)
	}
	included := mjcf(t, `<include file="d.xml"/><worldbody><body name="a"><include file="b.xml"/></body></worldbody>`,
		map[string]string{"d.xml": `<mujoco><default><joint range="-20 70"/></default></mujoco>`,
			"b.xml": `<mujoco><joint name="j"/>` + link + `</mujoco>`})
	if l := included.Joints[0].Limits; !nearly(l[1], 70*math.Pi/180) {
		t.Errorf("include: got %v", l)
	}
}

// TestMJCFFaults: what is not modelled is refused by its name; a fault names file and line.
func TestMJCFFaults(t *testing.T) {
	const body = `<worldbody><body name="a"><joint name="j" range="-1 1"/><geom size="0.1"/>%s</body></worldbody>`
	for inside, want := range map[string]string{
		fmt.Sprintf(body, `<flexcomp name="x"/>`):                                                         "flexcomp",
		fmt.Sprintf(body, "") + `<extension><plugin plugin="p"/></extension>`:                             "plugin",
		fmt.Sprintf(body, `<geom type="mesh" mesh="nil"/>`):                                               `"nil"`,
		fmt.Sprintf(body, `<geom type="torus" size="1"/>`):                                                `"torus"`,
		fmt.Sprintf(body, `<geom size="none"/>`):                                                          `"none"`,
		fmt.Sprintf(body, `<body name="b"><joint name="k" class="x"/><geom size="1"/></body>`):            `"x"`,
		fmt.Sprintf(body, "") + `<actuator><motor joint="z"/></actuator>`:                                 `"z"`,
		fmt.Sprintf(body, "") + `<include file="gone.xml"/>`:                                              "gone.xml",
		fmt.Sprintf(body, "") + `<keyframe><key name="home" qpos="1 2 3"/></keyframe>`:                    "want 1",
		fmt.Sprintf(body, `<body name="b"><freejoint/><geom size="1"/></body>`):                           "freejoint",
		fmt.Sprintf(body, `<replicate count="100000000"><body><geom size="1"/></body></replicate>`):       "replicate",
		`<worldbody><geom type="plane" size="1 1 1"/></worldbody>`:                                        "body",
		`<worldbody><body name="a"><joint name="j" limited="true"/><geom size="0.1"/></body></worldbody>`: "limited",
		fmt.Sprintf(body, `<body name="a"><joint name="j2"/><geom size="1"/></body>`):                     `"a"`,
		fmt.Sprintf(body, `<body name="b"><joint name="k" axis="0 0 0"/><geom size="1"/></body>`):         "axis",
	} {
		_, err := ParseFile([]byte("<mujoco>"+inside+"</mujoco>"), "m.xml", FileOptions{Open: mjcfFiles(nil)})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), ".xml") {
			t.Errorf("%s\ngot %v, want a fault that names m.xml and %s", inside, err, want)
		}
	}
	r := mjcf(t, `<option apirate="50"/>`+fmt.Sprintf(body, ""), nil)
	if !strings.Contains(fmt.Sprint(r.Notes), "apirate") {
		t.Errorf("an unknown attribute: got %v, want a note", r.Notes)
	}
}

func FuzzMJCF(f *testing.F) {
	for _, seed := range []string{
		`<mujoco><worldbody><body name="a"><joint name="j" range="-1 1" ref="3"/><geom type="capsule" fromto="0 0 0 0 0 1" size="0.1"/></body></worldbody></mujoco>`,
		`<mujoco><default><geom density="0"/></default><worldbody><frame euler="1 2 3"><replicate count="3" sep="x"><body><freejoint/><geom type="ellipsoid" size="1 2 3"/></body></replicate></frame></worldbody></mujoco>`,
		`<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody><actuator><general joint="j" gear="1 2"/></actuator></mujoco>`,
		`<mujoco><equality><joint joint1="a" joint2="b" polycoef="1 2 3"/></equality><tendon><fixed name="t"><joint joint="a" coef="0"/></fixed></tendon><actuator><motor tendon="t"/></actuator><worldbody/></mujoco>`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := ParseFile(data, "f.xml", FileOptions{}); err == nil && len(r.Bodies) == 0 {
			t.Error("got a robot without bodies and no fault")
		}
	})
}

// TestMJCFAttach: a body of another file stands in the place of <attach>, with its names behind the prefix, its own
// defaults, meshes and actuators, twice.
func TestMJCFAttach(t *testing.T) {
	files := map[string]string{
		"arms/arm.xml": `<mujoco model="arm"><compiler meshdir="m"/><default><joint damping="3"/><default class="big"><geom size="0.2"/></default></default>
			<asset><mesh file="t.obj"/></asset>
			<worldbody><body name="other"><joint name="x"/><geom size="0.1"/></body>
			<body name="upper" pos="0 0 1"><joint name="j" range="-30 30"/><geom class="big" density="1000"/><geom type="mesh" mesh="t"/></body></worldbody>
			<actuator><position joint="j" kp="7"/><motor joint="x"/></actuator></mujoco>`,
		"arms/m/t.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n",
	}
	r := mjcf(t, `<compiler meshdir="mine/deep"/><asset><model name="a" file="arms/arm.xml"/></asset><worldbody><body name="trunk">
		<geom size="0.1"/><frame pos="0 0.5 0"><attach model="a" body="upper" prefix="l_"/></frame>
		<attach model="a" body="upper" prefix="r_"/></body></worldbody>`, files)
	if len(r.Joints) != 2 || r.Joint("l_j") == hal.None || r.Joint("r_j") == hal.None || r.Body("r_upper") == hal.None {
		t.Fatalf("got joints %+v", r.Joints)
	}
	j := r.Joints[r.Joint("l_j")]
	if j.Damping != 3 || j.Motor.Kp != 7 || !nearly(j.Limits[1], math.Pi/6) {
		t.Errorf("got damping %g, kp %g, limits %v", j.Damping, j.Motor.Kp, j.Limits)
	}
	if at := r.Bodies[r.Body("l_upper")].Pose.Position; !nearly(at[1], 0.5) || !nearly(at[2], 1) {
		t.Errorf("got l_upper at %v", at)
	}
	if m := r.Bodies[r.Body("l_upper")].Mass; math.Abs(m-(1000*4/3*math.Pi*0.008+1000.0/6)) > 1 {
		t.Errorf("got a mass of %g kg", m)
	}
	for text, want := range map[string]string{
		`<worldbody><attach model="b" prefix="x"/></worldbody>`:                                                                `"b"`,
		`<asset><model name="a" file="arms/arm.xml"/></asset><worldbody><attach model="a" body="leg" prefix="x"/></worldbody>`: `"leg"`,
		`<asset><model name="a" file="arms/arm.xml"/></asset><worldbody><attach model="a" frame="f" prefix="x"/></worldbody>`:  `attach.frame: got "f"`,
	} {
		_, err := ParseFile([]byte("<mujoco>"+text+"</mujoco>"), "f.xml", FileOptions{Open: mjcfFiles(files)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// Each file counts angles by its own compiler; a frame of another file, or of the same, is attached like a body.
func TestMJCFAttachFrames(t *testing.T) {
	files := map[string]string{"hand.xml": `<mujoco model="hand"><worldbody><body name="other"><geom size="0.1"/></body>
		<body name="up" euler="0 0 90"><frame name="f" pos="0 0 0.5"><body name="palm" pos="0.1 0 0">
		<joint name="w" range="-30 30"/><geom size="0.1"/></body></frame></body></worldbody></mujoco>`}
	r := mjcf(t, `<compiler angle="radian"/><asset><model name="hand" file="hand.xml"/></asset><worldbody><body name="base"><joint name="j" range="-1 1"/>
		<geom size="0.1"/><frame name="own" pos="0 1 0"><body name="tail"><joint name="t"/><geom size="0.1"/></body></frame>
		<frame pos="0 0 2"><attach model="hand" frame="f" prefix="l_"/></frame>
		<frame pos="0 0 3"><attach frame="own" prefix="up_"/></frame></body></worldbody>`, files)
	if len(r.Bodies) != 5 || r.Joint("l_w") == hal.None || r.Joint("up_t") == hal.None {
		t.Fatalf("got bodies %+v", r.Bodies)
	}
	if got := r.Joints[r.Joint("l_w")].Limits[1]; !nearly(got, math.Pi/6) {
		t.Errorf("an attached range: got %g, want 30 degrees", got)
	}
	if got := r.Joints[r.Joint("j")].Limits[1]; got != 1 {
		t.Errorf("the main file's range: got %g, want 1 rad", got)
	}
	for name, want := range map[string]vec{"l_palm": {0.1, 0, 2.5}, "up_tail": {0, 1, 3}} {
		if got := r.Bodies[r.Body(name)].Pose.Position; !near(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// Values of MuJoCo 3.14 for masses that are not those of full solids at a density: mass, kg, and the first moment about
// the centre of mass, kg·m².
func TestMJCFMasses(t *testing.T) {
	const cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n" +
		"f 1 3 2\nf 1 4 3\nf 1 2 6\nf 1 6 5\nf 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8\n"
	files := map[string]string{"c.obj": cube + "f 5 6 7\nf 5 7 8\n", "open.obj": cube,
		"long.obj": strings.NewReplacer("v 1", "v 0.3", " 1 0\n", " 0.1 0\n", " 1 1\n", " 0.1 0.2\n", " 0 1\n",
			" 0 0.2\n").
			Replace(cube + "f 5 6 7\nf 5 7 8\n")}
	mesh := func(file, attrs, geom string) string {
		return `<asset><mesh name="m" file="` + file + `" ` + attrs + `/></asset>@<geom mesh="m" ` + geom + `/>`
	}
	for text, want := range map[string][2]float64{
		`<geom size="0.1" shellinertia="true"/>`:                                 {125.66371, 0.83775804},
		`<geom type="box" size="0.1 0.2 0.3" mass="2" shellinertia="true"/>`:     {2, 0.12303030},
		`<geom type="cylinder" size="0.1 0.3" mass="2" shellinertia="true"/>`:    {2, 0.086428571},
		`<geom type="capsule" size="0.1 0.3" mass="2" shellinertia="true"/>`:     {2, 0.11583333},
		`<geom type="ellipsoid" size="0.1 0.2 0.3" shellinertia="true"/>`:        {489.71933, 18.075095},
		`<geom type="ellipsoid" size="0.1 0.2 0.3" mass="2"/>`:                   {2, 0.052},
		`<geom size="0.1" group="3"/><geom size="0.2" group="1"/>`:               {33.510322, 0.53616515},
		`<inertial pos="0 0 0" mass="0.01" diaginertia="0.001 0.1 0.1"/>`:        {0.5, 0.02},
		mesh("c.obj", `scale="0.1 0.1 0.1" inertia="shell"`, `type="mesh"`):      {60, 60 * 0.01 * 5 / 18},
		mesh("open.obj", `scale="0.1 0.1 0.1" inertia="shell"`, `type="mesh"`):   {50, 0.12833333},
		mesh("open.obj", `scale="0.1 0.1 0.1" inertia="exact"`, `type="mesh"`):   {0.80416667, 0.0012404},
		mesh("long.obj", ``, `type="sphere"`):                                    {4.1887902, 0.016755161},
		mesh("long.obj", ``, `type="capsule"`):                                   {5.7432243, 0},
		mesh("long.obj", ``, `type="cylinder"`):                                  {5.3014376, 0},
		mesh("long.obj", ``, `type="box" fitscale="0.5"`):                        {0.75, 0.00078125},
		mesh("c.obj", `refpos="0.1 0.2 0.3" scale="0.1 0.1 0.1"`, `type="mesh"`): {1, 0.0016666667},
	} {
		assets, geoms, ok := strings.Cut(text, "@")
		if !ok {
			assets, geoms = "", text
		}
		r := mjcf(t, `<compiler boundmass="0.5" boundinertia="0.02" inertiagrouprange="0 2"/>`+assets+
			`<worldbody><body name="a"><joint name="j" axis="0 1 0"/>`+geoms+`</body></worldbody>`, files)
		b := &r.Bodies[r.Body("a")]
		if !nearly(b.Mass, want[0]) || want[1] > 0.02 && math.Abs(b.Inertia[0]-want[1]) > 1e-5*want[1] {
			t.Errorf("%s\ngot %.8g kg, moment %.8g, want %v", text, b.Mass, b.Inertia[0], want)
		}
		if strings.Contains(text, "refpos") && !near(b.CentreOfMass, vec{0.04, 0.03, 0.02}) {
			t.Errorf("refpos: got the centre at %v", b.CentreOfMass)
		}
	}
}

// What two geoms or a joint may do is said in places of their own: a pair collides without masks, contact may be
// disabled for all, an equality of one joint fixes it, an included file looks in its own folder too.
func TestMJCFElsewhere(t *testing.T) {
	const arm = `<worldbody><body name="a"><joint name="j"/><geom name="g" size="0.1" contype="0" conaffinity="0"/>
		<body name="b" pos="1 0 0"><joint name="k" ref="10"/><geom name="h" size="0.1"/></body></body></worldbody>`
	r := mjcf(t, arm+`<contact><pair geom1="g" geom2="h"/></contact>`, nil)
	if !r.Bodies[r.Body("a")].Shapes[0].Collides || slices.Contains(r.NoContact, [2]int{1, 2}) {
		t.Errorf("a pair: got %+v, apart %v", r.Bodies[1].Shapes, r.NoContact)
	}
	r = mjcf(t, `<option><flag contact="disable"/></option>`+arm, nil)
	if r.Bodies[r.Body("b")].Shapes[0].Collides {
		t.Error("contact is disabled: got a solid that collides")
	}
	r = mjcf(t, arm+`<default><joint damping="3"/></default><equality><joint joint1="k" polycoef="0.3 0 0 0 0"/></equality>`, nil)
	if r.Joint("k") != hal.None || !strings.Contains(fmt.Sprint(r.Notes), `joint "k": fixed at 0.47`) {
		t.Errorf("an equality of one joint: got %v", r.Notes)
	}
	r = mjcf(t, `<worldbody><body name="a"><include file="in/g.xml"/></body></worldbody>`, map[string]string{
		"in/g.xml": `<mujocoinclude><joint/><include file="h.xml"/></mujocoinclude>`,
		"in/h.xml": `<mujocoinclude><geom size="0.1"/></mujocoinclude>`})
	if !nearly(r.Bodies[len(r.Bodies)-1].Mass, 4.1887902) {
		t.Errorf("an include beside: got %+v", r.Bodies)
	}
	for inside, want := range map[string]string{
		`<compiler autolimits="false"/><worldbody><body name="a"><joint name="j" range="-1 1"/><geom size="0.1"/></body></worldbody>`: "limited",
		`<asset><mesh name="m" builtin="sphere"/></asset>` +
			arm: "builtin",
	} {
		if _, err := ParseFile([]byte("<mujoco>"+inside+"</mujoco>"), "m.xml", FileOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot %v, want %s", inside, err, want)
		}
	}
}
