package dynamics

import (
	"cmp"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// System is a Model in motion. One goroutine at a time may use it.
type System struct {
	State

	// Before, if set, is called at the beginning of every sub-step of h seconds, to set Tau and Drive from Q and V. It
	// must not change Q and V.
	Before func(s *System, h float64)

	m       *Model
	options Options
	space   *collide.Space
	initial *State

	// The last evaluation. reference is of each tree, solid is the addition to the diagonal of the mass matrix.
	reference        []r3.Vec
	links            []moving
	axes             []motion
	need, solid, qdd []float64
	given            []float64 // accelerations of followed joints, 0 of others
	extra            []motion  // accelerations of links that joint accelerations make
	following        bool
	turns            []bool     // degrees of freedom that turn
	placed           bool       // links is that of Q, V and placedIn
	placedIn         [3]float64 // gravity
	wet              []soaked
	ahead            float64 // s, the time over which damping is implicit

	// LTDL: the factor, the inverse pivots and their roots, the inverse of factor and roots; and the recursion.
	matrix, inverse, root []float64
	whole                 []float64
	bodies                []articulated
	rises                 []rise
	busy                  []bool // trees with constraints in this evaluation
	sleeping, parked      []bool // trees, see sleep.go
	evaluated             bool   // it sleeps, and the last evaluation is of the State; see calm.go

	stage  stages
	solver solver
}

// NewSystem makes a system in the state in which the model is built. Everything a step needs is allocated here.
func NewSystem(m *Model) (*System, error) {
	space, err := m.space()
	if err != nil {
		return nil, fmt.Errorf("dynamics: %w", err)
	}
	nl, nv := len(m.links), len(m.dofs)
	s := &System{
		m: m, options: m.spec.Options, space: space,
		reference: make([]r3.Vec, len(m.trees)),
		links:     make([]moving, nl), axes: make([]motion, nv), extra: make([]motion, nl),
		need: make([]float64, nv), solid: make([]float64, nv), qdd: make([]float64, nv), given: make([]float64, nv),
		inverse: make([]float64, nv), root: make([]float64, nv),
		bodies: make([]articulated, nl), rises: make([]rise, nv), busy: make([]bool, len(m.trees)),
		turns: make([]bool, nv),
		wet:   make([]soaked, len(m.wet)), sleeping: make([]bool, len(m.trees)), parked: make([]bool, len(m.trees)),
	}
	if m.path != nil {
		s.matrix, s.whole = make([]float64, len(m.path)), make([]float64, len(m.path))
	}
	o := &s.options
	o.SubSteps, o.Iterations = max(o.SubSteps, 1), cmp.Or(o.Iterations, 50)
	o.Tolerance, o.MaxSpeed = cmp.Or(o.Tolerance, 3e-5), cmp.Or(o.MaxSpeed, 1e5)
	o.MaxTurn = cmp.Or(o.MaxTurn, 0.1)
	o.Articulated = cmp.Or(o.Articulated, articulatedFrom)
	for i := range m.dofs {
		l := &m.links[m.dofs[i].link]
		s.turns[i] = l.kind != Slide && (l.kind != Free || int32(i) >= l.v+3)
	}
	for i := range m.links {
		if l := &m.links[i]; l.kind == Free {
			// about its own origin, in world axes: they never change
			for k, w := range unitAxes {
				s.axes[int(l.v)+k] = motion{v: w}
				s.axes[int(l.v)+3+k] = motion{w: w}
			}
		}
	}
	contacts := 0
	if space != nil {
		contacts = cmp.Or(o.Contacts, 8*len(m.spec.Geoms)+64)
	}
	state := m.newState(contacts)
	s.initial = &state
	s.State = m.newState(contacts)
	s.stage.size(m)
	s.solver.size(m, contacts)
	s.Reset()
	return s, nil
}

// articulatedFrom is the depth from which the recursion is faster than the factorisation; measured on amd64.
const articulatedFrom = 11

// Model returns the model.
func (s *System) Model() *Model { return s.m }

// Moved must be called after a change of Q or V: the system computes poses and velocities of bodies again, and wakes
// all sleepers.
func (s *System) Moved() {
	clear(s.State.still)
	s.State.calm.wake()
	s.moved()
}

// update places the links for queries between steps.
func (s *System) update() {
	if !s.placed {
		s.place()
		s.placed = true
	}
}

// Pose returns where the link frame of body b is in the world.
func (s *System) Pose(b int) collide.Pose {
	s.update()
	at, turn := s.frame(b)
	return collide.Pose{Position: at.Array(), Rotation: turn.Quat().Array()}
}

// frame is Pose of links that are placed, with the rotation as a matrix.
func (s *System) frame(b int) (at r3.Vec, turn r3.Mat) {
	m := s.m
	l := m.on[b]
	if l == World {
		return m.offsets[b], m.turns[b]
	}
	n := &s.links[l]
	return s.reference[m.links[l].tree].Add(n.p).Add(n.r.Of(m.offsets[b])), n.r.Times(&m.turns[b])
}

// Velocity returns the velocity of the origin of body b's link frame, m/s, and its angular velocity, rad/s, in world
// axes.
func (s *System) Velocity(b int) (linear, angular [3]float64) {
	s.update()
	l := s.m.on[b]
	if l == World {
		return
	}
	n := &s.links[l]
	at := n.p.Add(n.r.Of(s.m.offsets[b]))
	return n.v.v.Add(n.v.w.Cross(at)).Array(), n.v.w.Array()
}

// Acceleration returns the acceleration of the origin of body b's link frame, m/s², and its angular acceleration,
// rad/s², in world axes, as the last evaluation of a step had them: with Euler at its beginning, with contact forces.
// They are those of the body through space: an accelerometer reads the linear one less gravity.
func (s *System) Acceleration(b int) (linear, angular [3]float64) {
	l := s.m.on[b]
	if l == World {
		return
	}
	s.update()
	s.carry(s.qdd)
	n := &s.links[l]
	aw, av := n.a.w.Add(s.extra[l].w), n.a.v.Add(s.extra[l].v).Add(r3.Pack(s.Gravity))
	at := n.p.Add(n.r.Of(s.m.offsets[b]))
	// from the spatial acceleration at the reference to that of a point that moves (RBDA 2.48)
	v := n.v.v.Add(n.v.w.Cross(at))
	return av.Add(aw.Cross(at)).Add(n.v.w.Cross(v)).Array(), aw.Array()
}

// Follow makes a hinge or slide, degree of freedom i, reach position with velocity at the end of the next Step, with
// any force that this needs. It stays followed until Release. It is false for other joints.
func (s *System) Follow(i int, position, velocity float64) bool {
	// Not by a difference: inlined after a product, it would be fused with it where the processor can, and not be 0.
	if s.m.dofs[i].q < 0 || !(math.Abs(position) <= math.MaxFloat64) || !(math.Abs(velocity) <= math.MaxFloat64) {
		return false
	}
	s.State.follow[i] = follow{active: true, position: position, velocity: velocity}
	return true
}

// FollowBody makes the free body b reach a pose in dt seconds, evenly, with any force that this needs: it pushes and is
// not pushed. It keeps that velocity until the next call or ReleaseBody. It is false where b has no free joint or a
// value is not finite.
func (s *System) FollowBody(b int, pose collide.Pose, dt float64) bool {
	j := s.m.Joint(b)
	to := r3.PackQuat(pose.Rotation)
	if n := to.Norm(); j.Kind != Free || !(dt > 0) || !(n > 1e-6 && n < 1e6) {
		return false
	}
	spin := to.Unit().Times(r3.PackQuat([4]float64(s.Q[j.Q+3:])).Inverse()).Log().Mul(1 / dt).Array()
	var rates [6]float64
	for k, x := range pose.Position {
		if !(math.Abs(x) < maxLength) {
			return false
		}
		rates[k], rates[3+k] = (x-s.Q[j.Q+k])/dt, spin[k]
	}
	for k, v := range rates {
		s.State.follow[j.V+k] = follow{active: true, steady: true, velocity: v}
	}
	return true
}

// ReleaseBody makes a followed free body free again.
func (s *System) ReleaseBody(b int) {
	if j := s.m.Joint(b); j.Kind == Free {
		clear(s.State.follow[j.V : j.V+6])
	}
}

// Release makes a followed joint free again.
func (s *System) Release(i int) { s.State.follow[i] = follow{} }

// Place puts the free body b at a pose with a velocity of its origin and an angular velocity, in world axes. It is
// false where b has no free joint or a value is not finite.
func (s *System) Place(b int, pose collide.Pose, linear, angular [3]float64) bool {
	j := s.m.Joint(b)
	q := r3.PackQuat(pose.Rotation)
	if n := q.Norm(); j.Kind != Free || !(n > 1e-6 && n < 1e6) {
		return false
	}
	for _, a := range [...][3]float64{pose.Position, linear, angular} {
		for _, x := range a {
			if !(x > -maxLength && x < maxLength) {
				return false
			}
		}
	}
	q = q.Unit()
	copy(s.Q[j.Q:], pose.Position[:])
	copy(s.Q[j.Q+3:], []float64{q.W, q.X, q.Y, q.Z})
	copy(s.V[j.V:], linear[:])
	copy(s.V[j.V+3:], angular[:])
	s.Moved()
	return true
}
