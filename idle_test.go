package halyard_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/hal"
)

// napClock is the clock of a synctest bubble, with a sleeper that can be woken. It counts the wake-ups.
type napClock struct {
	start time.Time
	wakes atomic.Int64
}

func (c *napClock) Now() time.Duration { return time.Since(c.start) }

func (c *napClock) SleepUntil(t time.Duration) { c.NapUntil(t, nil) }

func (c *napClock) NapUntil(t time.Duration, wake <-chan struct{}) {
	defer c.wakes.Add(1)
	select {
	case <-wake:
	case <-time.After(t - c.Now()):
	}
}

func measured(sys *halyard.System) (all []float64) {
	for _, a := range sys.Rig().Agents() {
		all = append(all, a.Measured(nil)...)
	}
	return all
}

// Idle simulated robots of embedded configs measure after three seconds the same values, bit for bit, as after as many
// steps, with at most a third of the wake-ups of a loop that wakes for each cycle, and those of the first second.
func TestIdleRobots(t *testing.T) {
	for _, name := range []string{"demo", "so101", "okon", "usarsim"} {
		period := 10 * time.Millisecond
		if name == "okon" {
			period *= 2
		}
		n := int(3 * time.Second / period)
		stepped := open(t, name)
		steps(t, stepped, n)
		want := measured(stepped)
		synctest.Test(t, func(t *testing.T) {
			clock := &napClock{start: time.Now()}
			cfg, err := halyard.Load(name, halyard.Set("clock.mode", "lockstep"),
				halyard.Set("clock.period", period.String()))
			if err != nil {
				t.Fatal(err)
			}
			sys, err := halyard.Open(cfg, halyard.WithClock(clock))
			if err != nil {
				t.Fatal(err)
			}
			defer sys.Close()
			ctx, cancel := context.WithCancel(t.Context())
			ran := make(chan error)
			go func() { ran <- sys.Rig().Run(ctx) }()
			time.Sleep(3*time.Second + period/2)
			var s hal.Stats
			sys.Rig().Stats(&s)
			if got := measured(sys); s.Cycles != uint64(n) || !slices.Equal(got, want) {
				t.Errorf("%s: after %d cycles, want %d:\ngot  %v\nwant %v", name, s.Cycles, n, got, want)
			}
			if wakes, most := clock.wakes.Load(), int64(n/3+30); wakes > most {
				t.Errorf("%s: got %d wake-ups in %d cycles, want at most %d", name, wakes, n, most)
			}
			cancel()
			if err := <-ran; err != nil {
				t.Error(err)
			}
		})
	}
}
