package rosbridge

import (
	"math"
	"reflect"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// The message types, field by field as common_interfaces has them; ROS 1's are the same but for seq.
type (
	header struct {
		Seq     uint32 `field:",ros1"`
		Stamp   fields.Time
		FrameID string
	}
	vector3    struct{ X, Y, Z float64 }
	point      vector3
	quaternion struct{ X, Y, Z, W float64 }
	pose       struct {
		Position    point
		Orientation quaternion
	}
	poseWithCovariance struct {
		Pose       pose
		Covariance [36]float64
	}
	twist               struct{ Linear, Angular vector3 }
	twistWithCovariance struct {
		Twist      twist
		Covariance [36]float64
	}
	transform struct {
		Translation vector3
		Rotation    quaternion
	}
	transformStamped struct {
		Header       header
		ChildFrameID string
		Transform    transform
	}
	tfMessage  struct{ Transforms []transformStamped }
	jointState struct {
		Header                     header
		Name                       []string
		Position, Velocity, Effort []float64
	}
	odometry struct {
		Header       header
		ChildFrameID string
		Pose         poseWithCovariance
		Twist        twistWithCovariance
	}
	imu struct {
		Header                       header
		Orientation                  quaternion
		OrientationCovariance        [9]float64
		AngularVelocity              vector3
		AngularVelocityCovariance    [9]float64
		LinearAcceleration           vector3
		LinearAccelerationCovariance [9]float64
	}
	laserScan struct {
		Header                             header
		AngleMin, AngleMax, AngleIncrement float32
		TimeIncrement, ScanTime            float32
		RangeMin, RangeMax                 float32
		Ranges, Intensities                []float32
	}
	rangeReading struct {
		Header                                 header
		RadiationType                          uint8
		FieldOfView, MinRange, MaxRange, Range float32
	}
	compressedImage struct {
		Header header
		Format string
		Data   []byte
	}
	keyValue         struct{ Key, Value string }
	diagnosticStatus struct {
		Level                     uint8
		Name, Message, HardwareID string
		Values                    []keyValue
	}
	diagnosticArray struct {
		Header header
		Status []diagnosticStatus
	}
	clock struct{ Clock fields.Time }
)

func (header) TypeName() string              { return "std_msgs/Header" }
func (vector3) TypeName() string             { return "geometry_msgs/Vector3" }
func (point) TypeName() string               { return "geometry_msgs/Point" }
func (quaternion) TypeName() string          { return "geometry_msgs/Quaternion" }
func (pose) TypeName() string                { return "geometry_msgs/Pose" }
func (poseWithCovariance) TypeName() string  { return "geometry_msgs/PoseWithCovariance" }
func (twist) TypeName() string               { return "geometry_msgs/Twist" }
func (twistWithCovariance) TypeName() string { return "geometry_msgs/TwistWithCovariance" }
func (transform) TypeName() string           { return "geometry_msgs/Transform" }
func (transformStamped) TypeName() string    { return "geometry_msgs/TransformStamped" }
func (tfMessage) TypeName() string           { return "tf2_msgs/TFMessage" }
func (jointState) TypeName() string          { return "sensor_msgs/JointState" }
func (odometry) TypeName() string            { return "nav_msgs/Odometry" }
func (imu) TypeName() string                 { return "sensor_msgs/Imu" }
func (laserScan) TypeName() string           { return "sensor_msgs/LaserScan" }
func (rangeReading) TypeName() string        { return "sensor_msgs/Range" }
func (compressedImage) TypeName() string     { return "sensor_msgs/CompressedImage" }
func (keyValue) TypeName() string            { return "diagnostic_msgs/KeyValue" }
func (diagnosticStatus) TypeName() string    { return "diagnostic_msgs/DiagnosticStatus" }
func (diagnosticArray) TypeName() string     { return "diagnostic_msgs/DiagnosticArray" }
func (clock) TypeName() string               { return "rosgraph_msgs/Clock" }

// Type is the message type of a kind of topic.
func Type(k topics.Kind) fields.Named { return kinds[k] }

// kinds is the message type of each kind of topic.
var kinds = map[topics.Kind]fields.Named{
	topics.Joints: &jointState{}, topics.Transforms: &tfMessage{}, topics.Odometry: &odometry{}, topics.IMU: &imu{},
	topics.Scan: &laserScan{}, topics.Range: &rangeReading{}, topics.Image: &compressedImage{},
	topics.Diagnostics: &diagnosticArray{},
	topics.Clock:       &clock{}, topics.JointCommands: &jointState{}, topics.Twist: &twist{},
}

func vectorOf(v [3]float64) vector3 { return vector3{v[0], v[1], v[2]} }

// quaternionOf turns hal's order, w first, into ROS's.
func quaternionOf(q [4]float64) quaternion { return quaternion{q[1], q[2], q[3], q[0]} }

func headerOf(at time.Duration, frame string) header {
	return header{Stamp: fields.At(at), FrameID: frame}
}

// Message returns the message to a subscriber of a topic, nil if its values are unknown.
func Message(r *topics.Robot, t *topics.Topic, s *topics.Sample) fields.Named {
	l := r.Agent.Layout()
	head := headerOf(s.Time, t.Frame)
	switch t.Kind {
	case topics.Joints:
		m := &jointState{Header: head}
		for i := range l.Actuators {
			p, v, e := s.Joint(i)
			m.Name = append(m.Name, l.Actuators[i].Name)
			m.Position, m.Velocity, m.Effort = append(m.Position, p), append(m.Velocity, v), append(m.Effort, e)
		}
		return m
	case topics.Transforms:
		m := &tfMessage{Transforms: []transformStamped{}}
		for _, k := range s.Transforms() {
			m.Transforms = append(m.Transforms, transformStamped{headerOf(s.Time, k.Parent), k.Child,
				transform{vectorOf(k.Pose.Position), quaternionOf(k.Pose.Rotation)}})
		}
		return m
	case topics.Odometry:
		p, linear, angular, ok := s.Pose()
		if !ok {
			return nil
		}
		return &odometry{Header: head, ChildFrameID: topics.Base,
			Pose:  poseWithCovariance{Pose: pose{point(vectorOf(p.Position)), quaternionOf(p.Rotation)}},
			Twist: twistWithCovariance{Twist: twist{vectorOf(linear), vectorOf(angular)}}}
	case topics.IMU:
		q, rates, acceleration, measures, ok := s.Attitude(t.At)
		if !ok {
			return nil
		}
		m := &imu{Header: head, Orientation: quaternionOf(q), AngularVelocity: vectorOf(rates),
			LinearAcceleration: vectorOf(acceleration)}
		if !measures { // as the message's definition marks what it does not have
			m.AngularVelocityCovariance[0], m.LinearAccelerationCovariance[0] = -1, -1
		}
		return m
	case topics.Scan:
		v, fov, most := s.Of(t.At), r.FOV(t.At), l.Measured(l.Sensors[t.At].First).Max
		m := &laserScan{Header: head, AngleMin: float32(-fov / 2), AngleMax: float32(fov / 2),
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
		m := &rangeReading{Header: head, RadiationType: infrared, MaxRange: float32(l.Measured(sensor.First).Max),
			Range: float32(s.Of(t.At)[0])}
		if sensor.Kind == "sonar" {
			m.RadiationType = ultrasound
		}
		return m
	case topics.Diagnostics:
		m := &diagnosticArray{Header: head}
		for _, d := range s.Diagnose() {
			out := diagnosticStatus{Level: uint8(d.Level), Name: r.Agent.Name() + ": " + d.Name, Message: d.Message,
				HardwareID: r.Agent.Name(), Values: []keyValue{}}
			for _, v := range d.Values {
				out.Values = append(out.Values, keyValue{v[0], v[1]})
			}
			m.Status = append(m.Status, out)
		}
		return m
	case topics.Clock:
		return &clock{fields.At(s.Time)}
	}
	return nil
}

// imageOf is a picture as image_transport's compressed topics have it.
func imageOf(t *topics.Topic, p *topics.Picture) fields.Named {
	format := p.Format
	if format == "png" {
		format = "16UC1; png compressed "
	}
	return &compressedImage{headerOf(p.Time, t.Frame+topics.Optical), format, p.Data}
}

// goals are those of a joint_commands message. Each joint takes one of position, velocity and effort; null commands
// nothing.
func (m *jointState) goals(l *hal.Layout) ([]topics.Goal, error) {
	var goals []topics.Goal
	for _, k := range []struct {
		field  string
		values []float64
	}{{"position", m.Position}, {"velocity", m.Velocity}, {"effort", m.Effort}} {
		if n := len(k.values); n != 0 && n != len(m.Name) {
			return nil, errorf("%s: got %d values, want %d, one for each name", k.field, n, len(m.Name))
		}
	}
	for i, name := range m.Name {
		at := l.Actuator(name)
		if at == hal.None {
			return nil, errorf("name: got %.100q, want a joint of /joint_states", name)
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
	switch command := command.(type) {
	case *jointState:
		goals, err := command.goals(r.Agent.Layout())
		if err != nil {
			return nil, err
		}
		return missing, c.Goals(goals)
	case *twist:
		if command.Linear.Z != 0 || command.Angular.X != 0 || command.Angular.Y != 0 {
			return nil, errorf("got a motion off the floor, want only linear.x, linear.y and angular.z")
		}
		return missing, c.Twist(command.Linear.X, command.Linear.Y, command.Angular.Z)
	}
	return nil, errorf("got a message for %s, which takes none", t.Name)
}
