package gamebots

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// The messages of mission packages and whole robots in the dialect of 2007 and after.

// links is one package, link by link from 1: the parts that move.
func (k *link) links(t *text, head string, p *Package) {
	t.segment("Name", p.Name)
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
			if !ok {
				parent = -1 // the vehicle
			}
			t.integerSegment("ParentLink", parent)
			t.vectorSegment("Location", flip(part.Pose.Position), fine)
			t.vectorSegment("Orientation", angles(part.Pose.Rotation), fine)
			continue
		}
		a := &k.layout.Actuators[k.robot.Joints[part.Joint].Actuator]
		kind, low, high := k.stops(part.Joint)
		t.segment("JointType", kind)
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
	for _, side := range [...][]int{k.robot.Left, k.robot.Right} {
		for _, i := range side {
			l := &k.layout.Actuators[k.robot.Joints[i].Actuator].Limits
			speed, torque = math.Max(speed, l.MaxVelocity), math.Max(torque, l.MaxTorque)
		}
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
	whole := *c.message
	defer func() { c.message.Pairs = whole.Pairs }()
	for i := range whole.Pairs {
		if !equal(whole.Pairs[i].Name, "Link") {
			continue
		}
		last := i + 1
		for last < len(whole.Pairs) && !equal(whole.Pairs[last].Name, "Link") {
			last++
		}
		c.message.Pairs = whole.Pairs[i:last]
		n, value, order := c.Number("Link", 0), c.Number("Value", 0), c.order("Order")
		if c.err != nil {
			return c.err
		}
		if n != math.Floor(n) || n < 1 || n > float64(len(moving)) {
			return fmt.Errorf("link %g: %w", n, errAbsent)
		}
		if err := c.drive(moving[int(n)-1], order, value); err != nil {
			return err
		}
	}
	return nil
}
