package lab

import (
	"math"
	"regexp"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/report"
	pins "github.com/halyard-robotics/halyard/sim/emulator/gpio"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// wireLine is the line of the chip that what is on trial is connected to.
const wireLine = "4"

// The keys of what a config can connect to a line, except sensors. TestFaultRows compares them with the config's types.
const (
	stopWord  = "estop"
	lightWord = "lights"
	gateWord  = "output_enable"
)

// wireRows are the stop button, a light, and the gate of a board.
func wireRows() []*FaultRow {
	const on = "{bus: io, line: " + wireLine + "}"
	stop, light, gate := newRow(stopWord, catalog.GPIOBus), newRow(lightWord, catalog.GPIOBus),
		newRow(gateWord, catalog.GPIOBus)
	for _, r := range []*FaultRow{stop, light, gate} {
		r.connect(catalog.GPIOBus, nil)
		r.neighbours = []string{"one", "two", "imu"}
	}
	stop.Wires, stop.contacts, stop.cuts, stop.Try = "      estop: "+on, true, true, (*trial).stopButton
	light.names = []string{"headlight"}
	light.Wires, light.never, light.Try = "      lights: {headlight: "+on+"}", []string{"dropped", "open_wire"},
		(*trial).Light
	gate.Board, gate.names, gate.cuts = "{bus: main, device: pca9685, channel: 0, output_enable: "+on+"}",
		[]string{"pulse"}, true
	gate.never, gate.Try = []string{"dropped"}, (*trial).gate
	// What the gate is there for: its board, or the board's bus, does not execute any more.
	gate.own = map[string]planter{"delayed": onBoard(wire.HeldLow, wire.All),
		"power_loss": onBoard(wire.PowerLoss, pwm.PCA9685Address)}
	return []*FaultRow{stop, light, gate}
}

// onBoard is a fault of the board behind a gate, or of its bus.
func onBoard(kind wire.Kind, address int) planter {
	board := func(s *TestRig, f wire.Fault) { s.Sys.Emulation.Buses["main"].Fault(f) }
	return strikes(board, wire.Fault{Kind: kind, Target: address}, notYet, 0)
}

// stopped reports whether the emergency stop is latched.
func (s *TestRig) stopped() bool {
	state, _, _ := s.agent.Guard()
	return state == hal.Stopped
}

// torqueOff reports whether no joint has torque or pulses.
func (s *TestRig) torqueOff() bool {
	for i := range s.goals {
		if s.Sys.Scene.Body("stand").Joint(i).Servo.Enable {
			return false
		}
	}
	return true
}

// soon is by when a stop button has stopped the rig, and a stop has taken the torque: its reader's timeout and some
// cycles.
const soon = assembly.StopTimeout + 50*time.Millisecond

// stopButton tries a fault of the stop button's circuit. All is well when it stops nothing while it is whole; when,
// with the fault, it stops the rig, latched, for a reason that is named, and no joint has torque however it is
// commanded; when it cannot be cleared while its cause lasts; and when, after it, it can, and the joints execute once
// they are enabled.
func (t *trial) stopButton(plant planter) {
	s := t.s
	var button *pins.Switch
	for _, b := range s.Sys.Emulation.Buttons {
		button = b
	}
	if !t.pass(calm, t.unstopped) || !t.must(plant(s, false)) || !t.pass(storm, t.unstopped) {
		return
	}
	// Contacts bounce, and edges are lost, when it is pressed; the others are circuits that are open by themselves.
	t.begin, t.wholly = s.now, s.now
	button.Closed = t.w.Dead
	s.events = s.events[:0]
	if !t.must(plant(s, true)) || !t.pass(outage, func() { t.held = true; t.latched(); t.Named() }) {
		return
	}
	if err := s.Sys.Rig.Recover(); hal.KindOf(err) != hal.Unsafe || !strings.Contains(err.Error(), "emergency stop") {
		t.fail("cleared while its cause lasts: %v", err)
	}
	t.over, button.Closed = s.now, true
	if !t.pass(2*s.Sys.Rig.Period(), t.latched) || !t.must(s.heal()) {
		return
	}
	pressed := s.Sys.Rig.Values().Find(regexp.MustCompile("^/stand/estop$"))[0]
	whole := func() {
		t.latched()
		if v, err := s.Sys.Rig.Values().Read(pressed); err == nil && !v.Bool && math.IsNaN(float64(t.c.Recover)) {
			t.c.Recover = report.Number((s.now - t.over).Milliseconds())
		}
	}
	if t.pass(after/2, whole) {
		t.resume()
	}
}

// unstopped sees that nothing has been stopped.
func (t *trial) unstopped() {
	if t.s.now > calm/2 && (t.s.stopped() || t.s.torqueOff()) {
		t.fail("stopped without cause at %v", t.s.now)
	}
	t.checkNeighbours()
}

// latched sees that a stop stays, and that no joint has torque.
func (t *trial) latched() {
	s := t.s
	if s.now-t.wholly <= soon {
		return
	}
	switch {
	case !s.stopped():
		t.fail("not stopped at %v", s.now)
	case !s.torqueOff():
		t.fail("a joint has torque at %v, though it is stopped", s.now)
	}
}

// Named waits for the event of a stop.
func (t *trial) Named() {
	for _, e := range t.s.events {
		if e == "/Control/EmergencyStop" && t.detected < 0 {
			t.detected = t.s.now
			t.c.Detect = report.Number((t.s.now - t.wholly).Milliseconds())
		}
	}
	t.s.events = t.s.events[:0]
	if t.detected < 0 && t.s.now-t.wholly > soon {
		t.fail("no event")
	}
}

// checkNeighbours checks that the other parts are commanded, and without a fault.
func (t *trial) checkNeighbours() {
	if t.begin = max(t.begin, 1); t.s.now > calm/2 {
		t.neighbours()
	}
}

// resume clears a stop whose cause is over and enables the joints, which execute then. Without an earlier report of the
// recovery, its time is counted from here.
func (t *trial) resume() {
	s := t.s
	for err := s.Sys.Rig.Recover(); err != nil; err = s.Sys.Rig.Recover() {
		if s.now-t.over > backIn {
			t.fail("back late: %v", err)
			return
		}
		if !t.pass(s.Sys.Rig.Period(), t.latched) {
			return
		}
	}
	if !t.pass(100*time.Millisecond, func() {
		if !s.torqueOff() {
			t.fail("moves again by itself at %v", s.now)
		}
	}) {
		return
	}
	armed := s.now
	well := func() {
		if r := s.Read("pulse"); math.IsNaN(float64(t.c.Recover)) && r.err == nil && r.at >= armed {
			t.c.Recover = report.Number((s.now - armed).Milliseconds())
		}
	}
	if t.must(s.agent.Arm()) && t.pass(after/2, well) && t.pass(swingTime/4, t.follows) && t.farest > maxBehind {
		t.fail("does not follow: %.2f rad from its goal", t.farest)
	}
}

// follows notes how far the joints are from their goals.
func (t *trial) follows() {
	s := t.s
	for i, goal := range s.goals {
		t.farest = max(t.farest, math.Abs(s.truth[len(s.truth)-1][i]-goal))
	}
	t.checkNeighbours()
}

// Light tries a fault of the chip that a light is connected to. Both a command and a status must report the fault; the
// light is never reported as lit for long while it is off.
func (t *trial) Light(plant planter) {
	s := t.s
	id := s.Sys.Rig.Values().Find(regexp.MustCompile("^/stand/headlight$"))[0]
	c := s.Sys.Emulation.Gpios[s.Row.On]
	on, dark := false, time.Duration(0)
	watch := func() {
		t.checkNeighbours()
		t.Listen()
		lit, err := s.Sys.Rig.Values().Read(id)
		if dark += s.Sys.Rig.Period(); !lit.Bool || err != nil || c.Level(c.At[wireLine]) {
			dark = 0
		}
		if dark > 2*time.Second/assembly.LampRate {
			t.fail("wrong: it is dark at %v and counts as lit", s.now)
		}
	}
	// flash switches it, and reports whether that is done.
	flash := func() bool {
		on = !on
		err := s.Sys.Rig.Values().Set(id, hal.Value{Kind: hal.BoolValue, Bool: on})
		lit, _ := s.Sys.Rig.Values().Read(id)
		switch {
		case err == nil && (c.Level(c.At[wireLine]) != on || lit.Bool != on):
			t.fail("wrong: switched to %v at %v: it is %v and counts as %v", on, s.now, c.Level(c.At[wireLine]),
				lit.Bool)
		case err != nil && (lit.Bool || hal.KindOf(err) != hal.Absent):
			t.fail("wrong: not switched at %v: %v, and it counts as %v", s.now, err, lit.Bool)
		}
		return err == nil
	}
	if !t.pass(calm, watch) {
		return
	}
	for range 3 {
		if !flash() || !t.pass(storm/3, watch) {
			t.fail("not well from the start")
			return
		}
	}
	// The light is on when its chip fails; at first it is not switched.
	t.begin, t.wholly = s.now, s.now
	s.events = s.events[:0]
	if !t.must(plant(s, true)) || !t.pass(outage/2, watch) {
		return
	}
	if t.detected < 0 {
		t.fail("no event")
	}
	if flash(); on || flash() || !t.pass(outage/2, watch) {
		t.fail("wrong: switched at %v without its chip", s.now)
	}
	if t.over = s.now; !t.must(s.heal()) {
		return
	}
	for on = false; !flash(); on = false {
		if !t.pass(s.Sys.Rig.Period(), watch) || s.now-t.over > backIn {
			t.fail("back late")
			return
		}
	}
	t.c.Recover = report.Number((s.now - t.over).Milliseconds())
	t.pass(after/2, watch)
}
