package main

// shut tells whether the gate of the stand's board is closed.
func (s *testRig) shut() bool {
	for _, g := range s.sys.plan.gates {
		c := s.sys.emulation.gpios[g.bus]
		return c.Level(c.at[g.line]) == g.low
	}
	return false
}

// pulsing tells whether the servo behind the stand's board has pulses.
func (s *testRig) pulsing() bool {
	return s.sys.scene.Body("stand").Joint(s.agent.Layout().Actuator("pulse")).Servo.Enable
}

// gate tries a fault of a gate, or of the board behind it. Whatever happens, a closed gate lets no pulse through.
func (t *trial) gate(plant func(*testRig, bool) error) {
	s := t.s
	switch {
	case s.row.own[t.w.name] != nil:
		t.halts(plant)
	case t.w.name == "cut":
		// The resistor closes it, and no driver hears of that.
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
		if !t.c.failed {
			t.c.Outcome = "known: the pulses end, and nobody hears of it"
		}
	default:
		if t.run(); !t.held {
			t.fail("moves again by itself")
		}
	}
}

// closed sees that a closed gate lets nothing through.
func (t *trial) closed() {
	if s := t.s; s.row.device == gateWord && s.shut() && s.pulsing() {
		t.fail("pulses at %v through a closed gate", s.now)
	}
}

// halts tries whether an emergency stop ends the pulses of a board that no longer obeys.
func (t *trial) halts(plant func(*testRig, bool) error) {
	s := t.s
	if !t.pass(calm, t.unstopped) || !t.must(plant(s, true)) {
		return
	}
	t.begin, t.wholly = s.now, s.now
	s.events = s.events[:0]
	if !t.pass(outage/2, func() { t.closed(); t.listen() }) {
		return
	}
	for _, stop := range s.sys.rig.EmergencyStop("trial") {
		if acknowledged := stop.Err == nil; acknowledged == (stop.Joint == "pulse") {
			t.fail("the stop of %s: %v", stop.Joint, stop.Err)
		}
	}
	stays := func() {
		if t.closed(); !s.limp() {
			t.fail("not limp at %v, though it is stopped", s.now)
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
