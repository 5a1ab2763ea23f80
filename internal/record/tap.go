package record

import (
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// maxTape bounds what one line may do in a cycle and have it recorded, bytes of a tape.
const maxTape = 4 << 20

// usualTape is what a tape holds of a line without growing.
const usualTape = 2 << 10

// tape is what a line did: a byte for each use, its kind and whether it failed, then what belongs to the kind. It is as
// short as it can be, since a cycle writes hundreds of uses.
type tape struct {
	data []byte
	errs []error       // of the uses that failed, in their order
	at   time.Duration // the line's clock at the last opNow; one is kept as what has passed since
	lost uint64        // uses beyond the bound
}

// failed is set in the byte of a use that failed.
const failed = 0x80

func (t *tape) clear() { t.data, t.errs, t.at, t.lost = t.data[:0], t.errs[:0], 0, 0 }

func (t *tape) empty() bool { return len(t.data) == 0 }

// keep adds a use of a line.
func (t *tape) keep(kind opKind, at time.Duration, n int, data []byte, err error) {
	if len(t.data)+len(data) > maxTape {
		t.lost++
		return
	}
	head := byte(kind)
	if err != nil {
		head |= failed
		t.errs = append(t.errs, err)
	}
	if kind == opNow {
		if d := uint64(at - t.at); d < uint64(64*time.Microsecond) && d%uint64(time.Microsecond) == 0 { // most are
			t.data = append(t.data, head, byte(d/uint64(time.Microsecond)))
		} else {
			t.data = binary.AppendVarint(append(t.data, head, 0xff), int64(d))
		}
		t.at = at
		return
	}
	t.data = append(t.data, head)
	switch kind {
	case opWrite, opRead:
		t.data = append(binary.AppendUvarint(t.data, uint64(len(data))), data...)
	case opBaud, opSet:
		t.data = binary.AppendVarint(t.data, int64(n))
	}
}

// uses counts what was kept.
func (t *tape) uses() (n uint64) {
	t.each(func(op, []byte) { n++ })
	return n
}

// each calls f with each use, in order, and its bytes.
func (t *tape) each(f func(o op, data []byte)) {
	rest, errs := t.data, t.errs
	at := time.Duration(0)
	for len(rest) > 0 {
		o, data := op{kind: opKind(rest[0] &^ failed)}, []byte(nil)
		if rest[0]&failed != 0 {
			o.err, errs = errs[0], errs[1:]
		}
		rest = rest[1:]
		switch o.kind {
		case opNow:
			if rest[0] != 0xff {
				at, rest = at+time.Duration(rest[0])*time.Microsecond, rest[1:]
			} else {
				d, n := binary.Varint(rest[1:])
				at, rest = at+time.Duration(d), rest[1+n:]
			}
			o.at = at
		case opWrite, opRead:
			size, n := binary.Uvarint(rest)
			rest = rest[n:]
			data, rest = rest[:size], rest[size:]
		case opBaud, opSet:
			v, n := binary.Varint(rest)
			o.n, rest = int(v), rest[n:]
		}
		f(o, data)
	}
}

// Taps are the recorder's ears on the lines of a system, which exist before its rig does.
type Taps struct {
	on   atomic.Bool
	rig  atomic.Pointer[hal.Rig] // whose cycles count; nil = none has ended
	mu   sync.Mutex              // nothing is called under it
	list []*tap
}

// Count lets the cycles of rig count: each use of a line belongs to the cycle after the last one that is over.
func (t *Taps) Count(rig *hal.Rig) { t.rig.Store(rig) }

// Listen keeps what lines do from now on, for a recording that starts soon.
func (t *Taps) Listen() { t.on.Store(true) }

// mute ends Listen, and forgets what was kept.
func (t *Taps) mute() {
	t.on.Store(false)
	for _, ear := range t.all() {
		ear.mu.Lock()
		ear.tape.clear()
		ear.sealed, ear.held = nil, 0
		ear.mu.Unlock()
	}
}

// Name is what the next line of a bus is called: a bus with emulated and real servos is two lines.
func (t *Taps) Name(bus string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := bus
	for n := 2; slices.ContainsFunc(t.list, func(have *tap) bool { return have.bus == name }); n++ {
		name = bus + "_" + strconv.Itoa(n)
	}
	return name
}

// Tap is open with an ear on the line that it opens, by a name of Name. While nothing is recorded or watched it costs
// two loads a call.
func (t *Taps) Tap(name string, open servo.Opener) servo.Opener {
	ear := &tap{bus: name, of: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, ear)
	return func() (servo.Line, error) {
		line, err := open()
		ear.keep(opOpen, 0, 0, nil, err)
		if err != nil {
			return nil, err
		}
		return &tappedLine{line, ear}, nil
	}
}

// all are the taps there are.
func (t *Taps) all() []*tap {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

type tap struct {
	bus string
	of  *Taps

	mu     sync.Mutex // nothing is called under it
	tape   tape
	after  uint64   // the cycle after which tape began
	sealed []sealed // of earlier cycles, oldest first
	spare  []tape   // used memory
	held   int      // bytes of sealed
	frames frames
}

// sealed is what a line did after a cycle, up to the end of the next.
type sealed struct {
	tape
	after uint64
}

// maxSealed bounds what waits for the writer, bytes of a line.
const maxSealed = 64 << 20

// keep is called hundreds of times a cycle: while nothing is recorded it is a load, else two atomic operations and a
// few stores.
func (t *tap) keep(kind opKind, at time.Duration, n int, data []byte, err error) {
	if t.of.on.Load() {
		t.add(kind, at, n, data, err)
	}
}

func (t *tap) add(kind opKind, at time.Duration, n int, data []byte, err error) {
	t.mu.Lock() // never panics: no defer
	if rig := t.of.rig.Load(); rig != nil {
		if last := rig.LastCycle(); last != t.after {
			t.seal(last)
		}
	}
	if t.held > maxSealed {
		t.tape.lost++
	} else {
		t.tape.keep(kind, at, n, data, err)
	}
	t.mu.Unlock()
}

// seal ends the tape: the next one begins after a cycle. Under the lock.
func (t *tap) seal(after uint64) {
	if !t.tape.empty() {
		t.held += len(t.tape.data)
		t.sealed = append(t.sealed, sealed{t.tape, t.after})
		t.tape = tape{}
		if last := len(t.spare) - 1; last >= 0 {
			t.tape, t.spare = t.spare[last], t.spare[:last]
		} else {
			t.tape.data = make([]byte, 0, usualTape)
		}
	}
	t.after = after
}

// take exchanges what was kept in a cycle for the memory of into, which becomes it. Earlier cycles are forgotten: no
// one asked for them.
func (t *tap) take(cycle uint64, into *tape) {
	t.mu.Lock()
	defer t.mu.Unlock()
	into.clear()
	if t.after < cycle {
		t.seal(cycle)
	}
	for len(t.sealed) > 0 && t.sealed[0].after < cycle {
		if cap(into.data) > 0 {
			t.spare = append(t.spare, *into)
		}
		*into = t.sealed[0].tape
		t.held -= len(into.data)
		if t.sealed[0].after < cycle-1 {
			into.clear()
		}
		t.sealed = slices.Delete(t.sealed, 0, 1)
	}
}

// tappedLine is a line whose every use is kept.
type tappedLine struct {
	servo.Line
	tap *tap
}

func (l *tappedLine) Write(p []byte) (int, error) {
	n, err := l.Line.Write(p)
	p = p[:max(0, min(n, len(p)))]
	l.tap.keep(opWrite, 0, 0, p, err)
	l.tap.frames.keep(true, p)
	return n, err
}

func (l *tappedLine) Read(p []byte, timeout time.Duration) (int, error) {
	n, err := l.Line.Read(p, timeout)
	l.tap.keep(opRead, 0, 0, p[:n], err)
	l.tap.frames.keep(false, p[:n])
	return n, err
}

func (l *tappedLine) Discard() error {
	err := l.Line.Discard()
	l.tap.keep(opDiscard, 0, 0, nil, err)
	return err
}

func (l *tappedLine) Now() time.Duration {
	now := l.Line.Now()
	l.tap.keep(opNow, now, 0, nil, nil)
	return now
}

func (l *tappedLine) SetBaud(baud int) error {
	err := l.Line.SetBaud(baud)
	l.tap.keep(opBaud, 0, baud, nil, err)
	return err
}

func (l *tappedLine) Close() error {
	err := l.Line.Close()
	l.tap.keep(opClose, 0, 0, nil, err)
	return err
}

// SetDTR is the line's, where it has one.
func (l *tappedLine) SetDTR(on bool) error {
	line, ok := l.Line.(interface{ SetDTR(bool) error })
	if !ok {
		return nil
	}
	err := line.SetDTR(on)
	l.tap.keep(opSet, 0, 0, nil, err)
	return err
}

// LatencyTimer is the line's, where it has one.
func (l *tappedLine) LatencyTimer() (d time.Duration, note string) {
	if line, ok := l.Line.(interface {
		LatencyTimer() (time.Duration, string)
	}); ok {
		return line.LatencyTimer()
	}
	return 0, ""
}

// File implements servo.Filed; nil where the line has no descriptor.
func (l *tappedLine) File() (*os.File, error) {
	if f, ok := l.Line.(servo.Filed); ok {
		return f.File()
	}
	return nil, nil
}

// Piece is the line's, 0 where it takes all at once.
func (l *tappedLine) Piece() int {
	if p, ok := l.Line.(interface{ Piece() int }); ok {
		return p.Piece()
	}
	return 0
}

// The names of the errors of lines on which drivers decide.
const (
	timedOut     = "timeout"
	disconnected = "disconnected"
)

// errorName is how err is written: what drivers decide by first.
func errorName(err error) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return timedOut
	case errors.Is(err, servo.ErrDisconnected):
		return disconnected
	}
	return hal.KindOf(err).String() + ": " + err.Error()
}

// errorNamed is an error on which drivers decide as they did on the one that was written.
func errorNamed(name string) error {
	switch name {
	case "":
		return nil
	case timedOut:
		return os.ErrDeadlineExceeded
	case disconnected:
		return servo.ErrDisconnected
	}
	kind, text, _ := strings.Cut(name, ": ")
	for k := hal.Unexpected; k <= hal.Timeout; k++ {
		if k.String() == kind {
			return &hal.Error{Kind: k, Err: errors.New(text)}
		}
	}
	return errors.New(name)
}
