package kinematics

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
)

// Drive is how a robot's wheels carry it: what each wheel does for a motion of the base, and what motion of the base
// the wheels measure. The base is the robot's frame: x ahead, y to the left.
type Drive struct {
	Wheels []DriveWheel
	// Sideways: its wheels have rollers, and it moves in any direction. Else it moves ahead and turns, about a point on
	// the line of its unsteered wheels.
	Sideways bool
}

// Sides is a drive of fixed wheels on two sides, all of one radius, m, whose positive goals drive forward; separation
// is from side to side, m.
func Sides(left, right []int, radius, separation float64) *Drive {
	d := &Drive{}
	for k, wheels := range [][]int{left, right} {
		for _, i := range wheels {
			d.Wheels = append(d.Wheels, DriveWheel{Actuator: i, At: [2]float64{0, float64(1-2*k) * separation / 2},
				Roll: [2]float64{radius, 0}, Grip: [2]float64{radius, 0}, Steer: hal.None})
		}
	}
	return d
}

// Validate returns an error if d does not fit a layout.
func (d *Drive) Validate(l *hal.Layout) error {
	if n := len(d.Wheels); n < 2 || n > maxWheels {
		return fmt.Errorf("kinematics: drive: got %d wheels, want 2 to %d", n, maxWheels)
	}
	apart := false
	for i := range d.Wheels {
		w := &d.Wheels[i]
		takes := func(at int, mode hal.Mode) bool {
			return at >= 0 && at < len(l.Actuators) && l.Actuators[at].Goal[mode] != hal.None
		}
		if !takes(w.Actuator, hal.VelocityMode) {
			return fmt.Errorf("kinematics: drive: got actuator %d, want an actuator with a velocity goal", w.Actuator)
		}
		if w.Steer != hal.None && !takes(w.Steer, hal.PositionMode) {
			return fmt.Errorf("kinematics: drive: got actuator %d to steer, want an actuator with a position goal", w.Steer)
		}
		if !(w.radius() > 0) || !(math.Hypot(w.Grip[0], w.Grip[1]) > 0) {
			return fmt.Errorf("kinematics: drive: got a wheel of radius %g m, want above 0", w.radius())
		}
		apart = apart || w.At != d.Wheels[0].At
	}
	if !apart {
		return errors.New("kinematics: drive: got all wheels in one place, want them apart")
	}
	return nil
}

// DriveWheel is a wheel of a Drive.
type DriveWheel struct {
	Actuator int        // that turns it
	At       [2]float64 // m, where it meets the floor in the robot's frame, while it is not steered
	// Roll is where a turn by +1 rad carries the robot over it, m: its length is the wheel's radius.
	Roll [2]float64
	// Grip is the direction in which the floor holds it: Roll's, but for a wheel of Mecanum, whose rollers roll at an
	// angle to it. Of any length above 0.
	Grip [2]float64
	// Steer is the actuator that turns Roll, hal.None: it is not steered; a positive position turns it to the left, or
	// to the right where SteerSign is -1.
	Steer     int
	SteerSign float64
}

// radius is the wheel's, m.
func (w *DriveWheel) radius() float64 { return math.Hypot(w.Roll[0], w.Roll[1]) }

// axle is how far ahead of the robot's frame the line of the unsteered wheels is, m.
func (d *Drive) axle() float64 {
	sum, n := 0.0, 0.0
	for i := range d.Wheels {
		if w := &d.Wheels[i]; w.Steer == hal.None {
			sum, n = sum+w.At[0], n+1
		}
	}
	return sum / max(n, 1)
}

// Goals calls to with the goal of each actuator for a motion of the robot: x ahead and y to the left, m/s, and turn to
// the left, rad/s. A drive that cannot move sideways ignores y, and one that steers does not turn in place.
func (d *Drive) Goals(x, y, turn float64, to func(actuator int, mode hal.Mode, goal float64)) {
	if x == 0 && slices.ContainsFunc(d.Wheels, func(w DriveWheel) bool { return w.Steer != hal.None }) {
		turn = 0
	}
	if !d.Sideways {
		y = -float64(turn * d.axle())
	}
	for i := range d.Wheels {
		w := &d.Wheels[i]
		vx, vy := x-float64(turn*w.At[1]), y+float64(turn*w.At[0])
		if w.Steer == hal.None {
			to(w.Actuator, hal.VelocityMode, w.along(vx, vy)/w.along(w.Roll[0], w.Roll[1]))
			continue
		}
		ahead := math.Copysign(1, float64(vx*w.Roll[0])+float64(vy*w.Roll[1]))
		if x == 0 { // its wheels stay as they are
			to(w.Actuator, hal.VelocityMode, 0)
			continue
		}
		angle := math.Atan2(ahead*(float64(w.Roll[0]*vy)-float64(w.Roll[1]*vx)),
			ahead*(float64(w.Roll[0]*vx)+float64(w.Roll[1]*vy)))
		to(w.Steer, hal.PositionMode, w.SteerSign*angle)
		to(w.Actuator, hal.VelocityMode, ahead*math.Hypot(vx, vy)/w.radius())
	}
}

