package foxglove

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// The messages, field by field as Foxglove's schemas have them.
type (
	vector3    struct{ X, Y, Z float64 }
	quaternion struct{ X, Y, Z, W float64 }
	pose       struct {
		Position    vector3
		Orientation quaternion
	}
	jointState struct {
		Name                       string
		Position, Velocity, Effort float64 `field:",known"`
	}
	jointStates struct {
		Timestamp fields.Time
		Joints    []jointState
	}
	frameTransform struct {
		Timestamp                   fields.Time
		ParentFrameID, ChildFrameID string
		Translation                 vector3
		Rotation                    quaternion
	}
	frameTransforms struct{ Transforms []frameTransform }
	odometry        struct {
		Timestamp                       fields.Time
		FrameID, BodyFrameID            string
		Pose                            pose
		LinearVelocity, AngularVelocity vector3
	}
	imu struct {
		Timestamp          fields.Time
		FrameID            string
		Orientation        quaternion
		AngularVelocity    []float64 `field:",known"` // x y z, rad/s
		LinearAcceleration []float64 `field:",known"` // x y z, m/s²
	}
	laserScan struct {
		Timestamp            fields.Time
		FrameID              string
		Pose                 pose
		StartAngle, EndAngle float64
		Ranges, Intensities  []float64
	}
	packedElementField struct {
		Name   string
		Offset uint32
		Type   uint8
	}
	pointCloud struct {
		Timestamp   fields.Time
		FrameID     string
		Pose        pose
		PointStride uint32
		Fields      []packedElementField
		Data        []byte
	}
	rangeReading struct {
		Timestamp fields.Time
		FrameID   string
		Range     float64 // m
		MaxRange  float64
	}
	compressedImage struct {
		Timestamp fields.Time
		FrameID   string
		Data      []byte
		Format    string
	}
	logMessage struct {
		Timestamp           fields.Time
		Level               uint8
		Message, Name, File string
		Line                uint32
	}
	triggerRequest  struct{}
	triggerResponse struct {
		Success bool
		Message string
	}
)

func (vector3) TypeName() string            { return "foxglove.Vector3" }
func (quaternion) TypeName() string         { return "foxglove.Quaternion" }
func (pose) TypeName() string               { return "foxglove.Pose" }
func (jointState) TypeName() string         { return "foxglove.JointState" }
func (jointStates) TypeName() string        { return "foxglove.JointStates" }
func (frameTransform) TypeName() string     { return "foxglove.FrameTransform" }
func (frameTransforms) TypeName() string    { return "foxglove.FrameTransforms" }
func (odometry) TypeName() string           { return "foxglove.Odometry" }
func (imu) TypeName() string                { return "halyard.Imu" }
func (laserScan) TypeName() string          { return "foxglove.LaserScan" }
func (packedElementField) TypeName() string { return "foxglove.PackedElementField" }
func (pointCloud) TypeName() string         { return "foxglove.PointCloud" }
func (rangeReading) TypeName() string       { return "halyard.Range" }
func (compressedImage) TypeName() string    { return "foxglove.CompressedImage" }
func (logMessage) TypeName() string         { return "foxglove.Log" }
func (triggerRequest) TypeName() string     { return "std_srvs/Trigger_Request" }
func (triggerResponse) TypeName() string    { return "std_srvs/Trigger_Response" }

// view is the form in which a channel shows its topic.
type view uint8

const (
	plain  view = iota
	points      // a scan as a cloud
	events      // diagnostics that have changed, as log messages
)

// channel is one of the server's channels: a topic, with its name and schema.
type channel struct {
	id    uint32
	name  string
	topic *topics.Topic
	view  view
	kind  fields.Named
}

// kinds is the message type of each kind of topic; a clock is the protocol's own.
var kinds = map[topics.Kind]fields.Named{
	topics.Joints: jointStates{}, topics.Transforms: frameTransforms{}, topics.Odometry: odometry{}, topics.IMU: imu{},
	topics.Scan:  laserScan{},
	topics.Range: rangeReading{}, topics.Image: compressedImage{},
	topics.Diagnostics: rosmsg.Type(topics.Diagnostics),
}

// channels are a robot's topics as channels.
func channels(all []topics.Topic) (list []channel) {
	add := func(name string, t *topics.Topic, v view, kind fields.Named) {
		list = append(list, channel{uint32(len(list) + 1), name, t, v, kind})
	}
	for i := range all {
		t := &all[i]
		kind := kinds[t.Kind]
		if kind == nil {
			continue
		}
		add(t.Name, t, plain, kind)
		switch t.Kind {
		case topics.Scan:
			add(t.Name+"/points", t, points, pointCloud{})
		case topics.Diagnostics:
			add("/log", t, events, logMessage{})
		}
	}
	return list
}

func vectorOf(v [3]float64) vector3 { return vector3{v[0], v[1], v[2]} }

// quaternionOf turns hal's order, w first, into Foxglove's.
func quaternionOf(q [4]float64) quaternion { return quaternion{q[1], q[2], q[3], q[0]} }

func poseOf(p hal.Pose) pose { return pose{vectorOf(p.Position), quaternionOf(p.Rotation)} }

