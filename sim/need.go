package sim

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/model"
)

// The rule for the default physics step. docs/physics.md has it with its bounds.
const (
	shortestNeed = DefaultSubstep
	longestNeed  = 5 * time.Millisecond
	// A default contact has a time constant of 5 ms, and at least of two steps: with longer steps it would be softer.
	contactNeed = 2500 * time.Microsecond
	// Servos run their control laws once a millisecond, with 4 ms of smoothing; two of these runs may share a step.
	firmwareNeed = 2 * time.Millisecond
	// The share of 1/ω that a step may take, ω being that of a gear that swings on the stiffness of its position
	// control.
	swingNeed = 0.2
)

// Need returns the longest step of the physics with which these robots behave as with DefaultSubstep, within the bounds
// of docs/physics.md: 1 to 5 ms. Robots of Simloid keep their own step, and among others they take DefaultSubstep.
func Need(robots []*model.Robot) time.Duration {
	need := longestNeed
	for _, m := range robots {
		if m.ODE {
			return shortestNeed
		}
		if len(m.Bodies) > 0 {
			need = min(need, contactNeed)
		}
		for i := range m.Joints {
			if k := m.Joints[i].Servo; k != nil {
				if k.Firmware == actuator.FOC { // its inner loops are fast
					return shortestNeed
				}
				need = min(need, firmwareNeed, swing(k))
			}
		}
	}
	return max(shortestNeed, need)
}

// swing is the step that the stiffness of a servo's position control requires, with only its own gear as the load.
func swing(k *actuator.Spec) time.Duration {
	stiffness := k.Stiffness()
	if !(stiffness > 0) {
		return longestNeed
	}
	return time.Duration(swingNeed * math.Sqrt(k.Armature/stiffness) * float64(time.Second))
}
