package sim

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// A joint with play is shaken through it by a force that changes its way, before the servo, which measures behind the
// play, has brought it back; without play the gear holds it.
func TestBacklash(t *testing.T) {
	const play = 0.05
	r := hung(t, "a-series", 1)
	elbow := r.body.model.Joint("left_elbow")
	s := r.body.Joint(elbow).Servo
	s.Load.Backlash = play
	r.enable(true)
	for i := range r.body.layout.Actuators {
		r.frame.Inputs[r.body.layout.Actuators[i].Goal[hal.PositionMode]] = 0
	}
	shake := func() (way float64) {
		low, high := math.Inf(1), math.Inf(-1)
		for k := range 100 {
			r.must(r.Push("a-series", "left_lower_arm", [3]float64{math.Copysign(1, float64(k%10)-4.5), 0, 0}))
			r.cycle(1)
			low, high = math.Min(low, s.Position), math.Max(high, s.Position)
		}
		return high - low
	}
	r.cycle(100)
	loose := shake()
	s.Load.Backlash = 0
	r.cycle(100)
	tight := shake()
	t.Logf("shaken by 1 N: %.4f rad with a play of %g rad, %.4f without", loose, play, tight)
	if !(loose > 0.8*play && loose < 1.6*play) {
		t.Errorf("with play: got %.4f rad, want about %g", loose, play)
	}
	if !(tight < 0.2*play) {
		t.Errorf("without play: got %.4f rad, want nearly none", tight)
	}
}
