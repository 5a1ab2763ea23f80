package dynamixel

import (
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
)

// An alarm that is latched when the chain opens is known before the first cycle, and a reset then restarts the servo.
// What the restart has not ended is an alarm again.
func TestClearBeforeTheFirstCycle(t *testing.T) {
	for _, lasts := range []bool{false, true} {
		r := newRig(t, nil, "xl430-w250")
		s := r.servos[0]
		s.set("hardware_error", 0x20)
		s.errors, s.lasts = alertBit, lasts
		if err := r.Open(); err != nil {
			t.Fatal(err)
		}
		if r.State(0).Alarm != servo.AlarmOverload {
			t.Fatalf("opened: got alarm %v", r.State(0).Alarm)
		}
		for _, err := range r.ClearAlarms() {
			if err != nil {
				t.Error(err)
			}
		}
		if !slices.ContainsFunc(r.writes, func(in Instruction) bool { return in.Op == Reboot }) {
			t.Error("no restart")
		}
		r.run(rebootPause + 2)
		if got := r.State(0); got.Err != nil || (got.Alarm == servo.AlarmOverload) != lasts {
			t.Errorf("cause lasts %v: got alarm %v, %v", lasts, got.Alarm, got.Err)
		}
	}
}

// A servo of the current-based position mode that was left whole turns away is within its turn, forgets the turns
// before it gets torque, and never with it. A wheel counts on.
func TestTurnsAreForgottenAtRest(t *testing.T) {
	for _, left := range []int64{2248 - 4096, 2248 + 3*4096} {
		r := openedRig(t, nil, "xm430-w350")
		s := r.servos[0]
		s.set("present_position", left)
		g := servo.Goal{Low: 1024, High: 3072, Limit: 1}
		r.goal(g)
		r.run(3)
		if got := r.State(0).Position; got != 2248 || s.get("present_position") != left {
			t.Fatalf("left at %d: got %g, in the servo %d, before it is armed", left, got, s.get("present_position"))
		}
		g.Enable, g.Mode, g.Position = true, 0, 2300
		r.goal(g)
		r.run(6)
		if s.get("torque_enable") != 1 || s.get("present_position") != 2248 || s.get("goal_position") != 2300 {
			t.Errorf("left at %d: got torque %d, position %d, goal %d", left, s.get("torque_enable"),
				s.get("present_position"), s.get("goal_position"))
		}
		s.set("present_position", 2248+4096) // pushed, under torque
		r.run(2)
		if got := r.State(0).Position; got != 2248+4096 {
			t.Errorf("under torque: got %g", got)
		}
	}
	r := openedRig(t, nil, "xm430-w350")
	r.servos[0].set("present_position", 9000)
	r.run(3)
	if got := r.State(0).Position; got != 9000 {
		t.Errorf("a wheel: got %g", got)
	}
}
