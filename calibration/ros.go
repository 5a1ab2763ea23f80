package calibration

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/halyard-robotics/halyard/internal/yaml"
)

// The calibration data of ROS: ranges in joint_limits.yaml (ros2_control, MoveIt) and in the <limit> of a URDF;
// direction, gear and zero in a URDF's <transmission> (mechanical_reduction, offset: joint = actuator / reduction +
// offset); and the reference edges of <calibration>, which belong to a switch: they are read but not used.

// ROSJoint is the data of a joint in a ROS file. Missing values are NaN.
type ROSJoint struct {
	Joint            string
	Moves            bool    // it is no fixed joint
	Low, High        float64 // rad, or m
	Reduction        float64 // turns of the servo a turn of the joint; below 0 it turns the other way
	Offset           float64 // rad of the joint where the servo is at its centre
	Rising, Falling  float64 // rad; of a switch, only in a URDF's <calibration>
	Velocity, Effort float64 // rad/s, N·m
}

type jointLimitsFile struct {
	JointLimits map[string]limitFile `yaml:"joint_limits" required:"true" form:"label"`

	Velocity     float64 `yaml:"default_velocity_scaling_factor"`
	Acceleration float64 `yaml:"default_acceleration_scaling_factor"`
}

// limitFile is one joint of a joint_limits.yaml; all the keys of ros2_control's joint_limits package.
type limitFile struct {
	HasPosition     bool    `yaml:"has_position_limits"`
	Min             float64 `yaml:"min_position" min:"-1e6" max:"1e6"`
	Max             float64 `yaml:"max_position" min:"-1e6" max:"1e6"`
	HasVelocity     bool    `yaml:"has_velocity_limits"`
	Velocity        float64 `yaml:"max_velocity" min:"0" max:"1e6"`
	HasAcceleration bool    `yaml:"has_acceleration_limits"`
	Acceleration    float64 `yaml:"max_acceleration" min:"0" max:"1e9"`
	HasDeceleration bool    `yaml:"has_deceleration_limits"`
	Deceleration    float64 `yaml:"max_deceleration" min:"0" max:"1e9"`
	HasJerk         bool    `yaml:"has_jerk_limits"`
	Jerk            float64 `yaml:"max_jerk" min:"0" max:"1e12"`
	HasEffort       bool    `yaml:"has_effort_limits"`
	Effort          float64 `yaml:"max_effort" min:"0" max:"1e6"`
	Wraparound      bool    `yaml:"angle_wraparound"`
	HasSoft         bool    `yaml:"has_soft_limits"`
	KPosition       float64 `yaml:"k_position"`
	KVelocity       float64 `yaml:"k_velocity"`
	SoftLow         float64 `yaml:"soft_lower_limit"`
	SoftHigh        float64 `yaml:"soft_upper_limit"`
}

// ParseJointLimits reads a joint_limits.yaml, its joints by name. All faults are returned together.
func ParseJointLimits(data []byte) (joints []ROSJoint, err error) {
	var f jointLimitsFile
	d := decode(data, "", &f)
	nan := math.NaN()
	for name, l := range f.JointLimits {
		j := ROSJoint{name, true, nan, nan, nan, nan, nan, nan, nan, nan}
		if l.HasPosition {
			j.Low, j.High = l.Min, l.Max
			if !(l.Min < l.Max) {
				d.Add(yaml.Path("joint_limits").Key(name), fmt.Sprintf("%g..%g", l.Min, l.Max),
					"min_position below max_position", "")
			}
		}
		if l.HasVelocity {
			j.Velocity = l.Velocity
		}
		if l.HasEffort {
			j.Effort = l.Effort
		}
		joints = append(joints, j)
	}
	slices.SortFunc(joints, func(a, b ROSJoint) int { return cmp.Compare(a.Joint, b.Joint) })
	return yaml.Valid(d, joints)
}

