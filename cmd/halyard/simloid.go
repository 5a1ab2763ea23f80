package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/configs/simloidconf"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols/simloid"
	"github.com/halyard-robotics/halyard/sim/model"
)

// simloidFlags are the command line of "halyard simloid": the original's, and ours.
type simloidFlags struct {
	ports    []int
	robots   []string
	scene    string
	step     float64
	conf     string
	body     string
	listen   []string
	dialect  string
	exact    bool // no noise
	keep     bool // it stays when its client has left
	set      []string
	ignored  [5]bool
	ignoredS string
}

func newSimloid(a *app) *cobra.Command {
	var f simloidFlags
	c := &cobra.Command{
		Use:   "simloid [CONFIG]",
		Short: "run a Simloid-compatible simulator",
		Long: `Starts as the original Simloid did: a robot of its list, simulated, behind its protocol. What the command line
leaves out a simloid.conf in the working folder says, else it is port 8000, robot 31, scene 0 and steps of 0.01 s.

--robot and --port may stand several times: each pair is a world of its own, as if the original had been started
so often. With a CONFIG its robots are served, which may be emulated or real.`,
		Args:              arguments("[CONFIG]", "halyard simloid"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := f.configs(a, cmd, args)
			if err != nil {
				return err
			}
			return a.serve(cmd.Context(), list...)
		},
	}
	a.addDashboard(c)
	flags := c.Flags()
	flags.IntSliceVarP(&f.ports, "port", "p", nil, "port of the server (8000); 0 selects a free port")
	flags.StringArrayVar(&f.robots, "robot", nil, "the robot's id (31), or its model's name or file")
	flags.StringVar(&f.scene, "scene", "", "the scene's id (0), or its name or file")
	flags.Float64VarP(&f.step, "steplength", "s", 0, "length of a step, s (0.01)")
	flags.StringVarP(&f.conf, "conf", "f", "", "config file to use instead of simloid.conf")
	flags.StringVar(&f.conf, "configfile", "", "--conf")
	flags.StringArrayVar(&f.listen, "listen", nil, "HOST:PORT instead of a port of this machine alone")
	flags.StringVar(&f.dialect, "dialect", "", "document or later (of 2018 to 2020)")
	flags.BoolVar(&f.exact, "no-noise", false, "disable sensor noise")
	flags.BoolVar(&f.keep, "keep", false, "stay for the next client; without it the program ends when its client has left, as the original")
	flags.StringVar(&f.body, "body", "", "sim; emulated and real require a CONFIG")
	flags.StringArrayVar(&f.set, "set", nil, "PATH=VALUE: override a key of the resulting config, for example world.seed=2")
	// What the original understood and has no meaning without its window: -ng and -nr are -n with -g or -r.
	for i, x := range []struct{ name, short string }{{"nographics", "g"}, {"norealtime", "r"}, {"no", "n"}, {"pause", ""}, {"notex", ""}} {
		flags.BoolVarP(&f.ignored[i], x.name, x.short, false, "")
		flags.MarkHidden(x.name)
	}
	flags.StringVar(&f.ignoredS, "fps", "", "")
	for _, name := range []string{"fps", "configfile"} {
		flags.MarkHidden(name)
	}
	return c
}

// configs makes a config for each pair of robot and port, or the one of the config.
func (f *simloidFlags) configs(a *app, cmd *cobra.Command, args []string) ([]*halyard.Config, error) {
	if f.dialect != "" && f.dialect != simloid.Document.String() && f.dialect != simloid.Later.String() {
		return nil, simloidFault("--dialect", f.dialect, "document or later")
	}
	conf := simloidconf.Original()
	if err := f.readConf(a, &conf); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("steplength") {
		if _, want := conf.Set("step_length", strconv.FormatFloat(f.step, 'g', -1, 64)); want != "" {
			return nil, simloidFault("--steplength", strconv.FormatFloat(f.step, 'g', -1, 64), want)
		}
	}
	if len(args) > 0 {
		c, err := f.ofConfig(a, cmd, args[0])
		return []*halyard.Config{c}, err
	}
	if f.body != "" && f.body != string(configs.Sim) {
		err := simloidFault("--body", f.body, "sim, or a CONFIG that names the devices")
		err.Try = "halyard simloid xl430-pendulum --body " + f.body
		return nil, err
	}
	scene, err := simloidScene(f.scene, conf.Scene)
	if err != nil {
		return nil, err
	}
	var list []*halyard.Config
	for i := range max(1, len(f.ports), len(f.robots), len(f.listen)) {
		robot, err := simloidModel(f.robots, i, conf.Robot)
		if err != nil {
			return nil, err
		}
		agent := "robot"
		if i > 0 {
			agent += strconv.Itoa(i + 1)
		}
		c, err := f.config(i, agent, robot, scene, &conf)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

func simloidFault(what, got, want string) *hal.Error {
	return &hal.Error{Kind: hal.Invalid, Op: "simloid: " + what, Err: fmt.Errorf("got %s, want %s", got, want)}
}

// readConf reads the file that was named, or simloid.conf where there is one.
func (f *simloidFlags) readConf(a *app, c *simloidconf.Conf) error {
	name := f.conf
	if name == "" {
		name = "simloid.conf"
	}
	data, err := os.ReadFile(name)
	if f.conf == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "simloid: --conf", Err: err}
	}
	notes, err := simloidconf.Parse(name, data, c)
	for _, n := range notes {
		a.note("note: %s", n)
	}
	return err
}

