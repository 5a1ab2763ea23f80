package assembly

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim"
)

// watch compares a robot with what is simulated around it: contacts that a real robot does not feel, and things that it
// keeps away from. The rig calls it in each cycle.
type watch struct {
	robot  *sim.Body
	policy string // guard.virtual_contact
	fence  func() []hal.Approach
	real   bool
	lost   func() bool // the twin is not where the robot is; nil = it has none
	events *hal.Events
	event  hal.EventID

	depth float64  // m, of the contact in the last Advance
	other hal.Part // what is touched
	blind []hal.Approach
}

// agentConfig is the config of an agent with its watch.
func (s *System) agentConfig(p *plan.AgentPlan, body hal.Body, robot *sim.Body, reality hal.BodyKind) (
	hal.AgentConfig, *watch, error) {
	c, g := p.Agent(body, s.Scene, reality), &p.Config.Guard
	if robot == nil {
		if len(g.KeepOut) > 0 {
			return c, nil, &hal.Error{Kind: hal.Invalid, Op: "keep_out " + c.Name,
				Err: errors.New("got a robot that is not in the scene, want a robot with bodies")}
		}
		return c, nil, nil
	}
	w := &watch{robot: robot, policy: g.VirtualContact, real: p.Config.Has(configs.Real),
		events: s.Rig.Events(), blind: make([]hal.Approach, 1)}
	if t, ok := wrapped[interface {
		hal.Body
		Lost() bool
	}](body); ok {
		w.lost = t.Lost
	}
	s.couple(p, &c.Guard, robot, w.lost)
	if len(g.KeepOut) > 0 {
		var things []string
		var margins []float64
		for _, thing := range report.SortedKeys(g.KeepOut) {
			if m := g.KeepOut[thing]; !(m >= 0 && m <= 10) {
				return c, nil, &hal.Error{Kind: hal.Invalid, Op: "keep_out " + c.Name,
					Err: fmt.Errorf("margin of %s: got %g m, want 0..10", thing, m)}
			}
			things, margins = append(things, thing), append(margins, g.KeepOut[thing])
		}
		var err error
		if w.fence, err = robot.KeepOut(things, margins); err != nil {
			return c, nil, err
		}
	}
	if w.real = w.real && w.policy != "ignore"; w.real || w.fence != nil {
		c.Watch = w.look
	}
	return c, w, nil
}

// couple lets joints feel the load of their twins, by couple. lost is nil of a robot without a twin.
func (s *System) couple(p *plan.AgentPlan, c *hal.GuardConfig, robot *sim.Body, lost func() bool) {
	for _, name := range report.SortedKeys(p.Config.Couple) {
		i, of := p.Layout.Actuator(name), p.Config.Couple[name]
		c.Couple = append(c.Couple, struct {
			Actuator  int
			Gain, Max float64
			Load      func() (torque, position float64)
		}{i, of.Gain, of.Max, func() (torque, position float64) {
			if lost == nil || lost() {
				return math.NaN(), math.NaN()
			}
			return robot.Load(i)
		}})
	}
}

// declare declares what clients see of a watch.
func (w *watch) declare(name string, v *hal.Values) {
	if !w.real {
		return
	}
	w.event = w.events.Declare("/" + name + "/VirtualContact")
	v.Declare("/"+name+"/VirtualContact", hal.DoubleValue,
		func() hal.Value { return hal.Value{Kind: hal.DoubleValue, Double: w.depth} }, nil)
	v.Declare("/"+name+"/VirtualContact/Partner", hal.StringValue,
		func() hal.Value { return hal.Value{Kind: hal.StringValue, Text: partText(w.other, w.depth)} }, nil)
}

// look is hal.AgentConfig's Watch. Of a robot that is not where its twin is no motion keeps away from anything.
func (w *watch) look() (near []hal.Approach, told string, stop bool) {
	switch {
	case w.fence == nil:
	case w.lost != nil && w.lost():
		near = w.blind
	default:
		near = w.fence()
	}
	if w.real {
		told = w.touch()
	}
	return near, told, told != "" && w.policy == "stop"
}

// touch notes a virtual contact. It returns what is told of a new one, or of one that is much deeper.
func (w *watch) touch() (told string) {
	var own hal.Part
	var fresh bool
	if w.depth, own, w.other, fresh = w.robot.VirtualContact(); w.depth <= 0 {
		return ""
	}
	w.events.Raise(w.event)
	if !fresh {
		return ""
	}
	return fmt.Sprintf("virtual contact of %s with %s, %.1f mm", own.Body, partText(w.other, w.depth), 1000*w.depth)
}

// partText names what is touched; "" without a contact.
func partText(p hal.Part, depth float64) string {
	switch {
	case depth <= 0:
		return ""
	case p == hal.Part{}:
		return "the scene"
	case p.Agent == "":
		return p.Body
	}
	return p.Agent + "/" + p.Body
}

// placeIndex is the sensor by which the twin of agent i follows its frame, by pose_from; None = no sensor does.
func placeIndex(p *plan.AgentPlan, l *hal.Layout) (int, error) {
	isPose := func(s hal.Sensor) bool { return s.Kind == "pose" && s.Count == 13 }
	switch from := p.Config.PoseFrom; from {
	case "client":
		if p.Robot.Fixed {
			return hal.None, poseFrom(p, "want a robot that is not fixed")
		}
		return hal.None, nil
	case "odometry":
		if p.Base != nil && p.Base.Body == configs.Real {
			return slices.IndexFunc(l.Sensors, isPose), nil
		}
		return hal.None, nil
	default:
		at := slices.IndexFunc(l.Sensors, func(s hal.Sensor) bool { return s.Name == from && isPose(s) })
		if at == hal.None {
			return at, poseFrom(p, "want odometry, client or a sensor of kind pose")
		}
		return at, nil
	}
}

func poseFrom(p *plan.AgentPlan, want string) error {
	return &hal.Error{Kind: hal.Invalid, Op: "pose_from " + p.Config.Name,
		Err: fmt.Errorf("got %s, %s", p.Config.PoseFrom, want)}
}
