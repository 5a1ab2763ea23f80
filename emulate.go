package halyard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/control"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Emulator is the emulated devices of a config, over one simulated world, for programs that open terminals.
type Emulator struct {
	// Behind, when not nil, is called from Serve's goroutines, once in ten seconds at most, when the world could not
	// keep up with the clock: it lost so much of a span.
	Behind func(lost, span time.Duration)

	plan  *plan.Plan
	world *assembly.EmulatedWorld
	state string            // folder of the kept EEPROM; "" = none
	kept  map[string][]byte // the last contents written, by bus
	cans  []assembly.Terminal
}

// saveEvery is how often a changed EEPROM is written to its file.
const saveEvery = time.Second

// Port is a bus or a device of an Emulator: the terminal that it is served on, or the reason why it has no terminal.
type Port struct {
	Bus    string `json:"bus"`
	Type   string `json:"type"`
	Path   string `json:"path"` // of a terminal, or tcp://HOST:PORT; "" if absent
	Baud   int    `json:"baud"`
	Reason string `json:"reason,omitempty"`
	Servos bool   `json:"-"` // servos are on it
}

// Emulate creates the devices of cfg whose body is emulated. Close releases them.
func Emulate(cfg *Config, with ...Option) (*Emulator, error) {
	p, err := plan.Resolve(cfg, newOptions(with).catalog)
	if err != nil {
		return nil, err
	}
	if p, err = p.Stationed(); err != nil {
		return nil, err
	}
	w, err := assembly.EmulateAll(p)
	if err != nil {
		return nil, err
	}
	return &Emulator{plan: p, world: w}, nil
}

// Fault plants a fault that begins now: "off servo 3", "slow bus by=5ms", "BUS: crc servo 3 p=0.1" (docs/faults.md).
func (e *Emulator) Fault(text string) error { return e.world.Plant(text) }

// Hand executes an order of a person at the bench, or reads the state: "move elbow 0.5", "look" (halyard hand --help).
// It may be called while Serve runs. The result can be encoded as JSON: the joints, registers, a note, an error.
func (e *Emulator) Hand(order string) any { return e.world.Hand(order) }

// Keep loads the servos' EEPROM from the folder dir, and saves it there from now on. Call it before Serve.
func (e *Emulator) Keep(dir string) error {
	e.state, e.kept = dir, map[string][]byte{}
	return e.world.Restore(dir)
}

// OnCAN serves a CAN bus of the config on a kernel interface, which must be up at its rate ("vcan0" has no rate). Call
// it before Serve. The error is hal.Invalid if the config has no such bus.
func (e *Emulator) OnCAN(bus, name string) error {
	t, err := e.world.OnCAN(bus, name)
	if err != nil {
		return &hal.Error{Kind: hal.Invalid, Op: "--can " + bus + "=" + name, Err: err}
	}
	e.cans = append(e.cans, t)
	return nil
}

// keep writes changes of the EEPROM until ctx ends, and once more at the end.
func (e *Emulator) keep(ctx context.Context) error {
	tick := time.NewTicker(saveEvery)
	defer tick.Stop()
	for {
		err := e.world.Save(e.state, e.kept)
		select {
		case <-ctx.Done():
			return errors.Join(err, e.world.Save(e.state, e.kept))
		case <-tick.C:
		}
	}
}

// Close releases the devices.
func (e *Emulator) Close() error { return e.world.Devices.Close() }

// Serve serves every serial line on a pseudo terminal, a device of the network at a port of this machine, and moves the
// world with the wall clock, until ctx ends or a line fails. ready is called once all can be opened. With a folder dir,
// dir/BUS is a link to each terminal; a folder that another process serves into is an error of kind hal.Busy.
func (e *Emulator) Serve(ctx context.Context, dir string, ready func([]Port) error) error {
	if dir != "" {
		end, err := serveHand("--dir", dir, e.Hand)
		if err != nil {
			return err
		}
		defer end()
	}
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	var ports []Port
	lines := append(e.world.Terminals(), e.cans...)
	errs := make([]error, len(lines)+1)
	if e.state != "" {
		wg.Go(func() { errs[len(lines)] = e.keep(ctx) })
	}
	for i, t := range lines {
		link := ""
		if dir != "" {
			link = filepath.Join(dir, t.Name)
		}
		path, wait, err := t.Serve(ctx, link)
		if err != nil {
			return &hal.Error{Kind: hal.Busy, Bus: t.Name, Op: "emulate", Err: err}
		}
		bus := e.plan.Config.Buses[t.Name]
		ports = append(ports, Port{Bus: t.Name, Type: bus.Type, Path: path, Baud: bus.Baud,
			Servos: e.world.Bus(t.Name) != nil})
		wg.Go(func() {
			errs[i] = wait()
			cancel() // one line that fails ends all
		})
	}
	// The buses' goroutines and the one that moves the world share its lock while they touch a device.
	wg.Go(func() { e.world.Move(ctx, e.Behind) })
	if err := ready(append(ports, e.unserved(lines)...)); err != nil {
		return err
	}
	<-ctx.Done()
	wg.Wait()
	return errors.Join(errs...)
}

// serveHand claims the folder dir, creates it if necessary, and serves halyard hand in it, until end.
func serveHand(flag, dir string, answer func(order string) any) (end func() error, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &hal.Error{Kind: hal.Busy, Op: flag, Err: err}
	}
	claim, err := lockFolder(flag, dir)
	if err != nil {
		return nil, err
	}
	hand, err := control.ServeLines(filepath.Join(dir, assembly.HandSocket), answer)
	if err != nil {
		return nil, errors.Join(err, claim.Close())
	}
	return func() error { return errors.Join(hand(), claim.Close()) }, nil
}

// unserved are the buses and devices that no terminal serves, each with the reason.
func (e *Emulator) unserved(lines []assembly.Terminal) (ports []Port) {
	for _, name := range report.SortedKeys(e.plan.Config.Buses) {
		if bus := e.plan.Config.Buses[name]; !slices.ContainsFunc(lines,
			func(t assembly.Terminal) bool { return t.Name == name }) {
			if !bus.Rated() {
				bus.Baud = 0 // it has no baud rate
			}
			ports = append(ports, Port{Bus: name, Type: bus.Type, Baud: bus.Baud,
				Reason: assembly.Unserved(e.plan.Catalog.Buses, bus.Type)})
		}
	}
	for _, b := range e.plan.Boards {
		if b.Bus == "" && b.Body == configs.Emulated { // without a bus: the kernel's PWM
			ports = append(ports, Port{Bus: b.Name(), Type: b.Device,
				Reason: assembly.Unserved(e.plan.Catalog.Buses, b.Device)})
		}
	}
	for _, q := range e.plan.Cameras {
		ports = append(ports, Port{Bus: q.Name, Type: plan.CameraDevice,
			Reason: assembly.Unserved(e.plan.Catalog.Buses, "V4L2")})
	}
	return ports
}
