package chip_test

import (
	"errors"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// BenchmarkROV is one cycle of 10 ms of the real ROV's driver stack: eight thrusters, an IMU at 50 Hz, a depth sensor.
// bus_share is the part of the time that its I2C bus of 400 kHz is busy. Its lower bound is the bytes alone, each of 9
// bits, start and stop left out: a changed set of pulses is 33 + 1 bytes and the look at the mode 4, 100 times a
// second; a BNO055 sample 35 bytes, 50 times; a depth 2 conversions of 2 and 6 bytes, 20 times: 5870 bytes a second,
// 0.132 of the wire.
func BenchmarkROV(b *testing.B) {
	const bound = (100*(34+4) + 50*35 + 20*2*8) * 9 / 400e3
	t := &testing.T{}
	r := newROV(t, "pca9685", "bno055")
	if t.Failed() {
		b.Fatal("the ROV does not open")
	}
	f := hal.NewFrame(r.body.Layout())
	for i := range f.Enable {
		f.Enable[i] = true
	}
	duty := 0.1
	b.ReportAllocs()
	for b.Loop() {
		duty = -duty
		for i := range thrusters {
			f.Inputs[i] = duty
		}
		err := r.body.Write(f)
		for _, bus := range r.buses() {
			err = errors.Join(err, bus.Send())
		}
		err = errors.Join(err, r.Advance(period))
		for _, bus := range r.buses() {
			err = errors.Join(err, bus.Receive())
		}
		f.Time += period
		if err := errors.Join(err, r.body.Read(f)); err != nil {
			b.Fatal(err)
		}
	}
	share := r.bus.Busy().Seconds() / f.Time.Seconds()
	b.ReportMetric(share, "bus_share")
	b.ReportMetric(share/bound, "of_bound")
}
