package main

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/gamebots"
	"github.com/halyard-robotics/halyard/protocols/imageserver"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

// usarsimFlags are the command line of "halyard usarsim": short ways to say what --set and --listen can say too.
type usarsimFlags struct {
	arena string
	ini   []string
	port  int
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
			p, err := f.plan(a, args)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), p)
		},
	}
	c.Flags().StringVar(&f.arena, "map", "", "the arena: "+strings.Join(model.ArenaNames(), ", ")+", as DM-USAR_yellow too, or a scene file (yellow)")
	c.Flags().StringArrayVar(&f.ini, "ini", nil, "a USARBot.ini, whose robots become classes, or a BotAPI.ini, which says where to listen")
	c.Flags().IntVarP(&f.port, "port", "p", 0, "where controllers connect (3000); --listen says hosts too")
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
	if f.port > 0 {
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

// classes are the robots that can be spawned, by the names of the config. Their bodies are simulated.
func (r *resolver) classes() map[string]*agentPlan {
	classes := map[string]*agentPlan{}
	for _, name := range slices.Sorted(maps.Keys(r.config.Classes)) {
		path := configs.Path("classes").Key(name)
		c := &configs.Agent{Name: name, Robot: r.config.Classes[name]}
		p := r.agent(path, c)
		if p.robot == nil {
			continue
		}
		// A base of metal is no class yet: its drivers are bound to agents.
		if c.Has(configs.Real) || c.Has(configs.Emulated) {
			r.fault(path.Key("body"), string(c.Body), "sim: a class is simulated", "make it one of agents")
		}
		classes[name] = &p
	}
	return classes
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
	yard := &yard{sys: sys, spawned: map[string]*plot{}}
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
func (sys *system) findCamera(robot, name string) (w hal.Watcher, index int, err error) {
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

// yard makes and removes robots of the config's classes: a hal.Spawner. Sessions call it from goroutines of their own; what
// it does to the scene it does between cycles.
type yard struct {
	sys *system

	mu      sync.Mutex
	spawned map[string]*plot
}

// plot is a robot that was spawned.
type plot struct {
	plan *agentPlan
	body *sim.Body
}

// Spawn puts a new robot of a class into the scene, between cycles, and into the rig. The error is hal.Invalid where the
// class is not there or the name is taken.
func (y *yard) Spawn(class, name string, at hal.Pose) (*hal.Agent, error) {
	of, ok := y.sys.plan.classes[class]
	if !ok {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "spawn " + name, Err: fmt.Errorf("got class %q, want one of the config", class)}
	}
	if y.sys.rig.Agent(name) != nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "spawn " + name, Err: errors.New("there is one of that name")}
	}
	// The scene first: what makes no system there must not become an agent. A cycle may pass between the two.
	p := &plot{plan: of.named(name)}
	var err error
	y.sys.rig.AtEdge(func() { p.body, err = y.sys.scene.Add(name, of.robot, at) })
	if err != nil {
		return nil, err
	}
	agent, err := y.sys.rig.Add(p.plan.agent(p.body, y.sys.scene, hal.Simulated))
	if err != nil {
		y.sys.rig.AtEdge(func() { err = errors.Join(err, y.sys.scene.Remove(name)) })
		return nil, err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.spawned[name] = p
	return agent, nil
}

// named is the plan of a robot of this class called name.
func (p *agentPlan) named(name string) *agentPlan {
	own, config := *p, *p.config
	config.Name = name
	own.config = &config
	return &own
}

// Remove takes a spawned robot out of the rig and out of the scene. It is the spawner's own alone.
func (y *yard) Remove(name string) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.spawned[name] == nil {
		return &hal.Error{Kind: hal.Invalid, Op: "remove " + name, Err: errors.New("got a robot that was not spawned")}
	}
	// The other way round: the rig must not read a body that the scene no longer has.
	if err := y.sys.rig.Remove(name); err != nil {
		return err
	}
	delete(y.spawned, name)
	var err error
	y.sys.rig.AtEdge(func() { err = y.sys.scene.Remove(name) })
	return err
}

// describe tells the protocol what a spawned robot has.
func (y *yard) describe(class string, a *hal.Agent) (r *gamebots.Robot, err error) {
	y.mu.Lock()
	p := y.spawned[a.Name()]
	y.mu.Unlock()
	if p == nil {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "describe " + a.Name(), Err: errors.New("got a robot that was not spawned")}
	}
	// Listeners of tags are set here, so it stands at the edge.
	short := class[strings.LastIndexByte(class, '.')+1:]
	y.sys.rig.AtEdge(func() { r = describeRescue(short, a, p.plan.robot, p.body) })
	if light := y.sys.light(a.Name(), "headlight"); light != nil {
		r.Light = light
	}
	return r, nil
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
