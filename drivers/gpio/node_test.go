package gpio

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// The encoder's steps by the table of hardware.md section 6: every change of one line counts, one of both is an error.
func TestSteps(t *testing.T) {
	for from := range uint8(4) {
		for to := range uint8(4) {
			forward := map[uint8]uint8{0: 2, 2: 3, 3: 1, 1: 0}
			count, faults := int64(0), uint64(0)
			switch to {
			case forward[from]:
				count = 1
			case from ^ 3:
				faults = 1
			case from:
			default:
				count = -1
			}
			e := Encoder{state: from}
			e.turn(to)
			if e.count != count || e.errors != faults || e.state != to {
				t.Errorf("%02b to %02b: got %d and %d errors, want %d and %d", from, to, e.count, e.errors, count,
					faults)
			}
		}
	}
	// A count that is as high as it can be goes round.
	e := Encoder{count: math.MaxInt64}
	if e.turn(2); e.count != math.MinInt64 {
		t.Errorf("one more than the greatest: got %d", e.count)
	}
}

// The sonar's unit: 0.1715 mm a µs at 343 m/s, which is 58 µs a centimetre (hardware.md, section 6).
func TestSonarUnit(t *testing.T) {
	s := NewHCSR04(Pins{}, HCSR04Config{Celsius: (343 - 331.3) / 0.606})
	for width, want := range map[time.Duration]float64{1000 * time.Microsecond: 0.1715, 5800 * time.Microsecond: 0.9947,
		100 * time.Microsecond: 0.02, 23300 * time.Microsecond: 3.99595, 38 * time.Millisecond: 4} {
		if s.rose, s.fell = time.Second, time.Second+width; math.Abs(s.distance()-want) > 1e-6 {
			t.Errorf("%v: got %g m, want %g", width, s.distance(), want)
		}
	}
}

// scripted is a node whose answers the test writes; its time passes by what is waited for.
type scripted struct {
	ioctl func(request uint32, arg []byte) error
	read  func(p []byte) (int, error)
	now   time.Duration
	shut  int
}

func (s *scripted) Ioctl(request uint32, arg []byte) error { return s.ioctl(request, arg) }
func (s *scripted) Lines(int32) Node                       { return s }
func (s *scripted) Now() time.Duration                     { return s.now }
func (s *scripted) SleepUntil(t time.Duration)             { s.now = max(s.now, t) }
func (s *scripted) Close() error                           { s.shut++; return nil }
func (s *scripted) Read(p []byte, wait time.Duration) (int, error) {
	s.now += wait
	return s.read(p)
}

func quiet([]byte) (int, error)  { return 0, os.ErrDeadlineExceeded }
func obeys(uint32, []byte) error { return nil }
func (s *scripted) open() Opener { return func() (Node, error) { return s, nil } }
func (s *scripted) pins() Pins {
	return Pins{Bus: "io", Open: s.open(), Lines: []string{"4"}, User: "test"}
}
func answers(p []byte, e gpiochip.Event) int { return copy(p, e.AppendTo(nil)) }

