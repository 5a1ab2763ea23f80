package servo

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// cut lets a stop reach a chain from another goroutine: the lock of its line, and the request to end the running
// exchange.
type cut struct {
	goals  sync.Mutex  // those that are staged; taken after mu
	mu     sync.Mutex  // the line and its traffic; Send, Receive and Halt hold it
	wanted atomic.Bool // a stop waits for mu: exchanges end at once
	phase  phase       // of a stop; under mu
	halted atomic.Bool // a stop has cut the torque, and the chain's goroutine has not seen it yet
}

// phase is how far a stop is.
type phase uint8

const (
	running phase = iota
	cutting       // CutTorque sends torque off
	halting       // Halt sends it and reads the acknowledgements
)

// abortCheck is how long an exchange waits at most before it checks whether a stop wants the line.
const abortCheck = 500 * time.Microsecond

// Send writes every staged goal to the servos. It blocks only for the writing, except for a change of mode. A vendor
// with a reply to each command waits for the replies here. While the line is lost it returns the reason. It does not
// block where an exchange spans several cycles; see ChainConfig.Spans.
func (r *GenericChain) Send() error {
	if r.flight.long() {
		r.launch()
		return nil
	}
	return r.sendCycle()
}

func (r *GenericChain) sendCycle() error {
	r.cut.mu.Lock()
	defer r.cut.mu.Unlock()
	r.x.Abort = &r.cut.wanted
	r.takeGoals()
	if r.cut.halted.Swap(false) {
		r.inhibit()
	}
	if r.busy > 0 {
		return nil
	}
	err := r.send()
	if r.line != nil {
		r.stats.Pause(r.x)
	}
	for i := range r.Devices {
		s := &r.Devices[i]
		switch s.State.Drive = hal.Follows; {
		// it has not followed its goals since the last attempt
		case s.Goal.Enable && (s.Stage != TorqueOn || s.again || s.Opening):
			s.State.Drive = hal.Switching
		case s.Goal.Enable && (s.Lost || s.doubt):
			s.State.Drive = hal.Waiting
		}
		s.again = false
	}
	return err
}

// CutTorque implements hal.TorqueCutter: torque off to every servo, lost ones too. The exchange under way ends within
// abortCheck. It waits for acknowledgements only if the vendor's servos acknowledge each command.
func (r *GenericChain) CutTorque() error {
	r.cut.wanted.Store(true)
	r.cut.mu.Lock()
	defer r.cut.mu.Unlock()
	r.cut.wanted.Store(false)
	r.cut.halted.Store(true)
	if r.line == nil {
		return r.reopen.Lost()
	}
	r.cut.phase = cutting
	defer func() { r.cut.phase = running }()
	return r.stageOff()
}

// Cutting reports that a stop from any goroutine is under way: the states must not change, since the chain's own may
// read them.
func (r *GenericChain) Cutting() bool { return r.cut.phase == cutting }

// inhibit lets no torque come back until Enable has been false once.
func (r *GenericChain) inhibit() {
	for i := range r.Devices {
		// One that is about to be given torque too.
		s := &r.Devices[i]
		if s.State.Kept = false; s.Stage == TorqueOn || s.Stage == TorqueOff && s.Goal.Enable {
			s.Hold(ErrHalted)
		}
		r.protocol.Invalidate(i)
	}
}

// stageOff sends torque off to every servo.
func (r *GenericChain) stageOff() error {
	r.x.Out = r.x.Out[:0]
	for i := range r.Devices {
		if r.cut.phase == halting { // CutTorque leaves the states to the chain's goroutine
			r.Devices[i].State.Kept = false
		}
		if !r.Devices[i].Barred {
			r.protocol.StageTorqueOff(i)
		}
	}
	r.protocol.Stage()
	return r.protocol.Flush()
}

// still reports that the goal is no motion in a mode that turns freely: a safe command, which goes to lost servos too.
func (m *DeviceState) still() bool {
	g := &m.Goal
	switch g.Mode {
	case hal.VelocityMode:
		return g.Velocity == 0
	case hal.TorqueMode:
		return g.Effort == 0
	case hal.DutyMode:
		return g.Duty == 0
	}
	return false
}
