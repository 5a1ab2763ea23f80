package reader_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/rfid"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/rfidwire"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/reader"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

const period = 10 * time.Millisecond

// subject is one reader under faults, read by a poller in step with the cycle.
type subject struct {
	poller   *drivers.Poller
	world    hal.World
	set      func(tags ...uint32)
	fault    func(kind int, p float64) // by the place in faults
	clear    func()
	mu       sync.Mutex
	notified []int
}

// faults are those of the three kinds of line, by what they do; -1 where a line has no such.
var faults = []struct {
	name       string
	uart       wire.Kind
	serial     wire.Kind
	bus        wire.Kind
	on         [3]bool // rdm6300, pn532 on a line, pn532 on a bus
	tells, raw bool    // it must be seen; it may make a wrong tag, for nothing tells noise with a right sum
}{
	{"off", wire.PowerLoss, wire.PowerLoss, wire.PowerLoss, [3]bool{false, true, true}, true, false},
	{"deaf", wire.OpenWire, wire.OpenWire, wire.Dropped, [3]bool{false, true, true}, true, false},
	{"unplug", wire.Unplugged, wire.Unplugged, wire.HeldLow, [3]bool{true, true, true}, true, false},
	{"flip", wire.Corrupted, wire.Corrupted, wire.Corrupted, [3]bool{true, true, true}, false, false},
	{"lost", wire.Dropped, wire.Dropped, wire.Dropped, [3]bool{true, true, false}, false, false},
	{"doubled", wire.Duplicated, wire.Duplicated, wire.Duplicated, [3]bool{true, true, false}, false, false},
	{"short", wire.Truncated, wire.Garbage, wire.Garbage, [3]bool{true, true, true}, false, false},
	{"noise", wire.Garbage, wire.Garbage, wire.Garbage, [3]bool{true, true, false}, false, false},
}

func (s *subject) listen(t *testing.T) *subject {
	t.Helper()
	if !s.poller.Listen(func(tag int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.notified = append(s.notified, tag)
	}) {
		t.Fatal("it reads no tags")
	}
	if err := s.poller.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.poller.Close() })
	return s
}

func subjects(t *testing.T, seed int64) map[string]*subject {
	t.Helper()
	rdm, far, near := &reader.RDM6300{Version: 0x62}, &reader.PN532{}, &reader.PN532{}
	line := wire.NewLine("rdm6300", rfid.RDM6300Baud, seed, rdm)
	hsu := chip.NewSerial("hsu", rfid.PN532Baud, seed, far)
	bus := chip.NewBus("i2c", 400_000, seed, near)
	host := bus.Host()
	return map[string]*subject{
		"rdm6300": (&subject{world: line, set: func(tags ...uint32) { rdm.Tags = tags },
			fault: func(k int, p float64) { line.Fault(wire.Fault{Kind: faults[k].uart, P: p}) },
			clear: line.ClearFaults,
			poller: drivers.NewPoller(rfid.NewRDM6300("rdm6300", line.Open),
				drivers.PollerConfig{Values: 1, Period: 20 * time.Millisecond, Clock: line, CycleTime: line.Edge}),
		}).listen(t),
		"pn532": (&subject{world: hsu, set: func(tags ...uint32) { far.Tags = tags },
			fault: func(k int, p float64) { hsu.Fault(wire.Fault{Kind: faults[k].serial, P: p}) },
			clear: hsu.ClearFaults,
			poller: drivers.NewPoller(rfid.NewPN532("hsu", hsu.Open),
				drivers.PollerConfig{Values: 1, Period: 50 * time.Millisecond, Clock: hsu, CycleTime: hsu.Edge}),
		}).listen(t),
		"pn532 i2c": (&subject{world: bus, set: func(tags ...uint32) { near.Tags = tags },
			fault: func(k int, p float64) { bus.Fault(wire.Fault{Kind: faults[k].bus, P: p}) }, clear: bus.ClearFaults,
			poller: drivers.NewPoller(rfid.NewPN532I2C(host, host),
				drivers.PollerConfig{Values: 1, Period: 50 * time.Millisecond, Clock: host, CycleTime: bus.Edge}),
		}).listen(t),
	}
}

