// Package bridges serves the protocols of ROS tools and viewers for one robot of a system.
package bridges

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/protocols/foxglove"
	"github.com/halyard-robotics/halyard/internal/protocols/ros2"
	"github.com/halyard-robotics/halyard/internal/protocols/rosbridge"
	"github.com/halyard-robotics/halyard/internal/protocols/rtps"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Protocols are the rows of rosbridge, Foxglove and ROS 2.
func Protocols() map[string]*catalog.Protocol {
	return map[string]*catalog.Protocol{"rosbridge": {Listen: openRosbridge}, "foxglove": {Listen: openFoxglove},
		"ros2": {Listen: openROS2, Datagram: true}}
}

// openROS2 opens a ROS 2 node at an interface's address; port 0 is a free one where other participants search.
func openROS2(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	sys := h.(*assembly.System)
	o := rtps.UDPOptions{Domain: uint32(s.Domain), Address: at.Addr().Unmap(), Port: at.Port(),
		Contain: sys.Rig.Contain}
	for _, text := range s.Peers {
		peer, err := netip.ParseAddrPort(text)
		if err != nil {
			var host netip.Addr
			if host, err = netip.ParseAddr(text); err != nil || !host.Is4() {
				return nil, netip.AddrPort{}, fmt.Errorf(
					"ros2: peers: got %q, want an IPv4 address, or one with a port",
					text)
			}
			peer = netip.AddrPortFrom(host, 0)
		}
		o.Peers = append(o.Peers, peer)
	}
	network, err := rtps.ListenUDP(o)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	srv, err := ros2.NewServer(network, RobotOf(sys, s.Agent), ros2.Options{Domain: uint32(s.Domain),
		Namespace: s.Namespace, Partial: s.PartialGoals, Log: sys.Log})
	if err != nil {
		network.Close()
		return nil, netip.AddrPort{}, err
	}
	return srv, network.Addresses()[0], nil
}

func openFoxglove(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	sys := h.(*assembly.System)
	return open(at, func(ln net.Listener) (catalog.Server, error) {
		return foxglove.NewServer(ln, RobotOf(sys, s.Agent),
			foxglove.Options{MaxConnections: s.MaxClients, Origins: s.Origins, Log: sys.Log})
	})
}

func openRosbridge(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	sys := h.(*assembly.System)
	return open(at, func(ln net.Listener) (catalog.Server, error) {
		return rosbridge.NewServer(ln, RobotOf(sys, s.Agent),
			rosbridge.Options{MaxConnections: s.MaxClients, Origins: s.Origins, ROS1: s.ROS == 1, Log: sys.Log})
	})
}

// open listens, and closes the listener if the server refuses it.
func open(at netip.AddrPort, server func(net.Listener) (catalog.Server, error)) (catalog.Server, netip.AddrPort,
	error) {
	ln, bound, err := protocols.ListenTCP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	srv, err := server(ln)
	if err != nil {
		ln.Close()
		return nil, netip.AddrPort{}, err
	}
	return srv, bound, nil
}

// RobotOf is an agent of a system as topics.
func RobotOf(sys *assembly.System, name string) *topics.Robot {
	r := &topics.Robot{Rig: sys.Rig, Agent: sys.Rig.Agent(name)}
	if p := sys.Plan.Agent(name); p != nil && p.Robot != nil {
		Describe(r, p.Robot)
	}
	if sight, err := sys.Sight(r.Agent); err == nil {
		r.Cameras = sight
	}
	return r
}

// Describe fills in r from m, the model of its body.
func Describe(r *topics.Robot, m *model.Robot) {
	var places []int
	r.Tree, places = plan.TreeOf(m)
	r.SensorLinks, r.CameraLinks, r.Scanners = map[int]int{}, map[int]int{}, map[int]float64{}
	l := r.Agent.Layout()
	link := func(body int) int {
		if body == hal.None || body >= len(places) {
			return 0
		}
		return places[body]
	}
	for i := range l.Sensors {
		for k := range m.Sensors {
			if have := &m.Sensors[k]; have.Name == l.Sensors[i].Name && len(r.Tree) > 0 {
				r.SensorLinks[i] = link(have.Body)
				if have.Device != nil && have.Device.FOV > 0 {
					r.Scanners[i] = have.Device.FOV
				}
			}
		}
	}
	for i := range m.Bodies {
		for k, name := range m.Bodies[i].Merged {
			r.Welded = append(r.Welded, topics.Frame{Link: link(i), Name: name, Pose: m.Bodies[i].Frames[k]})
		}
	}
	for i := range l.Cameras {
		for k := range m.Cameras {
			if m.Cameras[k].Name == l.Cameras[i].Name && len(r.Tree) > 0 {
				r.CameraLinks[i] = link(m.Cameras[k].Body)
			}
		}
	}
	r.Drive = m.Drive
}
