package dynamics

import (
	"errors"
	"math"
)

// State is everything that a step depends on and changes: equal states give equal results, bit for bit. Its slices are
// sized when a System is made. Their elements may be changed between steps; call Moved after a change of Q, V or the
// poses of followed joints.
type State struct {
	Time    float64    // s
	Gravity [3]float64 // m/s²
	Q, V    []float64  // coordinates and velocities, see the package's conventions
	Tau     []float64  // N·m or N, applied to each degree of freedom; kept from step to step
	Drive   []Drive    // other actions on each degree of freedom
	Force   []Wrench   // on each body; kept from step to step
	Water   []Water    // around each body; empty if no body has Added inertia

	follow []follow
	still  []float64  // s, time at rest of each tree; empty if none may sleep
	felt   [3]float64 // gravity of the last step
	calm   calm
	// The constraint forces of the last solve, from which the next one starts.
	stops, dry, held []float64
	touch            []touch
	touches          int
}

// Drive is the action on a degree of freedom in addition to Tau. It starts from the model's Joint and may be changed at
// any time. Damping, Kd and the springs are implicit under Euler.
type Drive struct {
	Armature, Damping     float64
	Stiffness, Rest       float64 // a spring; only hinges and slides
	Kp, Kd, Goal          float64 // a controller: Kp (Goal - q) - Kd v; only hinges and slides
	Dry, Static, Stribeck float64 // see Joint
	// Target is the speed towards which Dry pushes, rad/s: with it, Dry is a motor that holds a speed with as much
	// torque as that takes and it has, as ODE's joint motors do (manual, "Stops and motors"). Slip, rad/s per N·m, is
	// by how much it gives way under load, ODE's CFM.
	Target, Slip float64
}

// Wrench is a force through a body's COM, N, and a moment, N·m, in world axes.
type Wrench struct{ Force, Torque [3]float64 }

// follow is the motion that a joint is made to have.
type follow struct {
	active             bool
	steady             bool    // of a free joint: it has velocity in the whole Step, and no position
	position, velocity float64 // at the end of the Step
	rate, next         float64 // rad/s: of this sub-step, and at its end
}

// touch is the stored state of a contact.
type touch struct {
	a, b    int32
	feature uint32
	f       [6]float64
}

// newState makes a state of the model as it is built.
func (m *Model) newState(contacts int) State {
	n := len(m.dofs)
	s := State{
		Gravity: m.spec.Options.Gravity,
		Q:       make([]float64, m.nq),
		V:       make([]float64, n),
		Tau:     make([]float64, n),
		Drive:   make([]Drive, n),
		Force:   make([]Wrench, len(m.spec.Bodies)),
		follow:  make([]follow, n),
		stops:   make([]float64, n),
		dry:     make([]float64, n),
		held:    make([]float64, heldRows*len(m.spec.Equalities)),
		touch:   make([]touch, contacts),
	}
	if len(m.wet) > 0 {
		s.Water = make([]Water, len(m.spec.Bodies))
		for i := range m.wet {
			s.Water[m.wet[i].body].Share = 1
		}
	}
	if len(m.drowsy) > 0 {
		s.still = make([]float64, len(m.trees))
	}
	if m.spec.Options.Sleeps {
		s.calm.size(m)
	}
	for i := range m.links {
		l := &m.links[i]
		j := &m.spec.Bodies[l.body].Joint
		q := s.Q[l.q:]
		switch l.kind {
		case Free:
			turn := l.turn.Quat()
			copy(q, []float64{l.offset.X, l.offset.Y, l.offset.Z, turn.W, turn.X, turn.Y, turn.Z})
		case Ball:
			q[0] = 1
		}
		for k := range l.kind.dofs() {
			s.Drive[int(l.v)+k] = Drive{
				Armature: j.Armature, Damping: j.Damping, Stiffness: j.Stiffness, Rest: j.Rest,
				Dry: j.Dry, Static: j.Static, Stribeck: j.Stribeck,
			}
		}
	}
	return s
}

