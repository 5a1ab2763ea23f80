package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/internal/manual"
)

// rowsOf decodes JSON lines.
func rowsOf[R any](t *testing.T, text string) (rows []R) {
	t.Helper()
	for line := range strings.Lines(text) {
		var r R
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("got %q: %v", line, err)
		}
		rows = append(rows, r)
	}
	return rows
}

// One command after the other moves a real arm on a serial port; between them it holds where it is.
func TestMoveReal(t *testing.T) {
	t.Parallel()
	port, _ := startEmulate(t, "so101")
	config := realConfigOf(t, "so101", port)
	common := []string{"--set", "name=moved", "--set", "clock.period=20ms", "--set", "buses.arm.latency=200ms", "-o",
		"jsonl",
		"--body", "real"}
	run := func(want int, args ...string) (string, string) {
		t.Helper()
		code, out, errs := runApp(t, append(args, common...)...)
		if code != want {
			t.Fatalf("%v: got exit %d, want %d: %s", args, code, want, errs)
		}
		return out, errs
	}
	out, errs := run(0, "move", config, "elbow_flex=20deg", "wrist_flex=-10deg")
	rows := rowsOf[manual.Joint](t, out)
	if len(rows) != 2 || math.Abs(float64(rows[0].Position)-20*math.Pi/180) > 0.09 || rows[0].Body != "real" ||
		!strings.Contains(errs, "REAL BODY ("+port+")") {
		t.Errorf("got %+v\n%s", rows, errs)
	}
	run(0, "pose", "save", config, "bent")
	if _, err := os.Stat(filepath.Join(filepath.Dir(config), "poses", "bent.yaml")); err != nil {
		t.Error(err)
	}
	out, _ = run(0, "move", config, "elbow_flex=-20deg", "--relative", "--speed", "60deg/s")
	if rows := rowsOf[manual.Joint](t, out); math.Abs(float64(rows[0].From)-20*math.Pi/180) > 0.12 ||
		math.Abs(float64(rows[0].Position)) > 0.12 {
		t.Errorf("relative: got %+v, want from 20 to 0 degrees", rows)
	}
	out, _ = run(0, "pose", "go", config, "bent")
	if !strings.Contains(out, `"joint":"elbow_flex"`) {
		t.Errorf("pose go: got %s", out)
	}
	run(2, "move", config, "elbow_flex=400deg")
	run(2, "move", config, "elbow_flex=1m")
}

// A running rig is moved by its control socket; what is disarmed or stopped is refused.
func TestMoveRunning(t *testing.T) {
	t.Parallel()
	startServe(t, "so101", "--set", "name=runs-and-moves", "--listen", "osp=127.0.0.1:0", "--listen",
		"odcp=127.0.0.1:0")
	code, out, errs := runApp(t, "move", "runs-and-moves", "elbow_flex=20deg", "-o", "jsonl")
	if rows := rowsOf[manual.Joint](t, out); code != 0 || len(rows) != 1 ||
		math.Abs(float64(rows[0].Position)-20*math.Pi/180) > 0.09 {
		t.Errorf("got exit %d: %s\n%s", code, out, errs)
	}
	if code, _, errs := runApp(t, "move", "runs-and-moves", "elbow_flex=20deg", "--body", "real"); code != 2 ||
		!strings.Contains(errs, "running") {
		t.Errorf("--body: got exit %d: %s", code, errs)
	}
	runApp(t, "disarm", "runs-and-moves")
	if code, _, errs := runApp(t, "move", "runs-and-moves", "elbow_flex=0deg"); code != 7 ||
		!strings.Contains(errs, "halyard arm") {
		t.Errorf("disarmed: got exit %d: %s", code, errs)
	}
}
