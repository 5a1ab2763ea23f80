package assembly

import (
	"errors"
	"fmt"
	"log/slog"
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
	log    *slog.Logger
	events *hal.Events
	event  hal.EventID

	depth      float64 // m, of the contact in the last Advance
	own, other hal.Part
	told       float64 // the depth that was reported; 0 = none
	apart      int     // cycles without contact
}

const (
	// deeper is how much deeper a contact must become to stop a robot that an operator has armed in it.
	deeper = 0.005 // m
	// partedCycles without contact are the end of one.
	partedCycles = 10
)

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
	w := &watch{robot: robot, policy: g.VirtualContact, real: p.Config.Has(configs.Real), log: s.Log,
		events: s.Rig.Events()}
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

// look is hal.AgentConfig's Watch.
func (w *watch) look() (near []hal.Approach, stop string) {
	if w.fence != nil {
		near = w.fence()
	}
	if w.real {
		stop = w.touch()
	}
	return near, stop
}

// touch notes a virtual contact. It returns why the robot must hold still.
func (w *watch) touch() (stop string) {
	if w.depth, w.own, w.other = w.robot.VirtualContact(); w.depth <= 0 {
		if w.apart++; w.apart >= partedCycles {
			w.told = 0
		}
		return ""
	}
	w.apart = 0
	w.events.Raise(w.event)
	if w.told > 0 && w.depth < w.told+deeper {
		return ""
	}
	first := w.told == 0
	if w.told = w.depth; first {
		w.log.Warn("virtual contact: the real robot feels nothing of it", "robot", w.own.Agent, "body", w.own.Body,
			"with", partText(w.other, w.depth), "depth_m", w.depth)
	}
	if w.policy != "stop" {
		return ""
	}
	return fmt.Sprintf("virtual contact of %s with %s", w.own.Body, partText(w.other, w.depth))
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
