package okon

import (
	"errors"
	"io"
	"net/netip"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/okon"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// sharedRobot is what all servers of one agent share: its autopilot, its course and its pictures.
type sharedRobot struct{ robot okon.Robot }

// Close ends the pictures of the servers, which have ended before.
func (h *sharedRobot) Close() error {
	if h.robot.Pictures != nil {
		h.robot.Pictures.Close()
	}
	return nil
}

// robotOf returns the robot of an agent, which is made when its first server opens and ends with the system.
func robotOf(sys *assembly.System, agent *hal.Agent) (*okon.Robot, error) {
	h, err := sys.Share("okon/"+agent.Name(), func() (io.Closer, error) { return newSharedRobot(sys, agent) })
	if err != nil {
		return nil, err
	}
	return &h.(*sharedRobot).robot, nil
}

func newSharedRobot(sys *assembly.System, agent *hal.Agent) (*sharedRobot, error) {
	h := &sharedRobot{robot: okon.Robot{Agent: agent}}
	var vehicle *sim.Vehicle // nil where the body is real: what is simulated of it is not where it is
	if agent.BodyKind() != hal.Real {
		vehicle = sys.Scene.Vehicle(agent.Name())
	}
	var err error
	if h.robot.Pilot, err = sys.Pilot(agent); err != nil {
		return nil, err
	}
	if vehicle != nil {
		h.robot.Course, h.robot.Placer = course{vehicle}, sys.Scene
		vehicle.RaiseZoneEvents(sys.Rig.Events())
	}
	if s, err := sys.Sight(agent); err == nil {
		if views := ViewsOf(s, agent.Layout()); views.Colour != hal.None || views.Depth != hal.None {
			h.robot.Pictures = okon.NewPictures(s, views, okon.PictureOptions{Contain: sys.Rig.Contain})
		}
	}
	return h, nil
}

// ViewsOf are the cameras that the protocol asks for. What has no device is asked for in vain: the answer is the
// document's error packet.
func ViewsOf(s *assembly.Sight, l *hal.Layout) okon.Views {
	v := okon.FindViews(l)
	for _, at := range []*int{&v.Colour, &v.Depth} {
		if !s.Sees(*at) {
			*at = hal.None
		}
	}
	v.Detector = s.Detector(v.Detector)
	return v
}

// openOkon opens the control channel, or the video channel, of an agent.
func openOkon(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	sys := h.(*assembly.System)
	agent := sys.Rig.Agent(s.Agent)
	robot, err := robotOf(sys, agent)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	original := s.Dialect == "original"
	o := okon.Options{RawHits: original, AngularAccel: original, BareIDs: original, Teleport: s.Teleport,
		ClientTimeout: s.ClientTimeout, MaxClients: s.MaxClients, Log: sys.Log}
	ln, bound, err := protocols.ListenTCP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	if s.Protocol == "okon-video" {
		return okon.NewVideoServer(ln, robot.Pictures, o), bound, nil
	}
	srv, err := okon.NewServer(sys.Rig, ln, robot, o)
	if err != nil {
		return nil, netip.AddrPort{}, errors.Join(err, ln.Close())
	}
	return srv, bound, nil
}

// course is the scene's course in the protocol's words.
type course struct{ vehicle *sim.Vehicle }

func (c course) Checkpoints(dst []okon.Checkpoint) []okon.Checkpoint {
	return zones(c, dst, func(z sim.Zone) (okon.Checkpoint, bool) {
		return okon.Checkpoint{ID: z.ID, Reached: z.Reached}, z.Kind == model.Checkpoint
	})
}

func (c course) ActionPoints(dst []okon.ActionPoint) []okon.ActionPoint {
	return zones(c, dst, func(z sim.Zone) (okon.ActionPoint, bool) {
		return okon.ActionPoint{ID: z.ID, Active: z.Inside}, z.Kind == model.Action
	})
}

func (c course) Hits(dst []okon.Hit) []okon.Hit {
	return zones(c, dst, func(z sim.Zone) (okon.Hit, bool) {
		finish := z.Kind == model.Finish
		return okon.Hit{Finish: finish, ID: z.ID}, z.Entered && (finish || z.Kind == model.NoGo)
	})
}

// zones returns those of the course's zones that of wants, in the memory of dst.
func zones[T any](c course, dst []T, of func(sim.Zone) (v T, want bool)) []T {
	dst = dst[:0]
	c.vehicle.Zones(func(z sim.Zone) {
		if v, want := of(z); want {
			dst = append(dst, v)
		}
	})
	return dst
}

func (c course) Restart() error { return c.vehicle.Restart() }

func (c course) Clear() { c.vehicle.Clear() }
