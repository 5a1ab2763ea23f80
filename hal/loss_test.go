package hal_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// lossRig is a robot of two joints that are commanded to 1 rad in each cycle.
func lossRig(t *testing.T, body hal.Body, world hal.World, config hal.GuardConfig) (a *hal.Agent, r *hal.Rig,
	run func(n int)) {
	t.Helper()
	r = newRig(t, hal.Lockstep)
	a, err := r.Add(hal.AgentConfig{Name: "a", Body: body, World: world, BodyKind: hal.Emulated,
		Guard: config})
	if err != nil {
		t.Fatal(err)
	}
	p, l, _ := acquire(t, r, "one", a)
	in := make([]float64, len(a.Layout().Inputs))
	hal.FillNaN(in)
	for i := range a.Layout().Actuators {
		in[a.Layout().Actuators[i].Goal[hal.PositionMode]] = 1
	}
	return a, r, func(n int) {
		t.Helper()
		for range n {
			if err := p.Step(l, in); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func onLoss(hold, off, stop []int) (c hal.GuardConfig) {
	c.OnLoss.Hold, c.OnLoss.TorqueOff, c.OnLoss.Stop = hold, off, stop
	return c
}

// TestOnLoss: a robot whose joint is lost does what its config says, once: an operator may arm it without the joint. An
// emergency stop stays while the joint is lost.
func TestOnLoss(t *testing.T) {
	for _, c := range []struct {
		name  string
		loss  hal.GuardConfig
		state hal.GuardState
		on    bool // the other joint's torque
	}{
		{"by default", hal.GuardConfig{}, hal.Armed, true},
		{"hold", onLoss([]int{0}, nil, nil), hal.Expired, true},
		{"torque_off", onLoss(nil, []int{0}, nil), hal.Disarmed, false},
		{"stop", onLoss(nil, nil, []int{0}), hal.Stopped, false},
		{"of another device", onLoss(nil, nil, []int{1}), hal.Armed, true},
	} {
		body := haltest.NewBody("x", "y")
		a, r, run := lossRig(t, body, body, c.loss)
		run(5)
		body.Silent[0] = errors.New("no answer")
		run(5)
		if got := a.Condition().State; got != hal.Armed {
			t.Errorf("%s: a few missed readings: got %v, want armed", c.name, got)
		}
		run(30)
		got := a.Condition()
		if got.State != c.state || body.Enabled[1] != c.on || c.state != hal.Armed &&
			!strings.Contains(got.Reason, "x") {
			t.Errorf("%s: got %+v, the other's torque %v", c.name, got, body.Enabled[1])
		}
		at := body.Position[1]
		if run(20); c.state == hal.Expired && math.Abs(body.Position[1]-at) > 1e-9 {
			t.Errorf("%s: it moved by %g", c.name, body.Position[1]-at)
		}
		switch c.state {
		case hal.Expired, hal.Disarmed:
			if err := a.RequestArm("client"); hal.KindOf(err) != hal.Unsafe {
				t.Errorf("%s: a client arms: got %v, want a refusal", c.name, err)
			}
			if err := a.Arm(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if run(20); a.Condition().State != hal.Armed {
				t.Errorf("%s: armed without the joint: got %+v", c.name, a.Condition())
			}
		case hal.Stopped:
			if err := r.Recover(); err == nil {
				t.Errorf("%s: reset while the joint is lost", c.name)
			}
		}
	}
}

// standIn is a twin that moves by its commands unless it follows.
type standIn struct {
	*haltest.Body
	follows bool
}

func (s *standIn) Follow(i int, position, _ float64) {
	if s.follows = !math.IsNaN(position); s.follows && i == 0 {
		s.Position[0] = position
	}
}

// TestSubstitute: a simulated joint takes the place of a lost one where it was, with its commands, and says so. The
// real one, back, gets no goal, and has its place again once it is disarmed.
func TestSubstitute(t *testing.T) {
	real, twin := haltest.NewBody("x", "y"), &standIn{Body: haltest.NewBody("x", "y")}
	twin.Position[0] = 7
	body := hal.Twin(real, twin, []int{0, 1}, hal.None, nil)
	sub := body.(interface {
		Substitute(hal.Body, []int) error
	})
	if err := sub.Substitute(twin, []int{0}); err != nil {
		t.Fatal(err)
	}
	a, _, run := lossRig(t, body, haltest.Worlds{real, twin}, hal.GuardConfig{})
	run(20)
	real.Silent[0] = errors.New("no answer")
	before := a.Measured(nil)[0]
	run(15)
	if at := a.Measured(nil)[0]; twin.follows == true && at != before || math.Abs(at-before) > 0.5 {
		t.Errorf("in its place: got %.3f after %.3f", at, before)
	}
	if s := a.Status(nil)[0]; s.Err == nil || !s.Warns || !strings.Contains(s.Err.Error(), "simulated") {
		t.Errorf("marked: got %+v", s)
	}
	run(300)
	if at := a.Measured(nil)[0]; math.Abs(at-1) > 0.02 {
		t.Errorf("it goes on: got %.3f, want 1", at)
	}
	if body.(interface{ Lost() bool }).Lost() {
		t.Error("the robot is where its twin is: got lost, with which keep_out holds it still")
	}
	delete(real.Silent, 0)
	run(20)
	if s := a.Status(nil)[0]; s.Err == nil || !math.IsNaN(real.Last[0]) || !real.Enabled[0] {
		t.Errorf("the real one is back: got %+v, real goal %g, torque %v; want it to hold", s, real.Last[0],
			real.Enabled[0])
	}
	a.Disarm()
	run(3)
	if s := a.Status(nil)[0]; s.Err != nil || real.Enabled[0] || math.Abs(a.Measured(nil)[0]-real.Position[0]) > 1e-9 {
		t.Errorf("disarmed: got %+v at %g, real at %g, torque %v", s, a.Measured(nil)[0], real.Position[0],
			real.Enabled[0])
	}
}
