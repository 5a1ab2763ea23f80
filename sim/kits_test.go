package sim

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// The robots that are sold as kits hold themselves up on their own servos: the arms stretched out level where their
// joints allow it, the hexapod on six feet and on three, where it sinks with torque off (on six its gears alone hold
// it).
func TestKitsHoldUp(t *testing.T) {
	hold := func(r *rig, seconds int, goals map[string]float64) (worst float64) {
		r.enable(true)
		for i := range r.body.Layout().Actuators {
			a := &r.body.Layout().Actuators[i]
			r.frame.Inputs[a.Goal[hal.PositionMode]] = a.Default
			if g, ok := goals[a.Name]; ok {
				r.frame.Inputs[a.Goal[hal.PositionMode]] = g
			}
		}
		r.cycle(100 * seconds)
		for i := range r.body.Layout().Actuators {
			a := &r.body.Layout().Actuators[i]
			worst = math.Max(worst, math.Abs(r.frame.Measured[a.Position]-r.frame.Inputs[a.Goal[hal.PositionMode]]))
		}
		return worst
	}
	for _, c := range []struct {
		robot string
		goals map[string]float64
	}{
		{"so101", nil},
		{"so101", map[string]float64{"shoulder_lift": 1.2, "elbow_flex": -1.2}},
		{"lx16a-arm", map[string]float64{"shoulder": 1.3}},
	} {
		if worst := hold(newRig(t, c.robot, 1), 3, c.goals); worst > 0.12 {
			t.Errorf("%s at %v: a joint hangs by %.3f rad", c.robot, c.goals, worst)
		} else {
			t.Logf("%s at %v: hangs by %.3f rad", c.robot, c.goals, worst)
		}
	}
	r := newRig(t, "hobby-hexapod", 1)
	body := r.body.model.Body("body")
	start := r.body.Pose(body).Position[2]
	sunk := func() float64 { return start - r.body.Pose(body).Position[2] }
	worst := hold(r, 5, nil)
	six := sunk()
	tripod := map[string]float64{}
	for _, leg := range []string{"right_front", "right_rear", "left_middle"} {
		tripod[leg+"_thigh"] = -0.6
	}
	hold(r, 3, tripod)
	three := sunk()
	t.Logf("hexapod: hangs by %.3f rad, sinks by %.4f m on six legs, %.4f m on three", worst, six, three)
	if six > 0.01 || three > 0.025 || worst > 0.12 {
		t.Errorf("got %.3f rad, %.4f and %.4f m, want it to stand", worst, six, three)
	}
	r.enable(false)
	r.cycle(500)
	if got := sunk(); got < 0.03 {
		t.Errorf("torque off: it sinks by %.3f m", got)
	}
}
