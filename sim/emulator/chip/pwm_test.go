package chip_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/pwmreg"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

const us = time.Microsecond

// An oscillator that is off by 6 % makes pulses wrong by as much, until it is measured.
func TestPCA9685Oscillator(t *testing.T) {
	for _, c := range []struct{ true, config, want float64 }{{25e6, 25e6, 1500}, {26.5e6, 25e6, 1415},
		{26.5e6, 26.5e6, 1500}, {23e6, 23e6, 1500}} {
		d := chip.NewPCA9685(0x40, c.true)
		host := chip.NewBus("i2c", 400_000, 1, d).Host()
		out, err := pwm.NewPCA9685(host, pwm.PCA9685Config{Hertz: 300, Oscillator: c.config, Clock: host})
		must(t, err)
		must(t, out.Open())
		must(t, out.Write([]time.Duration{0, 1500 * us}))
		width, hertz := d.Pulse(1)
		near(t, "pulse", width.Seconds()*1e6, c.want, 0.6)
		if c.true == c.config {
			near(t, "Hz", hertz, out.Hertz(), 1e-9)
		}
		for i, err := range out.Off() {
			if w, _ := d.Pulse(i); err != nil || w != 0 {
				t.Errorf("off: channel %d: got %v, %v", i, w, err)
			}
		}
	}
}

// OE cuts what the chip's registers still have.
func TestPCA9685Gate(t *testing.T) {
	d := chip.NewPCA9685(0x40, 25e6)
	host := chip.NewBus("i2c", 400_000, 1, d).Host()
	out, err := pwm.NewPCA9685(host, pwm.PCA9685Config{Clock: host})
	must(t, err)
	must(t, out.Open())
	must(t, out.Write([]time.Duration{1500 * us}))
	must(t, d.Gate(false))
	if w, _ := d.Pulse(0); w != 0 {
		t.Errorf("closed: got %v", w)
	}
	must(t, d.Gate(true))
	if w, _ := d.Pulse(0); w == 0 {
		t.Error("open: got no pulse")
	}
}

// Without the AI bit a chip puts all bytes into one register: a chip that was reset must not be written to.
func TestPCA9685Reset(t *testing.T) {
	d := chip.NewPCA9685(0x40, 25e6)
	bus := chip.NewBus("i2c", 400_000, 1, d)
	host := bus.Host()
	out, err := pwm.NewPCA9685(host, pwm.PCA9685Config{Clock: host})
	must(t, err)
	must(t, out.Open())
	bus.Fault(wire.Fault{Kind: wire.PowerLoss, For: time.Millisecond})
	must(t, bus.Advance(10*time.Millisecond))
	if err := out.Write([]time.Duration{1500 * us}); hal.KindOf(err) != hal.Absent {
		t.Errorf("got %v", err)
	}
}

func TestKernelPWM(t *testing.T) {
	root := t.TempDir()
	channels := []pwm.KernelChannel{{Chip: 0, Output: 0}, {Chip: 2, Output: 1}}
	d, err := chip.NewKernelPWM(root, channels...)
	must(t, err)
	out, err := pwm.NewKernel(pwm.KernelConfig{Root: root, Channels: channels})
	must(t, err)
	must(t, out.Open())
	for _, pulses := range [][]time.Duration{{1500 * us, 0}, {0, 900 * us}, {1900 * us, 1100 * us}} {
		must(t, out.Write(pulses))
		for i, want := range pulses {
			if got := d.Pulse(i); got != want {
				t.Errorf("channel %d: got %v, want %v", i, got, want)
			}
		}
	}
	for i, err := range out.Off() {
		if d.Pulse(i) != 0 || err != nil {
			t.Errorf("off: channel %d: got %v, %v", i, d.Pulse(i), err)
		}
	}
	must(t, out.Close())
	if d.Pulse(7) != 0 {
		t.Error("no such channel: got a pulse")
	}
}

// Put to sleep by another program while it pulsed, a chip has RESTART in its mode 1: it is a PCA9685 all the same.
func TestPCA9685LeftAsleep(t *testing.T) {
	d := chip.NewPCA9685(0x40, 25e6)
	host := chip.NewBus("i2c", 400_000, 1, d).Host()
	for _, w := range [][]byte{{0x00, 0x01}, {0x09, 0x00}, {0x00, 0x11}} {
		must(t, host.Tx(0x40, w, nil))
	}
	mode := []byte{0}
	if must(t, host.Tx(0x40, []byte{0x00}, mode)); mode[0] != 0x91 {
		t.Errorf("mode 1: got %02X, want 91", mode[0])
	}
	out, err := pwm.NewPCA9685(host, pwm.PCA9685Config{Clock: host})
	must(t, err)
	must(t, out.Open())
	must(t, out.Write([]time.Duration{1500 * us}))
	if w, _ := d.Pulse(0); w == 0 {
		t.Error("got no pulse")
	}
}

// hardware.md section 3.3, as the chip's registers have it: the prescaler of a frequency and the counts of a pulse.
func TestPCA9685Counts(t *testing.T) {
	for _, c := range []struct {
		hertz    float64
		prescale byte
		pulse    time.Duration
		count    uint16
	}{{50, 0x79, 1500 * us, 307}, {50, 0x79, 1000 * us, 205}, {50, 0x79, 2000 * us, 410}, {60, 0x65, 1500 * us, 368},
		{200, 0x1E, 1500 * us, 1210}, {224, 26, 1500 * us, 1389}} {
		host := chip.NewBus("i2c", 400_000, 1, chip.NewPCA9685(0x40, 25e6)).Host()
		out, err := pwm.NewPCA9685(host, pwm.PCA9685Config{Hertz: c.hertz, Clock: host})
		must(t, err)
		must(t, out.Open())
		must(t, out.Write([]time.Duration{c.pulse}))
		var scale, mode [1]byte
		var led [4]byte
		must(t, host.Tx(0x40, []byte{pwmreg.PCA9685PreScale}, scale[:]))
		must(t, host.Tx(0x40, []byte{pwmreg.PCA9685Mode2}, mode[:]))
		must(t, host.Tx(0x40, []byte{pwmreg.PCA9685LED0}, led[:]))
		if got := uint16(led[2]) | uint16(led[3])<<8; scale[0] != c.prescale || mode[0] != 0x04 || led[0]|led[1] != 0 ||
			got != c.count {
			t.Errorf("%g Hz, %v: got prescaler %02X, mode 2 %02X, % X; want %02X, 04, %d counts", c.hertz, c.pulse,
				scale, mode, led, c.prescale, c.count)
		}
	}
}

// On a slow line the board answers after all that was written before: writes do not wait, and the driver counts their
// time.
func TestMaestroOnASlowLine(t *testing.T) {
	line := chip.NewSerial("slow", 9600, 1, chip.NewMaestro(6, 12, false))
	d, err := pwm.NewMaestro(line.Open, pwm.MaestroConfig{Channels: 6, Device: -1})
	must(t, err)
	must(t, d.Open())
	for range 5 {
		must(t, d.Write(make([]time.Duration, 6)))
	}
}
