package pressure_test

import (
	"testing"

	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/internal/emulator/chiptest"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// One measurement. The bound is the bits of what must be said: an MS5837 is told two commands of a byte and answers 3
// bytes twice, a BMP280 has 6 bytes of values.
func BenchmarkRead(b *testing.B) {
	b.Run("ms5837-30ba", func(b *testing.B) {
		chiptest.Reading(b, 2*(2*9+2+6*9+3), chip.NewMS5837(pressure.MS5837_30BA()),
			func(h *chip.Host) (chiptest.Sensor, error) {
				return pressure.NewMS5837(h, pressure.MS5837Config{Clock: h})
			})
	})
	b.Run("bmp280", func(b *testing.B) {
		chiptest.Reading(b, 9*9+3, chip.NewBMX280(pressure.BMX280Address, false),
			func(h *chip.Host) (chiptest.Sensor, error) {
				return pressure.NewBMX280(h, pressure.BMX280Config{Clock: h}), nil
			})
	})
}
