package moast

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
)

// Cartesian is a point or a velocity, m or m/s. In absolute coordinates x is north, y east, z down.
type Cartesian struct{ X, Y, Z float64 }

// Update passes x, y, z.
func (p *Cartesian) Update(c *nml.Codec) {
	c.Nested()
	c.Double(&p.X, &p.Y, &p.Z)
}

// RPY is roll, pitch and yaw, rad or rad/s.
type RPY struct{ R, P, Y float64 }

// Update passes roll, pitch, yaw.
func (r *RPY) Update(c *nml.Codec) {
	c.Nested()
	c.Double(&r.R, &r.P, &r.Y)
}

// Pose is a place and a unit quaternion.
type Pose struct {
	Translation Cartesian
	S, X, Y, Z  float64 // the quaternion, S its real part
}

// Update passes the translation, then the quaternion.
func (p *Pose) Update(c *nml.Codec) {
	p.Translation.Update(c)
	c.Double(&p.S, &p.X, &p.Y, &p.Z)
}

// PoseAt is the pose at t turned by r, yaw first.
func PoseAt(t Cartesian, r RPY) Pose {
	q := hal.RotationOf([3]float64{r.R, r.P, r.Y})
	return Pose{Translation: t, S: q[0], X: q[1], Y: q[2], Z: q[3]}
}

// Yaw is the turn of a pose about z, rad.
func (p *Pose) Yaw() float64 {
	return math.Atan2(2*(p.S*p.Z+p.X*p.Y), 1-2*(p.Y*p.Y+p.Z*p.Z))
}

// Limits of arrays.
const (
	MaxWaypoints = 100
	MaxArcs      = 100
	MaxFlippers  = 4
	MaxSeeds     = 200
	MaxLinks     = 16 // of a mission package; ours
	MaxVehicles  = 4  // of a section
)

// Waypoint is a point to reach within Neighborhood, m, at Speed, m/s.
type Waypoint struct {
	P                   Cartesian
	RPY                 RPY
	Neighborhood, Speed float64
	Quality             byte
}

// Update passes the fields.
func (w *Waypoint) Update(c *nml.Codec) {
	c.Parts(&w.P, &w.RPY)
	c.Double(&w.Neighborhood, &w.Speed)
	c.Char(&w.Quality)
}

// ArcSegment is a path from where the one before ends to End, along a circle about Center, or a line.
type ArcSegment struct {
	Center, End, Normal Cartesian
	Theta               float64 // of the arc about Normal, rad
	AnnularTolerance    float64 // m, between the outer and the inner radius
	Speed               float64 // m/s
	IsArc               int32   // 1 = an arc, 0 = a line
}

// Update passes the fields.
func (a *ArcSegment) Update(c *nml.Codec) {
	c.Parts(&a.Center, &a.End, &a.Normal)
	c.Double(&a.Theta, &a.AnnularTolerance, &a.Speed)
	c.Int(&a.IsArc)
}

// Direction is how to turn to a heading.
type Direction int32

// The directions, from above.
const (
	Clockwise Direction = iota
	Counterclockwise
	Shortest
)

// Steer is how a vehicle is steered.
type Steer int32

// The kinds of steering.
const (
	InvalidSteer Steer = iota - 1
	SkidSteer
	AckermanSteer
	OmniSteer
	SubmarineSteer
	RotaryWingSteer
	FixedWingSteer
	UnknownSteer
)

// Bot is what kind of robot a vehicle is.
type Bot int32

// The kinds of robot.
const (
	InvalidBot Bot = iota - 1
	GroundVehicle
	NauticRobot
	AerialRobot
	LeggedRobot
	UnknownBot
)
