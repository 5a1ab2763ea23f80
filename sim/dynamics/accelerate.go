package dynamics

// accelerate computes the accelerations of the joints in the present state into qdd. implicit is the time over which
// damping and springs are implicit: the step, or 0 where the integrator does not want that. h is the step, which the
// constraints look ahead. It returns the degree of freedom that makes the mass matrix singular, or -1.
func (s *System) accelerate(implicit, h float64) int {
	s.doze()
	// Sensors that were read since the last step have placed the links already.
	if !s.placed || s.placedIn != s.Gravity || len(s.wet) > 0 {
		s.place()
	}
	s.placed = false
	s.ahead = implicit
	x := s.qdd
	if s.following {
		s.prescribe(s.given)
	}
	s.bias()
	s.drive(implicit)
	s.solver.gather(s, h)
	for t := range s.m.trees {
		if bad := s.answer(t); bad >= 0 {
			s.solver.reason, s.solver.value = "mass matrix", 0
			return bad
		}
	}
	if s.solver.rows > 0 {
		s.solver.solve(s)
	}
	if s.following {
		for i := range s.State.follow {
			if s.State.follow[i].active {
				x[i] = s.given[i]
			}
		}
	}
	return -1
}

// drive writes the torques for acceleration into qdd, and the additions to the diagonal into solid.
func (s *System) drive(h float64) {
	for i := range s.qdd {
		d := &s.Drive[i]
		v := s.V[i]
		damping := d.Damping + d.Kd
		tau := s.Tau[i] - s.need[i] - float64(damping*v)
		solid := d.Armature + float64(h*damping)
		if k := s.m.dofs[i].q; k >= 0 && (d.Stiffness != 0 || d.Kp != 0) {
			q := s.Q[k] + float64(h*v)
			tau += float64(d.Kp*(d.Goal-q)) - float64(d.Stiffness*(q-d.Rest))
			solid += float64(h * float64(h*(d.Stiffness+d.Kp)))
		}
		s.solid[i], s.qdd[i] = solid, tau
	}
}

// answer solves H x = x for tree number i; of a busy tree it does only the first half, and leaves D^-1/2 L^-T x.
func (s *System) answer(i int) int {
	t := &s.m.trees[i]
	x := s.qdd
	if s.sleeping[i] {
		clear(x[t.dof : t.dof+t.dofs])
		return -1
	}
	if s.following {
		for k := t.dof; k < t.dof+t.dofs; k++ {
			if s.State.follow[k].active {
				x[k] = 0
			}
		}
	}
	deep := s.matrix == nil || s.options.Articulated >= 0 && int(t.depth) >= s.options.Articulated
	if deep && !s.busy[i] {
		return s.recurse(t, x)
	}
	s.composite(t)
	if s.following {
		s.lock(t)
	}
	if bad := s.m.factor(t, s.matrix, s.inverse); bad >= 0 {
		return bad
	}
	s.m.descend(t, s.matrix, x)
	if s.busy[i] {
		s.roots(t)
		if s.dense(t.dof) {
			s.invert(t)
		}
		for k := t.dof; k < t.dof+t.dofs; k++ {
			x[k] = float64(x[k] * s.root[k])
		}
		return -1
	}
	for k := t.dof; k < t.dof+t.dofs; k++ {
		x[k] = float64(x[k] * s.inverse[k])
	}
	s.m.ascend(t, s.matrix, x)
	return -1
}
