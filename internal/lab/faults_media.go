package lab

import (
	"errors"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// FaultWord is one fault of the matrix: what it is on a serial line and on I2C, now and then, and wholly.
type FaultWord struct {
	Name, About string
	Dead        bool // in the second half no value can be received; a value that is received is false
	can         bool // also on CAN, where controllers drop damaged frames
	// They plant the fault; wholly selects the second half. nil: the medium cannot have the fault.
	Serial, I2c, Gpio, Video func(s *TestRig, wholly bool) error
}

// lateBy is the delay of delayed bytes: several cycles.
const lateBy = 60 * time.Millisecond

// FaultWords are the faults of the matrix.
func FaultWords() []FaultWord {
	return []FaultWord{
		{Name: "dropped", can: true, About: "bytes are missing; I2C: not acknowledged; GPIO: edges are", Serial: bytewise(wire.Dropped), I2c: onChip(wire.Dropped, 0.3), Gpio: onLines(wire.Dropped), Video: onEye(wire.Dropped)},
		{Name: "corrupted", About: "bits are wrong", Serial: bytewise(wire.Corrupted), I2c: flipped, Video: mangled},
		{Name: "duplicated", can: true, About: "bytes come twice; GPIO: contacts bounce", Serial: bytewise(wire.Duplicated), Gpio: onLines(wire.Duplicated)},
		{Name: "delayed", can: true, About: "transmitted bytes arrive 60 ms later; I2C: the bus is held low", Serial: delayed, I2c: onChip(wire.HeldLow, 0.02), Video: onEye(wire.Delayed)},
		{Name: "echo", About: "the adapter echoes transmitted bytes", Serial: always(wire.Echo)},
		{Name: "garbage", About: "random bytes before and between the packets", Serial: inserted(wire.Garbage)},
		{Name: "foreign", can: true, About: "a packet of another device precedes the reply", Serial: inserted(wire.Foreign), Video: onEye(wire.Foreign)},
		{Name: "truncated", About: "the end is missing", Serial: bytewise(wire.Truncated), Video: onEye(wire.Truncated)},
		{Name: "open_wire", About: "GPIO: a wire is cut, where that is to be noticed", Dead: true, Gpio: onLines(wire.OpenWire)},
		{Name: "unplugged", can: true, About: "the adapter is gone and back as another; I2C: the device's cable is", Dead: true,
			Serial: unplugged, I2c: onChip(wire.PowerLoss, 1), Gpio: onLines(wire.Unplugged), Video: pullEye},
		{Name: "power_loss", can: true, About: "the device loses its power and its settings, first for 50 ms, then for long", Dead: true,
			Serial: (*TestRig).Darken, I2c: (*TestRig).Darken, Video: darkEye},
	}
}

// Plant is the word's fault on the medium of the stand's device, nil where it cannot have it.
func (w *FaultWord) Plant(r *FaultRow) func(*TestRig, bool) error {
	if own := r.own[w.Name]; own != nil {
		return own
	}
	if slices.Contains(r.never, w.Name) {
		return nil
	}
	switch r.Bus {
	case catalog.GPIOBus:
		if w.Name == "duplicated" && !r.contacts || w.Name == "open_wire" && !r.cuts {
			return nil
		}
		return w.Gpio
	case ofMachine:
		return nil // it has no wire
	case catalog.I2CBus:
		return w.I2c
	case VideoBus:
		return w.Video
	case catalog.SPIBus:
		if w.Name == "delayed" { // no device can hold the bus: only the host drives the clock
			return nil
		}
		return w.I2c
	}
	if r.frames && !w.can {
		return nil
	}
	return w.Serial
}

// stalls is how long the kernel waits for a bus that is held low before it reports an error.
func (w *FaultWord) stalls(r *FaultRow) time.Duration {
	if r.Bus == catalog.I2CBus && w.Name == "delayed" {
		return time.Second
	}
	return 0
}

// bytewise is a fault of single bytes on a serial line: one in fifty, then one in two.
func bytewise(kind wire.Kind) func(*TestRig, bool) error {
	return func(s *TestRig, wholly bool) error {
		f := wire.Fault{Kind: kind, P: 0.02}
		if wholly {
			f.P = 0.5
		}
		s.Tap().Fault(f)
		return nil
	}
}

// inserted is a fault that inserts bytes on a serial line, with a probability of 0.3, then always.
func inserted(kind wire.Kind) func(*TestRig, bool) error {
	return func(s *TestRig, wholly bool) error {
		f := wire.Fault{Kind: kind, P: 0.3, Bytes: string(s.Row.stranger)}
		if wholly {
			f.P = 0
		}
		s.Tap().Fault(f)
		return nil
	}
}

func always(kind wire.Kind) func(*TestRig, bool) error {
	return func(s *TestRig, _ bool) error {
		s.Tap().Fault(wire.Fault{Kind: kind})
		return nil
	}
}

func delayed(s *TestRig, wholly bool) error {
	if wholly {
		s.Tap().Fault(wire.Fault{Kind: wire.Delayed, Delay: lateBy})
	}
	return nil
}

func unplugged(s *TestRig, wholly bool) error {
	if !wholly {
		return nil
	}
	s.Tap().Fault(wire.Fault{Kind: wire.Unplugged})
	if name := s.port(); s.nodes[name] != "" {
		return s.unplug(name)
	}
	return nil
}

// port is the stable name of the adapter of the device on trial.
func (s *TestRig) port() string { return s.Sys.Plan.Config.Buses[s.Row.On].Port }

// Tap is the wire of the device on trial.
func (s *TestRig) Tap() *wire.Tap { return s.taps[s.Row.On] }

// onChip is a fault of a chip on the I2C bus: now and then with the probability p, then always. A bus that is held low is
// so for all on it.
func onChip(kind wire.Kind, p float64) func(*TestRig, bool) error {
	return func(s *TestRig, wholly bool) error {
		f := wire.Fault{Kind: kind, Target: int(s.Row.Address), P: p}
		if kind == wire.HeldLow {
			f.Target = wire.All
		}
		if wholly {
			f.P = 0
		} else if p == 1 {
			return nil
		}
		s.Sys.Emulation.Buses[s.Row.On].Fault(f)
		return nil
	}
}

// flipped corrupts bits of answers on I2C: in one of 30, then in one of 3. If all were corrupted, they would look valid.
func flipped(s *TestRig, wholly bool) error {
	f := wire.Fault{Kind: wire.Corrupted, Target: int(s.Row.Address), P: 1. / 30}
	if wholly {
		f.P = 1. / 3
	}
	s.Sys.Emulation.Buses[s.Row.On].Fault(f)
	return nil
}

// onLines is a fault of all lines of the GPIO chip; it is gone wholly or not at all.
func onLines(kind wire.Kind) func(*TestRig, bool) error {
	return func(s *TestRig, wholly bool) error {
		f := wire.Fault{Kind: kind, Target: wire.All, P: 0.3}
		if wholly {
			f.P = 0
		} else if kind == wire.Unplugged || kind == wire.OpenWire {
			return nil
		}
		s.Sys.Emulation.Gpios[s.Row.On].Fault(f)
		return nil
	}
}

// brownOut is the length of a power loss that is too short for the host to notice.
const brownOut = 50 * time.Millisecond

// Darken switches the device's power off: for brownOut, or permanently.
func (s *TestRig) Darken(wholly bool) error {
	span := brownOut
	if wholly {
		span = 0
	}
	for i := range s.Sys.Lines {
		if l := &s.Sys.Lines[i]; l.Name == s.Row.On {
			var faults []error
			for i, name := range s.Row.names {
				if s.Row.only == "" || s.Row.only == name {
					faults = append(faults, l.Emu.Fault(wire.Fault{Kind: wire.PowerLoss, Target: s.Row.id + i, For: span}))
				}
			}
			return errors.Join(faults...)
		}
	}
	if bus := s.Sys.Emulation.Buses[s.Row.On]; bus != nil {
		bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: int(s.Row.Address), For: span})
	}
	if line, ok := s.Sys.Emulation.Lines[s.Row.On].(*wire.Line); ok {
		line.Fault(wire.Fault{Kind: wire.PowerLoss, For: span})
	}
	return nil
}

// heal ends all faults. An adapter that was gone comes back under another number.
func (s *TestRig) heal() error {
	for _, t := range s.taps {
		t.ClearFaults()
	}
	for i := range s.Sys.Lines {
		s.Sys.Lines[i].Emu.ClearFaults()
	}
	for _, b := range s.Sys.Emulation.Buses {
		b.ClearFaults()
	}
	for _, l := range s.Sys.Emulation.Lines {
		if l, ok := l.(interface{ ClearFaults() }); ok {
			l.ClearFaults()
		}
	}
	for _, c := range s.Sys.Emulation.Gpios {
		c.ClearFaults()
	}
	if err := s.healEye(); err != nil {
		return err
	}
	if t := s.taps[s.Row.On]; t == nil || t.Unit > 1 || s.nodes[s.port()] != "" {
		return nil
	}
	return s.plug(s.port())
}
