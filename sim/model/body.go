package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/collide"
)

// Body is one rigid body of a robot, or a loose thing of a scene, in its initial pose.
type Body struct {
	Name   string
	Pose   hal.Pose // of the body's frame in the robot's (or scene's) frame: the built pose, all joints at 0
	Shapes []Shape
	Looks  []Look // drawn in place of some of Shapes; those of the physics in all other respects

	// All three in the body's frame; the inertia is about the centre of mass: xx, yy, zz, xy, xz, yz.
	Mass         float64    // kg; 0 is valid only for the root of a fixed robot
	CentreOfMass [3]float64 // m
	Inertia      [6]float64 // kg·m²

	Random Random
	Merged []string   // names of links that a URDF welds to this one
	Frames []hal.Pose // theirs, in the body's frame
	Source string     // of the values
}

// ShapeKind is the kind of a Shape. The names and the meaning are those of package collide.
type ShapeKind uint8

// The kinds of shape. Each is centred on its own origin; its axis, where it has one, is z.
const (
	Sphere   ShapeKind = iota // Radius
	Capsule                   // Radius; Half[2] is half the length of the straight part
	Box                       // Half
	Cylinder                  // Radius; Half[2] is half the length
	Hull                      // Hull, its centre of mass at the origin
)

// String names the kind as model files do.
func (k ShapeKind) String() string {
	return [...]string{"sphere", "capsule", "box", "cylinder", "hull", "no shape"}[min(k, Hull+1)]
}

// Shape is a solid fixed to a body, or to the world.
type Shape struct {
	Kind     ShapeKind
	Radius   float64    // m
	Half     [3]float64 // m
	Hull     *collide.Convex
	Pose     hal.Pose // in the body's frame
	Material Material
	Mass     float64 // kg, its part of the body's; 0 if it is not in the file
	Collides bool    // false: it has a mass, but no contacts
}

// Material is the surface of a shape. A contact has Coulomb friction unless one of the two materials sets ForceLimit.
// Then the greater of the two Frictions bounds the friction force, N, for any load, as in the original Simloid.
type Material struct {
	Friction    float64 // coefficient, or N where ForceLimit; +Inf: it does not slide
	Torsion     float64 // m: torque about the normal per newton of normal force
	Rolling     float64 // m: torque about the tangents per newton of normal force
	Restitution float64 // 0..1
	ForceLimit  bool
	Paint       *Paint // how it looks; nil: grey
	// Axle is Friction along the wheel's axle as a share of Friction; 0 = the same every way. The axle is AxleAlong, in
	// the shape's frame; 0: its own axis. Rollers turns that direction on the ground, rad to the left.
	Axle      float64
	AxleAlong [3]float64
	Rollers   float64
	Glass     bool // rays of infrared pass through
	// Mirror reflects light: lasers, infrared and cameras find the objects in front of it.
	Mirror bool
}

// Accelerometer is a sensor of proper acceleration, of one to three axes: at rest an axis that points up reads +g.
type Accelerometer struct {
	Name, Path string
	Body       int          // of Robot.Bodies
	Position   [3]float64   // m, in the body's frame
	Axes       [][3]float64 // unit vectors in the body's frame
	Range      float64      // m/s², clipping limit of the sensor on both sides; 0 = none
	Constant   bool         // it measures 9.81 m/s² upwards, regardless of the gravity of its world: Simloid's
}

// Volume is the shape's, m³.
func (s *Shape) Volume() float64 {
	r, l := s.Radius, 2*s.Half[2]
	switch s.Kind {
	case Sphere:
		return 4.0 / 3 * math.Pi * r * r * r
	case Capsule:
		return float64(math.Pi*r*r*l) + float64(4.0/3*math.Pi*r*r*r)
	case Box:
		return 8 * s.Half[0] * s.Half[1] * s.Half[2]
	case Cylinder:
		return math.Pi * r * r * l
	case Hull:
		return s.Hull.Volume
	}
	return 0
}