type urdfFile struct {
	XMLName xml.Name `xml:"robot"`
	Joints  []struct {
		Name        string      `xml:"name,attr"`
		Type        string      `xml:"type,attr"`
		Limit       *urdfNumber `xml:"limit"`
		Calibration *urdfNumber `xml:"calibration"`
	} `xml:"joint"`
	Transmissions []struct {
		Joints []struct {
			Name      string   `xml:"name,attr"`
			Reduction *float64 `xml:"mechanicalReduction"`
			Control   *float64 `xml:"mechanical_reduction"`
			Offset    *float64 `xml:"offset"`
		} `xml:"joint"`
		Actuators []struct {
			Reduction *float64 `xml:"mechanicalReduction"`
			Control   *float64 `xml:"mechanical_reduction"`
		} `xml:"actuator"`
	} `xml:"transmission"`
}

type urdfNumber struct {
	Lower, Upper, Effort, Velocity, Rising, Falling *float64
}

func (n *urdfNumber) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	for _, a := range start.Attr {
		to := map[string]**float64{"lower": &n.Lower, "upper": &n.Upper, "effort": &n.Effort, "velocity": &n.Velocity,
			"rising": &n.Rising, "falling": &n.Falling}[a.Name.Local]
		if to == nil {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(a.Value), 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > 1e6 {
			return fmt.Errorf("%s %s: got %q, want a number", start.Name.Local, a.Name.Local, a.Value)
		}
		*to = &v
	}
	return d.Skip()
}

// ParseURDF reads the joints of a URDF, in their order, with their transmissions of one joint and one actuator.
func ParseURDF(data []byte) (joints []ROSJoint, err error) {
	if len(data) > yaml.MaxBytes {
		return nil, fmt.Errorf("got %d bytes, want at most %d", len(data), yaml.MaxBytes)
	}
	var f urdfFile
	d := xml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("urdf: %w", err)
	}
	if t, err := d.Token(); !errors.Is(err, io.EOF) && (err != nil || t != nil) {
		if text, ok := t.(xml.CharData); err != nil || !ok || len(bytes.TrimSpace(text)) > 0 {
			return nil, errors.New("urdf: something follows the robot")
		}
	}
	value := func(p *float64) float64 {
		if p == nil {
			return math.NaN()
		}
		return *p
	}
	at := map[string]int{}
	for _, j := range f.Joints {
		if _, twice := at[j.Name]; twice || j.Name == "" {
			return nil, fmt.Errorf("urdf: got joint %q twice or without a name", j.Name)
		}
		at[j.Name] = len(joints)
		limit, edges := cmp.Or(j.Limit, &urdfNumber{}), cmp.Or(j.Calibration, &urdfNumber{})
		n := ROSJoint{Joint: j.Name, Moves: j.Type != "fixed", Low: value(limit.Lower), High: value(limit.Upper),
			Velocity: value(limit.Velocity), Effort: value(limit.Effort), Rising: value(edges.Rising),
			Falling: value(edges.Falling), Reduction: math.NaN(), Offset: math.NaN()}
		if n.Low >= n.High && j.Type == "revolute" {
			return nil, fmt.Errorf("urdf: %s: limit: got %g..%g, want lower below upper", j.Name, n.Low, n.High)
		}
		if j.Type == "continuous" {
			n.Low, n.High = math.NaN(), math.NaN()
		}
		joints = append(joints, n)
	}
	for _, t := range f.Transmissions {
		if len(t.Joints) != 1 || len(t.Actuators) > 1 {
			continue // a differential is no calibration of one joint
		}
		i, ok := at[t.Joints[0].Name]
		if !ok {
			return nil, fmt.Errorf("urdf: transmission: got joint %q, which the file does not have", t.Joints[0].Name)
		}
		joints[i].Offset = value(t.Joints[0].Offset)
		ratio := cmp.Or(t.Joints[0].Control, t.Joints[0].Reduction)
		if len(t.Actuators) == 1 {
			ratio = cmp.Or(ratio, t.Actuators[0].Control, t.Actuators[0].Reduction)
		}
		if ratio != nil && !(math.Abs(*ratio) >= 1e-4 && math.Abs(*ratio) <= 1e4) {
			return nil, fmt.Errorf("urdf: %s: mechanical reduction: got %g, want 0.0001 to 10000 or minus that",
				joints[i].Joint, *ratio)
		}
		joints[i].Reduction = value(ratio)
	}
	if len(joints) == 0 {
		return nil, errors.New("urdf: file has no joints")
	}
	return joints, nil
}

