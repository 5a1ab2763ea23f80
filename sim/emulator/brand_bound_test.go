package emulator_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// bounds are the bytes of a cycle of n servos by the data sheets, and the bits of each on the wire.
var bounds = []struct {
	model string
	baud  int
	bits  int
	bytes func(n int) int
	// published is hardware.md's table of section 7 for 6, 12, 18 and 20 servos, ms; 0 = none.
	published [4]float64
}{
	// sync write 8 + N·(7+1), sync read 8 + N asked and N·(6+8) answered
	{"sts3215", 1000000, 10, func(n int) int { return 8 + 8*n + 8 + n + 14*n }, [4]float64{1.54, 2.92, 4.30, 4.76}},
	{"sts3215", 115200, 10, func(n int) int { return 8 + 8*n + 8 + n + 14*n }, [4]float64{13.4, 25.4, 37.3, 41.3}},
	// sync write 8 + N·(6+1), then 8 asked and 6+8 answered each
	{"scs0009", 1000000, 10, func(n int) int { return 8 + 7*n + 22*n }, [4]float64{}},
	// 10 bytes of command, 6 of request, 8 of reply each
	{"lx-16a", 115200, 10, func(n int) int { return 24 * n }, [4]float64{}},
	// 3 bytes of command and 3 of reply each
	{"krs-2552", 1250000, 11, func(n int) int { return 6 * n }, [4]float64{}},
	{"krs-2552", 115200, 11, func(n int) int { return 6 * n }, [4]float64{}},
}

// boundChain is a chain of n driven servos on a bus that adds nothing to its bytes. Nothing is looked at beside the
// cycle, so that each is like the one before.
func boundChain(t testing.TB, model string, baud, n int) (servo.Chain, servo.Line, func() servo.Stats) {
	t.Helper()
	var servos []*emulator.Servo
	var f servo.ChainConfig
	var h servo.ChainConfig
	var k servo.ChainConfig
	f.Health, h.Health, k.Health = -1, -1, -1
	for id := 1; id <= n; id++ {
		switch model {
		case "lx-16a":
			servos = append(servos, newHiwonder(t, id))
			h.Servos = append(h.Servos, servo.ServoConfig{ID: byte(id), Model: hiwonder.ModelByName(model)})
		case "krs-2552":
			servos = append(servos, newKondo(t, id))
			k.Servos = append(k.Servos, servo.ServoConfig{ID: byte(id), Model: kondo.ModelByName(model)})
		default:
			servos = append(servos, newFeetech(t, model, id))
			f.Servos = append(f.Servos, servo.ServoConfig{ID: byte(id), Model: feetech.ModelByName(model)})
		}
	}
	line := emulator.NewBus(emulator.BusConfig{Name: "bound", Baud: baud}, servos...).Line()
	f.Line, h.Line, k.Line = line, line, line
	var c interface {
		servo.Chain
		Stats() servo.Stats
		Close() error
	}
	switch model {
	case "lx-16a":
		c = hiwonder.NewChain(h)
	case "krs-2552":
		c = kondo.NewChain(k)
	default:
		c = feetech.NewChain(f)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	// Torque is switched on for all at once, but one servo a cycle confirms it.
	for i := range 2*n + 10 {
		boundCycle(t, c, n, i)
	}
	return c, line, c.Stats
}

// boundCycle is one cycle with goals that change each time, as a moving robot's do.
func boundCycle(t testing.TB, c servo.Chain, n, k int) {
	for i := range n {
		c.SetGoal(i, to(c.Units(i).CentreTicks+float64(k%2)))
	}
	if err := errors.Join(c.Send(), c.Receive()); err != nil {
		t.Fatal(err)
	}
}

// A cycle has exactly the bytes of the data sheet, and the line's clock advances by their time.
func TestBrandsReachTheWireBound(t *testing.T) {
	for _, b := range bounds {
		for i, n := range []int{6, 12, 18, 20} {
			c, _, stats := boundChain(t, b.model, b.baud, n)
			boundCycle(t, c, n, 0)
			s, bytes := stats(), b.bytes(n)
			bound := servo.WireTime(bytes, b.bits, b.baud)
			if s.Sent+s.Received != uint64(bytes) || s.Timeouts > 0 {
				t.Errorf("%s, %d servos: got %d bytes and %d timeouts, want %d and 0", b.model, n, s.Sent+s.Received,
					s.Timeouts, bytes)
			}
			if s.Wire != bound || s.Spent < bound-time.Microsecond || s.Spent > bound+bound/100 {
				t.Errorf("%s, %d servos at %d: got %v of wire and %v spent, want %v", b.model, n, b.baud, s.Wire,
					s.Spent, bound)
			}
			if ms, want := bound.Seconds()*1000, b.published[i]; want > 0 && (ms < 0.995*want || ms > 1.005*want) {
				t.Errorf("%s, %d servos at %d: bound %.3g ms, hardware.md says %.3g", b.model, n, b.baud, ms, want)
			}
			t.Logf("%-9s %8d baud %3d servos: %4d bytes, bound %10v, cycle %10v, ratio %.4f", b.model, b.baud, n, bytes,
				bound, s.Spent, float64(bound)/float64(s.Spent))
		}
	}
}

// The bound is the time of a cycle's bytes; ratio is what of the line's own time they are. ns/op is what driver and
// emulated servos together cost the processor, the driver's part of which allocates nothing.
func BenchmarkBrands(b *testing.B) {
	for _, x := range bounds {
		for _, n := range []int{6, 12, 18, 20} {
			b.Run(fmt.Sprintf("%s/%d/%d", x.model, x.baud, n), func(b *testing.B) {
				c, line, _ := boundChain(b, x.model, x.baud, n)
				b.ReportAllocs()
				start, k := line.Now(), 0
				for b.Loop() {
					boundCycle(b, c, n, k)
					k++
				}
				bound := servo.WireTime(x.bytes(n), x.bits, x.baud)
				b.ReportMetric(bound.Seconds()*1e3, "bound-ms")
				b.ReportMetric(bound.Seconds()*float64(k)/(line.Now()-start).Seconds(), "ratio")
			})
		}
	}
}
