package player

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
)

// Robot is an agent and the data that is not in its layout. A nil or empty field is not served.
type Robot struct {
	Agent  *hal.Agent
	Driver string     // the name of all drivers; "" = "halyard"
	Size   [3]float64 // length, width, height, m; 0 = not known
	// Drive is position2d's; a car's angle steers it by its wheelbase, or its track.
	Drive *kinematics.Drive
	// Scanners are the fields of view of sensors of kind range, by their index in the layout, rad; others have π.
	Scanners map[int]float64
	Periods  map[int]float64 // s between two readings of sensors of kind range, likewise; others have the data's
	Buttons  map[int]float64 // m, the lengths of sensors of kind contact, likewise
	PTZs     []PTZ
	Links    []Link // of each actuator of the layout: actarray's geometry; nil = not known
	Gripper  *Gripper
	Limb     *Arm
	Switches []Switch         // dio, one bit each; at most 32
	Cameras  hal.CameraSource // the cameras of the layout
	Placer   hal.Placer       // simulation: places the agent
	Flyer    Flyer            // position3d: takes commands
	// Tags are what sensors of kind rfid have in reach at a time of the data, and victim. Any goroutine may call them.
	Tags, Victims func(now time.Duration) []Tag
	VictimRange   float64 // m, at which a victim is found; 0 = not known
	VictimAngle   float64 // rad, of the view in which
}

// PTZ is a camera on two joints, hal.None where one is fixed. Positive goals pan to the left and tilt up, unless
// reversed.
type PTZ struct {
	Pan, Tilt                 int // actuators of the layout
	PanReversed, TiltReversed bool
	Mount                     hal.Pose
	FieldOfView               float64 // rad
}

// Link is where an actuator moves, in the robot's axes, in the pose in which the robot is built.
type Link struct {
	Anchor [3]float64 // m, a point of its axis
	Axis   [3]float64 // of length 1
}

// anchor is where an actuator moves, 0 where it is not known.
func (r *Robot) anchor(actuator int) (at [3]float64) {
	if actuator < len(r.Links) {
		at = r.Links[actuator].Anchor
	}
	return at
}

// Gripper is one actuator and its goals, rad or m.
type Gripper struct {
	Actuator     int
	Open, Closed float64
}

// Arm is joints that carry a tip.
type Arm struct {
	Joints []int // actuators of the layout, in the order of Solver's joints
	Solver *kinematics.Arm

	mu sync.Mutex // one goroutine at a time uses Solver
}

// Switch is something that is on or off: a light. Its methods are called at a cycle's edge.
type Switch interface {
	Switch(on bool) error
	Lit() bool
}

// Flyer moves a body in space, in its own axes: m/s and rad/s; or to a pose in the world. Any goroutine may call it. A
// session that flew ends with Fly at 0.
type Flyer interface {
	Fly(linear, angular [3]float64) error
	Go(to hal.Pose) error
}

// Tag is what a reader has found: its number, its text, and its place in the robot's axes.
type Tag struct {
	Number int
	Text   string
	Place  hal.Pose
}

// validate reports what does not fit the layout.
func (r *Robot) validate() error {
	if r.Agent == nil {
		return fmt.Errorf("player: robot: got no agent")
	}
	n := len(r.Agent.Layout().Actuators)
	check := func(what string, mode hal.Mode, actuators ...int) error {
		for _, i := range actuators {
			if i < hal.None || i >= n {
				return fmt.Errorf("player: %s: actuator: got %d, want below %d", what, i, n)
			}
			if i != hal.None && r.Agent.Layout().Actuators[i].Goal[mode] == hal.None {
				return fmt.Errorf("player: %s: actuator %s takes no %v", what, r.Agent.Layout().Actuators[i].Name, mode)
			}
		}
		return nil
	}
	if d := r.Drive; d != nil {
		if err := d.Validate(r.Agent.Layout()); err != nil {
			return fmt.Errorf("player: %w", err)
		}
	}
	for _, p := range r.PTZs {
		if err := check("ptz", hal.PositionMode, p.Pan, p.Tilt); err != nil {
			return err
		}
	}
	if r.Gripper != nil {
		if err := check("gripper", hal.PositionMode, r.Gripper.Actuator); err != nil {
			return err
		}
	}
	if r.Limb != nil {
		if err := check("limb", hal.PositionMode, r.Limb.Joints...); err != nil {
			return err
		}
	}
	if len(r.Switches) > 32 {
		return fmt.Errorf("player: dio: got %d switches, want at most 32", len(r.Switches))
	}
	return nil
}

