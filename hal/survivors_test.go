package hal

import (
	"math"
	"testing"
	"time"
)

// A position drive that was lost gets no goal of before while it is not known where the joint is, and is held where it
// is found, also within the following error.
func TestLostDriveGetsNoOldGoal(t *testing.T) {
	g := newGuarded(GuardConfig{}, 0.3)
	g.exact = false
	g.command(0.3, nan, nan, nan, nan)
	for range 5 {
		g.f.Status[0].Time = g.now
		g.tick()
	}
	if g.f.Inputs[0] != 0.3 || !g.f.Enable[0] {
		t.Fatalf("before: got goal %v, torque %v, want 0.3", g.f.Inputs[0], g.f.Enable[0])
	}
	g.f.Measured[0], g.f.Status[0].Err, g.f.Status[0].Drive = nan, errLeaving, Waiting
	for range 20 { // it is unknown after some
		g.tick()
	}
	if !math.IsNaN(g.f.Inputs[0]) || !g.f.Enable[0] {
		t.Fatalf("lost: got goal %v, torque %v, want torque without a goal", g.f.Inputs[0], g.f.Enable[0])
	}
	g.f.Status[0].Drive = Follows // it is back, and not read yet
	if g.tick(); !math.IsNaN(g.f.Inputs[0]) {
		t.Errorf("back and not read: got goal %v, want none", g.f.Inputs[0])
	}
	g.f.Measured[0], g.f.Status[0].Err = 0.35, nil
	for range 10 {
		g.f.Status[0].Time = g.now
		if g.tick(); g.f.Enable[0] && g.f.Inputs[0] != g.f.Inputs[0] {
			continue
		}
		break
	}
	if got := g.f.Inputs[0]; math.Abs(got-0.35) > 0.02+1e-9 {
		t.Errorf("found at 0.35: got goal %v, want one at most a cycle's way from there", got)
	}
}

// inert counts the times that it was made inert.
type inert struct {
	*thrusters
	halts chan struct{}
}

func (b *inert) Halt() error {
	select {
	case b.halts <- struct{}{}:
	default:
	}
	return b.thrusters.Halt()
}

// A stop that could not wait for the cycle is verified when the cycle ends after all.
func TestStopIsVerifiedLate(t *testing.T) {
	r, err := New(Config{Mode: Realtime, Period: tick, Clock: &lateClock{}})
	if err != nil {
		t.Fatal(err)
	}
	b := &inert{&thrusters{layout: oneJoint()}, make(chan struct{}, 1)}
	a, err := r.Add(AgentConfig{Name: "a", Body: b, World: &ticking{}, BodyKind: Emulated})
	if err != nil {
		t.Fatal(err)
	}
	r.edgeTime = time.Millisecond
	r.BetweenCycles(func() {
		stopped := make(chan []JointStop)
		go func() { stopped <- r.EmergencyStop("test") }()
		if stops := <-stopped; stops[0].Err == nil {
			t.Errorf("while the cycle does not end: got %+v, want it unverified", stops)
		}
		select {
		case <-b.halts:
			t.Error("the body was used while the cycle did not end")
		default:
		}
	})
	select {
	case <-b.halts:
	case <-time.After(30 * time.Second):
		t.Fatal("the stop was not verified when the cycle had ended")
	}
	if r.EmergencyStop("again"); a.Condition().Reason != "again" {
		t.Errorf("again: got %+v", a.Condition())
	}
}
