package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// What is taken where a file does not say it.
const (
	// A motor of unknown torque is unknown, not weak: it holds this many times the weight that it can meet.
	defaultStrength = 3.0
	minTorque       = 1.0         // N·m
	minForce        = 10.0        // N
	defaultTurn     = 2 * math.Pi // rad/s, of a motor of unknown speed
	defaultSlide    = 0.5         // m/s
	gravity         = 9.81        // m/s²
	lumpMass        = 0.01        // kg, of a link without mass and solids that moves nothing else
	thinnest        = 0.0005      // m, least half size of a solid: a flat one still has two sides
	farAngle        = maxLength   // rad or m: limits beyond it are none
	stick           = 1e-3        // least moment of one without thickness, as a share of all
	slackInertia    = 1e-6        // of the size of an inertia, for the rounding of CAD programs
	openSlide       = 1000.0      // m to both sides: the position channel of a slide without limits
	openTurn        = math.Pi     // rad to both sides, likewise; such a joint turns without end
	tiniest         = 1e-9        // kg
)

// repairAxes applies the rules of limits. An axis with equal limits is fixed there.
func (d *description) repairAxes() {
	var fixed []axis
	for i := range d.parts {
		for k := range d.parts[i].axes {
			if a := &d.parts[i].axes[k]; !d.repairLimits(a) {
				fixed = append(fixed, *a)
			}
		}
	}
	for _, a := range fixed {
		d.fix(a.name, a.limits[0])
	}
}

// repairLeaders frees the axes that follow one that is not there, as other programs do.
func (d *description) repairLeaders() {
	for i := range d.parts {
		for k := range d.parts[i].axes {
			a := &d.parts[i].axes[k]
			if a.follows == nil {
				continue
			}
			if p, _ := d.axisOf(a.follows.leader); p == nil {
				d.repair(a.at, jointPath(a.name)+".mimic", "follows "+yaml.Quote(a.follows.leader),
					"a joint of its own", "no joint of that name moves")
				a.follows = nil
				d.drives = append(d.drives, drive{axis: a.name})
			}
		}
	}
}

// repairLimits reports whether the axis can move.
func (d *description) repairLimits(a *axis) bool {
	path := jointPath(a.name) + ".limit"
	if a.endless || a.kind == Ball {
		a.limits = nil
		return true
	}
	if a.follows != nil && a.limits != nil && !(a.limits[0] < a.limits[1]) {
		a.limits = nil // it has those of its leader
	}
	if a.limits == nil {
		if a.follows == nil {
			d.note(a.at, path, "no limits: the joint turns without end")
		}
	} else if low, high := a.limits[0], a.limits[1]; low < high && (low >= -farAngle || high <= farAngle) {
		if low < -farAngle || high > farAngle {
			a.limits = &[2]float64{max(low, -farAngle), min(high, farAngle)}
			d.note(a.at, path, "%g..%g: the far end is no limit", low, high)
		}
		return true
	} else {
		before := fmt.Sprintf("%g..%g", low, high)
		switch {
		case low == high && low != 0 && math.Abs(low) <= farAngle:
			d.repair(a.at, path, before, "fixed at that position", "equal limits leave no motion")
			return false
		case low == high:
			d.repair(a.at, path, before, "no limits", "limits of 0 stand for none, as in other programs")
		case low > high:
			d.repair(a.at, path, before, "no limits", "reversed limits stand for none, as in other programs")
		default:
			d.repair(a.at, path, before, "no limits", "they are beyond every use")
		}
		a.limits = nil
	}
	a.endless = a.kind == Hinge
	return true
}

// fix takes an axis away, at a position, and with it those that follow it.
func (d *description) fix(name string, at float64) {
	p, k := d.axisOf(name)
	if p == nil {
		return
	}
	a := p.axes[k]
	// The pose of what is beyond the axis, in the part's frame.
	move := hal.Pose{Rotation: [4]float64{1}}
	if a.kind == Slide {
		move.Position = scale(at, a.along)
	} else {
		s := math.Sin(at / 2)
		move.Rotation = [4]float64{math.Cos(at / 2), s * a.along[0], s * a.along[1], s * a.along[2]}
		move.Position = add(a.anchor, scale(-1, place(move, a.anchor)))
	}
	p.pose = within(p.pose, move)
	p.axes = slices.Delete(p.axes, k, k+1)
	d.drives = slices.DeleteFunc(d.drives, func(m drive) bool { return m.axis == name })
	for i := range d.parts {
		for _, b := range slices.Clone(d.parts[i].axes) {
			if f := b.follows; f != nil && f.leader == name {
				d.fix(b.name, f.times*at+f.plus)
			}
		}
	}
}

// axisOf finds an axis by its name.
func (d *description) axisOf(name string) (p *part, k int) {
	for i := range d.parts {
		p = &d.parts[i]
		if k := slices.IndexFunc(p.axes, func(a axis) bool { return a.name == name }); k >= 0 {
			return p, k
		}
	}
	return nil, hal.None
}

