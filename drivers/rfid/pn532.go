package rfid

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/rfidwire"
	"github.com/halyard-robotics/halyard/servo"
)

const (
	ackTimeout    = 30 * time.Millisecond  // a chip acknowledges within 15 ms
	answerTimeout = 150 * time.Millisecond // two tags at four tries take less
	readyPause    = 2 * time.Millisecond   // between two looks whether it is ready
	tries         = 3                      // of an activation, in addition to the first
	maxStale      = 3                      // frames of before that are passed over
	// in which a sleeping chip acknowledges its address again: 2 ms by its data sheet
	wakeTime = 30 * time.Millisecond
)

// PN532 is one reader: a drivers.Sensor of one value. Every Read asks again which tags are in its field: at most two.
type PN532 struct {
	tagListener
	link        pnLink
	data, frame []byte
}

// pnLink carries frames: the serial line, or the bus.
type pnLink interface {
	open() error
	close() error
	// send sends frame, after a wake-up if first is set.
	send(frame []byte, first bool) error
	// receive returns the next frame's data, empty for an acknowledgement; it is valid until the next call.
	receive(timeout time.Duration) ([]byte, error)
	fault(kind hal.Kind, err error) error
}

// NewPN532 returns the reader at the end of a line that open opens, at 115200 baud. It does no I/O.
func NewPN532(name string, open servo.Opener) *PN532 {
	return &PN532{link: &pnSerial{port: servo.PointToPoint{Bus: name, Device: "pn532", Opener: open}}}
}

// NewPN532I2C returns the reader at 0x24 of a bus; nil is the wall's clock. It does no I/O.
func NewPN532I2C(bus conn.Bus, clock hal.Clock) *PN532 {
	return &PN532{link: &pnBus{bus: bus, clock: cmp.Or(clock, i2c.Clock())}}
}

// Open finds the chip, wakes it and sets it up: it reads tags, and gives up soon if absent. A chip that wakes or was
// asked by another program gets the first command twice.
func (r *PN532) Open() error {
	if err := r.link.open(); err != nil {
		return err
	}
	if _, err := r.ask(true, rfidwire.PN532SAM, 1, 0x14, 1); err != nil {
		if _, err = r.ask(true, rfidwire.PN532SAM, 1, 0x14, 1); err != nil {
			return r.absent(err)
		}
	}
	p, err := r.ask(false, rfidwire.PN532Firmware)
	if err != nil {
		return r.absent(err)
	}
	if len(p) != 4 || p[0] != rfidwire.PN532IC {
		return r.link.fault(hal.Absent, fmt.Errorf("identity: got % X, want 32 and three more", p))
	}
	_, err = r.ask(false, rfidwire.PN532RFConfig, rfidwire.PN532Retries, 0xFF, 0x01, tries)
	return err
}

// absent is err for a chip that has never replied.
func (r *PN532) absent(err error) error {
	var known *hal.Error
	if errors.As(err, &known) && known.Kind != hal.Absent {
		return r.link.fault(hal.Absent, known.Err)
	}
	return err
}

// Close gives the line back.
func (r *PN532) Close() error { return r.link.close() }

// Read asks which tags are in reach: about 10 ms where there is one, 30 if absent.
func (r *PN532) Read(values []float64) error {
	p, err := r.ask(false, rfidwire.PN532List, rfidwire.PN532Targets, rfidwire.PN532ListTypeA)
	if err != nil {
		return err
	}
	// Check the whole reply first: of an incomplete one no tag is reported.
	if !rfidwire.ParseTargets(p, func([]byte) {}) {
		return r.link.fault(hal.BusFault, fmt.Errorf("tags: got % X", p))
	}
	rfidwire.ParseTargets(p, func(uid []byte) { r.notify(number(uid)) })
	if len(values) > 0 {
		values[0] = float64(p[0])
	}
	return nil
}

