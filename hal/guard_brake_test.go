package hal

import (
	"math"
	"testing"
	"time"
)

// TestBrakeWithDeadTime: a light motor in duty mode near its limits, whose client left it at speed, comes to rest, though
// each reading is of a cycle before and each command acts in the next one; and a load meets the whole brake again.
func TestBrakeWithDeadTime(t *testing.T) {
	const period = 0.02
	a := &Actuator{Position: 0, Limits: Limits{MinPosition: -1, MaxPosition: 1, MaxVelocity: 200, MaxTorque: 1}}
	g := &guard{rate: 1 / period}
	j := &guardJoint{mode: DutyMode}
	position, speed, seen, duty, most := 0.0, 40.0, 40.0, 0.0, 0.0
	for k := range 200 {
		j.sight.at, j.sight.speed = math.Max(-1, math.Min(1, position)), seen
		seen = speed
		next := g.outward(a, j, 0)
		speed += (duty*a.Limits.MaxVelocity - speed) * (1 - math.Exp(-period/0.02)) // a time constant of 20 ms
		position += speed * period
		if duty = next; k > 50 {
			most = math.Max(most, math.Abs(speed))
		}
	}
	if most > 2 {
		t.Errorf("a second after its client left: got %.1f rad/s, want it at rest", most)
	}
	for range int(brakeEase+1) * int(brakeMemory/(20*time.Millisecond)+2) {
		j.sight.at, j.sight.speed = 1, 1
		g.outward(a, j, 0)
	}
	if got := j.brake.gain(); got != 1 {
		t.Errorf("under a load that pushes outward: got %g of the brake, want all of it", got)
	}
}
