package calibrate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Show lists the calibrations in use of r's joints; of one joint its kept versions too, the newest first. A joint
// without a file is left out, and hal.Uncalibrated where all are.
func Show(r *Robot, joint string) (rows []Row, err error) {
	joints, err := r.filed(joint)
	if err != nil {
		return nil, err
	}
	for _, j := range joints {
		c, err := calibration.Load(j.File)
		if err != nil {
			return nil, err
		}
		rows = append(rows, rowOf(j.File, c))
		if joint == "" {
			continue
		}
		kept, err := calibration.Versions(j.File)
		if err != nil {
			return nil, err
		}
		for _, path := range slices.Backward(kept) {
			old, err := calibration.Load(path)
			if err != nil {
				return nil, err
			}
			rows = append(rows, rowOf(path, old))
		}
	}
	return rows, nil
}

// filed are the joints with a file: all, or the one called joint.
func (r *Robot) filed(joint string) (list []*Joint, err error) {
	if joint != "" && r.Joint(joint) == nil {
		return nil, r.noJoint(joint)
	}
	for i := range r.Joints {
		j := &r.Joints[i]
		if joint != "" && j.Name != joint || j.File == "" && joint == "" {
			continue
		}
		if j.File == "" {
			return nil, &hal.Error{Kind: hal.Uncalibrated, Op: "calibration", Joint: joint,
				Err: errors.New("got no calibration in the config, want a file"), Try: "halyard calibrate " +
					r.Config.Source}
		}
		list = append(list, j)
	}
	if len(list) == 0 {
		return nil, &hal.Error{Kind: hal.Uncalibrated, Op: "calibration " + r.Name,
			Err: errors.New("got no joint with a calibration file"), Try: "halyard calibrate " + r.Config.Source}
	}
	return list, nil
}

func (r *Robot) noJoint(joint string) error {
	return &hal.Error{Kind: hal.Invalid, Op: "calibration", Joint: joint,
		Err: fmt.Errorf("got joint %q, want one of %s", joint, strings.Join(r.names(), ", "))}
}

// version is version n of a joint's calibration; 0 is the last that is kept.
func (j *Joint) version(n int) (*calibration.Joint, error) {
	now, err := calibration.Load(j.File)
	if err == nil && n == now.Version {
		return now, nil
	}
	kept, err := calibration.Versions(j.File)
	if err != nil {
		return nil, err
	}
	var have []string
	for _, path := range slices.Backward(kept) {
		c, err := calibration.Load(path)
		if err != nil {
			return nil, err
		}
		if n == 0 || c.Version == n {
			return c, nil
		}
		have = append(have, fmt.Sprint(c.Version))
	}
	if len(have) == 0 {
		have = []string{"no earlier versions"}
	}
	return nil, &hal.Error{Kind: hal.Absent, Op: "calibration", Joint: j.Name,
		Err: fmt.Errorf("got version %d, want a kept version: %s", n, strings.Join(have, ", ")),
		Try: "halyard calibrate show CONFIG --joint " + j.Name}
}

// Change is one value that differs between two versions.
type Change struct {
	Joint string `json:"joint"`
	Key   string `json:"key"`
	Old   string `json:"old"`
	New   string `json:"new"`
	Means string `json:"means"`
}

func (c Change) Cells() report.Cells {
	return report.Cells{{"joint", c.Joint}, {"key", c.Key}, {"old", c.Old}, {"new", c.New}, {"means", c.Means}}
}

// Diff lists the differences of the files of r's joints (or of one) from an older version; 0 is the previous one.
func Diff(r *Robot, joint string, version int) (changes []Change, err error) {
	joints, err := r.filed(joint)
	if err != nil {
		return nil, err
	}
	for _, j := range joints {
		now, err := calibration.Load(j.File)
		if err != nil {
			return nil, err
		}
		old, err := j.version(version)
		if hal.KindOf(err) == hal.Absent && joint == "" {
			continue // this one has no other
		} else if err != nil {
			return nil, err
		}
		changes = append(changes, Compare(old, now)...)
	}
	return changes, nil
}

// Compare lists the values of now that differ from old's, and the effect of each on the joint.
func Compare(old, now *calibration.Joint) (changes []Change) {
	add := func(key string, a, b any, means string) {
		if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
			changes = append(changes, Change{now.Joint, key, x, y, means})
		}
	}
	deg := func(ticks float64) string {
		return fmt.Sprintf("%+.2f degrees", ticks*360/(now.TicksPerTurn*now.Gear)*float64(now.Direction))
	}
	add("servo.model", old.Servo.Model, now.Servo.Model, "another servo")
	add("servo.id", old.Servo.ID, now.Servo.ID, "another servo")
	add("servo.firmware", old.Servo.Firmware, now.Servo.Firmware, "")
	add("servo.adapter", old.Servo.Adapter, now.Servo.Adapter, "")
	add("servo.homing_offset", old.Servo.HomingOffset, now.Servo.HomingOffset, "its ticks are shifted")
	add("method", old.Method, now.Method, "")
	add("date", old.Date.UTC().Format(time.RFC3339), now.Date.UTC().Format(time.RFC3339), "")
	add("direction", old.Direction, now.Direction, "the joint turns the other way")
	add("zero_ticks", old.ZeroTicks, now.ZeroTicks, "the same pose reads "+deg(old.ZeroTicks-now.ZeroTicks))
	add("ticks_per_turn", old.TicksPerTurn, now.TicksPerTurn, "")
	add("gear", old.Gear, now.Gear, fmt.Sprintf("angles times %.4f", old.Gear/now.Gear))
	for i, end := range [2]string{"range_ticks[0]", "range_ticks[1]"} {
		add(end, old.RangeTicks[i], now.RangeTicks[i], "the end moved "+deg(now.RangeTicks[i]-old.RangeTicks[i]))
	}
	add("table", fmt.Sprint(len(old.Table), " rows"), fmt.Sprint(len(now.Table), " rows"), "")
	if len(old.Table) == len(now.Table) {
		worst := 0.0
		for i := range old.Table {
			worst = math.Max(worst, math.Abs(old.Table[i].Radians-now.Table[i].Radians))
		}
		if worst > 0 {
			add("table", "", "other angles", fmt.Sprintf("up to %.2f degrees", worst*180/math.Pi))
		}
	}
	add("torque.constant", old.Torque.Constant, now.Torque.Constant,
		fmt.Sprintf("torques times %.4f", now.Torque.Constant/old.Torque.Constant))
	add("torque.offset", old.Torque.Offset, now.Torque.Offset, "")
	return changes
}

// Rollback makes an older version (0: the one before) of a joint's calibration the one in use, as a new version; no
// version is lost.
func Rollback(r *Robot, joint string, version int) (row Row, err error) {
	j := r.Joint(joint)
	if j == nil {
		return Row{}, r.noJoint(joint)
	}
	if _, err := r.filed(joint); err != nil {
		return Row{}, err
	}
	old, err := j.version(version)
	if err != nil {
		return Row{}, err
	}
	if old.Servo.Model != j.Model.Units().Name || old.Servo.ID != j.ID {
		return Row{}, &hal.Error{Kind: hal.Uncalibrated, Op: "calibration rollback", Joint: joint,
			Err: fmt.Errorf("got version %d of %s id %d, want one of %s id %d",
				old.Version, old.Servo.Model, old.Servo.ID, j.Model.Units().Name, j.ID),
			Try: "halyard calibrate show CONFIG --joint " + joint}
	}
	if _, err := calibration.Save(j.File, old); err != nil {
		return Row{}, err
	}
	return rowOf(j.File, old), nil
}
