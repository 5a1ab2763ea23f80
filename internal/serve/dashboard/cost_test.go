package dashboard

import (
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
)

// humanoid is the demo's rig, in lock-step, and its dashboard.
func humanoid(t testing.TB) (*assembly.System, *Server) {
	t.Helper()
	return emulated(t, "demo")
}

// emulated is the rig of a config, in lock-step, and its dashboard.
func emulated(t testing.TB, config string, set ...string) (*assembly.System, *Server) {
	t.Helper()
	p, err := plan.Load(config, configs.Options{Body: "emulated", Set: set}, builtin.Catalog())
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

// TestRealStandsAsMeasured: the links of a robot that the physics does not move are where its joints say. An emulated
// one knows both.
func TestRealStandsAsMeasured(t *testing.T) {
	sys, s := emulated(t, "so101", "agents[0].pose.position=[0.3, -0.2, 0.1]", "agents[0].shadow=true")
	for range 50 { // it sags, without torque
		if err := sys.Rig.Step(); err != nil {
			t.Fatal(err)
		}
	}
	a := s.sampler.list()[0]
	a.measured = a.agent.Measured(nil)
	a.real = true
	poses := sys.Scene.Poses(nil)
	want := slices.Clone(poses)
	for i := range poses {
		poses[i] = hal.Pose{}
	}
	a.forward(poses, make([]float32, poseValues*len(a.bodies)), nil)
	for i := range poses {
		for axis := range 3 {
			if got := poses[i].Position[axis]; math.Abs(got-want[i].Position[axis]) > 0.003 {
				t.Errorf("%s: axis %d: got %.4f m, want %.4f", sys.Scene.Parts()[i].Body, axis, got,
					want[i].Position[axis])
			}
		}
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

// TestAgeOfAllSilent: the ages of readings grow while every device is silent, and while no cycle passes.
func TestAgeOfAllSilent(t *testing.T) {
	sys, s := emulated(t, "so101")
	for range 10 {
		if err := sys.Rig.Step(); err != nil {
			t.Fatal(err)
		}
	}
	a, r := s.sampler.list()[0], s.sampler.rigs[0]
	age := func() (least time.Duration) {
		values, l := make([]float32, length(a.agent.Layout())), a.agent.Layout()
		a.read(values, r.now(time.Now()))
		least = time.Hour
		for i := range l.Actuators {
			least = min(least, time.Duration(float64(values[len(l.Outputs)+len(l.Infos)+i])*float64(time.Second)))
		}
		return least
	}
	if got := age(); got > 100*time.Millisecond {
		t.Fatalf("got a reading that is %v old", got)
	}
	for _, j := range a.agent.Joints() {
		if err := sys.Tamper("so101", j, "unplugged"); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		if err := sys.Rig.Step(); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := age(), 90*sys.Rig.Period(); got < want {
		t.Errorf("after 100 cycles without a reply: got %v, want more than %v", got, want)
	}
}

// TestAgeWithoutCycles: in real time readings grow old while no cycle passes.
func TestAgeWithoutCycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		time.Sleep(time.Second)
		r := newShown(Source{Rig: s.Rig}, &Journal{})
		defer r.session.Close()
		time.Sleep(time.Second)
		now := time.Now()
		if got := r.now(now.Add(2*time.Second)) - r.now(now); got < 2*time.Second-2*topicstest.Period ||
			got > 2*time.Second {
			t.Errorf("2 s without a cycle: got %v more", got)
		}
	})
}
