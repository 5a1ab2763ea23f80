package chip_test

import (
	"math"
	"strings"
	"testing"
	"time"

	conn "periph.io/x/conn/v3/i2c"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/spi"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// onSPI are the chips that can be connected to either bus: each measures what it measures on I2C, a magnetometer apart.
var onSPI = []struct {
	name  string
	bytes int // of one measurement on the wire
	chip  func() chip.Device
	open  func(bus conn.Bus, clock hal.Clock) (sensor, error)
}{
	{"lsm6dsox", 4 + 15, func() chip.Device { c := chip.NewLSM6(imu.LSM6Address); c.Motion = tilted(); return c },
		func(bus conn.Bus, clock hal.Clock) (sensor, error) {
			return imu.NewLSM6(bus, imu.LSM6Config{Clock: clock})
		}},
	{"mpu-6500", 5 + 15, func() chip.Device { return tiltedMPU("mpu-6500") }, openMPU},
	{"mpu-9250", 5 + 15, func() chip.Device { return tiltedMPU("mpu-9250") }, openMPU},
	{"bmp280", 12, func() chip.Device { return chip.NewBMX280(pressure.BMX280Address, false) }, openBMX},
	{"bme280", 14, func() chip.Device { return chip.NewBMX280(pressure.BMX280Address, true) }, openBMX},
}

func tiltedMPU(model string) *chip.MPU {
	c := chip.NewMPU(model, imu.MPUAddress)
	c.Motion = tilted()
	return c
}

func openMPU(bus conn.Bus, clock hal.Clock) (sensor, error) {
	return imu.NewMPU(bus, imu.MPUConfig{Clock: clock})
}

func openBMX(bus conn.Bus, clock hal.Clock) (sensor, error) {
	return pressure.NewBMX280(bus, pressure.BMX280Config{Clock: clock}), nil
}

func TestSPI(t *testing.T) {
	for _, c := range onSPI {
		t.Run(c.name, func(t *testing.T) {
			i2c, bus := chip.NewBus("i2c", 400_000, 1, c.chip()), chip.NewBus("spi", 1_000_000, 1, c.chip())
			host, port := i2c.Host(), bus.SPI()
			there, err := c.open(host, host)
			must(t, err)
			s, err := c.open(spi.NewPort("spi", port), port)
			must(t, err)
			if c.name != "mpu-9250" { // whose compass is a second chip
				must(t, there.Open())
			}
			must(t, s.Open())
			must(t, bus.Advance(time.Second))
			v, w := make([]float64, 10), make([]float64, 10)
			before := bus.Busy()
			must(t, s.Read(v))
			// A bit before and behind each of its one or two transactions at most.
			if took, least := bus.Busy()-before, time.Duration(8*c.bytes)*time.Microsecond; took < least ||
				took > least+4*time.Microsecond {
				t.Errorf("a measurement: got %v of the wire, want %v", took, least)
			}
			if n := testing.AllocsPerRun(100, func() { must(t, s.Read(v)) }); n != 0 {
				t.Errorf("a measurement: got %g allocations, want 0", n)
			}
			if c.name != "mpu-9250" {
				must(t, i2c.Advance(time.Second))
				must(t, there.Read(w))
				for i := range v {
					if v[i] != w[i] && !(math.IsNaN(v[i]) && math.IsNaN(w[i])) {
						t.Errorf("value %d: got %v, on I2C %v", i, v[i], w[i])
					}
				}
			} else if !math.IsNaN(v[6]) || math.IsNaN(v[0]) {
				t.Errorf("got a field of %v, rates of %v; want none, and some", v[6:9], v[:3])
			}
			// Nothing acknowledges: a chip that is gone is a line that rests high, and no measurement.
			for _, fault := range []wire.Kind{wire.PowerLoss, wire.Dropped} {
				bus.Fault(wire.Fault{Kind: fault})
				if err := s.Read(v); hal.KindOf(err) != hal.Absent || !strings.Contains(err.Error(), "0xFF") &&
					!strings.Contains(err.Error(), "FF FF") {
					t.Errorf("%v: got %v", fault, err)
				}
				if err := s.Open(); hal.KindOf(err) != hal.Absent {
					t.Errorf("%v: open: got %v", fault, err)
				}
				bus.ClearFaults()
				must(t, bus.Advance(time.Second))
			}
			// Power was lost for a moment: it has forgotten its settings.
			bus.Fault(wire.Fault{Kind: wire.PowerLoss, For: time.Millisecond})
			must(t, bus.Advance(time.Second)) // it is back, and boots
			must(t, bus.Advance(time.Second))
			if err := s.Read(v); hal.KindOf(err) != hal.Absent {
				t.Errorf("reset: got %v", err)
			}
			must(t, s.Open())
			must(t, bus.Advance(time.Second))
			must(t, s.Read(v))
		})
	}
}

// BenchmarkSPI is one measurement over the byte-level wire. wire_us is what it takes at 1 MHz; the bound is its bytes
// alone, 8 bits each: of_bound is above 1 by the select's bits.
func BenchmarkSPI(b *testing.B) {
	for _, c := range onSPI {
		b.Run(c.name, func(b *testing.B) {
			bus := chip.NewBus("spi", 1_000_000, 1, c.chip())
			port := bus.SPI()
			s, err := c.open(spi.NewPort("spi", port), port)
			if err == nil {
				err = s.Open()
			}
			if err != nil {
				b.Fatal(err)
			}
			if err := bus.Advance(time.Second); err != nil {
				b.Fatal(err)
			}
			v, before, n := make([]float64, 10), bus.Busy(), 0
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Read(v); err != nil {
					b.Fatal(err)
				}
				n++
			}
			took := (bus.Busy() - before).Seconds() / float64(n)
			b.ReportMetric(took*1e6, "wire_us")
			b.ReportMetric(took/(8*float64(c.bytes)*1e-6), "of_bound")
		})
	}
}
