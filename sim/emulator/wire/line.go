package wire

import (
	"context"
	"net"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// Board is the device at the end of a Line. The line calls it from one goroutine at a time, in the order of time.
type Board interface {
	// Receive handles complete bytes of the host. It keeps no reference to p.
	Receive(p []byte, now time.Duration)
	// Next is the time of the board's next transmission, Never while it waits for a request.
	Next() time.Duration
	// Transmit appends the bytes that the board sends at now.
	Transmit(dst []byte, now time.Duration) []byte
	// Baud is the board's present rate; 0 if the line has none (USB, TCP).
	Baud() int
	// Power switches its power off or on.
	Power(on bool, now time.Duration)
}

// Line is a full-duplex serial line in memory with a board at its end: both directions carry bytes at the same time. It
// is a hal.World and a hal.Clock; Open is a servo.Opener.
type Line struct {
	Medium
	toHost  Path
	toBoard []piece
	spare   [][]byte // of pieces that are over, to be used again
	waiting int      // bytes of toBoard
	board   Board
	baud    int // of the host, when it opens the line
	host    int // now
	dark    bool
	text    []byte
}

// piece is one write of the host. The board receives it when its last byte ends.
type piece struct {
	b     []byte
	whole time.Duration
	baud  int
}

// powered is how long a board has been under power when its line begins; a real one boots within it.
const powered = time.Minute

// NewLine returns the line called name, opened by hosts at baud, with a board that has been under power for long.
func NewLine(name string, baud int, seed int64, b Board) *Line {
	b.Power(true, -powered)
	l := &Line{baud: baud, host: baud, board: b}
	l.Medium = NewMedium(name, seed, 0x0A27, nil, l.notice)
	return l
}

// notice takes the board's power and gives it back.
func (l *Line) notice(now time.Duration) {
	if off := l.Find(PowerLoss, All, now) != nil; off != l.dark {
		if l.dark = off; off {
			l.toHost.Cut(now)
		}
		l.board.Power(!off, now)
	}
}

// Advance lets a period of dt pass.
func (l *Line) Advance(dt time.Duration) error {
	l.Lock()
	defer l.Unlock()
	l.Step(dt)
	lineEnd{l}.Run(l.own, false)
	return nil
}

// SleepUntil returns at once; the host's time is t then, or later.
func (l *Line) SleepUntil(t time.Duration) {
	l.Lock()
	defer l.Unlock()
	l.Pass(t)
	lineEnd{l}.Run(l.own, false)
}

// Open opens the line; hal.Absent while its adapter is unplugged.
func (l *Line) Open() (servo.Line, error) {
	l.Lock()
	defer l.Unlock()
	l.host = l.baud
	p, err := OpenPort(&l.Medium, lineEnd{l})
	if err == nil {
		l.toHost.Discard(l.own)
	}
	return p, err
}

// ServePTY serves the line on a pseudo terminal; see the function.
func (l *Line) ServePTY(ctx context.Context, link string) (path string, wait func() error, err error) {
	return ServePTY(ctx, &l.Medium, lineEnd{l}, max(1, l.baud), link)
}

// ServeTCP serves the line to one client after another of n; see the function.
func (l *Line) ServeTCP(ctx context.Context, n net.Listener) error {
	return ServeTCP(ctx, &l.Medium, lineEnd{l}, n)
}

// lineEnd is a Line as its host's adapter sees it.
type lineEnd struct{ *Line }

// Send is End's: the bytes are on their way when it returns.
func (l lineEnd) Send(p []byte, now time.Duration) time.Duration {
	if l.Occurs(Echo, All, now) != nil {
		l.toHost.Queue(p, now, l.host)
	}
	l.text = append(l.text[:0], p...)
	b, late := l.Spoil(l.text, All, now)
	if b = b[:min(len(b), maxWaiting-l.waiting)]; len(b) == 0 {
		return now
	}
	start := now + late
	if n := len(l.toBoard); n > 0 {
		start = max(start, l.toBoard[n-1].whole)
	}
	var own []byte
	if n := len(l.spare); n > 0 {
		own, l.spare = l.spare[n-1][:0], l.spare[:n-1]
	}
	l.toBoard = append(l.toBoard, piece{append(own, b...), start + l.toHost.Time(len(b), l.host), l.host})
	l.waiting += len(b)
	return now
}

// events is when the board has the next piece whole, and when it sends next.
func (l lineEnd) events() (received, sent time.Duration) {
	received, sent = Never, Never
	if len(l.toBoard) > 0 {
		received = l.toBoard[0].whole
	}
	if !l.dark {
		sent = l.board.Next()
	}
	return received, sent
}

// Run is End's: written bytes reach the board, and the board sends.
func (l lineEnd) Run(to time.Duration, stop bool) time.Duration {
	for {
		received, sent := l.events()
		next := min(received, sent)
		if at := l.toHost.Arrival(); stop && at <= min(next, to) {
			return at
		}
		if next > to {
			return to
		}
		if received <= sent {
			l.receive(received)
		} else {
			l.transmit(sent)
		}
	}
}

// receive hands the oldest piece to the board.
func (l lineEnd) receive(now time.Duration) {
	p := l.toBoard[0]
	l.toBoard = l.toBoard[:copy(l.toBoard, l.toBoard[1:])]
	l.spare = append(l.spare, p.b)
	l.waiting -= len(p.b)
	if l.dark || l.Occurs(OpenWire, All, now) != nil {
		return
	}
	if rate := l.board.Baud(); rate != p.baud {
		for i, b := range p.b {
			p.b[i] = Sample(b, p.baud, rate)
		}
	}
	l.board.Receive(p.b, now)
}

// transmit puts the board's output on the wire.
func (l lineEnd) transmit(now time.Duration) {
	rate := l.board.Baud() // sending may end with a change of it
	l.text = l.board.Transmit(l.text[:0], now)
	b, late := l.Spoil(l.text, All, now)
	if len(b) > 0 && l.Occurs(OpenWire, All, now) == nil {
		l.toHost.Queue(b, now+late, rate)
	}
}

// The other methods are End's.
func (l lineEnd) Due() time.Duration {
	received, sent := l.events()
	return min(received, sent, l.toHost.Arrival())
}

func (l lineEnd) Receive(p []byte, now time.Duration) int { return l.toHost.Take(p, now, l.host) }
func (l lineEnd) Discard(now time.Duration)               { l.toHost.Discard(now) }
func (l lineEnd) Baud() int                               { return l.host }
func (l lineEnd) Tune(baud int)                           { l.host = baud }
func (l lineEnd) Rest(time.Duration)                      {}

// DTR passes the state of the modem line to the board, if it supports it.
func (l lineEnd) DTR(on bool, now time.Duration) {
	if b, ok := l.board.(interface{ DTR(bool, time.Duration) }); ok {
		b.DTR(on, now)
	}
}

// LineFaults are the kinds of fault that a Line has.
func LineFaults() []Kind {
	return []Kind{PowerLoss, OpenWire, Unplugged, Corrupted, Dropped, Duplicated, Truncated, Delayed, Garbage, Foreign,
		Echo}
}
