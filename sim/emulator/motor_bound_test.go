package emulator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// motorBounds are lower bounds of the wire time of a cycle of n motors: bytes of a serial line, frames of a CAN bus.
var motorBounds = []struct {
	model string
	rate  int
	can   bool
	// bound is the time without processing: serial lines by the bytes, CAN by 111 bits of a standard frame of 8 bytes,
	// 47 of a remote one and 131 of an extended one, without bit stuffing.
	bound func(n int) time.Duration
}{
	// 10 bytes of command and 10 of request to the first, 12 and 12 to the others; 32 of reply, sent concurrently with
	// the requests of all but one
	{"vesc-6", 115200, false, func(n int) time.Duration { return servo.WireTime(20+32+(12+32)*(n-1), 10, 115200) }},
	// The CAN bus behind the first has longer: 877 bits each at 500 kbit/s (bldc, comm_can_send_buffer)
	{"vesc-6", 1000000, false, func(n int) time.Duration {
		return max(servo.WireTime(20+32, 10, 1000000), servo.WireTime(n-1, 877, 500000))
	}},
	// a goal, two requests, two replies
	{"odrive-s1", 250000, true, func(n int) time.Duration { return servo.WireTime(n, 3*111+2*47, 250000) }},
	{"odrive-s1", 1000000, true, func(n int) time.Duration { return servo.WireTime(n, 3*111+2*47, 1000000) }},
	// a goal and its feedback
	{"cybergear", 1000000, true, func(n int) time.Duration { return servo.WireTime(n, 2*131, 1000000) }},
}

// boundMotors are n driven motors; boundMotorCycle is one cycle with goals that change each time.
func boundMotors(t testing.TB, model string, n, rate int, can bool) *rostered {
	d := motorBus(t, model, n, rate, can)
	for i := range 4*n + 60 {
		boundMotorCycle(t, d, i)
		d.bus.Advance(10 * time.Millisecond)
	}
	return d
}

func boundMotorCycle(t testing.TB, d *rostered, k int) {
	at := d.line.Now()
	for i := range d.servos {
		d.SetGoal(i, to(d.Units(i).CentreTicks+float64(k%2)))
	}
	if err := d.Send(); err != nil {
		t.Fatal(err)
	}
	if err := d.Receive(); err != nil {
		t.Fatal(err)
	}
	d.spent = d.line.Now() - at
}

// A cycle takes what its bytes or bits do and little more: frames are stuffed, and a look at one motor comes now and
// then.
func TestMotorsReachTheWireBound(t *testing.T) {
	for _, b := range motorBounds {
		for _, n := range []int{1, 4, 6, 12} {
			d := boundMotors(t, b.model, n, b.rate, b.can)
			least, sum := time.Hour, time.Duration(0)
			const cycles = 100
			for k := range cycles {
				boundMotorCycle(t, d, k)
				d.bus.Advance(10 * time.Millisecond)
				least, sum = min(least, d.spent), sum+d.spent
			}
			bound := b.bound(n)
			// The first of a question's answers and the CAN bus behind a VESC take their time; stuffing takes up to a
			// fifth.
			if ratio := float64(bound) / float64(least); ratio > 1.0001 || ratio < 0.85 {
				t.Errorf("%s, %d motors at %d: got %v, the bound is %v: ratio %.3f", b.model, n, b.rate, least, bound,
					ratio)
			}
			t.Logf("%-9s %7d bit/s %3d motors: bound %10v, cycle %10v at best, %10v in the mean, ratio %.3f", b.model,
				b.rate, n, bound, least, sum/cycles, float64(bound)*cycles/float64(sum))
		}
	}
}

// ratio is what of a cycle's time on the bus its bytes or bits are; ns/op is what driver and emulated motors together
// cost the processor. The driver's part allocates nothing.
func BenchmarkMotors(b *testing.B) {
	for _, x := range motorBounds {
		for _, n := range []int{1, 6, 12} {
			b.Run(fmt.Sprintf("%s/%d/%d", x.model, x.rate, n), func(b *testing.B) {
				d := boundMotors(b, x.model, n, x.rate, x.can)
				b.ReportAllocs()
				sum, k := time.Duration(0), 0
				for b.Loop() {
					boundMotorCycle(b, d, k)
					sum += d.spent
					k++
				}
				b.ReportMetric(x.bound(n).Seconds()*1e3, "bound-ms")
				b.ReportMetric(x.bound(n).Seconds()*float64(k)/sum.Seconds(), "ratio")
			})
		}
	}
}
