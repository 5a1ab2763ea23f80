package model

import (
	"maps"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// moving reads the joints that move: first those with motors, then those that follow them.
func (b *urdfBuilder) moving() {
	for i := range b.f.Joints {
		j := &b.f.Joints[i]
		switch j.Type {
		case "revolute", "continuous", "prismatic":
			if l := b.linkage(j); j.Mimic != nil || j.Type == "continuous" && j.Limit == nil && b.o.Servos[j.Name] == "" {
				b.r.Passive = append(b.r.Passive, Passive{Name: j.Name, Linkage: l})
			} else {
				b.drive(j, l)
			}
		case "fixed", "floating":
		default:
			b.faults.add(jointPath(j.Name)+".type", "got %q, want revolute, continuous, prismatic, fixed or floating", j.Type)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.o.Servos)) {
		if b.r.Joint(name) == hal.None {
			b.faults.add(jointPath(name), "got a servo for it, want a joint that moves")
		}
	}
	for i := range b.r.Passive {
		p := &b.r.Passive[i]
		if b.f.Joints[b.joints[p.Name]].Mimic != nil {
			p.Mimic = b.mimic(p.Name)
		}
	}
}

// linkage reads the common part of every moving joint.
func (b *urdfBuilder) linkage(j *urdfJoint) Linkage {
	path := jointPath(j.Name)
	// A joint's frame is its child's, at 0; its axis goes through the origin.
	child := b.links[j.Child.Link]
	l := Linkage{Parent: b.body[b.links[j.Parent.Link]], Child: b.body[child], Anchor: b.pose[child].Position, Sign: 1}
	axis := vec{1, 0, 0}
	if j.Axis != nil {
		axis = b.faults.reals(path+".axis", j.Axis.XYZ, axis)
	}
	if a, ok := unit(axis); ok {
		m := matrix(b.pose[child].Rotation)
		l.Axis, _ = unit(m.times(a))
	} else {
		b.faults.add(path+".axis", "got %v, want a direction", axis)
	}
	if j.Type == "prismatic" {
		l.Kind = Slide
	}
	// Both are 0 where they are left out, as in Gazebo.
	if d := j.Dynamics; d != nil {
		l.Damping = b.faults.real(path+".dynamics.damping", d.Damping, 0)
		l.Friction = b.faults.real(path+".dynamics.friction", d.Friction, 0)
		b.faults.Within(path+".dynamics.damping", l.Damping, 0, maxForce)
		b.faults.Within(path+".dynamics.friction", l.Friction, 0, maxForce)
	}
	if j.Type != "continuous" {
		if j.Limit == nil {
			b.faults.add(path+".limit", "missing, want it for a %s joint", j.Type)
			return l
		}
		l.Stops[0] = b.faults.real(path+".limit.lower", j.Limit.Lower, 0)
		l.Stops[1] = b.faults.real(path+".limit.upper", j.Limit.Upper, 0)
		if !(l.Stops[0] < l.Stops[1] && l.Stops[0] >= -maxLength && l.Stops[1] <= maxLength) {
			b.faults.add(path+".limit", "got %g..%g, want rising", l.Stops[0], l.Stops[1])
		}
	}
	return l
}

// drive makes a motor's joint.
func (b *urdfBuilder) drive(j *urdfJoint, l Linkage) {
	path := jointPath(j.Name)
	out := Joint{Name: j.Name, Linkage: l, Partner: len(b.r.Joints), Limits: l.Stops, Strength: 1, Source: "URDF"}
	if j.Type == "continuous" {
		out.Wraps, out.Limits = true, [2]float64{-math.Pi, math.Pi}
	}
	out.Range = out.Limits
	// The zero pose where the limits allow it, else the end nearest to it.
	out.Default = math.Max(out.Limits[0], math.Min(out.Limits[1], 0))
	out.Start = out.Default
	if name := b.o.Servos[j.Name]; name != "" {
		spec, ok := actuator.Lookup(name)
		if !ok || l.Kind == Slide {
			b.faults.add(path, "got servo %q, want one that is known, for a joint that turns", name)
			return
		}
		out.Servo, out.Modes = spec, spec.Modes
		if low, high := spec.Range(); !out.Wraps && (out.Limits[0] < low-0.01 || out.Limits[1] > high+0.01) {
			b.faults.add(path+".limit", "got %g..%g, want within %g..%g of servo %s", out.Limits[0], out.Limits[1], low, high, name)
		}
	} else if j.Limit == nil {
		return // reported already
	} else {
		m := &Motor{Name: "ideal", Kind: Ideal, Source: "URDF"}
		m.MaxTorque = b.faults.real(path+".limit.effort", j.Limit.Effort, math.NaN())
		m.MaxVelocity = b.faults.real(path+".limit.velocity", j.Limit.Velocity, math.NaN())
		b.faults.positive(path+".limit.effort", m.MaxTorque, maxForce)
		b.faults.positive(path+".limit.velocity", m.MaxVelocity, maxForce)
		out.Motor = m
		out.Modes = [hal.NumModes]bool{hal.PositionMode: true, hal.VelocityMode: true, hal.TorqueMode: true}
	}
	b.r.Joints = append(b.r.Joints, out)
}

// mimic follows a joint that mimics another to the motor at the end of the chain.
func (b *urdfBuilder) mimic(name string) *Mimic {
	m := &Mimic{Joint: hal.None, Times: 1}
	path := jointPath(name) + ".mimic"
	at := name
	for range len(b.f.Joints) + 1 {
		i, ok := b.joints[at]
		if !ok {
			b.faults.add(path+".joint", "got %q, want the name of a joint", at)
			return m
		}
		step := b.f.Joints[i].Mimic
		if step == nil {
			if m.Joint = b.r.Joint(at); m.Joint == hal.None {
				b.faults.add(path+".joint", "got %q, want a joint with a motor", at)
			}
			return m
		}
		// q = times (times' q' + plus') + plus
		times := b.faults.real(path+".multiplier", step.Multiplier, 1)
		plus := b.faults.real(path+".offset", step.Offset, 0)
		m.Plus += float64(m.Times * plus)
		m.Times *= times
		b.faults.Within(path+".multiplier", m.Times, -1e3, 1e3)
		b.faults.Within(path+".offset", m.Plus, -maxLength, maxLength)
		at = step.Joint
	}
	b.faults.add(path+".joint", "got a loop, want a joint with a motor at its end")
	return m
}
