package main

import (
	"errors"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	pins "github.com/halyard-robotics/halyard/sim/emulator/gpio"
	"github.com/halyard-robotics/halyard/sim/emulator/uart"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
)

// faultWord is one fault of the matrix: what it is on a serial line and on I2C, now and then, and wholly.
type faultWord struct {
	name  string
	about string
	dead  bool // wholly, no value can come: one that does is a lie
	can   bool // on CAN too, where controllers throw away what is not whole
	// plant begins it; wholly is the second half. nil: the medium cannot have it.
	serial, i2c, gpio, video func(s *testRig, wholly bool) error
}

// lateBy is how late what is late comes: after several cycles.
const lateBy = 60 * time.Millisecond

// faultWords are the faults of the matrix.
func faultWords() []faultWord {
	return []faultWord{
		{name: "lost", can: true, about: "bytes are missing; I2C: not acknowledged; GPIO: edges are", serial: bytewise(uart.Lost), i2c: onChip(chip.NoAck, 0.3), gpio: onLines(pins.Lost), video: onEye(video.Lost)},
		{name: "corrupted", about: "bits are wrong", serial: bytewise(uart.Flip), i2c: flipped, video: mangled},
		{name: "doubled", can: true, about: "bytes come twice; GPIO: contacts bounce", serial: bytewise(uart.Doubled), gpio: onLines(pins.Bounce)},
		{name: "late", can: true, about: "what is said comes 60 ms later; I2C: the bus is held low", serial: delayed, i2c: onChip(chip.BusHeldLow, 0.02), video: onEye(video.Late)},
		{name: "echoed", about: "the host hears itself", serial: always(uart.Echo)},
		{name: "garbage", about: "bytes nobody sent come before and between what is said", serial: anew(uart.Noise)},
		{name: "stranger", can: true, about: "what another device says comes before the answer", serial: anew(uart.Stranger), video: onEye(video.Resized)},
		{name: "short", about: "the end is missing", serial: bytewise(uart.Short), video: onEye(video.Truncated)},
		{name: "cut", about: "GPIO: a wire is cut, where that is to be noticed", dead: true, gpio: onLines(pins.Cut)},
		{name: "unplugged", can: true, about: "the adapter is gone and back as another; I2C: the device's cable is", dead: true,
			serial: unplugged, i2c: onChip(chip.Off, 1), gpio: onLines(pins.Unplugged), video: pullEye},
		{name: "power", can: true, about: "the device loses its power and its settings, first for 50 ms, then for long", dead: true,
			serial: (*testRig).darken, i2c: (*testRig).darken, video: darkEye},
	}
}

// plant is the word's fault on the medium of the stand's device, nil where it cannot have it.
func (w *faultWord) plant(r *faultRow) func(*testRig, bool) error {
	if own := r.own[w.name]; own != nil {
		return own
	}
	if slices.Contains(r.never, w.name) {
		return nil
	}
	switch r.bus {
	case gpioBus:
		if w.name == "doubled" && !r.contacts || w.name == "cut" && !r.cuts {
			return nil
		}
		return w.gpio
	case ofMachine:
		return nil // nothing of it can be cut off
	case i2cBus:
		return w.i2c
	case videoBus:
		return w.video
	case spiBus:
		if w.name == "late" { // nobody holds it: the host alone has the clock
			return nil
		}
		return w.i2c
	}
	if r.frames && !w.can {
		return nil
	}
	return w.serial
}

// stalls is how long the kernel itself waits for a bus that is held low, before any program hears of it.
func (w *faultWord) stalls(r *faultRow) time.Duration {
	if r.bus == i2cBus && w.name == "late" {
		return time.Second
	}
	return 0
}

// The faults of a serial line. Bytes go wrong one in fifty, then every other one.
func bytewise(kind uart.FaultKind) func(*testRig, bool) error {
	return func(s *testRig, wholly bool) error {
		f := uart.Fault{Kind: kind, P: 0.02}
		if wholly {
			f.P = 0.5
		}
		s.tap().Fault(f)
		return nil
	}
}

func anew(kind uart.FaultKind) func(*testRig, bool) error {
	return func(s *testRig, wholly bool) error {
		f := uart.Fault{Kind: kind, P: 0.3, Bytes: s.row.stranger}
		if wholly {
			f.P = 0
		}
		s.tap().Fault(f)
		return nil
	}
}

