package pwm

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pwmreg"
	"github.com/halyard-robotics/halyard/servo"
)

// hardware.md section 3.2: every command that it has bytes of. The same rows drive the encoder, the CRC and the
// fuzzer's seeds.
var maestroVectors = []struct {
	device  int
	crc     bool
	command byte
	data    []byte
	wire    string
}{
	{-1, false, pwmreg.MaestroTarget, []byte{0, 0x70, 0x2E}, "84 00 70 2E"},         // 1500 µs on channel 0
	{-1, true, pwmreg.MaestroTarget, []byte{0, 0x70, 0x2E}, "84 00 70 2E 2B"},       // and its CRC
	{12, true, pwmreg.MaestroTarget, []byte{0, 0x70, 0x2E}, "AA 0C 04 00 70 2E 22"}, // to device 12
	{-1, true, 0x83, []byte{0x01}, "83 01 17"},                                      // the manual's example of the CRC
	{-1, false, pwmreg.MaestroSpeed, []byte{1, 0x0C, 0x01}, "87 01 0C 01"},          // 140: 3.5 µs a ms
	{-1, false, pwmreg.MaestroAccel, []byte{1, 4, 0}, "89 01 04 00"},
	{-1, false, pwmreg.MaestroPosition, []byte{5}, "90 05"},
	{-1, false, pwmreg.MaestroMoving, nil, "93"},
	{-1, false, pwmreg.MaestroTargets, []byte{2, 3, 0x70, 0x2E, 0x70, 0x2E}, "9F 02 03 70 2E 70 2E"},
	{-1, false, pwmreg.MaestroErrors, nil, "A1"},
	{-1, false, pwmreg.MaestroHome, nil, "A2"},
	{-1, false, pwmreg.MaestroMini, []byte{0, 127}, "FF 00 7F"},
	{5, false, pwmreg.MaestroErrors, nil, "AA 05 21"},
	// the guide's: channel 3 off, 4 at 1500 µs
	{-1, false, pwmreg.MaestroTargets, []byte{2, 3, 0, 0, 0x70, 0x2E}, "9F 02 03 00 00 70 2E"},
}

