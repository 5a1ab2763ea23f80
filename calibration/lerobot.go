package calibration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// LeRobot stores the calibration of one arm in one JSON file (src/lerobot/motors, 7427f318):
//
//	{"shoulder_pan": {"id": 1, "drive_mode": 0, "homing_offset": -12, "range_min": 758, "range_max": 3292}, ...}
//
// range_* are present positions, after the offset in the servo's register: present = actual − offset on Feetech,
// actual + offset on Dynamixel. In its degrees mode an angle is (present − middle of the range) · 360/(res − 1).

// Import holds the values that a LeRobot file lacks.
type Import struct {
	Model      string // of all servos; change the result if they differ
	Adapter    string
	Resolution int // ticks a turn; 0 = 4096
	Date       time.Time
	// Robot has each joint of a config: its servo and, for a gripper, which LeRobot normalises to 0..100, the angle at
	// which it is closed. If it is not nil, a joint that it lacks, or with another id, is a fault.
	Robot map[string]RobotJoint
}

// RobotJoint is the data of a joint in addition to a LeRobot file.
type RobotJoint struct {
	Servo  Servo
	Closed float64 // rad at LeRobot's 0; NaN if LeRobot uses degrees
}

// resolution is LeRobot's number of steps of a turn of a servo.
func resolution(model string) int {
	if strings.HasPrefix(model, "scs") {
		return 1024
	}
	return defaultResolution
}

// The modes of Source.
const (
	leRobot  = "lerobot"
	degrees  = "degrees"
	range100 = "range_0_100"
)

const (
	defaultResolution = 4096 // STS, SMS and all Dynamixel but AX and XL-320
	// feetechOffset is the largest |offset| of the 12-bit sign-magnitude register of STS servos. LeRobot itself
	// crashes on more ("Magnitude 2114 exceeds 2047", its issue 1296).
	feetechOffset   = 2047
	dynamixelOffset = 1044479 // X series, register 20
)

// offsetLimit is the largest homing offset of a model's register; for an unknown model, the smallest of all models.
func offsetLimit(model string) int {
	if strings.HasPrefix(model, "x") || strings.HasPrefix(model, "mx") {
		return dynamixelOffset
	}
	return feetechOffset
}

// leRobotLists are what files of before June 2025 have: lists of all joints.
var leRobotLists = regexp.MustCompile(`"(motor_names|homing_offset|drive_mode|calib_mode)"\s*:\s*\[`)

var leRobotKeys = [...]string{"id", "drive_mode", "homing_offset", "range_min", "range_max"}

// ImportLeRobot reads a LeRobot calibration file, its joints in the file's order. The angles are LeRobot's degrees:
// zero in the middle of the range, and its scale of res − 1 steps a turn, which is in Gear. drive_mode 1 reverses
// the direction, as in LeRobot's ranges, though not in its degrees. Torque is not known.
// All faults are reported together, each a *Fault.
func ImportLeRobot(data []byte, with Import) ([]*Joint, error) {
	f := &yaml.Document{}
	if leRobotLists.Match(data) {
		f.Note("", "got a file of LeRobot of before June 2025, whose offsets were its program's and are in no "+
			"servo, want one of today: "+
			"calibrate again with LeRobot of today, or with halyard calibrate")
		return nil, f.Err()
	}
	var joints []*Joint
	ids, names := map[int]string{}, map[string]bool{}
	err := members(data, func(name string, value json.RawMessage) {
		if names[name] {
			f.Note(joined(name), "joint given twice")
		}
		names[name] = true
		values := motor(f, name, value)
		if values == nil {
			return
		}
		known, ok := with.Robot[name]
		if !ok {
			known = RobotJoint{Servo{Model: with.Model, ID: values[0], Adapter: with.Adapter}, math.NaN()}
		}
		if with.Robot != nil && !ok {
			f.Note(joined(name), "got a joint that the robot does not have, want one of "+
				strings.Join(slices.Sorted(maps.Keys(with.Robot)), ", "))
			return
		} else if known.Servo.ID != values[0] {
			f.Note(joined(name, "id"), fmt.Sprintf("got %d, want %d, the id of the config", values[0], known.Servo.ID))
		}
		id, low, high := values[0], values[3], values[4]
		if other, twice := ids[id]; twice {
			f.Note(joined(name, "id"), fmt.Sprintf("got %d, which %s has already", id, other))
		}
		ids[id] = name
		res := float64(cmp.Or(with.Resolution, resolution(known.Servo.Model)))
		known.Servo.HomingOffset = values[2]
		j := &Joint{
			Joint: name, Method: ByImport, Date: with.Date, Version: 1,
			Servo:     known.Servo,
			Direction: 1 - 2*values[1], ZeroTicks: (float64(low) + float64(high)) / 2,
			TicksPerTurn: res, Gear: (res - 1) / res,
			RangeTicks: [2]float64{float64(low), float64(high)},
			Source: Source{Format: leRobot, Place: len(joints) + 1, Mode: degrees,
				Newline: bytes.HasSuffix(data, []byte("\n"))},
		}
		if c := known.Closed; !math.IsNaN(c) { // 0 is range_min, or range_max of drive mode 1, and never the middle
			j.Source.Mode, j.Gear = range100, 1
			j.ZeroTicks = j.RangeTicks[values[1]] - c/j.slope()
		}
		if m := offsetLimit(known.Servo.Model); values[2] < -m || values[2] > m {
			f.Note(joined(name, "homing_offset"), fmt.Sprintf("got %d, want -%d..%d", values[2], m, m))
		}
		// The other rules are those of every calibration.
		merge(f, name, j.Validate())
		joints = append(joints, j)
	})
	if err != nil {
		f.Note("", err.Error())
	}
	if len(joints) == 0 && len(f.Faults) == 0 {
		f.Note("", "file has no joints")
	}
	if len(f.Faults) > 0 {
		return nil, f.Err()
	}
	return joints, nil
}

