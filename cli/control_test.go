package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/commission/calibrate"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/sim/twin"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
)

// soon waits until it is so.
func soon(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !so(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// runApp runs the command as a shell would and returns its exit code, stdout and stderr.
func runApp(t *testing.T, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &stdout, err: &stderr}
	code = a.Run(t.Context(), args)
	return code, stdout.String(), stderr.String()
}

func TestOrders(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if code, _, errText := runApp(t, "status"); code != 3 || !strings.Contains(errText, "halyard serve") {
		t.Errorf("no rig: got exit %d, %q; want 3 and what to type", code, errText)
	}
	rig, err := hal.New(hal.Config{Name: "arm", Period: 1e7})
	if err != nil {
		t.Fatal(err)
	}
	body := haltest.NewBody("elbow", "wrist")
	agent, err := rig.Add(hal.AgentConfig{Name: "left", Body: body, World: body})
	if err != nil {
		t.Fatal(err)
	}
	ctl, err := control.OpenControl(rig, control.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	defer ctl.Close()
	if _, err := control.OpenControl(rig, control.Hooks{}); hal.KindOf(err) != hal.Busy {
		t.Errorf("a second rig of the name: got %v, want busy", err)
	}

	code, out, _ := runApp(t, "estop", "-o", "jsonl")
	if code != 0 || body.Halts != 1 {
		t.Errorf("estop: got exit %d, %d halts", code, body.Halts)
	}
	var first control.JointStatus
	line, _, _ := strings.Cut(out, "\n")
	if err := json.Unmarshal([]byte(line), &first); err != nil || first.Joint != "elbow" || first.Acked == nil ||
		!*first.Acked {
		t.Errorf("estop: got %q, want elbow's acknowledgement", line)
	}
	if code, _, errText := runApp(t, "arm", "arm"); code != 7 || !strings.Contains(errText, "halyard reset") {
		t.Errorf("arm while latched: got exit %d, %q; want 7", code, errText)
	}
	body.HaltErr = &hal.Error{Kind: hal.BusFault, Joint: "wrist", Err: errors.New("no answer")}
	if code, out, errText := runApp(t, "estop"); code != 5 || !strings.Contains(out, "NO") ||
		!strings.Contains(errText, "cut the power") {
		t.Errorf("estop with a mute joint: got exit %d\n%s%s", code, out, errText)
	}
	for _, order := range []string{"reset", "arm", "status"} {
		if code, _, errText := runApp(t, order, "arm"); code != 0 {
			t.Errorf("%s: got exit %d, %s", order, code, errText)
		}
	}
	if state, _, _ := agent.Guard(); state != hal.Armed {
		t.Errorf("after reset and arm: got %v", state)
	}
	if code, _, _ := runApp(t, "status", "missing"); code != 3 {
		t.Errorf("an unknown rig: got exit %d, want 3", code)
	}
}

// halyard twin shows what a running rig knows of its joints and their twins; exit code 8 where one differs, 2 where
// none has a twin.
func TestTwinOfRunning(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	rig, err := hal.New(hal.Config{Name: "arm", Period: 1e7})
	if err != nil {
		t.Fatal(err)
	}
	row := calibrate.ResidualRow{Joint: "arm/elbow", RMS: 0.02, Trend: report.Number(math.NaN()), Cause: twin.None}
	var rows any
	ctl, err := control.OpenControl(rig, control.Hooks{Twin: func() any { return rows }})
	if err != nil {
		t.Fatal(err)
	}
	defer ctl.Close()
	if code, _, errText := runApp(t, "twin", "arm"); code != 2 || !strings.Contains(errText, "shadow: true") {
		t.Errorf("without a twin: got exit %d, %q, want 2 and what to set", code, errText)
	}
	rows = []calibrate.ResidualRow{row}
	for _, args := range [][]string{{"twin", "arm", "-o", "jsonl"}, {"twin", "-o", "jsonl"}} {
		if code, out, errText := runApp(t, args...); code != 0 || !strings.Contains(out, `"cause":"none"`) ||
			!strings.Contains(out, `"shadow_trend_rad_per_h":null`) {
			t.Errorf("%v: got exit %d, %s%s", args, code, out, errText)
		}
	}
	row.Cause, row.Found = twin.Zero, "its zero has shifted by 26.4 degrees"
	rows = []calibrate.ResidualRow{row}
	if code, out, errText := runApp(t, "twin", "arm"); code != 8 || !strings.Contains(out, "26.4 degrees") ||
		!strings.Contains(errText, "arm/elbow") {
		t.Errorf("a shifted zero: got exit %d, %s%s", code, out, errText)
	}
}

// What others write to the socket is bounded and refused.
func TestOrdersFromStrangers(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	rig, err := hal.New(hal.Config{Name: "arm", Period: 1e7})
	if err != nil {
		t.Fatal(err)
	}
	ctl, err := control.OpenControl(rig, control.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	defer ctl.Close()
	for _, text := range []string{"", "\n", strings.Repeat("x", 1000), "estop now\n", "\x00\xff\n"} {
		conn, err := net.Dial("unix", control.ControlSocket("arm"))
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte(text))
		conn.(*net.UnixConn).CloseWrite()
		var ans control.Answer
		if json.NewDecoder(conn).Decode(&ans) == nil && ans.Error == "" {
			t.Errorf("%q: obeyed", text)
		}
		conn.Close()
	}
	if _, err := control.Send(context.Background(), "../etc", control.OrderStatus); hal.KindOf(err) != hal.Absent {
		t.Errorf("a name that leads elsewhere: got %v", err)
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"nonsense"}, 2, "unknown command"},
		{[]string{"version", "-o", "yaml"}, 2, "table, json or jsonl"},
		{[]string{"version", "--nonsense"}, 2, "unknown flag"},
		{[]string{"validate"}, 2, "want CONFIG"},
		{[]string{"configs", "nonsense"}, 2, "halyard configs"},
		{[]string{"serve", "nonsense.yaml"}, 2, "nonsense.yaml"},
		{[]string{"serve", "a-series", "--body", "real"}, 6, "calibration"},
		{[]string{"play", "wave", "--speed", "0"}, 2, "--speed"},
		{[]string{"play", "wave", "--protocol", "osp"}, 2, "--protocol"},
		{[]string{"version"}, 0, ""},
		{[]string{"help"}, 0, ""},
		{[]string{"completion", "bash"}, 0, ""},
	} {
		code, _, errText := runApp(t, c.args...)
		if code != c.code || !strings.Contains(errText, c.says) {
			t.Errorf("%v: got exit %d, %q; want %d, %q", c.args, code, errText, c.code, c.says)
		}
		if strings.Contains(errText, "goroutine") {
			t.Errorf("%v: a stack trace", c.args)
		}
	}
}

