package dynamics

// Sleep. A free body that Spec allows to sleep falls asleep after restful seconds at rest. It then stays in place like
// the World, costs next to nothing, and still supports bodies on it. It wakes for the next step when a moving body
// touches it, or when a body that it touched begins to move. It wakes at once when a force acts on it, when gravity
// changes, and when Moved reports a change of the state from outside. So a scene of two hundred stones costs only its
// moving bodies.
//
// Which bodies sleep is part of the State; all else here is derived from it.

const (
	restful  = 0.5  // s
	slowly   = 5e-3 // m/s
	steadily = 0.1  // rad/s
)

// sleepers finds the trees that may sleep: of a single free body, which no equality holds.
func (m *Model) sleepers() {
	count := make([]int, len(m.links))
	for _, l := range m.on {
		if l != World {
			count[l]++
		}
	}
	for i := range m.spec.Equalities {
		for _, b := range [...]int{m.spec.Equalities[i].A, m.spec.Equalities[i].B} {
			if b != World && m.on[b] != World {
				count[m.on[b]] = 0
			}
		}
	}
	for t := range m.trees {
		l := m.trees[t].link
		if b := &m.spec.Bodies[m.links[l].body]; b.Sleeps && b.Joint.Kind == Free && b.Added == nil &&
			m.trees[t].links == 1 && count[l] == 1 {
			m.drowsy = append(m.drowsy, int32(t))
		}
	}
}

// doze finds the trees that sleep in this evaluation. It does not change the State.
func (s *System) doze() {
	awake := s.Gravity != s.State.felt
	for _, t := range s.m.drowsy {
		s.sleeping[t] = s.State.still[t] >= restful && !awake && !s.driven(t)
		if !s.sleeping[t] && s.parked[t] {
			s.park(t, false)
		}
	}
}

// driven reports whether a force acts on tree t, of one free body.
func (s *System) driven(t int32) bool {
	tree := &s.m.trees[t]
	for _, tau := range s.Tau[tree.dof : tree.dof+tree.dofs] {
		if tau != 0 {
			return true
		}
	}
	return !s.Force[s.m.links[tree.link].body].none()
}

// park keeps the links, the pose and the place in the collision space of tree t as they are from one step to the next.
func (s *System) park(t int32, on bool) {
	s.parked[t] = on
	if s.space != nil {
		s.space.Hold(int(s.m.links[s.m.trees[t].link].body), on)
	}
}

// moved is Moved without waking sleepers: Q and V have changed, and with them perhaps the set of sleepers.
func (s *System) moved() {
	s.placed, s.evaluated = false, false
	for _, t := range s.m.drowsy {
		s.park(t, false)
	}
}

// rest ends a step of h: it counts the time at rest of each tree, and wakes sleepers next to a moving body.
func (s *System) rest(h float64) {
	m, still := s.m, s.State.still
	if len(m.drowsy) == 0 {
		return
	}
	s.State.felt = s.Gravity
	for _, t := range m.drowsy {
		switch v := s.V[m.trees[t].dof:]; {
		case s.sleeping[t]:
		case still[t] >= restful: // something has woken it
			still[t] = h
		case within(v[:3], slowly) && within(v[3:6], steadily):
			still[t] += h
		default:
			still[t] = 0
		}
	}
	for i := range s.touch[:s.touches] {
		a, b := s.wearer(s.touch[i].a), s.wearer(s.touch[i].b)
		s.rouse(a, b, h)
		s.rouse(b, a, h)
	}
	for _, t := range m.drowsy {
		if !s.sleeping[t] && still[t] >= restful {
			clear(s.V[m.trees[t].dof:][:6])
		}
	}
}

// rouse wakes tree a where it sleeps and b moves, or could. A woken tree has not moved yet, and wakes no other.
func (s *System) rouse(a, b int32, h float64) {
	if a == World || b == World || !s.sleeping[a] || s.sleeping[b] {
		return
	}
	if s.State.still[b] == 0 { // always 0 for a body that may not sleep
		s.State.still[a] = h
	}
}

// wearer is the tree of a geom, or World.
func (s *System) wearer(geom int32) int32 {
	b := s.space.Geom(geom).Body
	if b == World || s.m.on[b] == World {
		return World
	}
	return s.m.links[s.m.on[b]].tree
}

// dormant is last, where a body that sleeps is as the World.
func (s *System) dormant(b int) int32 {
	last := s.m.last(b)
	if last >= 0 && s.sleeping[s.m.tree(last)] {
		return -1
	}
	return last
}

// within reports whether no x is greater than most.
func within(x []float64, most float64) bool {
	for _, v := range x {
		if !(v <= most && v >= -most) {
			return false
		}
	}
	return true
}
