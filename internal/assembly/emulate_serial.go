package assembly

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// emulatedLine is a serial line with an emulated device at its end: in memory, in step with a rig's cycle.
type emulatedLine interface {
	hal.World
	hal.Clock
	Open() (servo.Line, error)
	Edge() time.Duration
}

// SerialEnd is the device at the end of an emulated serial line: a board that answers at once, or one that sends by
// itself. serve drives it in memory, emulate on a pseudo-terminal.
type SerialEnd struct {
	answers chip.Endpoint
	Board   wire.Board // where answers is nil
}

// Line is the end in memory.
func (s SerialEnd) Line(name string, baud int, seed int64) emulatedLine {
	if s.answers != nil {
		return chip.NewSerial(name, baud, seed, s.answers)
	}
	return wire.NewLine(name, baud, seed, s.Board)
}

// terminal is the end for a pseudo terminal, on the wall clock; mu is held while it is touched.
func (s SerialEnd) terminal(name string, baud int, seed int64, mu *sync.Mutex) *wire.Line {
	b := s.Board
	if s.answers != nil {
		b = chip.NewBoard(s.answers, baud)
	}
	return wire.NewLine(name, baud, seed, &guarded{b, mu})
}

// guarded is a board that shares its true values with a world that moves concurrently.
type guarded struct {
	board wire.Board
	mu    *sync.Mutex
}

func (g *guarded) Receive(p []byte, now time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.board.Receive(p, now)
}

func (g *guarded) Next() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.board.Next()
}

func (g *guarded) Transmit(dst []byte, now time.Duration) []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.board.Transmit(dst, now)
}

func (g *guarded) Baud() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.board.Baud()
}

func (g *guarded) Power(on bool, now time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.board.Power(on, now)
}

// Terminal is one emulated line that can be put on a pseudo terminal.
type Terminal struct {
	Name  string
	Serve func(ctx context.Context, link string) (path string, wait func() error, err error)
}

// EmulateAll makes every emulated device of p.
func EmulateAll(p *plan.Plan) (*EmulatedWorld, error) {
	w, err := EmulateWorld(p)
	if err != nil {
		return nil, err
	}
	b := w.Builder()
	if w.Devices, err = b.EmulateDevices(); err != nil {
		return nil, err
	}
	b.Emulation = w.Devices
	return w, errors.Join(b.connectPulses(), w.Devices.Feel(0)) // without drivers: the boards move the robots
}

// OnCAN is a CAN bus of w on an interface of the kernel.
func (w *EmulatedWorld) OnCAN(bus, name string) (Terminal, error) {
	b := w.Bus(bus)
	if b == nil || !w.onCAN(bus) {
		return Terminal{}, fmt.Errorf("got %q, want the name of a CAN bus with emulated motors", bus)
	}
	return Terminal{bus, func(ctx context.Context, _ string) (string, func() error, error) {
		wait, err := b.ServeCAN(ctx, name)
		return name, wait, err
	}}, nil
}

// serial returns the buses of w that are serial lines of servos.
func (w *EmulatedWorld) serial() []emulatedBus {
	return slices.DeleteFunc(slices.Clone(w.Buses), func(b emulatedBus) bool { return w.onCAN(b.name) })
}

// onCAN reports whether a bus of servos is a CAN bus.
func (w *EmulatedWorld) onCAN(bus string) bool {
	return w.plan.Catalog.Buses.Of(w.plan.Config.Buses[bus].Type).Filters != nil
}

// Terminals are the lines of w that can be put on pseudo terminals, by name.
func (w *EmulatedWorld) Terminals() (list []Terminal) {
	for _, b := range w.serial() {
		list = append(list, Terminal{b.name, b.Bus.ServePTY})
	}
	if w.Devices != nil {
		for _, name := range report.SortedKeys(w.Devices.ends) {
			bus := w.plan.Config.Buses[name]
			line := w.Devices.ends[name].terminal(name, catalog.WireBaud(&bus), w.plan.Config.World.Seed, &w.mu)
			serve := line.ServePTY
			if catalog.Networked(&bus) {
				serve = overTCP(line)
			}
			list = append(list, Terminal{name, serve})
		}
	}
	slices.SortFunc(list, func(a, b Terminal) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Pass advances time by dt: the pulses move the robots, the scene advances, the devices measure it. They fail only for
// a negative time.
func (w *EmulatedWorld) Pass(dt time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Devices != nil {
		motors{w.Devices}.Advance(dt)
	}
	w.moveHands(dt)
	w.Scene.Advance(dt)
	if w.Devices != nil {
		w.Devices.Feel(dt)
	}
}

// overTCP serves the line of a network device at any free loopback port. The path is its address in the form of a
// config. There is no link to it.
func overTCP(line *wire.Line) func(context.Context, string) (string, func() error, error) {
	return func(ctx context.Context, _ string) (string, func() error, error) {
		n, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		n = protocols.Bound(n, protocols.Limits{})
		done := make(chan error, 1)
		go func() { done <- line.ServeTCP(ctx, n) }()
		return catalog.TCPPrefix + n.Addr().String(), sync.OnceValue(func() error { return <-done }), nil
	}
}

// Unserved is why a bus, or a device without one, has no terminal.
func Unserved(buses catalog.Buses, kind string) string {
	const memory = ": halyard serve --body emulated has its devices in memory"
	switch kind {
	case catalog.I2CBus:
		return "I2C cannot be a terminal" + memory
	case catalog.SPIBus:
		return "SPI cannot be a terminal" + memory
	case catalog.SerialBus:
		return "no emulated device is connected to it"
	case "":
		return "it has no line of bytes"
	}
	if buses.Has(kind) {
		if buses.Of(kind).Filters != nil {
			return "CAN cannot be a terminal: halyard emulate --can BUS=INTERFACE serves it on one of the kernel's"
		}
		return "no joint is connected to it"
	}
	return fmt.Sprintf("%s cannot be a terminal%s", kind, memory)
}
