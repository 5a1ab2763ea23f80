package servotest

import (
	"testing"
	"time"
)

// Decoding is the body of a benchmark of a parser. stream has the given number of packets; wire is their time on the
// fastest line of their kind. feed accepts a part of its argument, next extracts a packet. ratio is the processor's
// time divided by the wire's, which must stay below 1.
func Decoding(b *testing.B, stream []byte, packets int, wire time.Duration, feed func(p []byte) int, next func() bool) {
	b.Helper()
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		got := 0
		for p := stream; len(p) > 0; {
			p = p[feed(p):]
			for next() {
				got++
			}
		}
		if got != packets {
			b.Fatalf("got %d packets, want %d", got, packets)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(wire), "ratio")
}
