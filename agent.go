package halyard

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
)

// Command is one command of a joint. The zero Command is of no mode.
type Command struct {
	mode  hal.Mode
	value float64
	limit float64 // N·m; NaN = unchanged
	gains [3]float64
	given bool
}

func command(mode hal.Mode, value float64) Command {
	nan := math.NaN()
	return Command{mode, value, nan, [3]float64{nan, nan, nan}, true}
}

// Position commands an angle, rad (m for a slide), within the guard's slew.
func Position(rad float64) Command { return command(hal.PositionMode, rad) }

// Velocity turns at rad/s (m/s for a slide).
func Velocity(radPerSecond float64) Command { return command(hal.VelocityMode, radPerSecond) }

// Torque pushes with N·m (N for a slide).
func Torque(newtonMetres float64) Command { return command(hal.TorqueMode, newtonMetres) }

// Duty drives with a share of the supply voltage, -1..1.
func Duty(share float64) Command { return command(hal.DutyMode, share) }

// WithTorqueLimit is c with a bound of the torque, N·m, at least 0.
func (c Command) WithTorqueLimit(newtonMetres float64) Command {
	c.limit = newtonMetres
	return c
}

// WithGains is c with the gains of the joint's position control, of which NaN keeps its value: kp, N·m/rad, ki,
// N·m/(rad·s), and kd, N·m·s/rad (N in place of N·m and m in place of rad for a slide). The guard moves them there
// across their range in a second at most. A robot has these inputs where its config says `gains: true`.
func (c Command) WithGains(kp, ki, kd float64) Command {
	c.gains = [3]float64{kp, ki, kd}
	return c
}

// JointState is the feedback of one joint. Values that the joint does not measure are NaN.
type JointState struct {
	Position    float64        // rad; m for a slide
	Velocity    float64        // rad/s; m/s for a slide
	Torque      float64        // N·m; N for a slide
	Voltage     float64        // V
	Temperature float64        // °C
	Guard       hal.GuardState // whether commands reach it
	Err         error          // its fault; nil without a fault
}

// Agent is one robot of a System.
type Agent struct {
	system *System
	agent  *hal.Agent

	mu     sync.Mutex
	lease  *hal.Lease
	inputs []float64

	commanded bool // inputs hold a command

	measured []float64
	status   []hal.Status
}

// Name is the agent's name in the config.
func (a *Agent) Name() string { return a.agent.Name() }

// Layout lists the agent's joints, sensors and cameras, with units and ranges.
func (a *Agent) Layout() *hal.Layout { return a.agent.Layout() }

// Joints lists the names of the joints.
func (a *Agent) Joints() []string { return a.agent.Joints() }

