package lab

import (
	"testing"
	"time"
)

// A block of bare round trips has its own deadline: a benchmark may last longer than a block's.
func TestRoundTripsOfLongBenchmark(t *testing.T) {
	p, err := newTCPPair(3, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	p.near.SetDeadline(time.Now().Add(-time.Second)) // that of a block long ago
	if err := p.roundTrips(10); err != nil {
		t.Errorf("got %v, want round trips", err)
	}
}
