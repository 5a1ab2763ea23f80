// Package player serves Player 3 for one robot of a system.
package player

import (
	"io"
	"math"
	"net/netip"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/protocols/player"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/sim/model"
)

// Protocols is the row of Player.
func Protocols() map[string]*catalog.Protocol {
	return map[string]*catalog.Protocol{"player": {Listen: open}}
}

// open opens a Player server for an agent.
func open(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	sys := h.(*assembly.System)
	agent := sys.Rig.Agent(s.Agent)
	shared, err := sys.Share("player/"+agent.Name(), func() (io.Closer, error) { return newSharedRobot(sys, agent) })
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	ln, bound, err := protocols.ListenTCP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	srv, err := player.NewServer(sys.Rig, ln, shared.(*sharedRobot).Robot,
		player.Options{MaxConnections: s.MaxClients, ClientTimeout: s.ClientTimeout, Log: sys.Log})
	if err != nil {
		ln.Close()
		return nil, netip.AddrPort{}, err
	}
	return srv, bound, nil
}

// sharedRobot is what all servers of one agent share.
type sharedRobot struct{ *player.Robot }

// Close has nothing to close: readers of tags end with the system.
func (sharedRobot) Close() error { return nil }

func newSharedRobot(sys *assembly.System, agent *hal.Agent) (*sharedRobot, error) {
	robot := &player.Robot{Agent: agent}
	for i := range sys.Plan.Agents {
		p := &sys.Plan.Agents[i]
		if p.Config.Name != agent.Name() {
			continue
		}
		if p.Robot != nil {
			robot = Describe(agent, p.Robot)
		}
		if err := addDevices(sys, i, robot); err != nil {
			return nil, err
		}
	}
	if sight, err := sys.Sight(agent); err == nil {
		robot.Cameras = sight
	}
	if agent.BodyKind() != hal.Real {
		robot.Placer = sys.Scene
	}
	return &sharedRobot{robot}, nil
}

// Describe is agent, a body made of m, as Player's devices.
func Describe(agent *hal.Agent, m *model.Robot) *player.Robot {
	r := &player.Robot{Agent: agent, Scanners: map[int]float64{}, Periods: map[int]float64{},
		Buttons: map[int]float64{}}
	l := agent.Layout()
	for i := range l.Sensors {
		for k := range m.Sensors {
			have := &m.Sensors[k]
			if have.Name != l.Sensors[i].Name || have.Device == nil {
				continue
			}
			r.Buttons[i] = have.Device.Diameter
			if have.Device.FOV > 0 {
				r.Scanners[i] = have.Device.FOV
			}
			if agent.BodyKind() == hal.Simulated { // a device has its own rate
				r.Periods[i] = have.Device.Interval
			}
		}
	}
	r.Drive = m.Drive
	if k := m.Rescue; k != nil {
		r.Size = k.Size
		for i := range k.Packages {
			if p := &k.Packages[i]; strings.EqualFold(p.Type, "PanTilt") {
				r.PTZs = append(r.PTZs, panTilt(m, p))
			}
		}
	}
	for i := range l.Actuators {
		if a := &l.Actuators[i]; strings.Contains(strings.ToLower(a.Name), "gripper") &&
			a.Goal[hal.PositionMode] != hal.None {
			r.Gripper = &player.Gripper{Actuator: i, Open: a.Limits.MaxPosition, Closed: a.Limits.MinPosition}
		}
	}
	r.Limb = limbOf(m, r.Gripper)
	for i := range m.Joints {
		link := player.Link{Anchor: m.Joints[i].Anchor}
		for k, a := range m.Joints[i].Axis {
			link.Axis[k] = a * m.Joints[i].Sign
		}
		r.Links = append(r.Links, link)
	}
	return r
}

// panTilt is a mission package whose joints turn a camera: about z to the left, about y down.
func panTilt(m *model.Robot, p *model.MissionPackage) player.PTZ {
	out := player.PTZ{Pan: hal.None, Tilt: hal.None}
	for n, i := range p.Joints {
		j := &m.Joints[i]
		if n == 0 {
			out.Mount = m.Bodies[j.Parent].Pose.Inverse().Times(m.Bodies[j.Child].Pose)
		}
		if math.Abs(j.Axis[2]) > 0.5 {
			out.Pan, out.PanReversed = i, j.Axis[2]*j.Sign < 0
		} else {
			out.Tilt, out.TiltReversed = i, j.Axis[1]*j.Sign > 0
		}
	}
	for i := range m.Cameras {
		if m.Cameras[i].Package == p.Name {
			out.FieldOfView = m.Cameras[i].FOV
		}
	}
	return out
}

// limbOf is the joints of a robot whose hinges and slides make one row from a base, but for its gripper; nil of any
// other.
func limbOf(m *model.Robot, gripper *player.Gripper) *player.Arm {
	var joints []int
	for i := range m.Joints {
		if gripper == nil || i != gripper.Actuator {
			joints = append(joints, i)
		}
	}
	const least = 3 // joints; fewer make a pan-tilt head or a lever
	if len(joints) < least || m.Rescue != nil {
		return nil
	}
	var tree kinematics.Tree
	var limits [][2]float64
	arm := &player.Arm{Joints: joints}
	for n, i := range joints {
		j := &m.Joints[i]
		if j.Wraps || j.Child == hal.None || n > 0 && j.Parent != m.Joints[joints[n-1]].Child {
			return nil
		}
		tree = append(tree, kinematics.Link{Name: m.Bodies[j.Child].Name, Parent: n - 1, Home: m.Bodies[j.Child].Pose,
			Joint: n, Slide: j.Kind == model.Slide, Anchor: j.Anchor, Axis: j.Axis, Times: j.Sign})
		limits = append(limits, j.Limits)
	}
	tree[0].Parent = hal.None
	var err error
	if arm.Solver, err = kinematics.NewArm(tree, limits); err != nil {
		return nil
	}
	return arm
}
