package base

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
)

// Correction scales the dead reckoning, as in calibration.Odometry. The zero Correction has no effect.
type Correction struct {
	Distance float64 // true metres per metre of odometry
	Turn     float64 // true radians per radian of odometry
	Curve    float64 // rad/m to the left that odometry does not see
}

// odometry is where the base is by dead reckoning: the base's own counts put together over their wraps, its resets and
// its losses.
type odometry struct {
	x, y, heading float64    // m and rad, from where it was at Zero
	travel        [2]float64 // m of each side's rim
	turn          float64    // rad from the base's own axes to ours
	last          [3]uint16  // counts
	known         bool       // last is of this session
	by            Correction
}

// Counts of places wrap at 15 bits or above, headings at 12.
const (
	placeBits   = 15
	headingBits = 12
)

// wrap is the way from one count to another where counting goes round after bits bits: the short way.
func wrap(from, to uint16, bits uint) int {
	return int(int16((to-from)<<(16-bits)) >> (16 - bits))
}

// rebase reports that the base counts from somewhere else now.
func (o *odometry) rebase() { o.known = false }

// zero makes the present place the origin.
func (o *odometry) zero() {
	o.turn -= o.heading
	o.x, o.y, o.heading = 0, 0, 0
}

// update adds a report dt after the last; false if its position is farther than the base can have moved. It then
// continues from there, without counting the distance.
func (o *odometry) update(r *p2oswire.Report, robot *Robot, dt time.Duration) bool {
	now, from, known := [3]uint16{r.X, r.Y, r.Heading}, o.last, o.known
	o.last, o.known = now, true
	own := float64(int(r.Heading)) * Angle
	if !known {
		o.turn = o.heading - own
		return true
	}
	dx := float64(wrap(from[0], now[0], placeBits)) * robot.Distance
	dy := float64(wrap(from[1], now[1], placeBits)) * robot.Distance
	dh := float64(wrap(from[2], now[2], headingBits)) * Angle
	// Twice the distance at top speed, and a margin for the timing of a cycle.
	longest := dt.Seconds() + 0.1
	if math.Hypot(dx, dy) > 2*robot.MaxSpeed*longest || math.Abs(dh) > 2*robot.MaxTurn*longest {
		o.turn = o.heading - own
		return false
	}
	// How far the rims went: along the middle of the two headings, more on the outer side.
	middle := own - dh/2
	along := float64(dx*math.Cos(middle)) + float64(dy*math.Sin(middle))
	if c := o.by; c != (Correction{}) {
		along *= c.Distance
		dh = dh*c.Turn + c.Curve*along
		sin, cos := math.Sincos(o.heading + dh/2)
		dx, dy = float64(along*cos), float64(along*sin)
		o.turn = 0 // our axes are no more the base's, turned
	}
	o.travel[Left] += along - dh/robot.Difference
	o.travel[Right] += along + dh/robot.Difference
	sin, cos := math.Sincos(o.turn)
	o.x += float64(dx*cos) - float64(dy*sin)
	o.y += float64(dx*sin) + float64(dy*cos)
	o.heading = math.Remainder(o.heading+dh, 2*math.Pi)
	return true
}

// counts are the encoders' put together over their wraps at 32 bits, the base's resets and its losses.
type counts struct {
	total [2]int64
	last  [2]int32
	known bool // last is of this session
}

// update counts a report. Turns of the wheels while no report was received are not known, and not counted.
func (c *counts) update(e *p2oswire.EncoderReport) {
	now := [2]int32{e.Left, e.Right}
	for i := range now {
		if c.known {
			c.total[i] += int64(now[i] - c.last[i]) // the short way round
		}
	}
	c.last, c.known = now, true
}
