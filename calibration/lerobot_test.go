package calibration

import (
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// so101 is a file of an SO-101 arm, as LeRobot writes it.
func so101(t testing.TB) []byte {
	data, err := os.ReadFile("testdata/so101.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var from = Import{Model: "sts3215", Adapter: "/dev/serial/by-id/usb-1a86",
	Date: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}

func TestImportLeRobot(t *testing.T) {
	joints, err := ImportLeRobot(so101(t), from)
	if err != nil || len(joints) != 6 {
		t.Fatal(len(joints), err)
	}
	want := []string{"shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll", "gripper"}
	for i, j := range joints {
		if j.Joint != want[i] || j.Servo.ID != i+1 {
			t.Errorf("%d: got %s, id %d", i, j.Joint, j.Servo.ID)
		}
		// LeRobot's own formula for degrees, for every tick within the range.
		middle := (j.RangeTicks[0] + j.RangeTicks[1]) / 2
		for tick := j.RangeTicks[0]; tick <= j.RangeTicks[1]; tick++ {
			degrees := (tick - middle) * 360 / 4095 * float64(j.Direction)
			near(t, j.Joint, j.Radians(tick)*180/math.Pi, degrees, 1e-9)
		}
	}
	if j := joints[1]; j.Servo.HomingOffset != -1318 || j.Direction != -1 || j.RangeTicks != [2]float64{821, 3196} {
		t.Errorf("shoulder_lift: got %+v", j)
	}
	// The export gives the same bytes, since LeRobot's format holds all imported data.
	data, lost, err := ExportLeRobot(joints)
	if err != nil || string(data) != string(so101(t)) {
		t.Errorf("export: got %v\n%s", err, data)
	}
	for _, l := range lost {
		if strings.Contains(l, "zero") || strings.Contains(l, "scale") || strings.Contains(l, "torque") {
			t.Error("lost: ", l)
		}
	}
}

var leRobotFaults = []struct {
	name, from, to string
	faults         []string
}{
	{"unknown key", `"id": 3`, `"id": 3, "baud": 1`, []string{"elbow_flex.baud: unknown key"}},
	{"missing key", `"id": 3,`, ``, []string{"elbow_flex.id: key is missing"}},
	{"key twice", `"id": 3`, `"id": 3, "id": 3`, []string{"elbow_flex.id: key given twice"}},
	{"joint twice", `"elbow_flex"`, `"gripper"`, []string{"gripper: joint given twice"}},
	{"id twice", `"id": 3`, `"id": 2`, []string{"elbow_flex.id: got 2, which shoulder_lift has already"}},
	{"fraction", `"id": 3`, `"id": 3.5`, []string{"elbow_flex.id: got 3.5, want a whole number"}},
	{"null", `"id": 3`, `"id": null`, []string{"elbow_flex.id: got null"}},
	{"offset", `-1318`, `2114`, []string{"shoulder_lift.homing_offset: got 2114, want -2047..2047"}},
	{"drive mode", `"drive_mode": 1`, `"drive_mode": 2`, []string{"shoulder_lift.drive_mode: got 2, want 0 or 1"}},
	{"range", `"range_min": 821`, `"range_min": 3196`, []string{"shoulder_lift.range_ticks: got 3196..3196"}},
	{"several", `"id": 3`, `"id": 900, "x": 0`, []string{"elbow_flex.x"}},
	{"no object", `{`, `[{`, []string{"got [, want an object"}},
	{"cut off", "}\n}", "}", []string{"syntax"}},
	{"more behind", "}\n}", "}\n} 1", []string{"something follows"}},
}

func TestImportLeRobotFaults(t *testing.T) {
	for _, c := range leRobotFaults {
		t.Run(c.name, func(t *testing.T) {
			joints, err := ImportLeRobot([]byte(strings.Replace(string(so101(t)), c.from, c.to, 1)), from)
			if joints != nil || err == nil {
				t.Fatalf("got %v, %v", joints, err)
			}
			for _, want := range c.faults {
				if !slices.ContainsFunc(list(err), func(e string) bool { return strings.Contains(e, want) }) {
					t.Errorf("want %q, got:\n%v", want, err)
				}
			}
		})
	}
	for _, empty := range []string{"", "{}"} {
		if _, err := ImportLeRobot([]byte(empty), from); err == nil {
			t.Errorf("%q: want an error", empty)
		}
	}
	// A Dynamixel's register holds more.
	dynamixel := from
	dynamixel.Model = "xl430-w250"
	if _, err := ImportLeRobot([]byte(strings.Replace(string(so101(t)), "-1318", "2114", 1)), dynamixel); err != nil {
		t.Error(err)
	}
}

func TestExportLeRobot(t *testing.T) {
	j := sample(-1, 2, true)
	j.RangeTicks = [2]float64{1000.4, 3000}
	_, lost, err := ExportLeRobot([]*Joint{j})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(lost, "\n")
	for _, want := range []string{"zero at tick 2048: LeRobot's is the middle of the range, 2000, 4.22 degrees off",
		"scale of 8192 ticks", "direction -1", "table of 9 rows", "torque constant 1.78", "method, date"} {
		if !strings.Contains(all, want) {
			t.Errorf("lost: want %q, got:\n%s", want, all)
		}
	}
	sts := func(change func(*Joint)) *Joint {
		j := sample(1, 1, false)
		j.Servo.Model = "sts3215"
		change(j)
		return j
	}
	twin := sts(func(*Joint) {})
	for name, c := range map[string]struct {
		joints []*Joint
		want   string
	}{
		"offset": {[]*Joint{sts(func(j *Joint) { j.Servo.HomingOffset = -2048 })},
			"servo.homing_offset: got -2048, want -2047..2047"},
		"range": {[]*Joint{sts(func(j *Joint) { j.RangeTicks[1] = 4700 })},
			"range_ticks: got 0..4700, want 0..4095"},
		"twice":        {[]*Joint{twin, twin}, "second time"},
		"none":         {nil, "no joints"},
		"not valid":    {[]*Joint{sts(func(j *Joint) { j.Gear = 0 })}, "gear: got 0"},
		"unknown size": {[]*Joint{sts(func(j *Joint) { j.Servo.Model, j.Servo.HomingOffset = "servo", 3000 })}, "2047"},
	} {
		data, _, err := ExportLeRobot(c.joints)
		if data != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: got kind %v, want invalid", name, hal.KindOf(err))
		}
	}
}

// An imported calibration is valid, and its export is imported as the same calibration.
func FuzzImportLeRobot(f *testing.F) {
	f.Add(so101(f))
	for _, c := range leRobotFaults {
		f.Add([]byte(strings.Replace(string(so101(f)), c.from, c.to, 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		joints, err := ImportLeRobot(data, from)
		if (err == nil) == (joints == nil) {
			t.Fatal(joints, err)
		}
		for _, j := range joints {
			if err := j.Validate(); err != nil {
				t.Fatal(err)
			}
		}
		out, _, err := ExportLeRobot(joints)
		if err != nil {
			return // a seam within the range, or the same name twice
		}
		again, err := ImportLeRobot(out, from)
		if err != nil || !reflect.DeepEqual(again, joints) {
			t.Fatalf("got %v\n%s", err, out)
		}
	})
}

// If a config names a LeRobot file as a calibration, the error reports its format and the command to import it.
func TestLoadSaysItIsLeRobots(t *testing.T) {
	_, err := Load("testdata/so101.json")
	if hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), "LeRobot's calibration of a whole robot") ||
		!strings.Contains(err.Error(), "halyard calibration import testdata/so101.json") {
		t.Errorf("got %v", err)
	}
}
