package shell

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// memory is buffers without a server.
type memory struct {
	mu  sync.Mutex
	all map[string]*nml.Buffer
}

func (m *memory) buffer(name string) *nml.Buffer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all[name] == nil {
		m.all[name], _ = nml.NewBuffer(nml.BufferOptions{Name: name, Number: 1, Size: 16384, Vocabulary: moast.New})
	}
	return m.all[name]
}

// channel is a buffer as a shell sees it.
type channel struct{ *nml.Buffer }

func (c channel) Write(m nml.Message, _ bool) error { return c.Buffer.Write(m) }
func (c channel) Read(v nml.Vocabulary) (nml.Message, error) {
	m, _, err := c.Buffer.Read(v, 0)
	return m, err
}
func (c channel) Peek(v nml.Vocabulary) (nml.Message, error) { return c.Read(v) }

// run gives a shell one line, and returns what it printed and the commands of both buffers.
func run(t *testing.T, level, line string) (out, sent, configured string) {
	t.Helper()
	m := &memory{all: map[string]*nml.Buffer{}}
	stat := &moast.PrimMobStat{PathIndex: 3}
	stat.CommandType, stat.EchoSerial, stat.Status, stat.Admin, stat.Message = 8010, 7, moast.Exec,
		moast.AdminInitialized, "ok"
	if err := m.buffer("primMobJAStat2").Write(stat); err != nil {
		t.Fatal(err)
	}
	if err := m.buffer("navDataExt2").Write(
		&moast.NavDataExt{Rel: moast.Motion{Tran: moast.Cartesian{X: 1.5}}}); err != nil {
		t.Fatal(err)
	}
	if err := m.buffer("primMobJASet2").Write(&moast.PrimMobSet{CycleTime: 0.01,
		MoveLimits: moast.MoveLimits{VMax: 0.5}}); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	s := &Shell{Level: level, Vehicle: 2, In: strings.NewReader(line + "\n"), Out: &text,
		Open: func(name string) (Channel, error) { return channel{m.buffer(name)}, nil },
		ReadFile: func(name string) ([]byte, error) {
			switch name {
			case "path":
				return []byte("# x y near speed\n1 2 0.1 0.5\n\n3 4 0.1 0.5\n"), nil
			case "arcs":
				return []byte("0 1 0 2 3.14 0.2 0.4 1\n"), nil
			case "bad":
				return []byte("1 2 0.1 0.5\n1 2 three 4\n"), nil
			}
			return nil, errors.New("no such file")
		}}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := moast.ModuleNamed(modules[level])
	read := func(r moast.Role) string {
		got, _, err := m.buffer(name.Buffer(r, 2, 0)).Read(moast.New, 0)
		if err != nil {
			return ""
		}
		return moast.Symbol(got.MessageType()) + " " + fmt.Sprintf("%+v", got)
	}
	return text.String(), read(moast.Cmd), read(moast.Cfg)
}

