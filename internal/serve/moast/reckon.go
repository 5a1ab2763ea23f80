package moast

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// reckoner corrects odometry by a heading that is measured: wheels that skid as a vehicle turns count its distance well and
// its heading badly. In hal's axes.
type reckoner struct {
	begun   bool
	wheels  [3]float64 // x, y, yaw that the wheels last counted
	heading float64    // that was last measured; NaN = none
	at      [3]float64
}

// step takes what the wheels count and the measured heading, NaN if absent, and returns the pose.
func (r *reckoner) step(wheels [3]float64, heading float64) [3]float64 {
	if !r.begun {
		r.begun, r.wheels, r.heading, r.at = true, wheels, heading, wheels
		return r.at
	}
	counted := math.Remainder(wheels[2]-r.wheels[2], 2*math.Pi)
	turn := counted
	if !math.IsNaN(heading) && !math.IsNaN(r.heading) {
		turn = math.Remainder(heading-r.heading, 2*math.Pi)
	}
	// the way in the vehicle's own frame, at half the turn that the wheels count, then along half the true turn
	dx, dy := wheels[0]-r.wheels[0], wheels[1]-r.wheels[1]
	sin, cos := math.Sincos(r.wheels[2] + counted/2)
	ahead, left := cos*dx+sin*dy, cos*dy-sin*dx
	sin, cos = math.Sincos(r.at[2] + turn/2)
	r.at = [3]float64{r.at[0] + cos*ahead - sin*left, r.at[1] + sin*ahead + cos*left, math.Remainder(r.at[2]+turn, 2*math.Pi)}
	r.wheels, r.heading = wheels, heading
	return r.at
}

// headingOf is the heading that a sensor measures, NaN of any other.
func headingOf(s *hal.Sensor, values []float64) float64 {
	switch {
	case s.Kind == "inertial" && len(values) >= 3:
		return values[2]
	case s.Kind == "imu" && len(values) >= 4:
		q := hal.Pose{Rotation: [4]float64(values[:4])}.Times(s.Mount.Inverse())
		return q.RollPitchYaw()[2]
	}
	return math.NaN()
}
