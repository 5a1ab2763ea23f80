package gamebots

import (
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Arena is the world of a server's robots and the functions that spawn them. A command whose field is nil is refused as
// in the protocol.
type Arena struct {
	Game, Level string        // of NFO; "" = "USARBot.USARDeathMatch" and "DM-USAR"
	TimeLimit   time.Duration // of NFO; 0 = none
	Classes     []string      // of robots: "USARBot.P2AT"; a client may omit the part before the dot
	Spawner     hal.Spawner
	// Describe returns the description of a spawned agent beyond its layout; nil = Describe of this package.
	Describe func(class string, a *hal.Agent) (*Robot, error)
	Starts   []Start // the first is used for an INIT without a position
}

// Start is a recommended place to begin at, in the world, in hal's axes.
type Start struct {
	Name string
	Pose hal.Pose
}

// Robot describes one robot beyond its layout. Poses are in hal's axes. Its interfaces are called one at a time between
// cycles, except Solvers, which run concurrently and may take their time. They must not call the rig. A command whose
// field is nil is refused.
type Robot struct {
	Class          string        // "P2AT", of the later dialect's CONF
	State          int           // Layout.Sensors of kind pose or body that STA reports, or hal.None: no STA
	Interval       time.Duration // msgTimer; 0 = 200 ms
	BatteryLife    time.Duration // without a sensor of kind battery: from the spawning on; 0 = an hour
	AbsoluteCamera bool          // bAbsoluteCamera: CAMERA means angles, not changes of them
	Torque         bool          // DRIVE {Left} {Right} are torques, N·m: bSpeedControl is false
	Joints         []Joint
	Left, Right    []int // of Joints: the wheels of DRIVE {Left} {Right}
	Coupled        bool  // the wheels of a side turn together, as by a belt: an order to one is one to all of its side
	Front, Rear    []int // of Joints: turned by the later dialect's DRIVE {FrontSteer} {RearSteer}
	Sensors        []Sensor
	Cameras        []Camera // the first is the main one, CAMERA's
	Effecters      []Effecter
	Packages       []Package
	Size           Size
	Light          Headlight
	Flipper        Flipper
	Zeroer         Zeroer
	Pacer          Pacer
	Zoomer         Zoomer
}

// Joint is an actuator under its name in DRIVE.
type Joint struct {
	Name     string // LeftFWheel
	Actuator int    // of the layout
	Reversed bool   // the wire's angles are the layout's with the other sign
	Steer    int    // the actuator that steers it, or hal.None
	// SteerReversed is Reversed of the steering: on the wire positive turns to the right, in hal, about z, to the left.
	SteerReversed bool
}

// Sensor describes the message of one of the layout's sensors. Its kind in the layout selects the form.
type Sensor struct {
	// Type groups the sensors of one message: "Sonar"; Mount is the item that carries it, "" = the chassis
	Type, Name, Mount string
	Index             int // of Layout.Sensors, whose Mount is its pose on that item
	Interval          time.Duration
	Manual            bool // of a scanner: it is informed when SET {Opcode SCAN} asks for it
	TimeStamp         bool // bWithTimeStamp
	Resolution, FOV   float64
	Hits              *Hits  // of kinds rfid and victim
	Parts             *Parts // of kind victim: it is the victim sensor of the later dialects, and not a reader of tags
	Settings          []Setting
	Since             Dialect // the first dialect that has it
	Unpaced           bool    // its file has no interval: that of the dialect applies
}

// Setting is one name and value of a CONF message, as USARBot.ini has them.
type Setting struct {
	Name  string
	Value float64
	Word  string // in the place of Value, where not empty
	Since Dialect
}

// Camera is one of the layout's cameras. Fields of view are rad; if Min equals Max it cannot zoom.
type Camera struct {
	Name, Mount       string
	Index             int // of Layout.Cameras
	Package           int // of Packages, that aims it; hal.None = fixed
	Default, Min, Max float64
}

// Effecter is a device that only SET can move.
type Effecter struct {
	Type, Name, Mount string // "RFIDReleaser"
	Pose              hal.Pose
	Settings          []Setting
	Releaser          Releaser
}

// Package is a mission package: parts from the chassis to the terminal.
type Package struct {
	Type, Name string // "PanTilt", "Flipper", "Arm"
	Pose       hal.Pose
	Mount      string // the item that carries it, "" = the chassis
	Parts      []Part
	// Solver computes the joints for a pose of the terminal. Without it each joint turns by the part of Rotation along
	// its axis, which is enough for a pan-tilt or a flipper.
	Solver Solver
}

// Part is one link of a package and the joint that moves it.
type Part struct {
	Name   string
	Parent string     // the part that carries it, "" = the chassis
	Joint  int        // of Robot.Joints, or hal.None: fixed
	Pose   hal.Pose   // relative to its mount, with its joint at 0
	Axis   [3]float64 // of its joint, a unit vector in the part's axes
	Mounts []Mount    // mounting points of further parts
}

// Mount is where the part called Carries hangs; its name on the wire is M_part_Carries.
type Mount struct {
	Carries string
	Pose    hal.Pose
}

// Size is the data of a whole robot in the later dialect: metres, kilograms, rad.
type Size struct {
	Steering                           string     // "SkidSteered" where empty
	Dimensions                         [3]float64 // length, width, height
	Centre                             [3]float64 // of gravity, in hal's axes
	Mass                               float64
	WheelRadius, Separation, WheelBase float64
	MaxFrontSteer, MaxRearSteer        float64
}

// Headlight is switched by DRIVE {Light}.
type Headlight interface {
	Switch(on bool) error
	Lit() bool
}

// Flipper puts the robot back on its wheels: DRIVE {Flip}.
type Flipper interface{ Flip() error }

// Zeroer makes a sensor of the layout count from here: SET {Opcode RESET} of odometry, INU and encoders.
type Zeroer interface{ Zero(sensor int) error }

// Pacer lets a scanner of the layout read every so often. Between two cycles.
type Pacer interface {
	Pace(sensor int, every time.Duration) error
}

// Zoomer sets a camera's horizontal field of view, rad.
type Zoomer interface {
	Zoom(camera int, fov float64) error
}

// Releaser drops RFID tags.
type Releaser interface {
	Release() error // fails where no tag is left
	Remaining() int
}

// Solver moves the joints of a package so that its terminal turns to rotation and is at translation, in the frame
// of the package's mount, hal's axes; NaN leaves a component free. It puts goals of the mode of order into goals,
// one a part; NaN keeps a joint. Joints are the parts' angles.
type Solver interface {
	Solve(order Order, rotation, translation [3]float64, joints, goals []float64) error
}

// Order is the quantity of a value: an angle, a speed, or a torque.
type Order int

// The orders of DRIVE.
const (
	Angle Order = iota
	Speed
	Torque
)

// mode returns the actuator's mode for this order.
func (o Order) mode() hal.Mode {
	return [...]hal.Mode{hal.PositionMode, hal.VelocityMode, hal.TorqueMode}[o]
}