// moves reports whether part i moves relative to the world; fixed is whether the root is fixed.
func (d *description) moves(i int, fixed bool) bool {
	for ; i != hal.None; i = d.parts[i].up {
		if len(d.parts[i].axes) > 0 || d.parts[i].free {
			return true
		}
	}
	return !fixed
}

// repairMasses gives each part that moves the mass that it lacks.
func (d *description) repairMasses(fixed bool) {
	for i := range d.parts {
		p := &d.parts[i]
		if p.mass == nil && !d.moves(i, fixed) && (!d.derived || p.name == mjcfWorld) {
			continue // the table that an arm stands on has no need of a mass
		}
		d.repairMass(p)
		d.bound(p)
		if p.mass != nil && p.mass.mass > 0 {
			d.repairInertia(p)
		}
	}
	// What is left without mass carries others, or gets a lump.
	for i := range d.parts {
		if p := &d.parts[i]; len(p.axes) > 0 && !d.carries(i) {
			p.mass = &inertial{place: p.at, at: hal.Pose{Rotation: [4]float64{1}}, mass: lumpMass,
				inertia: sphereOf(lumpMass)}
			d.repair(p.at, linkPath(p.name)+".inertial", "none", fmt.Sprintf("%g kg", lumpMass),
				"it moves, and has neither a mass nor solids to take one from")
		}
	}
}

// scaleMasses makes the masses of all parts total.
func (d *description) scaleMasses() {
	sum := 0.0
	for i := range d.parts {
		if m := d.parts[i].mass; m != nil {
			sum += m.mass
		}
	}
	if d.total == 0 || sum == 0 {
		return
	}
	for i := range d.parts {
		m := d.parts[i].mass
		if m == nil {
			continue
		}
		m.mass *= d.total / sum
		if m.inertia != nil {
			scaled := *m.inertia
			for k := range scaled {
				scaled[k] *= d.total / sum
			}
			m.inertia = &scaled
		}
	}
}

// carries reports whether part i or any part beyond it has a mass.
func (d *description) carries(i int) bool {
	has := make([]bool, len(d.parts))
	for k := len(d.parts) - 1; k >= i; k-- {
		p := &d.parts[k]
		has[k] = has[k] || p.mass != nil && p.mass.mass > 0
		if has[k] && p.up != hal.None {
			has[p.up] = true
		}
	}
	return has[i]
}

// repairMass takes a missing mass from the solids.
func (d *description) repairMass(p *part) {
	path := linkPath(p.name) + ".inertial"
	at, before := p.at, "none"
	if p.mass != nil {
		if p.mass.mass >= tiniest {
			return
		}
		at, before = p.mass.place, fmt.Sprintf("mass %g", p.mass.mass)
	}
	p.mass = nil
	var l lump
	for k := range p.solids {
		s := &p.solids[k]
		l.add(s.weight(), s.moments(s.weight()), s.shape.centred())
	}
	if l.mass < tiniest {
		if before != "none" {
			d.note(at, path, "%s: without mass", before)
		}
		return
	}
	var b Body
	l.give(&b)
	p.mass = &inertial{place: at, at: hal.Pose{Position: b.CentreOfMass, Rotation: [4]float64{1}}, mass: b.Mass,
		inertia: &b.Inertia}
	if d.derived {
		return
	}
	d.repair(at, path, before, fmt.Sprintf("%.6g kg", b.Mass),
		fmt.Sprintf("from its collision solids at %g kg/m³", ordinary))
}

// repairInertia replaces an inertia that no rigid body has.
func (d *description) repairInertia(p *part) {
	m := p.mass
	path := linkPath(p.name) + ".inertial.inertia"
	before := "none"
	if m.inertia != nil {
		before = fmt.Sprintf("%.6g", *m.inertia)
		moments, axes := principal(symmetric(*m.inertia))
		size := math.Abs(moments[0]) + math.Abs(moments[1]) + math.Abs(moments[2])
		low := min(moments[0], moments[1], moments[2])
		big := 0
		for k := range moments {
			if moments[k] > moments[big] {
				big = k
			}
		}
		others := moments[(big+1)%3] + moments[(big+2)%3]
		switch {
		case size < 1e-18 || low < -slackInertia*size || size-moments[big] < slackInertia*size:
		case moments[big] <= others+0.9*slackInertia*size:
			return
		default:
			after := moments
			after[big] = others
			turned := axes.diagonal(after)
			m.inertia = &turned
			d.repair(m.place, path, fmt.Sprintf("principal moments %.6g", moments), fmt.Sprintf("%.6g", after),
				"no moment is above the sum of the others")
			return
		}
	}
	if b, ok := p.solidInertia(); ok {
		// About the file's centre of mass, in the axes of the link: it is that of the solids.
		m.at.Rotation, m.inertia = [4]float64{1}, b
		d.repair(m.place, path, before, fmt.Sprintf("%.6g", *b), "from its collision solids, of its mass")
		return
	}
	m.inertia = sphereOf(m.mass)
	d.repair(m.place, path, before, fmt.Sprintf("%.6g", *m.inertia),
		fmt.Sprintf("a sphere of its mass at %g kg/m³: it has no solids", ordinary))
}

