package servotest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Playback is a servo.Line that replies by its turns and records every deviation from them. Its clock is virtual:
// writing and waiting take virtual wire time, and no real time.
type Playback struct {
	Piece int // bytes a Read at most, 0 = all that is there; 1 shakes a reader's framing

	turns   []Turn
	at      int // next turn
	rate    int
	now     time.Duration
	pending []arrival // in the order in which they arrive
	gone    bool
	faults  []error
}

// arrival is a group of bytes and the time from which they can be read.
type arrival struct {
	bytes   []byte
	at      time.Duration
	unasked bool
}

// NewPlayback returns a line of baud bit/s with turns to come.
func NewPlayback(baud int, turns ...Turn) *Playback { return &Playback{rate: baud, turns: turns} }

// Play returns a line of baud bit/s that plays a session's text. Close also returns faults of the text.
func Play(baud int, text string) *Playback {
	turns, err := Parse(text)
	b := NewPlayback(baud, turns...)
	if err != nil {
		b.faults = append(b.faults, err)
	}
	return b
}

var (
	_ servo.Line = (*Playback)(nil)
	_ hal.Clock  = (*Playback)(nil)
)

// Write checks p against the next turn.
func (b *Playback) Write(p []byte) (int, error) {
	if b.gone {
		return 0, servo.ErrDisconnected
	}
	b.now += b.wire(len(p))
	if b.at == len(b.turns) {
		b.fault("write %d: got % X, want nothing more", b.at, p)
		return len(p), nil
	}
	t := &b.turns[b.at]
	if !t.Any && !bytes.Equal(p, t.Write) {
		b.fault("write %d: got % X, want % X", b.at, p, t.Write)
	}
	b.at++
	at := b.now
	if k := len(b.pending); k > 0 {
		at = max(at, b.pending[k-1].at) // one thing after the other
	}
	for i, p := range append([]Word{{t.After, t.Read}}, t.Then...) {
		if at += p.After + b.wire(len(p.Read)); len(p.Read) > 0 {
			b.pending = append(b.pending, arrival{p.Read, at, i > 0})
		}
	}
	b.gone = t.Gone && len(b.pending) == 0
	return len(p), nil
}

// Read returns the bytes of the turns, or lets timeout pass.
func (b *Playback) Read(p []byte, timeout time.Duration) (int, error) {
	if b.gone {
		return 0, servo.ErrDisconnected
	}
	if len(b.pending) == 0 || b.pending[0].at > b.now+timeout {
		b.now += timeout
		return 0, os.ErrDeadlineExceeded
	}
	next := &b.pending[0]
	b.now = max(b.now, next.at)
	if b.Piece > 0 && len(p) > b.Piece {
		p = p[:b.Piece]
	}
	n := copy(p, next.bytes)
	if next.bytes = next.bytes[n:]; len(next.bytes) == 0 {
		b.pending = b.pending[1:]
	}
	// The adapter goes with the last byte of a turn that ends with that.
	if len(b.pending) == 0 && b.at > 0 {
		b.gone = b.turns[b.at-1].Gone
	}
	return n, nil
}

// Discard drops unread bytes and a pending reply; later unsolicited bytes still arrive.
func (b *Playback) Discard() error {
	if b.gone {
		return servo.ErrDisconnected
	}
	for len(b.pending) > 0 && (b.pending[0].at <= b.now || !b.pending[0].unasked) {
		b.pending = b.pending[1:]
	}
	return nil
}

// Now is the virtual clock.
func (b *Playback) Now() time.Duration { return b.now }

// Pass lets d of the virtual clock pass.
func (b *Playback) Pass(d time.Duration) { b.now += d }

// SleepUntil returns at once; the virtual clock is at t then, or later. With Now it makes the line a hal.Clock, for
// devices that wait by one.
func (b *Playback) SleepUntil(t time.Duration) { b.now = max(b.now, t) }

// Baud is the rate.
func (b *Playback) Baud() int { return b.rate }

// SetBaud changes the rate.
func (b *Playback) SetBaud(baud int) error { b.rate = baud; return nil }

// Close returns everything that did not go by the turns, leftovers included.
func (b *Playback) Close() error {
	if n := len(b.turns) - b.at; n > 0 {
		b.fault("closed with %d turns left: want write of % X", n, b.turns[b.at].Write)
		b.at = len(b.turns)
	}
	return errors.Join(b.faults...)
}

func (b *Playback) wire(n int) time.Duration {
	return servo.WireTime(n, 10, b.rate)
}

func (b *Playback) fault(format string, args ...any) {
	b.faults = append(b.faults, fmt.Errorf("playback: "+format, args...))
}
