package echelon

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// primMob is PrimMobJA: it follows waypoints and arcs, turns, and drives at a speed.
type primMob struct {
	about  Description
	limits *moast.MoveLimits
	status *moast.PrimMobStat
	servo  *Link
	nav    *nml.Buffer
	at     moast.NavDataExt
	known  bool // at is
	goals  []goal
	turned float64 // rad, of ROTATE, since its start
	last   float64 // heading
	v, w   float64 // sent last

	near   [2]float64 // the least distance, m, and heading error, rad, to the goal at work
	nearAt float64    // when one of them last fell, s
	faces  bool       // the goal is reached, but for its heading
}

// A goal is given up when patience, s, has passed without progress: the vehicle has neither come nearer by gain, m, nor
// turned towards it by turnGain, rad. Behind a wall a waypoint would never end.
const (
	patience = 10.0
	gain     = 0.05
	turnGain = 0.1
)

// progress reports whether the vehicle gets on, at v m/s, towards a goal that is left m and off rad away.
func (c *primMob) progress(m *Module, left, off, v float64) bool {
	nearer := math.Min(gain, v*patience/4) // a slow one comes less near in the time
	switch off = math.Abs(off); {
	case left < c.near[0]-nearer, off < c.near[1]-turnGain:
		c.near = [2]float64{math.Min(left, c.near[0]), math.Min(off, c.near[1])}
		c.nearAt = m.Now
	}
	return m.Now-c.nearAt <= patience
}

// begins is called with a new goal: all is progress.
func (c *primMob) begins(m *Module) {
	c.near, c.nearAt, c.faces = [2]float64{math.Inf(1), math.Inf(1)}, m.Now, false
}

func (c *primMob) Update(m *Module, _ float64) { c.known = c.nav.Peek(&c.at) == nil }

func (c *primMob) place() place { return placeOf(c.at.Rel.Tran, c.at.Rel.RPY) }

// drive sends what moves the vehicle at v, m/s, and w, rad/s clockwise, within the limits.
func (c *primMob) drive(m *Module, v, w float64) {
	if c.about.Steer == moast.AckermanSteer {
		c.car(m, v, w)
		return
	}
	c.v = ramp(c.v, clamp(v, c.limits.VMax), c.limits.AMax, m.Elapsed)
	c.w = ramp(c.w, clamp(w, c.limits.WMax), c.limits.AlphaMax, m.Elapsed)
	if c.about.Steer == moast.OmniSteer {
		c.order(m, &moast.ServoMobCmdOmni{Linear: c.v, Rotation: c.w})
		return
	}
	half := c.w * c.about.WheelSeparation / 2
	left, right := (c.v+half)/c.about.WheelRadius, (c.v-half)/c.about.WheelRadius
	// wheels that cannot turn so fast turn more slowly together, so that the path stays
	if most := math.Max(math.Abs(left), math.Abs(right)); c.about.MaxWheelSpeed > 0 && most > c.about.MaxWheelSpeed {
		left, right = left*c.about.MaxWheelSpeed/most, right*c.about.MaxWheelSpeed/most
	}
	c.order(m, &moast.ServoMobCmdSkid{Left: left, Right: right})
}

// crawl is the least speed of a car that is to turn, m/s: it cannot turn on the spot.
const crawl = 0.15

// car drives a car: it steers as far as its speed needs for w.
func (c *primMob) car(m *Module, v, w float64) {
	if v = clamp(v, c.limits.VMax); math.Abs(v) < crawl && w != 0 {
		v = math.Copysign(math.Min(crawl, c.limits.VMax), v)
	}
	c.v = ramp(c.v, v, c.limits.AMax, m.Elapsed)
	angle := 0.0
	if w = clamp(w, c.limits.WMax); w != 0 {
		angle = math.Atan2(c.about.WheelBase*w, math.Max(math.Abs(c.v), crawl))
		angle = math.Copysign(clamp(angle, c.about.MaxSteer), angle*c.v)
	}
	c.order(m, &moast.ServoMobCmdAckerman{Velocity: c.v, SteerAngle: angle})
}

// Stop stops the vehicle at once, without a ramp.
func (c *primMob) Stop(m *Module) {
	c.v, c.w = 0, 0
	switch c.about.Steer {
	case moast.AckermanSteer:
		c.order(m, &moast.ServoMobCmdAckerman{})
	case moast.OmniSteer:
		c.order(m, &moast.ServoMobCmdOmni{})
	default:
		c.order(m, &moast.ServoMobCmdSkid{})
	}
}

// order sends a command to servo, which needs two cycles for it, so that one at work is changed.
func (c *primMob) order(m *Module, command moast.Command) {
	m.note(c.servo.Order(command))
	c.status.CommandTypeSent, c.status.SerialSent = command.MessageType(), command.Head().Serial
}

func (c *primMob) Task(m *Module, command moast.Command, changed bool) {
	if begin := m.Head.State == moast.NewCommand; begin || changed {
		c.begins(m)
		if err := c.begin(command, begin); err != nil {
			c.Stop(m)
			m.Fail(err.Error())
			return
		}
		m.Head.State = moast.S1
		return
	}
	if c.servo.Failed() {
		c.v, c.w = 0, 0
		m.Fail("servo: " + c.servo.report.Report().Message)
		return
	}
	if !c.known {
		c.Stop(m)
		m.Fail("no position")
		return
	}
	ended, gets := false, true
	switch command := command.(type) {
	case *moast.PrimMobCmdVel:
		c.drive(m, command.V, command.W)
	case *moast.PrimMobCmdRotate:
		ended, gets = c.rotate(m, command)
	case *moast.PrimMobCmdMoveArcSegment, *moast.PrimMobCmdMoveWaypoint:
		ended, gets = c.move(m)
	default: // STOP
		ended = true
	}
	switch {
	case !gets:
		c.Stop(m)
		m.Fail("no progress towards the goal")
	case ended:
		c.Stop(m)
		m.Finish()
	}
}