// Apply sets the values of the file in c and does not change the others; notes list data that a calibration cannot
// hold. A range or a zero outside the bounds of a calibration is an error.
func (r *ROSJoint) Apply(c *Joint) (notes []string, err error) {
	c.Source = Source{}
	known := func(v float64) bool { return !math.IsNaN(v) }
	if known(r.Reduction) || known(r.Offset) {
		centre := c.Ticks(0)
		if len(c.Table) > 0 {
			notes = append(notes, r.Joint+
				": the angle table of the old calibration is dropped, since the gear or the offset is new")
			c.Table = nil
		}
		if known(r.Reduction) {
			c.Gear, c.Direction = math.Abs(r.Reduction), int(math.Copysign(1, r.Reduction))
		}
		if known(r.Offset) {
			// ROS counts the servo's angle from its centre, the middle of its turn.
			centre = c.TicksPerTurn/2 - r.Offset/c.slope()
		}
		c.ZeroTicks = centre
	}
	if known(r.Low) && known(r.High) {
		a, b := c.Ticks(r.Low), c.Ticks(r.High)
		c.RangeTicks = [2]float64{min(a, b), max(a, b)}
	}
	for _, lost := range []struct {
		name string
		v    float64
	}{{"velocity limit", r.Velocity}, {"effort limit", r.Effort}, {"rising edge", r.Rising},
		{"falling edge", r.Falling}} {
		if known(lost.v) {
			notes = append(notes, fmt.Sprintf("%s: %s %g is no part of a calibration, and left", r.Joint, lost.name,
				lost.v))
		}
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Joint, err)
	}
	return notes, nil
}

// ExportJointLimits writes the ranges of joints as a joint_limits.yaml of ROS.
func ExportJointLimits(joints []*Joint) (data []byte, lost []string, err error) {
	b := bytes.NewBufferString("joint_limits:\n")
	for _, j := range joints {
		low, high := j.Range()
		fmt.Fprintf(b, "  %q:\n    has_position_limits: true\n    min_position: %s\n    max_position: %s\n", j.Joint,
			plain(low), plain(high))
		lost = append(lost, j.Joint+": zero, direction, gear, servo, table and torque")
	}
	return b.Bytes(), lost, nil
}

// ExportURDF writes joints as the <joint> and <transmission> elements of a URDF, to be merged into the robot's own.
func ExportURDF(joints []*Joint) (data []byte, lost []string, err error) {
	b := bytes.NewBufferString("<?xml version=\"1.0\"?>\n<robot name=\"calibration\">\n")
	text := func(s string) string {
		var t bytes.Buffer
		xml.EscapeText(&t, []byte(s))
		return t.String()
	}
	for _, j := range joints {
		low, high := j.Range()
		name := text(j.Joint)
		offset := (j.TicksPerTurn/2 - j.ZeroTicks) * j.slope()
		fmt.Fprintf(b, "  <joint name=\"%s\" type=\"revolute\">\n    <limit lower=\"%s\" upper=\"%s\"/>\n  </joint>\n",
			name, plain(low), plain(high))
		fmt.Fprintf(b, "  <transmission name=\"%s_transmission\">\n    <joint name=\"%s\" role=\"joint1\">\n      "+
			"<mechanical_reduction>%s</mechanical_reduction>\n      <offset>%s</offset>\n    </joint>\n    "+
			"<actuator name=\"%s_servo\" role=\"actuator1\"/>\n  </transmission>\n",
			name, name, plain(float64(j.Direction)*j.Gear), plain(offset), name)
		lost = append(lost, j.Joint+": servo, table and torque")
	}
	b.WriteString("</robot>\n")
	return b.Bytes(), lost, nil
}
