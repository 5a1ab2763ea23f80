package usarini

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// perMetre is how many Unreal units a metre has: the tutorial's 52.5, with which the manual's P2AT has its sonars where
// the real one has them. Section 5.2 has 256 for 16 feet, 52.49.
const perMetre = 52.5

// halfTurn is how many Unreal units half a turn has.
const halfTurn = 32768

// radians is an angle in Unreal units.
func radians(uu float64) float64 { return uu * math.Pi / halfTurn }

// direction are turns about x, y, z: in Unreal units where it was written as a rotator, else in those of the robot.
type direction struct {
	turns   [3]float64
	rotator bool
}

// turnAxes is a vector in hal's axes: Unreal's differ in y, J670's in y and z.
func turnAxes(v [3]float64, uu bool) [3]float64 {
	if uu {
		return [3]float64{v[0], 0 - v[1], v[2]}
	}
	return [3]float64{v[0], 0 - v[1], 0 - v[2]}
}

// place is a position in metres and hal's axes.
func place(v [3]float64, uu bool) [3]float64 {
	if uu {
		for i := range v {
			v[i] /= perMetre
		}
	}
	return turnAxes(v, uu)
}

// unit is v with length 1; zero stays.
func unit(v [3]float64) [3]float64 {
	n := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	if n == 0 {
		return v
	}
	return [3]float64{v[0] / n, v[1] / n, v[2] / n}
}

// mount is where an item sits. A rotator is Unreal's own, and so is its position then.
func mount(at [3]float64, to direction, uu bool) hal.Pose {
	uu = uu || to.rotator
	turns := to.turns
	if uu {
		for i := range turns {
			turns[i] = radians(turns[i])
		}
	}
	// yaw, pitch, roll of J670 about hal's axes
	p := hal.Pose{Position: place(at, uu)}
	for _, k := range [...]struct {
		axis  int
		angle float64
	}{{2, -turns[2]}, {1, -turns[1]}, {0, turns[0]}} {
		s, c := math.Sincos(k.angle / 2)
		turn := hal.Pose{Rotation: [4]float64{c}}
		turn.Rotation[1+k.axis] = s
		p = p.Times(turn)
	}
	return p
}
