package wire

import "slices"

// Heal ends the faults of a kind and a target, and leaves all others. Under the lock.
func (m *Medium) Heal(kind Kind, target int) {
	m.planted = slices.DeleteFunc(slices.Clone(m.planted), func(p *Planted) bool { return p.Kind == kind && p.Target == target })
	m.Pass(m.moment())
}