// joined is the path of a key of a joint; the joint's name may have any characters.
func joined(name string, keys ...string) yaml.Path {
	path := yaml.Path("").Key(name)
	for _, k := range keys {
		path = path + "." + yaml.Path(k)
	}
	return path
}

// merge adds the faults of a joint.
func merge(d *yaml.Document, name string, err error) {
	var faults yaml.Faults
	errors.As(err, &faults)
	for _, f := range faults {
		f.Path = joined(name) + "." + f.Path
		d.Faults.Add(f)
	}
}

// motor reads one motor's five whole numbers in the order of leRobotKeys; nil if one is faulty.
func motor(f *yaml.Document, name string, value json.RawMessage) []int {
	before := len(f.Faults)
	values, seen := make([]int, len(leRobotKeys)), make([]bool, len(leRobotKeys))
	err := members(value, func(key string, value json.RawMessage) {
		for i, k := range leRobotKeys {
			if k != key {
				continue
			}
			if seen[i] {
				f.Note(joined(name, key), "key given twice")
			}
			seen[i] = true
			if string(value) == "null" || json.Unmarshal(value, &values[i]) != nil {
				f.Note(joined(name, key), fmt.Sprintf("got %.40s, want a whole number", value))
			}
			return
		}
		f.Note(joined(name, key), fmt.Sprintf("unknown key, want one of %s", strings.Join(leRobotKeys[:], ", ")))
	})
	if err != nil {
		f.Note(joined(name), err.Error())
	}
	for i, k := range leRobotKeys {
		if !seen[i] && err == nil {
			f.Note(joined(name, k), "key is missing")
		}
	}
	if mode := values[1]; mode != 0 && mode != 1 {
		f.Note(joined(name, "drive_mode"), fmt.Sprintf("got %d, want 0 or 1", mode))
	}
	if len(f.Faults) > before {
		return nil
	}
	return values
}

// members calls each with the members of the JSON object in data, in order, including duplicates.
func members(data []byte, each func(name string, value json.RawMessage)) error {
	if len(data) > yaml.MaxBytes {
		return fmt.Errorf("got %d bytes, want at most %d", len(data), yaml.MaxBytes)
	}
	// A map would lose the order of the joints and hide a duplicate joint.
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil {
		return syntax(err)
	} else if t != json.Delim('{') {
		return fmt.Errorf("got %.40v, want an object", t)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return syntax(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return syntax(err)
		}
		each(name.(string), value)
	}
	if _, err := d.Token(); err != nil {
		return syntax(err)
	}
	// A file with two objects, such as one written twice, is refused.
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("syntax: something follows the object")
	}
	return nil
}

