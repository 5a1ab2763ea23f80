package model

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/xml"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

// FileOptions hold what a robot file lacks. The zero value takes the base and the self-collision of the file, ideal
// motors, and no meshes.
type FileOptions struct {
	Base   string            // "fixed" or "floating"; "": as the file has it
	Self   *bool             // the robot's links collide with each other; nil: as the file has it
	Servos map[string]string // joint -> servo model; joints that are not named get an ideal motor of the file's limits
	Supply Supply            // of the servos; 12 V where it is zero
	Strict bool              // a repair is a fault
	// Open opens a mesh by the name that the file gives it, "package://arm/meshes/base.stl". Nil: there are no meshes.
	Open func(name string) (io.ReadCloser, error)
}

// description is a robot as its file has it. A reader fills it; robot checks and repairs it and makes a Robot of it.
// The reader converts units and conventions and reports what it cannot read; it repairs nothing.
type description struct {
	name    string
	source  string // the file, as reports call it
	free    bool   // the file says that the root moves freely
	self    bool   // the links collide with each other, but for those that touch in the built pose
	parts   []part // any order
	drives  []drive
	apart   [][2]string // pairs of links that never collide
	sensors []sensorPart
	total   float64 // kg, to which all masses are scaled; 0: they stay
	least   float64 // kg, of each part; 0: any
	moment  float64 // kg·m², the least principal moment of each part
	balance bool    // moments that no body has become equal
	derived bool    // masses from solids are the rule of the format, not a repair

	faults   yaml.Faults
	notes    yaml.Faults // what was left out or is unusual
	left     counts      // elements without a meaning here
	repaired yaml.Faults
}

// part is a link of the file.
type part struct {
	at      yaml.Place
	name    string
	parent  string   // "": a root
	joint   string   // what faults call the connection to the parent: `joint "elbow"`
	pose    hal.Pose // in the parent's frame, all joints at 0
	axes    []axis   // from the parent outwards; none: fixed to the parent
	free    bool     // it moves freely; its parent is a root without solids
	mass    *inertial
	solids  []solidPart
	visuals []solidPart
	repels  bool // it collides with others of its kind in the same robot

	// Of check and repair.
	up    int      // of parts, hal.None: the root
	built hal.Pose // in the robot's frame
	body  int      // of Robot.Bodies
}

// axis is one degree of freedom of a part, in the part's frame in the built pose; a ball has three.
type axis struct {
	at            yaml.Place
	name          string
	kind          JointKind
	anchor, along vec
	endless       bool        // it turns without end, regardless of its limits
	limits        *[2]float64 // rad or m; nil: not stated
	damping       float64
	friction      float64
	stiffness     float64 // N·m/rad towards rest
	rest          float64
	armature      float64
	follows       *follow  // another axis
	start         *float64 // where it is after a reset; nil: at 0, if its limits allow it
	force         float64  // of all its motors at most, N·m or N; 0: not stated
}

// follow is an axis's position as times that of the leader plus plus.
type follow struct {
	leader      string
	times, plus float64
}

// drive is a motor of an axis. An axis without one moves freely.
type drive struct {
	axis             string
	torque, velocity float64 // greatest ones; 0: not known
	kp, kd           float64 // of Motor
	ratio            float64 // of critical damping, which gives kd; 0: kd is stated
}

// inertial is the mass of a part. The inertia is about the centre of mass, in the axes of at.
type inertial struct {
	place   yaml.Place
	at      hal.Pose
	mass    float64
	inertia *[6]float64 // xx, yy, zz, xy, xz, yz; nil: not stated
}

// solidPart is a solid for collisions, or to be drawn.
type solidPart struct {
	at      yaml.Place
	shape   Shape // its pose is in the part's frame
	mesh    string
	scale   vec       // of the mesh
	ref     hal.Pose  // of the mesh's reference in its file, before the scale; the zero value is none
	inertia string    // how the mass of the mesh is made: see meshKey
	fit     float64   // the shape's kind, this many times as large as the mesh's box of inertia, takes its place
	file    *hal.Pose // of the mesh itself, once shape is its hull
	density float64   // kg/m³; 0 = 1000
	massive bool      // shape.Mass is its mass
	shell   bool      // its mass is in its surface; the density is kg/m²
	name    string    // of an MJCF's geom
}

// Repaired begins the note of a repair, to tell it from other notes.
const Repaired = "repaired: "

// ordinary is the density of solids whose file has none, kg/m³.
const ordinary = 1000.0

func linkPath(name string) yaml.Path  { return yaml.Path(fmt.Sprintf("link %q", name)) }
func jointPath(name string) yaml.Path { return yaml.Path(fmt.Sprintf("joint %q", name)) }

// counts are elements by what they are.
type counts map[string]*counted

type counted struct {
	first *xml.Node
	count int
}

func (c *counts) add(what string, n *xml.Node) {
	if *c == nil {
		*c = counts{}
	}
	if (*c)[what] == nil {
		(*c)[what] = &counted{first: n}
	}
	(*c)[what].count++
}

// place is where an element is, in its own file.
func (d *description) place(n *xml.Node) yaml.Place {
	return yaml.Place{Source: cmp.Or(n.File, d.source), Line: n.Line}
}

// leftOut counts an element without a meaning here.
func (d *description) leftOut(what string, n *xml.Node) { d.left.add(what, n) }

// fault reports what makes the file unusable.
func (d *description) fault(at yaml.Place, path yaml.Path, format string, args ...any) {
	d.faults.Add(yaml.Fault{Source: at.Source, Line: at.Line, Path: path, Got: fmt.Sprintf(format, args...)})
}

// note reports what was left out or is unusual, and changes nothing that the file says.
func (d *description) note(at yaml.Place, path yaml.Path, format string, args ...any) {
	d.notes.Add(yaml.Fault{Source: at.Source, Line: at.Line, Path: path, Got: fmt.Sprintf(format, args...)})
}

// repair reports a value that was replaced. With FileOptions.Strict it is a fault.
func (d *description) repair(at yaml.Place, path yaml.Path, before, after, why string) {
	d.repaired.Add(yaml.Fault{Source: at.Source, Line: at.Line, Path: path,
		Got: fmt.Sprintf("%s%s -> %s: %s", Repaired, before, after, why)})
}

// finite checks that numbers are at most most.
func (d *description) finite(at yaml.Place, path yaml.Path, most float64, x ...float64) bool {
	for _, v := range x {
		if !(v >= -most && v <= most) {
			d.fault(at, path, "got %g, want numbers of at most %g", v, most)
			return false
		}
	}
	return true
}

// drive returns the motor of an axis, or nil.
func (d *description) driveOf(axis string) *drive {
	if i := slices.IndexFunc(d.drives, func(m drive) bool { return m.axis == axis }); i >= 0 {
		return &d.drives[i]
	}
	return nil
}
