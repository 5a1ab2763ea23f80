package pressure_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// One measurement over I2C at 400 kHz. of_bus is the bits of what must be said, by those that the driver says: an MS5837 is told two
// commands of a byte and answers 3 bytes twice, a BMP280 has 6 bytes of values.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		bits int
		chip chip.Device
		make func(h *chip.Host) (sensor, error)
	}{
		{"ms5837-30ba", 2 * (2*9 + 2 + 6*9 + 3), chip.NewMS5837(pressure.MS5837_30BA()), func(h *chip.Host) (sensor, error) {
			return pressure.NewMS5837(h, pressure.MS5837Config{Clock: h})
		}},
		{"bmp280", 9*9 + 3, chip.NewBMX280(pressure.BMX280Address, false), func(h *chip.Host) (sensor, error) {
			return pressure.NewBMX280(h, pressure.BMX280Config{Clock: h}), nil
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			bus := chip.NewBus("bench", 400_000, 1, c.chip)
			s, err := c.make(bus.Host())
			if err == nil {
				err = s.Open()
			}
			if err != nil {
				b.Fatal(err)
			}
			values, start := make([]float64, 3), bus.Busy()
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Read(values); err != nil {
					b.Fatal(err)
				}
				bus.Advance(20 * time.Millisecond)
			}
			b.ReportMetric(float64(c.bits)/400e3*float64(b.N)/(bus.Busy()-start).Seconds(), "of_bus")
		})
	}
}

type sensor interface {
	Open() error
	Read(values []float64) error
}
