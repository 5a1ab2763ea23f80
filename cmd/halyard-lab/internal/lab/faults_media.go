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
	Name, About              string
	Dead                     bool    // in the second half no value can be received; a value that is received is false
	can                      bool    // also on CAN, where controllers drop damaged frames
	Serial, I2c, Gpio, Video planter // nil: the medium cannot have the fault
}

// lateBy is the delay of delayed bytes: several cycles.
const lateBy = 60 * time.Millisecond

// FaultWords are the faults of the matrix.
func FaultWords() []FaultWord {
	return []FaultWord{
		{Name: "dropped", can: true, About: "bytes are missing; I2C: no acknowledgement; GPIO: edges are missing",
			Serial: bytewise(wire.Dropped), I2c: chipFault(wire.Dropped, 0.3), Gpio: pinFault(wire.Dropped, 0.3),
			Video: onEye(wire.Dropped)},
		// If all replies on I2C were corrupted, they would look valid.
		{Name: "corrupted", About: "bits are wrong", Serial: bytewise(wire.Corrupted),
			I2c: strikes(onChip, wire.Fault{Kind: wire.Corrupted}, 1./30, 1./3), Video: mangled},
		{Name: "duplicated", can: true, About: "bytes are received twice; GPIO: contacts bounce",
			Serial: bytewise(wire.Duplicated), Gpio: pinFault(wire.Duplicated, 0.3)},
		{Name: "delayed", can: true, About: "transmitted bytes arrive 60 ms later; I2C: the bus is held low",
			Serial: strikes(onLine, wire.Fault{Kind: wire.Delayed, Delay: lateBy}, notYet, 0),
			I2c:    chipFault(wire.HeldLow, 0.02), Video: onEye(wire.Delayed)},
		{Name: "echo", About: "the adapter echoes transmitted bytes",
			Serial: strikes(onLine, wire.Fault{Kind: wire.Echo}, 0, 0)},
		{Name: "garbage", About: "random bytes before and between the packets", Serial: inserted(wire.Garbage)},
		{Name: "foreign", can: true, About: "a packet of another device precedes the reply",
			Serial: inserted(wire.Foreign), Video: onEye(wire.Foreign)},
		{Name: "truncated", About: "the end is missing", Serial: bytewise(wire.Truncated),
			Video: onEye(wire.Truncated)},
		{Name: "open_wire", About: "GPIO: a wire is cut, of devices that must detect it", Dead: true,
			Gpio: pinFault(wire.OpenWire, notYet)},
		{Name: "unplugged", can: true,
			About: "the adapter is unplugged and returns at another path; I2C: the device is unplugged", Dead: true,
			Serial: unplugged, I2c: chipFault(wire.PowerLoss, notYet), Gpio: pinFault(wire.Unplugged, notYet),
			Video: pullEye},
		{Name: "power_loss", can: true,
			About: "the device loses power and its settings, first for 50 ms, then for seconds", Dead: true,
			Serial: (*TestRig).Darken, I2c: (*TestRig).Darken, Video: darkEye},
	}
}

// Plant is the word's fault on the medium of the test rig's device, nil where it cannot have it.
func (w *FaultWord) Plant(r *FaultRow) planter {
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

// planter plants a fault; wholly selects its second half.
type planter = func(s *TestRig, wholly bool) error

// notYet is the probability of a fault that is planted only in the second half.
const notYet = -1

// strikes plants f at a place: with the probability part, then with whole, 0 = always.
func strikes(place func(*TestRig, wire.Fault), f wire.Fault, part, whole float64) planter {
	return func(s *TestRig, wholly bool) error {
		f := f
		if f.P = part; wholly {
			f.P = whole
		}
		if f.P != notYet {
			place(s, f)
		}
		return nil
	}
}

// onLine plants a fault of the line of the device on trial; what is inserted is what another device would send.
func onLine(s *TestRig, f wire.Fault) {
	if f.Kind == wire.Garbage || f.Kind == wire.Foreign {
		f.Bytes = string(s.Row.stranger)
	}
	s.Tap().Fault(f)
}

// onChip plants a fault of the chip of the device on trial; a bus that is held low is so for all chips.
func onChip(s *TestRig, f wire.Fault) {
	if f.Target = int(s.Row.Address); f.Kind == wire.HeldLow {
		f.Target = wire.All
	}
	s.Sys.Emulation.Buses[s.Row.On].Fault(f)
}

// onPins plants a fault of all lines of the GPIO chip of the device on trial.
func onPins(s *TestRig, f wire.Fault) {
	f.Target = wire.All
	s.Sys.Emulation.Gpios[s.Row.On].Fault(f)
}

// bytewise is a fault of single bytes on a serial line: one in fifty, then one in two.
func bytewise(kind wire.Kind) planter { return strikes(onLine, wire.Fault{Kind: kind}, 0.02, 0.5) }

// inserted is a fault that inserts bytes on a serial line.
func inserted(kind wire.Kind) planter { return strikes(onLine, wire.Fault{Kind: kind}, 0.3, 0) }

// chipFault is a fault of a chip: now and then with the probability part, then always.
func chipFault(kind wire.Kind, part float64) planter {
	return strikes(onChip, wire.Fault{Kind: kind}, part, 0)
}

// pinFault is a fault of the lines of a GPIO chip.
func pinFault(kind wire.Kind, part float64) planter {
	return strikes(onPins, wire.Fault{Kind: kind}, part, 0)
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
					faults = append(faults, l.Emu.Fault(wire.Fault{Kind: wire.PowerLoss, Target: s.Row.id + i,
						For: span}))
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
