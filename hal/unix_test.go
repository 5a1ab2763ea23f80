package hal

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestUnix labels rig time with the wall clock: steadily while cycles are late by less than 1 ms, and again after
// missed periods or a step of the clock.
func TestUnix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := New(Config{Name: "r", Mode: Realtime, Period: 10 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := r.Unix(0); ok {
			t.Error("before the first cycle: got a label")
		}
		begin := time.Now()
		at := func(wall, rig time.Duration) time.Duration {
			time.Sleep(wall - time.Since(begin))
			r.time = rig
			r.label()
			at, ok := r.Unix(rig)
			if !ok {
				t.Fatal("got no label")
			}
			return at.Sub(begin)
		}
		const ms = time.Millisecond
		for _, c := range []struct{ wall, rig, want time.Duration }{
			{10*ms + ms/2, 10 * ms, 10*ms + ms/2}, // the first is late
			{20 * ms, 20 * ms, 20 * ms},           // an earlier one is nearer to the truth
			{30*ms + ms/2, 30 * ms, 30 * ms},      // late again: steady
			{50 * ms, 40 * ms, 50 * ms},           // a period was missed
		} {
			if got := at(c.wall, c.rig); got != c.want {
				t.Errorf("at %v: got %v, want %v", c.wall, got, c.want)
			}
		}
		r.config.Mode = Lockstep
	})
}