// syntax is the error of malformed JSON.
func syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("syntax: the file ends in the middle: half written")
	}
	return fmt.Errorf("syntax: %w", err)
}

// looksLikeLeRobot reports whether data is a LeRobot calibration file, good or bad, rather than one of Halyard's.
func looksLikeLeRobot(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && bytes.Contains(data, []byte(`"homing_offset"`))
}

// ExportLeRobot writes joints, in their order, as a LeRobot calibration file. lost has a line for each value that the
// format cannot hold, with the resulting deviation of LeRobot. Joints that would make a wrong file are refused: an
// offset that the servo cannot store, a range outside one turn of a Feetech servo, two joints with one name or id.
func ExportLeRobot(joints []*Joint) (data []byte, lost []string, err error) {
	f := &yaml.Document{}
	names, ids := map[string]bool{}, map[int]bool{}
	var rows []string
	for _, j := range joints {
		merge(f, j.Joint, j.Validate())
		if names[j.Joint] || ids[j.Servo.ID] {
			f.Note(joined(j.Joint), fmt.Sprintf("got this name or id %d a second time", j.Servo.ID))
		}
		names[j.Joint], ids[j.Servo.ID] = true, true
		limit := offsetLimit(j.Servo.Model)
		if o := j.Servo.HomingOffset; o < -limit || o > limit {
			f.Note(joined(j.Joint, "servo.homing_offset"), fmt.Sprintf("got %d, want -%d..%d", o, limit, limit))
		}
		// LeRobot cannot represent a range across the encoder's zero; a Dynamixel in extended mode has no such limit.
		low, high := math.Round(j.RangeTicks[0]), math.Round(j.RangeTicks[1])
		if limit == feetechOffset && (low < 0 || high > j.TicksPerTurn-1) {
			f.Note(joined(j.Joint, "range_ticks"),
				fmt.Sprintf("got %g..%g, want 0..%g: home the servo so that its range has no seam",
					low, high, j.TicksPerTurn-1))
		}
		lost = append(lost, j.lostInLeRobot((low+high)/2)...)
		name, _ := json.Marshal(j.Joint)
		rows = append(rows, fmt.Sprintf(
			"    %s: {\n        \"id\": %d,\n        \"drive_mode\": %d,\n        \"homing_offset\": %d,\n"+
				"        \"range_min\": %.0f,\n        \"range_max\": %.0f\n    }",
			name, j.Servo.ID, (1-j.Direction)/2, j.Servo.HomingOffset, low, high))
	}
	if len(joints) == 0 {
		f.Note("", "no joints to export")
	}
	if len(f.Faults) > 0 {
		return nil, nil, f.Err()
	}
	end := "\n}\n"
	if s := joints[0].Source; s.Format == leRobot && !s.Newline {
		end = end[:2] // LeRobot's own files have no final newline
	}
	return []byte("{\n" + strings.Join(rows, ",\n") + end), lost, nil
}

// lostInLeRobot lists the values of j that the file cannot hold, if its zero is middle.
func (j *Joint) lostInLeRobot(middle float64) (lost []string) {
	note := func(format string, args ...any) {
		lost = append(lost, j.Joint+": "+fmt.Sprintf(format, args...))
	}
	if zero := j.Ticks(0); zero != middle && j.Source.Mode != range100 {
		note("zero at tick %g: LeRobot's is the middle of the range, %g, %.2f degrees off",
			zero, middle, math.Abs(zero-middle)*360/j.TicksPerTurn)
	}
	if turn := j.TicksPerTurn * j.Gear; math.Abs(turn-(j.TicksPerTurn-1)) > 1e-6 && j.Source.Mode != range100 {
		note("scale of %g ticks a turn of the joint: LeRobot's is %g", turn, j.TicksPerTurn-1)
	}
	if j.Direction < 0 && j.Source.Mode != range100 {
		note("direction -1: becomes drive_mode 1, which LeRobot's degrees ignore")
	}
	if len(j.Table) > 0 {
		note("table of %d rows", len(j.Table))
	}
	if j.Torque != (Torque{}) {
		note("torque constant %g", j.Torque.Constant)
	}
	note("servo model %s, firmware and adapter, method, date and version", j.Servo.Model)
	return lost
}
