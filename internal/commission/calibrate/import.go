package calibrate

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// Imported are the calibrations that a file of another program makes.
type Imported struct {
	Format   string // "lerobot", "urdf" or "joint_limits"
	Joints   []*calibration.Joint
	Warnings []string
}

// Import reads another program's file for the joints of a config: LeRobot's JSON, the limits of a URDF, or ROS's
// joint_limits.yaml. It writes nothing. A file of another robot, of other ids, or with anything that cannot be believed is
// refused as a whole.
func Import(file string, text []byte, joints []Joint, now time.Time) (*Imported, error) {
	in := &Imported{}
	if len(joints) == 0 {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "calibration import " + file, Err: errors.New("got a config without a joint on a servo, want one at least")}
	}
	var err error
	switch trimmed := bytes.TrimSpace(text); {
	case bytes.HasPrefix(trimmed, []byte("{")) && !bytes.Contains(text, []byte("joint_limits")):
		in.Format, err = "lerobot", in.leRobot(text, joints, now)
	case bytes.HasPrefix(trimmed, []byte("<")):
		in.Format, err = "urdf", in.urdf(text, joints, now)
	case bytes.Contains(text, []byte("joint_limits")):
		in.Format, err = "joint_limits", in.limits(file, text, joints, now)
	default:
		err = errors.New("got neither LeRobot's JSON, nor a URDF, nor ROS's joint_limits")
	}
	if err != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "calibration import " + file, Err: err}
	}
	return in, nil
}

// gripper is what LeRobot calls the joint whose values it gives from 0, closed, to 100, open.
const gripper = "gripper"

