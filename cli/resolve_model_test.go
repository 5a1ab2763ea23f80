package cli

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/protocols/simloid"
	"github.com/halyard-robotics/halyard/sim/hydro"
)

const twoLinks = `<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.1"/><mass value="0.2"/><inertia ixx="0.001" iyy="0.001" izz="0.0001"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0 0 0.1"/><mass value="0.1"/><inertia ixx="0.0005" iyy="0.0005" izz="0.0001"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" effort="4" velocity="5"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" effort="4" velocity="5"/></joint>
</robot>`

const armConfig = `name: arm
world: {scene: my.yaml}
buses: {line: {type: dynamixel2}}
agents:
  - name: arm
    model: robots/arm.urdf
    hardware:
      joints:
        shoulder: {bus: line, id: 1, model: xm430-w350}
servers: [{protocol: simloid, listen: "127.0.0.1:0"}]
`

// folder has files by name, and is the working folder of none.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// TestURDF: a URDF and a scene beside the config; joints that only one of URDF and hardware has are reported.
func TestURDF(t *testing.T) {
	files := map[string]string{"robots/arm.urdf": twoLinks,
		"my.yaml": "name: my\nmaterials: {floor: {friction: 1}}\nground: floor\n", "arm.yaml": armConfig}
	config := filepath.Join(folder(t, files), "arm.yaml")
	code, out, errText := runApp(t, "list", config)
	if code != 0 {
		t.Fatalf("list: exit %d: %s", code, errText)
	}
	for _, want := range []string{"line id 1 xm430-w350", "shoulder/duty", "elbow/velocity", "fore", "0.1"} {
		if !strings.Contains(out, want) {
			t.Errorf("list: got\n%s\nwant it to have %q", out, want)
		}
	}
	if want := "agents[0].hardware.joints.elbow: got none, want its servo; without one it is an ideal motor"; !strings.Contains(errText, want) {
		t.Errorf("note: got %s, want %q", errText, want)
	}
	for _, c := range []struct {
		args string
		want []string
	}{
		{"--body emulated", []string{"agents[0].hardware.joints.elbow: got none, want the servo of elbow"}},
		{"--set agents[0].hardware.joints.wrist={bus: line, id: 2, model: xm430-w350}",
			[]string{"hardware.joints.wrist", "a joint of arm: shoulder, elbow"}},
		{"--set agents[0].model=robots/leg.urdf", []string{"agents[0].model", "leg.urdf"}},
		{"--set agents[0].model=leg.yaml", []string{"agents[0].model", "simloid-ID"}},
		{"--set world.scene=swamp", []string{"world.scene", "hurdles", "scene file"}},
		{"--set world.scene=arm.yaml",
			[]string{"arm.yaml:2:1: world: got an unknown key, want name, title, simloid, materials"}},
		{"--set agents[0].model=my.yaml", []string{"my.yaml: joints: got nothing, want a list"}},
		{"--set servers[0].agent=leg", []string{"servers[0].agent"}},
	} {
		flag, value, _ := strings.Cut(c.args, " ")
		code, _, errText := runApp(t, "validate", config, flag, value)
		if code != 2 {
			t.Errorf("%s: got exit %d, want 2", c.args, code)
		}
		for _, want := range c.want {
			if !strings.Contains(errText, want) {
				t.Errorf("%s: got %s, want it to say %q", c.args, errText, want)
			}
		}
	}
	// and it moves
	r := startServe(t, config)
	c := simloidClient(t, r, 0)
	if n := len(c.Traits().Joints); n != 2 {
		t.Fatalf("got %d joints, want 2", n)
	}
	for range 200 {
		simloidCycle(t, c, simloid.Command{Verb: simloid.PX, Values: []float64{0.2, -0.1}},
			simloid.Command{Verb: simloid.TA, Values: []float64{1}})
	}
	if p := c.Status().Position; math.Abs(p[0]-0.2) > 0.02 || math.Abs(p[1]+0.1) > 0.02 {
		t.Errorf("got %v, want 0.2 and -0.1", p)
	}
}