// An answer that no kernel gives is refused and changes no value; that of lost lines is of kind hal.Absent.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(p []byte) (int, error)
		text string
		kind hal.Kind
	}{
		{"half an event", func(p []byte) (int, error) { return 40, nil }, "got 40 bytes, want whole ones of 48",
			hal.BusFault},
		{"more than there is room", func(p []byte) (int, error) { return len(p) + gpiochip.EventSize, nil },
			"whole ones",
			hal.BusFault},
		{"less than nothing", func(p []byte) (int, error) { return -1, nil }, "whole ones", hal.BusFault},
		{"no edge", func(p []byte) (int, error) {
			clear(p)
			return gpiochip.EventSize, nil
		}, "edge: got 0", hal.BusFault},
		{"another's line", func(p []byte) (int, error) {
			return answers(p, gpiochip.Event{Line: 9, Rising: true, Seq: 1}), nil
		}, "got one of line 9, want one of [4]", hal.BusFault},
		{"unplugged", func(p []byte) (int, error) { return 0, syscall.ENODEV }, "no such device", hal.Absent},
		{"broken", func(p []byte) (int, error) { return 0, syscall.EIO }, "input/output error", hal.BusFault},
	} {
		n := &scripted{ioctl: obeys, read: quiet}
		s := NewBumper(n.pins(), BumperConfig{})
		if err := s.Open(); err != nil {
			t.Fatal(err)
		}
		n.read = c.read
		v := []float64{7}
		if err := s.Read(v); err == nil || !strings.Contains(err.Error(), c.text) || hal.KindOf(err) != c.kind ||
			v[0] != 7 {
			t.Errorf("%s: got %v, %v; want %q of kind %v", c.name, err, v, c.text, c.kind)
		}
	}
	n := &scripted{ioctl: func(request uint32, arg []byte) error {
		gpiochip.Order.PutUint32(arg[gpiochip.AtLines:], math.MaxUint32)
		return nil
	}}
	if _, _, err := Survey("io", n.open()); err == nil || n.shut != 1 {
		t.Errorf("a chip of 2^32 lines: got %v, closed %d times", err, n.shut)
	}
}

// A storm of edges is read for a while, not for good.
func TestStorm(t *testing.T) {
	seq := uint32(0)
	n := &scripted{ioctl: obeys}
	n.read = func(p []byte) (int, error) {
		for i := 0; i < len(p); i += gpiochip.EventSize {
			seq++
			answers(p[i:], gpiochip.Event{At: n.now, Line: 4, Rising: seq%2 == 1, Seq: seq})
		}
		return len(p), nil
	}
	s := NewBumper(n.pins(), BumperConfig{})
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	v := []float64{0}
	if err := s.Read(v); err != nil || v[0] != 1 || seq > 2*gpiochip.MaxEvents {
		t.Errorf("got %v, %v after %d edges", v, err, seq)
	}
}

