package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// pulse is how often the emulated world moves: often enough for a client that reads at 250 Hz.
const pulse = 2 * time.Millisecond

// longestPulse bounds one step of the world after this process was stopped for a while: the servos stood still then.
const longestPulse = 100 * time.Millisecond

// emulatedBus is one line of a config on emulated servos.
type emulatedBus struct {
	name string
	bus  *emulator.Bus
}

// emulatedWorld is all servos of a config, emulated, over one scene, and, where they are asked for, all other devices.
type emulatedWorld struct {
	mu      sync.Mutex // held around the scene's steps and while a bus touches its servos
	scene   *sim.Scene
	buses   []emulatedBus // by name
	devices *emulation    // nil: servos alone
}

// emulateWorld makes the emulated servos of p: every joint that is emulated.
func emulateWorld(p *plan) (*emulatedWorld, error) {
	scene, err := newScene(p)
	if err != nil {
		return nil, err
	}
	w := &emulatedWorld{scene: scene}
	b := &builder{plan: p, system: &system{scene: w.scene}}
	for i := range p.agents {
		a := &p.agents[i]
		if _, err := a.stand(w.scene); err != nil {
			return nil, err
		}
		b.robots = append(b.robots, w.scene.Body(a.config.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(p.config.Buses)) {
		on := p.on(name, configs.Emulated)
		if len(on) == 0 {
			continue
		}
		bus, err := b.emulate(name, on, &w.mu) // on terminals the buses run beside the scene: all share its lock
		if err != nil {
			return nil, err
		}
		w.buses = append(w.buses, emulatedBus{name, bus})
	}
	return w, nil
}

// timingOf is how a config's line behaves where it is emulated.
func timingOf(b configs.Bus) emulator.Timing {
	return emulator.Timing{Reply: b.Timing.ServoDelay, Frame: b.Timing.USBFrame, Latency: b.Timing.LatencyTimer, Echo: b.Timing.Echo}
}

// bus returns the bus called name, or nil.
func (w *emulatedWorld) bus(name string) *emulator.Bus {
	for _, b := range w.buses {
		if b.name == name {
			return b.bus
		}
	}
	return nil
}

// plant plants a fault whose time begins now. Its text is the emulator's, with the name of a bus in front where there are several:
// "off servo 7", "upper: crc bus p=0.1".
func (w *emulatedWorld) plant(text string) error {
	invalid := func(err error) error {
		return &hal.Error{Kind: hal.Invalid, Op: "--fault " + strconv.Quote(text), Err: err}
	}
	name, rest, named := strings.Cut(text, ":")
	if !named {
		name, rest = "", text
	}
	name = strings.TrimSpace(name)
	f, err := emulator.ParseFault(rest)
	if err != nil {
		return invalid(err)
	}
	if named && w.bus(name) == nil {
		return invalid(fmt.Errorf("no emulated bus %q", name))
	}
	var hit []*emulator.Bus
	for _, b := range w.buses {
		if (!named || b.name == name) && (f.ID == emulator.WholeBus || hasServo(b.bus, f.ID)) {
			hit = append(hit, b.bus)
		}
	}
	switch {
	case len(w.buses) == 0:
		return invalid(errors.New("faults are planted in emulated servos, and there are none: --body emulated"))
	case len(hit) == 0:
		return invalid(fmt.Errorf("no emulated servo has id %d", f.ID))
	case len(hit) > 1 && f.ID != emulator.WholeBus:
		return invalid(fmt.Errorf("%d buses have a servo %d: put the bus in front, as in \"NAME: %s\"", len(hit), f.ID, rest))
	}
	for _, b := range hit {
		if err := b.Fault(f); err != nil {
			return invalid(err)
		}
	}
	return nil
}

func hasServo(b *emulator.Bus, id int) bool {
	return slices.ContainsFunc(b.Servos(), func(s *emulator.Servo) bool {
		v, _ := s.Register("id")
		return v == int64(id)
	})
}

// move lets the scene's time pass with the wall's until ctx ends. It is no control loop: a client sees the world at most
// a pulse old.
func (w *emulatedWorld) move(ctx context.Context) {
	tick := time.NewTicker(pulse) // late ticks do no harm: what has passed is measured
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			w.advance(min(now.Sub(last), longestPulse))
			last = now
		}
	}
}

