package calibrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// planted is the mounting of each emulated servo, which a session must find.
var planted = []struct {
	joint     string
	zero      float64
	direction int
	gear      float64
}{
	{"shoulder_pan", 1900.5, -1, 1}, {"shoulder_lift", 2310, 1, 1}, {"elbow_flex", 2048, -1, 1.5},
	{"wrist_flex", 300, 1, 1}, {"wrist_roll", 2100, -1, 0.75}, {"gripper", 2048, 1, 2},
}

func plantedOptions() (o configs.Options) {
	o.Body = "emulated"
	for _, p := range planted {
		at := "agents[0].hardware.joints." + p.joint + ".ground_truth"
		o.Set = append(o.Set, fmt.Sprintf("%s.zero=%g", at, p.zero), fmt.Sprintf("%s.direction=%d", at, p.direction),
			fmt.Sprintf("%s.gear=%g", at, p.gear))
	}
	return o
}

// person are the answers of a person who does as asked, and knows the gears.
func person(extra ...string) string {
	var turn, sweep, home []string
	ends := map[string][2]float64{"shoulder_pan": {-110, 110}, "shoulder_lift": {-100, 100}, "elbow_flex": {-97, 97},
		"wrist_flex": {-95, 95}, "wrist_roll": {-157, 160}, "gripper": {-10, 100}}
	for _, p := range planted {
		turn = append(turn, p.joint+" 8")
		home = append(home, p.joint+" 0")
		sweep = append(sweep, fmt.Sprintf("%s %g %s %g", p.joint, ends[p.joint][0], p.joint, ends[p.joint][1]))
	}
	hand := func(moves []string) string { return "hand " + strings.Join(moves, " ") + "\n\n" }
	return hand(home) + hand(turn) + hand(sweep) + hand(home) + // rests at 0
		"1.5\n" + "0.75\n" + "2\n" + "\n" + strings.Join(extra, "")
}

func guide(t *testing.T, dir, answers string, o configs.Options) (*Guide, *bytes.Buffer) {
	t.Helper()
	out := &bytes.Buffer{}
	return &Guide{Config: "so101", Options: o, Catalog: builtin.Catalog(), Dir: dir,
		In: commission.NewAsker(strings.NewReader(answers)), Out: out,
		Now: func() time.Time { return noon }}, out
}