// begin prepares a command; first is not set where its fields have changed.
func (c *primMob) begin(command moast.Command, first bool) error {
	here := c.place()
	switch command := command.(type) {
	case *moast.PrimMobCmdVel:
		if bad(command.V) || bad(command.W) {
			return fmt.Errorf("speed is not a number")
		}
	case *moast.PrimMobCmdRotate:
		if bad(command.Theta) || !(command.Tolerance > 0) || command.Direction < moast.Clockwise ||
			command.Direction > moast.Shortest {
			return fmt.Errorf("theta, tolerance or direction out of range")
		}
		if c.about.Steer == moast.AckermanSteer {
			return fmt.Errorf("a car cannot turn on the spot")
		}
		c.turned, c.last = 0, here.yaw
	case *moast.PrimMobCmdMoveArcSegment:
		if len(command.Arcs) == 0 {
			return fmt.Errorf("no arcs")
		}
		c.goals = follow(here, command.Arcs)
	case *moast.PrimMobCmdMoveWaypoint:
		if len(command.Waypoints) == 0 {
			return fmt.Errorf("no waypoints")
		}
		c.goals = goalsOf(command.Waypoints)
		if n := len(c.goals); command.HasOrientation {
			c.goals[n-1].heading = command.Waypoints[n-1].RPY.Y
		}
	case *moast.Plain: // STOP
	default:
		return fmt.Errorf("not supported")
	}
	for _, g := range c.goals {
		if bad(g.x) || bad(g.y) || bad(g.speed) || !(g.near >= 0) {
			return fmt.Errorf("waypoint is not a number")
		}
	}
	c.status.PathIndex = 0
	return nil
}

// goalsOf are waypoints in the plane.
func goalsOf(points []moast.Waypoint) (goals []goal) {
	for _, p := range points {
		goals = append(goals, goal{p.P.X, p.P.Y, p.Neighborhood, p.Speed, math.NaN()})
	}
	return goals
}

// closest is the least neighborhood, m: a point is never reached exactly.
const closest = 0.02

// move drives towards the goal at work: v falls with the heading error and is 0 from VCutoff on, w rises with it up to
// WMax at WCutoff. It reports whether the last goal is reached, and whether the vehicle gets on.
func (c *primMob) move(m *Module) (ended, gets bool) {
	here := c.place()
	for {
		if int(c.status.PathIndex) >= len(c.goals) {
			return true, true
		}
		g := &c.goals[c.status.PathIndex]
		if distance(here.x, here.y, g.x, g.y) > math.Max(closest, g.near) {
			return false, c.towards(m, here, g)
		}
		if off := wrap(g.heading - here.yaw); !math.IsNaN(off) && math.Abs(off) > 0.05 &&
			c.about.Steer != moast.AckermanSteer {
			if !c.faces {
				c.begins(m)
				c.faces = true
			}
			c.drive(m, 0, c.limits.WMax*clamp(off/c.limits.WCutoff, 1))
			return false, c.progress(m, 0, off, 0)
		}
		c.status.PathIndex++
		c.begins(m)
	}
}

// towards drives towards g, and reports whether the vehicle gets on.
func (c *primMob) towards(m *Module, here place, g *goal) bool {
	left := distance(here.x, here.y, g.x, g.y)
	off := wrap(math.Atan2(g.y-here.y, g.x-here.x) - here.yaw)
	v := c.limits.VMax
	if g.speed > 0 {
		v = math.Min(v, g.speed)
	}
	if int(c.status.PathIndex) == len(c.goals)-1 && c.limits.AMax > 0 {
		v = math.Min(v, math.Sqrt(2*c.limits.AMax*left)) // so that it can stop there
	}
	gets := c.progress(m, left, off, v)
	v *= math.Max(0, 1-math.Abs(off)/c.limits.VCutoff)
	c.drive(m, v, c.limits.WMax*clamp(off/c.limits.WCutoff, 1))
	return gets
}

// rotate turns to a heading, and reports whether it is reached, and whether the vehicle gets on.
func (c *primMob) rotate(m *Module, command *moast.PrimMobCmdRotate) (ended, gets bool) {
	yaw := c.place().yaw
	c.turned += wrap(yaw - c.last)
	c.last = yaw
	off := wrap(command.Theta - yaw)
	if math.Abs(off) <= command.Tolerance {
		return true, true
	}
	// a forced direction goes the long way round until the goal is near
	const near = 0.5
	if command.Direction == moast.Clockwise && off < -near {
		off += 2 * math.Pi
	}
	if command.Direction == moast.Counterclockwise && off > near {
		off -= 2 * math.Pi
	}
	c.drive(m, 0, c.limits.WMax*clamp(off/c.limits.WCutoff, 1))
	return false, c.progress(m, 0, off, 0)
}

func (c *primMob) Configure(m *Module, config moast.Command) error {
	set := m.settings.(*moast.PrimMobSet)
	switch config := config.(type) {
	case *moast.CfgDebug:
		set.Debug = config.Debug
	case *moast.PrimMobCfgMove:
		l := config.MoveLimits
		if !(l.VMax >= 0) || !(l.WMax > 0) || !(l.VCutoff > 0) || !(l.WCutoff > 0) || !(l.AMax >= 0) ||
			!(l.AlphaMax >= 0) {
			return fmt.Errorf("limits out of range")
		}
		set.MoveLimits = l
	}
	return nil
}
