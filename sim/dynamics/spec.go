package dynamics

import "github.com/halyard-robotics/halyard/sim/collide"

// World is the parent of a root body, and the body that never moves.
const World = -1

// Spec is the description from which a Model is built. All of it is copied.
type Spec struct {
	Bodies     []Body
	Geoms      []collide.Geom // Geom.Body is an index of Bodies, or World
	NoContact  [][2]int       // pairs of bodies that never collide, in addition to those that a joint connects
	Equalities []Equality
	Options    Options
}

// Body is a rigid body and the joint that ties it to its parent.
type Body struct {
	Name   string // for messages
	Parent int    // index in Spec.Bodies, in any order, or World
	// The pose of the link frame in the parent's at joint position 0. A zero Rotation means unturned.
	Position [3]float64
	Rotation [4]float64
	Joint    Joint

	Mass    float64    // kg, > 0 but for bodies that are welded or carry others
	COM     [3]float64 // m, in the link frame
	Inertia [9]float64 // kg·m², about the COM, in the axes of the link frame, row by row

	// Sleeps lets an undriven free body sleep while it is at rest: see sleep.go. Not with RK4.
	Sleeps bool

	// Added, if not nil, puts the body into water, see Water: its added mass, about the origin of the link frame, in
	// its axes. Rows are force x, y, z and moment x, y, z; columns the accelerations: kg, kg·m, kg·m². It is symmetric,
	// and all zeros for a body with only drag.
	Added *[6][6]float64
}

// JointKind is how a joint moves.
type JointKind uint8

// The kinds of joint. Weld is the zero value; Free needs the World as parent.
const (
	Weld JointKind = iota
	Hinge
	Slide
	Ball
	Free
	numKinds
)

// String names the kind.
func (k JointKind) String() string {
	return [...]string{"weld", "hinge", "slide", "ball", "free", "?"}[min(k, numKinds)]
}

// dofs and coordinates of the kinds.
func (k JointKind) dofs() int   { return [...]int{0, 1, 1, 3, 6}[k] }
func (k JointKind) coords() int { return [...]int{0, 1, 1, 4, 7}[k] }

// Joint is a joint. Torques and angles are forces and lengths where it is a slide.
type Joint struct {
	Kind   JointKind
	Anchor [3]float64 // m, in the link frame of the child
	Axis   [3]float64 // of a hinge or slide, in the link frame of the child; its length does not count

	Armature  float64 // kg·m², inertia of the rotor seen at the joint, added to each degree of freedom
	Damping   float64 // N·m·s/rad
	Stiffness float64 // N·m/rad towards Rest; only hinge and slide
	Rest      float64 // rad
	Dry       float64 // N·m, dry friction of a moving joint
	Static    float64 // N·m, greatest dry friction at rest; below Dry it counts as Dry
	Stribeck  float64 // rad/s, the speed at which Static has fallen towards Dry by 1/e; > 0 where Static > Dry

	Limited bool       // only hinge and slide
	Limits  [2]float64 // rad
	Stop    Softness   // of the limits
}

// EqualityKind is the kind of constraint of an Equality.
type EqualityKind uint8

// The kinds of equality.
const (
	// AnchorA of body A and AnchorB of body B are the same point: a ball joint that closes a loop
	Point  EqualityKind = iota
	Fixed               // and A's frame, turned by Rotation, is parallel to B's
	Mirror              // the joint of body A is at Ratio times that of B, plus Offset; hinges and slides
	numEqualities
)

// Equality is a constraint in addition to the tree: a loop closure, or a coupling of two joints.
type Equality struct {
	Kind             EqualityKind
	A, B             int // bodies; B may be World but for Mirror
	AnchorA, AnchorB [3]float64
	Rotation         [4]float64 // of B's frame in A's; zero means none
	Ratio, Offset    float64
	Soft             Softness
}

// Softness describes how a constraint gives way. The zero value is the default of its kind.
//
// Time and Ratio are those of the damped oscillation by which a violation decays, and Impedance d is the share of the
// constraint's acceleration that its force brings about, the rest being slip: the solref and solimp of MuJoCo
// (documentation, "Solver parameters"), without their dependence on depth. Time is never below two steps.
//
// With CFM > 0 the constraint is the spring and damper of ODE (manual, "How to use ERP and CFM") instead, and Time,
// Ratio and Impedance are ignored: stiffness ERP/(h CFM), damping (1-ERP)/CFM, both implicit, h the step.
type Softness struct {
	Time      float64 // s
	Ratio     float64 // 1: critical
	Impedance float64 // within [1e-4, 0.9999]
	ERP       float64 // 0..1
	CFM       float64 // 1/kg·s⁻¹ or the like for torques
	// Slip, of contacts with CFM, is how fast they give way along the surface, m/s per N (ODE manual, "slip1").
	Slip float64
	// Haste, with CFM, is the speed, m/s or rad/s, above which a violation is not brought back; 0 means any (ODE
	// manual, "dWorldSetContactMaxCorrectingVel").
	Haste float64
}

// Integrator is how a step advances time.
type Integrator uint8

// The integrators.
const (
	// Euler is semi-implicit: velocities first, then positions with the new velocities; first order, and good at
	// contacts. Damping and the gains of Drive are implicit.
	Euler Integrator = iota
	// RK4 is the classical Runge-Kutta method of fourth order, with the constraints solved in every stage: for smooth
	// motion. Damping and gains are explicit: keep (damping h / inertia) below 2.
	RK4
)

// Options are how a System steps.
type Options struct {
	Integrator Integrator
	SubSteps   int        // of equal length in each Step; 0 means 1
	Gravity    [3]float64 // m/s²; of a new State
	Contact    Softness
	Iterations int // of the constraint solver at most; 0 means 50
	// at which it stops: change of the accelerations in a sweep as a share of their size; 0 means 3e-5
	Tolerance float64
	Contacts  int     // room for the contacts of one step; 0 means 8 for each geom and 64 more
	MaxSpeed  float64 // m/s and rad/s, above which a step counts as diverged; 0 means 1e5
	// MaxTurn is the angle, rad, that no joint turns by in one part of a step under RK4: faster ones have the step
	// taken in up to 16 parts. 0 means 0.1, negative without end.
	MaxTurn float64
	// EulerTurn is the same for Euler; 0 = no limit. A body that turns by more than a radian per step gains energy from
	// the explicit v² terms.
	EulerTurn float64
	// Articulated makes trees without constraints use the articulated-body recursion from so many degrees of freedom
	// in a row on; 0 means where it is faster, negative never.
	Articulated int
	// Sleeps lets the whole system sleep where nothing in it moves; see calm.go.
	Sleeps bool
}
