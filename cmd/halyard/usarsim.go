package main

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/protocols/imageserver"
	"github.com/halyard-robotics/halyard/sim/model"
)

// usarsimFlags are the command line of "halyard usarsim": short ways to say what --set and --listen can say too.
type usarsimFlags struct {
	arena string
	ini   []string
	port  int
	said  bool // of port, where 0 is any free one
	flags configFlags
}

func newUSARSim(a *app) *cobra.Command {
	var f usarsimFlags
	c := &cobra.Command{
		Use:   "usarsim [CONFIG]",
		Short: "an arena that robots are spawned in, behind the protocols of USARSim",
		Long: `Starts as "ucc server MAP" did: an empty arena, behind Gamebots at port 3000 and the image server at port 5003.
Controllers spawn their robots with INIT. CONFIG is another config than the embedded usarsim.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.said = cmd.Flags().Changed("port")
			p, err := f.plan(a, args)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), p)
		},
	}
	c.Flags().StringVar(&f.arena, "map", "", "the arena: "+strings.Join(model.ArenaNames(), ", ")+", as DM-USAR_yellow too, or a scene file (yellow)")
	c.Flags().StringArrayVar(&f.ini, "ini", nil, "a USARBot.ini, whose robots become classes, or a BotAPI.ini, which says where to listen")
	c.Flags().IntVarP(&f.port, "port", "p", 0, "where controllers connect (3000); 0 is any free port; --listen says hosts too")
	f.flags.add(c)
	return c
}

// plan is the rig of the config with the arena and the port of the command line.
func (f *usarsimFlags) plan(a *app, args []string) (*plan, error) {
	if len(args) == 0 {
		args = []string{"usarsim"}
	}
	if f.arena != "" {
		f.flags.set = append(f.flags.set, "world.scene="+arenaOf(f.arena))
	}
	for _, file := range f.ini {
		if err := f.read(file, args[0]); err != nil {
			return nil, err
		}
	}
	if f.said || f.port > 0 {
		f.flags.listen = append(f.flags.listen, fmt.Sprintf("gamebots=127.0.0.1:%d", f.port))
	}
	_, p, err := f.flags.load(a, args)
	return p, err
}

// arenaOf is the scene that a map of the original is here: DM-USAR_yellow, DM_USAR_yellow_scaled.
func arenaOf(name string) string {
	short := strings.ToLower(name)
	for _, prefix := range []string{"dm-usar_", "dm_usar_", "dm-", "usar_"} {
		short = strings.TrimPrefix(short, prefix)
	}
	short = strings.TrimSuffix(short, "_scaled")
	if slices.Contains(model.ArenaNames(), short) {
		return short
	}
	return name
}

// newGamebots opens a Gamebots server for the rig's classes.
func (sys *system) newGamebots(s *configs.Server, at netip.AddrPort) (server, netip.AddrPort, error) {
	arena, err := sys.scene.Arena()
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	ln, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	// The arena tells where to begin, the config who may come.
	yard := sys.newYard()
	g := gamebots.Arena{Level: arena.Arena.Level, Spawner: yard, Describe: yard.describe}
	for class := range sys.plan.classes {
		g.Classes = append(g.Classes, class)
	}
	slices.Sort(g.Classes)
	for _, start := range arena.Course.Starts {
		g.Starts = append(g.Starts, gamebots.Start{Name: start.Name, Pose: start.Pose})
	}
	srv := gamebots.NewServer(sys.rig, ln, g, gamebots.Options{Later: s.Dialect == "later", MaxConnections: s.MaxClients,
		ClientTimeout: s.ClientTimeout, Log: sys.log, Commands: map[string]gamebots.Command{"OMNIDRIVE": omnidrive}})
	return srv, protocols.Plain(ln.Addr().(*net.TCPAddr).AddrPort()), nil
}

// newImageServer opens an image server for the cameras of the rig's robots.
func (sys *system) newImageServer(s *configs.Server, at netip.AddrPort) (server, netip.AddrPort, error) {
	ln, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	format, err := imageserver.ParseFormat(s.Format)
	if err != nil {
		ln.Close()
		return nil, netip.AddrPort{}, err
	}
	srv := imageserver.NewServer(sys.rig, ln, sys.findCamera, imageserver.Options{Format: format,
		FrameRate: s.FrameRate, Width: s.Width, Height: s.Height, MaxClients: s.MaxClients, Log: sys.log})
	return srv, protocols.Plain(ln.Addr().(*net.TCPAddr).AddrPort()), nil
}

// findCamera finds a camera by the names of the protocol, "" being the first.
func (sys *system) findCamera(robot, name string) (w hal.CameraSource, index int, err error) {
	for _, agent := range sys.rig.Agents() {
		if robot != "" && !strings.EqualFold(agent.Name(), robot) {
			continue
		}
		sight, err := sys.sight(agent)
		if err != nil {
			continue
		}
		for i, c := range agent.Layout().Cameras {
			if sight.sees(i) && (name == "" || strings.EqualFold(c.Name, name)) {
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
