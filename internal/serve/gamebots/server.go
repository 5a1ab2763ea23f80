package gamebots

import (
	"maps"
	"math"
	"net/netip"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/protocols/imageserver"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
)

// openGamebots opens a Gamebots server for the rig's classes.
func openGamebots(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	sys := h.(*assembly.System)
	arena, err := sys.Scene.Arena()
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	ln, bound, err := protocols.ListenTCP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	spawner := sys.NewSpawner()
	g := gamebots.Arena{Level: arena.Arena.Level, Spawner: spawner,
		Describe: func(class string, a *hal.Agent) (*gamebots.Robot, error) {
			return describe(sys.Rig, spawner, class, a)
		}}
	g.Classes = slices.Sorted(maps.Keys(sys.Plan.Classes))
	for _, start := range arena.Course.Starts {
		g.Starts = append(g.Starts, gamebots.Start{Name: start.Name, Pose: start.Pose})
	}
	dialect, _ := gamebots.ParseDialect(s.Dialect) // auto begins as in the document
	srv := gamebots.NewServer(sys.Rig, ln, g, gamebots.Options{Dialect: dialect, Choose: s.Dialect == "auto",
		MaxConnections: s.MaxClients,
		ClientTimeout:  s.ClientTimeout, Log: sys.Log, Commands: map[string]gamebots.Command{"OMNIDRIVE": omnidrive}})
	return srv, bound, nil
}

// openImageServer opens an image server for the cameras of the rig's robots.
func openImageServer(h catalog.Host, s *configs.Server, at netip.AddrPort) (catalog.Server, netip.AddrPort, error) {
	sys := h.(*assembly.System)
	ln, bound, err := protocols.ListenTCP(at)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	format, err := imageserver.ParseFormat(s.Format)
	if err != nil {
		ln.Close()
		return nil, netip.AddrPort{}, err
	}
	o := imageserver.Options{Format: format, FrameRate: s.FrameRate, MaxClients: s.MaxClients, Log: sys.Log}
	if s.Width != nil {
		o.Width = *s.Width
	}
	if s.Height != nil {
		o.Height = *s.Height
	}
	return imageserver.NewServer(sys.Rig, ln, sys.FindCamera, o), bound, nil
}

// omnidrive follows the tutorial's own order (session 3): STRAIGHT and SIDE in m/s, ROT in rad/s to the right. Each
// wheel is at an angle around the platform, its axle pointing outwards.
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
