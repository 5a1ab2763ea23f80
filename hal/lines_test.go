package hal

import (
	"math"
	"testing"
	"time"
)

// Lines of the guard and the stop that once could be removed without a test that noticed.

// TestHoldWithoutTorque: what had no torque when its client left gets none later, in any mode.
func TestHoldWithoutTorque(t *testing.T) {
	for mode, inputs := range map[Mode][]float64{PositionMode: {0.5, nan, nan, nan, nan},
		VelocityMode: {nan, 1, nan, nan, nan},
		TorqueMode:   {nan, nan, 1, nan, nan}, DutyMode: {nan, nan, nan, 0.5, nan}} {
		s := newSafeJoint(t, GuardConfig{}, 0.2)
		s.silent = true
		s.run(200 * time.Millisecond)
		s.accept(inputs, s.now)
		s.hold() // before a cycle, or while it is not known where it is
		s.silent = false
		s.f.Status[0].Err = nil
		for range 50 {
			if s.run(tick); s.f.Enable[0] {
				t.Fatalf("%v: got torque after its client left, want none", mode)
			}
		}
	}
	s := newSafeJoint(t, GuardConfig{}, 0.2) // torque is being switched on, and is not confirmed
	s.silent = true
	s.command(0.2, nan, nan, nan, nan)
	s.f.Status[0].Drive = Switching
	s.run(300 * time.Millisecond)
	s.hold()
	if s.run(tick); s.f.Enable[0] {
		t.Error("not confirmed: got torque, want none")
	}
}

// TestFastJointIsBraked: a joint that is faster towards its goal than it may be has its goal drawn near.
func TestFastJointIsBraked(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, -0.8)
	s.free = false
	s.command(0.9, nan, nan, nan, nan)
	s.run(500 * time.Millisecond)
	if ahead := s.f.Inputs[0] - s.at; math.Abs(ahead-0.4) > 1e-6 {
		t.Fatalf("held back: got the goal %g ahead, want 0.4", ahead)
	}
	for range 4 { // released, at 3 rad/s of 2
		s.at += 0.03
		s.run(tick)
	}
	if ahead := s.f.Inputs[0] - s.at; ahead > 0.2+1e-6 {
		t.Errorf("at 3 rad/s: got the goal %g ahead, want 0.2 at most", ahead)
	}
	for range 4 { // at twice its speed
		s.at += 0.04
		s.run(tick)
	}
	if ahead := s.f.Inputs[0] - s.at; ahead > 1e-6 {
		t.Errorf("at 4 rad/s: got the goal %g ahead, want none", ahead)
	}
}

// TestUnseenJointIsWhereItWasHeld: a joint with torque that was not seen, and is back far from its goal, is a jump,
// though it could have turned there meanwhile.
func TestUnseenJointIsWhereItWasHeld(t *testing.T) {
	for _, at := range []float64{0.15, 0.7} {
		s := newSafeJoint(t, GuardConfig{}, 0)
		s.command(0, nan, nan, nan, nan)
		s.run(100 * time.Millisecond)
		s.free, s.silent = false, true
		s.run(time.Second)
		s.at, s.silent = at, false
		s.f.Status[0].Err = nil
		s.run(100 * time.Millisecond)
		if far := at > 0.2; s.joints[0].sight.jumped != far || s.f.Enable[0] == far {
			t.Errorf("back at %g: got jumped %v, torque %v", at, s.joints[0].sight.jumped, s.f.Enable[0])
		}
	}
}

// allHold is a body whose joints all had torque before.
type allHold struct{}

func (allHold) Holding(int) bool { return true }

// TestAdoptsNothingFarOutside: a joint that holds far outside its soft limits loses its torque.
func TestAdoptsNothingFarOutside(t *testing.T) {
	for at, want := range map[float64]bool{0.5: true, 1.001: true, 1.5: false, -1.5: false} {
		s := newSafeJoint(t, GuardConfig{}, at)
		s.adopt(allHold{}, s.f)
		if s.free = false; s.joints[0].enabled != want {
			t.Errorf("held at %g: got adopted %v, want %v", at, s.joints[0].enabled, want)
		}
		for range 20 {
			if s.run(tick); s.f.Enable[0] != want {
				t.Fatalf("held at %g: got torque %v with goal %g, want %v", at, s.f.Enable[0], s.f.Inputs[0], want)
			}
		}
	}
}

