package hal

import (
	"math"
	"testing"
	"time"
)

// Single errors that no other test here notices; see halyard-lab mutants.

// TestHoldOfAJointWithoutTorque: a joint that was commanded but not seen yet gets no torque when its client has left.
func TestHoldOfAJointWithoutTorque(t *testing.T) {
	g := newGuarded(GuardConfig{}, nan)
	g.command(0.5, nan, nan, nan, nan)
	g.tick()
	g.hold()
	g.f.Measured[0] = 0.4
	if g.tick(); g.f.Enable[0] {
		t.Errorf("seen after its client left: got torque with goal %g, want none", g.f.Inputs[0])
	}
}

// TestLeadBrakes: a joint that is faster than its goal may move has its goal drawn near, and at leadShare of that on
// itself.
func TestLeadBrakes(t *testing.T) {
	g := newGuarded(GuardConfig{}, 0)
	a, most := &g.layout.Actuators[0], g.following(&g.layout.Actuators[0], 0.5)
	for _, c := range []struct{ speed, want float64 }{
		{0.5, most}, {0.75, most / 2}, {0.5 * leadShare, 0}, {3, 0}, {-3, most},
	} {
		if got := g.lead(a, &sight{speed: c.speed}, 0.5, 1); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("at %g rad/s: got goal %g, want %g", c.speed, got, c.want)
		}
	}
}

// TestHeldJointIsNotElsewhere: a joint that was commanded to stay, and was not seen for a second, in which it could
// have turned anywhere, is not believed far from there.
func TestHeldJointIsNotElsewhere(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0)
	s.command(0.5, nan, nan, nan, nan)
	s.run(time.Second)
	s.silent = true
	s.run(time.Second)
	s.silent, s.lie = false, func(float64) float64 { return -0.9 }
	s.f.Status[0].Err = nil
	if s.run(5 * tick); s.f.Enable[0] || s.counts.Jumped != 1 {
		t.Errorf("back at -0.9 in place of 0.5: got torque %v, %d jumps, want none and 1", s.f.Enable[0],
			s.counts.Jumped)
	}
}

// holding is a body whose joints have torque, or not.
type holding bool

func (h holding) Holding(int) bool { return bool(h) }

// TestAdoptOutside: a joint with torque far outside its soft limits is not adopted; one within them, or next to them,
// is; one without torque is not, and gets none.
func TestAdoptOutside(t *testing.T) {
	for at, want := range map[float64]bool{0.5: true, 1.01: true, 1.5: false, -2: false, nan: false} {
		g := newGuarded(GuardConfig{}, at)
		if g.adopt(holding(true), g.f); g.joints[0].enabled != want {
			t.Errorf("with torque at %g: got adopted %v, want %v", at, !want, want)
		}
		g = newGuarded(GuardConfig{}, at)
		if g.adopt(holding(false), g.f); g.joints[0].enabled {
			t.Errorf("without torque at %g: got adopted", at)
		}
		if g.tick(); g.f.Enable[0] {
			t.Errorf("without torque at %g: got torque in the first cycle", at)
		}
	}
}

// TestLatchHoldsFromTheNextDecision: a stop that waits for a cycle has taken torque in what that cycle decides.
func TestLatchHoldsFromTheNextDecision(t *testing.T) {
	r, a, _, _ := pilotedRig(t, GuardConfig{})
	a.SetAutopilot(nil)
	if err := a.Override([]float64{0.5, 0.5}); err != nil {
		t.Fatal(err)
	}
	a.decide(0, 0, tick, false)
	if !a.frame.Enable[1] {
		t.Fatal("commanded: got no torque")
	}
	r.hold(stopCause{"test", false})
	if a.decide(tick, tick, tick, false); a.frame.Enable[0] || a.frame.Enable[1] || a.guard.state != Stopped {
		t.Errorf("latched: got torque %v, state %v, want none", a.frame.Enable, a.guard.state)
	}
}

// TestLostDriveGetsNoGoal: a joint whose drive was lost gets no goal of before until it is seen.
func TestLostDriveGetsNoGoal(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0)
	s.command(0.5, nan, nan, nan, nan)
	s.run(time.Second)
	s.silent = true
	s.f.Status[0].Drive = Waiting
	if s.run(500 * time.Millisecond); !math.IsNaN(s.f.Inputs[0]) {
		t.Errorf("lost: got goal %g, want none", s.f.Inputs[0])
	}
	// It is found a little off its goal, and stays there until it is commanded.
	s.silent, s.at = false, 0.45
	s.f.Status[0] = Status{Drive: Follows}
	if s.run(tick); s.f.Enable[0] && !math.IsNaN(s.f.Inputs[0]) && math.Abs(s.f.Inputs[0]-0.45) > 0.03 {
		t.Errorf("found at 0.45: got goal %g, want a step from there", s.f.Inputs[0])
	}
}

