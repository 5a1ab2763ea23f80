package main

import (
	"errors"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// examineMotors examines motor controllers by the chain that will drive them: whether each is there, has a firmware whose
// packets are known, is set so that it stops without a host, and what it complains of. Nothing moves and no setting is
// written; a CyberGear, which answers with where it is when it is told to let go, is merely asked whether it is there.
func (b *busCheck) examineMotors() error {
	cfg := chainConfig{name: b.name, line: b.line, latency: b.latency}
	for _, s := range b.servos {
		b.check("servo")
		b.check("setting")
		cfg.servos = append(cfg.servos, chainServo{id: s.id, model: s.plan.servo, joint: s.joint})
	}
	kind := busTypes[b.config.Type]
	c := kind.chain(cfg) // not closed: the line is the examination's
	faults, unplaced := faultsOf(c.Open())
	if unplaced != nil {
		return unplaced
	}
	var absent []*servoCheck
	for _, s := range b.servos {
		switch e := faults[int(s.id)]; {
		case e == nil:
		case e.Kind == hal.Absent:
			absent = append(absent, s)
		default: // the controller says itself what is wrong, and where it is set
			s.fail("setting", e.Kind, e.Err.Error(), "set "+s.joint+" as it says")
		}
	}
	if n := len(b.servos); n > 1 && len(absent) == n {
		b.fail("power", hal.BusFault, "none of the motors answers", b.busFix())
		return nil
	}
	for _, s := range absent {
		s.fail("servo", hal.Absent, "no answer", s.cableFix(absent)+"; or it has another id")
	}
	for _, s := range b.servos {
		s.guarded()
	}
	if b.config.Type == cybergearType {
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

// busFix is what a whole bus of silence calls for.
func (b *busCheck) busFix() string {
	if busTypes[b.config.Type].filters != nil {
		return "switch on their supply, check CAN_H, CAN_L and ground, a resistor of 120 Ω at both ends, and that all have the bus's bit rate"
	}
	return "switch on their supply and check the data line and its baud rate"
}

// guarded looks whether the watchdog of an ODrive on CAN is set before its torque goes on.
func (s *servoCheck) guarded() {
	if s.config.Type != odriveCAN {
		return
	}
	s.check("watchdog")
	if len(s.plan.hardware.Registers) < 2 {
		s.warn("watchdog", "whether it stops when the cable is pulled is not known", "registers: {watchdog_endpoint: N, enable_endpoint: N} by its "+
			"firmware's flat_endpoints.json; or odrivetool: axis0.config.enable_watchdog = True, watchdog_timeout = 0.5, save_configuration()")
	}
}

// faultsOf takes what opening a chain says apart, by the id of who it is about; unplaced is what is about nobody.
func faultsOf(err error) (faults map[int]*hal.Error, unplaced error) {
	faults = map[int]*hal.Error{}
	all := []error{err}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		all = j.Unwrap()
	}
	for _, one := range all {
		var e *hal.Error
		switch {
		case one == nil:
		case errors.Is(one, servo.ErrDisconnected) || !errors.As(one, &e):
			return nil, one
		default:
			faults[e.ID] = e
		}
	}
	return faults, nil
}
