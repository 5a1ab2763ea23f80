package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/uart"
)

// emulatedLine is a serial line with an emulated device at its end: in memory, in step with a rig's cycle.
type emulatedLine interface {
	hal.World
	hal.Clock
	Open() (servo.Line, error)
	Edge() time.Duration
}

// serialEnd is what sits at the end of an emulated serial line: a board that answers at once, or one that speaks by
// itself. Whatever kind of device makes one of them is driven in memory by serve and on a pseudo terminal by emulate.
type serialEnd struct {
	answers chip.Endpoint
	speaks  uart.Board // where answers is nil
}

// line is the end in memory.
func (s serialEnd) line(name string, baud int, seed int64) emulatedLine {
	if s.answers != nil {
		return chip.NewSerial(name, baud, seed, s.answers)
	}
	return uart.New(name, baud, seed, s.speaks)
}

// terminal is the end for a pseudo terminal, on the wall clock; mu is held while it is touched.
func (s serialEnd) terminal(name string, baud int, seed int64, mu *sync.Mutex) *uart.Line {
	b := s.speaks
	if s.answers != nil {
		b = chip.NewBoard(s.answers, baud)
	}
	return uart.New(name, baud, seed, &guarded{b, mu})
}

// guarded is a board that shares what it feels with a world that moves beside it.
type guarded struct {
	board uart.Board
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

// someEmulated loads a config as it is and tells whether anything of it is emulated.
func someEmulated(a *app, f *configFlags, args []string, p **plan) bool {
	c, own, err := f.load(a, args)
	if err != nil {
		return false
	}
	*p = own
	return slices.ContainsFunc(c.Agents, func(g configs.Agent) bool {
		for _, body := range g.Parts {
			if body == configs.Emulated {
				return true
			}
		}
		return g.Body == configs.Emulated
	})
}

// terminal is one emulated line that can be put on a pseudo terminal.
type terminal struct {
	name  string
	serve func(ctx context.Context, link string) (path string, wait func() error, err error)
}

// emulateAll makes every emulated device of p.
func emulateAll(p *plan) (*emulatedWorld, error) {
	w, err := emulateWorld(p)
	if err != nil {
		return nil, err
	}
	b := &builder{plan: p, system: &system{scene: w.scene}}
	for i := range p.agents {
		b.robots = append(b.robots, w.scene.Body(p.agents[i].config.Name))
	}
	if w.devices, err = b.emulateDevices(); err != nil {
		return nil, err
	}
	b.emulation = w.devices
	return w, errors.Join(b.hangEmulated(), w.devices.feel(0))
}

// terminals are the lines of w that can be put on pseudo terminals, by name.
func (w *emulatedWorld) terminals(p *plan) (list []terminal) {
	for _, b := range w.buses {
		if busTypes[p.config.Buses[b.name].Type].filters == nil {
			list = append(list, terminal{b.name, b.bus.ServePTY})
		}
	}
	if w.devices != nil {
		for _, name := range sortedKeys(w.devices.ends) {
			bus := p.config.Buses[name]
			if networked(&bus) {
				line := w.devices.ends[name].terminal(name, 0, p.config.World.Seed, &w.mu)
				list = append(list, terminal{name, overTCP(line)})
				continue
			}
			line := w.devices.ends[name].terminal(name, bus.Baud, p.config.World.Seed, &w.mu)
			list = append(list, terminal{name, line.ServePTY})
		}
	}
	slices.SortFunc(list, func(a, b terminal) int { return strings.Compare(a.name, b.name) })
	return list
}

// advance lets dt pass: what pulses there are moves the robots, the scene goes on, the devices feel what it came to. None
// of them refuses anything but a negative time.
func (w *emulatedWorld) advance(dt time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.devices != nil {
		motors{w.devices}.Advance(dt)
	}
	w.scene.Advance(dt)
	if w.devices != nil {
		w.devices.feel(dt)
	}
}

// overTCP serves a line where the device is one of the network: at any free port of this machine alone, whose address, as
// a config says it, is the path. There is no link to it.
func overTCP(line *uart.Line) func(context.Context, string) (string, func() error, error) {
	return func(ctx context.Context, _ string) (string, func() error, error) {
		n, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", nil, err
		}
		done := make(chan error, 1)
		go func() { done <- line.ServeTCP(ctx, n) }()
		return tcpPrefix + n.Addr().String(), sync.OnceValue(func() error { return <-done }), nil
	}
}

// hangEmulated lets the channels of emulated boards move the simulated robots, where no driver is there to be hung on them.
func (b *builder) hangEmulated() error {
	for i := range b.plan.agents {
		p := &b.plan.agents[i]
		for k := range p.joints {
			j := &p.joints[k]
			if j.pulses.board == nil || j.body != configs.Emulated {
				continue
			}
			if err := b.motor(i, k, j, pulseOf(&p.layout.Actuators[k], j)); err != nil {
				return err
			}
		}
	}
	return nil
}

// pulseOf is the calibration of a joint on a board's channel, a nominal one where nothing was measured.
func pulseOf(a *hal.Actuator, j *jointPlan) *calibration.Pulse {
	if j.pulses.calibration != nil {
		return j.pulses.calibration
	}
	return nominalPulse(a, j)
}

// unserved is why a bus, or a device without one, has no terminal.
func unserved(kind string) string {
	const memory = ": halyard serve --body emulated has its devices in memory"
	switch kind {
	case i2cBus:
		return "I2C cannot be a terminal" + memory
	case spiBus:
		return "SPI cannot be a terminal" + memory
	case serialBus:
		return "no emulated device hangs on it"
	case "":
		return "it has no line of bytes"
	}
	if t, line := busTypes[kind]; line {
		if t.filters != nil {
			return "CAN cannot be a terminal" + memory
		}
		return "no joint hangs on it"
	}
	return fmt.Sprintf("%s cannot be a terminal%s", kind, memory)
}
