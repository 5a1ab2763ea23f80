package autopilot

import (
	"errors"
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// How a cruising body is steered. A share is of one thruster's thrust, as in Targets.Velocity.
const (
	cruiseForward = 0.5  // share per m/s, without feedback
	cruiseGain    = 1.0  // share per m/s of error
	cruiseHold    = 0.8  // share per m of error, added up
	cruiseNear    = 0.5  // m/s per m from the goal
	cruiseSpeed   = 0.4  // m/s, to a goal
	leadAngle     = 0.5  // rad that the target may be ahead of the attitude
	leadDepth     = 0.3  // m, likewise
	shallow       = 0.01 // m: a depth of 0 switches the law's depth hold off
)

// cruise moves the targets of the stable law so that a body keeps speeds in its own axes, or goes to a pose.
type cruise struct {
	on              bool
	begun           bool // attitude and depth are targets of this cruise
	linear, angular [3]float64
	goal            *hal.Pose
	attitude        [4]float64
	depth           float64
	sum             [2]float64 // shares that the errors ahead and to the left have added up
}

// Fly arms the pilot and keeps the body at linear, m/s, and angular, rad/s, in its own axes: x ahead, y left, z up.
// Where no sensor measures its pose, x and y are thrust without feedback. It lasts until another command of the pilot.
func (p *Pilot) Fly(linear, angular [3]float64) error {
	if !known(linear[:]) || !known(angular[:]) {
		return errors.New("autopilot: speed is not a number")
	}
	p.cruise(func(c *cruise) { c.linear, c.angular, c.goal = linear, angular, nil })
	return nil
}

// Go arms the pilot and leads the body to a pose in the world, where it stays. It fails where no sensor measures the
// pose.
func (p *Pilot) Go(to hal.Pose) error {
	if !known(to.Position[:]) || !known(to.Rotation[:]) {
		return errors.New("autopilot: pose is not a number")
	}
	if p.senses.pose == hal.None {
		return errors.New("autopilot: no pose sensor: cannot go to a point")
	}
	to.Rotation = unit(to.Rotation)
	p.cruise(func(c *cruise) { c.goal = &to })
	return nil
}

// cruise begins or changes a cruise.
func (p *Pilot) cruise(change func(*cruise)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.armed || p.mode != Stable {
		p.armed, p.mode = true, Stable
		p.forget()
	}
	if !p.cruising.on {
		p.cruising = cruise{on: true}
	}
	change(&p.cruising)
}

// steer moves t for dt seconds. pose is the pose sensor's reading, nil without one.
func (c *cruise) steer(t *Targets, e *Estimate, pose []float64, dt float64) {
	if !known(e.Attitude[:]) {
		return // the law rests
	}
	at := hal.Pose{Rotation: e.Attitude}
	if !c.begun {
		c.begun, c.depth = true, e.Depth
		c.attitude = turned([3]float64{0, 0, heading(e.Attitude)})
	}
	placed := pose != nil && known(pose[:10])
	linear := c.linear
	switch {
	case c.goal == nil:
		next := hal.Pose{Rotation: c.attitude}.Times(hal.Pose{Rotation: turned(scaled(c.angular, dt))}).Rotation
		if angleTo(e.Attitude, next) < math.Max(leadAngle, angleTo(e.Attitude, c.attitude)) {
			c.attitude = unit(next)
		}
		if known([]float64{e.Depth}) {
			if math.IsNaN(c.depth) { // it was not known before
				c.depth = e.Depth
			}
			c.depth = math.Max(e.Depth-leadDepth, math.Min(e.Depth+leadDepth, c.depth-linear[2]*dt))
		}
	case placed:
		// the estimate's heading and depth may be counted from elsewhere than the pose's
		off := heading(e.Attitude) - heading([4]float64(pose[3:7]))
		c.attitude = hal.Pose{Rotation: turned([3]float64{0, 0, off})}.Times(
			hal.Pose{Rotation: c.goal.Rotation}).Rotation
		c.depth = e.Depth + pose[2] - c.goal.Position[2]
		linear = towards(pose, c.goal.Position)
	default:
		linear = [3]float64{}
	}
	t.Attitude, t.Rates = c.attitude, [3]float64{}
	if t.Depth = math.Max(c.depth, shallow); math.IsNaN(c.depth) {
		t.Depth = 0
	}
	var speed [3]float64
	if placed {
		world := hal.Pose{Rotation: unit([4]float64(pose[3:7]))}
		speed = world.Inverse().Turn([3]float64(pose[7:10]))
	}
	// along the ground: a body that leans pushes no deeper
	level := hal.Pose{Rotation: turned([3]float64{0, 0, heading(e.Attitude)})}
	push := [3]float64{}
	for i := range c.sum {
		share := cruiseForward * linear[i]
		if placed {
			off := linear[i] - speed[i]
			c.sum[i] = clamp(c.sum[i]+cruiseHold*off*dt, 1)
			share += cruiseGain*off + c.sum[i]
		}
		push[i] = clamp(share, 1)
	}
	t.Velocity = at.Inverse().Times(level).Turn(push)
}

// towards are the speeds in the axes of a body at pose that lead it to a point.
func towards(pose []float64, to [3]float64) [3]float64 {
	d := hal.Pose{Rotation: unit([4]float64(pose[3:7]))}.Inverse().Turn([3]float64{to[0] - pose[0], to[1] - pose[1], 0})
	length := math.Hypot(d[0], d[1])
	if length == 0 {
		return [3]float64{}
	}
	return scaled(d, math.Min(cruiseSpeed, cruiseNear*length)/length)
}

func scaled(v [3]float64, by float64) [3]float64 { return [3]float64{v[0] * by, v[1] * by, v[2] * by} }

// turned is the quaternion of a rotation vector, rad.
func turned(v [3]float64) [4]float64 {
	angle := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	if angle < 1e-12 {
		return [4]float64{1}
	}
	sin, cos := math.Sincos(angle / 2)
	return [4]float64{cos, sin * v[0] / angle, sin * v[1] / angle, sin * v[2] / angle}
}

// angleTo is the angle between two attitudes, rad.
func angleTo(a, b [4]float64) float64 {
	dot := math.Abs(a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3])
	return 2 * math.Acos(math.Min(1, dot))
}
