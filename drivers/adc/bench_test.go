package adc_test

import (
	"testing"

	"github.com/halyard-robotics/halyard/drivers/adc"
	"github.com/halyard-robotics/halyard/internal/emulator/chiptest"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// One reading. The bound is the bits of what must be said: each input of an ADS1115 is told 3 bytes and answers 2, an
// INA219 answers 2 of its volts and 2 of its amperes.
func BenchmarkRead(b *testing.B) {
	const told, asked = 4*9 + 2, 5*9 + 3
	b.Run("ads1115", func(b *testing.B) {
		chiptest.Reading(b, 4*(told+asked), chip.NewADS1115(adc.ADS1115Address),
			func(h *chip.Host) (chiptest.Sensor, error) {
				return adc.NewADS1115(h, adc.ADS1115Config{Clock: h,
					Inputs: []adc.ADS1115In{{Input: 0}, {Input: 1}, {Input: 2}, {Input: 3}}})
			})
	})
	b.Run("ina219", func(b *testing.B) {
		chiptest.Reading(b, 2*asked, chip.NewINA219(adc.INA219Address, 0.1),
			func(h *chip.Host) (chiptest.Sensor, error) {
				return adc.NewINA219(h, adc.INA219Config{Clock: h})
			})
	})
}