func always(kind uart.FaultKind) func(*testRig, bool) error {
	return func(s *testRig, _ bool) error {
		s.tap().Fault(uart.Fault{Kind: kind})
		return nil
	}
}

func delayed(s *testRig, wholly bool) error {
	if wholly {
		s.tap().Fault(uart.Fault{Kind: uart.Late, Delay: lateBy})
	}
	return nil
}

func unplugged(s *testRig, wholly bool) error {
	if !wholly {
		return nil
	}
	s.tap().Fault(uart.Fault{Kind: uart.Unplug})
	if name := s.port(); s.nodes[name] != "" {
		return s.unplug(name)
	}
	return nil
}

// port is the stable name of the adapter of the device on trial.
func (s *testRig) port() string { return s.sys.plan.config.Buses[s.row.on].Port }

// tap is the wire of the device on trial.
func (s *testRig) tap() *uart.Tap { return s.taps[s.row.on] }

// onChip is a fault of a chip on the I2C bus: now and then with the probability p, then always. A bus that is held low is
// so for all on it.
func onChip(kind chip.FaultKind, p float64) func(*testRig, bool) error {
	return func(s *testRig, wholly bool) error {
		f := chip.Fault{Kind: kind, Address: s.row.address, P: p}
		if kind == chip.BusHeldLow {
			f.Address = chip.Everyone
		}
		if wholly {
			f.P = 0
		} else if p == 1 {
			return nil
		}
		s.sys.emulation.buses[s.row.on].Fault(f)
		return nil
	}
}

// flipped is bits that are wrong in answers on I2C: in one of thirty, then in one of three. If all were, nobody could tell.
func flipped(s *testRig, wholly bool) error {
	f := chip.Fault{Kind: chip.Flip, Address: s.row.address, P: 1. / 30}
	if wholly {
		f.P = 1. / 3
	}
	s.sys.emulation.buses[s.row.on].Fault(f)
	return nil
}

// onLines is a fault of all lines of the GPIO chip; it is gone wholly or not at all.
func onLines(kind pins.FaultKind) func(*testRig, bool) error {
	return func(s *testRig, wholly bool) error {
		f := pins.Fault{Kind: kind, Line: pins.AnyLine, P: 0.3}
		if wholly {
			f.P = 0
		} else if kind == pins.Unplugged || kind == pins.Cut {
			return nil
		}
		s.sys.emulation.gpios[s.row.on].Fault(f)
		return nil
	}
}

// brownOut is how long a device has no power that is back before anybody has noticed.
const brownOut = 50 * time.Millisecond

// darken takes the device's power away: for a moment, or for good.
func (s *testRig) darken(wholly bool) error {
	span := brownOut
	if wholly {
		span = 0
	}
	for i := range s.sys.lines {
		if l := &s.sys.lines[i]; l.name == s.row.on {
			var faults []error
			for i, name := range s.row.names {
				if s.row.only == "" || s.row.only == name {
					faults = append(faults, l.emu.Fault(emulator.Fault{Kind: emulator.Off, ID: s.row.id + i, For: span}))
				}
			}
			return errors.Join(faults...)
		}
	}
	if bus := s.sys.emulation.buses[s.row.on]; bus != nil {
		bus.Fault(chip.Fault{Kind: chip.Off, Address: s.row.address, For: span})
	}
	switch line := s.sys.emulation.lines[s.row.on].(type) {
	case *chip.Serial:
		line.Fault(chip.Fault{Kind: chip.Off, For: span})
	case *uart.Line:
		line.Fault(uart.Fault{Kind: uart.Off, For: span})
	}
	return nil
}

// heal ends all faults. An adapter that was gone comes back under another number.
func (s *testRig) heal() error {
	for _, t := range s.taps {
		t.ClearFaults()
	}
	for i := range s.sys.lines {
		s.sys.lines[i].emu.ClearFaults()
	}
	for _, b := range s.sys.emulation.buses {
		b.ClearFaults()
	}
	for _, l := range s.sys.emulation.lines {
		if l, ok := l.(interface{ ClearFaults() }); ok {
			l.ClearFaults()
		}
	}
	for _, c := range s.sys.emulation.gpios {
		c.ClearFaults()
	}
	if err := s.healEye(); err != nil {
		return err
	}
	if t := s.taps[s.row.on]; t == nil || t.Unit > 1 || s.nodes[s.port()] != "" {
		return nil
	}
	return s.plug(s.port())
}