// ask sends a command and returns the data after the command's number in the reply, valid until the next call.
func (r *PN532) ask(first bool, command byte, args ...byte) ([]byte, error) {
	r.data = append(append(r.data[:0], rfidwire.PN532Host, command), args...)
	r.frame = rfidwire.AppendPN532(r.frame[:0], r.data...)
	if err := r.link.send(r.frame, first); err != nil {
		return nil, r.link.fault(hal.BusFault, err)
	}
	// The answer to a command of before may come first: the host was started again in between.
	p, err := r.link.receive(ackTimeout)
	for stale := 0; err == nil && len(p) > 0; stale++ {
		if stale == maxStale {
			return nil, r.link.fault(hal.BusFault, fmt.Errorf("command 0x%02X: got % X, want an acknowledgement",
				command, p))
		}
		p, err = r.link.receive(ackTimeout)
	}
	if err == nil {
		p, err = r.link.receive(answerTimeout)
	}
	for stale := 0; err == nil && stale < maxStale && len(p) >= 2 && p[0] == rfidwire.PN532Chip &&
		p[1] != command+1; stale++ {
		p, err = r.link.receive(answerTimeout)
	}
	switch {
	case err != nil:
		return nil, r.link.fault(hal.BusFault, fmt.Errorf("command 0x%02X: %w", command, err))
	case len(p) < 2 || p[0] != rfidwire.PN532Chip || p[1] != command+1:
		return nil, r.link.fault(hal.BusFault, fmt.Errorf("command 0x%02X: got % X", command, p))
	}
	return p[2:], nil
}

// pnSerial is the chip's HSU.
type pnSerial struct {
	port      servo.PointToPoint
	raw       [128]byte
	kept, out []byte
}

func (l *pnSerial) open() error  { return l.port.Open() }
func (l *pnSerial) close() error { return l.port.Close() }

func (l *pnSerial) fault(kind hal.Kind, err error) error { return l.port.Fault(kind, err) }

func (l *pnSerial) send(frame []byte, first bool) error {
	if l.port.Line == nil {
		return os.ErrClosed
	}
	// An answer that came too late for the command before must not be taken for this one's.
	l.kept = l.kept[:0]
	if err := l.port.Line.Discard(); err != nil {
		return err
	}
	if l.out = l.out[:0]; first {
		l.out = append(l.out, rfidwire.PN532Wake()...)
	}
	l.out = append(l.out, frame...)
	_, err := l.port.Line.Write(l.out)
	return err
}

func (l *pnSerial) receive(timeout time.Duration) ([]byte, error) {
	deadline := l.port.Line.Now() + timeout
	for {
		for len(l.kept) > 0 {
			data, used, ok := rfidwire.ParsePN532(l.kept)
			if used == 0 {
				break
			}
			n := copy(l.raw[:], data) // kept moves on
			l.kept = l.kept[:copy(l.kept, l.kept[used:])]
			if ok {
				return l.raw[:n], nil
			}
		}
		left := deadline - l.port.Line.Now()
		if left < 0 {
			return nil, servo.ErrNoReply // to our command: a line may never be idle
		}
		n, err := l.port.Line.Read(l.raw[:], left)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, servo.ErrNoReply
		}
		if err != nil {
			return nil, err
		}
		l.kept = append(l.kept, l.raw[:n]...)
	}
}

// pnBus is the chip on I2C.
type pnBus struct {
	bus   conn.Bus
	clock hal.Clock
	raw   [1 + 5 + rfidwire.PnMaxFrame + 2]byte
}

func (l *pnBus) open() error  { return nil }
func (l *pnBus) close() error { return nil }

func (l *pnBus) fault(kind hal.Kind, err error) error {
	return &hal.Error{Kind: kind, Bus: l.bus.String(), ID: PN532Address,
		Op: fmt.Sprintf("pn532 at 0x%02X", PN532Address), Err: err, Try: "halyard doctor"}
}

// send asks a chip that sleeps again until it is awake: the first attempt wakes it.
func (l *pnBus) send(frame []byte, first bool) error {
	until := l.clock.Now() + wakeTime
	for {
		err := l.bus.Tx(PN532Address, frame, nil)
		if err == nil || !first || l.clock.Now() >= until {
			return err
		}
		i2c.Sleep(l.clock, readyPause)
	}
}

// receive polls the ready byte and then reads a whole frame: bytes of it that are not read at once are lost.
func (l *pnBus) receive(timeout time.Duration) ([]byte, error) {
	deadline := l.clock.Now() + timeout
	for {
		ready := l.raw[:1]
		if err := l.bus.Tx(PN532Address, nil, ready); err != nil {
			return nil, err
		}
		if ready[0]&rfidwire.PN532Ready != 0 {
			break
		}
		if l.clock.Now() >= deadline {
			return nil, servo.ErrNoReply
		}
		i2c.Sleep(l.clock, readyPause)
	}
	if err := l.bus.Tx(PN532Address, nil, l.raw[:]); err != nil {
		return nil, err
	}
	data, _, ok := rfidwire.ParsePN532(l.raw[1:])
	if !ok {
		return nil, fmt.Errorf("got % X, want a frame", l.raw[:12])
	}
	return data, nil
}

// PN532Baud is the rate of its serial line; PN532Address its only I2C address.
const (
	PN532Baud    = 115200
	PN532Address = 0x24
)
