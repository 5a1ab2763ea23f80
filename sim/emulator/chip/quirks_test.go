package chip_test

import (
	"math"
	"strings"
	"testing"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// Chips as they are found: each is taken with a word of it, or doubted with a cause, never a plain valid value.
func TestQuirks(t *testing.T) {
	mpu := func(id byte) chip.Device {
		c := chip.NewMPU("mpu-6050", 0x68)
		c.Identity = id
		return c
	}
	openMPU := func(b conn.Bus, h *chip.Host) drivers.Sensor {
		s, err := imu.NewMPU(b, imu.MPUConfig{Model: "mpu-6050", Clock: h})
		must(t, err)
		return s
	}
	bmp := func(id byte, humid bool, loading time.Duration) chip.Device {
		c := chip.NewBMX280(0x76, humid)
		c.ID, c.Loading = id, loading
		return c
	}
	openBMX := func(humid bool) func(conn.Bus, *chip.Host) drivers.Sensor {
		return func(b conn.Bus, h *chip.Host) drivers.Sensor {
			return pressure.NewBMX280(b, pressure.BMX280Config{Humidity: humid, Clock: h})
		}
	}
	openMS := func(m *pressure.MS5837Model) func(conn.Bus, *chip.Host) drivers.Sensor {
		return func(b conn.Bus, h *chip.Host) drivers.Sensor {
			s, err := pressure.NewMS5837(b, pressure.MS5837Config{Model: m, Clock: h})
			must(t, err)
			return s
		}
	}
	openLSM := func(dso32 bool) func(conn.Bus, *chip.Host) drivers.Sensor {
		return func(b conn.Bus, h *chip.Host) drivers.Sensor {
			s, err := imu.NewLSM6(b, imu.LSM6Config{Clock: h, DSO32: dso32})
			must(t, err)
			return s
		}
	}
	openBNO := func(b conn.Bus, h *chip.Host) drivers.Sensor { return imu.NewBNO055(b, imu.BNO055Config{Clock: h}) }
	dso32 := func() chip.Device { c := chip.NewLSM6(0x6A); c.DSO32 = true; return c }
	for _, c := range []struct {
		name   string
		device chip.Device
		open   func(conn.Bus, *chip.Host) drivers.Sensor
		value  int
		want   float64
		note   string // part of it
		fault  string // part of an error within five seconds
	}{
		{"mpu-6050", mpu(0), openMPU, 5, 9.80665, "", ""},
		{"clone 0x98", mpu(0x98), openMPU, 5, 9.80665, "0x98", ""},
		{"clone 0x72", mpu(0x72), openMPU, 5, 9.80665, "clone", ""},
		{"clone 0x78", mpu(0x78), openMPU, 5, 9.80665, "clone", ""},
		{"a 6500 sold as a 6050", mpu(0x70), openMPU, 5, 9.80665, "0x70", ""},
		{"an LSM6 at its place", mpu(0x6C), openMPU, 0, 0, "", "identity"},
		{"bmp280 0x56", bmp(0x56, false, 0), openBMX(false), 0, 101325, "", ""},
		{"bmp280 0x57", bmp(0x57, false, 0), openBMX(false), 0, 101325, "", ""},
		{"bme280 loading for 3 ms", bmp(0, true, 3*time.Millisecond), openBMX(true), 0, 101325, "", ""},
		{"bme280 loading for 9 ms", bmp(0, true, 9*time.Millisecond), openBMX(true), 0, 101325, "", ""},
		{"bme280 that never loads", bmp(0, true, time.Hour), openBMX(true), 0, 0, "", "trim"},
		{"early 02BA", chip.NewMS5837(pressure.MS5837_02BA()).Early(), openMS(pressure.MS5837_02BA()), 0, 101325,
			"version 0", ""},
		{"early 30BA", chip.NewMS5837(pressure.MS5837_30BA()).Early(), openMS(pressure.MS5837_30BA()), 0, 101325,
			"version 0", ""},
		{"early 30BA as a 02BA", chip.NewMS5837(pressure.MS5837_30BA()).Early(), openMS(pressure.MS5837_02BA()), 0, 0,
			"", "30ba"},
		{"early 02BA as a 30BA", chip.NewMS5837(pressure.MS5837_02BA()).Early(), openMS(pressure.MS5837_30BA()), 0, 0,
			"", "02ba"},
		{"lsm6dsox", chip.NewLSM6(0x6A), openLSM(false), 5, 9.80665, "", ""},
		{"lsm6dso32", dso32(), openLSM(true), 5, 9.80665, "", ""},
		{"lsm6dso32 as a dsox", dso32(), openLSM(false), 0, 0, "", "DSO32"},
		{"lsm6dsox as a dso32", chip.NewLSM6(0x6A), openLSM(true), 0, 0, "", "at rest"},
		{"bno055", chip.NewBNO055(0x28), openBNO, 9, 9.80665, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			bus := chip.NewBus("i2c", 400_000, 1, c.device)
			h := bus.Host()
			s := c.open(h, h)
			values := make([]float64, 10)
			must(t, bus.Advance(time.Second))
			err := drivers.Measure(s, values)
			for k := 0; k < 500 && err == nil; k++ {
				must(t, bus.Advance(20*time.Millisecond))
				err = s.Read(values)
			}
			switch note := drivers.NoteOf(s); {
			case c.fault != "":
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("got %v, %v, want %q", values, err, c.fault)
				}
			case err != nil || math.Abs(values[c.value]-c.want) > 0.01*c.want:
				t.Errorf("got %v, %v, want %g", values, err, c.want)
			case !strings.Contains(note, c.note) || c.note == "" && note != "":
				t.Errorf("note: got %q, want %q", note, c.note)
			}
		})
	}
}

