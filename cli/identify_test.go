package cli

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sineRecording is a recording of a servo that follows a sine exactly, 3 s long.
func sineRecording(t *testing.T, motor string) []byte {
	t.Helper()
	type entry struct {
		Time     float64 `json:"timestamp"`
		Goal     float64 `json:"goal_position"`
		Position float64 `json:"position"`
		Torque   bool    `json:"torque_enable"`
	}
	r := struct {
		Mass, Length, Kp, Vin float64
		Motor, Trajectory     string
		Entries               []entry
	}{0.3, 0.1, 400, 7.4, motor, "sine", nil}
	for i := range 300 {
		at := float64(i) / 100
		r.Entries = append(r.Entries, entry{at, math.Sin(at), math.Sin(at), true})
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestIdentifyCheck(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.json", "b.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), sineRecording(t, "xl330"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := runApp(t, "identify", "--check", "xl330-m288", "--data", filepath.Join(dir, "a.json"),
		filepath.Join(dir, "b.json"), "-o", "jsonl")
	if code != 0 {
		t.Fatalf("got exit %d: %s", code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, name := range []string{"a.json", "b.json"} {
		var row map[string]any
		if i >= len(lines) || json.Unmarshal([]byte(lines[i]), &row) != nil || len(row) != 3 ||
			row["file"] != filepath.Join(dir, name) {
			t.Fatalf("got %q, want one line for each file", out)
		}
		mae, most := row["mae_rad"].(float64), row["max_rad"].(float64)
		if !(mae > 0.001 && mae < most && most < 1) {
			t.Errorf("%s: got mean %g and greatest %g rad", name, mae, most)
		}
	}
}

// What is refused leaves no file, and the file that was there.
func TestIdentifyRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, out := file("good.json", sineRecording(t, "xl330")), filepath.Join(dir, "servo.yaml")
	half := file("half.json", sineRecording(t, "xl330")[:5000])
	other := file("other.json", sineRecording(t, "mx64"))
	before := file("before.yaml", []byte("the one before\n"))
	for _, c := range []struct {
		want string
		args []string
	}{
		{"half written", []string{"--servo", "xl330-m288", "--data", good, "--data", half, "--out", out}},
		{"half written", []string{"--servo", "xl330-m288", "--data", half, "--out", before}},
		{`got a recording of "mx64"`, []string{"--servo", "xl330-m288", "--data", other, "--out", out}},
		{`got a recording of "mx64"`, []string{"--check", "xl330-m288", "--data", other}},
		{`did you mean "xl330-m288"`, []string{"--servo", "xl330-m28", "--data", good, "--out", out}},
		{"without a position gain", []string{"--servo", "ax-12a", "--data", good, "--out", out}},
		{"no --out", []string{"--servo", "xl330-m288", "--data", good}},
		{"no --data", []string{"--servo", "xl330-m288", "--out", out}},
		{"no --servo and no --check", []string{"--data", good}},
		{"which writes nothing", []string{"--check", "xl330-m288", "--data", good, "--out", out}},
		{"no such file", []string{"--check", filepath.Join(dir, "none.yaml"), "--data", good}},
	} {
		if code, _, errs := runApp(t, append([]string{"identify"}, c.args...)...); code != 2 ||
			!strings.Contains(errs, c.want) {
			t.Errorf("%v: got exit %d and %q, want 2 and %q", c.args, code, errs, c.want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
	if b, _ := os.ReadFile(before); string(b) != "the one before\n" {
		t.Errorf("the file that was there is %q", b)
	}
}
