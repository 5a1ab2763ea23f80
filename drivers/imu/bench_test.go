package imu_test

import (
	"testing"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/internal/emulator/chiptest"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// One sample. The bound is the bits of the values, 9 a byte with the two addresses and the register before them: 32
// bytes of a BNO055, 14 of the others, which are asked for their settings too.
func BenchmarkRead(b *testing.B) {
	const around, word = 3*9 + 3, 9
	b.Run("bno055", func(b *testing.B) {
		chiptest.Reading(b, around+32*word, chip.NewBNO055(imu.BNO055Address),
			func(h *chip.Host) (chiptest.Sensor, error) {
				return imu.NewBNO055(h, imu.BNO055Config{Clock: h}), nil
			})
	})
	b.Run("mpu-6050", func(b *testing.B) {
		chiptest.Reading(b, around+14*word, chip.NewMPU("mpu-6050", imu.MPUAddress),
			func(h *chip.Host) (chiptest.Sensor, error) {
				return imu.NewMPU(h, imu.MPUConfig{Clock: h})
			})
	})
	b.Run("lsm6dsox", func(b *testing.B) {
		chiptest.Reading(b, around+14*word, chip.NewLSM6(imu.LSM6Address), func(h *chip.Host) (chiptest.Sensor, error) {
			return imu.NewLSM6(h, imu.LSM6Config{Clock: h})
		})
	})
}
