package gamebots

import (
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// The messages of mission packages and whole robots in the dialect of 2007 and after.

// links is one package, link by link from 1: the parts that move. actuator selects the form of UDK.
func (k *link) links(t *text, head string, p *Package, actuator bool) {
	if actuator && head == "GEO" {
		k.udkPlace(t, &item{name: p.Name, mount: p.Mount, pose: p.Pose})
	} else {
		t.segment("Name", p.Name)
	}
	number := make(map[string]int, len(p.Parts))
	n := 0
	for i := range p.Parts {
		part := &p.Parts[i]
		if part.Joint == hal.None {
			continue
		}
		n++
		number[part.Name] = n
		t.integerSegment("Link", n)
		if head == "GEO" {
			parent, ok := number[part.Parent]
			switch {
			case actuator:
				t.integerSegment("Parent", parent) // 0 = the base
			case !ok:
				t.integerSegment("ParentLink", -1) // the vehicle
			default:
				t.integerSegment("ParentLink", parent)
			}
			t.vectorSegment("Location", flip(part.Pose.Position), fine)
			t.vectorSegment("Orientation", angles(part.Pose.Rotation), fine)
			continue
		}
		a := &k.layout.Actuators[k.robot.Joints[part.Joint].Actuator]
		kind, low, high := k.stops(part.Joint)
		t.segment("JointType", kind)
		if actuator {
			t.numberSegment("MaxTorque", a.Limits.MaxTorque, fine)
			t.numberSegment("MinValue", low, fine)
			t.numberSegment("MaxValue", high, fine)
			continue
		}
		t.numberSegment("MaxSpeed", a.Limits.MaxVelocity, coarse)
		t.numberSegment("MaxTorque", a.Limits.MaxTorque, coarse)
		t.numberSegment("MinRange", low, coarse)
		t.numberSegment("MaxRange", high, coarse)
	}
}

// stops is the type of a joint and the ends of its way on the wire.
func (k *link) stops(joint int) (kind string, low, high float64) {
	j := &k.robot.Joints[joint]
	a := &k.layout.Actuators[j.Actuator]
	if kind = "Revolute"; a.Kind == hal.Slide {
		kind = "Prismatic"
	}
	switch low, high = a.Limits.MinPosition, a.Limits.MaxPosition; {
	case a.Wraps: // the original's code for a joint without stops
		return kind, 1, 0
	case j.Reversed:
		return kind, 0 - high, 0 - low
	}
	return kind, low, high
}

// whole is the robot itself: GETGEO and GETCONF {Type Robot}.
func (k *link) whole(t *text, head string) {
	s := &k.robot.Size
	t.begin(head)
	t.segment("Type", "GroundVehicle")
	t.segment("Name", orNone(one(k.robot.Class)))
	if head == "GEO" {
		t.vectorSegment("Dimensions", s.Dimensions, fine)
		t.vectorSegment("COG", flip(s.Centre), fine)
		t.numberSegment("WheelRadius", s.WheelRadius, fine)
		t.numberSegment("WheelSeparation", s.Separation, fine)
		t.numberSegment("WheelBase", s.WheelBase, fine)
		t.end()
		return
	}
	speed, torque := 0.0, 0.0
	for _, i := range slices.Concat(k.robot.Left, k.robot.Right) {
		l := &k.layout.Actuators[k.robot.Joints[i].Actuator].Limits
		speed, torque = math.Max(speed, l.MaxVelocity), math.Max(torque, l.MaxTorque)
	}
	t.segment("SteeringType", s.Steering)
	t.numberSegment("Mass", s.Mass, fine)
	t.numberSegment("MaxSpeed", speed, fine)
	t.numberSegment("MaxTorque", torque, fine)
	t.numberSegment("MaxFrontSteer", s.MaxFrontSteer, fine)
	t.numberSegment("MaxRearSteer", s.MaxRearSteer, fine)
	t.end()
}

// eachLink handles {Link i} {Value v} {Order o} ...: links count the parts that move, from 1.
func (c *Control) eachLink(p *Package) error {
	var moving []int
	for i := range p.Parts {
		if j := p.Parts[i].Joint; j != hal.None {
			moving = append(moving, j)
		}
	}
	return c.eachCalled("Link", func([]byte) error {
		n, value, order := c.Number("Link", 0), c.Number("Value", 0), c.order("Order")
		if c.err != nil {
			return c.err
		}
		if n != math.Floor(n) || n < 1 || n > float64(len(moving)) {
			return fmt.Errorf("link %g: %w", n, errAbsent)
		}
		return c.drive(moving[int(n)-1], order, value)
	})
}
