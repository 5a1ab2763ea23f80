package dynamics

// Energy returns the kinetic energy of all bodies and rotors, and the potential energy in gravity and springs, J.
func (s *System) Energy() (kinetic, potential float64) {
	s.update()
	g := pack(s.Gravity)
	for i := range s.links {
		n := &s.links[i]
		p := n.inertia.of(&n.v)
		kinetic += p.dot(&n.v) / 2
		at := s.reference[s.m.links[i].tree].add(n.c)
		potential -= float64(n.inertia.m * g.dot(at))
	}
	for i, v := range s.V {
		d := &s.Drive[i]
		kinetic += float64(d.Armature*float64(v*v)) / 2
		if k := s.m.dofs[i].q; k >= 0 {
			x := s.Q[k] - d.Rest
			potential += float64(d.Stiffness*float64(x*x)) / 2
		}
	}
	return kinetic, potential
}

// Momentum returns the momentum of all bodies, kg·m/s, and the angular momentum about the world's origin, kg·m²/s.
func (s *System) Momentum() (linear, angular [3]float64) {
	s.update()
	var p, l vec
	for i := range s.links {
		n := &s.links[i]
		f := n.inertia.of(&n.v)
		p = p.add(f.v)
		l = l.add(f.w).add(s.reference[s.m.links[i].tree].cross(f.v))
	}
	return p.array(), l.array()
}

// COM returns the centre of mass of all bodies that can move, m.
func (s *System) COM() [3]float64 {
	s.update()
	var sum vec
	mass := 0.0
	for i := range s.links {
		n := &s.links[i]
		sum = sum.along(n.inertia.m, s.reference[s.m.links[i].tree].add(n.c))
		mass += n.inertia.m
	}
	if mass == 0 {
		return sum.array()
	}
	return sum.mul(1 / mass).array()
}
