package adc_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/adc"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// One reading over I2C at 400 kHz. of_bus is the bits of what must be said, by those that the driver says: each input of an ADS1115
// is told 3 bytes and answers 2, an INA219 answers 2 of its volts and 2 of its amperes.
func BenchmarkRead(b *testing.B) {
	const told, asked = 4*9 + 2, 5*9 + 3
	for _, c := range []struct {
		name string
		bits int
		chip chip.Device
		make func(h *chip.Host) (sensor, error)
	}{
		{"ads1115", 4 * (told + asked), chip.NewADS1115(adc.ADS1115Address), func(h *chip.Host) (sensor, error) {
			return adc.NewADS1115(h, adc.ADS1115Config{Clock: h, Inputs: []adc.ADS1115In{{Input: 0}, {Input: 1}, {Input: 2}, {Input: 3}}})
		}},
		{"ina219", 2 * asked, chip.NewINA219(adc.INA219Address, 0.1), func(h *chip.Host) (sensor, error) {
			return adc.NewINA219(h, adc.INA219Config{Clock: h})
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
			values, start := make([]float64, 4), bus.Busy()
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
