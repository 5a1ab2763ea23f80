package hal

import (
	"math"
	"time"
)

// Autopilot is a control law in the rig's cycle, between the controllers' commands and the guard. It must neither block
// for long nor call the agent or the rig, and allocates nothing.
type Autopilot interface {
	// Update is called at the start of every cycle, which lasts dt: f.Measured and f.Status are of the last one. It
	// fills inputs, which are NaN (no command) at first, and reports whether it commands: the cycle in which it no
	// longer does takes the torque off the agent's thrusters.
	Update(f *Frame, inputs []float64, dt time.Duration) bool
	// Disengage is called instead of Update while the guard passes no commands: disarmed, stopped, homing, or after its
	// command deadline. After it Update commands nothing until the autopilot is armed again, so that a returning client
	// moves nothing by connecting. It is called under the agent's lock, by any goroutine, and only sets a state.
	Disengage()
}

// pilot is an agent's autopilot and its state in the rig.
type pilot struct {
	law    Autopilot
	number int // of the law, in the order they were set
	inputs []float64
	flying bool // commanded in the last cycle
}

// SetAutopilot puts law between a's controllers and its guard from the next cycle on, and replaces the previous one;
// nil removes it.
func (a *Agent) SetAutopilot(law Autopilot) {
	a.lock()
	defer a.mu.Unlock()
	a.release()
	a.pilot = pilot{law: law, number: a.pilot.number + 1, inputs: make([]float64, len(a.layout.Inputs))}
}

// steer gets this cycle's inputs from the autopilot, which runs without the agent's lock. They do not count as a
// command of the holder: the deadline runs on. Under both locks.
func (a *Agent) steer(elapsed, dt time.Duration) {
	p, g := &a.pilot, a.guard
	if p.law == nil {
		return
	}
	commanded := g.config.CommandTimeout == 0 || g.waiting && elapsed-g.last <= g.config.CommandTimeout
	if !g.active() || g.homing || !commanded || a.rig.ending {
		a.rest()
		return
	}
	law, number, inputs, stops := p.law, p.number, p.inputs, g.counts.Stops
	FillNaN(inputs)
	a.mu.Unlock()
	callOut("an autopilot")
	commands := law.Update(a.frame, inputs, dt)
	a.mu.Lock()
	if a.latch(); p.number != number || g.counts.Stops != stops { // it was replaced, or the agent stopped or disarmed
		return
	}
	if !commands {
		a.release()
		return
	}
	a.enter(Order{Kind: SteerOrder, Inputs: p.inputs})
	p.flying = true
	g.steer(p.inputs)
}

// rest disengages the autopilot. Under a's lock.
func (a *Agent) rest() {
	if a.pilot.law != nil {
		a.pilot.law.Disengage()
		a.release()
	}
}

// release switches torque off for the thrusters of an autopilot that has just stopped commanding.
func (a *Agent) release() {
	if !a.pilot.flying {
		return
	}
	a.pilot.flying = false
	for i := range a.guard.joints {
		if a.layout.Actuators[i].Kind == Thruster {
			a.guard.joints[i].forget(math.NaN())
		}
	}
}
