// Package moast runs MOAST's hierarchy for one robot of a system and serves its NML buffers.
package moast

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/protocols/moast"
	"github.com/halyard-robotics/halyard/internal/protocols/moast/echelon"
	"github.com/halyard-robotics/halyard/internal/protocols/nml"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Protocols is the row of NML.
func Protocols() map[string]*catalog.Protocol {
	return map[string]*catalog.Protocol{"nml": {Single: true, Check: check, Listen: open}}
}

// check refuses robots that MOAST cannot drive.
func check(s *catalog.ServedAgent) {
	if steering(s.Robot) == moast.InvalidSteer {
		s.Fault("agent", s.Agent+", which is "+s.Model, "a robot with wheels on two sides, or an omnidirectional one")
	}
}

// ParseLevels reads names of levels, with commas between; "" is all.
func ParseLevels(text string) (levels []echelon.Level, err error) {
	if text == "" {
		return nil, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		l, err := echelon.ParseLevel(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		levels = append(levels, l)
	}
	return levels, nil
}

// server is a hierarchy and the server of its buffers.
type server struct {
	hierarchy *echelon.Hierarchy
	nml       *nml.Server
	vehicle   *vehicle
}

// Serve runs both until ctx ends or one breaks.
func (s *server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ran := make(chan error, 1)
	go func() {
		defer cancel()
		err := errors.New("the hierarchy panicked")
		defer func() { ran <- err }()
		defer s.vehicle.rig.Contain("moast hierarchy")
		err = s.hierarchy.Run(ctx)
	}()
	served := s.nml.Serve(ctx)
	cancel()
	defer s.vehicle.session.Close()
	return errors.Join(served, <-ran)
}

// open opens the buffers of an agent's hierarchy.
func open(h catalog.Host, s *configs.Server, at netip.AddrPort) (_ catalog.Server, _ netip.AddrPort, err error) {
	sys := h.(*assembly.System)
	levels, err := ParseLevels(s.Levels)
	if err != nil {
		return nil, netip.AddrPort{}, fmt.Errorf("servers: levels: %w", err)
	}
	agent := sys.Rig.Agent(s.Agent)
	var robot *model.Robot
	if p := sys.Plan.Agent(agent.Name()); p != nil {
		robot = p.Robot
	}
	fleet, err := sys.Share("moast", func() (io.Closer, error) { return &sharedFleet{}, nil })
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	v := newVehicle(sys.Rig, agent, robot, s)
	defer func() {
		if err != nil {
			v.session.Close()
		}
	}()
	if agent.BodyKind() != hal.Real {
		v.body, v.placer = sys.Scene.Body(agent.Name()), sys.Scene
		if v.body != nil && robot.Rescue.Headlight {
			v.light = v.body
		}
	}
	if light := sys.Light(agent.Name(), "headlight"); light != nil {
		v.light = light
	}
	hierarchy, err := echelon.New(v, options(s, number(sys.Plan.Config, s.Agent), levels, &fleet.(*sharedFleet).Fleet))
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	ln, bound, err := protocols.ListenTCP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	srv, err := nml.NewServer(ln, hierarchy.Buffers(), nml.Options{Log: sys.Log, Contain: sys.Rig.Contain})
	if err != nil {
		return nil, netip.AddrPort{}, errors.Join(err, ln.Close())
	}
	return &server{hierarchy, srv, v}, bound, nil
}

// encoding is an encoding by its name; packed if absent.
func encoding(name string) nml.Encoding {
	for _, e := range []nml.Encoding{nml.XDR, nml.Disp} {
		if e.String() == name {
			return e
		}
	}
	return nml.Packed
}

// sharedFleet is the vehicles of a system.
type sharedFleet struct{ echelon.Fleet }

// Close has nothing to close: each vehicle ends with its server.
func (*sharedFleet) Close() error { return nil }

// number is the vehicle's: the place of its agent's server among those of NML, from 1.
func number(c *configs.Config, agent string) (n int) {
	for _, s := range c.Servers {
		if s.Protocol == "nml" {
			n++
			if s.Agent == agent {
				return n
			}
		}
	}
	return 1
}

func options(s *configs.Server, id int, levels []echelon.Level, fleet *echelon.Fleet) echelon.Options {
	return echelon.Options{ID: id, Levels: levels, Encoding: encoding(s.Encoding), Fleet: fleet,
		Cycle: s.ServoCycle.Seconds(), Silence: s.ClientTimeout.Seconds()}
}

// Buffers is the configuration of the buffers that the nml servers of a plan will serve on host, where each one
// listens; it opens nothing.
func Buffers(p *plan.Plan, host string) (*nml.Config, error) {
	var all []*echelon.Hierarchy
	var ports []int
	fleet := &echelon.Fleet{}
	for k := range p.Config.Servers {
		s := &p.Config.Servers[k]
		at, err := netip.ParseAddrPort(s.Listen)
		if s.Protocol != "nml" || err != nil {
			continue
		}
		for i := range p.Agents {
			a := &p.Agents[i]
			if a.Config.Name != s.Agent {
				continue
			}
			h, err := still(a, s, number(p.Config, s.Agent), fleet)
			if err != nil {
				return nil, err
			}
			all, ports = append(all, h), append(ports, int(at.Port()))
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("servers: no server with protocol nml")
	}
	return echelon.Config(host, func(i int) int { return ports[i] }, all...), nil
}

// still is the hierarchy of an agent that does not run.
func still(a *plan.AgentPlan, s *configs.Server, id int, fleet *echelon.Fleet) (*echelon.Hierarchy, error) {
	levels, err := ParseLevels(s.Levels)
	if err != nil {
		return nil, err
	}
	rig, err := hal.New(hal.Config{Name: "buffers", Period: time.Millisecond})
	if err != nil {
		return nil, err
	}
	agent, err := rig.Add(hal.AgentConfig{Name: a.Config.Name, Body: &inert{a.Layout}, World: hal.PhysicalWorld{},
		BodyKind: hal.Simulated})
	if err != nil {
		return nil, err
	}
	return echelon.New(newVehicle(rig, agent, a.Robot, s), options(s, id, levels, fleet))
}

// inert is a body with only a layout.
type inert struct{ layout *hal.Layout }

func (b *inert) Layout() *hal.Layout    { return b.layout }
func (b *inert) Write(*hal.Frame) error { return nil }
func (b *inert) Read(*hal.Frame) error  { return nil }
func (b *inert) Halt() error            { return nil }
