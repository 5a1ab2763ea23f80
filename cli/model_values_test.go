package cli

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/protocols/osp"
	"github.com/halyard-robotics/halyard/sim/model"
)

// modelSession is an OSP client that controls the first agent of a served rig.
type modelSession struct {
	*osp.Client
	t     *testing.T
	agent int32
	ids   map[string]int32
}

func openModel(t *testing.T, args ...string) *modelSession {
	t.Helper()
	r := startServe(t, append(args, "--listen", "osp=127.0.0.1:0")...)
	c, err := osp.Dial(r.address(t, "osp"), osp.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	s := &modelSession{Client: c, t: t, ids: map[string]int32{}}
	list, err := c.Overview()
	s.must(err)
	s.agent = list[0].ID
	s.must(c.Register(s.agent))
	s.must(c.Reset(1))
	return s
}

func (s *modelSession) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// id is a value's, which must be of a type.
func (s *modelSession) id(name, kind string) int32 {
	s.t.Helper()
	if id, ok := s.ids[name]; ok {
		return id
	}
	found, err := s.FindValues(regexp.QuoteMeta(name))
	s.must(err)
	if len(found) != 1 || found[0].Type != kind {
		s.t.Fatalf("%s: got %+v, want one %s", name, found, kind)
	}
	s.ids[name] = found[0].ID
	return found[0].ID
}

func (s *modelSession) text(name, kind string) string {
	s.t.Helper()
	text, err := s.Value(s.id(name, kind))
	s.must(err)
	return text
}

// numbers are those of a value.
func (s *modelSession) numbers(name, kind string) [4]float64 {
	s.t.Helper()
	text, format := s.text(name, kind), "%g"
	var v [4]float64
	to := []any{&v[0]}
	switch kind {
	case "Vector3D":
		format, to = "(%g,%g,%g)", []any{&v[0], &v[1], &v[2]}
	case "Quaternion":
		format, to = "(%g,%g,%g,%g)", []any{&v[0], &v[1], &v[2], &v[3]}
	}
	if _, err := fmt.Sscanf(text, format, to...); err != nil {
		s.t.Fatalf("%s: got %q: %v", name, text, err)
	}
	return v
}

func (s *modelSession) set(name, kind, content string) {
	s.t.Helper()
	if err := s.SetValue(s.id(name, kind), content); err != nil {
		s.t.Fatalf("%s = %s: %v", name, content, err)
	}
}

func (s *modelSession) step(n int) (events []int32) {
	s.t.Helper()
	for range n {
		r, err := s.Step(s.agent, nil)
		s.must(err)
		events = append(events, r.Events...)
	}
	return events
}

// A pose is set at once: the whole robot moves so that this body is there, and falls from there.
func TestPoseIsSetAtOnce(t *testing.T) {
	s := openModel(t, "a-series", "--listen", "odcp=127.0.0.1:0")
	const head, foot = "/humanoid/head/", "/humanoid/left_foot/"
	from, lower := s.numbers(head+"Position", "Vector3D"), s.numbers(foot+"Position", "Vector3D")
	s.set(head+"Position", "Vector3D", "(1,-2,3)")
	to := [4]float64{1, -2, 3}
	if got := s.numbers(head+"Position", "Vector3D"); !rigtest.Near(got, to, 1e-6) {
		t.Errorf("head: got %v, want %v", got, to)
	}
	for i := range lower {
		lower[i] += to[i] - from[i]
	}
	if got := s.numbers(foot+"Position", "Vector3D"); !rigtest.Near(got, lower, 1e-6) {
		t.Errorf("foot: got %v, want %v", got, lower)
	}
	s.set(head+"Orientation", "Quaternion", "(0.70710678,0.70710678,0,0)")
	if got := s.numbers(head+"OrientationQuaternion", "Quaternion"); !rigtest.Near(got,
		[4]float64{math.Sqrt(0.5), math.Sqrt(0.5)}, 1e-6) {
		t.Errorf("orientation: got %v", got)
	}
	s.step(10)
	if got := s.numbers(head+"Position", "Vector3D"); !(got[2] < 2.99 && got[2] > 2.8) {
		t.Errorf("0.1 s later: got %v, want it to fall", got)
	}
	s.set("/Simulation/Gravity", "Vector3D", "(0,0,0)")
	s.must(s.Reset(1))
	before := s.numbers(head+"Position", "Vector3D")
	s.step(5)
	if got := s.numbers(head+"Position", "Vector3D"); !rigtest.Near(got, before, 1e-3) {
		t.Errorf("without gravity: got %v, want %v", got, before)
	}
}

// Geometry, mass and parameters count from the next reset on.
func TestFiguresWaitForTheReset(t *testing.T) {
	plan := rigtest.PlanOf(t, "a-series", configs.Options{})
	sys, err := assembly.Build(plan, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	values := sys.Rig.Values()
	body := sys.Scene.Body("humanoid")
	find := func(name string) hal.ValueID {
		t.Helper()
		ids := values.Find(regexp.MustCompile(regexp.QuoteMeta(name)))
		if len(ids) != 1 {
			t.Fatalf("%s: got %d values, want one", name, len(ids))
		}
		return ids[0]
	}
	foot, knee := body.Model().Body("left_foot"), body.Model().Joint("left_knee")
	now := func() *model.Robot { return sys.Scene.Body("humanoid").Model() }
	was := *now()
	for _, c := range []struct {
		name string
		set  hal.Value
		is   func(m *model.Robot) float64
		want float64
	}{
		{"/humanoid/left_foot/Mass", hal.Value{Kind: hal.DoubleValue, Double: 0.3},
			func(m *model.Robot) float64 { return m.Bodies[foot].Mass }, 0.3},
		{"/humanoid/left_foot/Size", hal.Value{Kind: hal.VectorValue, Vector: [4]float64{0.2, 0.1, 0.02}},
			func(m *model.Robot) float64 { return m.Bodies[foot].Inertia[2] }, 0.3 / 12 * (0.2*0.2 + 0.1*0.1)},
		{"/humanoid/left_foot/Friction", hal.Value{Kind: hal.DoubleValue, Double: 0.1},
			func(m *model.Robot) float64 { return m.Bodies[foot].Shapes[0].Material.Friction }, 0.1},
		{"/humanoid/left_lower_arm/Shape2/Size", hal.Value{Kind: hal.VectorValue, Vector: [4]float64{0.01, 0.08, 0.03}},
			func(m *model.Robot) float64 { return m.Bodies[m.Body("left_lower_arm")].Shapes[1].Half[1] }, 0.04},
		{"/humanoid/Left/Knee/MinAngle", hal.Value{Kind: hal.DoubleValue, Double: -90},
			func(m *model.Robot) float64 { return m.Joints[knee].Stops[0] }, -math.Pi / 2},
		{"/humanoid/Left/Knee/MotorStrength", hal.Value{Kind: hal.DoubleValue, Double: 0.5},
			func(m *model.Robot) float64 { return m.Joints[knee].Strength }, 0.5},
		{"/humanoid/Left/Knee/JointDamping", hal.Value{Kind: hal.DoubleValue, Double: 0.02},
			func(m *model.Robot) float64 { return m.Joints[knee].Damping }, 0.02},
		{"/humanoid/Supply/Voltage", hal.Value{Kind: hal.DoubleValue, Double: 11},
			func(m *model.Robot) float64 { return m.Supply.Volts }, 11},
	} {
		if c.name == "/humanoid/Left/Knee/MinAngle" && !(was.Joints[knee].Stops[0] < was.Joints[knee].Stops[1]) {
			continue
		}
		if err := values.Set(find(c.name), c.set); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := c.is(now()); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: got %g, want %g", c.name, got, c.want)
		}
		if got, err := values.Get(find(c.name)); err != nil || math.Abs(got.Double-c.set.Double) > 1e-9 ||
			!rigtest.Near(got.Vector, c.set.Vector, 1e-9) {
			t.Errorf("%s: reads %+v, %v, want %+v", c.name, got, err, c.set)
		}
	}
	if servo := body.Joint(knee).Servo; servo.Spec.Kt != was.Joints[knee].Servo.Kt || body.Supply().Volts != 12 {
		t.Errorf("before the reset: got %g N·m/A on %g V", servo.Spec.Kt, body.Supply().Volts)
	}
	if err := sys.Scene.Reset(0); err != nil {
		t.Fatal(err)
	}
	if servo := body.Joint(knee).Servo; servo.Spec.Kt != 0.5*was.Joints[knee].Servo.Kt || body.Supply().Volts != 11 {
		t.Errorf("after the reset: got %g N·m/A on %g V", servo.Spec.Kt, body.Supply().Volts)
	}
}

// The same over a session: a heavier head makes another fall, but none before the reset.
func TestMassOverOSP(t *testing.T) {
	s := openModel(t, "a-series", "--listen", "odcp=127.0.0.1:0")
	s.step(20)
	fall := func() [4]float64 { s.step(150); return s.numbers("/humanoid/head/Position", "Vector3D") }
	s.must(s.Reset(1))
	light := fall()
	s.must(s.Reset(1))
	s.set("/humanoid/head/Mass", "Double", "0.5")
	if got := s.text("/humanoid/head/Mass", "Double"); got != "0.5" {
		t.Errorf("reads %s, want 0.5", got)
	}
	if got := fall(); got != light {
		t.Errorf("before the reset: got %v, want %v", got, light)
	}
	s.must(s.Reset(1))
	if got := fall(); got == light {
		t.Errorf("after the reset: got %v again", got)
	}
}

// Nonsense is refused, and nothing changes.
func TestNonsenseIsRefused(t *testing.T) {
	s := openModel(t, "a-series", "--listen", "odcp=127.0.0.1:0")
	for _, c := range []struct {
		name, kind string
		bad        []string
	}{
		{"/humanoid/head/Position", "Vector3D", []string{"(1e9,0,0)", "(nan,0,0)", "(1,2)", "up", ""}},
		{"/humanoid/head/Orientation", "Quaternion", []string{"(0,0,0,0)", "(9,0,0,0)", "(1,0,0)"}},
		{"/humanoid/head/Mass", "Double", []string{"-1", "0", "nan", "inf", "1e30", "heavy"}},
		{"/humanoid/head/Size", "Vector3D", []string{"(0,1,1)", "(1,-1,1)", "(1,1,1e9)"}},
		{"/humanoid/head/Friction", "Double", []string{"-0.1", "1e9"}},
		{"/humanoid/head/CenterOfMass", "Vector3D", []string{"(0,0,0)"}},
		{"/humanoid/Left/Knee/MotorStrength", "Double", []string{"-1", "0", "1e9"}},
		{"/humanoid/Supply/Voltage", "Double", []string{"0", "1000"}},
		{"/Simulation/Gravity", "Vector3D", []string{"(0,0,1e9)", "(0,0,inf)"}},
		{"/World/Ground/Friction", "Double", []string{"-1"}},
	} {
		before := s.text(c.name, c.kind)
		for _, bad := range c.bad {
			if err := s.SetValue(s.id(c.name, c.kind), bad); err == nil {
				t.Errorf("%s = %q was taken", c.name, bad)
			}
		}
		if got := s.text(c.name, c.kind); got != before {
			t.Errorf("%s: got %s, want still %s", c.name, got, before)
		}
	}
}

// A fall raises the events of what meets the ground, in the cycles in which it does; a client that asks for none has
// none.
func TestCollisionEvents(t *testing.T) {
	s := openModel(t, "a-series", "--listen", "odcp=127.0.0.1:0")
	ask := func(name string) int32 {
		t.Helper()
		id, err := s.RegisterEvent(name)
		if err != nil || id == 0 {
			t.Fatalf("%s: got %d, %v", name, id, err)
		}
		return id
	}
	if events := s.step(50); len(events) > 0 {
		t.Errorf("unasked: got events %v", events)
	}
	head, foot, ground := ask("/humanoid/head/Collision"), ask("/humanoid/left_foot/Collision"),
		ask("/humanoid/Collision/Ground")
	if id, err := s.RegisterEvent("/humanoid/nose/Collision"); err == nil && id != 0 {
		t.Errorf("a body that is not there: got event %d", id)
	}
	s.set("/humanoid/pelvis/Position", "Vector3D", "(0,0,1)")
	s.set("/humanoid/pelvis/Orientation", "Quaternion", "(0,1,0,0)") // head down
	if events := s.step(20); len(events) > 0 {
		t.Errorf("in the air: got events %v", events)
	}
	fall := s.step(250)
	for _, id := range []int32{head, foot, ground} {
		if !slices.Contains(fall, id) {
			t.Errorf("event %d did not come in the fall: got %v", id, fall)
		}
	}
	if last := s.step(1); !slices.Contains(last, ground) {
		t.Errorf("lying there: got %v, want it still to touch the ground", last)
	}
}

// A robot with figures left to chance is the same after each reset with one seed, bit for bit, and of two such robots
// each has its own.
func TestRandomResetOverOSP(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("topple.yaml", `
name: topple
supply: {volts: 12}
bodies:
  - {name: trunk, position_m: [0, 0, 0.2], mass_kg: 1, shapes: [{box: [0.2, 0.1, 0.1]}], random: {mass: 20%, friction: 20%}}
  - {name: arm, position_m: [0, 0, 0.4], mass_kg: 0.5, shapes: [{capsule: [0.02, 0.2]}], random: {mass: 20%}}
joints:
  - {name: lift, servo: xm430-w350, limits_deg: [-90, 90], parent: trunk, child: arm, anchor_m: [0, 0, 0.28], axis: [0, 1, 0], start_spread_deg: 20}
`)
	config := write("two.yaml", `
name: two
agents:
  - {name: one, model: topple.yaml}
  - {name: two, model: topple.yaml, pose: {position: [0, 2, 0]}}
servers: [{protocol: osp, listen: "127.0.0.1:0"}]
`)
	s := openModel(t, config)
	run := func(seed int64) string {
		s.must(s.Reset(int32(seed)))
		trace := s.text("/one/trunk/Mass", "Double") + " " + s.text("/one/arm/Mass", "Double")
		s.step(100)
		return trace + " " + s.text("/one/trunk/Position", "Vector3D") + s.text("/one/arm/Orientation", "Quaternion")
	}
	seven, eight := run(7), run(8)
	if seven == eight {
		t.Errorf("two seeds: got %s both times", seven)
	}
	if again := run(7); again != seven {
		t.Errorf("seed 7 again: got %s, want %s", again, seven)
	}
	if one, two := s.text("/one/trunk/Mass", "Double"), s.text("/two/trunk/Mass", "Double"); one == two || one == "1" {
		t.Errorf("two robots: got %s kg and %s kg, want each its own", one, two)
	}
}