// along is a vector's part in the direction of Grip, times its length.
func (w *DriveWheel) along(x, y float64) float64 { return float64(w.Grip[0]*x) + float64(w.Grip[1]*y) }

// Motion is the motion of the robot that its wheels measure: the one that fits best (least squares) where turned is how
// far, or how fast, each wheel turned, and steered where it is steered to, by actuator. x is ahead, y to the left, m,
// and turn to the left, rad; or m/s and rad/s. NaN where a wheel's value is.
func (d *Drive) Motion(turned, steered func(actuator int) float64) (x, y, turn float64) {
	var a [3][4]float64 // the normal equations
	axle := d.axle()
	for i := range d.Wheels {
		w := &d.Wheels[i]
		roll, grip := w.Roll, w.Grip
		if w.Steer != hal.None {
			sin, cos := math.Sincos(w.SteerSign * steered(w.Steer))
			roll = [2]float64{float64(cos*roll[0]) - float64(sin*roll[1]), float64(sin*roll[0]) + float64(cos*roll[1])}
			grip = roll
		}
		row := [4]float64{grip[0], grip[1], float64(w.At[0]*grip[1]) - float64(w.At[1]*grip[0]),
			(float64(grip[0]*roll[0]) + float64(grip[1]*roll[1])) * turned(w.Actuator)}
		if !d.Sideways { // y is -turn·axle
			row[2] -= float64(axle * row[1])
			row[1] = 0
		}
		for r := range 3 {
			for c := range 4 {
				a[r][c] += float64(row[r] * row[c])
			}
		}
	}
	if !d.Sideways {
		a[1][1] = 1
	}
	v := solve3(&a)
	if !d.Sideways {
		v[1] = -float64(axle * v[2])
	}
	return v[0], v[1], v[2]
}

// solve3 solves three symmetric equations by elimination; what is not determined is 0.
func solve3(a *[3][4]float64) (v [3]float64) {
	for i := range 3 {
		if math.Abs(a[i][i]) < 1e-12 {
			a[i] = [4]float64{}
			a[i][i] = 1
			continue
		}
		for r := i + 1; r < 3; r++ {
			k := a[r][i] / a[i][i]
			for c := i; c < 4; c++ {
				a[r][c] -= float64(k * a[i][c])
			}
		}
	}
	for i := 2; i >= 0; i-- {
		v[i] = a[i][3]
		for c := i + 1; c < 3; c++ {
			v[i] -= float64(a[i][c] * v[c])
		}
		v[i] /= a[i][i]
	}
	return v
}

// Odometer adds up the motion that a Drive measures. The zero value begins at the origin at its first Advance.
type Odometer struct {
	Place [3]float64 // x, y, m, and heading, rad, from where it began

	last  [maxWheels]float64
	known bool
}

// maxWheels is the greatest number of wheels that an Odometer counts.
const maxWheels = 16

// Advance adds the motion since the last call. position is an actuator's, rad; wraps reports whether it counts no
// turns. While a wheel's is NaN, Place stays, and the way until it is known again is lost.
func (o *Odometer) Advance(d *Drive, position func(actuator int) float64, wraps func(actuator int) bool) {
	var step [maxWheels]float64
	from := o.known
	o.known = true
	for i := range d.Wheels[:min(len(d.Wheels), maxWheels)] {
		at := d.Wheels[i].Actuator
		now := position(at)
		if step[i] = now - o.last[i]; wraps(at) {
			step[i] = math.Remainder(step[i], 2*math.Pi)
		}
		o.last[i], o.known = now, o.known && !math.IsNaN(now)
	}
	if !from || !o.known {
		return
	}
	x, y, turn := d.Motion(func(actuator int) float64 {
		for i := range d.Wheels {
			if d.Wheels[i].Actuator == actuator {
				return step[i]
			}
		}
		return 0
	}, position)
	sin, cos := math.Sincos(o.Place[2] + turn/2)
	o.Place[0] += float64(x*cos) - float64(y*sin)
	o.Place[1] += float64(x*sin) + float64(y*cos)
	o.Place[2] += turn
}
