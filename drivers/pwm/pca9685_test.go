package pwm

import (
	"errors"
	"math"
	"testing"
	"time"

	"periph.io/x/conn/v3/gpio"
	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pwmreg"
)

// fakeClock lets no time pass but what is slept.
type fakeClock struct{ now time.Duration }

func (c *fakeClock) Now() time.Duration         { return c.now }
func (c *fakeClock) SleepUntil(t time.Duration) { c.now = max(c.now, t) }

// hardware.md section 3.3, and the datasheet's own example of 200 Hz.
func TestPCA9685Scale(t *testing.T) {
	for _, c := range []struct {
		hertz float64
		scale byte
	}{{50, 121}, {60, 101}, {200, 30}, {224, 26}, {1, 255}, {10000, 3}} {
		if got := pwmreg.PCA9685Scale(PCA9685Oscillator, c.hertz); got != c.scale {
			t.Errorf("%g Hz: got %d, want %d", c.hertz, got, c.scale)
		}
	}
	if step := pwmreg.PCA9685Step(PCA9685Oscillator, 26); math.Abs(step-1.08e-6) > 1e-9 {
		t.Errorf("224 Hz: got %g s a count, want 1.08 µs", step)
	}
}

// opening is the session of Open: what is sent, in its order.
func opening(rest ...i2ctest.IO) *i2ctest.Playback {
	return &i2ctest.Playback{DontPanic: true, Ops: append([]i2ctest.IO{
		{Addr: 0x40, W: []byte{0x01}, R: []byte{0x04}},
		{Addr: 0x40, W: []byte{0x00}, R: []byte{0x11}},
		{Addr: 0x40, W: []byte{0xFD, 0x10}}, // all off
		{Addr: 0x40, W: []byte{0x00, 0x10}}, // sleep
		{Addr: 0x40, W: []byte{0xFE, 0x79}}, // 50 Hz
		{Addr: 0x40, W: []byte{0x01, 0x04}},
		{Addr: 0x40, W: []byte{0x00, 0x20}}, // awake, the pointer runs on
		{Addr: 0x40, W: []byte{0x00, 0xA0}}, // restart
		{Addr: 0x40, W: []byte{0xFE}, R: []byte{0x79}},
	}, rest...)}
}

func TestPCA9685Session(t *testing.T) {
	clock := &fakeClock{}
	bus := opening(
		i2ctest.IO{Addr: 0x40, W: []byte{0x00}, R: []byte{0x20}},
		// 1500, 1000 and 2000 µs are 307, 205 and 410 counts at 50 Hz; no pulse is full off.
		i2ctest.IO{Addr: 0x40, W: []byte{0x06, 0, 0, 0x33, 0x01, 0, 0, 0xCD, 0x00, 0, 0, 0x9A, 0x01, 0, 0, 0x00, 0x10}},
		i2ctest.IO{Addr: 0x40, W: []byte{0xFD, 0x10}},
		i2ctest.IO{Addr: 0x40, W: []byte{0x09}, R: []byte{0x10}},
		i2ctest.IO{Addr: 0x40, W: []byte{0x0D}, R: []byte{0x11}},
		i2ctest.IO{Addr: 0x40, W: []byte{0x11}, R: []byte{0x01}}, // this one did not
		i2ctest.IO{Addr: 0x40, W: []byte{0x15}, R: []byte{0x10}},
	)
	d, err := NewPCA9685(bus, PCA9685Config{Channels: 4, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Open(); err != nil {
		t.Fatal(err)
	}
	if clock.now != pwmreg.PCA9685Wake {
		t.Errorf("waited %v", clock.now)
	}
	us := time.Microsecond
	if err := d.Write([]time.Duration{1500 * us, 1000 * us, 2000 * us, 0}); err != nil {
		t.Fatal(err)
	}
	errs := d.Off()
	for i, err := range errs {
		if (err != nil) != (i == 2) {
			t.Errorf("channel %d: got %v", i, err)
		}
	}
	if err := errors.Join(bus.Close(), d.Close()); err != nil {
		t.Error(err)
	}
}

func TestPCA9685Refuses(t *testing.T) {
	write := func(mode byte) []i2ctest.IO { return []i2ctest.IO{{Addr: 0x40, W: []byte{0x00}, R: []byte{mode}}} }
	for _, c := range []struct {
		name  string
		bus   *i2ctest.Playback
		pulse time.Duration
		kind  hal.Kind
	}{
		{"nothing there", &i2ctest.Playback{DontPanic: true}, 0, hal.Absent},
		{"another chip", &i2ctest.Playback{DontPanic: true,
			Ops: []i2ctest.IO{{Addr: 0x40, W: []byte{1}, R: []byte{0x9F}}}}, 0, hal.Absent},
		{"reset since", opening(write(0x11)...), 0, hal.Absent},
		{"too long", opening(), 21 * time.Millisecond, hal.Invalid},
	} {
		d, err := NewPCA9685(c.bus, PCA9685Config{Clock: &fakeClock{}})
		if err != nil {
			t.Fatal(err)
		}
		if err = d.Open(); err == nil {
			err = d.Write([]time.Duration{c.pulse})
		}
		if hal.KindOf(err) != c.kind {
			t.Errorf("%s: got %v, want %v", c.name, err, c.kind)
		}
	}
	for _, c := range []PCA9685Config{{Channels: 17}, {Hertz: 10}, {Hertz: math.NaN()}, {Oscillator: 1e6}} {
		if _, err := NewPCA9685(&i2ctest.Playback{}, c); hal.KindOf(err) != hal.Invalid {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

// pin remembers its level; periph's own double drags in a module.
type pin struct {
	gpio.PinIO
	level gpio.Level
	fails error
}

func (p *pin) Out(l gpio.Level) error { p.level = l; return p.fails }

func TestGate(t *testing.T) {
	pin := &pin{PinIO: gpio.INVALID}
	gate := Gate(pin)
	if err := gate(true); err != nil || pin.level != gpio.Low {
		t.Errorf("open: got %v at %v, want low", err, pin.level)
	}
	if err := gate(false); err != nil || pin.level != gpio.High {
		t.Errorf("closed: got %v at %v, want high", err, pin.level)
	}
	pin.fails = errors.New("no such line")
	if err := gate(false); hal.KindOf(err) != hal.BusFault {
		t.Errorf("a pin that fails: got %v", err)
	}
}
