package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	serve "github.com/halyard-robotics/halyard/internal/serve/simloid"
	"github.com/halyard-robotics/halyard/internal/simloidconf"
	"github.com/halyard-robotics/halyard/protocols/simloid"
)

// simloidFlags are the command line of "halyard simloid": the original's, and ours.
type simloidFlags struct {
	serve.Original
	step       float64
	conf, body string
	ignored    [5]bool
	ignoredS   string
}

func newSimloid(a *app) *cobra.Command {
	var f simloidFlags
	c := &cobra.Command{
		Use:   "simloid [CONFIG]",
		Short: "run a Simloid-compatible simulator",
		Long: `Starts like the original Simloid: it simulates one robot and serves Simloid's protocol. Options that are not given are read
from simloid.conf in the working folder; their defaults are port 8000, robot 31, scene 0 and steps of 0.01 s.

--robot and --port may be repeated: each pair is a simulation of its own, like one more start of the original. With CONFIG it
serves the robots of CONFIG, which may be emulated or real.`,
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
	flags.IntSliceVarP(&f.Ports, "port", "p", nil, "port of the server (8000); 0 selects a free port")
	flags.StringArrayVar(&f.Robots, "robot", nil, "the robot's id (31), or its model's name or file")
	flags.StringVar(&f.Scene, "scene", "", "the scene's id (0), or its name or file")
	flags.Float64VarP(&f.step, "steplength", "s", 0, "length of a step, s (0.01)")
	flags.StringVarP(&f.conf, "conf", "f", "", "config file to use instead of simloid.conf")
	flags.StringVar(&f.conf, "configfile", "", "--conf")
	flags.StringArrayVar(&f.Listen, "listen", nil, "HOST:PORT instead of a port of the loopback interface")
	flags.StringVar(&f.Dialect, "dialect", "", "document or later (of 2018 to 2020)")
	flags.BoolVar(&f.Exact, "no-noise", false, "disable sensor noise")
	flags.BoolVar(&f.Keep, "keep", false,
		"wait for the next client; by default the program ends when its client leaves, like the original")
	flags.StringVar(&f.body, "body", "", "sim; emulated and real require a CONFIG")
	flags.StringArrayVar(&f.Set, "set", nil,
		"PATH=VALUE: override a key of the resulting config, for example world.seed=2")
	// Flags of the original without a meaning here, since there is no window: -ng and -nr are -n with -g or -r.
	for i, x := range []struct{ name, short string }{{"nographics", "g"}, {"norealtime", "r"}, {"no", "n"},
		{"pause", ""}, {"notex", ""}} {
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
	if f.Dialect != "" && f.Dialect != simloid.Document.String() && f.Dialect != simloid.Later.String() {
		return nil, serve.Fault("--dialect", f.Dialect, "document or later")
	}
	conf := simloidconf.Original()
	if err := f.readConf(a, &conf); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("steplength") {
		if _, want := conf.Set("step_length", strconv.FormatFloat(f.step, 'g', -1, 64)); want != "" {
			return nil, serve.Fault("--steplength", strconv.FormatFloat(f.step, 'g', -1, 64), want)
		}
	}
	if len(args) > 0 {
		c, err := f.ofConfig(a, cmd, args[0])
		return []*halyard.Config{c}, err
	}
	if f.body != "" && f.body != string(configs.Sim) {
		err := serve.Fault("--body", f.body, "sim, or a CONFIG that names the devices")
		err.Try = "halyard simloid xl430-pendulum --body " + f.body
		return nil, err
	}
	return f.Configs(&conf)
}

// readConf reads the given file, or simloid.conf if it exists.
func (f *simloidFlags) readConf(a *app, c *simloidconf.Conf) error {
	name := cmp.Or(f.conf, "simloid.conf")
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

// ofConfig returns the rig of a config; its only robot gets a Simloid server if it has none.
func (f *simloidFlags) ofConfig(a *app, cmd *cobra.Command, name string) (*halyard.Config, error) {
	for _, flag := range [][2]string{{"robot", "agents[0].model"}, {"scene", "world.scene"},
		{"steplength", "clock.period"}} {
		if given := cmd.Flags().Lookup(flag[0]); given.Changed {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "simloid: --" + flag[0],
				Err: fmt.Errorf("got %s and CONFIG %s, want %s in the config, or --set", given.Value, name, flag[1]),
				Try: "halyard simloid " + name + " --set " + flag[1] + "=" + given.Value.String()}
		}
	}
	g := configFlags{body: f.body, set: f.Set}
	for i := range max(len(f.Ports), len(f.Listen)) {
		g.listen = append(g.listen, "simloid="+f.Address(i, 0))
	}
	c, err := g.load(a, []string{name})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(c.Servers, func(s configs.Server) bool { return s.Protocol == "simloid" }) {
		g.listen = append(g.listen, "simloid="+f.Address(0, simloidconf.Original().Port))
		if c, err = g.load(a, []string{name}); err != nil {
			return nil, err
		}
	}
	for i := range c.Servers {
		if s := &c.Servers[i]; s.Protocol == "simloid" {
			s.Noise, s.Once = s.Noise && !f.Exact, !f.Keep
			if f.Dialect != "" {
				s.Dialect = f.Dialect
			}
		}
	}
	return c, nil
}
