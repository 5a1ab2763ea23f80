package gpio

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// Pins are the lines of a device: on which chip, and how it is wired.
type Pins struct {
	Bus       string   // the chip's name in the config, for errors
	Open      Opener   //
	Lines     []string // offsets, or names, in the device's order
	ActiveLow bool     // the low level is the active one
	Bias      Bias     // the resistor inside the chip
	User      string   // consumer of the lines, shown by gpioinfo: "halyard left_bumper"
}

// Bias is a pull resistor inside the chip for an undriven line. A chip without one ignores it.
type Bias uint8

// The resistors.
const (
	NoBias Bias = iota // as the machine's start left it
	Up
	Down
)

func (b Bias) flags() gpiochip.Flags {
	return [...]gpiochip.Flags{0, gpiochip.PullUp, gpiochip.PullDown}[min(b, Down)]
}

// input are the flags of a line that is listened to.
func (p *Pins) input() gpiochip.Flags {
	f := gpiochip.Input | gpiochip.EdgeRising | gpiochip.EdgeFalling | p.Bias.flags()
	if p.ActiveLow {
		f |= gpiochip.ActiveLow
	}
	return f
}

// lines are the lines of one device, asked for together.
type lines struct {
	pins    *Pins
	op      string // name of the device in errors
	node    Node   // nil while closed
	offsets []uint32
	seq     uint32 // of the last event
	arg     [gpiochip.ValuesSize]byte
	raw     [batch * gpiochip.EventSize]byte
	events  [batch]gpiochip.Event
}

// batch is how many events one read takes, and rounds how many reads one reading of the lines takes at most: a line in
// a storm of edges must not hold its reader for good.
const (
	batch  = 64
	rounds = gpiochip.MaxEvents/batch + 1
)

func (l *lines) fault(err error) error { return fault(l.pins.Bus, l.op, err) }

func (l *lines) faultf(kind hal.Kind, format string, args ...any) error {
	return &hal.Error{Kind: kind, Bus: l.pins.Bus, Op: l.op, Err: fmt.Errorf(format, args...), Try: "halyard doctor"}
}

// open gives the lines back, if it has them, and asks for them.
func (l *lines) open(flags gpiochip.Flags, buffer uint32, attributes ...gpiochip.Attribute) error {
	if err := l.Close(); err != nil {
		return err
	}
	chip, err := l.pins.Open()
	if err != nil {
		return l.fault(err)
	}
	err = l.request(chip, gpiochip.Request{Consumer: l.pins.User, Flags: flags, Buffer: buffer, Attributes: attributes})
	return l.fault(errors.Join(err, chip.Close()))
}

func (l *lines) request(chip Node, r gpiochip.Request) error {
	for _, name := range l.pins.Lines {
		offset, err := find(chip, name)
		if err != nil {
			return err
		}
		r.Offsets = append(r.Offsets, offset)
	}
	arg, err := r.AppendTo(nil)
	if err != nil {
		return err
	}
	if err := chip.Ioctl(gpiochip.GetLine, arg); err != nil {
		return explain(chip, r.Offsets, err)
	}
	l.node, l.offsets, l.seq = chip.Lines(gpiochip.LinesOf(arg)), r.Offsets, 0
	return nil
}

// explain reports which line the kernel refused, and its consumer.
func explain(chip Node, offsets []uint32, err error) error {
	var c gpiochip.ChipInfo
	all, failed := survey(chip, &c)
	if failed != nil {
		return err
	}
	for _, offset := range offsets {
		switch {
		case int(offset) >= len(all):
			return invalid("line: got offset %d of %s (%s), want 0..%d", offset, c.Name, c.Label, len(all)-1)
		case errors.Is(err, syscall.EBUSY) && all[offset].Flags&gpiochip.Used != 0:
			return fmt.Errorf("line %d is held by %q: %w", offset, all[offset].Consumer, err)
		}
	}
	return err
}

// Close releases the lines unchanged. A second call has no effect.
func (l *lines) Close() error {
	if l.node == nil {
		return nil
	}
	err := l.node.Close()
	l.node = nil
	return l.fault(err)
}

// values are the lines' activities, bit i of line i.
func (l *lines) values() (uint64, error) {
	if l.node == nil {
		return 0, l.fault(os.ErrClosed)
	}
	mask := uint64(1)<<len(l.offsets) - 1
	gpiochip.PutValues(l.arg[:], 0, mask)
	if err := l.node.Ioctl(gpiochip.GetValues, l.arg[:]); err != nil {
		return 0, l.fault(err)
	}
	bits, _ := gpiochip.ParseValues(l.arg[:])
	return bits & mask, nil
}

// set sets the outputs of mask to bits.
func (l *lines) set(bits, mask uint64) error {
	if l.node == nil {
		return l.fault(os.ErrClosed)
	}
	gpiochip.PutValues(l.arg[:], bits, mask)
	return l.fault(l.node.Ioctl(gpiochip.SetValues, l.arg[:]))
}

// read takes edges that have come, up to a batch; if absent it waits for one. The events are the reader's until
// its next call. lost is how many more there were that the kernel dropped, for its queue was full.
func (l *lines) read(wait time.Duration) (events []gpiochip.Event, lost uint32, err error) {
	if l.node == nil {
		return nil, 0, l.fault(os.ErrClosed)
	}
	n, err := l.node.Read(l.raw[:], wait)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, 0, nil
	case err != nil:
		return nil, 0, l.fault(err)
	case n < 0 || n > len(l.raw) || n%gpiochip.EventSize != 0:
		return nil, 0, l.faultf(hal.BusFault, "events: got %d bytes, want whole ones of %d", n, gpiochip.EventSize)
	}
	for i := range n / gpiochip.EventSize {
		e := &l.events[i]
		if err := e.Parse(l.raw[i*gpiochip.EventSize:][:gpiochip.EventSize]); err != nil {
			return nil, 0, l.fault(err)
		}
		if !slices.Contains(l.offsets, e.Line) {
			return nil, 0, l.faultf(hal.BusFault, "events: got one of line %d, want one of %v", e.Line, l.offsets)
		}
		// The number starts at 1, wraps, and includes dropped events.
		lost += e.Seq - l.seq - 1
		l.seq = e.Seq
	}
	return l.events[:n/gpiochip.EventSize], lost, nil
}

// each takes all edges that have come, after waiting for the first, and hands them to take in their order.
func (l *lines) each(wait time.Duration, take func(*gpiochip.Event)) (lost uint32, err error) {
	for range rounds {
		events, dropped, err := l.read(wait)
		if err != nil {
			return lost, err
		}
		lost += dropped
		for i := range events {
			take(&events[i])
		}
		if len(events) < batch {
			break
		}
		wait = 0
	}
	return lost, nil
}

// sample is each, and then the lines' activities.
func (l *lines) sample(wait time.Duration, take func(*gpiochip.Event)) (bits uint64, lost uint32, err error) {
	if lost, err = l.each(wait, take); err == nil {
		bits, err = l.values()
	}
	return bits, lost, err
}