// leRobot reads LeRobot's JSON. Its degrees have their zero in the middle of the range; its gripper goes from 0 to 100 between
// the ends, which are those of the robot's model. The offsets stay as they are in the servos.
func (in *Imported) leRobot(text []byte, joints []Joint, now time.Time) error {
	// The first reading tells who is in the file; each joint is then read as its servo counts.
	named, err := calibration.ImportLeRobot(text, calibration.Import{Model: joints[0].Model, Date: now})
	if err != nil {
		return err
	}
	var faults []error
	found := map[string]bool{}
	for _, n := range named {
		j, err := find(joints, n.Joint)
		if err != nil {
			faults = append(faults, fmt.Errorf("joint %s is not of this robot", n.Joint))
			continue
		}
		found[j.Name] = true
		if j.ID != n.Servo.ID {
			faults = append(faults, fmt.Errorf("joint %s: got id %d, the config has %d", n.Joint, n.Servo.ID, j.ID))
			continue
		}
		own, err := calibration.ImportLeRobot(text, calibration.Import{Model: j.Model, Adapter: j.Port, Resolution: int(math.Round(j.Units.TicksPerTurn)), Date: now})
		if err != nil {
			return err
		}
		for _, c := range own {
			if c.Joint == n.Joint {
				c.Joint = j.Name
				in.add(j, c)
			}
		}
	}
	if len(found) == 0 && len(faults) > 0 {
		return errors.Join(append([]error{errors.New("got the file of another robot: none of its joints is in the config")}, faults...)...)
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	for i := range joints {
		if !found[joints[i].Name] {
			in.Warnings = append(in.Warnings, joints[i].Name+": not in the file")
		}
	}
	return nil
}

// add takes a joint in, the gripper by its ends, and warns of a range that the model contradicts.
func (in *Imported) add(j *Joint, c *calibration.Joint) {
	if strings.EqualFold(j.Name, gripper) && j.High > j.Low {
		// Closed is the lower end, whichever way the servo turns. Its scale is the servo's own.
		closed := c.RangeTicks[0]
		if c.Direction < 0 {
			closed = c.RangeTicks[1]
		}
		c.Gear = 1
		c.ZeroTicks = closed - float64(c.Direction)*j.Low*c.TicksPerTurn/(2*math.Pi)
	}
	in.Joints = append(in.Joints, c)
	in.Warnings = append(in.Warnings, Questions(j, c)...)
}

// Questions is what about a calibration the robot's model contradicts.
func Questions(j *Joint, c *calibration.Joint) (list []string) {
	low, high := c.Radians(c.RangeTicks[0]), c.Radians(c.RangeTicks[1])
	if low > high {
		low, high = high, low
	}
	deg := func(v float64) string { return fmt.Sprintf("%.1f", v*180/math.Pi) }
	span, model := high-low, j.High-j.Low
	switch {
	case !(model > 0) || model >= 2*math.Pi-1e-3: // it turns without end
	case span < 0.25*model:
		list = append(list, fmt.Sprintf("%s: a range of %s degrees, the model's joint has %s: was it moved to both ends?", j.Name, deg(span), deg(model)))
	case span > 1.5*model:
		list = append(list, fmt.Sprintf("%s: a range of %s degrees, the model's joint has %s: is the gear right?", j.Name, deg(span), deg(model)))
	case high < j.Low || low > j.High:
		list = append(list, fmt.Sprintf("%s: a range of %s..%s degrees, the model's joint has %s..%s: are zero and direction right?", j.Name, deg(low), deg(high), deg(j.Low), deg(j.High)))
	}
	return list
}

// limited is a joint's present calibration, else the nominal one, with the ends low and high, rad.
func (in *Imported) limited(j *Joint, low, high float64, now time.Time) error {
	if !(low < high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
		return fmt.Errorf("joint %s: got limits %g..%g, want a lower and an upper one", j.Name, low, high)
	}
	c := j.nominal()
	if j.File != "" {
		if have, err := calibration.Load(j.File); err == nil {
			c = have
		} else if hal.KindOf(err) != hal.Uncalibrated {
			return err
		}
	}
	a, b := c.Ticks(low), c.Ticks(high)
	c.RangeTicks = [2]float64{math.Round(math.Min(a, b)), math.Round(math.Max(a, b))}
	c.Method, c.Date = calibration.ByImport, now
	if err := c.Validate(); err != nil {
		return err
	}
	in.Joints = append(in.Joints, c)
	return nil
}

// urdf takes the limits of a URDF's joints: what stands between the joint's zero and its ends is as it was.
func (in *Imported) urdf(text []byte, joints []Joint, now time.Time) error {
	if len(text) > yaml.MaxBytes {
		return fmt.Errorf("got %d bytes, want at most %d", len(text), yaml.MaxBytes)
	}
	var robot struct {
		Joints []struct {
			Name  string `xml:"name,attr"`
			Type  string `xml:"type,attr"`
			Limit *struct {
				Lower float64 `xml:"lower,attr"`
				Upper float64 `xml:"upper,attr"`
			} `xml:"limit"`
			Calibration *struct {
				Rising  *float64 `xml:"rising,attr"`
				Falling *float64 `xml:"falling,attr"`
			} `xml:"calibration"`
		} `xml:"joint"`
	}
	if err := xml.Unmarshal(text, &robot); err != nil {
		return err
	}
	for _, k := range robot.Joints {
		j, err := find(joints, k.Name)
		if err != nil || k.Limit == nil {
			continue // a URDF has joints without servos, and without ends
		}
		if err := in.limited(j, k.Limit.Lower, k.Limit.Upper, now); err != nil {
			return err
		}
		if k.Calibration != nil {
			in.Warnings = append(in.Warnings, k.Name+": a reference edge of <calibration> has no place in a servo's file and is left out")
		}
	}
	return in.some()
}

// limits takes ROS's joint_limits.yaml: min_position and max_position of joints with has_position_limits.
func (in *Imported) limits(file string, text []byte, joints []Joint, now time.Time) error {
	var f limitsFile
	if d, _ := yaml.Decode(text, file, &f); d.Err() != nil {
		return d.Err()
	}
	for i := range joints {
		j := &joints[i]
		k, ok := f.Limits[j.Name]
		if !ok || k.Has != nil && !*k.Has || k.Min == nil || k.Max == nil {
			continue
		}
		if err := in.limited(j, *k.Min, *k.Max, now); err != nil {
			return err
		}
	}
	return in.some()
}

// limitsFile is ROS's joint_limits.yaml, as MoveIt has it.
type limitsFile struct {
	Velocity     float64                `yaml:"default_velocity_scaling_factor"`
	Acceleration float64                `yaml:"default_acceleration_scaling_factor"`
	Limits       map[string]limitFields `yaml:"joint_limits" required:"true"`
}

type limitFields struct {
	Has             *bool    `yaml:"has_position_limits"`
	Min             *float64 `yaml:"min_position" min:"-1000" max:"1000"`
	Max             *float64 `yaml:"max_position" min:"-1000" max:"1000"`
	HasVelocity     bool     `yaml:"has_velocity_limits"`
	MaxVelocity     float64  `yaml:"max_velocity"`
	HasAcceleration bool     `yaml:"has_acceleration_limits"`
	MaxAcceleration float64  `yaml:"max_acceleration"`
	HasJerk         bool     `yaml:"has_jerk_limits"`
	MaxJerk         float64  `yaml:"max_jerk"`
	HasEffort       bool     `yaml:"has_effort_limits"`
	MaxEffort       float64  `yaml:"max_effort"`
	Wraps           bool     `yaml:"angle_wraparound"`
}

func (in *Imported) some() error {
	if len(in.Joints) == 0 {
		return errors.New("got the file of another robot: none of its joints is in the config")
	}
	return nil
}

// Written is one file that was written.
type Written struct {
	Joint string `json:"joint"`
	File  string `json:"file"`
	Kept  string `json:"kept,omitempty"` // where the one before is
}

func (Written) Header() []string  { return []string{"joint", "file", "kept"} }
func (w Written) Cells() []string { return []string{w.Joint, w.File, w.Kept} }

// Write writes all files into dir, which it makes; what is there is kept as a version.
func (in *Imported) Write(dir string) (list []Written, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, c := range in.Joints {
		path := fileIn(dir, c.Joint)
		kept, err := calibration.Save(path, c)
		if err != nil {
			return list, err
		}
		if kept != "" {
			kept = filepath.Base(kept)
		}
		list = append(list, Written{c.Joint, path, kept})
	}
	return list, nil
}
