package servo

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/halyard-robotics/halyard/hal"
)

// Halt switches every servo's torque off, twice, and then asks each whether it is off, once more where it did not
// answer. The result has an entry for every servo, nil if it confirmed that its torque is off. Torque does not come
// back until Enable has been false once. Safe at any time, and twice. It waits for the exchange under way, which
// CutTorque ends.
func (r *GenericChain) Halt() []error {
	defer r.settle()()
	r.cut.mu.Lock()
	defer r.cut.mu.Unlock()
	// A stop that waits for the line meanwhile must not take the answers of this one, which cuts all torque first.
	defer func(x *Exchange, was *atomic.Bool) { x.Abort = was }(r.x, r.x.Abort)
	r.x.Abort = nil
	r.cut.phase = halting
	r.latchGoals()
	defer func() { r.cut.phase = running }()
	r.takeGoals()
	r.inhibit()
	// Twice: most buses do not acknowledge it, and this one matters.
	for range 2 {
		if r.line == nil {
			break
		}
		r.lineError(nil, "", r.stageOff()) // the reading below finds out
	}
	faults := make([]error, len(r.Devices))
	for i := range r.Devices {
		faults[i] = r.verifyHalt(i)
	}
	return faults
}

// Halting reports that a Halt is under way, which may wait longer for its proof than a cycle.
func (r *GenericChain) Halting() bool { return r.cut.phase == halting }

var (
	errStillOn = errors.New("torque is still on")
	errForeign = errors.New("unexpected model: not configured")
)

func (r *GenericChain) verifyHalt(i int) error {
	s := &r.Devices[i]
	if s.Barred {
		// Another model's torque switch lies elsewhere: writing blindly could change its settings.
		return s.Error(hal.BusFault, "halt", errForeign)
	}
	var err error
	for range 2 {
		if r.line == nil {
			return s.Error(hal.Absent, "halt", r.reopen.Lost())
		}
		// Reading is the acknowledgement: a reply to a write would confirm its receipt, not its effect.
		if err = r.lineError(s, "halt", r.protocol.ReadHealth(i)); err != nil {
			continue
		}
		if s.State.Torque = s.Torque == On; s.Torque == Off {
			s.Verify = false
			return nil
		}
		err = s.Error(hal.BusFault, "halt", errStillOn)
		r.protocol.StageTorqueOff(i)
		r.protocol.Stage()
		if e := r.lineError(s, "halt", r.protocol.Flush()); e != nil {
			err = e
		}
	}
	return err
}

// ClearAlarm clears a latched alarm of servo i. It moves nothing: the next change of Enable to true switches torque on.
// The fourth call within 5 minutes of the line's clock is refused.
func (r *GenericChain) ClearAlarm(i int) error {
	s := &r.Devices[i]
	if r.line == nil {
		return r.reopen.Lost()
	}
	if !s.clears.Allow(r.x.Port.Now()) {
		e := fmt.Errorf("cleared %d times within %v: find what overloads it", MaxClears, ClearWindow)
		return s.Error(hal.Unsafe, "clear alarm", e)
	}
	if s.Stage == TorqueOn {
		s.Hold(ErrLatched)
	}
	if err := r.lineError(s, "clear alarm", r.protocol.Clear(i)); err != nil {
		return err
	}
	s.Latched, s.Verify = false, true
	r.protocol.Invalidate(i)
	return nil
}

// ClearAlarms clears the alarms of all servos; see ClearAlarm. It returns an error for each servo, nil if it has no
// alarm any more. One that has torque in spite of its alarm keeps both: to clear it would let the joint go.
func (r *GenericChain) ClearAlarms() (faults []error) {
	defer r.settle()()
	r.cut.mu.Lock()
	defer r.cut.mu.Unlock()
	for i := range r.Devices {
		s := &r.Devices[i]
		if r.line != nil && s.met && !s.looked && !s.Lost && !s.Barred { // a reset before its turn came
			if err := r.readHealth(i); err != nil {
				return append(faults, err)
			}
		}
		switch {
		case s.Latched || s.State.Alarm&^AlarmRange != 0 && s.Torque != On:
			faults = append(faults, r.ClearAlarm(i))
		case s.State.Alarm&^AlarmRange != 0 && !s.Barred && !s.Lost:
			e := s.Error(hal.Unsafe, "clear alarm",
				fmt.Errorf("not cleared, the joint has torque: %v", s.State.Report)).(*hal.Error)
			e.Try = "support the joint, then halyard disarm, then halyard reset"
			faults = append(faults, e)
		}
	}
	return faults
}

// Pause excludes servo i for some cycles, as after a restart; its torque is not known then.
func (r *GenericChain) Pause(i int, cycles uint64) {
	s := &r.Devices[i]
	s.Torque, s.State.Torque, s.State.Err = Unknown, false, s.Unasked
	s.Lost, s.Ask = true, r.cycle+cycles
	s.met, s.looked = false, false // met again, it reports what the restart has not cleared
}
