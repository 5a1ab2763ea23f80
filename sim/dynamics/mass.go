package dynamics

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// inertias sums up the bodies of each link.
func (m *Model) inertias(f *Faults) {
	// Two passes: the COM first, then the inertia about it. About any other point the small terms of a long link would
	// be lost in m r².
	first := make([]r3.Vec, len(m.links))
	for i := range m.spec.Bodies {
		if l := m.on[i]; l != World {
			mass := m.spec.Bodies[i].Mass
			m.links[l].mass += mass
			first[l] = first[l].Along(mass, m.com(i))
		}
	}
	// A single body's COM is taken as it is: dividing by the mass again would round it.
	count := make([]int, len(m.links))
	for i := range m.spec.Bodies {
		if l := m.on[i]; l != World && m.spec.Bodies[i].Mass > 0 {
			if count[l]++; count[l] == 1 {
				m.links[l].com = m.com(i)
			} else {
				m.links[l].com = first[l].Mul(1 / m.links[l].mass)
			}
		}
	}
	sums := make([]sym, len(m.links))
	for i := range m.spec.Bodies {
		if l := m.on[i]; l != World {
			b := &m.spec.Bodies[i]
			a := &b.Inertia
			s := sym{a[0], a[1], a[2], a[4], a[5], a[8]}
			s = s.turned(&m.turns[i])
			s = s.moved(b.Mass, m.com(i).Sub(m.links[l].com))
			sums[l].add(&s)
		}
	}
	for i := range m.links {
		m.links[i].shape(principal(sums[i]))
	}
	m.heavy(f)
}

// com is the centre of mass of body i in the own frame of its link.
func (m *Model) com(i int) r3.Vec {
	return m.offsets[i].Add(m.turns[i].Of(r3.Pack(m.spec.Bodies[i].COM)))
}

// shape stores the inertia as three numbers and two axes. Where two principal moments are the same, as those of rods
// and wheels, one axis is enough.
func (l *link) shape(d [3]float64, v r3.Mat) {
	axes := [3]r3.Vec{v.X, v.Y, v.Z}
	i := 0 // the moment most similar to its successor is first
	for j := range 3 {
		if math.Abs(d[j]-d[(j+1)%3]) < math.Abs(d[i]-d[(i+1)%3]) {
			i = j
		}
	}
	j, k := (i+1)%3, (i+2)%3
	l.base, l.ext1, l.ext2 = d[i], d[j]-d[i], d[k]-d[i]
	l.axis1, l.axis2 = axes[j], axes[k]
	if math.Abs(l.ext1) < 1e-15*d[i] {
		l.ext1 = 0
	}
}

// heavy checks that every joint has something to move.
func (m *Model) heavy(f *Faults) {
	mass := make([]float64, len(m.links))
	for i := len(m.links) - 1; i >= 0; i-- {
		l := &m.links[i]
		mass[i] += l.mass
		if mass[i] == 0 && m.spec.Bodies[l.body].Joint.Armature == 0 {
			f.add(fmt.Sprintf("bodies[%d].mass", l.body),
				"got 0 for the body and all that it carries, want a mass or an armature")
		}
		if l.parent != World {
			mass[l.parent] += mass[i]
		}
	}
}

// Place is where the coordinates of a joint are: Q and V are its first index in State.Q and State.V, and
// Coords and DOFs how many there are. Those of a weld are 0, with indexes -1.
type Place struct {
	Kind         JointKind
	Q, V         int
	Coords, DOFs int
}

// Joint returns the place of the joint of body b, 0 <= b < Bodies().
func (m *Model) Joint(b int) Place {
	k := m.spec.Bodies[b].Joint.Kind
	if k == Weld {
		return Place{Q: -1, V: -1}
	}
	l := &m.links[m.on[b]]
	return Place{k, int(l.q), int(l.v), k.coords(), k.dofs()}
}

// Bodies returns how many bodies there are.
func (m *Model) Bodies() int { return len(m.spec.Bodies) }

// Coords returns the length of State.Q.
func (m *Model) Coords() int { return m.nq }

// DOFs returns the length of State.V.
func (m *Model) DOFs() int { return len(m.dofs) }

// Mass returns the mass of all bodies that can move, kg.
func (m *Model) Mass() float64 {
	sum := 0.0
	for i := range m.links {
		sum += m.links[i].mass
	}
	return sum
}

// Name returns the name of body b, or its index if it has none.
func (m *Model) Name(b int) string {
	if b == World {
		return "world"
	}
	if n := m.spec.Bodies[b].Name; n != "" {
		return n
	}
	return fmt.Sprint("body ", b)
}
