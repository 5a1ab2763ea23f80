package i2c

import (
	"testing"

	"periph.io/x/conn/v3/physic"

	"github.com/halyard-robotics/halyard/servo"
)

// still is a bus on which every register reads 0.
type still struct{}

func (still) String() string                  { return "still" }
func (still) Tx(uint16, []byte, []byte) error { return nil }
func (still) SetSpeed(physic.Frequency) error { return nil }

// A sample of 14 bytes read and a setting written. The bound is the bus: 20 bytes of 9 bits are 0.45 ms at 400 kHz;
// ratio is the part of it that the processor takes.
func BenchmarkChip(b *testing.B) {
	c := NewChip(still{}, 0x68, "bench")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Read(0x3B, 14); err != nil {
			b.Fatal(err)
		}
		if err := c.Write(0x6B, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(servo.WireTime(20, 9, 400_000)), "ratio")
}
