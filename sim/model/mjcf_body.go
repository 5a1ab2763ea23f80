package model

import (
	"fmt"
	"math"
	"strconv"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/xml"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// unnamed is the name of a thing that has none.
func (r *mjcfReader) unnamed(what string) string {
	r.names[what]++
	return fmt.Sprintf("%s_%d", what, r.names[what])
}

// each calls f with the elements of a body, through <frame> and <replicate>.
func (r *mjcfReader) each(n *xml.Node, s mjcfScope, f func(c *xml.Node, s mjcfScope)) {
	for _, c := range n.Children {
		switch c.Name {
		case "frame":
			in := s
			in.frame = within(s.frame, r.pose(c))
			if class := c.Get("childclass"); class != "" {
				in.class = class
			}
			r.each(c, in, f)
		case "replicate":
			count := int(r.number(c, "count", 1))
			if count < 0 || count > maxReplicas || r.names["replicate"] > maxReplicas {
				r.fault(r.place(c), "replicate.count", "got %d, want at most %d in all", count, maxReplicas)
				return
			}
			r.names["replicate"] += count
			step := hal.Pose{Position: r.triple(c, "offset", vec{}), Rotation: r.turned(c, r.triple(c, "euler", vec{}))}
			at := hal.Pose{Rotation: [4]float64{1}}
			digits := len(strconv.Itoa(max(count-1, 0)))
			for i := range count {
				in := s
				in.frame, in.suffix = within(s.frame, at), fmt.Sprintf("%s%0*d%s", c.Get("sep"), digits, i, s.suffix)
				r.each(c, in, f)
				at = within(at, step)
			}
		default:
			f(c, s)
		}
	}
}

// body reads a <body> of a parent.
func (r *mjcfReader) body(n *xml.Node, s mjcfScope) {
	p := part{at: r.place(n), name: n.Get("name") + s.suffix, parent: s.part, pose: within(s.frame, r.pose(n))}
	if n.Get("name") == "" {
		p.name = r.unnamed("body")
	}
	p.joint = fmt.Sprintf("body %q", p.name)
	if n.Get("mocap") == "true" {
		r.note(p.at, linkPath(p.name), "mocap: it is fixed here")
	}
	if s.part == mjcfWorld {
		r.tops = append(r.tops, p.name)
	}
	if class := n.Get("childclass"); class != "" {
		s.class = class
	}
	in := mjcfScope{class: s.class, frame: hal.Pose{Rotation: [4]float64{1}}, suffix: s.suffix, part: p.name}
	r.fill(n, &p, in)
	if len(r.parts) > maxBodies {
		return // reported by the check
	}
}

// fill reads what is in a body: first its joints, so that positions are in the order of qpos, then the rest.
func (r *mjcfReader) fill(n *xml.Node, p *part, s mjcfScope) {
	r.attributes(n)
	var joints []mjcfJoint
	r.each(n, s, func(c *xml.Node, s mjcfScope) {
		switch c.Name {
		case "freejoint":
			r.attributes(c)
			r.freejoint(p, c.Get("name")+s.suffix)
		case "joint":
			if j, ok := r.joint(c, p, s); ok {
				joints = append(joints, j)
			}
		}
	})
	r.chain(p, joints)
	r.each(n, s, func(c *xml.Node, s mjcfScope) {
		switch c.Name {
		case "geom":
			r.geom(c, p, s)
		case "inertial":
			r.inertial(c, p)
		case "site":
			c = r.resolve(c, s.class)
			r.sites[c.Get("name")+s.suffix] = mjcfSite{p.name, within(s.frame, r.pose(c))}
		}
	})
	if infer := r.of(n).infer; infer == "true" && len(p.solids) > 0 {
		p.mass = nil
	} else if p.mass != nil || infer == "false" {
		p.solids, p.visuals = split(p.solids)
	}
	r.parts = append(r.parts, *p)
	r.each(n, s, func(c *xml.Node, s mjcfScope) {
		if c.Name == "body" {
			r.body(c, s)
		}
	})
}

// split parts the solids that collide from those that are only drawn: a body with a mass of its own takes none from
// them.
func split(all []solidPart) (solids, visuals []solidPart) {
	for _, s := range all {
		if s.shape.Collides {
			solids = append(solids, s)
		} else {
			visuals = append(visuals, s)
		}
	}
	return solids, visuals
}

// mjcfJoint is a joint as the file has it: in the body's frame, at the file's reference position.
type mjcfJoint struct {
	axis
	ref float64
}

func (r *mjcfReader) freejoint(p *part, name string) {
	if p.parent != mjcfWorld {
		r.fault(p.at, linkPath(p.name)+".freejoint", "got one below %q, want it in the world", p.parent)
		return
	}
	p.free = true
	r.order = append(r.order, mjcfPosition{part: p.name, axis: name, count: 7})
}

// joint reads a <joint>; ok is false where it is no axis.
func (r *mjcfReader) joint(n *xml.Node, p *part, s mjcfScope) (j mjcfJoint, ok bool) {
	n = r.resolve(n, s.class)
	j.at, j.name = r.place(n), n.Get("name")+s.suffix
	if n.Get("name") == "" {
		j.name = r.unnamed(p.name + "_joint")
	}
	path := jointPath(j.name)
	angle := r.of(n).degree()
	switch kind := n.Get("type"); kind {
	case "", "hinge":
	case "slide":
		j.kind, angle = Slide, 1
	case "ball":
		j.kind = Ball
		r.order = append(r.order, mjcfPosition{part: p.name, count: 4})
	case "free":
		r.freejoint(p, j.name)
		return j, false
	default:
		r.fault(j.at, path+".type", "got %s, want hinge, slide, ball or free", yaml.Quote(kind))
		return j, false
	}
	j.anchor = place(s.frame, r.triple(n, "pos", vec{}))
	turn := matrix(s.frame.Rotation)
	j.along = turn.times(r.triple(n, "axis", vec{0, 0, 1}))
	j.damping, j.friction, j.armature = r.number(n, "damping", 0), r.number(n, "frictionloss", 0),
		r.number(n, "armature", 0)
	j.stiffness, j.rest = r.number(n, "stiffness", 0), angle*r.number(n, "springref", 0)
	if n.Get("springdamper") != "" {
		r.note(j.at, path+".springdamper", "left out (try: stiffness and damping)")
	}
	j.ref = angle * r.number(n, "ref", 0)
	if v := r.numbers(n, "actuatorfrcrange", 2); v != nil && v[0] < v[1] && n.Get("actuatorfrclimited") != "false" {
		j.force = math.Max(math.Abs(v[0]), math.Abs(v[1]))
	}
	if j.kind == Ball {
		return j, true
	}
	r.order = append(r.order, mjcfPosition{axis: j.name, count: 1})
	limited := n.Get("limited")
	auto := r.of(n).limits != "false"
	if _, ok := n.Attr("range"); ok && limited == "" && !auto {
		r.fault(j.at, path+".limited", `got no word of it beside range and autolimits="false", want true or false`)
	}
	if v := r.numbers(n, "range", 2); v != nil && limited != "false" && (auto || limited == "true") && v[0] < v[1] {
		j.limits = &[2]float64{angle * v[0], angle * v[1]}
	} else if limited == "true" {
		r.fault(j.at, path+".range", "got %s, want a lower and an upper end, as it is limited",
			yaml.Quote(n.Get("range")))
	}
	return j, true
}

// chain makes the axes of joints, and the pose of the part where all of them are at 0: the file draws it at their
// references.
//
// The body's frame is P·T₁(q₁-r₁)·T₂(q₂-r₂)…, each about its own axis in the frame that the ones before have turned.
// Moved to the left, the constant turns make the pose; what is right of an axis turns it back.
func (r *mjcfReader) chain(p *part, joints []mjcfJoint) {
	for i, j := range joints {
		for _, k := range joints[i+1:] {
			back := k.turn(k.ref)
			turn := matrix(back.Rotation)
			j.anchor, j.along = place(back, j.anchor), turn.times(j.along)
		}
		if j.ref != 0 {
			ref := j.ref
			j.start = &ref
		}
		p.axes = append(p.axes, j.axis)
	}
	for _, j := range joints {
		p.pose = within(p.pose, j.turn(-j.ref))
	}
}

// turn is the motion of an axis by q, rad or m, in the frame of its body.
func (a *axis) turn(q float64) hal.Pose {
	move := hal.Pose{Rotation: [4]float64{1}}
	along, ok := unit(a.along)
	if q == 0 || !ok || a.kind == Ball {
		return move
	}
	if a.kind == Slide {
		move.Position = scale(q, along)
		return move
	}
	sin, cos := math.Sincos(q / 2)
	move.Rotation = [4]float64{cos, sin * along[0], sin * along[1], sin * along[2]}
	move.Position = add(a.anchor, scale(-1, place(move, a.anchor)))
	return move
}

func (r *mjcfReader) inertial(n *xml.Node, p *part) {
	r.attributes(n)
	m := &inertial{place: r.place(n), at: r.pose(n), mass: r.number(n, "mass", 0)}
	if v := r.numbers(n, "fullinertia", 6); v != nil {
		m.inertia = (*[6]float64)(v)
	} else if v := r.numbers(n, "diaginertia", 3); v != nil {
		m.inertia = &[6]float64{v[0], v[1], v[2]}
	}
	p.mass = m
}
