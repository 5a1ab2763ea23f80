package calibrate

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
)

// calibrated writes the calibrations of an SO-101 that lies at 0, and the settings that name them.
func calibrated(t *testing.T, change func(map[string]*calibration.Joint)) (o configs.Options) {
	t.Helper()
	dir, r := t.TempDir(), so101(t)
	files := map[string]*calibration.Joint{}
	for i := range r.Joints {
		j := &r.Joints[i]
		c := j.nominal()
		c.Method, c.Date = calibration.ByManual, noon
		c.ZeroTicks = 1700 + 100*float64(i) // no two lie alike
		c.RangeTicks = [2]float64{c.ZeroTicks - 1300, c.ZeroTicks + 1300}
		rest := c.ZeroTicks
		c.RestTicks = &rest
		files[j.Name] = c
		at := "agents[0].hardware.joints." + j.Name
		o.Set = append(o.Set, at+".calibration="+filepath.Join(dir, j.Name+".yaml"),
			fmt.Sprintf("%s.ground_truth.zero=%g", at, c.ZeroTicks))
	}
	o.Body = "emulated"
	if change != nil {
		change(files)
	}
	for name, c := range files {
		if _, err := calibration.Save(filepath.Join(dir, name+".yaml"), c); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

// zero plants where a servo of the emulated arm has its zero.
func zero(joint string, ticks float64) string {
	return fmt.Sprintf("agents[0].hardware.joints.%s.ground_truth.zero=%g", joint, ticks)
}

// Each change since the calibration is found at its joint, and named; a robot without one, and one that stands
// elsewhere, is not complained about.
func TestDrift(t *testing.T) {
	const tooth = 4096.0 / 25
	file := func(f func(c *calibration.Joint)) func(map[string]*calibration.Joint) {
		return func(all map[string]*calibration.Joint) { f(all["elbow_flex"]) }
	}
	for _, c := range []struct {
		name   string
		file   func(map[string]*calibration.Joint)
		set    []string
		want   string
		others int // joints that are named as well
	}{
		{"nothing", nil, nil, "", 0},
		{"stands elsewhere", nil, []string{zero("shoulder_pan", 2300), zero("shoulder_lift", 1000),
			zero("elbow_flex", 2500), zero("wrist_flex", 2600)}, "", 0},
		{"another servo model", file(func(c *calibration.Joint) { c.Servo.Model = "sts3250" }), nil,
			"made with a sts3250", 0},
		{"another id", file(func(c *calibration.Joint) { c.Servo.ID = 9 }), nil, "made with id 9", 0},
		{"homing offset set", file(func(c *calibration.Joint) { c.Servo.HomingOffset = 55 }), nil,
			"made with homing offset 55", 0},
		{"firmware", file(func(c *calibration.Joint) { c.Servo.Firmware = "2.9" }), nil, "made with firmware 2.9", 0},
		{"horn slipped a tooth", nil, []string{zero("elbow_flex", 1900+tooth)}, "slipped by 1 of 25 teeth", 0},
		{"horn slipped three teeth back", nil, []string{zero("elbow_flex", 1900-3*tooth)}, "slipped by 3 of 25 teeth",
			0},
		{"horn a quarter round", nil, []string{zero("elbow_flex", 1900+1024)}, "mounted again, 90 degrees", 0},
		{"horn half round", nil, []string{zero("elbow_flex", 1900+2040)}, "mounted again, 179 degrees", 0},
		{"servo counts the other way", nil, []string{zero("elbow_flex", 4096-1900)}, "counts the other way", 0},
		{"servos swapped", nil, []string{zero("elbow_flex", 2200), zero("gripper", 1900)},
			"that of gripper are swapped", 1},
		{"outside its range", nil, []string{zero("elbow_flex", 1900+1500)}, "outside its", 0},
		{"loose", nil, []string{zero("elbow_flex", 1900+95)}, "zero has shifted", 0},
	} {
		o := calibrated(t, c.file)
		o.Set = append(o.Set, c.set...)
		d, err := Check(context.Background(), "so101", o, builtin.Catalog())
		if err != nil {
			t.Fatal(c.name, err)
		}
		var wrong []doctor.Finding
		named, joints := false, map[string]bool{}
		for _, f := range d.Found {
			if f.State != doctor.StateOK {
				wrong, joints[f.Joint] = append(wrong, f), true
				named = named || f.Joint == "elbow_flex" && strings.Contains(f.Found, c.want)
			}
		}
		if c.want == "" && len(wrong) > 0 || c.want != "" && (!named || len(joints) != 1+c.others) {
			t.Errorf("%s: got %+v, want %q at elbow_flex", c.name, wrong, c.want)
		}
	}
}

// A rig says at its start which joint has drifted.
func TestDriftAtStart(t *testing.T) {
	for _, c := range []struct {
		set  []string
		want int
	}{{nil, 0}, {[]string{zero("wrist_flex", 2000+300)}, 1}} {
		o := calibrated(t, nil)
		cfg, err := configs.Load("so101", configs.Options{Body: o.Body, Set: append(o.Set, c.set...)})
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		sys, err := halyard.Open(cfg, halyard.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if err := sys.Step(); err != nil {
				t.Fatal(err)
			}
		}
		sys.Close()
		if n := strings.Count(log.String(), "joint has drifted"); n != c.want ||
			c.want > 0 && !strings.Contains(log.String(), "joint=wrist_flex") {
			t.Errorf("%v: got %d joints that drifted, want %d\n%s", c.set, n, c.want, &log)
		}
	}
}
