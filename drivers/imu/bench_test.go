package imu_test

import (
	"testing"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// One sample over I2C at 400 kHz. of_bus is the bits of the values alone, 9 a byte with the two addresses and the register before
// them, by those that the driver makes of it: 32 bytes of a BNO055, 14 of the others, which are asked for their settings too.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name  string
		bytes int
		chip  chip.Device
		make  func(h *chip.Host) (sensor, error)
	}{
		{"bno055", 32, chip.NewBNO055(imu.BNO055Address), func(h *chip.Host) (sensor, error) { return imu.NewBNO055(h, imu.BNO055Config{Clock: h}), nil }},
		{"mpu-6050", 14, chip.NewMPU("mpu-6050", imu.MPUAddress), func(h *chip.Host) (sensor, error) { return imu.NewMPU(h, imu.MPUConfig{Clock: h}) }},
		{"lsm6dsox", 14, chip.NewLSM6(imu.LSM6Address), func(h *chip.Host) (sensor, error) { return imu.NewLSM6(h, imu.LSM6Config{Clock: h}) }},
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
			values, start := make([]float64, 10), bus.Busy()
			b.ReportAllocs()
			for b.Loop() {
				if err := s.Read(values); err != nil {
					b.Fatal(err)
				}
			}
			bound := float64((3+c.bytes)*9+3) / 400e3
			b.ReportMetric(bound*float64(b.N)/(bus.Busy()-start).Seconds(), "of_bus")
		})
	}
}

type sensor interface {
	Open() error
	Read(values []float64) error
}
