package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// eventually runs a command until it prints want.
func eventually(t *testing.T, want string, args ...string) {
	t.Helper()
	last := ""
	for range 600 {
		code, out, errText := runApp(t, args...)
		if last = out + errText; code == 0 && strings.Contains(out, want) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%v: got %q, want %q", args, last, want)
}

// TestTeleopCommand goes the way of docs/teleop.md without hardware: a hand moves the leader, a script engages and
// marks, the program ends after its episodes, and the recording becomes a data set.
func TestTeleopCommand(t *testing.T) {
	for _, body := range []string{"emulated", "sim"} {
		t.Run(body, func(t *testing.T) {
			if _, err := os.Stat("/dev/ptmx"); err != nil && body == "emulated" {
				t.Skip("no pty here: ", err)
			}
			t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
			dir := t.TempDir()
			hands, file := filepath.Join(dir, "d"), filepath.Join(dir, "run.mcap")
			r := start(t, "teleop", "--expose", hands, "--dashboard", "off", "--task", "wave", "--episodes", "1",
				"--out",
				file, "--set", "clock.mode=lockstep", "--set", "agents[1].body="+body)
			r.exit = 0
			for _, j := range []string{"shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll",
				"gripper"} {
				good(t, "hand", hands, "hold", "leader/"+j)
			}
			good(t, "hand", hands, "move", "leader/elbow_flex", "0.4", "0.3")
			eventually(t, "off: not engaged", "set", "/teleop/state")
			eventually(t, "true", "set", "/teleop/engaged", "true")
			eventually(t, "following", "set", "/teleop/state")
			if code, _, text := runApp(t, "set", "/teleop/episode", "success"); code != 2 ||
				!strings.Contains(text, "no episode") {
				t.Errorf("success without a start: got exit %d, %s", code, text)
			}
			eventually(t, "1 runs: wave", "set", "/teleop/episode", "start", "wave")
			good(t, "hand", hands, "move", "leader/elbow_flex", "-0.2", "0.3")
			time.Sleep(500 * time.Millisecond) // some frames more
			good(t, "set", "/teleop/episode", "success")
			select {
			case code := <-r.done:
				if code != 0 {
					t.Fatalf("teleop: exit %d: %s", code, r.stderr)
				}
				r.done = nil
			case <-time.After(time.Minute):
				t.Fatal("it does not end after its episodes")
			}
			var rows struct{ Items []map[string]any }
			out := good(t, "episodes", "list", file, "-o", "json")
			if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows.Items) != 1 ||
				rows.Items[0]["outcome"] != "success" {
				t.Fatalf("got %s, %v", out, err)
			}
			good(t, "episodes", "export", filepath.Join(dir, "set"), file)
			if _, err := os.Stat(filepath.Join(dir, "set", "meta", "info.json")); err != nil {
				t.Error(err)
			}
			if code, _, text := runApp(t, "episodes", "export", filepath.Join(dir, "set"), file); code != 2 ||
				!strings.Contains(text, "exists") {
				t.Errorf("a second export: got exit %d, %s", code, text)
			}
		})
	}
}

// good runs a command that must succeed.
func good(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errText := runApp(t, args...)
	if code != 0 {
		t.Fatalf("%v: exit %d: %s", args, code, errText)
	}
	return out
}

// TestTeleopRefuses what has no leader, and values that there are not.
func TestTeleopRefuses(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"teleop", "so101"}, 2, "without leaders"},
		{[]string{"set", "/teleop/engaged", "true"}, 0, "no rig is running"},
		{[]string{"episodes", "export", "x"}, 2, "want DIR FILE..."},
		{[]string{"episodes", "export", "x", "absent.mcap", "--units", "feet"}, 2, "want degrees, range or rad"},
		{[]string{"episodes", "list", "absent.mcap"}, 2, "absent.mcap"},
		{[]string{"validate", "teleop", "--set", "teleop[0].leader=leder"}, 2, `mean "leader"?`},
		{[]string{"validate", "teleop", "--set", "teleop[0].follower=leader"}, 2, "never driven"},
		{[]string{"validate", "teleop", "--set", "teleop[0].joints.gripper.scale=0"}, 2, "would not follow"},
	} {
		code, _, text := runApp(t, c.args...)
		if c.code != 0 && code != c.code || code == 0 || !strings.Contains(text, c.want) {
			t.Errorf("%v: got exit %d, %s, want %q", c.args, code, text, c.want)
		}
	}
}
