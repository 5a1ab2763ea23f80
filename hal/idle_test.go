package hal_test

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// wakingClock is a bubbleClock that counts how often the loop woke; nappingClock can be woken too.
type wakingClock struct {
	bubbleClock
	wakes atomic.Int64
}

func (c *wakingClock) SleepUntil(t time.Duration) {
	c.bubbleClock.SleepUntil(t)
	c.wakes.Add(1)
}

type nappingClock struct{ wakingClock }

func (c *nappingClock) NapUntil(t time.Duration, wake <-chan struct{}) {
	defer c.wakes.Add(1)
	select {
	case <-wake:
	case <-time.After(t - c.Now()):
	}
}

// idleBody is a simulated body that accepts deferred cycles unless it is busy. It keeps its position of each cycle.
type idleBody struct {
	*haltest.Body
	busy bool
	now  func() time.Duration
	at   []float64
	came time.Duration // of the first command
}

func (b *idleBody) Deferrable() bool { return !b.busy }

func (b *idleBody) Write(f *hal.Frame) error {
	if b.came == 0 && !math.IsNaN(f.Inputs[0]) {
		b.came = b.now()
	}
	return b.Body.Write(f)
}

func (b *idleBody) Advance(dt time.Duration) error {
	err := b.Body.Advance(dt)
	b.at = append(b.at, b.Position[0])
	return err
}

// idleObserver accepts deferred cycles unless it is busy.
type idleObserver struct {
	recorder
	busy bool
}

func (o *idleObserver) Deferrable() bool { return !o.busy }

// silentLine is a line that does nothing.
type silentLine struct{}

func (silentLine) Send() error    { return nil }
func (silentLine) Receive() error { return nil }

// idleRig is a rig with one body on clock.
func idleRig(t *testing.T, mode hal.ClockMode, kind hal.BodyKind, clock hal.Clock, b *idleBody) (*hal.Rig, *hal.Agent) {
	t.Helper()
	r, err := hal.New(hal.Config{Name: "test", Mode: mode, Period: period, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	a, err := r.Add(hal.AgentConfig{Name: "a", Body: b, World: b, BodyKind: kind})
	if err != nil {
		t.Fatal(err)
	}
	return r, a
}

// An idle rig wakes every 100 ms, any other one each period. The cycles are the same, and none is missed or late.
func TestIdleRigWakesSeldom(t *testing.T) {
	type rig struct {
		r *hal.Rig
		a *hal.Agent
		b *idleBody
	}
	for _, c := range []struct {
		name  string
		mode  hal.ClockMode
		kind  hal.BodyKind
		with  func(x rig)
		wakes int64 // in two seconds
	}{
		{"lock-step", hal.Lockstep, hal.Simulated, func(rig) {}, 20},
		{"real time", hal.Realtime, hal.Simulated, func(rig) {}, 20},
		{"patient observer", hal.Lockstep, hal.Simulated, func(x rig) { x.r.NewSession("o", &idleObserver{}) }, 20},
		{"session without an observer", hal.Lockstep, hal.Simulated, func(x rig) { x.r.NewSession("o", nil) }, 20},
		{"busy observer", hal.Lockstep, hal.Simulated, func(x rig) { x.r.NewSession("o", &idleObserver{busy: true}) },
			200},
		{"any observer", hal.Lockstep, hal.Simulated, func(x rig) { x.r.NewSession("o", &recorder{}) }, 200},
		{"emulated", hal.Lockstep, hal.Emulated, func(rig) {}, 200},
		{"real", hal.Realtime, hal.Real, func(rig) {}, 200},
		{"line", hal.Lockstep, hal.Simulated, func(x rig) { x.r.AddBus(silentLine{}) }, 200},
		{"stop input", hal.Lockstep, hal.Simulated, func(x rig) { x.r.AddStopInput(func() error { return nil }) }, 200},
		{"busy world", hal.Lockstep, hal.Simulated, func(x rig) { x.b.busy = true }, 200},
		{"another world", hal.Lockstep, hal.Simulated, func(x rig) { x.r.AddWorld(hal.PhysicalWorld{}) }, 200},
		{"recording", hal.Lockstep, hal.Simulated, func(x rig) { x.r.OpenJournal(1000) }, 200},
		{"leased", hal.Realtime, hal.Simulated, func(x rig) { x.r.NewSession("o", nil).Acquire(x.a) }, 200},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock := &nappingClock{wakingClock{bubbleClock: bubbleClock{time.Now()}}}
			b := &idleBody{Body: haltest.NewBody("j"), now: clock.Now}
			r, a := idleRig(t, c.mode, c.kind, clock, b)
			c.with(rig{r, a, b})
			_, stop := running(t, r)
			time.Sleep(2*time.Second + period/2)
			before := clock.wakes.Load()
			time.Sleep(2 * time.Second)
			if got := clock.wakes.Load() - before; got != c.wakes {
				t.Errorf("%s: got %d wakes in 2 s, want %d", c.name, got, c.wakes)
			}
			var s hal.Stats
			if r.Stats(&s); s.Cycles != 400 || s.Ticks != 400 || s.Missed != 0 || s.Behind != 0 || s.Late.Max() != 0 {
				t.Errorf("%s: after 4 s: got %d cycles, %d ticks, %d missed, %v late, want 400, 400, 0, 0", c.name,
					s.Cycles, s.Ticks, s.Missed, s.Late.Max())
			}
			stop()
		})
	}
}

