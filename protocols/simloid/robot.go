package simloid

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
)

// Robot is the agent of a server, its traits, and the channels for them.
type Robot struct {
	Agent  *hal.Agent
	Traits Traits
	Joints []jointChannels // one a joint of Traits
	Accels [][3]int        // measured channels of each accelerometer, m/s² along its x, y, z, or hal.None
	Bodies []bodyChannels  // one a body of Traits
	World  World
	Text   string // the answer to DESCRIPTION; "" = "<EMPTY>"
}

// jointChannels are the channels of one joint. Each may be hal.None: a value that is not measured is nan,
// and a command without an input is refused.
type jointChannels struct {
	Position, Velocity int // measured, rad and rad/s
	Current            int // measured, A
	Duty               int // input of a voltage, -1..1
	Goal               int // input of a position, rad
	Limit              int // input of the maximum torque; 0..1 spans its range
}

// bodyChannels are measured channels of one body, hal.None if not measured.
type bodyChannels struct {
	Position, Velocity [3]int // m, m/s, in the world
}

// World holds the operations on the robot's world, in addition to joint commands. A command is refused where its field
// is nil, and always on a real body. As the protocol has no refusal, nothing is sent or moved, and the log reports it
// once.
type World struct {
	// Scene is the world of RESET, SAVE and RESTORE, with all its robots; it must be a hal.Resetter. With it a new
	// client finds the robot in its initial state, and RESET does not wait for other clients. Without it RESET resets
	// the rig, which every lock-step client must request; a real body moves to its default pose.
	Scene   hal.World
	Gravity hal.GravitySetter
	Pusher  hal.Pusher      // its parts are called by Traits.Names
	Clock   hal.ClockZeroer // the status's time is the session's own; this is notified of NEWTIME
	Motors  MotorSetter
	Fixer   Fixer
	// Model replaces the robot by the one with the id and parameters of MODEL.
	Model func(id int, parameters []float64) (*Robot, error)
}

// MotorSetter sets another motor model in all joints of an agent, by the original's list of parameters.
type MotorSetter interface {
	SetMotor(agent string, parameters []float64) error
}

// Fixer fixes a body of an agent in the world, or frees it again.
type Fixer interface {
	ToggleFixed(agent, part string) error
}

// gravity is the value of GRAVITY ON, m/s².
const gravity = 9.81

// Describe derives a robot from a's layout: its hinges are joints, its sensors of kind "accelerometer" are
// accelerometers, those of kind "body" and "pose" are bodies, and one of kind "current" with a channel for each
// actuator has their currents. A layout has no partners and stops: each joint is its own partner, and its stops are its
// limits.
func Describe(a *hal.Agent) *Robot {
	l, r := a.Layout(), &Robot{Agent: a}
	currents := hal.None
	for _, s := range l.Sensors {
		if s.Kind == "current" && s.Count == len(l.Actuators) {
			currents = s.First
		}
	}
	for i := range l.Actuators {
		if k := l.Actuators[i].Kind; k == hal.Hinge || k == hal.Wheel {
			r.describeJoint(&l.Actuators[i])
			if currents != hal.None {
				r.Joints[len(r.Joints)-1].Current = currents + i
			}
		}
	}
	for _, s := range l.Sensors {
		switch {
		case s.Kind == "accelerometer" && s.Count <= 3: // two-axis ones exist
			axes := [3]int{hal.None, hal.None, hal.None}
			for i := range s.Count {
				axes[i] = s.First + i
			}
			r.Accels = append(r.Accels, axes)
		case s.Kind == "body" && s.Count == 6, s.Kind == "pose" && s.Count == 13:
			at, v := s.First, s.First+3
			if s.Kind == "pose" { // the attitude is between position and velocity
				v = at + 7
			}
			r.Bodies = append(r.Bodies, bodyChannels{[3]int{at, at + 1, at + 2}, [3]int{v, v + 1, v + 2}})
			r.Traits.Names = append(r.Traits.Names, s.Name)
		}
	}
	r.Traits.Accels, r.Traits.Bodies = len(r.Accels), len(r.Bodies)
	return r
}

