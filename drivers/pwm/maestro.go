package pwm

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pwmreg"
	"github.com/halyard-robotics/halyard/servo"
)

// MaestroConfig describes how a Maestro is used. Its serial mode must be USB dual port or a UART of a fixed baud rate,
// or one that it detects.
type MaestroConfig struct {
	Name     string // of its line, for errors
	Channels int    // 0..Channels-1 are used: 6, 12, 18 or 24; 0 = 6
	// Device is its number on a line of several, 0..127, and chooses the Pololu protocol; -1 = the compact one.
	Device int
	CRC    bool // as in its settings ("enable CRC")
	Detect bool // it detects the baud rate, from a first byte AA
}

// Maestro is one board. It is a drivers.Output. It sends no acknowledgements, so every Write reads its error register.
type Maestro struct {
	config     MaestroConfig
	port       servo.PointToPoint
	send, data []byte
	answer     [2]byte
	busy       time.Duration // when the last byte that was written has left, by the line's clock
}

// maestroMicro is how many channels the Micro has, the one board that does not know MaestroTargets.
const maestroMicro = 6

// maestroTimeout is how long an answer may take, beyond its wire time: it is made between two of the board's own ticks
// of 1 ms.
const maestroTimeout = 20 * time.Millisecond

// NewMaestro returns the board on a line that open opens, and opens again. It does no I/O. The error is hal.Invalid.
func NewMaestro(open servo.Opener, c MaestroConfig) (*Maestro, error) {
	c.Channels = cmp.Or(c.Channels, 6)
	d := &Maestro{config: c, port: servo.PointToPoint{Bus: c.Name, Device: "maestro", Opener: open}}
	switch {
	case c.Channels < 1 || c.Channels > 24:
		return nil, d.fault(hal.Invalid, fmt.Errorf("channels: got %d, want 1..24", c.Channels))
	case c.Device < -1 || c.Device > 127:
		return nil, d.fault(hal.Invalid, fmt.Errorf("device: got %d, want 0..127, or -1 for the compact protocol",
			c.Device))
	}
	return d, nil
}

func (d *Maestro) fault(kind hal.Kind, err error) error { return d.port.Fault(kind, err) }

// Open opens the line, reads the board's errors until they are clear, and ends all pulses.
func (d *Maestro) Open() error {
	if err := d.meet(); err != nil {
		return err
	}
	return cmp.Or(d.Off()...)
}

// Probe asks whether the board answers, and leaves its pulses as they are. It opens the line and closes it.
func (d *Maestro) Probe() error { return errors.Join(d.meet(), d.Close()) }

