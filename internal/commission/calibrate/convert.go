package calibrate

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Formats are the files of other programs.
var Formats = []string{"lerobot", "joint_limits", "urdf"}

// Import writes DIR/JOINT.yaml of every joint in the file of another program: LeRobot's JSON, joint_limits or a URDF of
// ROS, distinguished by their contents. A faulty file, or one of another robot, is hal.Invalid and changes no file.
// notes list missing data and changed angles.
func Import(file string, r *Robot, dir string, now time.Time) (rows []Row, notes []string, err error) {
	if dir == "" {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "calibration import",
			Err: errors.New("got no --dir, want the folder of the calibration files"),
			Try: "halyard calibration import FILE --config CONFIG --dir calibration"}
	}
	data, err := yaml.ReadFile(file)
	if err != nil {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "calibration import " + file, Err: err}
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF")) // a byte order mark, as editors of Windows write it
	var joints []*calibration.Joint
	text := strings.TrimSpace(string(data))
	switch _, bam := identify.ParseBAM(data, file, ""); {
	case bam == nil:
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "calibration import " + file,
			Err: errors.New("got parameters of BAM, which are a servo's and not a joint's"),
			Try: "halyard identify --convert " + file + " --out servo.yaml"}
	case strings.HasPrefix(text, "{"):
		joints, err = calibration.ImportLeRobot(data, calibration.Import{Date: now, Robot: r.leRobot()})
	case strings.HasPrefix(text, "<"), strings.Contains(text, "joint_limits:"):
		joints, notes, err = r.fromROS(data, dir, now)
	default:
		err = errors.New("got a file of no known format, want LeRobot's JSON, joint_limits or a URDF of ROS")
	}
	if err != nil {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "calibration import " + file, Err: err}
	}
	for _, j := range joints {
		notes = append(notes, r.Joint(j.Joint).changed(j, r.Joint(j.Joint).old(dir))...)
		notes = append(notes, r.Joint(j.Joint).Doubts(j)...)
	}
	for _, name := range r.names() {
		if !slices.ContainsFunc(joints, func(j *calibration.Joint) bool { return j.Joint == name }) {
			notes = append(notes, name+": not in "+filepath.Base(file)+", and stays as it is")
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "calibration import", Err: err}
	}
	if err := calibration.SaveAll(dir, joints); err != nil {
		return nil, nil, err
	}
	for _, j := range joints {
		rows = append(rows, rowOf(filepath.Join(dir, j.Joint+".yaml"), j))
	}
	return rows, notes, nil
}

// gripper is the name of the one joint of every arm that LeRobot normalises to 0..100 instead of degrees.
const gripper = "gripper"

func (r *Robot) leRobot() map[string]calibration.RobotJoint {
	all := map[string]calibration.RobotJoint{}
	for i := range r.Joints {
		j := &r.Joints[i]
		closed := math.NaN()
		if j.Name == gripper || strings.HasSuffix(j.Name, "_"+gripper) {
			closed = j.Limits.MinPosition
		}
		all[j.Name] = calibration.RobotJoint{Servo: j.servo(), Closed: closed}
	}
	return all
}

// changed keeps the data of the previous file that the other program's file lacks, and reports the change of the
// joint's angle.
func (j *Joint) changed(c, old *calibration.Joint) (notes []string) {
	if old == nil {
		return nil
	}
	if c.Torque == (calibration.Torque{}) && old.Torque != (calibration.Torque{}) {
		c.Torque = old.Torque
		notes = append(notes, fmt.Sprintf("%s: keeps the torque constant of version %d", c.Joint, old.Version))
	}
	if c.Direction != old.Direction {
		notes = append(notes, fmt.Sprintf("%s: direction %d, was %d in version %d", c.Joint, c.Direction, old.Direction,
			old.Version))
	} else if d := (old.ZeroTicks - c.ZeroTicks) * 360 / c.TicksPerTurn; math.Abs(d) > 0.5 {
		notes = append(notes, fmt.Sprintf("%s: zero is %.1f degrees from version %d", c.Joint, d, old.Version))
	}
	return notes
}

