package imu

import (
	"fmt"
	"math"
	"time"
)

// rest watches a chip at rest: what it feels then is gravity. Half or twice of it is a chip with other ranges under the
// same identity (an LSM6DSO32 in place of an LSM6DSOX). Other values may be true: another planet, a fall.
type rest struct {
	begun bool
	since time.Duration
	first [6]float64 // rates and acceleration then
	fault error      // of the last rest; nil = it felt gravity
}

// Bounds of rest, and how long it lasts until it counts. A gyro that is not calibrated turns steadily.
const (
	restTime  = 2 * time.Second
	restRate  = 0.1 // rad/s
	restForce = 0.5 // m/s²
	restShare = 0.06
)

// Restart forgets what was read.
func (s *MPU) Restart() { s.rest = rest{} }

// Restart forgets what was read.
func (s *LSM6) Restart() { s.rest = rest{} }

// judge takes a sample, rates and acceleration in front, and doubts it where the last rest was that of another chip.
func (r *rest) judge(now time.Duration, sample *[10]float64) error {
	still := r.begun
	for i, v := range sample[:6] {
		bound := restRate
		if i >= 3 {
			bound = restForce
		}
		still = still && math.Abs(v-r.first[i]) <= bound
	}
	if !still {
		r.begun, r.since, r.first = true, now, [6]float64(sample[:6])
	}
	if now-r.since >= restTime {
		a := sample[3:6]
		force := math.Sqrt(a[0]*a[0] + a[1]*a[1] + a[2]*a[2])
		switch ratio := force / gravity; {
		case math.Abs(ratio-0.5) > 0.5*restShare && math.Abs(ratio-2) > 2*restShare:
			r.fault = nil
		case r.fault == nil:
			r.fault = fmt.Errorf("acceleration: got %.1f m/s² at rest, want %.1f: another chip with this identity "+
				"(an LSM6DSO32 has that of an LSM6DSOX)", force, gravity)
		}
	}
	return r.fault
}