// TestReturnWithoutAClient: a joint that lost its torque far outside its limits, and whose client has left, does not
// get torque again when a hand leads it back.
func TestReturnWithoutAClient(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0.9)
	s.command(0.9, nan, nan, nan, nan)
	s.run(5 * tick)
	s.hold()
	for s.free = false; s.at < 1.6; s.at += 0.02 {
		s.run(tick)
	}
	if s.f.Enable[0] {
		t.Fatal("at 1.6: got torque, want none")
	}
	for ; s.at > 0.8; s.at -= 0.02 {
		s.run(tick)
	}
	if s.run(time.Second); s.f.Enable[0] {
		t.Errorf("led back to %g without a client: got torque, want none", s.at)
	}
}

// TestLateVerification: a stop that did not wait for the end of a cycle is verified when the cycle ends.
func TestLateVerification(t *testing.T) {
	r, a, _, _ := pilotedRig(t, GuardConfig{})
	body := a.body
	halted := make(chan struct{})
	a.body = &haltedBody{Body: body, halted: halted}
	r.edgeTime = time.Millisecond
	r.BetweenCycles(func() {
		done := make(chan struct{})
		go func() { defer close(done); r.EmergencyStop("test") }()
		<-done
		select {
		case <-halted:
			t.Error("halted while the cycle lasts")
		default:
		}
	})
	select {
	case <-halted:
	case <-time.After(time.Minute):
		t.Error("the cycle has ended: got no verification within a minute")
	}
}

// haltedBody closes halted when it is made inert.
type haltedBody struct {
	Body
	halted chan struct{}
}

func (b *haltedBody) Halt() error { close(b.halted); return b.Body.Halt() }

// TestJumpedJointRefuses: commands to a joint whose readings have jumped are refused, and counted.
func TestJumpedJointRefuses(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0)
	s.command(0.5, nan, nan, nan, nan)
	s.run(time.Second)
	s.lie = func(float64) float64 { return -0.9 }
	s.run(5 * tick)
	before := s.counts.Refused
	if s.command(0.2, nan, nan, nan, nan); s.counts.Refused != before+1 || s.joints[0].goal == 0.2 {
		t.Errorf("after a jump: got %d refused, goal %g, want 1 and the old one", s.counts.Refused-before,
			s.joints[0].goal)
	}
}

// TestOffOutlastsAReset: a joint that a reset has disarmed on its own stays so when all commands are discarded, until
// it is armed.
func TestOffOutlastsAReset(t *testing.T) {
	g := newGuarded(GuardConfig{}, 0)
	g.tick()
	g.f.Status[0].Err = errPulled
	g.disarmFaulty(g.f)
	g.f.Status[0].Err = nil
	g.clear()
	g.command(0.5, nan, nan, nan, nan)
	if g.tick(); g.f.Enable[0] {
		t.Error("disarmed by a reset: got torque, want none until it is armed")
	}
	g.admit()
	g.command(0.5, nan, nan, nan, nan)
	if g.tick(); !g.f.Enable[0] {
		t.Error("armed: got no torque")
	}
}

// TestRenewRevivesNothing: a client that only renews does not bring back a joint whose deadline has passed.
func TestRenewRevivesNothing(t *testing.T) {
	g := newGuarded(GuardConfig{CommandTimeout: 100 * time.Millisecond, OnTimeout: TorqueOff}, 0)
	g.command(0.5, nan, nan, nan, nan)
	for range 20 {
		g.tick()
	}
	g.renew(g.now)
	if g.tick(); g.f.Enable[0] || g.jointState(0) != Expired {
		t.Errorf("renewed: got torque %v, state %v, want none and expired", g.f.Enable[0], g.jointState(0))
	}
}

// TestNoTorqueNoInputs: a joint without torque gets no input at all, not even its torque limit.
func TestNoTorqueNoInputs(t *testing.T) {
	g := newGuarded(GuardConfig{}, nan)
	g.command(0.5, nan, nan, nan, 2)
	g.tick()
	for i, v := range g.f.Inputs {
		if g.f.Enable[0] || !math.IsNaN(v) {
			t.Errorf("not seen yet: got torque %v, input %d %g, want none", g.f.Enable[0], i, v)
		}
	}
}

// TestReturningGoalStaysInside: the goal of a joint that comes back fast from outside its soft limits is drawn near it,
// and stays within the limits.
func TestReturningGoalStaysInside(t *testing.T) {
	g := newGuarded(GuardConfig{Slew: 0.5}, 0.95)
	g.command(0.9, nan, nan, nan, nan)
	for range 10 {
		g.tick()
	}
	for _, at := range []float64{1, 1.06, 1.12, 1.169, 1.15} { // a hand pushes it, and lets go
		g.f.Measured[0] = at
		g.tick()
		if v := g.f.Inputs[0]; !g.f.Enable[0] || v > 1 {
			t.Errorf("at %g: got torque %v, goal %g, want it within the limit of 1", at, g.f.Enable[0], v)
		}
	}
}
