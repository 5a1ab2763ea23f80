package imu

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
	"github.com/halyard-robotics/halyard/servo"
)

// Timeout and attempts of one request; the wire time is added.
const (
	bnoTimeout  = 30 * time.Millisecond
	bnoAttempts = 4 // the chip sometimes replies "bus overrun"; the request must be repeated
)

// bnoSerial is the chip's registers over its UART. The protocol has no checksum: a byte that changes on the way is seen
// by its place or not at all.
type bnoSerial struct {
	port    servo.PointToPoint
	request []byte
	reply   [2 + imureg.BNO055MaxTransfer + 62]byte // a reply and the bytes in front of it
}

func (b *bnoSerial) open() error  { return b.port.Open() }
func (b *bnoSerial) close() error { return b.port.Close() }

// Fault is transport's.
func (b *bnoSerial) Fault(kind hal.Kind, err error) error { return b.port.Fault(kind, err) }

// Read is transport's; the result is valid until the next call.
func (b *bnoSerial) Read(register byte, n int) ([]byte, error) {
	b.request = append(b.request[:0], imureg.BNO055Start, 1, register, byte(n))
	return b.ask(register, n)
}

// Write is transport's, of 128 bytes at most.
func (b *bnoSerial) Write(register byte, data ...byte) error {
	b.request = append(append(b.request[:0], imureg.BNO055Start, 0, register, byte(len(data))), data...)
	_, err := b.ask(register, 0)
	return err
}

// ask sends the request and takes its answer: n bytes of data, or the word that a write succeeded where n is 0.
func (b *bnoSerial) ask(register byte, n int) (data []byte, err error) {
	if b.port.Line == nil {
		return nil, b.Fault(hal.Absent, os.ErrClosed)
	}
	for range bnoAttempts {
		var status byte
		data, status, err = b.once(n)
		switch {
		case errors.Is(err, servo.ErrDisconnected):
			return nil, b.Fault(hal.Absent, err)
		case err != nil:
			continue
		case status == 0 || n == 0 && status == imureg.BNO055Wrote:
			return data, nil
		}
		err = fmt.Errorf("register 0x%02X: got answer %d (%s)", register, status, bnoStatus(status))
		if status != imureg.BNO055Overrun {
			break // a repetition would fail too
		}
	}
	return nil, b.Fault(hal.BusFault, err)
}

func bnoStatus(status byte) string {
	if names := bno055Statuses(); int(status) < len(names) {
		return names[status]
	}
	return "unknown"
}

// once is one request and its answer.
func (b *bnoSerial) once(n int) ([]byte, byte, error) {
	// An answer that came too late for the request before must not be taken for this one's.
	if err := b.port.Line.Discard(); err != nil {
		return nil, 0, err
	}
	if _, err := b.port.Line.Write(b.request); err != nil {
		return nil, 0, err
	}
	bytes := len(b.request) + 2 + n
	deadline := b.port.Line.Now() + bnoTimeout + servo.WireTime(bytes, 10, b.port.Line.Baud())
	for have := 0; have < len(b.reply); {
		got, err := b.port.Line.Read(b.reply[have:], deadline-b.port.Line.Now())
		if err != nil {
			return nil, 0, fmt.Errorf("answer: got %d bytes % X, want %d: %w", have, b.reply[:min(have, 8)], 2+n, err)
		}
		have += got
		data, status, ok := parseReply(b.reply[:have], n)
		if !ok {
			continue
		}
		if status == 0 {
			err = b.end(data, have)
		}
		return data, status, err
	}
	return nil, 0, fmt.Errorf("answer: %w", servo.Foreign(b.reply[:]))
}

// surplus is for how many bytes' time something that belongs to an answer may follow it.
const surplus = 2

// end is the error of a reply with bytes after it: an extra byte has shifted all bytes behind it, by one place each
// time, so the error repeats.
func (b *bnoSerial) end(data []byte, have int) error {
	more := cap(b.reply[:])-cap(data)+len(data) < have
	if !more {
		got, err := b.port.Line.Read(b.reply[have:], servo.WireTime(surplus, 10, b.port.Line.Baud()))
		if more = got > 0; err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	if more {
		return errors.New("answer: got more bytes than its length field")
	}
	return nil
}

// parseReply finds a reply in p: n bytes of data (status 0) or a status. It skips an echo or noise before it. false =
// not complete yet. The data is part of p.
func parseReply(p []byte, n int) (data []byte, status byte, ok bool) {
	for i := 0; i+1 < len(p); i++ {
		switch {
		case p[i] == imureg.BNO055Reply && n > 0 && int(p[i+1]) == n:
			if i+2+n > len(p) {
				return nil, 0, false // bytes like a status may be data
			}
			return p[i+2 : i+2+n], 0, true
		case p[i] == imureg.BNO055Answer && p[i+1] > 0 && int(p[i+1]) <= 10:
			return nil, p[i+1], true
		}
	}
	return nil, 0, false
}
