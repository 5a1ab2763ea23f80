package control

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// Arm succeeds only if commands move the joints. A joint that does not answer or waits for a reset is an error, and its
// state is not "armed". A fault that clears within a few cycles is not an error.
func TestArmTellsWhatCannotMove(t *testing.T) {
	rig, err := hal.New(hal.Config{Name: "arm", Mode: hal.Lockstep, Period: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	body := haltest.NewBody("shoulder", "elbow")
	agent, err := rig.Add(hal.AgentConfig{Name: "left", Body: body, World: body})
	if err != nil {
		t.Fatal(err)
	}
	step := func() {
		if err := rig.Step(); err != nil {
			t.Error(err)
		}
	}
	step()
	ticks := make(chan time.Time)
	if err := armed(rig, ticks); err != nil {
		t.Errorf("well: got %v", err)
	}
	body.Silent[1] = &hal.Error{Kind: hal.BusFault, Op: "read", Err: errors.New("no reply")}
	step()
	done := make(chan error)
	go func() { done <- armed(rig, ticks) }()
	for range armLooks - 1 {
		ticks <- time.Time{}
	}
	if err := <-done; hal.KindOf(err) != hal.BusFault || !strings.Contains(err.Error(), "1 of 2 joints cannot move") ||
		!strings.Contains(err.Error(), "halyard reset, then halyard arm") {
		t.Errorf("no reply: got %v", err)
	}
	if joints := JointsOf(rig, nil); joints[0].State != "armed" || joints[1].State != "fault" {
		t.Errorf("got %+v, want armed and fault", joints)
	}
	go func() { done <- armed(rig, ticks) }()
	ticks <- time.Time{}
	delete(body.Silent, 1)
	step()
	for waits := true; waits; { // its next look may have been before the step, or after it
		select {
		case err = <-done:
			waits = false
		case ticks <- time.Time{}:
		}
	}
	if err != nil {
		t.Errorf("well again soon: got %v", err)
	}
	agent.Disarm()
}