// thicken gives a body without thickness, whose joint nothing could turn about its own line, a least moment.
func (d *description) thicken(b *Body) {
	moments, axes := principal(symmetric(b.Inertia))
	least := stick * (moments[0] + moments[1] + moments[2])
	if min(moments[0], moments[1], moments[2]) >= slackInertia/stick*least {
		return
	}
	after := moments
	for k := range after {
		after[k] = math.Max(after[k], least)
	}
	b.Inertia = axes.diagonal(after)
	p, _ := d.partOf(b.Name)
	at, path := yaml.Place{Source: d.source}, linkPath(b.Name)
	if p != nil {
		at = p.at
	}
	d.repair(at, path+".inertial.inertia", fmt.Sprintf("principal moments %.6g", moments),
		fmt.Sprintf("%.6g", after), "each moment of a solid is above 0")
}

// solidInertia is the inertia of the part's solids, scaled to its mass, about their own centre.
func (p *part) solidInertia() (*[6]float64, bool) {
	var l lump
	for k := range p.solids {
		s := &p.solids[k]
		l.add(s.weight(), s.moments(s.weight()), s.shape.centred())
	}
	if l.mass < tiniest {
		return nil, false
	}
	var b Body
	l.give(&b)
	for k := range b.Inertia {
		b.Inertia[k] *= p.mass.mass / l.mass
	}
	return &b.Inertia, plausible(b.Inertia) && b.Inertia[0] > 0
}

// sphereOf is the inertia of a sphere of a mass, of ordinary density.
func sphereOf(mass float64) *[6]float64 {
	r := math.Cbrt(mass / ordinary * 3 / (4 * math.Pi))
	i := 0.4 * mass * r * r
	return &[6]float64{i, i, i}
}

// repairDrives gives motors of unknown torque or speed named defaults.
func (d *description) repairDrives(fixed bool) {
	for i := range d.parts {
		for k := range d.parts[i].axes {
			a := &d.parts[i].axes[k]
			m := d.driveOf(a.name)
			if m == nil {
				continue
			}
			path := jointPath(a.name) + ".limit"
			units := [2]string{"N·m", "rad/s"}
			turn, least := defaultTurn, minTorque
			if a.kind == Slide {
				units, turn, least = [2]string{"N", "m/s"}, defaultSlide, minForce
			}
			if !(m.torque > 0) {
				m.torque = math.Min(maxForce, math.Max(least, defaultStrength*d.weightOn(i, a, fixed)))
				d.repair(a.at, path+".effort", "unknown (0 or absent)", fmt.Sprintf("%.3g %s", m.torque, units[0]),
					fmt.Sprintf("default-motor: %g times the weight that it can meet", defaultStrength))
			}
			if !(m.velocity > 0) {
				m.velocity = turn
				d.repair(a.at, path+".velocity", "unknown (0 or absent)", fmt.Sprintf("%.3g %s", turn, units[1]),
					"default-motor")
			}
			m.torque, m.velocity = math.Min(m.torque, maxForce), math.Min(m.velocity, maxForce)
		}
	}
}

// weightOn is the greatest weight torque, N·m, that axis a of part i can meet, or the weight, N, of a slide: all that
// is beyond it, stretched out; of a free robot also the rest of it.
func (d *description) weightOn(i int, a *axis, fixed bool) float64 {
	far := make([]float64, len(d.parts)) // from the axis along the links
	beyond := make([]bool, len(d.parts))
	beyond[i] = true
	var moment, mass, all, longest float64
	for k := range d.parts {
		p := &d.parts[k]
		if p.mass != nil {
			all += p.mass.mass
		}
		if k != i && (p.up == hal.None || !beyond[p.up]) {
			continue
		}
		if k != i {
			beyond[k] = true
			far[k] = far[p.up] + math.Sqrt(dot(p.pose.Position, p.pose.Position))
		}
		reach := far[k]
		if p.mass != nil {
			off := add(p.mass.at.Position, scale(-1, a.anchor))
			if k != i {
				off = p.mass.at.Position
			}
			reach += math.Sqrt(dot(off, off))
			moment += p.mass.mass * reach
			mass += p.mass.mass
		}
		longest = math.Max(longest, reach)
	}
	if !fixed {
		moment, mass = math.Max(moment, all*longest/2), all
	}
	if a.kind == Slide {
		return mass * gravity
	}
	return moment * gravity
}