func TestErrorsAsJSON(t *testing.T) {
	code, _, errText := runApp(t, "validate", "nonsense.yaml", "-o", "json")
	var e struct {
		Error struct{ Kind, Message string }
	}
	if err := json.Unmarshal([]byte(errText), &e); err != nil || code != 2 || e.Error.Kind != "invalid" ||
		e.Error.Message == "" {
		t.Errorf("got exit %d, %q: %v", code, errText, err)
	}
}

// A config that is wrong in its form and in its names is told everything at once.
func TestEveryFaultAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(path, []byte(`name: bad name
clock: {mode: lockstp, period: 10}
wrld: {}
buses:
  upper: {type: dynamixel1, baud: -5}
agents:
  - name: humanoid
    model: a-serious
    guard: {on_timeout: hld}
  - name: pendulum
    model: pendulum
    body: emulated
    parts: {elbow: sim}
    hardware: {joints: {joint: {bus: upper, id: 1, model: mx-29}}}
servers:
  - {protocol: smtp, listen: "127.0.0.1:0"}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errText := runApp(t, "validate", path)
	if code != 2 {
		t.Errorf("got exit %d, want 2", code)
	}
	lines := strings.Split(strings.TrimSpace(errText), "\n")
	for i, want := range []string{
		":1:", ":2:15: clock.mode", ":2:32: clock.period", ":3:1: wrld", "buses.upper.baud", "agents[0].model",
		"agents[0].guard.on_timeout",
		"agents[1].parts.elbow", "agents[1].hardware.joints.joint.model", "servers[0].protocol",
	} {
		if i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Fatalf("fault %d: want %q in:\n%s", i, want, errText)
		}
	}
	if len(lines) != 10 {
		t.Errorf("ten faults: got %d:\n%s", len(lines), errText)
	}
}

// TestSafety15NamelessStop: an estop without a name says which rigs it reached; where it finds none it says where it
// looked, and --all finds those of the user's other runtime folders.
func TestSafety15NamelessStop(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("XDG_RUNTIME_DIR", "")
	bodies := map[string]*haltest.Body{}
	for _, name := range []string{"arm", "rover"} {
		rig, err := hal.New(hal.Config{Name: name, Period: 1e7})
		if err != nil {
			t.Fatal(err)
		}
		body := haltest.NewBody("j")
		bodies[name] = body
		if _, err := rig.Add(hal.AgentConfig{Name: name, Body: body, World: body}); err != nil {
			t.Fatal(err)
		}
		ctl, err := control.OpenControl(rig, control.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		defer ctl.Close()
	}
	for _, args := range [][]string{{"estop"}, {"estop", "--all"}} {
		if code, _, errText := runApp(t, args...); code != 0 || !strings.Contains(errText, "arm: stopped") ||
			!strings.Contains(errText, "rover: stopped") {
			t.Errorf("%v: got exit %d, %q; want both by name", args, code, errText)
		}
	}
	bodies["arm"].HaltErr = &hal.Error{Kind: hal.BusFault, Joint: "j", Err: errors.New("no answer")}
	if code, out, errText := runApp(t, "estop"); code != 5 || !strings.Contains(errText, "arm: STOP NOT CONFIRMED") ||
		!strings.Contains(errText, "rover: stopped") ||
		!strings.HasPrefix(out, "RIG ") || strings.Count(out, "\narm ") != 1 || strings.Count(out, "\nrover ") != 1 {
		t.Errorf("one does not confirm: got exit %d, %q", code, errText)
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir()) // a shell with another environment
	halts := bodies["rover"].Halts
	if code, _, errText := runApp(t, "estop"); code != 3 || !strings.Contains(errText, tmp) ||
		!strings.Contains(errText, "--all") || bodies["rover"].Halts != halts {
		t.Errorf("another folder: got exit %d, %q, %d halts; want where they are", code, errText,
			bodies["rover"].Halts-halts)
	}
	if code, _, _ := runApp(t, "estop", "--all"); code != 5 || bodies["rover"].Halts != halts+1 {
		t.Errorf("--all: got exit %d, %d halts, want the rover stopped too", code, bodies["rover"].Halts-halts)
	}
}

// TestSafety01BlockedStderr: with a stderr that nothing reads the command goes on and a stop is answered.
func TestSafety01BlockedStderr(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	unread, blocked, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer unread.Close()
	defer blocked.Close()
	filler := bytes.Repeat([]byte{'x'}, 1<<16)
	blocked.Write(filler) // the pipe is full
	ctx, cancel := context.WithCancel(t.Context())
	a := &app{in: strings.NewReader(""), out: &bytes.Buffer{}, err: blocked}
	ended := make(chan int, 1)
	go func() {
		ended <- a.Run(ctx, []string{"serve", "so101", "--body", "emulated", "--listen", "osp=127.0.0.1:0", "--listen",
			"odcp=127.0.0.1:0"})
	}()
	var ans *control.Answer
	for range 300 {
		if ans, err = control.Send(t.Context(), "so101", control.OrderStop); err == nil {
			break
		}
		select {
		case code := <-ended:
			t.Fatalf("serve: exit %d", code)
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err != nil || len(ans.Joints) == 0 {
		t.Errorf("estop: got %v", err)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("serve does not end")
	}
}

// TestSafety16CrowdedArena: with 1,000 connections and 200 INITs at an arena's socket, none of which reads its answers,
// a stop is answered and Ctrl-C ends the program.
func TestSafety16CrowdedArena(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of connections")
	}
	r := start(t, "usarsim", "--map", "yellow", "--listen", "gamebots=127.0.0.1:0", "--listen",
		"imageserver=127.0.0.1:0")
	address, came := r.address(t, "gamebots"), 0
	for i := range 1000 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%5 == 0 {
			// one that is refused is closed
			fmt.Fprintf(conn, "INIT {ClassName USARBot.P2AT} {Name R%d} {Location 4.5,1.9,1.8}\r\nDRIVE {Left 1} "+
				"{Right 1}\r\n", i)
		}
	}
	look := func() {
		robots := map[string]bool{}
		if ans, err := control.Send(t.Context(), "usarsim", control.OrderStatus); err == nil {
			for _, j := range ans.Joints {
				robots[j.Agent] = true
			}
		}
		came = max(came, len(robots))
	}
	soon(t, "the arena is full", func() bool { look(); return came >= gamebots.DefaultConnections })
	look()
	if came != gamebots.DefaultConnections {
		t.Errorf("got %d robots, want %d", came, gamebots.DefaultConnections)
	}
	code, _, errText := runApp(t, "estop")
	if code != 0 || !strings.Contains(errText, "stopped") {
		t.Errorf("estop among %d robots: got exit %d, %q", came, code, errText)
	}
	r.interrupt(t)
}
