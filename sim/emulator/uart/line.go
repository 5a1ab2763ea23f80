package uart

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Board is the device at the end of a line. The line calls it from one goroutine at a time, in the order of time.
type Board interface {
	// Receive takes bytes of the host, whole by now. It keeps nothing of p.
	Receive(p []byte, now time.Duration)
	// Next is when the board speaks next, Never where it waits to be asked. Speaking moves it.
	Next() time.Duration
	// Transmit appends what the board says at now.
	Transmit(dst []byte, now time.Duration) []byte
	// Baud is the rate at which it listens and speaks now; 0 where the wire has none (USB, TCP).
	Baud() int
	// Power takes its power away or gives it.
	Power(on bool, now time.Duration)
}

// Never is the time of what does not happen.
const Never = time.Duration(math.MaxInt64)

// room is what an adapter keeps for a host that does not read, bytes; what comes on top is lost.
const room = 1 << 16

// Line is a line in memory. It is a hal.World and a hal.Clock; Open is a servo.Opener.
type Line struct {
	name  string
	baud  int // of the host, when it opens the line
	board Board

	mu   sync.Mutex
	edge time.Duration
	own  time.Duration // the host's, at or beyond the edge
	host int           // the host's rate now
	out  wire          // to the board
	in   wire          // to the host
	wild wild
	plug int // counts losses of the adapter: what was opened before one is gone
	text []byte
}

// wire is one direction: what is on its way.
type wire struct {
	pieces []piece
	busy   time.Duration // until when its last byte takes
	bytes  int
	spare  [][]byte // of pieces that are over, to be used again
}

// piece is bytes that were said in one go. They arrive one after the other.
type piece struct {
	b     []byte // what is left of whole
	whole []byte
	first time.Duration // when its first byte is over
	step  time.Duration // from one byte to the next
	baud  int           // that it was said at
}

// warm is how long a board has been under power when its line begins; a real one boots within it.
const warm = time.Minute

// New returns the line called name, opened by hosts at baud, with a board that has been under power for long.
func New(name string, baud int, seed int64, b Board) *Line {
	b.Power(true, -warm)
	return &Line{name: name, baud: baud, host: baud, board: b,
		wild: wild{dice: rand.New(rand.NewPCG(uint64(seed), 0x0A27))}}
}

// Advance lets a period of dt pass.
func (l *Line) Advance(dt time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.edge += dt
	l.own = max(l.own, l.edge)
	l.run(l.own)
	return nil
}

// Edge is the time of the cycle's edge: what a poller in step with the cycle goes by.
func (l *Line) Edge() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.edge
}

// Now is the host's own time: the edge's, or what was waited for beyond it.
func (l *Line) Now() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.own
}

// SleepUntil returns at once; the host's time is t then, or later.
func (l *Line) SleepUntil(t time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own = max(l.own, t)
	l.run(l.own)
}

// Open opens the line; hal.Absent while its adapter is unplugged.
func (l *Line) Open() (servo.Line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.run(l.own)
	if l.wild.at(Unplug, l.own) {
		return nil, &hal.Error{Kind: hal.Absent, Bus: l.name, Op: "open", Err: servo.ErrDisconnected}
	}
	l.host = l.baud
	l.drop()
	return &port{line: l, plug: l.plug}, nil
}

// run lets everything happen up to the time to, in its order: what was written reaches the board, the board speaks.
func (l *Line) run(to time.Duration) {
	for {
		l.suffer(to)
		heard, said := l.out.whole(), Never
		if !l.wild.dark {
			said = l.board.Next()
		}
		if min(heard, said) > to {
			return
		}
		if heard <= said {
			l.deliver(heard)
		} else {
			l.transmit(said)
		}
	}
}

// deliver hands the oldest piece to the board.
func (l *Line) deliver(now time.Duration) {
	p := l.out.shift()
	if l.wild.dark || l.wild.faultOccurs(NoReply, now) {
		return
	}
	if rate := l.board.Baud(); rate != 0 && rate != p.baud {
		l.wild.scramble(p.b)
	}
	l.board.Receive(p.b, now)
}

// transmit puts what the board says on the wire.
func (l *Line) transmit(now time.Duration) {
	rate := l.board.Baud() // saying may end with a change of it
	l.text = l.board.Transmit(l.text[:0], now)
	b, late := l.wild.corrupt(l.text, now)
	if !l.wild.faultOccurs(NoReply, now) {
		l.in.add(b, now+late, rate)
	}
}

// add puts b on the wire from now on, or from when it is free.
func (w *wire) add(b []byte, now time.Duration, baud int) {
	b = b[:min(len(b), room-w.bytes)]
	if len(b) == 0 {
		return
	}
	step := byteTime(baud)
	first := max(now, w.busy) + step
	var own []byte
	if n := len(w.spare); n > 0 {
		own, w.spare = w.spare[n-1][:0], w.spare[:n-1]
	}
	own = append(own, b...)
	w.pieces = append(w.pieces, piece{own, own, first, step, baud})
	w.busy = first + time.Duration(len(b)-1)*step
	w.bytes += len(b)
}

// whole is when the oldest piece is there to its last byte.
func (w *wire) whole() time.Duration {
	if len(w.pieces) == 0 {
		return Never
	}
	p := &w.pieces[0]
	return p.first + time.Duration(len(p.b)-1)*p.step
}

// shift takes the oldest piece off the wire; its bytes hold until the next add.
func (w *wire) shift() piece {
	p := w.pieces[0]
	w.pieces = w.pieces[:copy(w.pieces, w.pieces[1:])]
	w.spare = append(w.spare, p.whole)
	w.bytes -= len(p.b)
	return p
}

// receive moves what is there by now to b; said at another rate than baud it is something else.
func (l *Line) receive(b []byte, now time.Duration) (n int) {
	for n < len(b) && len(l.in.pieces) > 0 {
		p := &l.in.pieces[0]
		if p.first > now {
			return n
		}
		have := len(p.b)
		if p.step > 0 {
			have = min(have, 1+int((now-p.first)/p.step))
		}
		k := copy(b[n:], p.b[:have])
		if p.baud != 0 && p.baud != l.host {
			l.wild.scramble(b[n : n+k])
		}
		n += k
		l.in.bytes -= k
		if p.b, p.first = p.b[k:], p.first+time.Duration(k)*p.step; len(p.b) == 0 {
			l.in.shift()
		}
	}
	return n
}

// drop forgets what is there by now.
func (l *Line) drop() {
	var scrap [256]byte
	for l.receive(scrap[:], l.own) > 0 {
	}
}

// byteTime is that of a byte with its start and stop bit.
func byteTime(baud int) time.Duration {
	if baud <= 0 {
		return 0
	}
	return 10 * time.Second / time.Duration(baud)
}
