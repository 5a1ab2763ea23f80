package simloid

import (
	"math"
	"net/netip"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/simloid"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// What the protocol of Simloid must know of a robot and its world, and may not look up itself.

// openSimloid opens a Simloid server for an agent.
func openSimloid(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	sys := h.(*assembly.System)
	agent := sys.Rig.Agent(s.Agent)
	p := sys.Plan.Agent(agent.Name())
	ln, bound, err := protocols.ListenTCP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	dialect := simloid.Document
	if s.Dialect == simloid.Later.String() {
		dialect = simloid.Later
	}
	srv, err := simloid.NewServer(sys.Rig, ln, simloidRobot(sys, p, agent, p.Robot), simloid.Options{
		Dialect: dialect, Exact: !s.Noise, Seed: sys.Plan.Config.World.Seed, Continue: s.KeepState,
		Once: s.Once, Poll: s.Poll, Weightless: sys.Plan.Config.World.Gravity == 0, StartTorque: value(s.StartTorque),
		AckTimeout: s.AckTimeout, ClientTimeout: s.ClientTimeout, Log: sys.Log})
	if err != nil {
		ln.Close()
		return nil, netip.AddrPort{}, err
	}
	return srv, bound, nil
}

// simloidRobot is agent, a body made of m, with its world.
func simloidRobot(sys *assembly.System, p *plan.AgentPlan, agent *hal.Agent, m *model.Robot) *simloid.Robot {
	r := DescribeSimloid(agent, m)
	if agent.BodyKind() == hal.Real {
		return r
	}
	r.World = simloid.World{Scene: sys.Scene, Gravity: sys.Scene, Pusher: sys.Scene, Clock: sys.Scene, Fixer: sys.Scene}
	if agent.BodyKind() == hal.Simulated {
		r.World.Motors = sys.Scene
		r.World.Model = func(id int, _ []float64) (*simloid.Robot, error) { return remodel(sys, p, id) }
	}
	return r
}

// DescribeSimloid describes agent to the protocol. Its layout knows no partners, no stops and, of the original's
// robots, not the names, of which one has the same for four joints.
func DescribeSimloid(agent *hal.Agent, m *model.Robot) *simloid.Robot {
	r := simloid.Describe(agent)
	r.Text = m.Title
	var hinges []int // the protocol's joints, by the robot's
	for i := range m.Joints {
		if m.Joints[i].Kind == model.Hinge {
			hinges = append(hinges, i)
		}
	}
	for i, k := range hinges {
		from, to := &m.Joints[k], &r.Traits.Joints[i]
		if at := slices.Index(hinges, from.Partner); at >= 0 {
			to.Partner, to.Mirrored = at, from.Mirrors
		}
		if m.Simloid != hal.None && from.Path != "" {
			to.Name = from.Path
		}
		to.Low, to.High = -1, 1
		switch {
		case from.Wraps:
		case from.Stops[0] < from.Stops[1]:
			to.Low, to.High = from.Stops[0]/math.Pi, from.Stops[1]/math.Pi
		default: // the limits of a servo's goal
			to.Low, to.High = from.Limits[0]/math.Pi, from.Limits[1]/math.Pi
		}
	}
	return r
}

// remodel replaces the robot of an agent without a lease by the original's robot id. A trial scene adds it before the
// old robot is removed.
func remodel(sys *assembly.System, p *plan.AgentPlan, id int) (*simloid.Robot, error) {
	m, err := model.LoadSimloid(id)
	if err != nil {
		return nil, err
	}
	name, pose := p.Config.Name, plan.PoseOf(p.Config.Pose)
	trial, err := plan.NewScene(sys.Plan)
	if err != nil {
		return nil, err
	}
	if _, err := trial.Add(name, m, pose); err != nil {
		return nil, err
	}
	if err := sys.Rig.Remove(name); err != nil {
		return nil, err
	}
	var body *sim.Body
	sys.Rig.BetweenCycles(func() {
		if err = sys.Scene.Remove(name); err == nil {
			body, err = sys.Scene.Add(name, m, pose)
		}
	})
	if err != nil {
		return nil, err
	}
	changed := *p
	changed.Robot = m
	agent, err := sys.Rig.Add(changed.Agent(body, sys.Scene, hal.Simulated))
	if err != nil {
		return nil, err
	}
	sys.ObserveRobot(body)
	return simloidRobot(sys, &changed, agent, m), nil
}

// value is *v, 0 for nil.
func value(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
