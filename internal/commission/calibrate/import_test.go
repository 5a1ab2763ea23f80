package calibrate

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
)

var now = time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)

func so101(t *testing.T) []Joint {
	t.Helper()
	joints, err := Load("so101")
	if err != nil {
		t.Fatal(err)
	}
	return joints
}

// lerobot is a file as LeRobot writes it.
func lerobot(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("../../../calibration/testdata/so101.json")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// LeRobot's file in and out again is the same bytes, and the kept versions are not in it.
func TestLeRobotBothWays(t *testing.T) {
	in, err := Import("arm.json", lerobot(t), so101(t), now)
	if err != nil || in.Format != "lerobot" || len(in.Joints) != 6 {
		t.Fatalf("got %+v, %v", in, err)
	}
	dir := filepath.Join(t.TempDir(), "calibration")
	for range 2 { // the second time there are versions
		if _, err := in.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	// What else lies there is no joint's.
	if err := os.WriteFile(filepath.Join(dir, "imu.yaml"), []byte("sensor: imu\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	joints, err := Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := calibration.ExportLeRobot(joints)
	if err != nil || string(text) != string(lerobot(t)) {
		t.Errorf("got %v\n%s", err, text)
	}
	// The gripper's 0 and 100 are the ends of the model's; the offset stays as it is in the servo.
	g := joints[5]
	limits := so101(t)[5]
	if low := g.Radians(2034); math.Abs(low-limits.Low) > 1e-9 || g.Servo.HomingOffset != 1402 {
		t.Errorf("gripper: closed at %.3f with offset %d, want %.3f and 1402", low, g.Servo.HomingOffset, limits.Low)
	}
}

func TestImportRefuses(t *testing.T) {
	text := string(lerobot(t))
	for _, c := range []struct{ name, text, want string }{
		{"half written", text[:200], "unexpected EOF"},
		{"no number", strings.Replace(text, "821", "NaN", 1), "invalid character"},
		{"another robot", strings.NewReplacer("shoulder_pan", "a", "shoulder_lift", "b", "elbow_flex", "c", "wrist_flex", "d", "wrist_roll", "e", "gripper", "f").Replace(text), "another robot"},
		{"another id", strings.Replace(text, `"id": 2`, `"id": 9`, 1), "got id 9, the config has 2"},
		{"one joint more", strings.Replace(text, "wrist_roll", "wrist_yaw", 1), "joint wrist_yaw is not of this robot"},
		{"an offset beyond the register", strings.Replace(text, "1402", "2114", 1), "want -2047..2047"},
		{"nothing", "", "neither LeRobot's JSON"},
		{"limits of another robot", "joint_limits:\n  knee: {min_position: -1, max_position: 1}\n", "another robot"},
		{"limits the wrong way", "joint_limits:\n  shoulder_pan: {min_position: 1, max_position: -1}\n", "want a lower and an upper one"},
		{"limits with a key nobody knows", "joint_limits:\n  shoulder_pan: {minimum: 1}\n", "unknown key"},
		{"a URDF with a fault", "<robot><joint name='a'></robot>", "XML"},
	} {
		in, err := Import("f", []byte(c.text), so101(t), now)
		if err == nil || hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %+v, %v, want %q", c.name, in, err, c.want)
		}
	}
}

// Limits in radians become ticks by the calibration that the joint has, the nominal one where it has none.
func TestImportLimits(t *testing.T) {
	for name, text := range map[string]string{
		"joint_limits": "joint_limits:\n  shoulder_pan: {has_position_limits: true, min_position: -1.2, max_position: 1.3, has_velocity_limits: true, max_velocity: 2}\n  elbow_flex: {has_position_limits: false}\n",
		"urdf":         `<robot name="so101"><joint name="shoulder_pan" type="revolute"><limit lower="-1.2" upper="1.3" effort="1" velocity="1"/></joint><joint name="weld" type="fixed"/></robot>`,
	} {
		in, err := Import("f", []byte(text), so101(t), now)
		if err != nil || in.Format != name || len(in.Joints) != 1 {
			t.Fatalf("%s: got %+v, %v", name, in, err)
		}
		c := in.Joints[0]
		if low, high := c.Radians(c.RangeTicks[0]), c.Radians(c.RangeTicks[1]); math.Abs(low+1.2) > 1e-3 || math.Abs(high-1.3) > 1e-3 || c.Method != calibration.ByImport {
			t.Errorf("%s: got %.4f..%.4f by %s", name, low, high, c.Method)
		}
	}
}

// What the robot's model contradicts is asked about.
func TestQuestions(t *testing.T) {
	joints := so101(t)
	for _, c := range []struct {
		name   string
		change func(*calibration.Joint)
		want   string
	}{
		{"as the model", func(c *calibration.Joint) {}, ""},
		{"hardly moved", func(c *calibration.Joint) { c.RangeTicks = [2]float64{2000, 2100} }, "was it moved to both ends"},
		{"geared", func(c *calibration.Joint) { c.Gear = 0.25 }, "is the gear right"},
		{"elsewhere", func(c *calibration.Joint) { c.ZeroTicks = -3000 }, "are zero and direction right"},
	} {
		c0 := joints[0].nominal()
		half := (joints[0].High - joints[0].Low) / 2 * 4096 / (2 * math.Pi)
		c0.RangeTicks = [2]float64{2048 - half, 2048 + half}
		c.change(c0)
		got := strings.Join(Questions(&joints[0], c0), "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
