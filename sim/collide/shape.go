package collide

import (
	"errors"
	"fmt"
	"math"
)

// Kind is the kind of a shape. The order matters inside the package: a pair is handled with the smaller kind first.
type Kind uint8

// The kinds. Every shape but a hull is centred on the origin of its own frame, which a hull has inside; its axis, where
// it has one, is z.
const (
	Sphere      Kind = iota // Radius
	Capsule                 // Radius; Half[2] is half the length of the straight part
	Box                     // Half: half the size along x, y, z
	Cylinder                // Radius; Half[2] is half the length
	Hull                    // Hull
	Plane                   // all of z < 0 is solid, without end
	HeightField             // Field: all below the surface is solid
	numKinds
)

// String names the kind as model files do.
func (k Kind) String() string {
	names := [...]string{"sphere", "capsule", "box", "cylinder", "hull", "plane", "height field"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Shape is a solid in its own frame. Which fields count depends on Kind; lengths in m.
type Shape struct {
	Kind   Kind
	Radius float64
	Half   [3]float64
	Field  *Field
	Hull   *Convex
}

// Material holds the surface values for the contact solver; this package only passes them on.
type Material struct {
	Friction    float64 // Coulomb coefficient, or a force in N where ForceLimit is set
	Torsion     float64 // m: torque about the normal per newton of normal force
	Rolling     float64 // m: torque about the tangents per newton of normal force
	Restitution float64 // 0..1
	ForceLimit  bool    // Friction bounds the force itself, N, as the original Simloid had it
	// Direction, in the geom's frame, is where friction is Friction times Factor; across it Friction holds. Factor 0
	// means the same friction everywhere.
	Direction [3]float64
	Factor    float64
	// Turn turns Direction on the surface, rad, about the normal that points into the geom: the rollers of a wheel.
	Turn float64
}

// Pose is a place and a turn: Rotation is a quaternion w, x, y, z. It need not have unit length, only a length.
type Pose struct {
	Position [3]float64
	Rotation [4]float64
}

// Identity returns the pose at the origin.
func Identity() Pose { return Pose{Rotation: [4]float64{1, 0, 0, 0}} }

// At returns the unturned pose at x, y, z.
func At(x, y, z float64) Pose {
	return Pose{[3]float64{x, y, z}, [4]float64{1, 0, 0, 0}}
}

// Geom is a shape fixed to a body. Two geoms may touch if they belong to different bodies, the pair of bodies is not
// skipped, and each one's Group has a bit in the other's Mask.
type Geom struct {
	Shape
	Material Material
	Body     int  // index of the body in package dynamics, -1 for the world
	Local    Pose // in the frame of the body; a zero Rotation means unturned
	// Group 0 means group 1, Mask 0 means all groups, so that a geom without them collides with all others.
	Group, Mask uint32
	// Clan other than 0: geoms of one clan never touch, as the links of a robot.
	Clan int
}

// Contact is one point where two geoms overlap.
type Contact struct {
	A, B    int32  // geoms, A < B
	Feature uint32 // which corner, edge or cell met which: the same from step to step, different within the pair
	// Position, m, is halfway between the two surfaces. Normal has unit length and points from B to A: moving A by
	// Depth along it parts the two surfaces at this point.
	Position, Normal [3]float64
	Depth            float64 // m, > 0
}

// MaxSize is the greatest size of a shape and the greatest coordinate of a field, m.
const MaxSize = 1e6

// minSize is the smallest size, m: below it the rounding of world coordinates shows in the normals.
const minSize = 1e-6

// Check returns everything that is wrong with the shape, or nil.
func (s *Shape) Check() error {
	var faults []error
	size := func(name string, v float64) {
		if !(v >= minSize && v <= MaxSize) {
			faults = append(faults, fmt.Errorf("%s: %s: got %g m, want %g to %g", s.Kind, name, v, minSize, MaxSize))
		}
	}
	switch s.Kind {
	case Sphere:
		size("radius", s.Radius)
	case Capsule, Cylinder:
		size("radius", s.Radius)
		size("half length", s.Half[2])
	case Box:
		size("half x", s.Half[0])
		size("half y", s.Half[1])
		size("half z", s.Half[2])
	case Hull:
		if s.Hull == nil {
			faults = append(faults, errors.New("hull: no hull"))
		} else {
			size("size", s.Hull.round)
		}
	case Plane:
	case HeightField:
		if s.Field == nil {
			faults = append(faults, errors.New("height field: no field"))
		}
	default:
		faults = append(faults, fmt.Errorf("%s: want sphere to height field", s.Kind))
	}
	return errors.Join(faults...)
}

// Check returns everything that is wrong with the geom, or nil.
func (g *Geom) Check() error {
	faults := []error{g.Shape.Check()}
	if g.Body < -1 || g.Body > math.MaxInt32 {
		faults = append(faults, fmt.Errorf("body: got %d, want -1 or an index", g.Body))
	}
	for _, x := range g.Local.Position {
		if !(math.Abs(x) <= MaxSize) {
			faults = append(faults, fmt.Errorf("position: got %g m, want at most %g", x, MaxSize))
		}
	}
	q := &g.Local.Rotation
	if n := float64(q[0]*q[0]) + float64(q[1]*q[1]) + float64(q[2]*q[2]) + float64(q[3]*q[3]); n != 0 &&
		!(n > 1e-12 && n < 1e12) {
		faults = append(faults, fmt.Errorf("rotation: got %g, want a unit quaternion", *q))
	}
	return errors.Join(faults...)
}
