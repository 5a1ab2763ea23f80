package rosmsg

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// Static is the frames that do not move: where sensors and cameras are mounted.
func Static(s *topics.Sample) *TFMessage {
	return transformsOf(s, s.Stamp(&topics.Topic{Kind: topics.Clock}), true)
}

// Moving is the frames that Static leaves out; nil if there are none.
func Moving(s *topics.Sample, t *topics.Topic) fields.Named {
	if m := transformsOf(s, s.Stamp(t), false); len(m.Transforms) > 0 {
		return m
	}
	return nil
}

func transformsOf(s *topics.Sample, stamp time.Duration, static bool) *TFMessage {
	m := &TFMessage{}
	for _, k := range s.Transforms() {
		if k.Static == static {
			m.Transforms = append(m.Transforms, transformStamped(k, stamp))
		}
	}
	return m
}

func transformStamped(k topics.Transform, stamp time.Duration) TransformStamped {
	return TransformStamped{headerOf(stamp, k.Parent), k.Child, Transform{vectorOf(k.Pose.Position),
		quaternionOf(k.Pose.Rotation)}}
}

// RawImage is a picture as it is: rgb8, or 32FC1 of a depth camera, m. nil where it has no pixels.
func RawImage(t *topics.Topic, p *hal.Picture, stamp time.Duration) *Image {
	m := &Image{Header: headerOf(stamp, t.Frame+topics.Optical), Height: uint32(p.Height), Width: uint32(p.Width)}
	switch n := p.Width * p.Height; {
	case p.RGB != nil && len(p.RGB) >= 3*n:
		m.Encoding, m.Step, m.Data = "rgb8", uint32(3*p.Width), p.RGB[:3*n]
	case p.Depth != nil && len(p.Depth) >= n:
		m.Encoding, m.Step, m.Data = "32FC1", uint32(4*p.Width), make([]byte, 0, 4*n)
		for _, d := range p.Depth[:n] {
			m.Data = binary.LittleEndian.AppendUint32(m.Data, math.Float32bits(d))
		}
	default:
		return nil
	}
	return m
}

// CameraInfoOf is the camera of a picture: a pinhole without distortion, of its field of view.
func CameraInfoOf(r *topics.Robot, t *topics.Topic, p *hal.Picture, stamp time.Duration) *CameraInfo {
	f := float64(p.Width) / 2 / math.Tan(r.Agent.Layout().Cameras[t.At].FieldOfView/2)
	x, y := float64(p.Width)/2, float64(p.Height)/2
	return &CameraInfo{Header: headerOf(stamp, t.Frame+topics.Optical), Height: uint32(p.Height),
		Width: uint32(p.Width), DistortionModel: "plumb_bob", D: make([]float64, 5),
		K: [9]float64{f, 0, x, 0, f, y, 0, 0, 1}, R: [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1},
		P: [12]float64{f, 0, x, 0, 0, f, y, 0, 0, 0, 1, 0}}
}

// supplyOf is a supply's voltage, V, or a pressure, here above that of the air at sea level, Pa; nil if unknown.
func supplyOf(t *topics.Topic, head Header, v float64) fields.Named {
	nan := float32(math.NaN())
	switch {
	case math.IsNaN(v):
		return nil
	case t.Kind == topics.Pressure:
		return &FluidPressure{Header: head, FluidPressure: v}
	}
	return &BatteryState{Header: head, Voltage: float32(v), Temperature: nan, Current: nan, Charge: nan, Capacity: nan,
		DesignCapacity: nan, Percentage: nan, Present: true, Location: t.Frame}
}

// Apply does what a client's message commands.
func Apply(c *topics.Commander, r *topics.Robot, command fields.Named) error {
	switch command := command.(type) {
	case *JointState:
		goals, err := command.Goals(r.Agent.Layout())
		if err != nil {
			return err
		}
		return c.Goals(goals)
	case *Twist:
		if command.Linear.Z != 0 || command.Angular.X != 0 || command.Angular.Y != 0 {
			return fmt.Errorf("got a motion off the floor, want only linear.x, linear.y and angular.z")
		}
		return c.Twist(command.Linear.X, command.Linear.Y, command.Angular.Z)
	}
	return fmt.Errorf("got a %s, which commands nothing", command.TypeName())
}

// Goal is the goal that a message of an action is about.
func (m *FollowSend) Goal() ID  { return m.GoalID }
func (m *FollowAsk) Goal() ID   { return m.GoalID }
func (m *GripperSend) Goal() ID { return m.GoalID }
func (m *GripperAsk) Goal() ID  { return m.GoalID }
