package record

import (
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

// maxTape bounds what one line may do in a cycle and have it recorded.
const (
	maxTape    = 4 << 20 // bytes
	maxTapeOps = 1 << 16
)

// tape is what a line did.
type tape struct {
	ops  []op
	data []byte // of writes and reads, one after another
	lost uint64 // ops beyond the bounds
}

func (t *tape) clear() { t.ops, t.data, t.lost = t.ops[:0], t.data[:0], 0 }

// Taps are the recorder's ears on the lines of a system, which exist before its rig does.
type Taps struct {
	on   atomic.Bool
	mu   sync.Mutex
	list []*tap
}

// Listen keeps what lines do from now on, for a recording that starts soon.
func (t *Taps) Listen() { t.on.Store(true) }

// mute ends Listen, and forgets what was kept.
func (t *Taps) mute() {
	t.on.Store(false)
	for _, ear := range t.all() {
		ear.mu.Lock()
		ear.tape.clear()
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

// Tap is open with an ear on the line that it opens, by a name of Name. While nothing is recorded or watched it costs two loads a call.
func (t *Taps) Tap(name string, open servo.Opener) servo.Opener {
	ear := &tap{bus: name, on: &t.on}
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
	on  *atomic.Bool

	mu     sync.Mutex
	tape   tape
	frames frames
}

func (t *tap) keep(kind opKind, at time.Duration, n int, data []byte, err error) {
	if !t.on.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.tape.data)+len(data) > maxTape || len(t.tape.ops) >= maxTapeOps {
		t.tape.lost++
		return
	}
	if data != nil {
		n = len(data)
	}
	t.tape.ops = append(t.tape.ops, op{kind, at, n, err})
	t.tape.data = append(t.tape.data, data...)
}

// swap takes what was kept and leaves an empty tape in its place.
func (t *tap) swap(into *tape) {
	into.clear()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tape, *into = *into, t.tape
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