// run lets d pass and returns the reported tags, each once, and whether the reader had a fault.
func (s *subject) run(t *testing.T, d time.Duration) (tags []int, count float64, fault error) {
	t.Helper()
	s.notified = nil
	var n [1]float64
	for range d / period {
		if err := s.world.Advance(period); err != nil {
			t.Fatal(err)
		}
		if err := s.poller.Receive(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.poller.Latest(n[:], 0); err != nil {
			fault = err
		}
	}
	slices.Sort(s.notified)
	return slices.Compact(s.notified), n[0], fault
}

var names = []string{"rdm6300", "pn532", "pn532 i2c"}

// A tag in the field is reported; one that has left it is not.
func TestReaders(t *testing.T) {
	all := subjects(t, 1)
	for _, name := range names {
		s := all[name]
		for _, c := range []struct{ field, want []int }{
			{nil, nil}, {[]int{7}, []int{7}}, {[]int{1001, 7}, []int{7, 1001}}, {[]int{1, 2, 3}, []int{1, 2}},
			{nil, nil},
		} {
			want := slices.Clone(c.want)
			if name == "rdm6300" && len(c.field) > 1 { // it reads the nearest
				want = c.field[:1]
			}
			var tags []uint32
			for _, f := range c.field {
				tags = append(tags, uint32(f))
			}
			s.set(tags...)
			s.run(t, 500*time.Millisecond) // earlier tags are dropped
			if got, n, err := s.run(t, time.Second); err != nil || !slices.Equal(got, want) || int(n) != len(want) {
				t.Errorf("%s: a field of %d: got %d and a count of %v, %v, want %d", name, c.field, got, n, err, want)
			}
		}
	}
}

// An RDM630 sends one telegram a tag: it is reported once, each time that it comes.
func TestRDM630(t *testing.T) {
	board := &reader.RDM6300{Version: 0x62, Once: true}
	line := wire.NewLine("rdm630", rfid.RDM6300Baud, 1, board)
	r := rfid.NewRDM6300("rdm630", line.Open)
	var notified []int
	r.Listen(func(tag int) { notified = append(notified, tag) })
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	for _, field := range [][]uint32{nil, {0x834CE7}, nil, {0x834CE7}, {7}} {
		board.Tags = field
		for range 100 {
			if err := line.Advance(10 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if err := r.Read(nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := []int{0x834CE7, 0x834CE7, 7}; !slices.Equal(notified, want) {
		t.Errorf("got tags %X, want %X", notified, want)
	}
}

// Every fault, always and now and then: no tag is reported that is not there, a lost reader is seen to be lost where
// that can be seen, and within a second of the end of the cause all is well.
func TestFaults(t *testing.T) {
	for i, name := range names {
		for k, f := range faults {
			if !f.on[i] {
				continue
			}
			for _, p := range []float64{0, 0.3} {
				for seed := range int64(5) {
					s, what := subjects(t, seed)[name], fmt.Sprintf("%s: %s %g, seed %d", name, f.name, p, seed)
					s.set(0x834CE7)
					if got, _, err := s.run(t, time.Second); err != nil || !slices.Equal(got, []int{0x834CE7}) {
						t.Fatalf("%s: before: got %X, %v", what, got, err)
					}
					s.fault(k, p)
					got, _, err := s.run(t, 2*time.Second)
					if slices.ContainsFunc(got, func(tag int) bool { return tag != 0x834CE7 }) {
						t.Errorf("%s: got tag %X", what, got)
					}
					if f.tells && p == 0 && (err == nil || hal.KindOf(err) != hal.Absent && f.name == "unplug" &&
						i < 2) {
						t.Errorf("%s: got %v", what, err)
					}
					s.clear()
					s.run(t, time.Second)
					if got, n, err := s.run(t, 500*time.Millisecond); err != nil || n != 1 ||
						!slices.Equal(got, []int{0x834CE7}) {
						t.Errorf("%s: a second after: got %X, %v, %v", what, got, n, err)
					}
				}
			}
		}
	}
}

// The same driver on a terminal of the system, with the wall's time.
func TestOnPTY(t *testing.T) {
	board := &reader.RDM6300{Tags: []uint32{0x834CE7}}
	line := wire.NewLine("rdm6300", rfid.RDM6300Baud, 1, board)
	ctx, cancel := context.WithCancel(context.Background())
	path, wait, err := line.ServePTY(ctx, "")
	if err != nil {
		cancel()
		t.Skip(err)
	}
	defer func() {
		cancel()
		if err := wait(); err != nil {
			t.Error(err)
		}
	}()
	r := rfid.NewRDM6300("tags", serial.Reopener(path, rfid.RDM6300Baud, ""))
	notified := make(chan int, 1)
	r.Listen(func(tag int) {
		select {
		case notified <- tag:
		default:
		}
	})
	p := drivers.NewPoller(r, drivers.PollerConfig{Values: 1, Period: 20 * time.Millisecond})
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	select {
	case tag := <-notified:
		if tag != 0x834CE7 {
			t.Errorf("got %X", tag)
		}
	case <-time.After(time.Minute):
		t.Error("no tag was reported")
	}
}

// Replies of an emulated PN532 to commands that the driver does not use.
func TestPN532Refuses(t *testing.T) {
	c := &reader.PN532{Tags: []uint32{1}}
	hear := func(p ...byte) int { return len(c.Receive(p, 0, nil)) }
	list := rfidwire.AppendPN532(nil, rfidwire.PN532Host, rfidwire.PN532List, 1, 0)
	if n := hear(list...); n != 0 {
		t.Errorf("asleep: got %d bytes", n)
	}
	hear(rfidwire.PN532Wake()...)
	if n := hear(list...); n != 6 { // only the acknowledgement
		t.Errorf("not set up: got %d bytes", n)
	}
	hear(rfidwire.AppendPN532(nil, rfidwire.PN532Host, rfidwire.PN532SAM, 1, 20, 1)...)
	if n := hear(list...); n <= 6 {
		t.Errorf("set up: got %d bytes", n)
	}
	c.Tags = nil
	if n := hear(list...); n != 6 {
		t.Errorf("nothing there, and it may look for ever: got %d bytes", n)
	}
	for _, data := range [][]byte{{rfidwire.PN532Host}, {1, 2}, {rfidwire.PN532Host, 0x99},
		{rfidwire.PN532Host, rfidwire.PN532List, 9, 0}} {
		if n := hear(rfidwire.AppendPN532(nil, data...)...); n != 14 {
			t.Errorf("% X: got %d bytes, want a syntax error", data, n)
		}
	}
	if n := hear(1, 2, 3); n != 0 {
		t.Errorf("noise: got %d bytes", n)
	}
	if err := c.Transfer([]byte{1, 2}, nil, 0); err == nil {
		t.Error("took what is no frame")
	}
	if err := c.Transfer(rfidwire.PN532Ack(), make([]byte, 8), 0); err != nil {
		t.Error(err)
	}
}

// Readers end their telegrams in three ways; all are read, and what is no telegram is reported.
func TestRDM6300Forms(t *testing.T) {
	for form := rfid.RDM6300Digits; form <= rfid.RDM6300Lines; form++ {
		r := &reader.RDM6300{Tags: []uint32{0x0083_4CE7}, Version: 0x62, Form: form}
		line := wire.NewLine("tags", rfid.RDM6300Baud, 1, r)
		s := rfid.NewRDM6300("tags", line.Open)
		if err := s.Open(); err != nil {
			t.Fatal(err)
		}
		values := make([]float64, 1)
		for range 20 {
			if err := errors.Join(line.Advance(20*time.Millisecond), s.Read(values)); err != nil {
				t.Fatal(err)
			}
		}
		if values[0] != 1 {
			t.Errorf("form %d: got %g tags", form, values[0])
		}
	}
}

// A PN532 that sleeps on I2C, or has another program's answer, is found at the first Open.
func TestPN532Wakes(t *testing.T) {
	for _, c := range []*reader.PN532{{Tags: []uint32{7}, Sleep: time.Millisecond},
		{Tags: []uint32{7}, Sleep: 10 * time.Millisecond}, {Tags: []uint32{7}, Stale: true}} {
		bus := chip.NewBus("i2c", 400_000, 1, c)
		h := bus.Host()
		s := rfid.NewPN532I2C(h, h)
		values := make([]float64, 1)
		if err := errors.Join(s.Open(), s.Read(values)); err != nil || values[0] != 1 {
			t.Errorf("%+v: got %v, %v", c, values, err)
		}
	}
}
