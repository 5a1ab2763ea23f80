package calibrate

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func so101(t *testing.T, set ...string) *Robot {
	t.Helper()
	r, err := Open("so101", "", configs.Options{Set: set}, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// files are the bytes of all that is in dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := os.ReadFile(path)
			all[path] = string(data)
		}
		return nil
	})
	return all
}

func leRobotFile(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../../calibration/testdata/so101.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "arm.json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// In and out again, byte by byte: with the newline at the end that some programs write, without it as LeRobot does, and
// with the joints in another order than their ids.
func TestLeRobotBothWays(t *testing.T) {
	text := leRobotFile(t)
	swapped := strings.NewReplacer(`"shoulder_pan"`, `"gripper"`, `"gripper"`, `"shoulder_pan"`, `"id": 1`, `"id": 6`,
		`"id": 6`, `"id": 1`).Replace(text)
	for name, text := range map[string]string{"newline": text, "none": strings.TrimSpace(text), "order": swapped} {
		dir := t.TempDir()
		for range 2 { // a second import keeps versions, which are not exported
			if _, _, err := Import(written(t, text), so101(t), dir, noon); err != nil {
				t.Fatal(name, err)
			}
		}
		data, _, err := Export(dir, "lerobot")
		if err != nil || string(data) != text {
			t.Errorf("%s: got %v\n%s", name, err, data)
		}
	}
	// The gripper's 0 % is where the model is closed, at range_min, or at range_max of drive mode 1.
	for mode, closed := range map[string]float64{"0": 2034, "1": 3511} {
		dir := t.TempDir()
		i := strings.LastIndex(text, `"drive_mode": 0`)
		if _, _, err := Import(written(t, text[:i]+`"drive_mode": `+mode+text[i+len(`"drive_mode": 0`):]), so101(t),
			dir, noon); err != nil {
			t.Fatal(err)
		}
		c, err := calibration.Load(filepath.Join(dir, "gripper.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		low := so101(t).Joint("gripper").Limits.MinPosition
		if got := c.Radians(closed); got < low-1e-9 || got > low+1e-9 {
			t.Errorf("drive mode %s: closed at %g rad, want %g", mode, got, low)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	text := leRobotFile(t)
	for name, c := range map[string]struct{ text, want string }{
		"another robot": {strings.Replace(text, "elbow_flex", "left_knee", 1),
			"left_knee: got a joint that the robot does not have"},
		"another id":       {strings.Replace(text, `"id": 3`, `"id": 13`, 1), "want 3, the id of the config"},
		"half written":     {text[:len(text)/2], "half written"},
		"BAM's parameters": {`{"model": "m1", "actuator": "xl330", "kt": 0.4, "R": 4, "armature": 0.002, "friction_base": 0.01, "friction_viscous": 0.003}`, "identify --convert"},
		"not a number":     {strings.Replace(text, "758", "NaN", 1), "syntax"},
		"null":             {strings.Replace(text, "758", "null", 1), "want a whole number"},
		"empty":            {"", "no known format"},
		"no motor":         {"{}", "no joints"},
		"a recording":      {`{"entries": [], "mass": 0.5}`, "entries"},
		"binary":           {"\x00\x01\x02", "no known format"},
		"limits": {"joint_limits:\n  knee: {has_position_limits: true, min_position: 0, max_position: 1}\n",
			"knee: got a joint"},
		"urdf": {"<robot><joint name=\"elbow_flex\" type=\"revolute\"><limit lower=\"1\" " +
			"upper=\"0\"/></joint></robot>", "lower below upper"},
	} {
		dir := t.TempDir()
		if _, _, err := Import(written(t, text), so101(t), dir, noon); err != nil {
			t.Fatal(err)
		}
		before := files(t, dir)
		_, _, err := Import(written(t, c.text), so101(t), dir, noon)
		if hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if after := files(t, dir); !maps.Equal(before, after) {
			t.Errorf("%s: the files changed", name)
		}
		empty := filepath.Join(t.TempDir(), "new")
		if Import(written(t, c.text), so101(t), empty, noon); len(files(t, empty)) > 0 {
			t.Errorf("%s: wrote %v", name, files(t, empty))
		}
	}
	// Where the last file cannot be written, those before it are put back.
	dir := t.TempDir()
	if _, _, err := Import(written(t, text), so101(t), dir, noon); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, "wrist_roll.yaml"))
	os.MkdirAll(filepath.Join(dir, "wrist_roll.yaml", "x"), 0o755)
	pan, _ := os.ReadFile(filepath.Join(dir, "shoulder_pan.yaml"))
	_, _, err := Import(written(t, strings.Replace(text, "758", "800", 1)), so101(t), dir, noon)
	if after, _ := os.ReadFile(filepath.Join(dir, "shoulder_pan.yaml")); err == nil || !bytes.Equal(pan, after) {
		t.Errorf("disk: got %v, and\n%s", err, after)
	}
}

// A config that names LeRobot's file is told the command that converts it.
func TestLeRobotInConfig(t *testing.T) {
	_, err := calibration.Load(written(t, leRobotFile(t)))
	if hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), "LeRobot") ||
		!strings.Contains(err.Error(), "halyard calibration import") {
		t.Errorf("got %v", err)
	}
}

func TestVersions(t *testing.T) {
	dir := t.TempDir()
	set := `agents[0].hardware.joints.elbow_flex.calibration=` + filepath.Join(dir, "elbow_flex.yaml")
	r := so101(t, set)
	if _, err := Show(r, ""); hal.KindOf(err) != hal.Uncalibrated {
		t.Errorf("no file: got %v", err)
	}
	text := leRobotFile(t)
	for _, low := range []string{"860", "960"} {
		if _, _, err := Import(written(t, strings.Replace(text, "860", low, 1)), r, dir, noon); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := Show(r, "elbow_flex")
	if err != nil || len(rows) != 2 || rows[0].Version != 2 || rows[1].Ticks[0] != 860 {
		t.Fatal(rows, err)
	}
	changes, err := Diff(r, "", 0)
	if err != nil || len(changes) != 2 || changes[0].Key != "zero_ticks" ||
		!strings.Contains(changes[0].Means, "-4.4") || changes[1].Old != "860" {
		t.Errorf("diff: got %+v, %v", changes, err)
	}
	row, err := Rollback(r, "elbow_flex", 0)
	if err != nil || row.Version != 3 || row.Ticks[0] != 860 {
		t.Errorf("rollback: got %+v, %v", row, err)
	}
	if rows, _ := Show(r, "elbow_flex"); len(rows) != 3 {
		t.Errorf("after it: got %d versions, want 3", len(rows))
	}
	if _, err := Rollback(r, "elbow_flex", 9); hal.KindOf(err) != hal.Absent {
		t.Errorf("version 9: got %v", err)
	}
	if _, err := Rollback(r, "knee", 0); hal.KindOf(err) != hal.Invalid {
		t.Errorf("knee: got %v", err)
	}
}