// meet opens the line and reads the board's errors.
func (d *Maestro) meet() error {
	err := d.port.Open()
	if err != nil {
		return err
	}
	d.busy = 0
	if d.config.Detect {
		if _, err := d.port.Line.Write([]byte{pwmreg.MaestroStart}); err != nil {
			return d.fault(hal.BusFault, err)
		}
	}
	// Old errors do not matter, only that it replies. A half received command of another program ends with another
	// error, so the second reply is clean.
	for range 3 {
		if err = d.errors(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	if err != nil {
		return d.fault(hal.Absent, errors.Unwrap(err))
	}
	return nil
}

// Write sets every channel's target and asks for the board's errors. Targets are quarters of a µs.
func (d *Maestro) Write(pulses []time.Duration) error {
	if d.port.Line == nil {
		return d.fault(hal.Absent, os.ErrClosed)
	}
	n := min(d.config.Channels, len(pulses))
	d.send, d.data = d.send[:0], append(d.data[:0], byte(n), 0)
	for i := range n {
		quarters := (pulses[i]*pwmreg.MaestroQuarters + time.Microsecond/2) / time.Microsecond
		if quarters < 0 || quarters > 1<<14-1 {
			return d.fault(hal.Invalid, fmt.Errorf("channel %d: pulse: got %v, want 0..4095 µs", i, pulses[i]))
		}
		d.data = append(d.data, byte(quarters&0x7F), byte(quarters>>7))
	}
	d.targets()
	// The question for errors goes along: on USB both are one packet.
	d.send = d.append(pwmreg.MaestroErrors)
	return d.judge()
}

// targets adds the commands for the targets in d.data, which has the format of MaestroTargets.
func (d *Maestro) targets() {
	if d.config.Channels > maestroMicro {
		d.send = d.append(pwmreg.MaestroTargets, d.data...) // half the bytes, and all at one time
		return
	}
	for i := range int(d.data[0]) {
		d.send = d.append(pwmreg.MaestroTarget, byte(i), d.data[2+2*i], d.data[3+2*i])
	}
}

func (d *Maestro) append(command byte, data ...byte) []byte {
	return pwmreg.AppendMaestro(d.send, d.config.Device, d.config.CRC, command, data...)
}

// errors reads the board's errors. Any is an error here, since the board did not execute a command that it did not
// understand.
func (d *Maestro) errors() error {
	d.send = d.send[:0]
	d.send = d.append(pwmreg.MaestroErrors)
	return d.judge()
}

// judge sends d.send, which ends with the request for errors.
func (d *Maestro) judge() error {
	bits, err := d.ask()
	if err != nil {
		return err
	}
	if bits != 0 {
		return d.fault(hal.BusFault, fmt.Errorf("board complains: %s (0x%04X)", pwmreg.MaestroErrorNames(bits), bits))
	}
	return nil
}

// write sends d.send. A write does not wait: its bytes are sent after those of the previous one.
func (d *Maestro) write() error {
	line := d.port.Line
	if _, err := line.Write(d.send); err != nil {
		return d.fault(hal.BusFault, err)
	}
	d.busy = max(d.busy, line.Now()) + servo.WireTime(len(d.send), 10, line.Baud())
	return nil
}

// ask sends d.send and reads a reply of two bytes, the low one first.
func (d *Maestro) ask() (uint16, error) {
	if d.port.Line == nil {
		return 0, d.fault(hal.Absent, os.ErrClosed)
	}
	// An answer that came too late for the question before must not be taken for this one's.
	if err := d.port.Line.Discard(); err != nil {
		return 0, d.fault(hal.BusFault, err)
	}
	if err := d.write(); err != nil {
		return 0, err
	}
	deadline := d.busy + maestroTimeout + servo.WireTime(2, 10, d.port.Line.Baud())
	for have := 0; have < len(d.answer); {
		n, err := d.port.Line.Read(d.answer[have:], deadline-d.port.Line.Now())
		if err != nil {
			return 0, d.fault(hal.BusFault, fmt.Errorf("answer: got %d bytes, want 2: %w", have, err))
		}
		have += n
	}
	return uint16(d.answer[0]) | uint16(d.answer[1])<<8, nil
}

// Off ends the pulses of every channel and asks each whether it has: its position is 0 then.
func (d *Maestro) Off() []error {
	if d.port.Line == nil { // an emergency stop also tries a board that was never opened
		if err := d.port.Open(); err != nil {
			return slices.Repeat([]error{d.fault(hal.KindOf(err), err)}, d.config.Channels)
		}
	}
	d.off()
	if err := d.write(); err != nil {
		return slices.Repeat([]error{err}, d.config.Channels)
	}
	errs := make([]error, d.config.Channels)
	for i := range errs {
		d.send = d.send[:0]
		d.send = d.append(pwmreg.MaestroPosition, byte(i))
		quarters, err := d.ask()
		if err != nil { // after one missing reply the other channels are not tried: other devices wait for this
			copy(errs[i:], slices.Repeat([]error{err}, len(errs)-i))
			break
		}
		if quarters != 0 {
			errs[i] = d.fault(hal.BusFault, fmt.Errorf("channel %d: off: got pulses of %d quarter µs", i, quarters))
		}
	}
	return errs
}

// off fills d.send with the commands that end the pulses of every channel.
func (d *Maestro) off() {
	d.send, d.data = d.send[:0], append(d.data[:0], byte(d.config.Channels), 0)
	for range d.config.Channels {
		d.data = append(d.data, 0, 0)
	}
	d.targets()
}

// Close gives the line back and leaves the board as it is.
func (d *Maestro) Close() error { return d.port.Close() }
