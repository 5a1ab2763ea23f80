package pwm_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// Sixteen channels told. of_wire is the time of what must be said, by that of what the driver says: 66 bytes of 9 bits
// to a PCA9685 at 400 kHz, which is asked whether it was reset too; 35 bytes to a Maestro at 115200 baud and its
// errors, 1 byte asked and 2 answered.
func BenchmarkWrite(b *testing.B) {
	const n = 16
	bus := chip.NewBus("bench", 400_000, 1, chip.NewPCA9685(pwm.PCA9685Address, pwm.PCA9685Oscillator))
	host := bus.Host()
	pca, err := pwm.NewPCA9685(host, pwm.PCA9685Config{Channels: n, Clock: host})
	if err != nil {
		b.Fatal(err)
	}
	line := chip.NewSerial("bench", 115_200, 1, chip.NewMaestro(18, 12, false))
	maestro, err := pwm.NewMaestro(line.Open, pwm.MaestroConfig{Channels: n, Device: -1})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		out  interface {
			Open() error
			Write(pulses []time.Duration) error
		}
		wire  func() time.Duration
		bound time.Duration
	}{
		{"pca9685", pca, bus.Busy, servo.WireTime(1, 66*9+2, 400_000)},
		{"maestro", maestro, line.Now, servo.WireTime(35+3, 10, 115_200)},
	} {
		b.Run(c.name, func(b *testing.B) {
			if err := c.out.Open(); err != nil {
				b.Fatal(err)
			}
			pulses, start := make([]time.Duration, n), c.wire()
			for i := range pulses {
				pulses[i] = 1500 * time.Microsecond
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := c.out.Write(pulses); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(c.bound.Seconds()*float64(b.N)/(c.wire()-start).Seconds(), "of_wire")
		})
	}
}
