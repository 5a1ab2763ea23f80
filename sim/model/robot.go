package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Robot describes a robot as data. It does not change after Parse.
type Robot struct {
	Name    string
	Title   string
	Simloid int // the id by which Simloid's clients request it; hal.None for all others
	// ODE: its dynamics are those of the Open Dynamics Engine as configured by Simloid, with soft joint stops and its
	// own step. A world of only such robots uses no feature that ODE did not have.
	ODE    bool
	Gains  bool // its joints' gains are inputs
	Supply Supply
	// Supplies feed the joints with a supply of their own: Joint.Supply numbers them, from 1.
	Supplies []Supply
	Joints   []Joint // in motor order

	// The mechanics of the robot. Without bodies each joint is one servo with the load that it names.
	Bodies         []Body    // a tree, in the file's order; Order lists parents before children
	Passive        []Passive // joints without a motor
	Accelerometers []Accelerometer
	Sensors        []Sensor
	Cameras        []Camera
	Drive          *kinematics.Drive // nil: a twist does not move it
	Rescue         *Rescue           // nil: not a robot of USARSim
	Differential   []int             // two of Passive, whose positions add up to 0; or none
	Fixed          bool              // the root body does not move; else it floats freely
	NoContact      [][2]int          // pairs of bodies that never collide, in addition to those that a joint connects
	// of the robot file, near which OpenMesh finds the meshes of Looks; "" = not from a file
	Folder string
	// Ghost: its bodies do not touch each other, as in most programs that read robot files.
	Ghost bool
	// Notes are the repairs of a robot file, the first Repairs of them, and what was left out of it.
	Notes   yaml.Faults
	Repairs int
}

// Supply is a power supply of servos. Those that share it sag together.
type Supply struct {
	Name       string  // of a joint's own supply, as in the file
	Volts      float64 // V, without load
	Resistance float64 // Ω, of source, cables and connectors together
}

// SupplyOf is the supply of joint i.
func (r *Robot) SupplyOf(i int) Supply {
	if k := r.Joints[i].Supply; k > 0 {
		return r.Supplies[k-1]
	}
	return r.Supply
}

// Linkage is the mechanical part of a joint: the child moves relative to the parent about, or along, one axis.
type Linkage struct {
	Kind          JointKind
	Parent, Child int        // of Robot.Bodies; hal.None without bodies
	Anchor        [3]float64 // m, a point of the axis in the robot's frame, in the built pose
	Axis          [3]float64 // of length 1, in the robot's frame, in the built pose
	// Sign, +1 or -1, times the child's turn about Axis (right hand) is the joint's position.
	Sign float64
	// Stops are the ends of the joint's position, rad or m; none where Stops[0] >= Stops[1].
	Stops    [2]float64
	Damping  float64 // N·m·s/rad, or N·s/m, in addition to the motor's
	Friction float64 // dry friction, N·m, or N, in addition to the motor's
	// Stiffness, N·m/rad, draws the joint to Rest; Armature, kg·m², is the inertia of a rotor behind a gear. N/m, m, kg
	// of a slide.
	Stiffness, Rest, Armature float64

	Random Random
}

// JointKind is the kind of motion that a joint allows.
type JointKind uint8

// The kinds of joint.
const (
	Hinge JointKind = iota
	Slide
	Weld // no motion
	Ball // about any axis through Anchor; passive
)

// String names the kind as model files do.
func (k JointKind) String() string {
	return [...]string{"hinge", "slide", "weld", "ball", "no joint"}[min(k, Ball+1)]
}

// Passive is a joint without a motor: it swings freely, or follows another joint.
type Passive struct {
	Name string
	Linkage
	Mimic *Mimic // nil: free
}

// Mimic makes a passive joint's position Times that of a motor's joint plus Plus.
type Mimic struct {
	Joint int // of Robot.Joints
	Times float64
	Plus  float64 // rad or m
}

// Joint is one motor's joint.
type Joint struct {
	Name string // "left_elbow", in no other joint of the robot
	// its name in the original simulator, "/Left/Elbow"; Simloid's worm has one name four times
	Path     string
	Servo    *actuator.Spec     // the servo that moves it; nil if Motor is set
	Preset   *actuator.Servo    // whose profile and limits Servo starts with; nil = the model's, without a profile
	Motor    *Motor             // the ideal motor that moves it; nil if Servo is set
	Supply   int                // 0: of the robot; else of Robot.Supplies, from 1
	Modes    [hal.NumModes]bool // its modes, a subset of those of its servo or motor
	Limits   [2]float64         // rad, soft limits; m for a slide, likewise all angles below
	Range    [2]float64         // rad, of the position channels
	Default  float64            // rad, the goal after a reset
	Start    float64            // rad, the position after a reset: Default unless the file sets another
	Spread   float64            // rad: a reset draws a uniform random position within this distance of Default
	Noise    float64            // rad, standard deviation of the encoder's reading
	Load     actuator.Load
	Source   string // source of the load's values
	Unsensed bool   // its drive measures no torque
	Wraps    bool   // continuous: it turns without end
	// Strength scales the motor's torque constant: 1 is the data sheet's. It is applied only to the Servo or Motor of a
	// robot that Draw returned.
	Strength float64

	Linkage
	Partner int  // the joint on the robot's other side, itself if absent
	Mirrors bool // of two partners, the one that the file calls the image of the other
}

// Against reports whether the joint turns in the negative direction about the nearest axis of USARSim's and MOAST's
// frames, where y points to the right and z down.
func (j *Joint) Against() bool {
	k := 0
	for i, a := range j.Axis {
		if math.Abs(a) > math.Abs(j.Axis[k]) {
			k = i
		}
	}
	return (j.Axis[k]*j.Sign < 0) != (k > 0)
}

// MaxTorque is the joint's stall torque at the nominal voltage, N·m (N for a slide).
func (j *Joint) MaxTorque() float64 {
	if j.Motor != nil {
		return j.Motor.StallTorque()
	}
	return j.Servo.StallTorque
}

// MaxVelocity is the joint's no-load speed at the nominal voltage, rad/s (m/s for a slide).
func (j *Joint) MaxVelocity() float64 {
	if j.Motor != nil {
		return j.Motor.NoLoadSpeed()
	}
	return j.Servo.NoLoadSpeed
}

// Joint returns the index of the joint called name, or hal.None.
func (r *Robot) Joint(name string) int {
	for i := range r.Joints {
		if r.Joints[i].Name == name {
			return i
		}
	}
	return hal.None
}

// Sub returns a robot of the named joints of r, in r's order: a part of a mixed body. It has no bodies and no partners,
// since a part of a tree is not a robot. Unknown names are one hal.Invalid error.
func (r *Robot) Sub(joints []string) (*Robot, error) {
	faults := faults{&yaml.Document{Source: "robot " + r.Name}}
	chosen := make([]bool, len(r.Joints))
	for i, name := range joints {
		if at := r.Joint(name); at == hal.None {
			faults.add(yaml.Path("joints").Index(i), "got %q, want the name of a joint", name)
		} else {
			chosen[at] = true
		}
	}
	part := &Robot{Name: r.Name, Title: r.Title, Supply: r.Supply, Supplies: r.Supplies, Simloid: hal.None}
	for i := range r.Joints {
		if chosen[i] {
			j := r.Joints[i]
			j.Parent, j.Child, j.Partner, j.Mirrors = hal.None, hal.None, len(part.Joints), false
			part.Joints = append(part.Joints, j)
		}
	}
	return yaml.Valid(faults.Document, part)
}
