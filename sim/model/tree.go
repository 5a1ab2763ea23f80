package model

import (
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// Body returns the index of the body called name, or hal.None. A link that a URDF welds to a body is found by its own
// name too.
func (r *Robot) Body(name string) int {
	if i := slices.IndexFunc(r.Bodies, func(b Body) bool { return b.Name == name }); i != hal.None {
		return i
	}
	return slices.IndexFunc(r.Bodies, func(b Body) bool { return slices.Contains(b.Merged, name) })
}

// Root is the body without a parent, or hal.None if the robot has no bodies.
func (r *Robot) Root() int { return slices.Index(r.Parents(), hal.None) }

// Parents returns the parent of each body; hal.None is the root's.
func (r *Robot) Parents() []int {
	parents := slices.Repeat([]int{hal.None}, len(r.Bodies))
	for i := range r.Joints {
		if j := &r.Joints[i]; j.Child != hal.None {
			parents[j.Child] = j.Parent
		}
	}
	for i := range r.Passive {
		parents[r.Passive[i].Child] = r.Passive[i].Parent
	}
	return parents
}

// Order returns the bodies with each parent before its children, else in the file's order: the order of an engine's
// links.
func (r *Robot) Order() []int {
	order, _ := parentsFirst(r.Parents())
	return order
}

// parentsFirst sorts bodies; those that hang in a loop are left over.
func parentsFirst(parents []int) (order, loop []int) {
	order = make([]int, 0, len(parents))
	// Each body is put behind its ancestors, which a walk up to the first one that is there already finds in linear
	// time.
	const (
		climbed = 1 + iota // on the way up
		done
		lost // it hangs in a loop
	)
	state := make([]uint8, len(parents))
	var way []int
	for i := range parents {
		way = way[:0]
		at := i
		for at != hal.None && state[at] == 0 {
			state[at] = climbed
			way = append(way, at)
			at = parents[at]
		}
		looped := at != hal.None && state[at] != done
		for k := len(way) - 1; k >= 0; k-- {
			if looped {
				state[way[k]] = lost
				loop = append(loop, way[k])
				continue
			}
			state[way[k]] = done
			order = append(order, way[k])
		}
	}
	return order, loop
}

// Mass is the whole robot's, kg; 0 without bodies.
func (r *Robot) Mass() float64 {
	var m float64
	for i := range r.Bodies {
		m += r.Bodies[i].Mass
	}
	return m
}

// CentreOfMass is the whole robot's in its own frame, in the built pose, m.
func (r *Robot) CentreOfMass() [3]float64 {
	var moment vec
	for i := range r.Bodies {
		b := &r.Bodies[i]
		moment = add(moment, scale(b.Mass, place(b.Pose, b.CentreOfMass)))
	}
	if m := r.Mass(); m > 0 {
		return scale(1/m, moment)
	}
	return vec{}
}

// Touch reports whether bodies a and b may touch each other: not if a joint connects them, nor if the model excludes
// it.
func (r *Robot) Touch(a, b int) bool {
	parents := r.Parents()
	if r.Ghost || a == b || parents[a] == b || parents[b] == a {
		return false
	}
	return !slices.Contains(r.NoContact, [2]int{a, b}) && !slices.Contains(r.NoContact, [2]int{b, a})
}
