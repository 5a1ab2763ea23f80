package model

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Robot is a robot of this package. Nobody changes it after Parse.
type Robot struct {
	Name    string
	Title   string
	Simloid int // the id by which Simloid's clients ask for it; hal.None for all others
	// ODE reports that its dynamics are those of the Open Dynamics Engine as Simloid set it up: soft joint stops, its own step, and in a
	// world of such robots alone nothing that ODE did not have.
	ODE    bool
	Supply Supply
	// Supplies feed the joints that Supply does not: Joint.Supply numbers them, from 1.
	Supplies []Supply
	Joints   []Joint // in motor order

	// What the robot weighs and touches. No bodies: each joint is one servo with the load that it names.
	Bodies         []Body    // a tree, in the file's order; Order tells parents from children
	Passive        []Passive // joints without a motor
	Accelerometers []Accelerometer
	Sensors        []Sensor
	Cameras        []Camera
	Rescue         *Rescue  // nil: it is no robot of USARSim
	Differential   []int    // two of Passive, whose positions add up to 0; or none
	Fixed          bool     // the root body does not move; else it floats freely
	NoContact      [][2]int // pairs of bodies that never touch, beside those that a joint connects
}

// Supply is a power supply of servos. Those that share it sag together.
type Supply struct {
	Name       string  // of a joint's own, as the file that names it does
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

// Linkage is what a joint does to bodies: the child moves against the parent about, or along, one axis.
type Linkage struct {
	Kind          JointKind
	Parent, Child int        // of Robot.Bodies; hal.None without bodies
	Anchor        [3]float64 // m, a point of the axis in the robot's frame, in the built pose
	Axis          [3]float64 // of length 1, in the robot's frame, in the built pose
	// Sign, +1 or -1, times the child's turn about Axis (right hand) is the joint's position.
	Sign float64
	// Stops are the ends of the joint's position, rad or m; none where Stops[0] >= Stops[1].
	Stops    [2]float64
	Damping  float64 // N·m·s/rad, or N·s/m, beside the motor's own
	Friction float64 // N·m, or N, dry, beside the motor's own
	Random   Random
}

// JointKind is how a joint lets its child move.
type JointKind uint8

// The kinds of joint.
const (
	Hinge JointKind = iota
	Slide
	Weld // not at all
)

// String names the kind as model files do.
func (k JointKind) String() string {
	return [...]string{"hinge", "slide", "weld", "no joint"}[min(k, Weld+1)]
}

// Passive is a joint without a motor: it swings freely, or moves as another joint does.
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
	Name    string             // "left_elbow", in no other joint of the robot
	Path    string             // what its original simulator calls it, "/Left/Elbow"; Simloid's worm has one name four times
	Servo   *actuator.Spec     // what moves it; nil where Motor does
	Motor   *Motor             // what moves it; nil where Servo does
	Supply  int                // 0: of the robot; else of Robot.Supplies, from 1
	Modes   [hal.NumModes]bool // what it offers, always a part of what its servo or motor can
	Limits  [2]float64         // rad, soft limits; m for a slide, likewise all angles below
	Range   [2]float64         // rad, of the position channels
	Default float64            // rad, the goal after a reset
	Start   float64            // rad, the position after a reset: Default but where the file says otherwise
	Spread  float64            // rad: a reset takes an even random position this far about Default
	Noise   float64            // rad, standard deviation of the encoder's reading
	Load    actuator.Load
	Source  string // where the load's figures come from
	Wraps   bool   // it turns without end
	// Strength is what its motor makes of its torque constant: 1 is as the data sheet says. It is in Servo or Motor of
	// what Draw returns, and there alone.
	Strength float64

	Linkage
	Partner int  // the joint on the robot's other side, itself if absent
	Mirrors bool // of two partners, the one that the file calls the image of the other
}

// Against reports whether the joint turns the other way about the axis of USARSim's and MOAST's frames that it lies along:
// there y points to the right and z down.
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

// Sub returns a robot of those joints of r that are named, in r's order: a part of a mixed body. It has no bodies and no
// partners, since half a tree is no robot. Names that r does not have are one hal.Invalid error.
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
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return part, nil
}
