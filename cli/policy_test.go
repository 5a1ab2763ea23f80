package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestPolicyCommands(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	dir := filepath.Join("..", "internal", "policy", "testdata", "swingup")
	file, config := filepath.Join(dir, "swingup.onnx"), filepath.Join(dir, "swingup.yaml")
	code, out, errText := runApp(t, "policy", "check", file, config)
	if code != 0 || !strings.Contains(out, "observation joint_vel") || !strings.Contains(errText, "from the file") {
		t.Errorf("got exit %d, %s %s", code, out, errText)
	}
	if code, _, errText = runApp(t, "policy", "check", file, "so101"); code != 2 ||
		!strings.Contains(errText, `joint "swing": got none of that name`) {
		t.Errorf("another robot: got exit %d, %s", code, errText)
	}
	if code, _, errText = runApp(t, "policy", "rehearse", config, "--only", "gremlins"); code != 2 ||
		!strings.Contains(errText, "weak_servo") {
		t.Errorf("got exit %d, %s", code, errText)
	}
	keep := []string{"policy", "rehearse", config, "--keep", "swing/position=2.6..3.7", "--seconds", "8"}
	if code, out, errText = runApp(t, append(keep, "--runs", "6", "--only", "push")...); code != 0 ||
		!strings.Contains(errText, "survived: 6 of 6") || !strings.Contains(out, "push") {
		t.Errorf("got exit %d, %s %s", code, out, errText)
	}
	record := filepath.Join(t.TempDir(), "worst.mcap")
	keep = append(keep, "--runs", "12", "--only", "late,weak_servo", "--record", record)
	if code, out, errText = runApp(t, keep...); code != 8 || !strings.Contains(errText, "worst: seed") {
		t.Fatalf("got exit %d, %s %s", code, out, errText)
	}
	if code, again, _ := runApp(t, keep[:len(keep)-2]...); code != 8 || again != out {
		t.Errorf("got %s, want the same runs from the same seeds: %s", again, out)
	}
	if code, out, errText = runApp(t, "replay", record); code != 0 {
		t.Errorf("replay: got exit %d, %s %s", code, out, errText)
	}
}
