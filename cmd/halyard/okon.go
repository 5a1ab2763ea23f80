package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/autopilot"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/okon"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// okonShared is what all of Okon's servers of one agent share: its autopilot, its course and its pictures.
type okonShared struct {
	agent string
	robot okon.Robot
}

// helm returns that of an agent, which is made when its first server opens.
func (sys *system) helm(agent *hal.Agent) (*okon.Robot, error) {
	for i := range sys.helms {
		if h := sys.helms[i]; h.agent == agent.Name() {
			return &h.robot, nil
		}
	}
	h := &okonShared{agent: agent.Name(), robot: okon.Robot{Agent: agent}}
	var vehicle *sim.Vehicle // nil where the body is real: what is simulated of it is not where it is
	if agent.BodyKind() != hal.Real {
		vehicle = sys.scene.Vehicle(agent.Name())
	}
	var err error
	if h.robot.Pilot, err = autopilot.New(agent.Layout(), sys.pilotConfig(agent)); err != nil {
		return nil, err
	}
	if vehicle != nil {
		h.robot.Course, h.robot.Placer = course{vehicle}, sys.scene
		vehicle.Tell(sys.rig.Events())
	}
	if s, err := sys.sight(agent); err == nil {
		if views := s.views(agent.Layout()); views.Colour != hal.None || views.Depth != hal.None {
			h.robot.Pictures = okon.NewPictures(s, views, okon.PictureOptions{})
		}
	}
	sys.helms = append(sys.helms, h)
	return &h.robot, nil
}

// views are the cameras that the protocol asks for. What has no device is asked for in vain: the answer is the document's
// error packet.
func (s *sight) views(l *hal.Layout) okon.Views {
	v := okon.FindViews(l)
	for _, at := range []*int{&v.Colour, &v.Depth} {
		if !s.sees(*at) {
			*at = hal.None
		}
	}
	v.Detector = s.detector(v.Detector)
	return v
}

// pilotConfig is how the laws fly an agent: Okon's as they are, another vehicle by its own thrusters.
func (sys *system) pilotConfig(agent *hal.Agent) autopilot.Config {
	c := autopilot.Config{PascalPerMetre: pascalPerMetre}
	if w := sys.scene.Water(); w != nil && agent.BodyKind() != hal.Real {
		g := sys.scene.Gravity()
		if p := w.Density * math.Sqrt(g[0]*g[0]+g[1]*g[1]+g[2]*g[2]); p > 0 {
			c.PascalPerMetre = p
		}
	}
	for i := range sys.plan.agents {
		p := &sys.plan.agents[i]
		if p.config.Name != agent.Name() {
			continue
		}
		if agent.BodyKind() == hal.Real {
			c.PascalPerMetre = p.pascalPerMetre()
		}
		if p.vehicle != nil && p.vehicle.Name != "okon" {
			m, t := mixerOf(p.vehicle, p.layout), strongTuning()
			c.Mixer, c.Tuning = &m, &t
		}
	}
	return c
}

// newOkon opens the control channel, or the video channel, of an agent.
func (sys *system) newOkon(s *configs.Server, agent *hal.Agent, at netip.AddrPort) (server, netip.AddrPort, error) {
	robot, err := sys.helm(agent)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	original := s.Dialect == "original"
	o := okon.Options{RawHits: original, AngularAccel: original, BareIDs: original, Teleport: s.Teleport,
		ClientTimeout: s.ClientTimeout, MaxClients: s.MaxClients, Log: sys.log}
	ln, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	bound := protocols.Plain(ln.Addr().(*net.TCPAddr).AddrPort())
	if s.Protocol == "okon-video" {
		return okon.NewVideoServer(ln, robot.Pictures, o), bound, nil
	}
	srv, err := okon.NewServer(sys.rig, ln, robot, o)
	if err != nil {
		return nil, netip.AddrPort{}, errors.Join(err, ln.Close())
	}
	return srv, bound, nil
}

// closeHelms ends the pictures of all of Okon's servers, which have ended before.
func (sys *system) closeHelms() {
	for _, h := range sys.helms {
		if h.robot.Pictures != nil {
			h.robot.Pictures.Close()
		}
	}
}

// checkOkon finds servers of Okon's protocol whose robot has no thrusters, and two that would both steer one.
func (r *resolver) checkOkon(p *plan) {
	seen := map[string]int{}
	for i, s := range r.config.Servers {
		if s.Protocol != "okon" && s.Protocol != "okon-video" {
			continue
		}
		at := configs.Path("servers").Index(i)
		for k := range p.agents {
			a := &p.agents[k]
			if a.config.Name != s.Agent || a.layout == nil {
				continue
			}
			if n := len(autopilot.OkonThrusters()); !afloat(a.layout) || len(a.layout.Actuators) != n {
				r.fault(at.Key("agent"), s.Agent+", which is "+a.config.Model, fmt.Sprintf("an underwater vehicle with %d thrusters", n), "")
			}
		}
		if s.Protocol != "okon" {
			continue
		}
		if first, twice := seen[s.Agent]; twice {
			r.fault(at.Key("agent"), s.Agent, "one server of okon a robot", fmt.Sprintf("servers[%d] has it too; any number of clients may share one", first))
		}
		seen[s.Agent] = i
	}
}

// course is the scene's course in the protocol's words.
type course struct{ vehicle *sim.Vehicle }

func (c course) Checkpoints(dst []okon.Checkpoint) []okon.Checkpoint {
	dst = dst[:0]
	c.vehicle.Zones(func(z sim.Zone) {
		if z.Kind == model.Checkpoint {
			dst = append(dst, okon.Checkpoint{ID: z.ID, Reached: z.Reached})
		}
	})
	return dst
}

func (c course) ActionPoints(dst []okon.ActionPoint) []okon.ActionPoint {
	dst = dst[:0]
	c.vehicle.Zones(func(z sim.Zone) {
		if z.Kind == model.Action {
			dst = append(dst, okon.ActionPoint{ID: z.ID, Active: z.Inside})
		}
	})
	return dst
}

func (c course) Hits(dst []okon.Hit) []okon.Hit {
	dst = dst[:0]
	c.vehicle.Zones(func(z sim.Zone) {
		if z.Entered && (z.Kind == model.NoGo || z.Kind == model.Finish) {
			dst = append(dst, okon.Hit{Finish: z.Kind == model.Finish, ID: z.ID})
		}
	})
	return dst
}

func (c course) Restart() error { return c.vehicle.Restart() }
func (c course) Clear()         { c.vehicle.Clear() }