func TestLines(t *testing.T) {
	for _, k := range []struct{ level, line, out, sent, configured string }{
		{"prim", "vel 0.5 -0.25", "> > ", "PrimMobJACmdVel &{CmdHead:{Serial:8} V:0.5 W:-0.25}", ""},
		{"prim", "vel 0.5", "> need <float> <float>\n> ", "", ""},
		{"prim", "vel fast slow", "> need <float> <float>\n> ", "", ""},
		{"prim", "fly", "> ?\n> ", "", ""},
		{"prim", "init", "> > ", "PrimMobJACmdInit &{CmdHead:{Serial:8} Kind:8002}", ""},
		{"prim", "shutdown", "> > ", "PrimMobJACmdShutdown &{CmdHead:{Serial:8} Kind:8005}", ""},
		{"prim", "stop", "> > ", "PrimMobJACmdStop &{CmdHead:{Serial:8} Kind:8011}", ""},
		{"prim", "rotate 1.5", "> > ", "PrimMobJACmdRotate &{CmdHead:{Serial:8} Theta:1.5 Tolerance:0.02 Direction:2}",
			""},
		{"prim", "wp path", "> > ", "PrimMobJACmdMoveWaypoint &{CmdHead:{Serial:8} Kind:8007 PrimPath:false " +
			"HasOrientation:false Waypoints:[" +
			"{P:{X:1 Y:2 Z:0} RPY:{R:0 P:0 Y:0} Neighborhood:0.1 Speed:0.5 Quality:0} {P:{X:3 Y:4 Z:0} RPY:{R:0 P:0 " +
			"Y:0} Neighborhood:0.1 Speed:0.5 Quality:0}]}", ""},
		{"prim", "arc arcs", "> > ", "PrimMobJACmdMoveArcSegment &{CmdHead:{Serial:8} Arcs:[{Center:{X:0 Y:1 Z:0} " +
			"End:{X:0 Y:2 Z:0} Normal:{X:0 Y:0 Z:1} Theta:3.14 AnnularTolerance:0.2 Speed:0.4 IsArc:1}]}", ""},
		{"prim", "wp bad", "> bad:2: got \"1 2 three 4\", want 4 numbers\n> ", "", ""},
		{"prim", "wp none", "> no such file\n> ", "", ""},
		{"prim", "wp", "> need <file>\n> ", "", ""},
		{"prim", "ct 0.02", "> > ", "", "PrimMobJACfgCycleTime &{CmdHead:{Serial:1} Kind:8202 CycleTime:0.02}"},
		{"prim", "debug 3", "> > ", "", "PrimMobJACfgDebug &{CmdHead:{Serial:1} Kind:8204 Debug:3}"},
		{"prim", "pars 1 2 3 4 5", "> > ", "", "PrimMobJACfgMove &{CmdHead:{Serial:1} MoveLimits:{VMax:1 AMax:2 " +
			"WMax:3 AlphaMax:4 VCutoff:5 WCutoff:5}}"},
		{"servo", "skid 1 2", "mobstat> mobstat> ", "ServoMobJACmdSkid &{CmdHead:{Serial:2} Left:1 Right:2}", ""},
		{"servo", "ackerman 1 0.5", "mobstat> mobstat> ",
			"ServoMobJACmdAckerman &{CmdHead:{Serial:2} Velocity:1 SteerAngle:0.5 CrabAngle:0}", ""},
		{"servo", "set", "mobstat> no settings\nmobset> ", "", ""},
		{"servo", "omni 1 2 3", "mobstat> mobstat> ",
			"ServoMobJACmdOmni &{CmdHead:{Serial:2} Linear:1 Lateral:2 Rotation:3}", ""},
		{"servo", "flip 1 0.5", "mobstat> mobstat> ",
			"ServoMobJACmdFlipSkid &{CmdHead:{Serial:2} Left:0 Right:0 Flippers:[{Kind:1 Angle:0.5}]}", ""},
		{"servo", "skid 1", "mobstat> syntax: skid <left speed> <right speed>\nmobstat> ", "", ""},
		{"servo", "ackerman one", "mobstat> syntax: ackerman <speed> <steering angle>\nmobstat> ", "", ""},
		{"servo", "skid 1 2\nskid 3 4", "mobstat> mobstat> mobstat> ",
			"ServoMobJACmdSkid &{CmdHead:{Serial:4} Left:3 Right:4}", ""},
		{"servo", "ct 0.02\nct 0.03", "mobstat> mobset> mobset> ", "",
			"ServoMobJACfgCycleTime &{CmdHead:{Serial:4} Kind:4201 CycleTime:0.03}"},
		{"servo", "ct soon", "mobstat> syntax: ct <cycle time>\nmobstat> ", "", ""},
		{"servo", "set\ninit", "mobstat> no settings\nmobset> mobstat> ",
			"ServoMobJACmdInit &{CmdHead:{Serial:2} Kind:4001}", ""},
		{"servo", "mis", "mobstat> no status\nmisstat> ", "", ""},
		{"servo", "num", "mobstat> syntax: num <subsystem number>\nmobstat> ", "", ""},
		{"servo", "num 0", "mobstat> syntax: num <1 .. 99>\nmobstat> ", "", ""},
		{"servo", "movej one", "mobstat> syntax: movej <sequence of joint values>\nmobstat> ", "", ""},
		{"servo", "opcode", "mobstat> syntax: opcode <parameter>\nmobstat> ", "", ""},
		{"servo", "range", "mobstat> need range sensor number 1 to 99\nmobstat> ", "", ""},
		{"servo", "sensor 0", "mobstat> bad sensor number: 0\nmobstat> ", "", ""},
		{"servo", "range 2", "mobstat> no new message\nrange> ", "", ""},
		{"servo", "sensor 1\nmob", "mobstat> no new message\nsensor> no status\nmobstat> ", "", ""},
		{"servo", "sonar\n\nskid 1 2", "mobstat> no new message\nsonar> no new message\nsonar> mobstat> ",
			"ServoMobJACmdSkid &{CmdHead:{Serial:2} Left:1 Right:2}", ""},
		{"servo", "kins", "mobstat> no links of mission package 1\nmobstat> ", "", ""},
		{"servo", "jacs", "mobstat> no links of mission package 1\nmobstat> ", "", ""},
		{"servo", "movew 1 2 3", "mobstat> syntax: mismove <X Y Z R P W>\nmobstat> ", "", ""},
		{"servo", "fact", "mobstat> no factory: its messages were not published\nmobstat> ", "", ""},
		{"am", "set\n\nstop", "> no settings\n> no settings\n> > ", "AmMobJACmdStop &{CmdHead:{Serial:1} Kind:11008}",
			""},
		{"servo", "", "mobstat> no status\nmobstat> ", "", ""},
		{"am", "spin 1", "> > ", "AmMobJACmdSpin &{CmdHead:{Serial:1} Direction:2 Angle:1 Tolerance:0.05}", ""},
		{"sect", "connect 1 3", "> > ", "SectMobPLCmdConnect &{CmdHead:{Serial:1} Vehicles:[1 3] SendInit:true}", ""},
		{"sect", "connect one", "> need <int>\n> ", "", ""},
		{"sect", "explore 10", "> > ", "SectMobPLCmdExplore &{CmdHead:{Serial:1} Distance:10}", ""},
		{"sect", "disconnect", "> > ", "SectMobPLCmdDisconnect &{CmdHead:{Serial:1} Kind:16008}", ""},
	} {
		out, sent, configured := run(t, k.level, k.line)
		if out != k.out || sent != k.sent || configured != k.configured {
			t.Errorf("%s %q: got\n%q\n%s\n%s, want\n%q\n%s\n%s", k.level, k.line, out, sent, configured, k.out, k.sent,
				k.configured)
		}
	}
	for _, k := range []struct{ level, line, want string }{
		{"am", "mv 1 2", "P:{X:1 Y:2 Z:0}"}, {"veh", "mvl 1 2", "Local:true"}, {"veh", "mvg 1 2", "Local:false"},
	} {
		if _, sent, _ := run(t, k.level, k.line); !strings.Contains(sent, k.want) {
			t.Errorf("%s %s: got %s, want %s", k.level, k.line, sent, k.want)
		}
	}
}