// A person's hand on an emulated arm with planted mountings: every joint within half a degree, and the torque of those
// that gravity loads within five per cent.
func TestGuideFindsWhatIsPlanted(t *testing.T) {
	dir := t.TempDir()
	g, out := guide(t, dir, person("y\n", "\n\n\n\n\n\n"), plantedOptions())
	rows, err := g.Run(context.Background())
	if err != nil {
		t.Log(out)
		t.Fatal(err)
	}
	if len(rows) != len(planted) {
		t.Fatalf("got %d rows, want %d", len(rows), len(planted))
	}
	for _, p := range planted {
		c, err := calibration.Load(filepath.Join(dir, p.joint+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for _, q := range []float64{-1.5, -0.5, 0, 0.5, 1.5} {
			ticks := p.zero + float64(p.direction)*q*p.gear*4096/(2*math.Pi)
			worst = math.Max(worst, math.Abs((ticks-c.ZeroTicks)*2*math.Pi/(4096*c.Gear)*float64(c.Direction)-q))
		}
		t.Logf("%s: worst %.3f degrees, torque %.3f", p.joint, worst/degree, c.Torque.Constant)
		if worst > 0.5*degree || c.Method != calibration.ByManual || c.RestTicks == nil {
			t.Errorf("%s: got %.2f degrees off, method %s, rest %v", p.joint, worst/degree, c.Method, c.RestTicks)
		}
	}
	// the stall torque of the emulated servo at its supply, behind its gear
	for _, joint := range []string{"shoulder_lift", "elbow_flex"} {
		c, err := calibration.Load(filepath.Join(dir, joint+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		spec, _ := actuator.Lookup("sts3215")
		if want := spec.Kt * 7.4 / spec.R * c.Gear; math.Abs(c.Torque.Constant/want-1) > 0.05 ||
			math.Abs(c.Torque.Offset) > 0.02 {
			t.Errorf("%s: got torque constant %.3f and offset %.3f, want %.3f within 5 %% and 0", joint,
				c.Torque.Constant, c.Torque.Offset, want)
		}
	}
	if _, err := os.Stat(g.progressFile()); err == nil {
		t.Error("the progress file of a session that is over is still there")
	}
}

// At 0 the SO-101's upper arm stands, and its forearm and gripper lie level and look forward.
func TestDrawnPose(t *testing.T) {
	g, _ := guide(t, t.TempDir(), "", configs.Options{Body: "emulated"})
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ joint, words string }{
		{"shoulder_lift", "is forward and up of its axis"}, {"elbow_flex", "is forward of its axis"},
		{"wrist_flex", "is forward of its axis"}, {"gripper", "is forward of its axis"},
	} {
		if got := g.robot.Joint(want.joint).Drawn; !strings.Contains(got, want.words) {
			t.Errorf("%s: got %q, want %q", want.joint, got, want.words)
		}
	}
}

// A session whose input ends, or that is interrupted, at any prompt changes no file but its own, and goes on where it
// was.
func TestGuideResumes(t *testing.T) {
	dir := t.TempDir()
	lines := strings.SplitAfter(strings.TrimSpace(person("\n")), "\n")
	for at := 0; at < 4; at++ { // before each of the first four steps is done
		g, out := guide(t, dir, "\n"+strings.Join(lines[2*at:2*at+2], ""), plantedOptions())
		if at == 0 {
			g.In = commission.NewAsker(strings.NewReader(strings.Join(lines[:2], "")))
		}
		if _, err := g.Run(context.Background()); err == nil {
			t.Fatalf("step %d: the session went on without input", at)
		}
		if all, _ := filepath.Glob(filepath.Join(dir, "*.yaml")); len(all) > 0 {
			t.Fatalf("step %d: got %v written without a confirmation\n%s", at, all, out)
		}
	}
	g, out := guide(t, dir, "\n"+strings.Join(lines[8:], ""), plantedOptions())
	g.In = commission.NewAsker(strings.NewReader("\n1.5\n0.75\n2\n\n\n"))
	if _, err := g.Run(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c, err := calibration.Load(filepath.Join(dir, "wrist_roll.yaml"))
	if err != nil || math.Abs(c.ZeroTicks-2100) > 1 || c.Gear != 0.75 || c.Direction != -1 {
		t.Errorf("got %+v, %v, want what the five sessions measured", c, err)
	}

	g, out = guide(t, t.TempDir(), "", plantedOptions())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.Run(ctx); !errors.Is(err, context.Canceled) ||
		!strings.Contains(out.String(), "Interrupted: torque is off") {
		t.Errorf("interrupted: got %v and %s", err, out)
	}
}

// What a person does wrong is said, and asked for again.
func TestGuideQuestions(t *testing.T) {
	o := configs.Options{Body: "emulated"}
	one := func(answers string) (string, error) {
		g, out := guide(t, t.TempDir(), answers, o)
		g.Only = []string{"elbow_flex"}
		_, err := g.Run(context.Background())
		return out.String(), err
	}
	for name, c := range map[string]struct{ answers, want string }{
		"a hand that moves nothing": {"\n\n", "elbow_flex did not turn"},
		"an empty range":            {"\nhand elbow_flex 10\n\n\n", "elbow_flex did not move"},
		"a joint blocked in the middle": {"\nhand elbow_flex 10\n\nhand elbow_flex 97 elbow_flex -10\n\n\n\n",
			"was it moved to both ends?"},
		"a wrong reference": {
			"hand elbow_flex 40\n\nhand elbow_flex 60\n\nhand elbow_flex 97 elbow_flex -97\n\n\n",
			"is the zero right?"},
		"a hand on no joint":              {"hand knee 3\n", "want one of this session"},
		"a hand without an angle":         {"hand elbow_flex\n", "want JOINT DEGREES"},
		"a hand to nowhere":               {"hand elbow_flex NaN\n", "want degrees"},
		"a reference that is no angle":    {"elbow_flex=much\n", "want Enter, or JOINT=DEGREES"},
		"a reference of another joint":    {"gripper=3\n", "want Enter, or JOINT=DEGREES"},
		"words where there are none":      {"\nyes\n", "want Enter"},
		"what holds at a known angle":     {"hand elbow_flex 90\nelbow_flex=90\n\n", "is 90.0 degrees"},
		"an end where the hand cannot go": {"hand elbow_flex 400\nelbow_flex=96.8\n\n", "is 96.8 degrees"},
	} {
		if text, err := one(c.answers); !strings.Contains(text, c.want) || err == nil {
			t.Errorf("%s: got %v and\n%s\nwant %q", name, err, text, c.want)
		}
	}
	g, _ := guide(t, t.TempDir(), "", o)
	g.Only = []string{"knee"}
	if _, err := g.Run(context.Background()); hal.KindOf(err) != hal.Invalid {
		t.Errorf("got %v, want hal.Invalid for a joint that is not there", err)
	}
}

// A servo that came off in the middle of a step is named, and the step waits for it.
func TestGuideUnplugged(t *testing.T) {
	g, out := guide(t, t.TempDir(), "", configs.Options{Body: "emulated"})
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	g.stand = &stand{}
	for _, j := range g.joints {
		g.stand.joints = append(g.stand.joints, watched{Joint: j, by: j.nominal(), ticks: 2000})
	}
	if !g.well(g.joints) {
		t.Fatalf("a whole robot: got %s", out)
	}
	g.stand.joints[2].lost = &hal.Error{Kind: hal.Timeout, Op: "read", Err: errors.New("no answer")}
	g.stand.joints[4].ticks = math.NaN()
	if g.well(g.joints) || !strings.Contains(out.String(), "elbow_flex: id 3 on arm is not read") ||
		!strings.Contains(out.String(), "wrist_roll: id 5 on arm has sent no position") {
		t.Errorf("got %s, want both named", out)
	}
}

// What a session finds goes out as LeRobot's file and comes back: the same bytes, and the same angles.
func TestGuideThroughLeRobot(t *testing.T) {
	dir, again := t.TempDir(), t.TempDir()
	o := configs.Options{Body: "emulated"}
	for _, p := range planted {
		at := "agents[0].hardware.joints." + p.joint + ".ground_truth"
		o.Set = append(o.Set, fmt.Sprintf("%s.zero=%g", at, 2048.0), fmt.Sprintf("%s.direction=%d", at, p.direction))
	}
	g, out := guide(t, dir, strings.Replace(person("\n"), "1.5\n0.75\n2\n", "", 1), o)
	if _, err := g.Run(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	first, _, err := Export(dir, "lerobot")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open("so101", "", o, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Import(written(t, string(first)), r, again, noon); err != nil {
		t.Fatal(err)
	}
	second, _, err := Export(again, "lerobot")
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("got %v and other bytes:\n%s\nwant\n%s", err, second, first)
	}
	// symmetrical: LeRobot's middle is their 0
	for _, joint := range []string{"shoulder_pan", "elbow_flex", "wrist_flex"} {
		a, errA := calibration.Load(filepath.Join(dir, joint+".yaml"))
		b, errB := calibration.Load(filepath.Join(again, joint+".yaml"))
		if err := errors.Join(errA, errB); err != nil {
			t.Fatal(err)
		}
		if a.Direction != b.Direction || math.Abs(a.Radians(1500)-b.Radians(1500)) > 0.5*degree {
			t.Errorf("%s: got %.2f degrees and direction %d after LeRobot's file, want %.2f and %d", joint,
				b.Radians(1500)/degree, b.Direction, a.Radians(1500)/degree, a.Direction)
		}
	}
}

// A progress file that is half written, or of another robot, is no reason to stop: the session begins again.
func TestGuideOfBrokenProgress(t *testing.T) {
	for _, text := range []string{`{"robot": "so10`, `{"robot": "humanoid", "joints": {}}`, `[]`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, ".so101.calibrate.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		g, out := guide(t, dir, "", configs.Options{Body: "emulated"})
		if _, err := g.Run(context.Background()); err == nil ||
			!strings.Contains(out.String(), "the session begins again") || !strings.Contains(out.String(), "1 of 6") {
			t.Errorf("%s: got %v and %s", text, err, out)
		}
	}
}

// A prompt names the answers that it accepts, and no others.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{{[]string{""}, "Enter"}, {[]string{"y", "n"}, "y or n"}, {[]string{"", "end"}, "end or Enter"}} {
		var out strings.Builder
		g := Guide{In: commission.NewAsker(strings.NewReader("other\n" + c.words[0] + "\n")), Out: &out}
		if got, err := g.choose(t.Context(), "Which", c.words...); got != c.words[0] || err != nil {
			t.Errorf("%q: got %q, %v", c.words, got, err)
		}
		if want := "Which > got \"other\", want " + c.want + "\nWhich > "; out.String() != want {
			t.Errorf("%q: got %q, want %q", c.words, out.String(), want)
		}
	}
}

// Commissioning means hardware: without --body the servos are real whatever the config simulates for now, and a session
// does not go on with another kind of devices.
func TestSessionKeepsBody(t *testing.T) {
	dir := t.TempDir()
	g, out := guide(t, dir, "", configs.Options{})
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	c, err := g.sessionConfig(func(*Joint) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	if a := &c.Agents[0]; a.BodyOf("elbow_flex") != configs.Real ||
		!strings.HasPrefix(out.String(), "REAL: so101, bus arm at /dev/") {
		t.Errorf("got body %s, %q, want the real servos, and where they are", a.BodyOf("elbow_flex"), out)
	}
	if err := g.resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	g, out = guide(t, dir, "\n", configs.Options{Body: "emulated"})
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	if err := g.resume(t.Context()); hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), "real devices") {
		t.Errorf("got %v, want the session of the real robot refused", err)
	}
	if _, err := g.sessionConfig(func(*Joint) string { return "" }); err != nil ||
		!strings.HasPrefix(out.String(), "EMULATED:") {
		t.Errorf("got %v, %q, want EMULATED first", err, out)
	}
}
