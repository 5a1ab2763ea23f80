package dynamics

import "github.com/halyard-robotics/halyard/internal/sim/r3"

// Energy returns the kinetic energy of all bodies, rotors and the water that moves along (relative to its current), and
// the potential energy in gravity and springs, J.
func (s *System) Energy() (kinetic, potential float64) {
	s.update()
	g := r3.Pack(s.Gravity)
	for i := range s.links {
		n := &s.links[i]
		w, v := n.inertia.of(&n.v)
		kinetic += (w.Dot(n.v.w) + v.Dot(n.v.v)) / 2
		at := s.reference[s.m.links[i].tree].Add(n.c)
		potential -= float64(n.inertia.m * g.Dot(at))
	}
	for i := range s.wet {
		v := s.flow(i)
		p := s.wet[i].mass.of(&v)
		kinetic += p.dot(&v) / 2
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

// Momentum returns the momentum of all bodies and the water that moves along, kg·m/s, and the angular momentum about
// the world's origin, kg·m²/s.
func (s *System) Momentum() (linear, angular [3]float64) {
	s.update()
	var p, l r3.Vec
	for i := range s.links {
		n := &s.links[i]
		w, v := n.inertia.of(&n.v)
		p = p.Add(v)
		l = l.Add(w).Add(s.reference[s.m.links[i].tree].Cross(v))
	}
	for i := range s.wet {
		v := s.flow(i)
		f := s.wet[i].mass.of(&v)
		p = p.Add(f.v)
		l = l.Add(f.w).Add(s.reference[s.m.links[s.m.wet[i].link].tree].Cross(f.v))
	}
	return p.Array(), l.Array()
}

// COM returns the centre of mass of all bodies that can move, m.
func (s *System) COM() [3]float64 {
	s.update()
	var sum r3.Vec
	mass := 0.0
	for i := range s.links {
		n := &s.links[i]
		sum = sum.Along(n.inertia.m, s.reference[s.m.links[i].tree].Add(n.c))
		mass += n.inertia.m
	}
	if mass == 0 {
		return sum.Array()
	}
	return sum.Mul(1 / mass).Array()
}