// copyFrom makes s equal to t, which is of the same model. It does not allocate.
func (s *State) copyFrom(t *State) {
	s.Time, s.Gravity, s.felt = t.Time, t.Gravity, t.felt
	copy(s.still, t.still)
	copy(s.Q, t.Q)
	copy(s.V, t.V)
	copy(s.Tau, t.Tau)
	copy(s.Drive, t.Drive)
	copy(s.Force, t.Force)
	copy(s.Water, t.Water)
	copy(s.follow, t.follow)
	copy(s.stops, t.stops)
	copy(s.dry, t.dry)
	copy(s.held, t.held)
	copy(s.touch[:t.touches], t.touch[:t.touches])
	s.touches = t.touches
	s.calm.copyFrom(&t.calm)
}

// fits reports whether t is of a model with the same sizes.
func (s *State) fits(t *State) bool {
	return len(s.Q) == len(t.Q) && len(s.V) == len(t.V) && len(s.Force) == len(t.Force) &&
		len(s.Water) == len(t.Water) &&
		len(s.held) == len(t.held) && len(s.still) == len(t.still) && len(s.calm.tau) == len(t.calm.tau) &&
		len(s.touch) == len(t.touch)
}

// NewState returns a state of the right size to Save into.
func (s *System) NewState() *State {
	t := s.m.newState(len(s.touch))
	return &t
}

// Save copies the state into dst, which NewState made. It does not allocate.
func (s *System) Save(dst *State) error {
	if !dst.fits(&s.State) {
		return errSize
	}
	dst.copyFrom(&s.State)
	return nil
}

// Restore returns to a saved state: the next steps are the same, bit for bit, as after Save.
func (s *System) Restore(src *State) error {
	if !src.fits(&s.State) {
		return errSize
	}
	s.State.copyFrom(src)
	s.moved()
	return nil
}

// Reset goes back to the state of the model as it is built, at rest.
func (s *System) Reset() {
	s.State.copyFrom(s.initial)
	s.moved()
}

var errSize = errors.New("dynamics: state: got a state of another model, want a state of this model")

// Hash returns a 64-bit number of the whole state, different for states that differ in any bit, but for accidents of
// one in 2^64 (FNV-1a).
func (s *State) Hash() uint64 {
	h := uint64(14695981039346656037)
	put := func(x ...float64) {
		for _, v := range x {
			h = (h ^ math.Float64bits(v)) * 1099511628211
		}
	}
	put(s.Time)
	put(s.Gravity[:]...)
	for _, x := range [...][]float64{s.Q, s.V, s.Tau, s.stops, s.dry, s.held} {
		put(x...)
	}
	for i := range s.Drive {
		v := s.Drive[i].values()
		put(v[:10]...)
		if v[10] != 0 || v[11] != 0 { // the target and the slip of a motor
			put(float64(i), v[10], v[11])
		}
	}
	for i := range s.Force {
		put(s.Force[i].Force[:]...)
		put(s.Force[i].Torque[:]...)
	}
	for i := range s.Water {
		w := &s.Water[i]
		put(w.Share)
		put(w.Current[:]...)
		put(w.Drag[:]...)
		put(w.Centre[:]...)
	}
	for i, x := range s.still {
		if x != 0 {
			put(float64(i), x)
		}
	}
	if c := &s.calm; c.since > 0 {
		put(c.since, c.peak)
		if c.since >= calmFor {
			c.hash(put)
		}
	}
	for i := range s.follow {
		if f := &s.follow[i]; f.active {
			put(float64(i), f.position, f.velocity)
		}
	}
	for i := range s.touch[:s.touches] {
		t := &s.touch[i]
		put(float64(t.a), float64(t.b), float64(t.feature))
		put(t.f[:]...)
	}
	return h
}
