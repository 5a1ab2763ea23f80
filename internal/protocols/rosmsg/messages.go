// Package rosmsg is the messages of ROS that a robot sends and takes: their types, what they hold of a robot's topics,
// and their hashes. rosbridge writes them as JSON and CBOR, ros2 as CDR, foxglove those that it has no schema for.
package rosmsg

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// The message types, field by field as common_interfaces has them; ROS 1's are the same but for seq.
type (
	Header struct {
		Seq     uint32 `field:",ros1"`
		Stamp   fields.Time
		FrameID string
	}
	Vector3    struct{ X, Y, Z float64 }
	Point      Vector3
	Quaternion struct{ X, Y, Z, W float64 }
	Pose       struct {
		Position    Point
		Orientation Quaternion
	}
	PoseWithCovariance struct {
		Pose       Pose
		Covariance [36]float64
	}
	Twist               struct{ Linear, Angular Vector3 }
	TwistWithCovariance struct {
		Twist      Twist
		Covariance [36]float64
	}
	Transform struct {
		Translation Vector3
		Rotation    Quaternion
	}
	TransformStamped struct {
		Header       Header
		ChildFrameID string
		Transform    Transform
	}
	TFMessage  struct{ Transforms []TransformStamped }
	JointState struct {
		Header                     Header
		Name                       []string
		Position, Velocity, Effort []float64
	}
	Odometry struct {
		Header       Header
		ChildFrameID string
		Pose         PoseWithCovariance
		Twist        TwistWithCovariance
	}
	IMU struct {
		Header                       Header
		Orientation                  Quaternion
		OrientationCovariance        [9]float64
		AngularVelocity              Vector3
		AngularVelocityCovariance    [9]float64
		LinearAcceleration           Vector3
		LinearAccelerationCovariance [9]float64
	}
	LaserScan struct {
		Header                             Header
		AngleMin, AngleMax, AngleIncrement float32
		TimeIncrement, ScanTime            float32
		RangeMin, RangeMax                 float32
		Ranges, Intensities                []float32
	}
	Range struct {
		Header                                 Header
		RadiationType                          uint8
		FieldOfView, MinRange, MaxRange, Range float32
		Variance                               float32 `field:",ros2"` // m², 0: unknown
	}
	CompressedImage struct {
		Header Header
		Format string
		Data   []byte
	}
	KeyValue         struct{ Key, Value string }
	DiagnosticStatus struct {
		Level                     uint8 `ros:"byte"`
		Name, Message, HardwareID string
		Values                    []KeyValue
	}
	DiagnosticArray struct {
		Header Header
		Status []DiagnosticStatus
	}
	Clock struct{ Clock fields.Time }
)

func (Header) TypeName() string              { return "std_msgs/Header" }
func (Vector3) TypeName() string             { return "geometry_msgs/Vector3" }
func (Point) TypeName() string               { return "geometry_msgs/Point" }
func (Quaternion) TypeName() string          { return "geometry_msgs/Quaternion" }
func (Pose) TypeName() string                { return "geometry_msgs/Pose" }
func (PoseWithCovariance) TypeName() string  { return "geometry_msgs/PoseWithCovariance" }
func (Twist) TypeName() string               { return "geometry_msgs/Twist" }
func (TwistWithCovariance) TypeName() string { return "geometry_msgs/TwistWithCovariance" }
func (Transform) TypeName() string           { return "geometry_msgs/Transform" }
func (TransformStamped) TypeName() string    { return "geometry_msgs/TransformStamped" }
func (TFMessage) TypeName() string           { return "tf2_msgs/TFMessage" }
func (JointState) TypeName() string          { return "sensor_msgs/JointState" }
func (Odometry) TypeName() string            { return "nav_msgs/Odometry" }
func (IMU) TypeName() string                 { return "sensor_msgs/Imu" }
func (LaserScan) TypeName() string           { return "sensor_msgs/LaserScan" }
func (Range) TypeName() string               { return "sensor_msgs/Range" }
func (CompressedImage) TypeName() string     { return "sensor_msgs/CompressedImage" }
func (KeyValue) TypeName() string            { return "diagnostic_msgs/KeyValue" }
func (DiagnosticStatus) TypeName() string    { return "diagnostic_msgs/DiagnosticStatus" }
func (DiagnosticArray) TypeName() string     { return "diagnostic_msgs/DiagnosticArray" }
func (Clock) TypeName() string               { return "rosgraph_msgs/Clock" }