// TestCycleMeetsTheLatch: a stop that is latched, and whose verification waits for the cycle, takes the torque in that
// cycle; nothing arms meanwhile.
func TestCycleMeetsTheLatch(t *testing.T) {
	for _, state := range []GuardState{Armed, Disarmed} {
		r, a, _, _ := pilotedRig(t, GuardConfig{})
		a.SetAutopilot(nil)
		a.Override([]float64{nan, 1})
		if cycles(r, 2); !a.frame.Enable[1] {
			t.Fatal("got no torque")
		}
		if state == Disarmed {
			a.RequestDisarm("client")
		}
		r.hold(stopCause{"test", false})
		if err := a.Arm(); KindOf(err) != Unsafe || a.guard.state != state {
			t.Errorf("%v: arm: got %v, %v, want it refused", state, err, a.guard.state)
		}
		if err := a.RequestArm("client"); KindOf(err) != Unsafe || a.guard.state != state {
			t.Errorf("%v: a client's arm: got %v, %v, want it refused", state, err, a.guard.state)
		}
		a.Override([]float64{nan, 1})
		if cycles(r, 1); a.frame.Enable[1] || a.guard.state != Stopped {
			t.Errorf("%v: got torque %v, %v in the next cycle, want none, stopped", state, a.frame.Enable[1],
				a.guard.state)
		}
	}
}

// TestExpiryPowersNothing: at the deadline with the policy park, what has no torque gets none.
func TestExpiryPowersNothing(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{CommandTimeout: 100 * time.Millisecond, OnTimeout: Park}, 0.5)
	s.free = false
	s.command(0.5, nan, nan, nan, 0)
	s.run(50 * time.Millisecond)
	for range 100 {
		if s.run(tick); s.f.Inputs[4] != 0 && s.f.Enable[0] || s.f.Enable[0] && math.Abs(s.f.Inputs[0]-0.5) > 1e-6 {
			t.Fatalf("no torque: got limit %g, goal %g, want 0 and where it is", s.f.Inputs[4], s.f.Inputs[0])
		}
	}
	s = newSafeJoint(t, GuardConfig{CommandTimeout: 100 * time.Millisecond, OnTimeout: Park}, 0.5)
	s.silent = true
	s.run(200 * time.Millisecond)
	s.command(0.5, nan, nan, nan, nan) // it is not known where it is: no torque
	s.run(200 * time.Millisecond)
	s.silent = false
	s.f.Status[0].Err = nil
	for range 100 {
		if s.run(tick); s.f.Enable[0] {
			t.Fatalf("found after its deadline: got torque with goal %g, want none", s.f.Inputs[0])
		}
	}
}

// TestPushedOutStaysOff: a joint without a client that was pushed far outside its soft limits has no torque, also when
// it is back.
func TestPushedOutStaysOff(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0.9)
	s.command(0.9, nan, nan, nan, nan)
	s.run(100 * time.Millisecond)
	s.hold()
	s.free = false
	push := func(to float64) {
		for math.Abs(s.at-to) > 1e-9 {
			s.at += math.Max(-0.02, math.Min(0.02, to-s.at))
			s.run(tick)
		}
	}
	if s.run(tick); !s.f.Enable[0] {
		t.Fatal("held: got no torque")
	}
	if push(1.6); s.f.Enable[0] || !s.joints[0].outside && s.joints[0].mode != NoMode {
		t.Fatalf("at 1.6: got torque %v, want none", s.f.Enable[0])
	}
	push(0.9)
	for range 50 {
		if s.run(tick); s.f.Enable[0] {
			t.Fatalf("back at 0.9: got torque with goal %g, want none until a command", s.f.Inputs[0])
		}
	}
	s.command(0.9, nan, nan, nan, nan)
	if s.run(tick); !s.f.Enable[0] {
		t.Error("commanded: got no torque")
	}
}