// A call from outside finds an idle rig as if it had run each cycle in time, and takes effect in the same cycle at the
// same time.
func TestIdleRigIsAsIfAwake(t *testing.T) {
	type seen struct {
		at       []float64
		came     time.Duration
		measured []float64
		steps    []uint64
	}
	run := func(t *testing.T, clock hal.Clock) (x seen) {
		b := &idleBody{Body: haltest.NewBody("j"), now: clock.Now}
		r, a := idleRig(t, hal.Lockstep, hal.Simulated, clock, b)
		between, stop := running(t, r)
		look := func() {
			var s hal.Stats
			x.measured = append(x.measured, a.Measured(nil)[0])
			r.Stats(&s)
			x.steps = append(x.steps, s.Cycles)
		}
		time.Sleep(3023 * time.Millisecond)
		if err := a.Override([]float64{1, nan}); err != nil {
			t.Error(err)
		}
		for range 5 {
			time.Sleep(14 * time.Millisecond)
			look()
		}
		time.Sleep(2 * time.Second) // idle again
		a.Override([]float64{-1, nan})
		time.Sleep(1234 * time.Millisecond)
		p, l, o := acquire(t, r, "client", a)
		look()
		p.Step(l, []float64{0, nan})
		x.steps = append(x.steps, o.steps...)
		p.Close()
		time.Sleep(1777 * time.Millisecond)
		for _, j := range r.EmergencyStop("test") {
			if j.Err != nil {
				t.Error(j.Err)
			}
		}
		look()
		between(func() { x.at, x.came = slices.Clone(b.at), b.came })
		stop()
		return x
	}
	var awake, idle seen
	synctest.Test(t, func(t *testing.T) { awake = run(t, &wakingClock{bubbleClock: bubbleClock{time.Now()}}) })
	synctest.Test(t, func(t *testing.T) {
		idle = run(t, &nappingClock{wakingClock{bubbleClock: bubbleClock{time.Now()}}})
	})
	if want := 3030 * time.Millisecond; awake.came != want || idle.came != want {
		t.Errorf("the first command: got it at %v awake and at %v idle, want %v", awake.came, idle.came, want)
	}
	if !slices.Equal(idle.at, awake.at) || !slices.Equal(idle.measured, awake.measured) ||
		!slices.Equal(idle.steps, awake.steps) {
		t.Errorf("got %d cycles, %v at %v, awake %d, %v at %v", len(idle.at), idle.measured, idle.steps, len(awake.at),
			awake.measured, awake.steps)
	}
}

// A nap that ends late misses only the periods after the deferred ones.
func TestIdleRigThatWakesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &lateNapper{nappingClock: nappingClock{wakingClock{bubbleClock: bubbleClock{time.Now()}}}}
		b := &idleBody{Body: haltest.NewBody("j"), now: clock.Now}
		r, _ := idleRig(t, hal.Realtime, hal.Simulated, clock, b)
		_, stop := running(t, r)
		time.Sleep(2*time.Second + period/2)
		clock.late.Store(int64(25 * time.Millisecond))
		time.Sleep(time.Second)
		clock.late.Store(0)
		time.Sleep(time.Second)
		var s hal.Stats
		r.Stats(&s)
		if s.Missed == 0 || s.Cycles+s.Missed != 400 || s.Time+s.Behind != 4*time.Second {
			t.Errorf("got %d cycles and %d missed, %v and %v, want 400 and 4s together", s.Cycles, s.Missed, s.Time,
				s.Behind)
		}
		stop()
	})
}

type lateNapper struct {
	nappingClock
	late atomic.Int64
}

func (c *lateNapper) NapUntil(t time.Duration, wake <-chan struct{}) {
	c.nappingClock.NapUntil(t+time.Duration(c.late.Load()), wake)
}