// Every device gives its lines back when it is closed, and opened again; a closed one returns an error.
func TestGivesBack(t *testing.T) {
	n := &scripted{ioctl: obeys, read: quiet}
	two := n.pins()
	two.Lines = []string{"1", "2"}
	for name, s := range map[string]interface {
		Open() error
		Read([]float64) error
		Close() error
	}{"bumper": NewBumper(n.pins(), BumperConfig{}), "circuit": NewEStopInput(n.pins(), 0),
		"pir":     NewPIR(n.pins(), PIRConfig{}),
		"encoder": NewEncoder(two), "sonar": NewHCSR04(two, HCSR04Config{})} {
		n.shut = 0
		for range 2 {
			if err := s.Open(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		// The chip's node twice, and the lines' between and after.
		if err := errors.Join(s.Close(), s.Close()); err != nil || n.shut != 4 {
			t.Errorf("%s: got %v, %d nodes closed; want 4", name, err, n.shut)
		}
		if err := s.Read(make([]float64, 2)); hal.KindOf(err) != hal.Absent {
			t.Errorf("%s: read while closed: got %v", name, err)
		}
	}
}

// A port is a device, a name, a number or a label, which must be of one chip.
func TestFind(t *testing.T) {
	dev := t.TempDir()
	labels := map[string]string{"gpiochip0": "pinctrl-rp1", "gpiochip4": "twin", "gpiochip10": "twin"}
	for name := range labels {
		if err := os.WriteFile(filepath.Join(dev, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var opened string
	open := func(path string) (Node, error) {
		label, ok := labels[filepath.Base(path)]
		if !ok {
			return nil, &os.PathError{Op: "open", Path: path, Err: syscall.ENOENT}
		}
		if label == "secret" {
			return nil, &os.PathError{Op: "open", Path: path, Err: syscall.EACCES}
		}
		opened = filepath.Base(path)
		return &scripted{ioctl: func(_ uint32, arg []byte) error {
			copy(arg, (&gpiochip.ChipInfo{Name: filepath.Base(path), Label: label, Lines: 4}).AppendTo(nil))
			return nil
		}}, nil
	}
	for port, want := range map[string]string{"gpiochip4": "gpiochip4", "10": "gpiochip10", "pinctrl-rp1": "gpiochip0",
		dev + "/gpiochip4": "gpiochip4"} {
		if _, err := within(dev, port, open)(); err != nil || opened != want {
			t.Errorf("%s: got %s, %v; want %s", port, opened, err, want)
		}
	}
	fails := func(port, text string, kind hal.Kind) {
		t.Helper()
		if _, err := within(dev, port, open)(); err == nil || !strings.Contains(err.Error(), text) ||
			hal.KindOf(err) != kind {
			t.Errorf("%s: got %v (%v), want %q", port, err, hal.KindOf(err), text)
		}
	}
	// A chip that was unplugged and is counted again: the same opener finds it by its label, at another node.
	again := within(dev, "pinctrl-rp1", open)
	for _, c := range []struct{ rp1, other string }{{"gpiochip0", "gpiochip4"}, {"gpiochip4", "gpiochip0"}} {
		labels[c.rp1], labels[c.other] = "pinctrl-rp1", "twin"
		if _, err := again(); err != nil || opened != c.rp1 {
			t.Errorf("renumbered: got %s, %v; want %s", opened, err, c.rp1)
		}
	}
	labels["gpiochip0"], labels["gpiochip4"] = "pinctrl-rp1", "twin"
	fails("twin", "want one chip of it", hal.Invalid)
	fails("pinctrl-rp2", "there is gpiochip0 (pinctrl-rp1)", hal.Absent)
	fails("7", "gpiochip7", hal.Absent)
	labels["gpiochip10"] = "secret"
	fails("10", "permission denied", hal.Busy)
	fails("pinctrl-rp2", "permission denied", hal.Busy)
	if _, err := within(t.TempDir(), "pinctrl-rp1", open)(); hal.KindOf(err) != hal.Absent ||
		!strings.Contains(err.Error(), "there is no chip") {
		t.Errorf("no chip: got %v", err)
	}
	if _, err := Find(os.DevNull)(); err != nil {
		t.Errorf("a file that opens: got %v", err)
	}
	if _, _, err := Survey("io", Find(os.DevNull)); hal.KindOf(err) != hal.Invalid {
		t.Errorf("a device that is no chip: got %v", err)
	}
}

// The kernel's own chip, where this machine has one: gpio-sim or gpio-mockup will do (modprobe gpio-mockup
// gpio_mockup_ranges=-1,8). Nothing is driven.
func TestKernelChip(t *testing.T) {
	chips, _ := filepath.Glob("/dev/gpiochip*") // the pattern is good
	if len(chips) == 0 {
		t.Skip("no /dev/gpiochip*: not tried against a kernel; modprobe gpio-sim or gpio-mockup makes one")
	}
	for _, path := range chips {
		info, lines, err := Survey(path, Find(path))
		if hal.KindOf(err) == hal.Busy {
			t.Skip(err)
		}
		if err != nil || int(info.Lines) != len(lines) {
			t.Fatalf("%s: %+v, %v", path, info, err)
		}
		if !strings.Contains(info.Label, "gpio-mockup") && !strings.Contains(info.Label, "gpio-sim") {
			t.Logf("%s (%s): %d lines, looked at only", path, info.Label, info.Lines)
			continue
		}
		p := Pins{Bus: path, Open: Find(path), Lines: []string{"0"}, Bias: Up, User: "halyard test"}
		s := NewBumper(p, BumperConfig{Wait: time.Millisecond})
		v := []float64{0}
		if err := errors.Join(s.Open(), s.Read(v), s.Close()); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}
