package simloid

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// TestSixtyDays: the time of a status is exact when the clock is past 2^31 and 2^32 ms, and commands pass.
func TestSixtyDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{Options: Options{Exact: true}, mode: hal.Lockstep, powerful: true, period: time.Hour})
		c, err := NewClient(s.lines.Dial(), ClientOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		const days = 60
		var last float64
		for k := range days * 24 {
			status, err := c.Cycle()
			if err != nil {
				t.Fatal(err)
			}
			if last = status.Time; last != float64(3600*(k+2)) {
				t.Fatalf("cycle %d: got %f s, want %d", k, last, 3600*(k+2))
			}
		}
		if ms := last * 1000; ms < 1<<32 {
			t.Fatalf("got %g ms, want more than 2^32", ms)
		}
		id, _ := s.rig.Values().Lookup("/Simulation/TimeStepSize")
		if err := s.rig.Values().Set(id, hal.Value{Kind: hal.DoubleValue, Double: 0.01}); err != nil {
			t.Fatal(err)
		}
		for k := range 10 {
			status, err := c.Cycle(Command{Verb: PA, Values: []float64{0.25}})
			if err != nil || math.Abs(status.Time-last-0.01*float64(k+1)) > 1e-6 {
				t.Fatalf("after %d days: got %f s, %v, want %f", days, status.Time, err, last+0.01*float64(k+1))
			}
		}
	})
}