// unit is one device of a server.
type unit interface {
	// publish passes the data of one interval to out. The session's writer calls it.
	publish(s *sample, out func(subtype uint8, p payload))
	// command does a command; its error is logged. request answers, or fails with a NACK. The session's reader calls
	// them.
	command(k *control, subtype uint8, in []byte) error
	request(k *control, subtype uint8, in []byte) (payload, error)
}

// noData, noCommands and noRequests are the parts that a device does not have.
type (
	noData     struct{}
	noCommands struct{}
	noRequests struct{}
)

func (noData) publish(*sample, func(uint8, payload))                {}
func (noCommands) command(*control, uint8, []byte) error            { return errUnknown }
func (noRequests) request(*control, uint8, []byte) (payload, error) { return nil, errUnknown }

// entry is a device and its place in the list.
type entry struct {
	device Device
	unit   unit
}

// units are the devices of r, in the order of their interfaces.
func units(rig *hal.Rig, r *Robot) []entry {
	var all []entry
	next := map[Interface]uint16{}
	add := func(i Interface, u unit) {
		all = append(all, entry{Device{i, next[i]}, u})
		next[i]++
	}
	l := r.Agent.Layout()
	if r.Drive != nil {
		add(Position2D, &base{robot: r, layout: l, odometry: sensorOf(l, "odometry"), truth: truthOf(l)})
	}
	if truthOf(l) != nil {
		add(Position3D, &body{robot: r, truth: truthOf(l)})
		add(Simulation, &simulation{robot: r, truth: truthOf(l)})
	}
	addRanges(r, l, add)
	if volts, life := sensorOf(l, "voltage"), sensorOf(l, "battery"); volts != nil || life != nil {
		add(Power, &power{layout: l, volts: volts, life: life})
	}
	for i := range r.PTZs {
		add(PanTilt, &ptz{layout: l, ptz: &r.PTZs[i]})
	}
	if r.Cameras != nil {
		for i := range l.Cameras {
			add(Camera, &camera{index: i})
		}
	}
	if joints := jointsOf(l); len(joints) > 0 {
		add(ActArray, &actArray{robot: r, layout: l, joints: joints})
	}
	if r.Limb != nil {
		add(Limb, &limb{robot: r, layout: l})
	}
	if r.Gripper != nil {
		add(Gripping, &gripper{robot: r, layout: l})
	}
	if len(r.Switches) > 0 {
		add(DIO, &dio{rig: rig, robot: r})
	}
	var motion *hal.Sensor
	if i := slices.IndexFunc(l.Sensors, func(s hal.Sensor) bool { return s.Kind == "pose" }); i >= 0 {
		motion = &l.Sensors[i]
	}
	for _, kind := range []string{"imu", "inertial"} {
		for i := range l.Sensors {
			if l.Sensors[i].Kind == kind {
				add(IMU, &imu{sensor: &l.Sensors[i], motion: motion})
			}
		}
	}
	if r.Tags != nil {
		add(RFID, &rfid{tags: r.Tags})
	}
	if r.Victims != nil {
		add(Fiducial, &fiducials{robot: r})
	}
	add(Opaque, &opaque{layout: l})
	return all
}

// sensorOf is the first sensor of a kind, or nil.
func sensorOf(l *hal.Layout, kind string) *hal.Sensor {
	for i := range l.Sensors {
		if l.Sensors[i].Kind == kind {
			return &l.Sensors[i]
		}
	}
	return nil
}

// truthOf is the sensor of the pose in the world, or nil.
func truthOf(l *hal.Layout) *hal.Sensor {
	const poseCount = 7
	if s := sensorOf(l, "pose"); s != nil && s.Count >= poseCount {
		return s
	}
	return nil
}

// jointsOf are the actuators that actarray commands: hinges and slides.
func jointsOf(l *hal.Layout) []int {
	var joints []int
	for i := range l.Actuators {
		if k := l.Actuators[i].Kind; k == hal.Hinge || k == hal.Slide {
			joints = append(joints, i)
		}
	}
	return joints
}
