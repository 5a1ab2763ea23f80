// Package chiptest is for the benchmarks of drivers of chips, which emulated ones answer.
package chiptest

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// Sensor is the interface of the drivers under test.
type Sensor interface {
	Open() error
	Read(values []float64) error
}

// Reading is the body of a benchmark of a driver with its chip on a bus of 400 kHz. of_bus is the time of bits, the
// minimum for its values, divided by the time of the driver's transactions.
func Reading(b *testing.B, bits int, device chip.Device, driver func(h *chip.Host) (Sensor, error)) {
	b.Helper()
	const hertz, period = 400_000, 20 * time.Millisecond
	bus := chip.NewBus("bench", hertz, 1, device)
	s, err := driver(bus.Host())
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
		if err := bus.Advance(period); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(bits)/hertz*float64(b.N)/(bus.Busy()-start).Seconds(), "of_bus")
}
