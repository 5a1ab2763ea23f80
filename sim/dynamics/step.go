package dynamics

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/sim/r3"
)

// Diverged is a step that was reverted: the state is that before the sub-step, and finite.
type Diverged struct {
	Body  int    // the body of the named joint
	Name  string // of the body
	Time  float64
	What  string // "velocity", "mass matrix", "input"
	Value float64
}

func (e *Diverged) Error() string {
	return fmt.Sprintf("dynamics: %s of the joint of %q at %.6g s: got %g; the step was reverted", e.What, e.Name,
		e.Time, e.Value)
}

// stages are RK4's data in addition to the State: the start, and the sums.
type stages struct {
	next, q0, v0, rate, sumQ, sumV []float64
}

// size makes room for the state's coordinates and velocities.
func (g *stages) size(m *Model) {
	nq, nv := m.nq, len(m.dofs)
	g.next, g.v0, g.sumV = make([]float64, nv), make([]float64, nv), make([]float64, nv)
	g.q0, g.rate, g.sumQ = make([]float64, nq), make([]float64, nq), make([]float64, nq)
}

// Step lets dt seconds pass, dt > 0. On error, which is a *Diverged, the state is that of the last good sub-step, and
// Time reports how much has passed. It does not allocate but for the error.
func (s *System) Step(dt float64) error {
	if !(dt > 0 && dt <= 1e3) {
		return fmt.Errorf("dynamics: step: got %g s, want more than 0, at most 1000", dt)
	}
	if s.asleep(dt) {
		s.Time += dt
		return nil
	}
	n := s.options.SubSteps
	h := dt / float64(n)
	for i := range n {
		if s.Before != nil {
			s.Before(s, h)
		}
		s.follows(dt-float64(float64(i)*h), h, i == n-1)
		smooth, turn := s.options.Integrator == RK4, s.options.EulerTurn
		if smooth {
			turn = s.options.MaxTurn
		}
		bad, parts := -1, s.parts(h, turn)
		for j := 0; j < parts && bad < 0; j++ {
			if smooth {
				bad = s.rk4(h / float64(parts))
			} else {
				bad = s.euler(h / float64(parts))
			}
		}
		s.placed = false
		if bad >= 0 {
			s.solver.forget(s)
			return s.diverged(bad)
		}
		s.Time += h
	}
	s.settle(dt)
	return nil
}

// follows gives followed joints their acceleration in a sub-step of h: an even way to the goal over the rest of the
// Step, with the velocity asked for at its end.
func (s *System) follows(rest, h float64, last bool) {
	s.following = false
	for i := range s.State.follow {
		f := &s.State.follow[i]
		s.given[i] = 0
		if !f.active {
			continue
		}
		s.following = true
		if f.next = f.velocity; !f.steady {
			f.rate = (f.position - s.Q[s.m.dofs[i].q]) / rest
			f.next = f.rate
		}
		if last {
			f.next = f.velocity
		}
		s.given[i] = (f.next - s.V[i]) / h
	}
}

// arrive puts followed joints where they are to be after a sub-step of h that began at q0.
func (s *System) arrive(q0 []float64, h float64) {
	if !s.following {
		return
	}
	for i := range s.State.follow {
		f := &s.State.follow[i]
		if !f.active {
			continue
		}
		if s.V[i] = f.next; !f.steady { // a free joint has drifted with its velocity
			k := s.m.dofs[i].q
			s.Q[k] = q0[k] + float64(h*f.rate)
		}
	}
}

// stuck reports whether no force moves the link whose last degree of freedom is a: all of its joints are followed. The
// wheels and castors of a followed free body count as such: what presses on their axles has nothing to give.
func (s *System) stuck(a int32) bool {
	if a < 0 || !s.following {
		return a < 0
	}
	d := &s.m.dofs[a]
	led, free := false, false
	for _, j := range s.m.path[d.row : d.row+d.depth+1] {
		l := &s.m.links[s.m.dofs[j].link]
		active := s.State.follow[j].active
		if led = led || active && l.kind == Free; active {
			continue
		}
		if free = true; l.kind != Hinge || s.m.spec.Bodies[l.body].Joint.Limited {
			return false
		}
	}
	return led || !free
}