// Type is the message type of a kind of topic.
func Type(k topics.Kind) fields.Named { return kinds[k] }

// Types are the message types of all kinds of topics.
func Types() map[topics.Kind]fields.Named { return kinds }

// kinds is the message type of each kind of topic.
var kinds = map[topics.Kind]fields.Named{
	topics.Joints: &JointState{}, topics.Transforms: &TFMessage{}, topics.Odometry: &Odometry{}, topics.IMU: &IMU{},
	topics.Scan: &LaserScan{}, topics.Range: &Range{}, topics.Image: &CompressedImage{},
	topics.Battery: &BatteryState{}, topics.Pressure: &FluidPressure{},
	topics.Diagnostics: &DiagnosticArray{},
	topics.Clock:       &Clock{}, topics.JointCommands: &JointState{}, topics.Twist: &Twist{},
}

func vectorOf(v [3]float64) Vector3 { return Vector3{v[0], v[1], v[2]} }

// quaternionOf turns hal's order, w first, into ROS's.
func quaternionOf(q [4]float64) Quaternion { return Quaternion{q[1], q[2], q[3], q[0]} }

func headerOf(at time.Duration, frame string) Header {
	return Header{Stamp: fields.At(at), FrameID: frame}
}

// Message returns the message to a subscriber of a topic, nil if its values are unknown.
func Message(r *topics.Robot, t *topics.Topic, s *topics.Sample) fields.Named {
	l := r.Agent.Layout()
	stamp := s.Stamp(t)
	head := headerOf(stamp, t.Frame)
	switch t.Kind {
	case topics.Joints:
		m := &JointState{Header: head}
		for i := range l.Actuators {
			p, v, e := s.Joint(i)
			m.Name = append(m.Name, l.Actuators[i].Name)
			m.Position, m.Velocity, m.Effort = append(m.Position, p), append(m.Velocity, v), append(m.Effort, e)
		}
		return m
	case topics.Transforms:
		m := &TFMessage{Transforms: []TransformStamped{}}
		for _, k := range s.Transforms() {
			m.Transforms = append(m.Transforms, transformStamped(k, stamp))
		}
		return m
	case topics.Odometry:
		p, linear, angular, ok := s.Pose()
		if !ok {
			return nil
		}
		return &Odometry{Header: head, ChildFrameID: topics.Base,
			Pose:  PoseWithCovariance{Pose: Pose{Point(vectorOf(p.Position)), quaternionOf(p.Rotation)}},
			Twist: TwistWithCovariance{Twist: Twist{vectorOf(linear), vectorOf(angular)}}}
	case topics.IMU:
		q, rates, acceleration, measures, ok := s.Attitude(t.At)
		if !ok {
			return nil
		}
		m := &IMU{Header: head, Orientation: quaternionOf(q), AngularVelocity: vectorOf(rates),
			LinearAcceleration: vectorOf(acceleration)}
		if !measures { // as the message's definition marks what it does not have
			m.AngularVelocityCovariance[0], m.LinearAccelerationCovariance[0] = -1, -1
		}
		return m
	case topics.Scan:
		v, fov, most := s.Of(t.At), r.FOV(t.At), l.Measured(l.Sensors[t.At].First).Max
		m := &LaserScan{Header: head, AngleMin: float32(-fov / 2), AngleMax: float32(fov / 2),
			AngleIncrement: float32(fov / math.Max(1, float64(len(v)-1))), RangeMax: float32(most),
			Ranges: make([]float32, len(v)), Intensities: []float32{}}
		known := false
		for i := range v {
			m.Ranges[i] = float32(v[i])
			if known = known || !math.IsNaN(v[i]); v[i] >= most {
				m.Ranges[i] = float32(math.Inf(1)) // REP 117: nothing within reach
			}
		}
		if !known {
			return nil
		}
		return m
	case topics.Range:
		const ultrasound, infrared = 0, 1
		sensor := &l.Sensors[t.At]
		m := &Range{Header: head, RadiationType: infrared, MaxRange: float32(l.Measured(sensor.First).Max),
			Range: float32(s.Of(t.At)[0])}
		if sensor.Kind == "sonar" {
			m.RadiationType = ultrasound
		}
		return m
	case topics.Battery, topics.Pressure:
		return supplyOf(t, head, s.Of(t.At)[0])
	case topics.Diagnostics:
		m := &DiagnosticArray{Header: head}
		for _, d := range s.Diagnose() {
			out := DiagnosticStatus{Level: uint8(d.Level), Name: r.Agent.Name() + ": " + d.Name, Message: d.Message,
				HardwareID: r.Agent.Name(), Values: []KeyValue{}}
			for _, v := range d.Values {
				out.Values = append(out.Values, KeyValue{v[0], v[1]})
			}
			m.Status = append(m.Status, out)
		}
		return m
	case topics.Clock:
		return &Clock{fields.At(stamp)}
	}
	return nil
}