// The share of the model's range that a measured one may differ by, and the angle that it may exceed an end, rad.
const (
	rangeShare = 0.15
	rangeOver  = 10 * math.Pi / 180
)

// Doubts are contradictions between a calibration and the robot's model: each a question to a person.
func (j *Joint) Doubts(c *calibration.Joint) (doubts []string) {
	low, high := c.Range()
	want := j.Limits.MaxPosition - j.Limits.MinPosition
	deg := func(v float64) float64 { return v * 180 / math.Pi }
	switch {
	case !(want > 0) || want >= 2*math.Pi:
		return nil // it turns without end
	case high-low < want*(1-rangeShare):
		doubts = append(doubts, fmt.Sprintf("%s: range of %.0f degrees, the model has %.0f: was it moved to both ends?",
			c.Joint, deg(high-low), deg(want)))
	case high-low > want*(1+rangeShare) && high-low > want+rangeOver:
		doubts = append(doubts, fmt.Sprintf("%s: range of %.0f degrees, the model has %.0f: gear or servo differ?",
			c.Joint, deg(high-low), deg(want)))
	case math.Abs((low+high)-(j.Limits.MinPosition+j.Limits.MaxPosition))/2 > rangeOver:
		if math.Abs((low+high)+(j.Limits.MinPosition+j.Limits.MaxPosition))/2 <= rangeOver {
			doubts = append(doubts, fmt.Sprintf(
				"%s: range of %.0f..%.0f degrees, the model has %.0f..%.0f: is the direction right?", c.Joint,
				deg(low), deg(high), deg(j.Limits.MinPosition), deg(j.Limits.MaxPosition)))
			break
		}
		doubts = append(doubts, fmt.Sprintf(
			"%s: range of %.0f..%.0f degrees, the model has %.0f..%.0f: is the zero right?", c.Joint,
			deg(low), deg(high), deg(j.Limits.MinPosition), deg(j.Limits.MaxPosition)))
	}
	return doubts
}

// Export returns the calibrations in dir as the file of another program; lost describes the data that it cannot hold.
func Export(dir, format string) (data []byte, lost []string, err error) {
	if !slices.Contains(Formats, format) {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "calibration export",
			Err: fmt.Errorf("--format: got %q, want one of %s", format, strings.Join(Formats, ", "))}
	}
	if dir == "" {
		return nil, nil, &hal.Error{Kind: hal.Invalid, Op: "calibration export",
			Err: errors.New("got no --dir, want a folder of calibration files"),
			Try: "halyard calibration export --dir calibration"}
	}
	joints, err := calibration.LoadAll(dir)
	if err != nil {
		return nil, nil, err
	}
	switch format {
	case "joint_limits":
		return calibration.ExportJointLimits(joints)
	case "urdf":
		return calibration.ExportURDF(joints)
	}
	return calibration.ExportLeRobot(joints)
}

// fromROS are the calibrations of a file of ROS, on top of those in dir.
func (r *Robot) fromROS(data []byte, dir string, now time.Time) (joints []*calibration.Joint, notes []string,
	err error) {
	parse := calibration.ParseJointLimits
	if strings.HasPrefix(strings.TrimSpace(string(data)), "<") {
		parse = calibration.ParseURDF
	}
	list, err := parse(data)
	if err != nil {
		return nil, nil, err
	}
	var faults []error
	for _, l := range list {
		j := r.Joint(l.Joint)
		if j == nil {
			if l.Moves {
				faults = append(faults, fmt.Errorf("%s: got a joint that the robot does not have, want one of %s",
					l.Joint, strings.Join(r.names(), ", ")))
			}
			continue
		}
		c := j.old(dir)
		if c == nil {
			c = j.nominal()
			c.Torque = calibration.Torque{}
		}
		// What a robot's limits say is no measurement of its servos: a nominal file stays one.
		if c.Date = now; c.Method != calibration.ByNominal {
			c.Method = calibration.ByImport
		}
		more, err := l.Apply(c)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		joints, notes = append(joints, c), append(notes, more...)
	}
	if len(joints) == 0 && len(faults) == 0 {
		faults = append(faults, errors.New("got no joint of the robot"))
	}
	return joints, notes, errors.Join(faults...)
}
