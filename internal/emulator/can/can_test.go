package can

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

func frame(id uint32, data ...byte) servo.CANFrame {
	f := servo.CANFrame{ID: id, Len: byte(len(data))}
	copy(f.Data[:], data)
	return f
}

// Lengths against the closed bounds of the literature (Davis and others, 2007): 47 and 67 bits around the data, and one
// in four of what is stuffed at the most.
func TestBits(t *testing.T) {
	alternating := frame(0x555, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55)
	if got := Bits(&alternating); got < 47+64 || got > 47+64+4 {
		t.Errorf("nothing to stuff in id and data: got %d", got)
	}
	zeros := frame(0, 0, 0, 0, 0, 0, 0, 0, 0)
	if got := Bits(&zeros); got < 47+64+16 || got > 47+64+(34+64-1)/4 {
		t.Errorf("zeros: got %d", got)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		f := servo.CANFrame{ID: dice.Uint32N(1 << 11), Len: byte(dice.IntN(9)), Remote: dice.IntN(4) == 0}
		head, stuffed := 47, 34
		if dice.IntN(2) == 0 {
			f.Extended, f.ID, head, stuffed = true, dice.Uint32N(1<<29), 67, 54
		}
		n := 0
		if !f.Remote {
			for i := range f.Len {
				f.Data[i] = byte(dice.Uint32())
			}
			n = 8 * int(f.Len)
		}
		if got := Bits(&f); got < head+n || got > head+n+(stuffed+n-1)/4 {
			t.Fatalf("%v: got %d, want %d..%d", &f, got, head+n, head+n+(stuffed+n-1)/4)
		}
	}
}

// recorder attaches a station that notes what it hears.
func recorder(b *Bus, log *strings.Builder) *Station {
	s := b.Attach()
	s.Receive = func(f *servo.CANFrame, end time.Duration) { fmt.Fprintf(log, "%v@%v ", f, end) }
	return s
}

func run(b *Bus, until time.Duration) {
	for {
		if _, ok := b.Step(until); !ok {
			return
		}
	}
}

func TestArbitration(t *testing.T) {
	b := New(1_000_000)
	var log strings.Builder
	a, c := b.Attach(), b.Attach()
	recorder(b, &log)
	low, high, wide, remote := frame(0x010), frame(0x020), servo.CANFrame{ID: 0x010 << 18, Extended: true},
		servo.CANFrame{ID: 0x010, Remote: true}
	a.Send(&high, 0)
	a.Send(&low, 0) // behind the other of its own station
	c.Send(&wide, 0)
	c.Send(&remote, 0)
	run(b, time.Second)
	// The extended one first: 010 beats 020; then the remote, then what waited in a.
	at := func(frames ...servo.CANFrame) string {
		var s strings.Builder
		bits := 0
		for _, f := range frames {
			bits += Bits(&f)
			fmt.Fprintf(&s, "%v@%v ", &f, time.Duration(bits)*time.Microsecond)
		}
		return s.String()
	}
	if want := at(wide, remote, high, low); log.String() != want {
		t.Errorf("got %s, want %s", log.String(), want)
	}
	if b.Busy() != b.idle || a.TEC != 0 {
		t.Errorf("busy %v of %v, counter %d", b.Busy(), b.idle, a.TEC)
	}
}

// What is damaged goes out again; the receivers see it once. One that is always damaged is off the bus after 32.
func TestErrors(t *testing.T) {
	b := New(500_000)
	var log strings.Builder
	s := b.Attach()
	peer := recorder(b, &log)
	spoil := 3
	s.Spoils = func(time.Duration) bool { spoil--; return spoil >= 0 }
	f := frame(0x123, 1, 2)
	s.Send(&f, 0)
	run(b, time.Second)
	if strings.Count(log.String(), "123#0102") != 1 || s.Errors != 3 || s.TEC != 23 || peer.REC != 2 {
		t.Errorf("got %s, %d errors, counters %d and %d", log.String(), s.Errors, s.TEC, peer.REC)
	}
	s.Spoils = func(time.Duration) bool { return true }
	log.Reset()
	s.Send(&f, b.idle)
	run(b, time.Second)
	if !s.Off || s.Errors != 3+30 || log.Len() != 0 {
		t.Errorf("always: off %v after %d errors, heard %q", s.Off, s.Errors, log.String())
	}
	s.Send(&f, b.idle)
	if s.Waiting() != 0 || s.Lost != 1 {
		t.Error("off the bus: a frame waits")
	}
	// It comes back after 128 times 11 bits where it does so by itself.
	s.Spoils, s.Returns = nil, true
	other := frame(0x321)
	peer.Send(&other, b.idle+10*time.Millisecond)
	run(b, time.Second)
	run(b, 2*time.Second)
	if s.Off {
		t.Error("not back")
	}
}

// A station alone on a bus gets no acknowledge: its frame stays queued, and the station does not go bus-off.
func TestAlone(t *testing.T) {
	b := New(1_000_000)
	s, other := b.Attach(), b.Attach()
	other.Deaf = true
	f := frame(1)
	s.Send(&f, 0)
	run(b, 100*time.Millisecond)
	if s.Off || s.TEC != passive || s.Waiting() != 1 || s.Errors < 1000 {
		t.Errorf("off %v, counter %d, %d wait, %d errors", s.Off, s.TEC, s.Waiting(), s.Errors)
	}
	other.Deaf = false
	run(b, 101*time.Millisecond)
	if s.Waiting() != 0 {
		t.Error("acknowledged: still waits")
	}
	for range maxQueue + 1 {
		s.Send(&f, time.Hour)
	}
	if s.Lost != 1 {
		t.Errorf("full: %d lost", s.Lost)
	}
	s.Restart()
	if s.Waiting() != 0 || s.TEC != 0 {
		t.Error("restarted: remembers")
	}
}

// Two with one id that say different things disturb each other; the same thing at once is one frame.
func TestTwins(t *testing.T) {
	b := New(1_000_000)
	var log strings.Builder
	x, y := b.Attach(), b.Attach()
	recorder(b, &log)
	same := frame(5, 1)
	x.Send(&same, 0)
	y.Send(&same, 0)
	run(b, time.Millisecond)
	if log.String() != fmt.Sprintf("005#01@%v ", b.idle) || x.Waiting()+y.Waiting() != 0 {
		t.Errorf("the same: got %q, %d wait", log.String(), x.Waiting()+y.Waiting())
	}
	log.Reset()
	differs := frame(5, 2)
	x.Send(&same, b.idle)
	y.Send(&differs, b.idle)
	run(b, time.Second)
	if !x.Off && !y.Off || strings.Count(log.String(), "#") > 1 {
		t.Errorf("different: off %v %v, heard %q", x.Off, y.Off, log.String())
	}
}

func BenchmarkBits(b *testing.B) {
	f := frame(0x123, 1, 2, 3, 4, 5, 6, 7, 8)
	for b.Loop() {
		Bits(&f)
	}
}