// A BNO055 that hangs repeats its reading for ever, and one whose fusion hangs its attitude while it turns; at rest it
// is believed.
func TestBNO055Hangs(t *testing.T) {
	c := chip.NewBNO055(0x28)
	bus := chip.NewBus("i2c", 400_000, 1, c)
	h := bus.Host()
	s := imu.NewBNO055(h, imu.BNO055Config{Clock: h})
	must(t, bus.Advance(time.Second))
	must(t, s.Open())
	values := make([]float64, 10)
	poll := func(d time.Duration) (err error) {
		for until := h.Now() + d; h.Now() < until && err == nil; {
			must(t, bus.Advance(20*time.Millisecond))
			err = s.Read(values)
		}
		return err
	}
	must(t, poll(20*time.Second))
	c.Hangs = true
	if err := poll(5 * time.Second); err == nil || !strings.Contains(err.Error(), "hangs") {
		t.Errorf("frozen: got %v", err)
	}
	c.Hangs = false
	must(t, poll(time.Second))
	c.Motion.Rates[2] = 0.5
	if err := poll(time.Second); err == nil || !strings.Contains(err.Error(), "attitude") {
		t.Errorf("it turns, its attitude does not: got %v", err)
	}
}

// A PCA9685 that another program set to an external clock is reset where it is alone on its bus, and named otherwise.
func TestExternalClock(t *testing.T) {
	for _, alone := range []bool{false, true} {
		c := chip.NewPCA9685(pwm.PCA9685Address, 25e6)
		c.ExtClk = true
		bus := chip.NewBus("i2c", 400_000, 1, c, c.General())
		h := bus.Host()
		d, err := pwm.NewPCA9685(h, pwm.PCA9685Config{Channels: 1, Clock: h, Alone: alone})
		must(t, err)
		err = d.Open()
		if !alone {
			if err == nil || !strings.Contains(err.Error(), "EXTCLK") || !strings.Contains(err.Error(), "power cycle") {
				t.Errorf("beside others: got %v", err)
			}
			continue
		}
		must(t, err)
		must(t, d.Write([]time.Duration{1500 * time.Microsecond}))
		if width, _ := c.Pulse(0); width < 1400*time.Microsecond || d.Note() == "" {
			t.Errorf("alone: got pulses of %v, note %q", width, d.Note())
		}
	}
}
