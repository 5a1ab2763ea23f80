package model

import (
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/xml"
)

// choose finds the robot among the trees of the world. The world is its root if it stands fixed.
func (r *mjcfReader) choose(world part) {
	d := r.description
	d.parts = slices.DeleteFunc(d.parts, func(p part) bool { return p.name == mjcfWorld })
	size := map[string]int{}
	best, free := "", false
	top := r.topOf()
	for i := range d.parts {
		size[top[d.parts[i].name]] += 1 + 4*len(d.parts[i].axes)
	}
	for _, t := range r.tops {
		if p, _ := d.partOf(t); p != nil && (best == "" || size[t] > size[best]) {
			best, free = t, p.free
		}
	}
	switch {
	case best == "":
		planes, solids := planesOf(world.solids)
		if len(solids) == 0 && len(d.faults) == 0 {
			r.fault(world.at, "worldbody", "got no body and no geom but planes, want at least one")
		}
		r.scenery(world, planes)
		world.solids = solids
		d.parts = []part{world}
	case free:
		r.leave(top, func(t string) bool { return t != best })
		p, _ := d.partOf(best)
		p.free, p.parent, p.joint, d.free = false, "", "", true
		r.scenery(world, world.solids)
	default:
		r.leave(top, func(t string) bool { p, _ := d.partOf(t); return p.free })
		kept := slices.DeleteFunc(slices.Clone(r.tops), func(t string) bool { p, _ := d.partOf(t); return p == nil })
		planes, solids := planesOf(world.solids)
		r.scenery(world, planes)
		if p, _ := d.partOf(best); len(kept) == 1 && len(solids) == 0 && len(p.axes) == 0 {
			p.parent, p.joint = "", ""
			return
		}
		world.solids = solids
		d.parts = append([]part{world}, d.parts...)
	}
}

// planesOf parts the planes of the world from its other solids.
func planesOf(all []solidPart) (planes, solids []solidPart) {
	for _, s := range all {
		if s.mesh == "" && s.shape.Half[0] == math.Inf(1) {
			planes = append(planes, s)
		} else {
			solids = append(solids, s)
		}
	}
	return planes, solids
}

// scenery notes solids of the world that are not the robot's.
func (r *mjcfReader) scenery(world part, solids []solidPart) {
	if len(solids) > 0 {
		r.note(world.at, "worldbody", "%d geoms left out: floor and obstacles are those of the config's scene (try: "+
			"world.scene)", len(solids))
	}
}

// topOf maps each part to the part in the world that holds it.
func (r *mjcfReader) topOf() map[string]string {
	top := map[string]string{}
	for i := range r.parts { // parents come first
		p := &r.parts[i]
		if top[p.name] = p.name; p.parent != mjcfWorld {
			top[p.name] = top[p.parent]
		}
	}
	return top
}

// leave takes trees away that are no part of the robot.
func (r *mjcfReader) leave(top map[string]string, goes func(t string) bool) {
	for _, t := range r.tops {
		if p, _ := r.partOf(t); p != nil && goes(t) {
			r.note(p.at, linkPath(t), "left out: it is not fixed to the robot (try: a scene with it)")
		}
	}
	gone := map[string]bool{}
	for _, t := range r.tops {
		gone[t] = goes(t)
	}
	r.parts = slices.DeleteFunc(r.parts, func(p part) bool { return gone[top[p.name]] })
}

// partOf finds a part by its name.
func (d *description) partOf(name string) (*part, int) {
	i := slices.IndexFunc(d.parts, func(p part) bool { return p.name == name })
	if i < 0 {
		return nil, hal.None
	}
	return &d.parts[i], i
}

// contacts says which bodies may touch: not those that a joint connects, nor those that the file excludes or whose
// masks do not match.
func (r *mjcfReader) contacts(root *xml.Node) {
	d := r.description
	for i := range d.parts {
		p := &d.parts[i]
		p.repels = slices.ContainsFunc(p.solids, func(s solidPart) bool { return s.shape.Collides })
		if up, _ := d.partOf(p.parent); up != nil && up.name != mjcfWorld {
			d.apart = append(d.apart, [2]string{up.name, p.name})
		}
		for k := range i {
			if !match(r.masks[p.name], r.masks[d.parts[k].name]) {
				d.apart = append(d.apart, [2]string{d.parts[k].name, p.name})
			}
		}
	}
	for _, c := range root.All("contact") {
		for _, e := range c.All("pair") {
			r.pair(r.resolve(e, ""))
		}
		for _, e := range c.All("exclude") {
			r.attributes(e)
			d.apart = append(d.apart, [2]string{e.Get("body1"), e.Get("body2")})
		}
	}
}

// pair lets two geoms touch each other, or the scene if one of them is the world's, regardless of their masks.
func (r *mjcfReader) pair(n *xml.Node) {
	var parts []string
	for _, name := range []string{n.Get("geom1"), n.Get("geom2")} {
		for i := range r.parts {
			p := &r.parts[i]
			named := func(s solidPart) bool { return s.name == name }
			if k := slices.IndexFunc(p.visuals, named); k >= 0 && name != "" {
				p.solids, p.visuals = append(p.solids, p.visuals[k]), slices.Delete(p.visuals, k, k+1)
			}
			if k := slices.IndexFunc(p.solids, named); k >= 0 && name != "" {
				p.solids[k].shape.Collides, p.repels = true, true
				parts = append(parts, p.name)
			}
		}
	}
	if len(parts) == 2 {
		r.apart = slices.DeleteFunc(r.apart, func(of [2]string) bool {
			return of == [2]string{parts[0], parts[1]} || of == [2]string{parts[1], parts[0]}
		})
	}
}

// match reports whether a geom of one part may touch one of another.
func match(a, b [][2]int64) bool {
	for _, x := range a {
		for _, y := range b {
			if x[0]&y[1] != 0 || y[0]&x[1] != 0 {
				return true
			}
		}
	}
	return false
}

// home takes the start from the keyframe "home".
func (r *mjcfReader) home(root *xml.Node) {
	for _, c := range root.All("keyframe") {
		for _, k := range c.All("key") {
			r.attributes(k)
			if !strings.EqualFold(k.Get("name"), "home") {
				continue
			}
			q := r.numbers(k, "qpos", 0)
			n := 0
			for _, o := range r.order {
				n += o.count
			}
			if len(q) != n {
				r.fault(r.place(k), "key.qpos", "got %d numbers, want %d", len(q), n)
				return
			}
			for _, o := range r.order {
				r.startAt(o, q[:o.count])
				q = q[o.count:]
			}
			return
		}
	}
}

// startAt sets the start of one joint.
func (r *mjcfReader) startAt(o mjcfPosition, q []float64) {
	if p, k := r.axisOf(o.axis); o.axis != "" && p != nil {
		at := q[0]
		p.axes[k].start = &at
	}
	if p, i := r.partOf(o.part); o.count == 7 && p != nil && i == 0 && r.free {
		p.pose = hal.Pose{Position: vec(q[:3]), Rotation: normal(q[3:7])}
	}
}
