package topics

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/protocols"
)

// The frames that every robot has.
const (
	Odom = "odom"
	Base = "base_link"
	// Optical follows a camera's name in the frame of its pictures.
	Optical = "_optical"
)

// optical turns an axis x ahead, y left, z up into x right, y down, z ahead.
var optical = hal.Pose{Rotation: [4]float64{0.5, -0.5, 0.5, -0.5}}

// Sample is the measurements of a robot at one time. It is immutable.
type Sample struct {
	Time     time.Duration // rig time
	Measured []float64     // hal.Frame's; NaN is not known
	Status   []hal.Status

	robot *Robot
}

// Sample returns the newest values. Any goroutine may call it.
func (r *Robot) Sample() *Sample {
	s := &Sample{robot: r}
	s.Measured, s.Status, s.Time = protocols.Measure(r.Agent, nil, nil)
	return s
}

// Acquired is when the newest reading of a topic was taken, rig time; negative without one. What is not read from a
// device is as old as the sample.
func (s *Sample) Acquired(t *Topic) time.Duration {
	l := s.robot.Agent.Layout()
	newest := func(first, count int) time.Duration {
		at := time.Duration(-1)
		for i := first; i < first+count; i++ {
			at = max(at, s.Status[i].Time)
		}
		return at
	}
	place, placed := s.robot.place()
	switch {
	case t.Kind == Joints && len(l.Actuators) > 0:
		return newest(0, len(l.Actuators))
	case t.Kind == Transforms && placed:
		return max(newest(0, len(l.Actuators)), newest(len(l.Actuators)+place, 1))
	case t.Kind == Transforms && len(l.Actuators) > 0:
		return newest(0, len(l.Actuators))
	case t.Kind == Odometry:
		return newest(len(l.Actuators)+place, 1)
	case t.Kind >= IMU && t.Kind <= Pressure:
		return newest(len(l.Actuators)+t.At, 1)
	}
	return s.Time
}

// Stamp is the label of the newest reading of a topic: Unix time of a real or emulated robot in real time, else the
// rig's time.
func (s *Sample) Stamp(t *Topic) time.Duration { return s.robot.Label(s.Acquired(t)) }

// Label is the label of a rig time, for a client.
func (r *Robot) Label(at time.Duration) time.Duration {
	if unix, ok := r.Rig.Unix(at); ok && r.wall() {
		return time.Duration(unix.UnixNano())
	}
	return at
}

// wall reports whether labels are Unix time.
func (r *Robot) wall() bool {
	return r.Rig.Mode() == hal.Realtime && r.Agent.BodyKind() != hal.Simulated
}

// labelled reports whether times have a label yet: before the first cycle Unix time is not known.
func (r *Robot) labelled() bool {
	_, ok := r.Rig.Unix(0)
	return ok || !r.wall()
}

// Value is a measured channel, NaN if absent.
func (s *Sample) Value(at int) float64 {
	if at == hal.None {
		return math.NaN()
	}
	return s.Measured[at]
}

// Of are the channels of a sensor.
func (s *Sample) Of(sensor int) []float64 {
	k := &s.robot.Agent.Layout().Sensors[sensor]
	return s.Measured[k.First : k.First+k.Count]
}

// Joint is the state of an actuator: rad, rad/s, N·m, of a slide m, m/s, N; NaN is not known.
func (s *Sample) Joint(i int) (position, velocity, effort float64) {
	a := &s.robot.Agent.Layout().Actuators[i]
	return s.Value(a.Position), s.Value(a.Velocity), s.Value(a.Torque)
}

