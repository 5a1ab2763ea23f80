package dynamics

import (
	"slices"

	"github.com/halyard-robotics/halyard/sim/collide"
)

// apart returns the pairs of bodies that never touch: those of a link, and those of a link and its parent, but for the
// World, from which a hinged body may well hang above the ground.
func (m *Model) apart() [][2]int {
	pairs := slices.Clone(m.spec.NoContact)
	wears := make([][]int, len(m.links)+1) // bodies with geoms on each link, the World's first
	for _, b := range m.wears() {
		wears[m.on[b]+1] = append(wears[m.on[b]+1], int(b))
	}
	wears[0] = append(wears[0], World)
	for l, bodies := range wears {
		for i, a := range bodies {
			for _, b := range bodies[:i] {
				pairs = append(pairs, [2]int{a, b})
			}
			if l > 0 && m.links[l-1].parent != World {
				for _, b := range wears[m.links[l-1].parent+1] {
					pairs = append(pairs, [2]int{a, b})
				}
			}
		}
	}
	return pairs
}

// wears lists the bodies with geoms, but for the World, in the order of their first geoms.
func (m *Model) wears() (bodies []int32) {
	seen := make([]bool, len(m.spec.Bodies))
	for i := range m.spec.Geoms {
		if b := m.spec.Geoms[i].Body; b != World && !seen[b] {
			seen[b] = true
			bodies = append(bodies, int32(b))
		}
	}
	return bodies
}

// space makes the collision space of the model; nil if no geoms can touch.
func (m *Model) space() (*collide.Space, error) {
	if len(m.spec.Geoms) < 2 {
		return nil, nil
	}
	return collide.New(m.spec.Geoms, m.apart(), m.spec.Options.Contacts)
}
