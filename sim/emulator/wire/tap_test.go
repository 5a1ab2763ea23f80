package wire

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// parrot sends back at once what it has received.
type parrot struct {
	received []byte
	at       time.Duration
}

func (p *parrot) Receive(b []byte, now time.Duration) {
	p.received, p.at = append(p.received, b...), now+time.Millisecond
}

func (p *parrot) Next() time.Duration {
	if len(p.received) == 0 {
		return Never
	}
	return p.at
}

func (p *parrot) Transmit(dst []byte, now time.Duration) []byte {
	dst = append(dst, p.received...)
	p.received = p.received[:0]
	return dst
}
func (p *parrot) Baud() int                 { return 115200 }
func (p *parrot) Power(bool, time.Duration) {}

// Each fault does what its name promises to what is sent, and nothing once it is cleared.
func TestTap(t *testing.T) {
	const sent = "halyard"
	for _, c := range []struct {
		fault Fault
		want  func(received string, after time.Duration) bool
	}{
		{Fault{Kind: Dropped}, func(s string, _ time.Duration) bool { return s == "" }},
		{Fault{Kind: Duplicated}, func(s string, _ time.Duration) bool { return s == "hhhhaaaallllyyyyaaaarrrrdddd" }},
		{Fault{Kind: Corrupted}, func(s string, _ time.Duration) bool { return len(s) == len(sent) && s != sent }},
		{Fault{Kind: Dropped, P: 0.3},
			func(s string, _ time.Duration) bool { return len(s) > 0 && len(s) < len(sent) }},
		{Fault{Kind: Truncated, P: 0.2}, func(s string, _ time.Duration) bool {
			return len(s) < len(sent) && bytes.HasPrefix([]byte(sent), []byte(s))
		}},
		{Fault{Kind: Foreign, Bytes: "x"}, func(s string, _ time.Duration) bool { return s == "xx"+sent }},
		{Fault{Kind: Garbage}, func(s string, _ time.Duration) bool {
			return len(s) >= len(sent)+2 && bytes.HasSuffix([]byte(s), []byte(sent))
		}},
		{Fault{Kind: Delayed, Delay: 50 * time.Millisecond}, func(s string, after time.Duration) bool {
			return s == sent && after > 50*time.Millisecond && after < 55*time.Millisecond
		}},
		{Fault{Kind: Echo}, func(s string, _ time.Duration) bool { return s == sent+sent }},
		{Fault{Kind: OpenWire}, func(s string, _ time.Duration) bool { return s == "" }},
	} {
		t.Run(c.fault.Kind.String(), func(t *testing.T) {
			tap := NewTap(3, NewLine("bench", 115200, 1, &parrot{}).Open)
			line, err := tap.Open()
			if err != nil {
				t.Fatal(err)
			}
			exchange := func() (string, time.Duration) {
				if _, err := line.Write([]byte(sent)); err != nil {
					t.Fatal(err)
				}
				var received []byte
				start, last := line.Now(), line.Now()
				for p := make([]byte, 64); ; {
					n, err := line.Read(p, 100*time.Millisecond)
					if errors.Is(err, os.ErrDeadlineExceeded) {
						return string(received), last - start
					} else if err != nil {
						t.Fatal(err)
					}
					received, last = append(received, p[:n]...), line.Now()
				}
			}
			tap.Fault(c.fault)
			if received, after := exchange(); !c.want(received, after) {
				t.Errorf("got %q after %v", received, after)
			}
			tap.ClearFaults()
			if received, _ := exchange(); received != sent {
				t.Errorf("cleared: got %q", received)
			}
		})
	}
}

// On a line of frames a whole frame goes wrong at a time.
func TestTapFrames(t *testing.T) {
	for _, kind := range []Kind{Dropped, Duplicated} {
		tap := NewTap(1, nil)
		tap.Unit = 4
		tap.Fault(Fault{Kind: kind, P: 0.5})
		cut := false
		got := string(tap.spoil(nil, []byte("aaaabbbbccccdddd"), true, &cut))
		left := got
		for _, frame := range []string{"aaaa", "bbbb", "cccc", "dddd"} {
			left = strings.ReplaceAll(left, frame, "")
		}
		if left != "" || len(got) == 16 {
			t.Errorf("%v: got %q", kind, got)
		}
	}
}

// Unplugged, what was opened stays gone; what is opened after it is back is well.
func TestTapUnplugged(t *testing.T) {
	tap := NewTap(3, NewLine("bench", 115200, 1, &parrot{}).Open)
	line, err := tap.Open()
	if err != nil {
		t.Fatal(err)
	}
	tap.Fault(Fault{Kind: Unplugged})
	if _, err := tap.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("opened while it is gone: got %v", err)
	}
	tap.ClearFaults()
	_, wrote := line.Write([]byte{1})
	_, read := line.Read(make([]byte, 1), 0)
	if !errors.Is(wrote, servo.ErrDisconnected) || !errors.Is(read, servo.ErrDisconnected) ||
		!errors.Is(line.Discard(), servo.ErrDisconnected) {
		t.Errorf("the old line: got %v and %v, want gone", wrote, read)
	}
	if line, err = tap.Open(); err != nil {
		t.Fatal(err)
	}
	if _, err := line.Write([]byte{1}); err != nil {
		t.Error(err)
	}
}