// Pose returns the pose of base_link in odom, and its velocity in base_link's axes, m/s and rad/s. ok is false if the
// pose is unknown.
func (s *Sample) Pose() (p hal.Pose, linear, angular [3]float64, ok bool) {
	i, ok := s.robot.place()
	if !ok {
		return p, linear, angular, false
	}
	l := s.robot.Agent.Layout()
	v := s.Of(i)
	if l.Sensors[i].Kind == "odometry" {
		sin, cos := math.Sincos(v[2] / 2)
		p = hal.Pose{Position: [3]float64{v[0], v[1], 0}, Rotation: [4]float64{cos, 0, 0, sin}}
		x, y, turn := s.rolling()
		linear[0], linear[1], angular[2] = x+0, y+0, turn+0 // never -0
		return p, linear, angular, !math.IsNaN(v[0] + v[1] + v[2])
	}
	p = hal.Pose{Position: [3]float64(v[:3]), Rotation: [4]float64(v[3:7])}
	if back := p.Inverse(); len(v) >= 13 {
		turn := hal.Pose{Rotation: back.Rotation}
		linear, angular = turn.Turn([3]float64(v[7:10])), turn.Turn([3]float64(v[10:13]))
	}
	return p, linear, angular, !math.IsNaN(v[0])
}

// Attitude returns the measurements of an imu or an inertial sensor: attitude, rates and acceleration; measures reports
// whether it measures the latter two. ok is false if all are unknown.
func (s *Sample) Attitude(sensor int) (q [4]float64, rates, acceleration [3]float64, measures, ok bool) {
	v := s.Of(sensor)
	if s.robot.Agent.Layout().Sensors[sensor].Kind == "imu" {
		return [4]float64(v[:4]), [3]float64(v[4:7]), [3]float64(v[7:10]), true, !math.IsNaN(v[0])
	}
	return hal.RotationOf([3]float64(v[:3])), rates, acceleration, false, !math.IsNaN(v[0])
}

// rolling returns the robot's velocity from its wheels, m/s and rad/s: NaN without wheels, or where one is not known.
func (s *Sample) rolling() (x, y, turn float64) {
	d := s.robot.Drive
	if d == nil {
		return math.NaN(), math.NaN(), math.NaN()
	}
	return d.Motion(func(i int) float64 {
		_, rate, _ := s.Joint(i)
		return rate
	}, func(i int) float64 {
		angle, _, _ := s.Joint(i)
		return angle
	})
}

// Transform is where the frame Child is in Parent.
type Transform struct {
	Parent, Child string
	Pose          hal.Pose
	Static        bool // where a sensor or a camera is mounted
}

// Transforms are where all frames are. Those beyond a joint that is not known are left out.
func (s *Sample) Transforms() (all []Transform) {
	r := s.robot
	static := false
	add := func(parent, child string, p hal.Pose) {
		for _, v := range append(p.Position[:], p.Rotation[:]...) {
			if math.IsNaN(v) {
				return
			}
		}
		if !slices.ContainsFunc(all, func(t Transform) bool { return t.Child == child }) && child != Base {
			all = append(all, Transform{parent, child, p, static})
		}
	}
	if p, _, _, ok := s.Pose(); ok {
		all = append(all, Transform{Parent: Odom, Child: Base, Pose: p})
	}
	l := r.Agent.Layout()
	names := make([]string, len(r.Tree))
	if len(r.Tree) > 0 {
		at := kinematicState(r.Tree, s)
		for i := range r.Tree {
			names[i] = r.Tree[i].Name
			parent, from := Base, at.Poses[0]
			if p := r.Tree[i].Parent; p != hal.None {
				parent, from = names[p], at.Poses[p]
			}
			if i == 0 {
				names[i] = Base
				continue
			}
			add(parent, names[i], from.Inverse().Times(at.Poses[i]))
		}
	}
	mount := func(links map[int]int, i int) string {
		if at, ok := links[i]; ok && names[at] != "" {
			return names[at]
		}
		return Base
	}
	static = true
	for _, f := range r.Welded {
		parent := Base
		if f.Link < len(names) {
			parent = names[f.Link]
		}
		add(parent, f.Name, f.Pose)
	}
	for i := range l.Sensors {
		switch l.Sensors[i].Kind {
		case "range", "sonar", "infrared", "imu", "inertial":
			add(mount(r.SensorLinks, i), l.Sensors[i].Name, level(l.Sensors[i].Mount))
		}
	}
	for i := range l.Cameras {
		c := &l.Cameras[i]
		add(mount(r.CameraLinks, i), c.Name, level(c.Mount))
		add(c.Name, c.Name+Optical, optical)
	}
	return all
}