func TestStatus(t *testing.T) {
	out, _, _ := run(t, "prim", "")
	want := `> command_type:       PrimMobJACmdVel
echo_serial_number: 7
status:             RCS_EXEC
state:              0
line:               0
source_line:        0
source_file:        ` + `
admin_state:        ADMIN_INITIALIZED
heartbeat:          0
message:            ok
pathIndex:          3
tranAbs:            0.000000 0.000000 0.000000
rpyAbs:             0.000000 0.000000 0.000000
tranRel:            1.500000 0.000000 0.000000
rpyRel:             0.000000 0.000000 0.000000
> `
	if out != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	if out, _, _ = run(t, "prim", "set"); !strings.Contains(out, "vmax:               0.5\n") ||
		strings.Count(out, "echo_serial") != 1 {
		t.Errorf("settings: got %s", out)
	}
	// what stat or set chose, or the last command, is what an empty line prints, at every level
	for _, k := range []struct {
		lines             string
		statuses, setting int
	}{{"set\n\n", 0, 2}, {"set\nstat\n\n", 2, 1}, {"set\nstop\n\n", 1, 1}, {"ct 0.02\n\n", 0, 1}} {
		out, _, _ := run(t, "prim", strings.TrimSuffix(k.lines, "\n"))
		if a, b := strings.Count(out, "pathIndex"), strings.Count(out, "vmax"); a != k.statuses || b != k.setting {
			t.Errorf("%q: got %d statuses and %d settings, want %d and %d", k.lines, a, b, k.statuses, k.setting)
		}
	}
	if out, _, _ = run(t, "prim", "help"); !strings.Contains(out, "rotate       THETA") {
		t.Errorf("help: got %s", out)
	}
	if out, _, _ = run(t, "prim", "quit\nvel 1 1"); out != "> " {
		t.Errorf("quit: got %q", out)
	}
	if err := (&Shell{Level: "attic"}).Run(context.Background()); err == nil {
		t.Error("an unknown level: got no error")
	}
}

