package kinematics

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// drives are one of each kind: wheels of 0.1 m radius.
func drives() map[string]*Drive {
	wheel := func(i int, x, y float64, roll, grip [2]float64) DriveWheel {
		return DriveWheel{Actuator: i, At: [2]float64{x, y}, Roll: roll, Grip: grip, Steer: hal.None}
	}
	ahead := [2]float64{0.1, 0}
	omni := &Drive{Sideways: true}
	for i := range 3 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / 3)
		roll := [2]float64{-0.1 * sin, 0.1 * cos}
		omni.Wheels = append(omni.Wheels, wheel(i, 0.2*cos, 0.2*sin, roll, roll))
	}
	car := &Drive{Wheels: []DriveWheel{wheel(0, -0.3, 0.2, ahead, ahead), wheel(1, -0.3, -0.2, ahead, ahead),
		wheel(2, 0.2, 0.2, ahead, ahead), wheel(3, 0.2, -0.2, ahead, ahead)}}
	car.Wheels[2].Steer, car.Wheels[2].SteerSign = 4, 1
	car.Wheels[3].Steer, car.Wheels[3].SteerSign = 5, -1
	return map[string]*Drive{
		"differential": Sides([]int{0}, []int{1}, 0.1, 0.5),
		"skid":         Sides([]int{0, 2}, []int{1, 3}, 0.1, 0.5),
		"reversed": {Wheels: []DriveWheel{wheel(0, 0.1, 0.2, [2]float64{-0.1, 0}, [2]float64{-0.1, 0}),
			wheel(1, 0.1, -0.2, ahead, ahead)}},
		"omni": omni, "ackermann": car,
		"mecanum": {Sideways: true, Wheels: []DriveWheel{wheel(0, 0.2, 0.2, ahead, [2]float64{1, -1}),
			wheel(1, 0.2, -0.2, ahead, [2]float64{1, 1}), wheel(2, -0.2, 0.2, ahead, [2]float64{1, 1}),
			wheel(3, -0.2, -0.2, ahead, [2]float64{1, -1})}},
	}
}

// TestDriveMotion: the wheels' goals for a motion measure that motion, as far as the drive can make it.
func TestDriveMotion(t *testing.T) {
	for name, d := range drives() {
		for _, want := range [][3]float64{{0.4, 0, 0}, {-0.4, 0, 0}, {0, 0.3, 0}, {0, 0, 1}, {0.4, -0.2, 0.5},
			{-0.4, 0, 0.5}} {
			goals := make([]float64, 6)
			d.Goals(want[0], want[1], want[2], func(i int, _ hal.Mode, g float64) { goals[i] = g })
			of := func(i int) float64 { return goals[i] }
			x, y, turn := d.Motion(of, of)
			if !d.Sideways {
				want[1] = -want[2] * d.axle()
			}
			if name == "ackermann" && want[0] == 0 {
				want = [3]float64{}
			}
			if got := [3]float64{x, y, turn}; math.Abs(got[0]-want[0]) > 1e-9 || math.Abs(got[1]-want[1]) > 1e-9 ||
				math.Abs(got[2]-want[2]) > 1e-9 {
				t.Errorf("%s: got %.4f, want %.4f", name, got, want)
			}
		}
	}
}

// TestOdometer: a quarter of a circle, in steps, over the wrap of the wheels; a lost wheel adds nothing.
func TestOdometer(t *testing.T) {
	for name, d := range drives() {
		var o Odometer
		q := make([]float64, 6)
		const n = 1000
		for i := range n + 1 {
			if i > 0 {
				d.Goals(1, 0, 1, func(k int, mode hal.Mode, g float64) {
					if mode == hal.PositionMode {
						q[k] = g
					} else {
						q[k] = math.Remainder(q[k]+g*math.Pi/2/n, 2*math.Pi)
					}
				})
			}
			if i == n/2 {
				o.Advance(d, func(int) float64 { return math.NaN() }, func(int) bool { return true })
				o.Advance(d, func(k int) float64 { return q[k] }, func(int) bool { return true })
			}
			o.Advance(d, func(k int) float64 { return q[k] }, func(k int) bool { return k < 4 })
		}
		axle := d.axle()
		if d.Sideways {
			axle = 0
		}
		// A point at (axle, 0) goes round, 1 m from the middle.
		want := [3]float64{1 + axle, 1 - axle, math.Pi / 2}
		if math.Abs(o.Place[2]-want[2]) > 0.01 || math.Abs(o.Place[0]-want[0]) > 0.01 ||
			math.Abs(o.Place[1]-want[1]) > 0.01 {
			t.Errorf("%s: got %.3f, want %.3f", name, o.Place, want)
		}
	}
}

func TestDriveFits(t *testing.T) {
	l := &hal.Layout{Actuators: []hal.Actuator{{}, {}}}
	for i := range l.Actuators {
		for m := range l.Actuators[i].Goal {
			l.Actuators[i].Goal[m] = hal.None
		}
		l.Actuators[i].Goal[hal.VelocityMode] = i
	}
	for i, c := range []struct {
		d  *Drive
		ok bool
	}{
		{Sides([]int{0}, []int{1}, 0.1, 0.5), true}, {Sides([]int{0}, []int{2}, 0.1, 0.5), false},
		{Sides([]int{0}, nil, 0.1, 0.5), false}, {Sides([]int{0}, []int{1}, 0, 0.5), false},
		{Sides([]int{0}, []int{1}, 0.1, 0), false}, {drives()["ackermann"], false},
	} {
		if err := c.d.Validate(l); (err == nil) != c.ok {
			t.Errorf("%d: got %v", i, err)
		}
	}
}
