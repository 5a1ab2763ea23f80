package collide

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// meeting is one point of contact of a pair, before it is assigned to geoms.
type meeting struct {
	pos, normal r3.Vec // normal from the second shape to the first
	depth       float64
	feature     uint32
}

// perPair is the greatest number of contacts that one pair keeps: four carry a face, the rest uneven ground.
const perPair = 8

// perPart is the greatest number of contacts of a part of a pair: a clipped face.
const perPart = 16

// work is the scratch of one pair. Its axes are those of the world, its origin is the first shape's: so a scene far
// from the world's origin collides as one at the origin does.
type work struct {
	x, y  solid // x.Kind <= y.Kind
	found [64 + perPart]meeting
	n     int
	lost  int
	gate  gate
	line  Shape // of the ridge at work

	first, second polygon // supporting sets of x and y
	other         polygon // the incident face, and its clipped part
	spare         polygon
	swell         swell
}

// touch finds the contacts of one pair and appends them.
func (s *Space) touch(a, b int32) {
	w := &s.work
	i, j := a, b
	if s.geoms[i].Kind > s.geoms[j].Kind {
		i, j = j, i
	}
	origin := s.placed[i].pos
	w.x, w.y = s.placed[i], s.placed[j]
	// The difference of two positions is exact to the last digits even where both are far out.
	w.x.pos, w.y.pos = r3.Vec{}, w.y.pos.Sub(origin)
	w.n, w.lost = 0, 0
	w.meet()
	s.lost += w.lost
	for k := range w.found[:w.n] {
		m := &w.found[k]
		if len(s.contacts) == cap(s.contacts) {
			s.overflow += w.n - k
			return
		}
		normal := m.normal
		if i != a {
			normal = normal.Neg()
		}
		s.contacts = append(s.contacts, Contact{
			A: a, B: b, Feature: m.feature, Position: m.pos.Add(origin).Array(), Normal: normal.Array(), Depth: m.depth,
		})
	}
}

// meet calls the function of the pair of kinds.
func (w *work) meet() {
	// A switch instead of an interface: the calls stay direct and no value escapes to the heap.
	x, y := &w.x, &w.y
	switch {
	case y.Kind == Plane:
		w.onPlane(x, y.pos, y.axis[2])
	case y.Kind == HeightField:
		w.onField()
	case y.Kind == Hull:
		w.hulls()
	case x.Kind == Sphere && y.Kind == Sphere:
		w.spheres()
	case x.Kind == Sphere:
		w.sphereAgainst(x.pos, x.Radius, y, 0)
	case y.Kind == Capsule:
		w.capsules()
	case x.Kind == Capsule:
		w.capsuleAgainst()
	default: // two boxes, two cylinders, or one of each
		w.rounds()
	}
}

// put records a contact. One that is not finite is dropped and counted: the package never returns NaN.
func (w *work) put(pos, normal r3.Vec, depth float64, feature uint32) {
	if !(depth > 0) {
		if depth != depth {
			w.lost++
		}
		return
	}
	if !pos.Finite() || !finite(depth) || !(math.Abs(normal.Dot(normal)-1) < 1e-6) {
		w.lost++
		return
	}
	w.found[w.n] = meeting{pos, normal, depth, feature}
	w.n++
}

// room makes room for one part of a pair, which counts its contacts from w.n on. Only very uneven ground fills the
// scratch; then the contacts that span the area are kept.
func (w *work) room() {
	if w.n > len(w.found)-perPart {
		w.reduce(0, perPair)
	}
}

// reduce keeps at most most of the meetings from index first on: the deepest, then again and again the one farthest
// from those kept, so that they span the area. Those kept stay in order. A later one must be better by more than
// rounding, so that ties go by index and the choice does not flicker.
func (w *work) reduce(first, most int) {
	all := w.found[first:w.n]
	if len(all) <= most {
		return
	}
	var far [len(w.found)]float64 // squared distance to the nearest kept, -1 for those kept
	best := 0
	for i := range all {
		if all[i].depth > float64(all[best].depth*(1+1e-6)) {
			best = i
		}
		far[i] = r3.Huge
	}
	for range most {
		at := all[best].pos
		far[best] = -1
		best = -1
		for i := range all {
			d := all[i].pos.Sub(at)
			far[i] = min(far[i], d.Dot(d))
			if far[i] >= 0 && (best < 0 || far[i] > float64(far[best]*(1+1e-6))) {
				best = i
			}
		}
	}
	n := first
	for i := range all {
		if far[i] < 0 {
			w.found[n] = all[i]
			n++
		}
	}
	w.n = n
}
