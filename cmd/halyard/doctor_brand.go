package main

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// examineBrand examines the servos of a bus of another brand than Dynamixel by the chain that will drive them: whether
// each is there, is what it should be, and what it complains of. Nothing moves and nothing is written; a Kondo servo,
// which can be measured by taking its torque alone, is merely asked whether it is there.
func (b *busExam) examineBrand() error {
	kind := busTypes[b.config.Type]
	cfg := chainConfig{name: b.name, line: b.line, latency: b.latency}
	for _, s := range b.servos {
		b.check("servo")
		b.check("model")
		cfg.servos = append(cfg.servos, chainServo{id: s.id, model: s.plan.servo, joint: s.joint})
	}
	c := kind.chain(cfg) // not closed: the line is the examination's
	faults := map[int]*hal.Error{}
	for _, err := range separate(c.Open()) {
		var e *hal.Error
		if errors.Is(err, servo.ErrGone) || !errors.As(err, &e) {
			return err
		}
		faults[e.ID] = e
	}
	if n := len(b.servos); n > 1 && len(faults) == n && allOf(faults, hal.Absent) {
		b.fail("power", hal.BusFault, "none of the servos answers", "switch on their supply and check the data line and its baud rate")
		return nil
	}
	var absent []*servoExam
	for _, s := range b.servos {
		switch e := faults[int(s.id)]; {
		case e == nil:
		case e.Kind == hal.Absent:
			absent = append(absent, s)
		default:
			s.fail("model", hal.BusFault, e.Err.Error(), "change the servo, or set model of "+s.joint+" in the config")
		}
	}
	for _, s := range absent {
		s.fail("servo", hal.Absent, "no answer", s.cableFix(absent)+"; or it has another id")
	}
	if b.config.Type == "kondo" {
		return nil
	}
	if err := c.Receive(); err != nil {
		return err
	}
	for i, s := range b.servos {
		b.check("alarm")
		if st := c.State(i); st.Err == nil && st.Alarm != 0 {
			s.fail("alarm", hal.BusFault, st.Alarm.String(), "take the load away, let it cool down, and check its supply")
		}
	}
	return nil
}

// separate takes joined errors apart.
func separate(err error) []error {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}

// allOf tells whether all faults are of one kind.
func allOf(faults map[int]*hal.Error, kind hal.Kind) bool {
	for _, e := range faults {
		if e.Kind != kind {
			return false
		}
	}
	return true
}