// TestSubsystems: a command of the servo shell chooses its subsystem, which an empty line then prints.
func TestSubsystems(t *testing.T) {
	m := &memory{all: map[string]*nml.Buffer{}}
	stat := &moast.ServoMisStat{Links: []moast.LinkStat{{Link: 1, Value: 0.5}}}
	if err := m.buffer("servoMisJAStat1_2").Write(stat); err != nil {
		t.Fatal(err)
	}
	set := &moast.ServoMobSetGround{}
	set.Platform = "usarsim-p2at"
	if err := m.buffer("servoMobJASet1").Write(set); err != nil {
		t.Fatal(err)
	}
	if err := m.buffer("servoSPLinescan1_1").Write(&moast.SensorData1D{Start: 1, Increment: -1,
		Features: []float64{4, 5}}); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s := &Shell{Level: "servo", Vehicle: 1, Out: &out,
		In:   strings.NewReader("set\nnum 2\nmovej 0.5\nstat\neff\nnum 2\nopcode 0.5\ngo\nrange 1\n\n"),
		Open: func(name string) (Channel, error) { return channel{m.buffer(name)}, nil }}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"platformName:       usarsim-p2at\n", "mobset> misset> misstat> ",
		"link1:              0.500000 0.000000\n",
		"effstat> effstat> effstat> spstat> 1 4\n0 5\nrange> 1 4\n0 5\nrange> "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %q", out.String(), want)
		}
	}
	for name, want := range map[string]string{"servoMisJACmd1_2": "Links:[{Value:0.5 Kind:0 Tolerance:0}]",
		"servoEffJACmd1": "Effector:2 Opcode:1 Param:0.5", "servoSPCmd1": "Kind:2005"} {
		got, _, err := m.buffer(name).Read(moast.New, 0)
		if err != nil || !strings.Contains(fmt.Sprintf("%+v", got), want) {
			t.Errorf("%s: got %+v, %v, want %s", name, got, err, want)
		}
	}
}