// euler is one semi-implicit step. It returns the degree of freedom that diverged, or -1.
func (s *System) euler(h float64) int {
	if bad := s.accelerate(h, h); bad >= 0 {
		return bad
	}
	return s.jump(h)
}

// jump ends a semi-implicit step with the accelerations that are known.
func (s *System) jump(h float64) int {
	// The new velocities are checked before any change, so no change must be reverted.
	next := s.stage.next
	for i, v := range s.V {
		next[i] = v + float64(h*s.qdd[i])
	}
	if bad := s.wild(next); bad >= 0 {
		return bad
	}
	copy(s.V, next)
	if s.following {
		copy(s.stage.q0, s.Q)
	}
	s.drift(h)
	s.arrive(s.stage.q0, h)
	s.solver.keep(s)
	s.rest(h)
	return -1
}

// wild returns the degree of freedom with the greatest velocity, if any is too great or NaN, else -1: a diverging joint
// also accelerates its neighbours.
func (s *System) wild(v []float64) int {
	for _, x := range v {
		if !(math.Abs(x) <= s.options.MaxSpeed) {
			worst := 0
			for i, x := range v {
				if math.Abs(x) > math.Abs(v[worst]) || v[worst] != v[worst] {
					worst = i
				}
			}
			s.solver.reason, s.solver.value = "velocity", v[worst]
			return worst
		}
	}
	return -1
}

// diverged makes the error. NaN spreads through the whole tree, so an input that is not finite is named first.
func (s *System) diverged(i int) error {
	for k, tau := range s.Tau {
		d := &s.Drive[k]
		for _, x := range [...]float64{tau, d.Armature, d.Damping, d.Stiffness, d.Rest, d.Kp, d.Kd, d.Goal, d.Dry,
			d.Static, d.Target, d.Slip} {
			if x-x != 0 {
				i, s.solver.reason, s.solver.value = k, "input", x
			}
		}
	}
	for b := range s.Force {
		for _, x := range [...]r3.Vec{r3.Pack(s.Force[b].Force), r3.Pack(s.Force[b].Torque)} {
			if y := x.X + x.Y + x.Z; y-y != 0 {
				return &Diverged{b, s.m.Name(b), s.Time, "force", y}
			}
		}
	}
	if b, y := s.murky(); b != World {
		return &Diverged{b, s.m.Name(b), s.Time, "water", y}
	}
	b := int(s.m.links[s.m.dofs[i].link].body)
	return &Diverged{b, s.m.Name(b), s.Time, s.solver.reason, s.solver.value}
}

// drift moves the coordinates with the velocities for h seconds; turns by the exponential map.
func (s *System) drift(h float64) {
	for i := range s.m.links {
		l := &s.m.links[i]
		if s.sleeping[l.tree] {
			continue
		}
		switch l.kind {
		case Hinge, Slide:
			s.Q[l.q] += float64(h * s.V[l.v])
		case Ball:
			s.turn(s.Q[l.q:l.q+4], s.V[l.v:l.v+3], h)
		case Free:
			q, v := s.Q[l.q:l.q+7], s.V[l.v:l.v+6]
			for k := range 3 {
				q[k] += float64(h * v[k])
			}
			s.turn(q[3:], v[3:], h)
		}
	}
}

// turn lets the quaternion q turn with w, in the axes of the parent, for h seconds.
func (s *System) turn(q, w []float64, h float64) {
	_, _ = q[3], w[2]
	step := r3.Spin(r3.XYZ(float64(w[0]*h), float64(w[1]*h), float64(w[2]*h)))
	r := step.Times(r3.PackQuat([4]float64(q))).Unit()
	q[0], q[1], q[2], q[3] = r.W, r.X, r.Y, r.Z
}

