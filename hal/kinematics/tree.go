package kinematics

import (
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
)

// Link is one rigid body of a Tree. Positions and directions are given in the tree's frame, with all joints at 0.
type Link struct {
	Name   string
	Parent int      // the link that it is connected to, one before it in the tree; hal.None: the base
	Home   hal.Pose // of the link's frame
	Centre [3]float64

	// The joint between parent and link. Motion is Times·q + Plus, rad about or m along Axis, where q is the position
	// of actuator Joint; of hal.None it is Plus.
	Joint  int
	Slide  bool
	Anchor [3]float64 // m, a point of the axis
	Axis   [3]float64 // of length 1
	Times  float64
	Plus   float64
}

// Tree is a robot's links, parents first. Centre is the point that a body sensor counts from, in the link's frame, m.
type Tree []Link

// State is where the links of a tree are and how they move, in the frame that the base is given in: the world.
type State struct {
	Poses []hal.Pose
	Speed [][3]float64 // m/s, of each link's point that is in the world's origin now
	Spin  [][3]float64 // rad/s

	moved []hal.Pose // displacement of each link from its pose at 0 to its present pose, in the tree's frame
}

// Validate reports everything that is wrong with t for a robot of so many actuators at once, or nil.
func (t Tree) Validate(actuators int) error {
	var faults []error
	for i := range t {
		l := &t[i]
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("kinematics: link %q: "+format, append([]any{l.Name}, args...)...))
		}
		if l.Parent < hal.None || l.Parent >= i {
			fault("parent: got %d, want a link before %d", l.Parent, i)
		}
		if l.Joint < hal.None || l.Joint >= actuators {
			fault("joint: got actuator %d, want below %d", l.Joint, actuators)
		}
		if n := dot(l.Axis, l.Axis); l.Joint != hal.None && !(math.Abs(n-1) < 1e-6) {
			fault("axis: got %v, want one of length 1", l.Axis)
		}
	}
	return errors.Join(faults...)
}

// NewState returns a state with room for t.
func (t Tree) NewState() *State {
	n := len(t)
	return &State{make([]hal.Pose, n), make([][3]float64, n), make([][3]float64, n), make([]hal.Pose, n)}
}

// Forward fills s from the positions and velocities of the actuators and the pose of the base, which moves with speed
// (of its point in the world's origin) and spin. A NaN spreads to the links beyond its joint. It allocates nothing.
//
// It is the product of exponentials: each joint moves all links beyond it about its axis at 0 (Lynch and Park, Modern
// Robotics, 2017, sections 4.1 and 5.1).
func (t Tree) Forward(s *State, positions, velocities []float64, base hal.Pose, speed, spin [3]float64) {
	for i := range t {
		l := &t[i]
		before, v, w := base, speed, spin
		if l.Parent != hal.None {
			before, v, w = s.moved[l.Parent], s.Speed[l.Parent], s.Spin[l.Parent]
		}
		s.moved[i], s.Speed[i], s.Spin[i] = before, v, w
		motion, rate := l.Plus, 0.0
		if l.Joint != hal.None {
			motion += float64(l.Times * positions[l.Joint])
			rate = l.Times * velocities[l.Joint]
		}
		if l.Joint != hal.None || motion != 0 {
			s.moved[i] = before.Times(l.displacement(motion))
			axis := before.Turn(l.Axis)
			if l.Slide {
				s.Speed[i] = add(v, scale(rate, axis))
			} else {
				s.Spin[i] = add(w, scale(rate, axis))
				s.Speed[i] = add(v, scale(rate, cross(before.Of(l.Anchor), axis)))
			}
		}
		s.Poses[i] = s.moved[i].Times(l.Home)
	}
}

// displacement is the rigid motion of points of the tree's frame by a motion of l's joint.
func (l *Link) displacement(motion float64) hal.Pose {
	if l.Slide {
		return hal.Pose{Position: scale(motion, l.Axis), Rotation: [4]float64{1}}
	}
	sin, cos := math.Sincos(motion / 2)
	p := hal.Pose{Rotation: [4]float64{cos, sin * l.Axis[0], sin * l.Axis[1], sin * l.Axis[2]}}
	// the anchor stays where it is
	p.Position = add(l.Anchor, scale(-1, p.Turn(l.Anchor)))
	return p
}

// SpeedAt is the velocity of a point of link i that is at point in the world, m/s.
func (s *State) SpeedAt(i int, point [3]float64) [3]float64 {
	return add(s.Speed[i], cross(s.Spin[i], point))
}

func add(a, b [3]float64) [3]float64 { return [3]float64{a[0] + b[0], a[1] + b[1], a[2] + b[2]} }

func scale(k float64, a [3]float64) [3]float64 { return [3]float64{k * a[0], k * a[1], k * a[2]} }

func dot(a, b [3]float64) float64 {
	return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2])
}

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{
		float64(a[1]*b[2]) - float64(a[2]*b[1]),
		float64(a[2]*b[0]) - float64(a[0]*b[2]),
		float64(a[0]*b[1]) - float64(a[1]*b[0]),
	}
}
