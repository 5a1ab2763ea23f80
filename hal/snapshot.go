package hal

import (
	"errors"
	"time"
)

// A world may be reset, saved and restored between two cycles for a protocol that waits for no session. The commands to
// its agents belong to its state: without it the same commands would not move it the same way again.

// agentSnapshot is the state of an agent that SaveWorld stores in addition to its body.
type agentSnapshot struct {
	taken                  bool
	joints                 []guardJoint
	homing, reset, waiting bool
	last, arrived          time.Duration // before the time of the snapshot
}

// ResetWorld returns w to the state of seed at once (0: the previous seed), like a rig's reset requested by every
// lease. Commands are discarded and every body in w is read again. The error is of kind Unsafe if a body in w is real
// or w is not a Resetter; nothing moves then.
func (r *Rig) ResetWorld(w World, seed int64) error {
	r.lock()
	defer r.mu.Unlock()
	if r.ending {
		return ended("reset")
	}
	if !r.exact(w) {
		return &Error{Kind: Unsafe, Op: "reset", Err: errors.New("a body in this world cannot be reset at once")}
	}
	r.enter(Order{Kind: ResetWorldOrder, Agent: r.inWorld(w), Seed: seed})
	r.events.Raise(r.known.reset)
	wired := false
	for _, a := range r.agents {
		if a.world == w {
			r.relax(a)
			wired = wired || a.bodyKind != Simulated
		}
	}
	if wired {
		r.eachBus(Bus.Send)
	}
	err := w.(Resetter).Reset(seed)
	if wired {
		r.forget()
		r.eachBus(Bus.Receive)
	}
	r.readWorld(w)
	r.events.Raise(r.known.resetDone)
	return err
}

// SaveWorld keeps w as it is between two cycles, and its agents' commands so far; one snapshot a world. The error is of
// kind Unsafe where a body in w is not simulated, since drivers and devices cannot be restored, or where w is no Saver.
func (r *Rig) SaveWorld(w World) error {
	r.lock()
	defer r.mu.Unlock()
	s, err := r.saver("save", w)
	if err != nil {
		return err
	}
	r.enter(Order{Kind: SaveWorldOrder, Agent: r.inWorld(w)})
	if err := s.Save(); err != nil {
		return err
	}
	for _, a := range r.agents {
		if a.world == w {
			a.save(r.time, r.elapsed())
		}
	}
	return nil
}

// RestoreWorld returns w and its agents to the state stored by SaveWorld, bit for bit, or, without one, to the initial
// state. Rig time continues; deadlines keep their remaining time. Disarmed and stopped agents stay so, and discard
// commands when they are armed. Errors as SaveWorld.
func (r *Rig) RestoreWorld(w World) error {
	r.lock()
	defer r.mu.Unlock()
	s, err := r.saver("restore", w)
	if err != nil {
		return err
	}
	r.enter(Order{Kind: RestoreWorldOrder, Agent: r.inWorld(w)})
	err = s.Restore()
	for _, a := range r.agents {
		if a.world == w {
			a.restore(r.time, r.elapsed())
		}
	}
	r.readWorld(w)
	return err
}

// saver is w as a Saver. Under the lock.
func (r *Rig) saver(op string, w World) (Saver, error) {
	if r.ending {
		return nil, ended(op)
	}
	s, ok := w.(Saver)
	for _, a := range r.agents {
		ok = ok && (a.world != w || a.bodyKind == Simulated)
	}
	if !ok {
		return nil, &Error{Kind: Unsafe, Op: op, Err: errors.New("this world is not all simulated")}
	}
	return s, nil
}

// readWorld reads the bodies in w again, since guards and observers use measurements. Under the lock.
func (r *Rig) readWorld(w World) {
	for _, a := range r.agents {
		if a.world == w {
			r.read(a)
			a.publish()
			a.moved()
		}
	}
}

func (a *Agent) save(now, elapsed time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g, s := a.guard, &a.saved
	s.taken, s.joints = true, append(s.joints[:0], g.joints...)
	s.homing, s.reset, s.waiting = g.homing, g.reset, g.waiting
	s.last, s.arrived = elapsed-g.last, now-g.arrived
	for i := range s.joints {
		s.joints[i].last = elapsed - s.joints[i].last
	}
	if g.arrived < 0 {
		s.arrived = -1
	}
}

func (a *Agent) restore(now, elapsed time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g, s := a.guard, &a.saved
	g.clear()
	if !s.taken {
		return
	}
	copy(g.joints, s.joints)
	for i := range g.joints {
		g.joints[i].last = elapsed - g.joints[i].last
	}
	g.homing, g.reset, g.waiting = s.homing, s.reset, s.waiting
	g.last, g.arrived = elapsed-s.last, now-s.arrived
	if s.arrived < 0 {
		g.arrived = -1
	}
}
