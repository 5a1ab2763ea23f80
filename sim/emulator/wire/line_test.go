package wire_test

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// parrot sends back what it receives, a millisecond later, and "tick" every second.
type parrot struct {
	baud     int
	received []byte
	answer   time.Duration
	tick     time.Duration
	powered  int
}

func (p *parrot) Receive(b []byte, now time.Duration) {
	p.received, p.answer = append(p.received, b...), now+time.Millisecond
}

func (p *parrot) Next() time.Duration {
	if len(p.received) > 0 {
		return min(p.answer, p.tick)
	}
	return p.tick
}

func (p *parrot) Transmit(dst []byte, now time.Duration) []byte {
	if now >= p.tick {
		p.tick += time.Second
		return append(dst, "tick"...)
	}
	dst = append(dst, p.received...)
	p.received = nil
	return dst
}

func (p *parrot) Baud() int { return p.baud }

func (p *parrot) Power(on bool, now time.Duration) {
	p.received, p.tick = nil, max(0, now)+time.Second
	if on {
		p.powered++
	}
}

// Bytes take their wire time each way, one after the other, and nothing comes before it can.
func TestWireTime(t *testing.T) {
	line := wire.NewLine("line", 10000, 1, &parrot{baud: 10000}) // a byte a millisecond
	l, err := line.Open()
	must(t, err)
	_, err = l.Write([]byte("abcd"))
	must(t, err)
	if line.Now() != 0 {
		t.Errorf("writing took the host %v", line.Now())
	}
	b := make([]byte, 10)
	if n, err := l.Read(b, 5*time.Millisecond); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) ||
		line.Now() != 5*time.Millisecond {
		t.Errorf("got %d %v at %v", n, err, line.Now())
	}
	// Four to the board, one to think, one back.
	if n, err := l.Read(b, time.Second); n != 1 || err != nil || line.Now() != 6*time.Millisecond {
		t.Errorf("got %q %v at %v, want one byte at 6 ms", b[:n], err, line.Now())
	}
	must(t, line.Advance(8*time.Millisecond))
	if n, _ := l.Read(b, 0); string(b[:n]) != "bc" {
		t.Errorf("at 8 ms: got %q, want bc", b[:n])
	}
	must(t, l.Discard())
	line.SleepUntil(1010 * time.Millisecond)
	if n, _ := l.Read(b, 0); string(b[:n]) != "dtick" {
		t.Errorf("later: got %q", b[:n])
	}
}

// At another rate every byte is another byte, both ways; a wire without a rate does not care.
func TestRates(t *testing.T) {
	for _, board := range []int{9600, 0} {
		p := &parrot{baud: board}
		line := wire.NewLine("line", 9600, 1, p)
		l, err := line.Open()
		must(t, err)
		must(t, l.SetBaud(19200))
		l.Write([]byte("hello, world"))
		line.SleepUntil(900 * time.Millisecond)
		b := make([]byte, 100)
		n, _ := l.Read(b, 0)
		if same := bytes.Equal(b[:n], []byte("hello, world")); same != (board == 0) || n != 12 {
			t.Errorf("board at %d: got %q", board, b[:n])
		}
		if l.SetBaud(0) == nil {
			t.Error("baud 0: got no error")
		}
	}
}

func TestPlugAndPower(t *testing.T) {
	p := &parrot{baud: 9600}
	line := wire.NewLine("line", 9600, 1, p)
	l, err := line.Open()
	must(t, err)
	line.Fault(wire.Fault{Kind: wire.Unplugged, For: time.Second})
	if _, err := l.Read(make([]byte, 1), time.Millisecond); !errors.Is(err, servo.ErrDisconnected) {
		t.Errorf("unplugged: got %v", err)
	}
	if _, err := line.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("open: got %v", err)
	}
	line.SleepUntil(2 * time.Second)
	if _, err := l.Write([]byte("x")); !errors.Is(err, servo.ErrDisconnected) {
		t.Errorf("the old opening: got %v", err)
	}
	if _, err := line.Open(); err != nil || p.powered != 1 {
		t.Errorf("plugged in: got %v, powered %d times", err, p.powered)
	}
	line.Fault(wire.Fault{Kind: wire.PowerLoss, For: time.Second})
	line.SleepUntil(4 * time.Second)
	if p.powered != 2 {
		t.Errorf("power: got %d times, want 2", p.powered)
	}
}

// Each fault does what its name says to one telegram.
func TestFaultsDo(t *testing.T) {
	const sent = "0123456789"
	for _, c := range []struct {
		fault wire.Fault
		good  func(got string) bool
	}{
		{wire.Fault{Kind: wire.OpenWire}, func(s string) bool { return s == "" }},
		{wire.Fault{Kind: wire.Corrupted}, func(s string) bool { return len(s) == 10 && s != sent }},
		{wire.Fault{Kind: wire.Dropped}, func(s string) bool { return len(s) == 8 }}, // one each way
		{wire.Fault{Kind: wire.Duplicated}, func(s string) bool { return len(s) == 12 }},
		{wire.Fault{Kind: wire.Truncated}, func(s string) bool { return len(s) < 10 && s == sent[:len(s)] }},
		{wire.Fault{Kind: wire.Delayed, Delay: 300 * time.Millisecond}, func(s string) bool { return s == "" }},
		{wire.Fault{Kind: wire.Garbage}, func(s string) bool { return len(s) > 11 && s[len(s)-10:] == sent }},
		{wire.Fault{Kind: wire.Foreign, Bytes: "who"}, func(s string) bool { return s == "whowho"+sent }},
		{wire.Fault{Kind: wire.Echo}, func(s string) bool { return s == sent+sent }},
	} {
		line := wire.NewLine("line", 115200, 5, &parrot{baud: 115200})
		l, err := line.Open()
		must(t, err)
		line.Fault(c.fault)
		l.Write([]byte(sent))
		line.SleepUntil(500 * time.Millisecond)
		b := make([]byte, 100)
		if n, _ := l.Read(b, 0); !c.good(string(b[:n])) {
			t.Errorf("%v: got %q", c.fault.Kind, b[:n])
		}
	}
}

// A fault without an end also begins in the middle of a wait.
func TestLastingFaultEndsAWait(t *testing.T) {
	line := wire.NewLine("line", 10000, 1, &parrot{baud: 10000})
	l, err := line.Open()
	must(t, err)
	line.Fault(wire.Fault{Kind: wire.Unplugged, From: 10 * time.Millisecond})
	var b [8]byte
	if _, err := l.Read(b[:], 500*time.Millisecond); !errors.Is(err, servo.ErrDisconnected) ||
		l.Now() != 10*time.Millisecond {
		t.Errorf("got %v at %v, want %v at 10ms", err, l.Now(), servo.ErrDisconnected)
	}
}