// level replaces a zero rotation of a pose by the identity.
func level(p hal.Pose) hal.Pose {
	if p.Rotation == [4]float64{} {
		p.Rotation[0] = 1
	}
	return p
}

func kinematicState(tree kinematics.Tree, s *Sample) *kinematics.State {
	n := len(s.robot.Agent.Layout().Actuators)
	positions, velocities := make([]float64, n), make([]float64, n)
	for i := range n {
		positions[i], _, _ = s.Joint(i)
	}
	at := tree.NewState()
	tree.Forward(at, positions, velocities, hal.Pose{Rotation: [4]float64{1}}, [3]float64{}, [3]float64{})
	return at
}

// Level is the health of a device.
type Level uint8

// The levels, as diagnostic_msgs numbers them.
const (
	OK Level = iota
	Warning
	Failure
	Stale
)

// Diagnostic is the state of a device, the guard or the cycle.
type Diagnostic struct {
	Name, Message string
	Level         Level
	Values        [][2]string // key, value
}

// Diagnose reports the robot's devices, its guard and the rig's cycle as they are now. Any goroutine but the rig's may
// call it.
func (s *Sample) Diagnose() (all []Diagnostic) {
	a, rig := s.robot.Agent, s.robot.Rig
	l := a.Layout()
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	for i := range s.Status {
		d := Diagnostic{Message: "ok"}
		status := &s.Status[i]
		if i < len(l.Actuators) {
			act := &l.Actuators[i]
			d.Name = act.Name
			d.Values = append(d.Values, [2]string{"state", a.JointState(i).String()})
			for _, v := range []struct {
				key string
				at  int
			}{{"voltage_V", act.Voltage}, {"temperature_C", act.Temperature}} {
				if v.at != hal.None {
					d.Values = append(d.Values, [2]string{v.key, number(s.Value(v.at))})
				}
			}
			if err := a.JointFault(i); err != nil {
				d.Level, d.Message = Failure, err.Error()
			}
		} else {
			d.Name = l.Sensors[i-len(l.Actuators)].Name
		}
		if status.Time >= 0 {
			d.Values = append(d.Values, [2]string{"age_s", number((s.Time - status.Time).Seconds())})
		}
		switch {
		case status.Err != nil:
			d.Level, d.Message = Failure, status.Err.Error()
		case status.Time < 0:
			d.Level, d.Message = Stale, "no reply yet"
		}
		all = append(all, d)
	}
	state, counts, _ := a.Guard()
	guard := Diagnostic{Name: "guard", Message: state.String(), Values: [][2]string{
		{"holder", a.Holder()}, {"refused", fmt.Sprint(counts.Refused)}, {"clamped", fmt.Sprint(counts.Clamped)},
		{"expired", fmt.Sprint(counts.Expired)}, {"stops", fmt.Sprint(counts.Stops)}}}
	switch {
	case rig.Latched():
		guard.Level, guard.Message = Failure, "emergency stop (try: "+s.robot.way("reset")+")"
	case state != hal.Armed:
		guard.Level = Warning
	}
	var stats hal.Stats
	rig.Stats(&stats)
	cycle := Diagnostic{Name: "cycle", Message: "ok", Values: [][2]string{
		{"period_s", number(rig.Period().Seconds())}, {"missed", fmt.Sprint(stats.Missed)},
		{"line_overruns", fmt.Sprint(stats.LineOverruns)}, {"faults", fmt.Sprint(stats.Faults)}}}
	return append(all, guard, cycle)
}
