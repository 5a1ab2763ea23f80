// Package kinematics estimates the state of a real body that a simulated one has exactly: the poses of its links, from
// joint positions and sensors.
//
// A Tree holds the links and joints of a robot; Forward computes their poses. Estimate puts that behind a hal.Body: its
// sensors of kind "body" and "pose", which no device measures, are filled in after each Read, and their channels are
// marked as estimates.
package kinematics

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Options are the inputs of Estimate in addition to the tree.
type Options struct {
	Base hal.Pose // of the tree's frame in the world; of a robot with a free base: its start pose
	// Free reports that the robot is not fixed to the world. Its attitude is that of its first sensor of kind "imu",
	// where it has one; its translation is unknown, and its first link stays in its place.
	Free bool
	// Links are the links that the sensors sit on, by the sensor's name: those of kind "body", "pose" and the "imu".
	Links map[string]int
	// Drive, where not nil, makes Estimate fill in the sensors of kind "odometry" from the wheels.
	Drive *Drive
}

// Estimate returns body b with an estimate in place of each sensor of kind "body" and "pose" with a known link. Sensors
// beyond a joint without a known position keep their old values.
func Estimate(b hal.Body, t Tree, o Options) (hal.Body, error) {
	l := b.Layout()
	if err := t.Validate(len(l.Actuators)); err != nil {
		return nil, err
	}
	e := &estimator{inner: inner{b, clone(l)}, tree: t, state: t.NewState(), base: o.Base, imu: -1,
		q: make([]float64, len(l.Actuators)), v: make([]float64, len(l.Actuators)), ages: make([]time.Duration, len(t))}
	if len(t) > 0 {
		e.pivot = o.Base.Of(t[0].Home.Position)
	}
	for i := range l.Sensors {
		s := &l.Sensors[i]
		link, ok := o.Links[s.Name]
		if ok && (link < 0 || link >= len(t)) {
			return nil, fmt.Errorf("kinematics: sensor %q: got link %d, want below %d", s.Name, link, len(t))
		}
		switch {
		case !ok:
		case s.Kind == "imu" && o.Free && e.imu < 0:
			e.imu, e.imuLink = i, link
		case s.Kind == "body", s.Kind == "pose":
			e.sensors = append(e.sensors, estimated{sensor: i, link: link})
			e.estimates(i)
		case s.Kind == "odometry" && s.Count == 3 && o.Drive != nil:
			e.odometry = append(e.odometry, i)
		}
	}
	if e.drive = o.Drive; e.drive != nil {
		if err := e.drive.Validate(l); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// inner is a body some of whose sensors are estimated: its layout is a copy that marks them.
type inner struct {
	hal.Body
	layout *hal.Layout
}

// clone is a copy of l whose measured channels may be changed.
func clone(l *hal.Layout) *hal.Layout {
	c := *l
	c.Outputs, c.Infos = slices.Clone(l.Outputs), slices.Clone(l.Infos)
	return &c
}

// estimates marks the channels of a sensor as estimates.
func (b *inner) estimates(sensor int) {
	s := &b.layout.Sensors[sensor]
	for k := range s.Count {
		b.layout.Measured(s.First + k).Estimate = true
	}
}

// Layout is the inner body's, with the estimates marked.
func (b *inner) Layout() *hal.Layout { return b.layout }

// Holding implements hal.TorqueReporter for a body that does.
func (b *inner) Holding(actuator int) bool {
	h, ok := b.Body.(hal.TorqueReporter)
	return ok && h.Holding(actuator)
}

// estimator is the body of Estimate. A free one turns about its first link, which stays where it was at the start.
type estimator struct {
	inner
	tree    Tree
	state   *State
	base    hal.Pose
	pivot   [3]float64 // of a free one's turns, in the world
	sensors []estimated
	imu     int // its sensor, -1 = none
	imuLink int
	q, v    []float64
	ages    []time.Duration // the oldest joint on the way to each link

	drive    *Drive
	odometer Odometer
	odometry []int // its sensors
}

type estimated struct{ sensor, link int }

// errUnknown is the status of a sensor beyond a joint whose position is not known.
var errUnknown = errors.New("a joint of the path has no position")

// Read reads the body, then estimates.
func (e *estimator) Read(f *hal.Frame) error {
	err := e.Body.Read(f)
	for i := range e.q {
		a := &e.layout.Actuators[i]
		e.q[i], e.v[i] = hal.At(f.Measured, a.Position), hal.At(f.Measured, a.Velocity)
		if math.IsNaN(e.v[i]) { // a servo that measures only positions
			e.v[i] = 0
		}
	}
	var spin [3]float64
	base := e.base
	if e.imu >= 0 {
		base, spin = e.attitude(f)
	}
	e.tree.Forward(e.state, e.q, e.v, base, cross(e.pivot, spin), spin)
	e.age(f)
	for _, s := range e.sensors {
		e.fill(f, s)
	}
	e.reckon(f)
	return err
}

// reckon fills in the odometry, as old as its oldest wheel.
func (e *estimator) reckon(f *hal.Frame) {
	if len(e.odometry) == 0 {
		return
	}
	e.odometer.Advance(e.drive, func(i int) float64 { return e.q[i] },
		func(i int) bool { return e.layout.Actuators[i].Wraps })
	status := hal.Status{Time: f.Time}
	for i := range e.drive.Wheels {
		w := &f.Status[e.drive.Wheels[i].Actuator]
		status.Time = min(status.Time, w.Time)
		if math.IsNaN(e.q[e.drive.Wheels[i].Actuator]) {
			status.Err = errUnknown
		}
	}
	for _, i := range e.odometry {
		s := &e.layout.Sensors[i]
		f.Status[len(e.layout.Actuators)+i] = status
		copy(f.Measured[s.First:][:s.Count], e.odometer.Place[:])
	}
}

// attitude is the attitude of the base by the IMU: the rotation from the sensor's attitude by the joints to that by the
// IMU. Without the IMU the base is upright.
func (e *estimator) attitude(f *hal.Frame) (base hal.Pose, spin [3]float64) {
	s := &e.layout.Sensors[e.imu]
	m := f.Measured[s.First:][:s.Count]
	if len(m) < 7 || math.IsNaN(m[0]+m[1]+m[2]+m[3]) || m[0] == 0 && m[1] == 0 && m[2] == 0 && m[3] == 0 {
		return e.base, spin
	}
	e.tree.Forward(e.state, e.q, e.v, hal.Pose{}, [3]float64{}, [3]float64{})
	by := e.state.Poses[e.imuLink].Times(s.Mount)
	world := hal.Pose{Rotation: [4]float64(m[:4])}
	if math.IsNaN(by.Rotation[0]) {
		return e.base, spin
	}
	by.Position = [3]float64{}
	base = world.Times(by.Inverse())
	if rate := [3]float64(m[4:7]); !math.IsNaN(rate[0] + rate[1] + rate[2]) {
		// the sensor's rate without the joints' share, in the world
		spin = add(world.Turn(rate), scale(-1, base.Turn(e.state.Spin[e.imuLink])))
	}
	base.Position = add(e.pivot, scale(-1, base.Turn(e.tree[0].Home.Position)))
	return base, spin
}

// age finds the oldest measurement on the way to each link.
func (e *estimator) age(f *hal.Frame) {
	for i := range e.tree {
		l := &e.tree[i]
		e.ages[i] = f.Time
		if l.Parent != hal.None {
			e.ages[i] = e.ages[l.Parent]
		}
		if l.Joint != hal.None {
			e.ages[i] = min(e.ages[i], f.Status[l.Joint].Time)
		}
	}
}

// fill writes one sensor's channels.
func (e *estimator) fill(f *hal.Frame, at estimated) {
	s, link := &e.layout.Sensors[at.sensor], &e.tree[at.link]
	status := &f.Status[len(e.layout.Actuators)+at.sensor]
	pose := e.state.Poses[at.link]
	if math.IsNaN(pose.Position[0] + pose.Rotation[0]) {
		status.Err = errUnknown
		return
	}
	*status = hal.Status{Time: e.ages[at.link]}
	to := f.Measured[s.First:][:s.Count]
	if s.Kind == "body" {
		centre := pose.Of(link.Centre)
		speed := e.state.SpeedAt(at.link, centre)
		copy(to, centre[:])
		copy(to[3:], speed[:])
		return
	}
	pose = pose.Times(s.Mount)
	speed := e.state.SpeedAt(at.link, pose.Position)
	copy(to, pose.Position[:])
	copy(to[3:], pose.Rotation[:])
	copy(to[7:], speed[:])
	copy(to[10:], e.state.Spin[at.link][:])
}