func (r *Robot) describeJoint(a *hal.Actuator) {
	n := len(r.Joints)
	share := func(rad float64) float64 { return clip(rad / math.Pi) }
	j := Joint{Name: strings.Join(strings.Fields(a.Name), "_"), Partner: n, Low: -1, High: 1, Default: share(a.Default)}
	if !a.Wraps {
		j.Low, j.High = share(a.Limits.MinPosition), share(a.Limits.MaxPosition)
	}
	r.Traits.Joints = append(r.Traits.Joints, j)
	r.Joints = append(r.Joints, jointChannels{Position: a.Position, Velocity: a.Velocity, Current: hal.None,
		Duty: a.Goal[hal.DutyMode], Goal: a.Goal[hal.PositionMode], Limit: a.TorqueLimit})
}

// validate reports everything that is wrong with r at once, or nil.
func (r *Robot) validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if r.Agent == nil {
		return &hal.Error{Kind: hal.Invalid, Op: "simloid", Err: errors.New("robot: no agent")}
	}
	t, l := &r.Traits, r.Agent.Layout()
	count := func(what string, got, least, most int) {
		if got < least || got > most {
			fault("%s: got %d, want %d..%d", what, got, least, most)
		}
	}
	same := func(what string, got, want int) {
		if got != want {
			fault("%s: got %d, want %d as in the traits", what, got, want)
		}
	}
	channel := func(where string, n int, at ...int) {
		for _, i := range at {
			if i < hal.None || i >= n {
				fault("%s: channel: got %d, want below %d", where, i, n)
			}
		}
	}
	count("joints", len(t.Joints), 1, MaxJoints)
	count("accels", t.Accels, 0, MaxAccels)
	count("bodies", t.Bodies, 0, MaxBodies)
	same("joint channels", len(r.Joints), len(t.Joints))
	same("accel channels", len(r.Accels), t.Accels)
	same("body channels", len(r.Bodies), t.Bodies)
	same("body names", len(t.Names), t.Bodies)

	measured := len(l.Outputs) + len(l.Infos)
	for i, j := range t.Joints {
		where := fmt.Sprintf("joints[%d]", i)
		if !word(j.Name) {
			fault("%s: name: got %q, want one word", where, j.Name)
		}
		count(where+": partner", j.Partner, 0, len(t.Joints)-1)
		if !(j.Low < j.High) || math.IsInf(j.Low, 0) || math.IsInf(j.High, 0) || !(math.Abs(j.Default) <= 1) {
			fault("%s: stops and default: got %g..%g and %g, want rising and within ±1", where, j.Low, j.High,
				j.Default)
		}
	}
	for i, j := range r.Joints {
		where := fmt.Sprintf("joints[%d]", i)
		channel(where, measured, j.Position, j.Velocity, j.Current)
		channel(where, len(l.Inputs), j.Duty, j.Goal, j.Limit)
	}
	for i := range r.Accels {
		channel(fmt.Sprintf("accels[%d]", i), measured, r.Accels[i][:]...)
	}
	for i := range r.Bodies {
		channel(fmt.Sprintf("bodies[%d]", i), measured, r.Bodies[i].Position[:]...)
		channel(fmt.Sprintf("bodies[%d]", i), measured, r.Bodies[i].Velocity[:]...)
	}
	for i, name := range t.Names {
		if !word(name) {
			fault("bodies[%d]: name: got %q, want one word", i, name)
		}
	}
	if n := len(AppendTraits(nil, t, Later)); n > maxFrame {
		fault("traits: got %d bytes, want at most %d: shorter names", n, maxFrame)
	}
	if faults == nil {
		return nil
	}
	return &hal.Error{Kind: hal.Invalid, Op: "simloid: robot " + r.Agent.Name(), Err: errors.Join(faults...)}
}

// word reports whether name is one word of printable characters.
func word(name string) bool {
	token, rest := cut([]byte(name))
	return len(token) > 0 && len(token) == len(name) && len(rest) == 0
}
