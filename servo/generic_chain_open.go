package servo

import (
	"errors"
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
)

// Open identifies every servo and reports all errors together. After an error the chain is still usable: missing servos
// are polled at a low rate, other models are not used.
func (r *GenericChain) Open() error {
	if err := r.check(); err != nil {
		return err
	}
	if r.line == nil {
		return r.reopen.Lost()
	}
	var faults []error
	for i := range r.Devices {
		faults = append(faults, r.identify(i))
		// The adapter was lost during Open: no further servo can be read.
		if r.line == nil {
			break
		}
	}
	return errors.Join(faults...)
}

// check returns the faults of the chain's config.
func (r *GenericChain) check() error {
	var faults []error
	seen := map[int]bool{}
	for i := range r.Devices {
		s := &r.Devices[i]
		if s.ID < 0 || s.ID > r.spec.LastID {
			faults = append(faults, s.Error(hal.Invalid, "open",
				fmt.Errorf("got id %d, want 0..%d", s.ID, r.spec.LastID)))
		}
		if seen[s.ID] {
			faults = append(faults, s.Error(hal.Invalid, "open", errors.New("id used twice on one line")))
		}
		seen[s.ID] = true
		for _, err := range r.faults(i) {
			faults = append(faults, s.Error(hal.Invalid, "open", err))
		}
	}
	return errors.Join(faults...)
}

// faults are those of servo i's description: no model of the vendor's, settings that its model does not take, and those
// of the vendor.
func (r *GenericChain) faults(i int) (faults []error) {
	c := &r.cfg.Servos[i]
	if !r.spec.Known(i) {
		return []error{errors.New("no model")}
	}
	for _, s := range c.Settings {
		if err := checkSetting(c.Model, s); err != nil {
			faults = append(faults, err)
		}
	}
	if r.spec.Faults != nil {
		faults = append(faults, r.spec.Faults(i)...)
	}
	return faults
}

// keep leaves the torque on that servo i had when it was met, where it holds a position.
func (r *GenericChain) keep(i int) error {
	s := &r.Devices[i]
	h, ok := r.protocol.(Holder)
	if !ok || s.Torque != On || s.Stage != TorqueOff {
		return nil
	}
	holds, err := h.Holds(i)
	if err == nil || IsServoError(err) {
		s.State.Kept = holds && err == nil
		return nil
	}
	return r.lineError(s, "open", err)
}

// identify identifies servo i, with one retry: one lost reply does not prevent the start.
func (r *GenericChain) identify(i int) error {
	s := &r.Devices[i]
	err := r.protocol.Identify(i)
	if IsServoError(err) {
		err = r.protocol.Identify(i)
	}
	switch {
	case err == nil:
		s.met = true
		return r.keep(i)
	case errors.Is(err, ErrNoReply):
		s.Lost, s.Ask, s.State.Err = true, r.cycle+lostPause, s.Unasked
		return s.Error(hal.Absent, "open", err)
	case s.Barred:
		s.State.Err = err
		return err
	}
	s.Lost, s.Ask = true, r.cycle+lostPause
	return r.lineError(s, "open", err)
}
