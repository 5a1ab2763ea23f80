package emulator

import (
	"fmt"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// line is a bus in memory: its adapter as a servo.Line. Every method holds the bus's mutex for its own length.
type line struct {
	bus    *Bus
	plug   int
	closed bool
}

// Line opens the bus in memory at its configured rate: transfers return at once and move the bus's clock by the time
// that they would take. Waiting for nothing moves it by the timeout. It allocates nothing once it runs.
func (b *Bus) Line() servo.Line {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.host = b.baud // an adapter is opened at the rate of the config
	return &line{bus: b, plug: b.plug}
}

// Open is Line for a bus whose adapter may be unplugged: an error of kind hal.Absent then. It is a servo.Opener.
func (b *Bus) Open() (servo.Line, error) {
	b.mu.Lock()
	plugged := b.plugged
	b.mu.Unlock()
	if plugged && b.net != nil {
		b.net.open()
	}
	if !plugged { // nobody waits here: the caller tries again
		return nil, &hal.Error{Kind: hal.Absent, Bus: b.name, Op: "open", Err: servo.ErrDisconnected}
	}
	return b.Line(), nil
}

// gone reports whether the adapter that l was opened on has been unplugged since.
func (l *line) gone() bool {
	return l.closed || !l.bus.plugged || l.plug != l.bus.plug || l.bus.net != nil && l.bus.net.host.Off
}

// Write puts p on the wire and moves the clock to when its last byte has left, as tcdrain(3) would wait. The answers
// are on their way when it returns.
func (l *line) Write(p []byte) (int, error) {
	b := l.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) > 0 {
		b.update(b.now)
	}
	if l.gone() {
		return 0, servo.ErrDisconnected
	}
	end := b.receive(p, b.now)
	b.now = max(b.now, end)
	return len(p), nil
}

// Read moves the clock to when the next bytes reach the host, or by timeout where none come in it.
func (l *line) Read(p []byte, timeout time.Duration) (int, error) {
	b := l.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	until := b.now + max(timeout, 0)
	b.run(until)
	at, coming := b.next()
	if !coming || at > until {
		// Waiting is when faults begin and watchdogs trip.
		b.update(until)
		if l.gone() {
			return 0, servo.ErrDisconnected
		}
		return 0, os.ErrDeadlineExceeded
	}
	// The answer has come; the adapter may have been pulled in the meantime.
	b.now = max(b.now, at)
	if len(b.faults) > 0 {
		b.update(b.now)
	}
	if l.gone() {
		return 0, servo.ErrDisconnected
	}
	return b.read(p, b.now, b.host), nil
}

// Discard drops what has come; what is still on the wire or held by the adapter comes later.
func (l *line) Discard() error {
	b := l.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.gone() {
		return servo.ErrDisconnected
	}
	b.discard(b.now)
	return nil
}

// Now is the bus's clock.
func (l *line) Now() time.Duration {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	return l.bus.now
}

// Baud is the host's rate.
func (l *line) Baud() int {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	return l.bus.host
}

// SetBaud changes the host's rate; the servos keep theirs.
func (l *line) SetBaud(baud int) error {
	b := l.bus
	b.mu.Lock()
	defer b.mu.Unlock()
	if baud < 1 || baud > maxBaud {
		return fmt.Errorf("emulator: baud rate: got %d, want 1..%d", baud, maxBaud)
	}
	b.setHost(baud)
	return nil
}

// Close ends this line; the bus stays and may be opened again.
func (l *line) Close() error {
	l.bus.mu.Lock()
	defer l.bus.mu.Unlock()
	l.closed = true
	return nil
}

// maxBaud bounds what a host may set, bit/s.
const maxBaud = 100_000_000

// setHost changes the host's rate; what was half said at the old one is lost. One that cannot be is left alone.
func (b *Bus) setHost(baud int) {
	if baud != b.host && baud > 0 && baud <= maxBaud {
		b.host = baud
		b.resetParsers()
	}
}
