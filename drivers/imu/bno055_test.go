package imu

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/imureg"
	"github.com/halyard-robotics/halyard/servo"
)

// fakeClock lets no time pass but what is slept.
type fakeClock struct{ now time.Duration }

func (c *fakeClock) Now() time.Duration         { return c.now }
func (c *fakeClock) SleepUntil(t time.Duration) { c.now = max(c.now, t) }

func wire(text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// io is one transaction at addr.
func io(addr uint16, w, r string) i2ctest.IO {
	x := i2ctest.IO{Addr: addr, W: wire(w)}
	if r != "" {
		x.R = wire(r)
	}
	return x
}

// bnoSample is 32 bytes from the acceleration on: (1, -2, 9.81) m/s², a field, (16, -32, 8) °/s, angles, and the
// attitude of a quarter turn about z: w and z are 0.70709.
const bnoSample = "64 00 38 FF D5 03 " + "40 01 00 00 30 FD " + "00 01 00 FE 80 00 " + "00 00 00 00 00 00 " +
	"41 2D 00 00 00 00 41 2D"

// What is written to a BNO055 at the start, after its identity, on I2C.
var bnoOpening = []i2ctest.IO{
	io(0x28, "00", "A0"),
	io(0x28, "3D 00", ""), io(0x28, "3E 00", ""), io(0x28, "3B 00", ""), io(0x28, "41 24", ""), io(0x28, "42 00", ""),
	io(0x28, "3D 0C", ""), io(0x28, "3D", "0C"),
	io(0x28, "20", "00 00 00 00 00 00 00 00"), // the fusion has no attitude yet
	io(0x28, "20", "00 40 00 00 00 00 00 00"),
}

func checkSample(t *testing.T, v []float64) {
	t.Helper()
	for i, want := range []float64{math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2, 16 * degree, -32 * degree, 8 * degree, 1, -2,
		9.81} {
		if math.Abs(v[i]-want) > 1e-4 {
			t.Errorf("value %d: got %v, want %v", i, v[i], want)
		}
	}
}

func TestBNO055Session(t *testing.T) {
	clock := &fakeClock{}
	bus := &i2ctest.Playback{DontPanic: true, Ops: append(append([]i2ctest.IO{}, bnoOpening...),
		io(0x28, "08", bnoSample),
		// the same with its sign changed
		io(0x28, "08", strings.Replace(bnoSample, "41 2D 00 00 00 00 41 2D", "BF D2 00 00 00 00 BF D2", 1)),
		io(0x28, "08", strings.Repeat("00 ", 32)),
		io(0x28, "08", strings.Repeat("11 ", 32)),
		io(0x28, "35", "D8"),
	)}
	s := NewBNO055(bus, BNO055Config{Compass: true, Clock: clock})
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	if want := imureg.BNO055ToConfig + imureg.BNO055ToFusion + 2*imureg.BNO055Period; clock.now != want {
		t.Errorf("waited %v, want %v", clock.now, want)
	}
	v := make([]float64, 10)
	if err := s.Read(v); err != nil {
		t.Fatal(err)
	}
	checkSample(t, v)
	if err := s.Read(v); err != nil {
		t.Fatal(err)
	}
	checkSample(t, v)
	if err := s.Read(v); hal.KindOf(err) != hal.Absent {
		t.Errorf("zeros: got %v", err)
	}
	if err := s.Read(v); hal.KindOf(err) != hal.BusFault {
		t.Errorf("an invalid quaternion: got %v", err)
	}
	if sys, gyr, acc, mag, err := s.Calibrated(); sys != 3 || gyr != 1 || acc != 2 || mag != 0 || err != nil {
		t.Errorf("calibrated: got %d %d %d %d, %v", sys, gyr, acc, mag, err)
	}
	if err := errors.Join(bus.Close(), s.Close()); err != nil {
		t.Error(err)
	}
}

// The offsets of an earlier day are written while the chip may take them, and read in the same way.
func TestBNO055Offsets(t *testing.T) {
	var offsets [22]byte
	for i := range offsets {
		offsets[i] = byte(i + 1)
	}
	text := hex.EncodeToString(offsets[:])
	ops := append([]i2ctest.IO{}, bnoOpening[:6]...)
	ops = append(ops, io(0x28, "55"+text, ""))
	ops = append(ops, bnoOpening[6:]...)
	ops = append(ops, io(0x28, "3D", "0C"), io(0x28, "3D 00", ""), io(0x28, "55", text), io(0x28, "3D 0C", ""))
	bus := &i2ctest.Playback{DontPanic: true, Ops: ops}
	s := NewBNO055(bus, BNO055Config{Compass: true, Offsets: &offsets, Clock: &fakeClock{}})
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Offsets(); got != offsets || err != nil {
		t.Errorf("got % X, %v", got, err)
	}
	if err := bus.Close(); err != nil {
		t.Error(err)
	}
}

func TestBNO055Refuses(t *testing.T) {
	for _, c := range []struct {
		name string
		ops  []i2ctest.IO
		kind hal.Kind
	}{
		{"nothing there", nil, hal.Absent},
		{"another chip", []i2ctest.IO{io(0x28, "00", "68"), io(0x28, "07", "02")}, hal.Absent},
		{"another chip with a 1 there", []i2ctest.IO{io(0x28, "00", "68"), io(0x28, "07", "01"), io(0x28, "07 00", ""),
			io(0x28, "00", "68")}, hal.Absent},
		{"a mode that does not take", append(append([]i2ctest.IO{}, bnoOpening[:7]...), io(0x28, "3D", "00")),
			hal.BusFault},
	} {
		clock := &fakeClock{}
		s := NewBNO055(&i2ctest.Playback{DontPanic: true, Ops: c.ops}, BNO055Config{Compass: true, Clock: clock})
		if err := s.Open(); hal.KindOf(err) != c.kind {
			t.Errorf("%s: got %v", c.name, err)
		}
		if clock.now > time.Second {
			t.Errorf("%s: took %v", c.name, clock.now)
		}
	}
}

// script is a line on which the host must send what the script has, in this order, and receives what follows it there.
type script struct {
	servo.Line
	t      *testing.T
	steps  []string // "request > reply"
	unread []byte
	now    time.Duration
	gone   bool
}

func (s *script) Baud() int          { return BNO055Baud }
func (s *script) Now() time.Duration { return s.now }
func (s *script) Discard() error     { s.unread = nil; return nil }
func (s *script) Close() error       { return nil }

func (s *script) Write(p []byte) (int, error) {
	s.t.Helper()
	if s.gone {
		return 0, servo.ErrDisconnected
	}
	if len(s.steps) == 0 {
		s.t.Fatalf("sent % X, want nothing", p)
	}
	sent, reply, _ := strings.Cut(s.steps[0], ">")
	s.steps = s.steps[1:]
	if want := wire(strings.ReplaceAll(sent, " ", "")); !bytes.Equal(p, want) {
		s.t.Fatalf("sent % X, want % X", p, want)
	}
	s.unread = append(s.unread, wire(strings.ReplaceAll(reply, " ", ""))...)
	return len(p), nil
}

func (s *script) Read(p []byte, timeout time.Duration) (int, error) {
	if len(s.unread) == 0 {
		s.now += max(0, timeout)
		return 0, os.ErrDeadlineExceeded
	}
	p[0], s.unread = s.unread[0], s.unread[1:] // a byte at a time
	return 1, nil
}

// The same session on the UART: each write is answered, an overrun and a silence are tried again, noise is passed over.
func TestBNO055Serial(t *testing.T) {
	s := &script{t: t, steps: []string{
		"AA 01 00 01 > BB 01 A0",
		"AA 00 3D 01 00 > EE 07", "AA 00 3D 01 00 > EE 01", // bus overrun
		"AA 00 3E 01 00 >", "AA 00 3E 01 00 > EE 01", // nothing
		"AA 00 3B 01 00 > EE 01", "AA 00 41 01 24 > EE 01", "AA 00 42 01 00 > EE 01",
		"AA 00 3D 01 08 > EE 01", "AA 01 3D 01 > 00 FF BB 01 08", // noise before
		"AA 01 20 08 > BB 08 00 40 00 00 00 00 00 00",
		"AA 01 08 20 > BB 20" + bnoSample,
		"AA 01 08 20 > EE 04",
		"AA 01 08 20 > BB 20 00", "AA 01 08 20 >", "AA 01 08 20 >", "AA 01 08 20 >",
	}}
	b := NewBNO055Serial("uart", func() (servo.Line, error) { return s, nil }, BNO055Config{Clock: &fakeClock{}})
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	v := make([]float64, 10)
	if err := b.Read(v); err != nil {
		t.Fatal(err)
	}
	checkSample(t, v)
	if err := b.Read(v); hal.KindOf(err) != hal.BusFault || !strings.Contains(err.Error(), "invalid address") {
		t.Errorf("a refusal: got %v", err)
	}
	if err := b.Read(v); hal.KindOf(err) != hal.BusFault || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("an answer cut off: got %v", err)
	}
	if len(s.steps) != 0 {
		t.Errorf("left over: %q", s.steps)
	}
	s.gone = true
	if err := b.Read(v); hal.KindOf(err) != hal.Absent {
		t.Errorf("unplugged: got %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Read(v); hal.KindOf(err) != hal.Absent {
		t.Errorf("closed: got %v", err)
	}
	lost := NewBNO055Serial("uart", func() (servo.Line, error) { return nil, &hal.Error{Kind: hal.Busy} },
		BNO055Config{Clock: &fakeClock{}})
	if err := lost.Open(); hal.KindOf(err) != hal.Busy {
		t.Errorf("a port that is held: got %v", err)
	}
}

// connection is a line without a rate, as a network has.
type connection struct{ *script }

func (connection) Baud() int { return 0 }

func TestBNO055OnTheNetwork(t *testing.T) {
	s := &script{t: t, steps: []string{"AA 01 35 01 > BB 01 FF"}}
	b := NewBNO055Serial("tcp", nil, BNO055Config{Clock: &fakeClock{}})
	b.wire.(*bnoSerial).port.Line = connection{s}
	if system, _, _, _, err := b.Calibrated(); err != nil || system != 3 {
		t.Errorf("got %d, %v", system, err)
	}
}

// A byte that came twice moves all behind it: the answer is longer than its length field, and requested again.
func TestBNO055Surplus(t *testing.T) {
	s := &script{t: t, steps: []string{"AA 01 35 01 > BB 01 01 FF", "AA 01 35 01 > BB 01 FF"}}
	b := NewBNO055Serial("uart", nil, BNO055Config{Clock: &fakeClock{}})
	b.wire.(*bnoSerial).port.Line = s
	if system, gyro, _, _, err := b.Calibrated(); err != nil || system != 3 || gyro != 3 {
		t.Errorf("got %d, %d, %v", system, gyro, err)
	}
}

// One table drives the decoder and the fuzzer's seeds.
var replies = []struct {
	text   string
	n      int
	data   string
	status byte
	ok     bool
}{
	{"BB 02 11 22", 2, "11 22", 0, true},
	{"EE 01", 0, "", 1, true},
	{"EE 07", 2, "", 7, true},
	{"FF BB BB 01 EE", 1, "EE", 0, true}, // a start byte as noise, and one that is data
	{"BB 02 11", 2, "", 0, false},
	{"BB 02 EE 01", 2, "EE 01", 0, true}, // data that looks like a status
	{"BB 02 EE", 2, "", 0, false},
	{"BB 03 01 02 03", 2, "", 0, false}, // another length is no answer to this
	{"EE", 0, "", 0, false},
	{"EE 40 00", 0, "", 0, false},
	{"", 4, "", 0, false},
}

func TestParseReply(t *testing.T) {
	for _, c := range replies {
		data, status, ok := parseReply(wire(c.text), c.n)
		if !bytes.Equal(data, wire(c.data)) || status != c.status || ok != c.ok {
			t.Errorf("%s: got % X, %d, %v", c.text, data, status, ok)
		}
	}
}

func FuzzParseReply(f *testing.F) {
	for _, c := range replies {
		f.Add(wire(c.text), c.n)
	}
	f.Fuzz(func(t *testing.T, p []byte, n int) {
		if n < 0 || n > imureg.BNO055MaxTransfer {
			return
		}
		data, status, ok := parseReply(p, n)
		if ok && (status == 0) != (n > 0 && len(data) == n) {
			t.Errorf("% X: got % X with status %d, want %d bytes or a status", p, data, status, n)
		}
		if !ok && (data != nil || status != 0) {
			t.Errorf("% X: got % X, %d of no answer", p, data, status)
		}
	})
}
