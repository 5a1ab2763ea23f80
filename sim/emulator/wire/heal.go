package wire

// Heal ends the faults of a kind and a target, and leaves all others. Under the lock.
func (m *Medium) Heal(kind Kind, target int) {
	kept := m.planted[:0:0]
	for _, p := range m.planted {
		if p.Kind != kind || p.Target != target {
			kept = append(kept, p)
		}
	}
	m.planted = kept
	m.Pass(m.moment())
}