func wire(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMaestroVectors(t *testing.T) {
	for _, v := range maestroVectors {
		if got, want := pwmreg.AppendMaestro(nil, v.device, v.crc, v.command, v.data...),
			wire(t, v.wire); !bytes.Equal(got, want) {
			t.Errorf("got % X, want %s", got, v.wire)
		}
	}
	if got := pwmreg.MaestroErrorNames(0x0108); got != "CRC, script program counter" {
		t.Errorf("errors: got %q", got)
	}
}

// script is a line on which the host must send what the script has, in this order, and receives what follows it there.
type script struct {
	servo.Line
	t      *testing.T
	steps  []string // "request > reply"
	unread []byte
	now    time.Duration
}

func (s *script) Baud() int          { return 115200 }
func (s *script) Now() time.Duration { return s.now }
func (s *script) Discard() error     { s.unread = nil; return nil }
func (s *script) Close() error       { return nil }

func (s *script) Write(p []byte) (int, error) {
	s.t.Helper()
	if len(s.steps) == 0 {
		s.t.Fatalf("sent % X, want nothing", p)
	}
	sent, reply, _ := strings.Cut(s.steps[0], ">")
	s.steps = s.steps[1:]
	if want := wire(s.t, sent); !bytes.Equal(p, want) {
		s.t.Fatalf("sent % X, want % X", p, want)
	}
	s.unread = append(s.unread, wire(s.t, reply)...)
	return len(p), nil
}

func (s *script) Read(p []byte, timeout time.Duration) (int, error) {
	if len(s.unread) == 0 {
		s.now += timeout
		return 0, errTimeout{}
	}
	p[0], s.unread = s.unread[0], s.unread[1:] // a byte at a time
	return 1, nil
}

type errTimeout struct{}

func (errTimeout) Error() string { return "timed out" }

// More channels than the Micro has are set in one command, by an emergency stop too.
func TestMaestroMini(t *testing.T) {
	zeros, positions := strings.Repeat(" 00 00", 7), []string{}
	for i := range 7 {
		positions = append(positions, "90 0"+string(rune('0'+i))+" > 00 00")
	}
	steps := append([]string{"A1 > 00 00", "9F 07 00" + zeros}, positions...)
	steps = append(steps, "9F 07 00 70 2E"+strings.Repeat(" 00 00", 5)+" 18 3B A1 > 00 00", "9F 07 00"+zeros)
	s := &script{t: t, steps: append(steps, positions...)}
	d, err := NewMaestro(func() (servo.Line, error) { return s, nil },
		MaestroConfig{Name: "esc", Channels: 7, Device: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	us := time.Microsecond
	if err := d.Write([]time.Duration{1500 * us, 0, 0, 0, 0, 0, 1894 * us}); err != nil {
		t.Fatal(err)
	}
	for i, err := range d.Off() {
		if err != nil {
			t.Errorf("off: channel %d: %v", i, err)
		}
	}
	if len(s.steps) != 0 {
		t.Errorf("left over: %q", s.steps)
	}
}

// A session of a board with two channels: opening clears its errors and ends its pulses, each write asks for errors.
func TestMaestroSession(t *testing.T) {
	s := &script{t: t, steps: []string{
		"A1 > 20 00", "A1 > 00 00", // it complained of a timeout from before
		"84 00 00 00 84 01 00 00", "90 00 > 00 00", "90 01 > 00 00",
		"84 00 70 2E 84 01 18 3B A1 > 00 00", // 1500 µs, 1894 µs
		"84 00 70 2E 84 01 00 00 A1 > 08 00",
		"84 00 00 00 84 01 00 00", "90 00 > 00 00", "90 01 > 70 17", // it has pulses still
		"84 00 00 00 84 01 00 00", "90 00", // it sends nothing more
	}}
	d, err := NewMaestro(func() (servo.Line, error) { return s, nil },
		MaestroConfig{Name: "esc", Channels: 2, Device: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	us := time.Microsecond
	if err := d.Write([]time.Duration{1500 * us, 1894 * us}); err != nil {
		t.Fatal(err)
	}
	if err := d.Write([]time.Duration{1500 * us, 0}); hal.KindOf(err) != hal.BusFault ||
		!strings.Contains(err.Error(), "CRC") {
		t.Errorf("a complaint: got %v", err)
	}
	if errs := d.Off(); errs[0] != nil || errs[1] == nil {
		t.Errorf("off: got %v", errs)
	}
	if errs := d.Off(); errs[0] == nil || errs[1] == nil || s.now > 50*time.Millisecond {
		t.Errorf("off, silent: got %v after %v, want two faults after one timeout", errs, s.now)
	}
	if len(s.steps) != 0 {
		t.Errorf("left over: %q", s.steps)
	}
	if err := d.Write([]time.Duration{5 * time.Millisecond}); hal.KindOf(err) != hal.Invalid {
		t.Errorf("5 ms: got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Write(nil); hal.KindOf(err) != hal.Absent {
		t.Errorf("closed: got %v", err)
	}
	for _, c := range []MaestroConfig{{Channels: 25}, {Device: 128}, {Device: -2}} {
		if _, err := NewMaestro(nil, c); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

// A command is found again in what was made of it; one wrong bit is always noticed by the CRC.
func FuzzMaestro(f *testing.F) {
	for _, v := range maestroVectors {
		f.Add(v.command, v.data)
	}
	f.Fuzz(func(t *testing.T, command byte, data []byte) {
		p := pwmreg.AppendMaestro(nil, 12, true, command|0x80, data[:min(len(data), 32)]...)
		if n := len(p) - 1; pwmreg.MaestroCRC(p[:n]) != p[n] {
			t.Fatalf("% X: CRC does not fit itself", p)
		}
		for bit := range 8 * (len(p) - 1) {
			p[bit/8] ^= 1 << (bit % 8)
			if n := len(p) - 1; pwmreg.MaestroCRC(p[:n]) == p[n] {
				t.Fatalf("% X: bit %d not noticed", p, bit)
			}
			p[bit/8] ^= 1 << (bit % 8)
		}
	})
}

// connection is a line without a rate, as a network has.
type connection struct{ *script }

func (connection) Baud() int { return 0 }

func TestMaestroOnTheNetwork(t *testing.T) {
	d, err := NewMaestro(nil, MaestroConfig{Device: -1})
	if err != nil {
		t.Fatal(err)
	}
	d.port.Line = connection{&script{t: t, steps: []string{"A1 > 00 00"}}}
	if err := d.errors(); err != nil {
		t.Error(err)
	}
}