// ofConfig is the rig of a config, whose only robot gets a Simloid server if it has none.
func (f *simloidFlags) ofConfig(a *app, cmd *cobra.Command, name string) (*halyard.Config, error) {
	for _, flag := range []string{"robot", "scene", "steplength"} {
		if cmd.Flags().Changed(flag) {
			return nil, simloidFault("--"+flag, "it", name+" to say that, or --set")
		}
	}
	g := configFlags{body: f.body, set: f.set}
	for i := range max(len(f.ports), len(f.listen)) {
		g.listen = append(g.listen, "simloid="+f.address(i, 0))
	}
	c, err := g.load(a, []string{name})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(c.Servers, func(s configs.Server) bool { return s.Protocol == "simloid" }) {
		g.listen = append(g.listen, "simloid="+f.address(0, simloidconf.Original().Port))
		if c, err = g.load(a, []string{name}); err != nil {
			return nil, err
		}
	}
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Protocol == "simloid" {
			s.Noise, s.Once = s.Noise && !f.exact, !f.keep
			if f.dialect != "" {
				s.Dialect = f.dialect
			}
		}
	}
	return c, nil
}

// address is where robot i is served; ports that were not given count up.
func (f *simloidFlags) address(i, port int) string {
	if i < len(f.listen) {
		return strings.TrimPrefix(f.listen[i], "simloid=")
	}
	switch n := len(f.ports); {
	case i < n:
		port = f.ports[i]
	case n > 0 && f.ports[n-1] > 0:
		port = f.ports[n-1] + i - n + 1
	case n == 0 && port > 0:
		port += i
	}
	return "127.0.0.1:" + strconv.Itoa(port)
}

// config is that of one robot. It goes the way of every config, so that all rules hold for it too.
func (f *simloidFlags) config(i int, agent, robot, scene string, conf *simloidconf.Conf) (*halyard.Config, error) {
	address := f.address(i, conf.Port)
	_, port, err := net.SplitHostPort(address)
	name := "simloid-" + port
	if err != nil || port == "0" { // nobody can say which it will be
		name = fmt.Sprintf("simloid-%d-%d", os.Getpid(), i)
	}
	gravity := standardGravity
	if !conf.Gravity {
		gravity = 0
	}
	dialect := f.dialect
	if dialect == "" {
		dialect = simloid.Document.String()
	}
	text := fmt.Sprintf(`name: %q
clock: {mode: lockstep, period: %v}
world: {scene: %q, gravity: %g}
agents: [{name: %q, model: %q}]
servers: [{protocol: simloid, listen: %q, dialect: %q, noise: %t, pid: [%g, %g, %g], start_torque: %g, once: %t}]
`, name, conf.Step, scene, gravity, agent, robot, address, dialect, !f.exact, conf.PID[0], conf.PID[1], conf.PID[2], conf.MaxTorque, !f.keep)
	return halyard.Parse("halyard simloid", []byte(text), func(o *configs.Options) { o.Set = f.set })
}

// standardGravity is that of the original, m/s².
const standardGravity = 9.81

// simloidModel is the model that robot i of the command line names, by id, by name or by file.
func simloidModel(robots []string, i, otherwise int) (string, error) {
	name := strconv.Itoa(otherwise)
	if n := len(robots); n > 0 {
		name = robots[min(i, n-1)]
	}
	id, err := strconv.Atoi(name)
	if err != nil {
		return name, nil
	}
	if !slices.Contains(model.SimloidIDs(), id) {
		return "", simloidFault("--robot", name, fmt.Sprintf("one of %v", model.SimloidIDs()))
	}
	return "simloid-" + name, nil
}

// simloidScene is the scene by its id, its name or its file.
func simloidScene(name string, otherwise int) (string, error) {
	if name == "" {
		name = strconv.Itoa(otherwise)
	}
	id, err := strconv.Atoi(name)
	if err != nil {
		return name, nil
	}
	var ids []int
	for _, known := range model.SceneNames() {
		s, err := model.LoadScene(known, 1)
		if err != nil {
			return "", err
		}
		if s.Simloid == id {
			return known, nil
		}
		if s.Simloid != hal.None {
			ids = append(ids, s.Simloid)
		}
	}
	slices.Sort(ids)
	return "", simloidFault("--scene", name, fmt.Sprintf("one of %v, or a name (%s)", ids, strings.Join(model.SceneNames(), ", ")))
}
