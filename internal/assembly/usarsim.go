package assembly

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/protocols/imageserver"
)

// newGamebots opens a Gamebots server for the rig's classes.
func (sys *System) newGamebots(s *configs.Server, at netip.AddrPort) (server, netip.AddrPort, error) {
	arena, err := sys.Scene.Arena()
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	ln, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	// The arena tells where to begin, the config who may come.
	yard := sys.NewYard()
	g := gamebots.Arena{Level: arena.Arena.Level, Spawner: yard, Describe: yard.describe}
	for class := range sys.Plan.Classes {
		g.Classes = append(g.Classes, class)
	}
	slices.Sort(g.Classes)
	for _, start := range arena.Course.Starts {
		g.Starts = append(g.Starts, gamebots.Start{Name: start.Name, Pose: start.Pose})
	}
	srv := gamebots.NewServer(sys.Rig, ln, g, gamebots.Options{Later: s.Dialect == "later", MaxConnections: s.MaxClients,
		ClientTimeout: s.ClientTimeout, Log: sys.log, Commands: map[string]gamebots.Command{"OMNIDRIVE": omnidrive}})
	return srv, protocols.Plain(ln.Addr().(*net.TCPAddr).AddrPort()), nil
}

// newImageServer opens an image server for the cameras of the rig's robots.
func (sys *System) newImageServer(s *configs.Server, at netip.AddrPort) (server, netip.AddrPort, error) {
	ln, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	format, err := imageserver.ParseFormat(s.Format)
	if err != nil {
		ln.Close()
		return nil, netip.AddrPort{}, err
	}
	srv := imageserver.NewServer(sys.Rig, ln, sys.FindCamera, imageserver.Options{Format: format,
		FrameRate: s.FrameRate, Width: s.Width, Height: s.Height, MaxClients: s.MaxClients, Log: sys.log})
	return srv, protocols.Plain(ln.Addr().(*net.TCPAddr).AddrPort()), nil
}

// FindCamera finds a camera by the names of the protocol, "" being the first.
func (sys *System) FindCamera(robot, name string) (w hal.CameraSource, index int, err error) {
	for _, agent := range sys.Rig.Agents() {
		if robot != "" && !strings.EqualFold(agent.Name(), robot) {
			continue
		}
		sight, err := sys.Sight(agent)
		if err != nil {
			continue
		}
		for i, c := range agent.Layout().Cameras {
			if sight.Sees(i) && (name == "" || strings.EqualFold(c.Name, name)) {
				return sight, i, nil
			}
		}
	}
	return nil, 0, &hal.Error{Kind: hal.Absent, Op: "camera", Err: fmt.Errorf("no camera %q of %q", name, robot)}
}

// omnidrive obeys the tutorial's own order (session 3): STRAIGHT and SIDE in m/s, ROT in rad/s to the right. Each wheel
// stands at an angle around the platform, its axle pointing outwards.
func omnidrive(c *gamebots.Control) error {
	const (
		radius = 0.05 // m, of the wheels
		arm    = 0.13 // m, from the middle to a wheel
	)
	// The wire has y to the right and turns to the right; the wheels' places are of the robot's own axes.
	straight, side, turn := c.Number("STRAIGHT", 0), -c.Number("SIDE", 0), -c.Number("ROT", 0)
	for i, wheel := range []string{"FWheel", "LeftRWheel", "RightRWheel"} {
		sin, cos := math.Sincos(float64(i) * 2 * math.Pi / 3)
		// Turning by w about the outward axle carries the wheel by radius w along (sin, -cos).
		w := (straight*sin - side*cos - turn*arm) / radius
		if err := c.Drive(wheel, gamebots.Speed, w); err != nil {
			return err
		}
	}
	return nil
}
