package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
)

func newEmulate(a *app) *cobra.Command {
	f := configFlags{body: string(configs.Emulated)}
	var dir string
	var faults []string
	c := &cobra.Command{
		Use:   "emulate CONFIG",
		Short: "serve emulated devices on pseudo-terminals",
		Long: "Every serial line of CONFIG is served at once, over one simulated world: servos, and boards, sensors and robots at\n" +
			"the end of a line of type serial. What cannot be a terminal is listed with the reason.",
		Example:           "  halyard emulate so101 --dir d\n  halyard emulate xm430-arm --fault \"crc servo 3 p=0.1\"",
		Args:              arguments("CONFIG", "halyard configs"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, p, err := f.load(a, args)
			if err != nil {
				// Not all of it can be emulated: what it says itself, then, where that is some of it.
				own := f
				if own.body = ""; f.body == "" || !someEmulated(a, &own, args, &p) {
					return err
				}
			}
			if p, err = p.Stationed(); err != nil {
				return err
			}
			w, err := assembly.EmulateAll(p)
			if err != nil {
				return err
			}
			defer w.Devices.Close()
			for _, text := range faults {
				if err := w.Plant(text); err != nil {
					return err
				}
			}
			return a.emulate(cmd.Context(), p, w, dir)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "folder for stable links to the terminals, one a bus")
	c.Flags().StringArrayVar(&faults, "fault", nil, `a fault, as "off servo 3", "slow bus by=5ms" or "BUS: crc servo 3 p=0.1"`)
	c.Flags().StringArrayVar(&f.set, "set", nil, "PATH=VALUE: any key of the config")
	return c
}

// emulate serves every bus of w on a pty until ctx ends, and has nothing running when it returns. Beside the buses'
// goroutines one moves the world; both hold its lock while they touch a servo.
func (a *app) emulate(ctx context.Context, p *plan.Plan, w *assembly.EmulatedWorld, dir string) error {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return &hal.Error{Kind: hal.Busy, Op: "--dir", Err: err}
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var ports []assembly.ReadyPort
	lines := w.Terminals(p)
	errs := make([]error, len(lines))
	for i, t := range lines {
		link := ""
		if dir != "" {
			link = filepath.Join(dir, t.Name)
		}
		path, wait, err := t.Serve(ctx, link)
		if err != nil {
			return &hal.Error{Kind: hal.Busy, Bus: t.Name, Op: "emulate", Err: err}
		}
		bus := p.Config.Buses[t.Name]
		ports = append(ports, assembly.ReadyPort{Bus: t.Name, Type: bus.Type, Path: path, Baud: bus.Baud})
		wg.Go(func() {
			errs[i] = wait()
			cancel() // one line that breaks ends all
		})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Config.Buses)) {
		if bus := p.Config.Buses[name]; !slices.ContainsFunc(lines, func(t assembly.Terminal) bool { return t.Name == name }) {
			if !bus.Rated() {
				bus.Baud = 0 // it has none
			}
			ports = append(ports, assembly.ReadyPort{Bus: name, Type: bus.Type, Baud: bus.Baud, Reason: assembly.Unserved(bus.Type)})
		}
	}
	for _, b := range p.Boards {
		if b.Bus == "" && b.Body == configs.Emulated { // it is connected to no bus: the kernel's PWM
			ports = append(ports, assembly.ReadyPort{Bus: b.Name(), Type: b.Device, Reason: assembly.Unserved(b.Device)})
		}
	}
	for _, q := range p.Cameras {
		ports = append(ports, assembly.ReadyPort{Bus: q.Name, Type: plan.CameraDevice, Reason: "V4L2 cannot be a terminal: halyard serve --body emulated has its devices in memory"})
	}
	wg.Go(func() { w.Move(ctx) })
	if err := a.announcePorts(ports, p.Config.Source, dir); err != nil {
		return err
	}
	<-ctx.Done()
	wg.Wait()
	return errors.Join(errs...)
}

// announcePorts tells that the buses can be opened: scripts by a line, people by what to type next.
func (a *app) announcePorts(ports []assembly.ReadyPort, config, dir string) error {
	if a.format != "table" {
		return a.Line(assembly.Ready{Event: "ready", Servers: []assembly.ReadyServer{}, Ports: ports})
	}
	lines := make([]assembly.PortLine, len(ports))
	next := ""
	for i, p := range ports {
		lines[i] = assembly.PortLine{ReadyPort: p}
		if _, servos := catalog.BusTypes[p.Type]; next == "" && p.Path != "" && servos {
			next = p.Path
			if dir != "" {
				next = filepath.Join(dir, p.Bus)
			}
			next += " --baud " + strconv.Itoa(p.Baud)
		}
	}
	if err := show(a, lines); err != nil {
		return err
	}
	switch {
	case next != "":
		a.note("EMULATED: no hardware is touched. Next, in another terminal:\n  halyard scan %s\nCtrl-C ends it.", next)
	case slices.ContainsFunc(ports, func(p assembly.ReadyPort) bool { return p.Path != "" }):
		a.note("EMULATED: no hardware is touched. Ctrl-C ends it.")
	default:
		a.note("Nothing of it can be a terminal. Next: halyard serve %s --body emulated", config)
	}
	return nil
}
