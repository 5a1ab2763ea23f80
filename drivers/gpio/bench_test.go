package gpio

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// A quarter of a turn of an encoder: 64 edges as the kernel hands them up, counted. The bound is what a wheel may ask
// for: 2400 edges a turn at 6000 turns a minute are 4.17 µs each; ratio is the part of it that an edge takes.
func BenchmarkEncoder(b *testing.B) {
	const edges, bound = 64, 4167 * time.Nanosecond
	e := NewEncoder(Pins{})
	var ring []byte
	state := uint8(0)
	for i := range edges {
		next := [...]uint8{1, 3, 2, 0}[i%4] // a<<1 | b
		line := uint32(1)
		if (state^next)&2 != 0 {
			line = 0
		}
		rising := next > state
		ev := gpiochip.Event{At: time.Duration(i) * bound, Line: line, Rising: rising, Seq: uint32(i + 1)}
		ring, state = ev.AppendTo(ring), next
	}
	e.lines.offsets = []uint32{0, 1}
	var ev gpiochip.Event
	b.ReportAllocs()
	for b.Loop() {
		e.count, e.errors, e.state = 0, 0, 0
		for p := ring; len(p) > 0; p = p[gpiochip.EventSize:] {
			if err := ev.Parse(p[:gpiochip.EventSize]); err != nil {
				b.Fatal(err)
			}
			e.take(&ev)
		}
		if e.errors > 0 || e.count != edges && e.count != -edges {
			b.Fatalf("got %d and %d errors, want %d", e.count, e.errors, edges)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/edges/float64(bound), "ratio")
}