// Command commands a joint. It takes effect in the next Step in lock-step, in the next cycle in real time; its deadline
// (guard.command_timeout) starts then. The first command acquires the agent's lease: the error is hal.Busy while a
// client of a server holds it, and hal.Invalid if the joint or the mode does not exist.
func (a *Agent) Command(joint string, c Command) error {
	i, err := a.joint("command "+joint, joint)
	if err != nil {
		return err
	}
	act := &a.agent.Layout().Actuators[i]
	if !c.given || act.Goal[c.mode] == hal.None {
		return a.fault("command "+joint, "got mode %v, want a mode of the joint", c.mode)
	}
	if !math.IsNaN(c.limit) && act.TorqueLimit == hal.None {
		return a.fault("command "+joint, "got a torque limit, want none: the joint has no such input")
	}
	for k, v := range c.gains {
		if !math.IsNaN(v) && (k >= len(act.Gains) || act.Gains[k].Input == hal.None) {
			return a.fault("command "+joint, "got %v, want none: the joint has no such input", hal.Gain(k).Quantity())
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.acquire(); err != nil {
		return err
	}
	for _, at := range act.Goal { // the last command of a step counts, in any mode
		if at != hal.None {
			a.inputs[at] = math.NaN()
		}
	}
	a.inputs[act.Goal[c.mode]], a.commanded = c.value, true
	if !math.IsNaN(c.limit) {
		a.inputs[act.TorqueLimit] = c.limit
	}
	for k, v := range c.gains {
		if !math.IsNaN(v) {
			a.inputs[act.Gains[k].Input] = v
		}
	}
	if a.system.sys.Rig.Mode() == hal.Realtime {
		return a.send()
	}
	return nil
}

// State returns the feedback of a joint in the last cycle; all values are NaN for an unknown joint.
func (a *Agent) State(joint string) JointState {
	nan := math.NaN()
	s := JointState{nan, nan, nan, nan, nan, hal.Disarmed, nil}
	i, err := a.joint("state", joint)
	if err != nil {
		s.Err = err
		return s
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.measured, a.status = a.agent.Measured(a.measured), a.agent.Status(a.status)
	act := &a.agent.Layout().Actuators[i]
	s.Position, s.Velocity, s.Torque = a.value(act.Position), a.value(act.Velocity), a.value(act.Torque)
	s.Voltage, s.Temperature = a.value(act.Voltage), a.value(act.Temperature)
	s.Guard, s.Err = a.agent.JointState(i), a.status[i].Err
	return s
}

func (a *Agent) value(channel int) float64 {
	if channel == hal.None {
		return math.NaN()
	}
	return a.measured[channel]
}

// Hand moves a joint of a simulated or emulated robot from outside, as a person's hand would. The joint is at position
// (rad, m) with velocity (rad/s, m/s) at the end of the next cycle and is held there. NaN releases it. The error is
// hal.Absent for a real joint: move it by hand.
func (a *Agent) Hand(joint string, position, velocity float64) error {
	i, err := a.joint("hand "+joint, joint)
	if err != nil {
		return err
	}
	a.system.sys.Rig.BetweenCycles(func() {
		body := a.system.sys.Scene.Body(a.Name())
		if body == nil || a.system.sys.RealJoint(a.agent, i) {
			err = &hal.Error{Kind: hal.Absent, Op: a.Name() + ": hand " + joint,
				Err: errors.New("got a real joint, want a simulated or emulated one: move it by hand")}
			return
		}
		body.Hand(i, position, velocity)
	})
	return err
}

// Place says where a robot with pose_from: client is in the world, as motion capture measures it: position in m, a unit
// quaternion w, x, y, z. Its twin goes there in the time between two calls. The error is hal.Invalid for another robot.
func (a *Agent) Place(position [3]float64, rotation [4]float64) error {
	values := a.system.sys.Rig.Values()
	body := a.system.sys.Scene.Body(a.Name())
	if body == nil {
		return a.fault("place", "got a robot that is not in the scene")
	}
	m := body.Model()
	for name, v := range map[string]hal.Value{
		"Orientation": {Kind: hal.QuaternionValue, Vector: rotation},
		"Position":    {Kind: hal.VectorValue, Vector: [4]float64{position[0], position[1], position[2]}},
	} {
		id, ok := values.Lookup("/" + a.Name() + "/" + m.Bodies[m.Root()].Name + "/" + name)
		if !ok {
			return a.fault("place", "got a robot without pose values")
		}
		if err := values.Set(id, v); err != nil {
			return a.fault("place", "%w (try: pose_from: client)", err)
		}
	}
	return nil
}

// Fault plants a fault in the servo of a joint, to rehearse it: "stuck", "stale by=40ms", "slipped by=200 from=2s", as
// halyard emulate --fault without its target (docs/faults.md). "" ends all faults of the servo. Of a real servo stale,
// dropped, stuck and wrong falsify the readings; goals and stops pass. The error is hal.Invalid for an unknown fault,
// another one of a real servo, and a joint without a servo on a line.
func (a *Agent) Fault(joint, text string) (err error) {
	a.system.sys.Rig.BetweenCycles(func() { err = a.system.sys.Tamper(a.Name(), joint, text) })
	return err
}

// Sensor appends the values of a sensor in the last cycle to dst[:0] (hal.Sensor lists kinds and units), and reports
// their age and fault.
func (a *Agent) Sensor(name string, dst []float64) (values []float64, at time.Duration, err error) {
	l := a.agent.Layout()
	k := slices.IndexFunc(l.Sensors, func(s hal.Sensor) bool { return s.Name == name })
	if k < 0 {
		return dst[:0], 0, a.fault("sensor", "got %q, want a sensor of the robot", name)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.measured, a.status = a.agent.Measured(a.measured), a.agent.Status(a.status)
	s, st := &l.Sensors[k], a.status[len(l.Actuators)+k]
	return append(dst[:0], a.measured[s.First:s.First+s.Count]...), st.Time, st.Err
}

// Field is the magnetic field that the chip of an inertial sensor measures, T, corrected and in the axes of its mount
// as its calibration has it. false: the chip has no magnetometer, or has not measured yet.
func (a *Agent) Field(sensor string) (tesla [3]float64, ok bool) {
	sys := a.system.sys
	for p, poller := range sys.Pollers {
		if p.Kind.Field == 0 || sys.Plan.Agents[p.Agent].Config.Name != a.Name() ||
			!slices.ContainsFunc(p.Uses, func(u catalog.Use) bool { return u.Sensor == sensor }) {
			continue
		}
		age, err := poller.Latest(tesla[:], p.Kind.Field)
		return tesla, err == nil && age >= 0 && !math.IsNaN(tesla[0])
	}
	return tesla, false
}

// Release releases the agent's lease, so that another client may command it. Its body holds.
func (a *Agent) Release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lease != nil {
		a.system.session.Release(a.lease)
		a.lease = nil
	}
}

// joint is the index of the joint called name; op is the operation that an error names.
func (a *Agent) joint(op, name string) (int, error) {
	i := a.agent.Layout().Actuator(name)
	if i == hal.None {
		return i, a.fault(op, "got joint %q, want one of %s", name, strings.Join(a.Joints(), ", "))
	}
	return i, nil
}

func (a *Agent) fault(op, format string, args ...any) error {
	return &hal.Error{Kind: hal.Invalid, Op: a.Name() + ": " + op, Err: fmt.Errorf(format, args...)}
}

// acquire acquires the lease. Under the lock.
func (a *Agent) acquire() (err error) {
	if a.lease != nil && a.lease.Agent() != nil {
		return nil
	}
	a.lease, err = a.system.session.Acquire(a.agent)
	return err
}

// send passes the commands to the rig and clears them: the guard holds the last one of each joint. Under the lock.
func (a *Agent) send() error {
	if !a.commanded { // without a command the deadline keeps running
		return a.system.session.Step(a.lease, nil)
	}
	err := a.system.session.Step(a.lease, a.inputs)
	a.commanded = false
	for i := range a.inputs {
		a.inputs[i] = math.NaN()
	}
	return err
}

// agents holds the agents that the program has requested.
type agents struct {
	mu   sync.Mutex
	list []*Agent
}

// of is the Agent of a, nil of nil.
func (s *agents) of(sys *System, a *hal.Agent) *Agent {
	if a == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.list {
		if known.agent == a {
			return known
		}
	}
	n := &Agent{system: sys, agent: a, inputs: slices.Repeat([]float64{math.NaN()}, len(a.Layout().Inputs))}
	s.list = append(s.list, n)
	return n
}

func (s *agents) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = slices.DeleteFunc(s.list, func(a *Agent) bool { return a.Name() == name })
}

// ask requests the step of every agent whose lease the program holds; the last request runs the cycle. asked is false
// if it holds no lease.
func (s *agents) ask(session *hal.Session) (asked bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.list {
		a.mu.Lock()
		if a.lease != nil && a.lease.Agent() != nil {
			asked, err = true, a.send()
		}
		a.mu.Unlock()
		if err != nil {
			return asked, err
		}
	}
	return asked, nil
}
