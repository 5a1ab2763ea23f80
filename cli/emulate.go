package cli

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/report"
)

func newEmulate(a *app) *cobra.Command {
	f := configFlags{body: string(configs.Emulated)}
	var dir, state string
	var faults, cans []string
	c := &cobra.Command{
		Use:   "emulate CONFIG",
		Short: "serve emulated devices on pseudo-terminals",
		Long: "Serves every serial line of CONFIG, with one simulated world: servos, and boards, sensors and robot " +
			"bases on lines of type\n" +
			"serial. Devices that cannot be served on a terminal are listed with the reason.",
		Example:           "  halyard emulate so101 --dir d\n  halyard emulate xm430-arm --fault \"crc servo 3 p=0.1\"",
		Args:              arguments("CONFIG", "halyard configs"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.load(a, args)
			if err != nil {
				// Not all of it can be emulated: then what is real or emulated of it, if anything is.
				own := f
				own.emulates = true
				if own.body = ""; f.body == "" {
					return err
				}
				some, failed := own.load(a, args)
				if failed != nil || !someEmulated(some) {
					return err
				}
				c = some
			}
			e, err := halyard.Emulate(c, halyard.WithCatalog(a.more))
			if err != nil {
				return err
			}
			defer e.Close()
			e.Behind = func(lost, span time.Duration) {
				a.note("the world was %v behind the clock in the last %v: this machine is too slow for it",
					lost.Round(time.Millisecond), span.Round(time.Second))
			}
			if state != "" {
				if err := e.Keep(state); err != nil {
					return err
				}
			}
			for _, text := range cans {
				bus, name, _ := strings.Cut(text, "=")
				if err := e.OnCAN(bus, name); err != nil {
					return err
				}
			}
			for _, text := range faults {
				if err := e.Fault(text); err != nil {
					return err
				}
			}
			return e.Serve(cmd.Context(), dir,
				func(ports []halyard.Port) error { return a.announcePorts(ports, c.Source, dir) })
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "folder for stable links to the terminals, one per bus; and for halyard hand")
	c.Flags().StringVar(&state, "state", "", "folder that keeps the servos' EEPROM between starts")
	c.Flags().StringArrayVar(&faults, "fault", nil,
		`inject a fault, for example "off servo 3", "slow bus by=5ms" or "BUS: crc servo 3 p=0.1"`)
	c.Flags().StringArrayVar(&cans, "can", nil,
		"BUS=INTERFACE: serve a CAN bus on an interface of the kernel, for example bus=vcan0")
	c.Flags().StringArrayVar(&f.set, "set", nil, "PATH=VALUE: override a key of the config")
	return c
}

// someEmulated reports whether any part of a config has body emulated.
func someEmulated(c *halyard.Config) bool {
	return slices.ContainsFunc(c.Agents, func(g configs.Agent) bool { return g.Has(configs.Emulated) })
}

// portLine is one served bus, for people.
type portLine struct{ halyard.Port }

func (p portLine) Cells() report.Cells {
	var baud any = "-"
	if p.Baud != 0 {
		baud = p.Baud
	}
	return report.Cells{{"bus", p.Bus}, {"type", p.Type}, {"baud", baud}, {"path", cmp.Or(p.Path, "- ("+p.Reason+")")}}
}

// announcePorts reports that the buses can be opened: one line for scripts, the next command for people.
func (a *app) announcePorts(ports []halyard.Port, config, dir string) error {
	if a.format != "table" {
		return a.Line(ready{Event: "ready", Servers: []halyard.Server{}, Ports: ports})
	}
	lines := make([]portLine, len(ports))
	next, banner := "", "EMULATED: no hardware is touched."
	for i, p := range ports {
		lines[i] = portLine{p}
		// an interface of the kernel, which may be wired
		if p.Path != "" && !filepath.IsAbs(p.Path) && !strings.Contains(p.Path, ":") {
			banner = "EMULATED motors send on " + p.Path + ": keep real ones off that bus."
		}
		if next == "" && p.Path != "" && p.Servos {
			next = p.Path
			if filepath.IsAbs(next) { // a terminal; an interface of CAN has its own rate
				if dir != "" {
					next = filepath.Join(dir, p.Bus)
				}
				next += " --baud " + strconv.Itoa(p.Baud)
			}
		}
	}
	if err := show(a, lines); err != nil {
		return err
	}
	switch {
	case next != "":
		a.note("%s Next, in another terminal:\n  halyard scan %s\nCtrl-C ends it.", banner, next)
	case slices.ContainsFunc(ports, func(p halyard.Port) bool { return p.Path != "" }):
		a.note("%s Ctrl-C ends it.", banner)
	default:
		a.note("Nothing of it can be a terminal. Next: halyard serve %s --body emulated", config)
	}
	return nil
}
