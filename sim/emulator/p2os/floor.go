package p2os

import (
	"math"
	"time"
)

// Floor is a Chassis for a base without a world: an empty flat floor on which the wheel rims move at the commanded
// speed, without mass or slip. It is a hal.World; only Advance moves it.
type Floor struct {
	Volt          float64 // of the battery
	X, Y, Heading float64 // where the base is, m and rad
	Echo          float64 // range of transducer 0, m; the others get no echo
	Pressed       [2]int  // segment of the front and the rear ring that is pressed, from 1; 0 = none

	difference float64 // rad of turn a metre of half the difference of the rims
	speed      [2]float64
	on         bool
	rims       [2]float64
}

// NewFloor returns a floor for a base with that difference; see base.Robot.
func NewFloor(difference float64) *Floor {
	return &Floor{Volt: 12.3, Echo: math.Inf(1), difference: difference}
}

// Advance lets the base roll for dt.
func (f *Floor) Advance(dt time.Duration) error {
	if !f.on {
		return nil
	}
	s := dt.Seconds()
	along, turn := (f.speed[0]+f.speed[1])/2*s, f.Turn()*s
	sin, cos := math.Sincos(f.Heading + turn/2)
	f.X += float64(along * cos)
	f.Y += float64(along * sin)
	f.Heading += turn
	for i := range f.rims {
		f.rims[i] += float64(f.speed[i] * s)
	}
	return nil
}

// Drive, Rims, Sonar, Bumper, Turn and Volts are Chassis's.
func (f *Floor) Drive(left, right float64, on bool) { f.speed, f.on = [2]float64{left, right}, on }
func (f *Floor) Rims() (left, right float64)        { return f.rims[0], f.rims[1] }
func (f *Floor) Volts() float64                     { return f.Volt }

func (f *Floor) Sonar(i int) float64 {
	if i == 0 {
		return f.Echo
	}
	return math.Inf(1)
}

func (f *Floor) Bumper(rear bool, i int) bool {
	ring := 0
	if rear {
		ring = 1
	}
	return f.Pressed[ring] == i+1
}

func (f *Floor) Turn() float64 {
	if !f.on {
		return 0
	}
	return (f.speed[1] - f.speed[0]) / 2 * f.difference
}
