package p2os

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
)

// drive is the commanded motion. Forward and turn are commanded independently, as speeds or as targets: MOVE continues
// while the base turns, HEAD while it drives, until a speed of the same kind replaces it.
type drive struct {
	goal     [2]float64 // rims, m/s
	forward  float64    // m/s, where it does not move
	turn     float64    // rad/s, where it does not head
	moving   bool       // to ahead
	ahead    float64    // m, the mean of the rims' ways
	heading  bool       // to bearing
	bearing  float64    // rad of dead reckoning
	accel    float64    // m/s², from rest
	decel    float64    // towards one
	turnUp   float64    // rad/s², likewise
	turnDown float64
	limit    float64 // SetV
	turnMax  float64 // SetRV
	front    bool    // a bumper of the ring that is pressed stalls the base
	rear     bool
}

// stop cancels all commands.
func (d *drive) stop() {
	d.goal, d.forward, d.turn, d.moving, d.heading = [2]float64{}, 0, 0, false, false
}

// wheels executes a command that moves the base, or sets how; false if it is invalid.
func (b *Board) wheels(c *p2oswire.Command) bool {
	d, v := &b.drive, float64(c.Int)
	const degree = math.Pi / 180
	switch c.Op {
	case p2oswire.OpSetA:
		set(v/1000, &d.accel, &d.decel)
	case p2oswire.OpSetRA:
		set(v*degree, &d.turnUp, &d.turnDown)
	case p2oswire.OpSetV:
		d.limit = math.Min(math.Abs(v)/1000, b.robot.MaxSpeed)
	case p2oswire.OpSetRV:
		d.turnMax = math.Min(math.Abs(v)*degree, b.robot.MaxTurn)
	case p2oswire.OpBumpStall:
		d.front, d.rear = c.Int&1 != 0, c.Int&2 != 0
	case p2oswire.OpVel:
		d.forward, d.moving = v/1000, false
	case p2oswire.OpMove:
		d.moving, d.ahead = b.motors, (b.rims[0]+b.rims[1])/2+v/1000
	case p2oswire.OpRVel, p2oswire.OpRotate:
		d.turn, d.heading = v*degree, false
	case p2oswire.OpHead:
		d.head(v * degree)
	case p2oswire.OpDHead:
		d.head(b.h + v*degree)
	case p2oswire.OpDChange: // relative to the last target heading, not to the present one
		from := b.h
		if d.heading {
			from = d.bearing
		}
		d.head(from + v*degree)
	case p2oswire.OpVel2:
		left, right := float64(int8(c.Int>>8))*0.02, float64(int8(c.Int))*0.02
		d.forward, d.turn = (left+right)/2, (right-left)/2*b.robot.Difference
		d.moving, d.heading = false, false
	default:
		return false
	}
	if !b.motors {
		d.stop()
	}
	return true
}

func (d *drive) head(bearing float64) {
	d.heading, d.bearing = true, math.Remainder(bearing, 2*math.Pi)
}

// set is a setting for speeding up, where it is above 0, or for slowing down.
func set(v float64, up, down *float64) {
	switch {
	case v > 0:
		*up = v
	case v < 0:
		*down = -v
	}
}

// steer sets the rims' goals for this tick: speeds that end at the places where there are any.
func (b *Board) steer() {
	d := &b.drive
	forward, turn := d.forward, d.turn
	// As fast as it may and can still brake: v² = 2 a s. It is there within a few millimetres, or half a degree.
	if d.moving {
		left := d.ahead - (b.rims[0]+b.rims[1])/2
		if forward = math.Copysign(math.Min(d.limit, math.Sqrt(2*d.decel*math.Abs(left))),
			left); math.Abs(left) < 0.003 {
			d.moving, d.forward, forward = false, 0, 0
		}
	}
	if d.heading {
		left := math.Remainder(d.bearing-b.h, 2*math.Pi)
		if turn = math.Copysign(math.Min(d.turnMax, math.Sqrt(2*d.turnDown*math.Abs(left))),
			left); math.Abs(left) < 0.004 {
			turn = 0
		}
	}
	turn = math.Min(d.turnMax, math.Max(-d.turnMax, turn))
	half := turn / b.robot.Difference
	d.goal = [2]float64{forward - half, forward + half}
	for i := range d.goal {
		d.goal[i] = math.Min(d.limit, math.Max(-d.limit, d.goal[i]))
	}
	if !b.motors {
		d.stop()
	}
}

// bumped reports whether the base runs against a bumper that is to stall it: pressed on the side that it drives to.
func (b *Board) bumped() bool {
	forward := b.drive.goal[0] + b.drive.goal[1]
	for i := range b.robot.Bumpers {
		if b.drive.front && forward > 0 && b.chassis.Bumper(false, i) || b.drive.rear && forward < 0 &&
			b.chassis.Bumper(true, i) {
			return true
		}
	}
	return false
}

// ramp brings the rims' speeds nearer to their goals: forward and turning each at its own rate.
func (b *Board) ramp(dt float64) {
	forward, turn := rimsOf(b.speed)
	goalForward, goalTurn := rimsOf(b.drive.goal)
	half := b.robot.Difference // rad/s a m/s of half the difference
	forward = towards(forward, goalForward, b.drive.accel*dt, b.drive.decel*dt)
	turn = towards(turn, goalTurn, b.drive.turnUp/half*dt, b.drive.turnDown/half*dt)
	b.speed = [2]float64{forward - turn, forward + turn}
}

// rimsOf is the mean and half the difference of two rims' speeds.
func rimsOf(v [2]float64) (forward, turn float64) { return (v[0] + v[1]) / 2, (v[1] - v[0]) / 2 }

// towards moves v to goal, by up where that is farther from 0, else by down, at most.
func towards(v, goal, up, down float64) float64 {
	most := up
	if math.Abs(goal) < math.Abs(v) {
		most = down
	}
	return v + math.Min(most, math.Max(-most, goal-v))
}