// rates writes the rates of the coordinates; those of a quaternion are w q / 2 as a product of quaternions, so that
// four of them are combined with the full order of the method.
func (s *System) rates(rate []float64) {
	for i := range s.m.links {
		l := &s.m.links[i]
		q, v := int(l.q), int(l.v)
		switch l.kind {
		case Hinge, Slide:
			rate[q] = s.V[v]
			continue
		case Free:
			copy(rate[q:q+3], s.V[v:v+3])
			q, v = q+3, v+3
		}
		w := r3.Quat{X: float64(s.V[v] * 0.5), Y: float64(s.V[v+1] * 0.5), Z: float64(s.V[v+2] * 0.5)}
		r := w.Times(r3.PackQuat([4]float64(s.Q[q : q+4])))
		rate[q], rate[q+1], rate[q+2], rate[q+3] = r.W, r.X, r.Y, r.Z
	}
}

// rk4 is one step of the classical method (Hairer, Lubich and Wanner, Geometric Numerical Integration, II.1.1). It
// returns the degree of freedom that diverged, or -1.
func (s *System) rk4(h float64) int {
	g := &s.stage
	copy(g.q0, s.Q)
	copy(g.v0, s.V)
	for stage, weight := range [...]float64{1, 2, 2, 1} {
		s.solver.inside = stage > 0
		bad := s.accelerate(0, h)
		s.solver.inside = false
		if bad < 0 {
			bad = s.wild(s.V)
		}
		if bad >= 0 {
			copy(s.Q, g.q0)
			copy(s.V, g.v0)
			return bad
		}
		if stage == 0 && s.solver.impact {
			// Velocities jump in this step, which no smooth method follows.
			return s.jump(h)
		}
		s.rates(g.rate)
		way := h
		if stage < 2 {
			way = h / 2
		}
		// Sums, not a fifth state: one pass over each stage's rates.
		if stage == 0 {
			clear(g.sumQ)
			clear(g.sumV)
		}
		for i, r := range g.rate {
			g.sumQ[i] += float64(weight * r)
			if stage < 3 {
				s.Q[i] = g.q0[i] + float64(way*r)
			}
		}
		for i, a := range s.qdd {
			g.sumV[i] += float64(weight * a)
			if stage < 3 {
				s.V[i] = g.v0[i] + float64(way*a)
			}
		}
		if stage < 3 {
			s.upright()
		}
		s.solver.keep(s)
	}
	// The sums are weighed here; the stages have left Q and V at the last of them.
	for i := range s.Q {
		s.Q[i] = g.q0[i] + float64(h/6*g.sumQ[i])
	}
	for i := range s.V {
		s.V[i] = g.v0[i] + float64(h/6*g.sumV[i])
	}
	if bad := s.wild(s.V); bad >= 0 {
		copy(s.Q, g.q0)
		copy(s.V, g.v0)
		return bad
	}
	s.upright()
	s.arrive(g.q0, h)
	return -1
}

// upright gives the quaternions length 1 again.
func (s *System) upright() {
	for i := range s.m.links {
		l := &s.m.links[i]
		k := l.q
		switch l.kind {
		case Hinge, Slide:
			continue
		case Free:
			k += 3
		}
		q := s.Q[k : k+4]
		r := r3.PackQuat([4]float64(q)).Unit()
		q[0], q[1], q[2], q[3] = r.W, r.X, r.Y, r.Z
	}
}

// parts returns in how many equal parts a step of h is taken, so that no joint turns by more than most in one: the
// tip of a chain that cracks like a whip turns ten times as fast as the rest, for a few steps, and would make most of
// the error of the whole run.
func (s *System) parts(h, most float64) int {
	if most <= 0 {
		return 1
	}
	fastest := 0.0
	for i, v := range s.V {
		if s.turns[i] {
			fastest = max(fastest, math.Abs(v))
		}
	}
	turn := float64(fastest*h) / most
	if turn < maxParts {
		return 1 + int(turn)
	}
	return maxParts
}

// maxParts bounds parts, and so the cost of a step.
const maxParts = 16
