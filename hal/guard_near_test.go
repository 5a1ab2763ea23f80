package hal_test

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// TestKeepsAway: a joint that is commanded towards a wall comes as near as it may and no nearer, goes away freely, and
// holds still where the watch says so, until an operator arms.
func TestKeepsAway(t *testing.T) {
	const wall, margin = 1.0, 0.05
	r, body := newRig(t, hal.Lockstep), haltest.NewBody("x")
	stop := ""
	a, err := r.Add(hal.AgentConfig{Name: "a", Body: body, World: body, BodyKind: hal.Emulated,
		Watch: func() ([]hal.Approach, string) {
			room := max(0, wall-margin-body.Position[0])
			return []hal.Approach{{Moves: []float64{-1}, Room: room, Speed: room / 0.25}}, stop
		}})
	if err != nil {
		t.Fatal(err)
	}
	p, l, _ := acquire(t, r, "one", a)
	goal := func(position float64, cycles int) (most float64) {
		t.Helper()
		in := make([]float64, len(a.Layout().Inputs))
		hal.FillNaN(in)
		in[a.Layout().Actuators[0].Goal[hal.PositionMode]] = position
		for range cycles {
			if err := p.Step(l, in); err != nil {
				t.Fatal(err)
			}
			most = max(most, body.Position[0])
		}
		return most
	}
	if most := goal(1.3, 600); most > wall-margin+1e-9 || most < wall-margin-0.02 {
		t.Errorf("towards the wall: got as far as %.4f, want %.2f", most, wall-margin)
	}
	if goal(0, 300); math.Abs(body.Position[0]) > 0.01 {
		t.Errorf("away: got %.3f, want 0", body.Position[0])
	}
	stop = "virtual contact"
	goal(0.5, 1)
	stop = ""
	held := body.Position[0]
	if goal(0.5, 50); math.Abs(body.Position[0]-held) > 0.05 || a.Condition().Reason != "virtual contact" {
		t.Errorf("held still: got %.3f after %.3f, %+v", body.Position[0], held, a.Condition())
	}
	if err := a.RequestArm("client"); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("a client arms: got %v, want a refusal", err)
	}
	if err := a.Arm(); err != nil {
		t.Fatal(err)
	}
	if goal(0.5, 200); math.Abs(body.Position[0]-0.5) > 0.02 {
		t.Errorf("armed again: got %.3f, want 0.5", body.Position[0])
	}
}