// ImageOf is a picture as image_transport's compressed topics have it.
func ImageOf(t *topics.Topic, p *topics.Picture) fields.Named {
	format := p.Format
	if format == "png" {
		format = "16UC1; png compressed "
	}
	return &CompressedImage{headerOf(p.Time, t.Frame+topics.Optical), format, p.Data}
}

// Goals are those of a joint_commands message. Each joint takes one of position, velocity and effort; null commands
// nothing.
func (m *JointState) Goals(l *hal.Layout) ([]topics.Goal, error) {
	var goals []topics.Goal
	for _, k := range []struct {
		field  string
		values []float64
	}{{"position", m.Position}, {"velocity", m.Velocity}, {"effort", m.Effort}} {
		if n := len(k.values); n != 0 && n != len(m.Name) {
			return nil, fmt.Errorf("%s: got %d values, want %d, one for each name", k.field, n, len(m.Name))
		}
	}
	for i, name := range m.Name {
		at := l.Actuator(name)
		if at == hal.None {
			return nil, fmt.Errorf("name: got %.100q, want a joint of /joint_states", name)
		}
		for mode, values := range [...][]float64{hal.PositionMode: m.Position, hal.VelocityMode: m.Velocity,
			hal.TorqueMode: m.Effort} {
			if len(values) > 0 && !math.IsNaN(values[i]) {
				goals = append(goals, topics.Goal{Actuator: at, Mode: hal.Mode(mode), Value: values[i]})
			}
		}
	}
	return goals, nil
}

// Command does what a client publishes on a topic that takes commands: in is the parsed JSON of the ROS message that
// the topic has. missing are its fields that in leaves out. now is the rig's time.
func Command(c *topics.Commander, r *topics.Robot, t *topics.Topic, in any, now time.Duration) (missing []string,
	err error) {
	command := reflect.New(reflect.TypeOf(kinds[t.Kind]).Elem()).Interface().(fields.Named)
	if missing, err = fields.Decode(in, command, fields.ROS2, fields.At(now)); err != nil {
		// a client of ROS 1 may fill in seq
		var again error
		if missing, again = fields.Decode(in, command, fields.ROS1, fields.At(now)); again != nil {
			return nil, err
		}
	}
	return missing, Apply(c, r, command)
}
