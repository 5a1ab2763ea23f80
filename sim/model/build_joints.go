package model

import (
	"maps"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// joints makes the joints: first those with motors, in the file's order, then the others.
func (b *builder) joints() {
	d := b.d
	for i := range d.parts {
		p := &d.parts[i]
		if len(p.axes) == 0 {
			continue
		}
		n := len(p.axes)
		for k := range p.axes {
			l := b.linkage(p, &p.axes[k])
			l.Child = p.body - n + 1 + k
			if l.Parent = l.Child - 1; k == 0 {
				l.Parent = d.parts[p.up].body
			}
			name := b.named[p.axes[k].name]
			if m := d.driveOf(p.axes[k].name); m != nil {
				b.drive(&p.axes[k], m, name, l)
			} else {
				b.r.Passive = append(b.r.Passive, Passive{Name: name, Linkage: l})
			}
		}
	}
	order := map[string]int{}
	for i, m := range d.drives {
		order[b.named[m.axis]] = i
	}
	slices.SortStableFunc(b.r.Joints, func(x, y Joint) int { return order[x.Name] - order[y.Name] })
	for i := range b.r.Joints {
		j := &b.r.Joints[i]
		j.Partner = i
		if m := d.drives[order[j.Name]]; j.Motor != nil && m.ratio > 0 {
			j.Motor.Kd = 2 * m.ratio * math.Sqrt(m.kp*b.r.inertiaAbout(&j.Linkage))
		}
	}
	if !d.checkCount("joint", len(b.r.Joints)+len(b.r.Passive), maxJoints) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(b.o.Servos)) {
		if b.r.Joint(name) == hal.None {
			d.fault(yaml.Place{Source: d.source}, jointPath(name), "got a servo for it, want a joint that moves")
		}
	}
	for i := range d.parts {
		for k := range d.parts[i].axes {
			if a := &d.parts[i].axes[k]; a.follows != nil {
				b.mimic(a)
			}
		}
	}
}

// inertiaAbout is what a motor of the joint accelerates in the built pose where nothing else moves, kg·m², or kg: all
// that is beyond the joint, and its rotor.
func (r *Robot) inertiaAbout(l *Linkage) float64 {
	parents, beyond := r.Parents(), make([]bool, len(r.Bodies))
	var all lump
	for _, i := range r.Order() {
		beyond[i] = i == l.Child || parents[i] != hal.None && beyond[parents[i]]
		if body := &r.Bodies[i]; beyond[i] {
			at := within(body.Pose, hal.Pose{Position: body.CentreOfMass, Rotation: [4]float64{1, 0, 0, 0}})
			at.Position = add(at.Position, scale(-1, l.Anchor))
			all.add(body.Mass, symmetric(body.Inertia), at)
		}
	}
	if l.Kind == Slide {
		return all.mass + l.Armature
	}
	return dot(l.Axis, all.about.times(l.Axis)) + l.Armature
}

// linkage is the mechanical part of an axis.
func (b *builder) linkage(p *part, a *axis) Linkage {
	turn := matrix(p.built.Rotation)
	l := Linkage{Kind: a.kind, Anchor: place(p.built, a.anchor), Sign: 1, Damping: a.damping, Friction: a.friction,
		Stiffness: a.stiffness, Rest: a.rest, Armature: a.armature}
	l.Axis, _ = unit(turn.times(a.along))
	if a.limits != nil {
		l.Stops = *a.limits
	}
	return l
}

// drive makes a motor's joint.
func (b *builder) drive(a *axis, m *drive, name string, l Linkage) {
	j := Joint{Name: name, Linkage: l, Limits: l.Stops, Strength: 1, Source: "robot file"}
	if a.endless {
		j.Wraps, j.Limits = true, [2]float64{-openTurn, openTurn}
	} else if a.limits == nil {
		j.Limits = [2]float64{-openSlide, openSlide}
	}
	j.Range = j.Limits
	// The zero pose where the limits allow it, else the end nearest to it.
	j.Default = math.Max(j.Limits[0], math.Min(j.Limits[1], 0))
	if a.start != nil {
		j.Default = math.Max(j.Limits[0], math.Min(j.Limits[1], *a.start))
	}
	j.Start = j.Default
	if servo := b.o.Servos[name]; servo != "" {
		spec, ok := actuator.Lookup(servo)
		if !ok || l.Kind == Slide {
			b.d.fault(a.at, jointPath(a.name), "got servo %q, want a known servo, for a joint that turns", servo)
			return
		}
		j.Servo, j.Modes = spec, spec.Modes
		if low, high := spec.Range(); !j.Wraps && (j.Limits[0] < low-0.01 || j.Limits[1] > high+0.01) {
			b.d.fault(a.at, jointPath(a.name)+".limit", "got %g..%g, want within %g..%g of servo %s", j.Limits[0],
				j.Limits[1], low, high, servo)
		}
	} else {
		j.Motor = &Motor{Name: "ideal", Kind: Ideal, Source: "robot file", MaxTorque: m.torque, MaxVelocity: m.velocity,
			Kp: m.kp, Kd: m.kd}
		j.Modes = [hal.NumModes]bool{hal.PositionMode: true, hal.VelocityMode: true, hal.TorqueMode: true}
	}
	b.r.Joints = append(b.r.Joints, j)
}

// mimic follows an axis that follows another to the motor at the end of the chain.
func (b *builder) mimic(a *axis) {
	m, name := &Mimic{Joint: hal.None, Times: 1}, b.named[a.name]
	path := jointPath(a.name) + ".mimic"
	for range maxJoints {
		f := a.follows
		if f == nil {
			break
		}
		// q = times (times' q' + plus') + plus
		m.Plus += float64(m.Times * f.plus)
		m.Times *= f.times
		p, k := b.d.axisOf(f.leader)
		if p == nil {
			b.d.fault(a.at, path+".joint", "got %s, want the name of a joint that moves", yaml.Quote(f.leader))
			return
		}
		a = &p.axes[k]
	}
	if a.follows != nil {
		b.d.fault(a.at, path+".joint", "got a loop, want a joint with a motor at its end")
		return
	}
	if m.Joint = b.r.Joint(b.named[a.name]); m.Joint == hal.None {
		b.d.fault(a.at, path+".joint", "got %s, want a joint with a motor", yaml.Quote(a.name))
		return
	}
	b.d.finite(a.at, path, 1e3, m.Times)
	b.d.finite(a.at, path, maxLength, m.Plus)
	for i := range b.r.Passive {
		if p := &b.r.Passive[i]; p.Name == name {
			p.Mimic = m
		}
	}
}

// separate says which bodies may touch each other.
func (b *builder) separate() {
	d := b.d
	self := d.self
	if b.o.Self != nil {
		self = *b.o.Self
	}
	if b.r.Ghost = !self; !self {
		return
	}
	if b.o.Self == nil { // of the file: those that ask for it, among each other
		repels := make([]bool, len(b.r.Bodies))
		for i := range d.parts {
			repels[d.parts[i].body] = repels[d.parts[i].body] || d.parts[i].repels
		}
		for i := range repels {
			for k := range i {
				if !repels[i] || !repels[k] {
					b.r.NoContact = append(b.r.NoContact, [2]int{k, i})
				}
			}
		}
	}
	for _, pair := range d.apart {
		if x, y := b.r.Body(b.links[pair[0]]), b.r.Body(b.links[pair[1]]); x != y && x != hal.None && y != hal.None {
			b.r.NoContact = append(b.r.NoContact, [2]int{x, y})
		}
	}
	b.r.NoContact = append(b.r.NoContact, b.r.touching()...)
}