// TestKinematics: an arm of two links, the second 1 m along the first: where its last link is, how its joints move it,
// and the joints that bring it to a pose.
func TestKinematics(t *testing.T) {
	m := &memory{all: map[string]*nml.Buffer{}}
	set := &moast.ServoMisSet{Links: []moast.LinkSet{{Link: 1, MinRange: -2, MaxRange: 2},
		{Link: 2, Parent: 1, MinRange: -2, MaxRange: 2, Location: moast.Cartesian{X: 1}}}}
	if err := m.buffer("servoMisJASet1_1").Write(set); err != nil {
		t.Fatal(err)
	}
	run := func(q1, q2 float64, line string) string {
		t.Helper()
		if err := m.buffer("servoMisJAStat1_1").Write(&moast.ServoMisStat{Links: []moast.LinkStat{{Link: 1, Value: q1},
			{Link: 2, Value: q2}}}); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		s := &Shell{Level: "servo", Vehicle: 1, Out: &out, In: strings.NewReader(line + "\n"),
			Open: func(name string) (Channel, error) { return channel{m.buffer(name)}, nil }}
		if err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(out.String(), "-0.00\t", "0.00\t")
	}
	for _, k := range []struct {
		q1, q2     float64
		line, want string
	}{
		{math.Pi / 2, 0.5, "kins", "mobstat> 0.000000 1.000000 0.000000 0.000000 0.000000 2.070796\nmobstat> "},
		{0, 0, "jacs", "mobstat> 0.00\t0.00\t\n1.00\t0.00\t\n0.00\t0.00\t\n0.00\t0.00\t\n0.00\t0.00\t\n1.00\t1.00\t\n  ---\n" +
			"0.00\t1.00\t0.00\t0.00\t0.00\t0.00\t\n0.00\t-1.00\t0.00\t0.00\t0.00\t1.00\t\n  ---\n0.005000 -0.005000 " +
			"\nmobstat> "},
		{0, 0, "movew 5 0 0 0 0 0", "mobstat> can't compute inverse kinematics\nmobstat> "},
		{0, 0, "movew 0 1 0 0 0 2", "mobstat> misstat> "},
	} {
		if got := run(k.q1, k.q2, k.line); got != k.want {
			t.Errorf("%s: got\n%q, want\n%q", k.line, got, k.want)
		}
	}
	got, _, err := m.buffer("servoMisJACmd1_1").Read(moast.New, 0)
	c, ok := got.(*moast.ServoMisCmdMove)
	if err != nil || !ok || len(c.Links) != 2 || math.Abs(c.Links[0].Value-math.Pi/2) > 1e-3 ||
		math.Abs(c.Links[1].Value-2+math.Pi/2) > 1e-3 {
		t.Errorf("movew: got %+v, %v, want joints at %g and %g", got, err, math.Pi/2, 2-math.Pi/2)
	}
	// a slide along y of the vehicle, and seven joints
	slide := &moast.ServoMisSet{Links: []moast.LinkSet{{Link: 1, Joint: 1, MinRange: 0, MaxRange: 1,
		Rotation: moast.RPY{R: -math.Pi / 2}}}}
	if err := m.buffer("servoMisJASet1_1").Write(slide); err != nil {
		t.Fatal(err)
	}
	if got := run(0.25, 0, "kins"); got != "mobstat> 0.000000 0.250000 0.000000 -1.570796 0.000000 0.000000\nmobstat> " {
		t.Errorf("slide: got %q", got)
	}
	turned := &moast.ServoMisSet{Links: []moast.LinkSet{{Link: 1, Location: moast.Cartesian{X: 0.2},
		Rotation: moast.RPY{Y: math.Pi / 2}},
		{Link: 2, Parent: 1, Location: moast.Cartesian{X: 1}}}}
	if err := m.buffer("servoMisJASet1_1").Write(turned); err != nil {
		t.Fatal(err)
	}
	if got := run(-math.Pi/4, math.Pi/4,
		"kins"); got != "mobstat> 0.907107 0.707107 0.000000 0.000000 0.000000 1.570796\nmobstat> " {
		t.Errorf("a first link that is turned: got %q", got)
	}
	wide := [][]float64{{1, 0, 2, 0, 1, 0, 0}, {0, 1, 0, 1, 0, 1, 0}}
	inverse := pseudoinverse(wide)
	for i := range 2 {
		for j := range 2 {
			sum := 0.0
			for k := range 7 {
				sum += wide[i][k] * inverse[k][j]
			}
			if want := map[bool]float64{true: 1}[i == j]; math.Abs(sum-want) > 1e-9 {
				t.Errorf("wide inverse: element %d, %d: got %g, want %g", i, j, sum, want)
			}
		}
	}
	if got := pseudoinverse([][]float64{{1, 1}, {1, 1}}); got != nil {
		t.Errorf("singular: got %v", got)
	}
}