// unturned is a pose in the sensor's own frame.
var unturned = pose{Orientation: quaternion{W: 1}}

// message returns the message of a channel, nil if all values are unknown.
func message(r *topics.Robot, c *channel, s *topics.Sample) any {
	l, t, at := r.Agent.Layout(), c.topic, fields.At(s.Stamp(c.topic))
	switch t.Kind {
	case topics.Joints:
		m := jointStates{Timestamp: at}
		for i := range l.Actuators {
			p, v, e := s.Joint(i)
			m.Joints = append(m.Joints, jointState{l.Actuators[i].Name, p, v, e})
		}
		return m
	case topics.Transforms:
		m := frameTransforms{Transforms: []frameTransform{}}
		for _, k := range s.Transforms() {
			m.Transforms = append(m.Transforms, frameTransform{at, k.Parent, k.Child, vectorOf(k.Pose.Position),
				quaternionOf(k.Pose.Rotation)})
		}
		return m
	case topics.Odometry:
		if p, linear, angular, ok := s.Pose(); ok {
			return odometry{at, t.Frame, topics.Base, poseOf(p), vectorOf(linear), vectorOf(angular)}
		}
	case topics.IMU:
		q, rates, acceleration, measures, ok := s.Attitude(t.At)
		if !ok {
			return nil
		}
		m := imu{Timestamp: at, FrameID: t.Frame, Orientation: quaternionOf(q)}
		if measures {
			m.AngularVelocity, m.LinearAcceleration = rates[:], acceleration[:]
		}
		return m
	case topics.Scan:
		return scan(r, c, s)
	case topics.Range:
		return rangeReading{at, t.Frame, s.Of(t.At)[0], l.Measured(l.Sensors[t.At].First).Max}
	case topics.Diagnostics:
		return rosmsg.Message(r, t, s)
	}
	return nil
}

// scan is a scan as such, or the points that it hit.
func scan(r *topics.Robot, c *channel, s *topics.Sample) any {
	const float32Type = 7
	l, t, at := r.Agent.Layout(), c.topic, fields.At(s.Stamp(c.topic))
	v, fov, most := s.Of(t.At), r.FOV(t.At), l.Measured(l.Sensors[t.At].First).Max
	if !slices.ContainsFunc(v, func(x float64) bool { return !math.IsNaN(x) }) {
		return nil // all are unknown
	}
	if c.view == plain {
		m := laserScan{at, t.Frame, unturned, -fov / 2, fov / 2, make([]float64, len(v)), []float64{}}
		for i, x := range v {
			if m.Ranges[i] = x; x >= most {
				m.Ranges[i] = math.Inf(1) // no echo within range: null
			}
		}
		return m
	}
	m := pointCloud{at, t.Frame, unturned, 12, []packedElementField{{"x", 0, float32Type}, {"y", 4, float32Type},
		{"z", 8, float32Type}}, []byte{}}
	for i, x := range v {
		if math.IsNaN(x) || x >= most {
			continue
		}
		sin, cos := math.Sincos(-fov/2 + fov*float64(i)/math.Max(1, float64(len(v)-1)))
		for _, p := range [3]float64{x * cos, x * sin, 0} {
			m.Data = binary.LittleEndian.AppendUint32(m.Data, math.Float32bits(float32(p)))
		}
	}
	return m
}

// imageOf is a camera's picture.
func imageOf(t *topics.Topic, p *topics.Picture) any {
	return compressedImage{fields.At(p.Time), t.Frame + topics.Optical, p.Data, p.Format}
}

// logs returns the diagnostics that have changed; last is the previous ones, by name.
func logs(r *topics.Robot, s *topics.Sample, last map[string]string) (all []logMessage) {
	// info, warning, error, warning
	levels := [...]uint8{topics.OK: 2, topics.Warning: 3, topics.Failure: 4, topics.Stale: 3}
	for _, d := range s.Diagnose() {
		if before, have := last[d.Name]; have && before == d.Message || !have && d.Level == topics.OK {
			last[d.Name] = d.Message
			continue
		}
		last[d.Name] = d.Message
		all = append(all, logMessage{Timestamp: fields.At(r.Label(s.Time)), Level: levels[d.Level],
			Message: d.Name + ": " +
				d.Message, Name: r.Agent.Name()})
	}
	return all
}

// goals are those of a client's joint states.
func (m *jointStates) goals(l *hal.Layout, given []map[string]any) ([]topics.Goal, error) {
	var goals []topics.Goal
	for i, j := range m.Joints {
		at := l.Actuator(j.Name)
		if at == hal.None {
			return nil, wrong("joints[%d].name: got %.100q, want a joint of /joint_states", i, j.Name)
		}
		for _, k := range []struct {
			field string
			mode  hal.Mode
			value float64
		}{{"position", hal.PositionMode, j.Position}, {"velocity", hal.VelocityMode, j.Velocity},
			{"effort", hal.TorqueMode, j.Effort}} {
			if given[i][k.field] != nil {
				goals = append(goals, topics.Goal{Actuator: at, Mode: k.mode, Value: k.value})
			}
		}
	}
	return goals, nil
}