// inertia is that of the solid with a mass, about its centre, in its own axes, kg·m².
func (s *Shape) inertia(mass float64) mat {
	r, l := s.Radius, 2*s.Half[2]
	var xx, yy, zz float64
	switch s.Kind {
	case Sphere:
		xx = 0.4 * mass * r * r
		yy, zz = xx, xx
	case Box:
		square := func(i int) float64 { return float64(s.Half[i] * s.Half[i]) }
		xx = mass / 3 * (square(1) + square(2))
		yy = mass / 3 * (square(0) + square(2))
		zz = mass / 3 * (square(0) + square(1))
	case Cylinder:
		xx = mass * (float64(r*r/4) + float64(l*l/12))
		yy, zz = xx, mass*r*r/2
	case Hull:
		m := symmetric(s.Hull.Inertia)
		for i := range m {
			m[i] = scale(mass, m[i])
		}
		return m
	case Capsule:
		// A cylinder and two half balls, with centres of mass 3/8 r beyond its ends.
		tube := mass * float64(math.Pi*r*r*l) / s.Volume()
		caps := mass - tube
		xx = float64(tube*(float64(r*r/4)+float64(l*l/12))) +
			float64(caps*(float64(0.4*r*r)+float64(0.375*r*l)+float64(l*l/4)))
		yy, zz = xx, float64((float64(tube/2)+float64(0.4*caps))*r*r)
	}
	return mat{{xx, 0, 0}, {0, yy, 0}, {0, 0, zz}}
}

// weigh sets the body's mass, centre of mass and inertia to those of its shapes, with one mass each.
func (b *Body) weigh(masses []float64) {
	var all lump
	for i := range b.Shapes {
		s := &b.Shapes[i]
		s.Mass = masses[i]
		all.add(s.Mass, s.inertia(s.Mass), s.Pose)
	}
	all.give(b)
}

// lump is the sum of several masses: moment and inertia are about the origin of the frame that they are in.
type lump struct {
	mass   float64
	moment vec
	about  mat
}

// add adds a mass at a pose, with its inertia about its centre in its own axes.
func (l *lump) add(mass float64, inertia mat, at hal.Pose) {
	l.mass += mass
	l.moment = add(l.moment, scale(mass, at.Position))
	l.about.add(turned(inertia, at.Rotation))
	l.about.add(moved(mass, at.Position))
}

// give makes mass, centre of mass and inertia of b those of the lump.
func (l *lump) give(b *Body) {
	b.Mass = l.mass
	if l.mass > 0 {
		b.CentreOfMass = scale(1/l.mass, l.moment)
		l.about.add(moved(-l.mass, b.CentreOfMass))
	}
	b.Inertia = l.about.list()
}

// plausible reports whether a rigid body can have the inertia: the principal moments are not negative, and no one is
// greater than the sum of the others, within rounding. Both hold if the matrix of second moments, tr(I)/2 - I, has no
// negative eigenvalue, which follows from its principal minors.
func plausible(i [6]float64) bool {
	m := symmetric(i)
	half := (m[0][0] + m[1][1] + m[2][2]) / 2
	if !(half >= 0) || math.IsInf(half, 0) {
		return false
	}
	var s mat
	for r := range 3 {
		for c := range 3 {
			s[r][c] = -m[r][c]
		}
		s[r][r] += float64(half * (1 + 1e-6))
	}
	minor := func(a, b int) float64 { return float64(s[a][a]*s[b][b]) - float64(s[a][b]*s[a][b]) }
	det := float64(s[0][0]*minor(1, 2)) - float64(s[0][1]*(float64(s[0][1]*s[2][2])-float64(s[1][2]*s[0][2]))) +
		float64(s[0][2]*(float64(s[0][1]*s[1][2])-float64(s[1][1]*s[0][2])))
	slack := -1e-9 * half
	return s[0][0] >= slack && s[1][1] >= slack && s[2][2] >= slack &&
		minor(0, 1) >= slack*half && minor(0, 2) >= slack*half && minor(1, 2) >= slack*half && det >= slack*half*half
}
