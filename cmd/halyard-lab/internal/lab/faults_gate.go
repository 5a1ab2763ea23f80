package lab

// shut reports whether the gate of the test rig's board is closed.
func (s *TestRig) shut() bool {
	for _, g := range s.Sys.Plan.Gates {
		c := s.Sys.Emulation.Gpios[g.Bus]
		return c.Level(c.At[g.Line]) == g.Low
	}
	return false
}

// pulsing reports whether the servo behind the test rig's board has pulses.
func (s *TestRig) pulsing() bool {
	return s.Sys.Scene.Body("stand").Joint(s.agent.Layout().Actuator("pulse")).Servo.Enable
}

// gate tests a fault of an output-enable gate, or of the board behind it. A closed gate must pass no pulse in any case.
func (t *trial) gate(plant planter) {
	s := t.s
	switch {
	case s.Row.own[t.w.Name] != nil:
		t.halts(plant)
	case t.w.Name == "open_wire":
		// The resistor closes the gate, and no driver is notified.
		ended := func() {
			if t.closed(); s.pulsing() {
				t.fail("pulses at %v, though the gate's wire is cut", s.now)
			}
		}
		if !t.pass(calm+storm, t.closed) || !t.must(plant(s, true)) || !t.pass(outage, ended) || !t.must(s.heal()) {
			return
		}
		if t.over = s.now; t.pass(backIn, t.closed) && !s.pulsing() {
			t.fail("not back")
		}
		if !t.c.Failed {
			t.c.Outcome = "known: the pulses end without an event"
		}
	default:
		if t.Run(); !t.held {
			t.fail("moves again by itself")
		}
	}
}

// closed sees that a closed gate lets nothing through.
func (t *trial) closed() {
	if s := t.s; s.Row.Device == gateWord && s.shut() && s.pulsing() {
		t.fail("pulses at %v through a closed gate", s.now)
	}
}

// halts tries whether an emergency stop ends the pulses of a board that no longer follows.
func (t *trial) halts(plant planter) {
	s := t.s
	if !t.pass(calm, t.unstopped) || !t.must(plant(s, true)) {
		return
	}
	t.begin, t.wholly = s.now, s.now
	s.events = s.events[:0]
	if !t.pass(outage/2, func() { t.closed(); t.Listen() }) {
		return
	}
	for _, stop := range s.Sys.Rig.EmergencyStop("trial") {
		if acknowledged := stop.Err == nil; acknowledged == (stop.Joint == "pulse") {
			t.fail("the stop of %s: %v", stop.Joint, stop.Err)
		}
	}
	stays := func() {
		if t.closed(); !s.torqueOff() {
			t.fail("a joint has torque at %v, though it is stopped", s.now)
		}
	}
	if !t.pass(outage/2, stays) || !t.must(s.heal()) {
		return
	}
	if t.over = s.now; t.pass(after/2, stays) {
		t.held = true
		t.resume()
	}
}