// TestServoBehindSimloid: a robot of the original with a servo in the place of its motor, simulated and emulated.
func TestServoBehindSimloid(t *testing.T) {
	config := filepath.Join(folder(t, map[string]string{"pendulum.yaml": `name: pendulum
buses: {line: {type: dynamixel2}}
agents:
  - name: pendulum
    model: simloid-90
    hardware: {joints: {joint0: {bus: line, id: 1, model: xm540-w270}}}
servers: [{protocol: simloid, listen: "127.0.0.1:0", noise: false}]
`}), "pendulum.yaml")
	for _, body := range []string{"sim", "emulated"} {
		r := startServe(t, config, "--body", body)
		c := simloidClient(t, r, 0)
		if j := c.Traits().Joints[0]; j.Name != "joint0" || !j.Free() || c.Traits().Bodies != 2 {
			t.Errorf("%s: traits: got %+v", body, j)
		}
		rest := c.Status().Bodies[1].Position
		for range 150 {
			simloidCycle(t, c, simloid.Command{Verb: simloid.UA, Values: []float64{0.1}})
		}
		s := c.Status()
		if q := s.Position[0] * math.Pi; math.Abs(q) < 0.05 {
			t.Errorf("%s: a voltage turned it by %g", body, q)
		} else if want := rest[0] + 0.2375*math.Sin(q); math.Abs(s.Bodies[1].Position[0]-want) > 0.02 {
			// the axis is along y, the lever's middle 0.2375 m below it, and the angle counts against the turn
			t.Errorf("%s: at %g rad: got the lever's middle at %v, want x %g", body, q, s.Bodies[1].Position, want)
		}
		c.Close()
		r.interrupt(t)
	}
}

// TestVehicleFile: model takes a vehicle file as it takes a robot file; the built-in one as a file is the same vehicle.
func TestVehicleFile(t *testing.T) {
	text, err := hydro.Source("bluerov2-heavy")
	must(t, err)
	dir := folder(t, map[string]string{"mine.yaml": string(text),
		"bad.yaml": strings.Replace(string(text), "mass_kg:", "mass_gk:", 1)})
	run := func(command, vehicle string) (int, string, string) {
		return runApp(t, command, "rov", "--set", "agents[0].model="+vehicle)
	}
	code, want, _ := run("list", "bluerov2-heavy")
	if _, got, errText := run("list", filepath.Join(dir, "mine.yaml")); code != 0 || got != want ||
		!strings.Contains(got, "thruster") {
		t.Errorf("list: got exit %d and\n%s\n%s\nwant\n%s", code, got, errText, want)
	}
	code, _, errText := run("validate", filepath.Join(dir, "bad.yaml"))
	if code != 2 || !strings.Contains(errText, `bad.yaml:7:1: mass_gk: got an unknown key`) ||
		!strings.Contains(errText, `did you mean "mass_kg"?`) {
		t.Errorf("validate: got exit %d and %s, want 2 and the place of the fault", code, errText)
	}
}

// TestRobotFileNotes: validate prints each repair of a robot file, serve one line; repair: false refuses it. A robot
// file where YAML belongs is called what it is.
func TestRobotFileNotes(t *testing.T) {
	broken := strings.Replace(twoLinks, `<mass value="0.1"/>`, `<mass value="0"/>`, 1)
	dir := folder(t, map[string]string{"arm.urdf": broken,
		"arm.yaml": "name: arm\nagents:\n  - {name: arm, model: arm.urdf}\n"})
	config := filepath.Join(dir, "arm.yaml")
	want := `arm.urdf:4: link "fore".inertial: repaired: none -> 0.01 kg`
	if code, _, errText := runApp(t, "validate", config); code != 0 || !strings.Contains(errText, want) {
		t.Errorf("validate: got %d, %s, want %s", code, errText, want)
	}
	if code, _, errText := runApp(t, "validate", config, "--set", "agents[0].repair=false"); code != 2 ||
		!strings.Contains(errText, `arm.urdf:4: link "fore".inertial: none -> 0.01 kg`) {
		t.Errorf("repair: false: got %d, %s", code, errText)
	}
	if code, _, errText := runApp(t, "validate", filepath.Join(dir, "arm.urdf")); code != 2 ||
		!strings.Contains(errText, "got XML, <robot>, want YAML") {
		t.Errorf("a URDF as config: got %d, %s", code, errText)
	}
}
