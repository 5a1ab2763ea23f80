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
	told, stop, blind := "", false, false
	a, err := r.Add(hal.AgentConfig{Name: "a", Body: body, World: body, BodyKind: hal.Emulated,
		Watch: func() ([]hal.Approach, string, bool) {
			if blind {
				return []hal.Approach{{}}, told, stop
			}
			room := max(0, wall-margin-body.Position[0])
			return []hal.Approach{{Moves: []float64{-1}, Room: room, Speed: room / 0.25}}, told, stop
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
	blind = true
	if goal(0.5, 100); math.Abs(body.Position[0]) > 0.01 {
		t.Errorf("the place of something is not known: got %.3f, want 0", body.Position[0])
	}
	blind = false
	told, stop = "virtual contact", true
	goal(0.5, 1)
	told, stop = "", false
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

// TestKeepsAwayFromTwo: slowing a joint for one thing does not bring the robot nearer to another, from which that
// joint's motion leads away.
func TestKeepsAwayFromTwo(t *testing.T) {
	r, body := newRig(t, hal.Lockstep), haltest.NewBody("x", "y")
	// Of the first thing y leads away as fast as x leads nearer; the second lets y go at a hundredth of that.
	near := []hal.Approach{{Moves: []float64{-1, 1}, Room: 10, Speed: 0.1}, {Moves: []float64{0, -1}, Room: 10,
		Speed: 0.01}}
	a, err := r.Add(hal.AgentConfig{Name: "a", Body: body, World: body, BodyKind: hal.Emulated,
		Watch: func() ([]hal.Approach, string, bool) { return near, "", false }})
	if err != nil {
		t.Fatal(err)
	}
	p, l, _ := acquire(t, r, "one", a)
	in := make([]float64, len(a.Layout().Inputs))
	hal.FillNaN(in)
	var last [2]float64
	for k := range 100 {
		for i := range 2 {
			in[a.Layout().Actuators[i].Goal[hal.PositionMode]] = 1
		}
		if err := p.Step(l, in); err != nil {
			t.Fatal(err)
		}
		now := [2]float64{body.Position[0], body.Position[1]}
		if speed := ((now[0] - last[0]) - (now[1] - last[1])) / r.Period().Seconds(); k > 0 && speed > 0.1+1e-6 {
			t.Fatalf("cycle %d: nearer at %.4f m/s, want 0.1 at most", k, speed)
		}
		last = now
	}
	if last[1] > 0.01*100*r.Period().Seconds()+1e-9 {
		t.Errorf("the second thing: got %.4f nearer", last[1])
	}
}
