package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/budget"
	"github.com/halyard-robotics/halyard/internal/command"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/hydro"
	"github.com/halyard-robotics/halyard/sim/model"
)

// configFlags are the flags of every sub-command with a config.
type configFlags struct {
	body        string
	set, listen []string
	emulates    bool // what is real becomes emulated
	brief       bool // notes of robot files are one line
}

func (f *configFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.body, "body", "", "body of all agents: sim, emulated or real; overrides parts")
	c.RegisterFlagCompletionFunc("body", words("sim", "emulated", "real"))
	c.Flags().StringArrayVar(&f.set, "set", nil,
		"PATH=VALUE: override a key of the config, for example clock.mode=realtime")
}

// addListen adds the flag of commands that have to do with a config's servers.
func (f *configFlags) addListen(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.listen, "listen", nil,
		"PROTOCOL=ADDRESS or PROTOCOL@AGENT=ADDRESS; port 0 selects a free port")
}

// options are the config's changes by the flags.
func (f *configFlags) options() configs.Options {
	return configs.Options{Body: f.body, Emulates: f.emulates, Set: f.set, Listen: f.listen}
}

// load reads the config in args, "demo" by default, and resolves its names.
func (f *configFlags) load(a *app, args []string) (*halyard.Config, error) {
	name := "demo"
	if len(args) > 0 {
		name = args[0]
	}
	a.config = name
	p, err := plan.Load(name, f.options(), a.catalog())
	if err != nil {
		return nil, err
	}
	c := p.Config
	a.notes(c, f.brief)
	return c, nil
}

// notes prints the notes of a config; with brief those of a robot file are one line, since there may be hundreds.
func (a *app) notes(c *halyard.Config, brief bool) {
	counts, files := map[string][2]int{}, []string{}
	for _, n := range c.Notes {
		if !brief || n.Source == c.Source || !model.InXML(n.Source) {
			a.note("note: %v", n)
			continue
		}
		k, known := counts[n.Source]
		if !known {
			files = append(files, n.Source)
		}
		if strings.HasPrefix(n.Got, model.Repaired) {
			k[0]++
		} else {
			k[1]++
		}
		counts[n.Source] = k
	}
	for _, file := range files {
		a.note("note: %s: %d repairs, %d other notes (try: halyard validate %s)", file, counts[file][0],
			counts[file][1], c.Source)
	}
}

// completeConfigs offers the embedded configs.
func completeConfigs(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	return command.CompleteConfigs(c, args, begun)
}

type configRow struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	Next  string `json:"next"`
}

func (c configRow) Cells() report.Cells {
	return report.Cells{{"config", c.Name}, {"what it is", c.Title}, {"run it with", c.Next}}
}

func newConfigs(a *app) *cobra.Command {
	var robot, scene string
	c := &cobra.Command{
		Use:   "configs [NAME]",
		Short: "list or print embedded configs, robots and scenes",
		Example: "  halyard configs so101 > my-arm.yaml\n  halyard configs --robot so101 > my-robot.yaml     # for " +
			"model: my-robot.yaml\n" +
			"  halyard configs --scene pool > my-pool.yaml       # for world: {scene: my-pool.yaml}",
		Args:              arguments("[NAME]", "halyard configs so101"),
		ValidArgsFunction: completeConfigs,
		RunE: func(_ *cobra.Command, args []string) error {
			if n := len(args); robot != "" && scene != "" || n > 0 && (robot != "" || scene != "") {
				return &hal.Error{Kind: hal.Invalid, Op: "configs",
					Err: errors.New("got several, want one of NAME, --robot and --scene"),
					Try: "halyard configs --help"}
			}
			switch {
			case robot != "":
				return a.source("robot", robot, slices.Concat(model.Names(), model.RescueNames(), hydro.Names(),
					[]string{"simloid-ID"}), model.Source, hydro.Source)
			case scene != "":
				return a.source("scene", scene, append(model.SceneNames(), model.ArenaNames()...), model.SceneSource)
			case len(args) > 0:
				return a.source("config", args[0], configs.Names(), embeddedConfig)
			}
			var rows []configRow
			for _, n := range configs.Names() {
				data, _ := configs.Embedded(n)
				rows = append(rows, configRow{n, titleOf(data), "halyard serve " + n})
			}
			return show(a, rows)
		},
	}
	c.Flags().StringVar(&robot, "robot", "", "print the file of an embedded robot")
	c.Flags().StringVar(&scene, "scene", "", "print the file of an embedded scene")
	return c
}

// embeddedConfig is configs.Embedded in the form of the other sources.
func embeddedConfig(name string) ([]byte, error) {
	if data, ok := configs.Embedded(name); ok {
		return data, nil
	}
	return nil, fs.ErrNotExist
}

// source prints the first file with a name in the sources.
func (a *app) source(what, name string, names []string, from ...func(name string) ([]byte, error)) error {
	for _, f := range from {
		if data, err := f(name); err == nil {
			_, err := a.out.Write(data)
			return err
		}
	}
	return &hal.Error{Kind: hal.Invalid, Op: "configs", Err: fmt.Errorf("no embedded %s %q%s; want one of %s", what,
		name, commission.Meant(name, names), strings.Join(names, ", ")),
		Try: "halyard configs"}
}

// longestTitle is how much of a config's first words a table shows.
const longestTitle = 72

// titleOf returns the title of a config from its first words.
func titleOf(data []byte) string {
	var words []string
	for line := range strings.Lines(string(data)) {
		text, remark := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !remark {
			break
		}
		words = append(words, text)
	}
	title, _, _ := strings.Cut(strings.Join(words, " ")+" ", ". ")
	if title = strings.TrimSpace(title); len(title) > longestTitle {
		title = title[:longestTitle]
		if i := max(strings.LastIndex(title, ","), strings.LastIndex(title, ":")); i > 0 {
			title = title[:i]
		}
	}
	return title
}

// validated is a config without an error.
type validated struct {
	Config   string   `json:"config"`
	Valid    bool     `json:"valid"`
	Warnings []string `json:"warnings"`
}

// Cells implements report.Row.
func (v validated) Cells() report.Cells {
	return report.Cells{{"config", v.Config}, {"valid", v.Valid}, {"warnings", len(v.Warnings)}}
}

func newValidate(a *app) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:               "validate CONFIG",
		Short:             "report every error in a config",
		Args:              arguments("CONFIG", "halyard configs"),
		ValidArgsFunction: completeConfigs,
		RunE: func(_ *cobra.Command, args []string) error {
			v := validated{Config: args[0], Valid: true, Warnings: []string{}}
			rows, refused, warning, err := f.budget(a, args, budget.Options{})
			switch {
			case err != nil:
				return err
			case refused != nil && !warning:
				return refused
			case refused != nil:
				v.Warnings = append(v.Warnings, "as a real robot: "+refused.Error())
			}
			for _, b := range rows {
				if w := b.Warning(); w != "" {
					v.Warnings = append(v.Warnings, w)
				}
			}
			for _, w := range v.Warnings {
				a.note("warning: %s", w)
			}
			a.note("%s: valid. Next: halyard serve %s", args[0], args[0])
			if a.format == "table" {
				return nil
			}
			return show(a, []validated{v})
		},
	}
	f.add(c)
	f.addListen(c)
	return c
}
