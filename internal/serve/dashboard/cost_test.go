package dashboard

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// humanoid is the demo's rig, in lock-step, and its dashboard.
func humanoid(t testing.TB) (*assembly.System, *Server) {
	t.Helper()
	p, err := plan.Load("demo", configs.Options{Body: "emulated"}, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	sys, err := assembly.Build(p, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	s, err := New(ln, []Source{{Rig: sys.Rig, System: sys}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); sys.Close() })
	return sys, s
}

// TestCycleAllocatesNothing: what a tab wants to see costs the cycle a copy, and no memory.
func TestCycleAllocatesNothing(t *testing.T) {
	sys, s := humanoid(t)
	s.sampler.take()
	r := s.sampler.rigs[0]
	step := func() {
		r.mu.Lock()
		r.due = true
		r.mu.Unlock()
		if err := sys.Rig.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		step()
	}
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("a cycle of the humanoid with a tab: got %g allocations, want 0", n)
	}
	if r.due || len(r.poses) == 0 {
		t.Error("got no copy of the poses")
	}
}

// BenchmarkCycle is a cycle of the emulated humanoid without tabs and with four at 60 Hz beside it.
func BenchmarkCycle(b *testing.B) {
	for _, c := range []struct {
		name string
		tabs int
	}{{"no tab", 0}, {"4 tabs", 4}} {
		b.Run(c.name, func(b *testing.B) {
			sys, s := humanoid(b)
			ended := make(chan struct{})
			var tabs sync.WaitGroup
			for range c.tabs {
				tabs.Go(func() {
					var sent []float32
					var frame []byte
					tick := time.NewTicker(frameInterval)
					defer tick.Stop()
					for {
						select {
						case <-tick.C:
						case <-ended:
							return
						}
						sample, _ := s.sampler.take()
						if sent == nil {
							sent = make([]float32, len(sample.values))
						}
						s.status()
						frame = appendFrame(frame[:0], sample, sent)
					}
				})
			}
			for range 1000 {
				sys.Rig.Step()
			}
			var took hal.Histogram
			for b.Loop() {
				begin := time.Now()
				if err := sys.Rig.Step(); err != nil {
					b.Fatal(err)
				}
				took.Add(time.Since(begin))
			}
			close(ended)
			tabs.Wait()
			b.ReportMetric(float64(took.Quantile(0.5).Nanoseconds())/1e3, "us-p50")
			b.ReportMetric(float64(took.Quantile(0.99).Nanoseconds())/1e3, "us-p99")
		})
	}
}