func newEmulate(a *app) *cobra.Command {
	f := configFlags{body: string(configs.Emulated)}
	var dir string
	var faults []string
	c := &cobra.Command{
		Use:   "emulate CONFIG",
		Short: "a config's servos and serial devices, byte for byte, on pseudo terminals that any program can open",
		Long: "Every serial line of CONFIG is served at once, over one simulated world: servos, and boards, sensors and robots at\n" +
			"the end of a line of type serial. What cannot be a terminal is listed with the reason.",
		Example:           "  halyard emulate so101 --dir d\n  halyard emulate xm430-arm --fault \"crc servo 3 p=0.1\"",
		Args:              cobra.ExactArgs(1),
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
			if p, err = p.stationed(); err != nil {
				return err
			}
			w, err := emulateAll(p)
			if err != nil {
				return err
			}
			defer w.devices.close()
			for _, text := range faults {
				if err := w.plant(text); err != nil {
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
func (a *app) emulate(ctx context.Context, p *plan, w *emulatedWorld, dir string) error {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return &hal.Error{Kind: hal.Busy, Op: "--dir", Err: err}
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var ports []readyPort
	lines := w.terminals(p)
	errs := make([]error, len(lines))
	for i, t := range lines {
		link := ""
		if dir != "" {
			link = filepath.Join(dir, t.name)
		}
		path, wait, err := t.serve(ctx, link)
		if err != nil {
			return &hal.Error{Kind: hal.Busy, Bus: t.name, Op: "emulate", Err: err}
		}
		bus := p.config.Buses[t.name]
		ports = append(ports, readyPort{Bus: t.name, Type: bus.Type, Path: path, Baud: bus.Baud})
		wg.Go(func() {
			errs[i] = wait()
			cancel() // one line that breaks ends all
		})
	}
	for _, name := range slices.Sorted(maps.Keys(p.config.Buses)) {
		if bus := p.config.Buses[name]; !slices.ContainsFunc(lines, func(t terminal) bool { return t.name == name }) {
			if !bus.Rated() {
				bus.Baud = 0 // it has none
			}
			ports = append(ports, readyPort{Bus: name, Type: bus.Type, Baud: bus.Baud, Reason: unserved(bus.Type)})
		}
	}
	for _, b := range p.boards {
		if b.bus == "" && b.body == configs.Emulated { // it hangs on no bus: the kernel's PWM
			ports = append(ports, readyPort{Bus: b.name(), Type: b.device, Reason: unserved(b.device)})
		}
	}
	for _, q := range p.cameras {
		ports = append(ports, readyPort{Bus: q.name, Type: cameraDevice, Reason: "V4L2 cannot be a terminal: halyard serve --body emulated has its devices in memory"})
	}
	wg.Go(func() { w.move(ctx) })
	if err := a.announcePorts(ports, p.config.Source, dir); err != nil {
		return err
	}
	<-ctx.Done()
	wg.Wait()
	return errors.Join(errs...)
}

// portLine is one served bus, for people.
type portLine struct{ readyPort }

func (portLine) header() []string { return []string{"bus", "type", "baud", "path"} }
func (p portLine) cells() []string {
	path := p.Path
	if path == "" {
		path = "- (" + p.Reason + ")"
	}
	baud := "-"
	if p.Baud != 0 {
		baud = strconv.Itoa(p.Baud)
	}
	return []string{p.Bus, p.Type, baud, path}
}

// announcePorts tells that the buses can be opened: scripts by a line, people by what to type next.
func (a *app) announcePorts(ports []readyPort, config, dir string) error {
	if a.format != "table" {
		return a.line(ready{Event: "ready", Servers: []readyServer{}, Ports: ports})
	}
	lines := make([]portLine, len(ports))
	next := ""
	for i, p := range ports {
		lines[i] = portLine{p}
		if _, servos := busTypes[p.Type]; next == "" && p.Path != "" && servos {
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
	case slices.ContainsFunc(ports, func(p readyPort) bool { return p.Path != "" }):
		a.note("EMULATED: no hardware is touched. Ctrl-C ends it.")
	default:
		a.note("Nothing of it can be a terminal. Next: halyard serve %s --body emulated", config)
	}
	return nil
}
