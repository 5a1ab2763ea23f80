package hal_test

import (
	"context"
	"errors"
	"math"
	"regexp"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

const period = 10 * time.Millisecond

var (
	nan           = math.NaN()
	numberOfSteps = regexp.MustCompile("/Control/NumberOfSteps")
)

func newRig(t *testing.T, mode hal.ClockMode) *hal.Rig {
	t.Helper()
	r, err := hal.New(hal.Config{Name: "test", Mode: mode, Period: period, Clock: bubbleClock{time.Now()}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// bubbleClock is the clock of a synctest bubble.
type bubbleClock struct{ start time.Time }

func (c bubbleClock) Now() time.Duration         { return time.Since(c.start) }
func (c bubbleClock) SleepUntil(t time.Duration) { time.Sleep(t - c.Now()) }

func add(t *testing.T, r *hal.Rig, name string, b *haltest.Body, reality hal.BodyKind, g hal.GuardConfig) *hal.Agent {
	t.Helper()
	c := hal.AgentConfig{Name: name, Body: b, World: b, BodyKind: reality, Guard: g}
	a, err := r.Add(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// recorder is an observer that records the cycles.
type recorder struct {
	leases []*hal.Lease
	steps  []uint64
	resets int
	seen   [][]float64
	events []hal.EventID
}

func (r *recorder) Cycle(c *hal.Cycle) {
	for _, l := range r.leases {
		if l.Stepped() {
			r.steps = append(r.steps, c.Step)
			r.seen = append(r.seen, slices.Clone(l.Frame().Outputs))
		}
		if l.ResetDone() {
			r.resets++
		}
	}
	r.events = append(r.events, c.Events...)
}

func acquire(t *testing.T, r *hal.Rig, name string, a *hal.Agent) (*hal.Session, *hal.Lease, *recorder) {
	t.Helper()
	o := &recorder{}
	p := r.NewSession(name, o)
	l, err := p.Acquire(a)
	if err != nil {
		t.Fatal(err)
	}
	o.leases = append(o.leases, l)
	return p, l, o
}

func TestLockstepWaitsForEveryLease(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	a := add(t, r, "a", haltest.NewBody("j"), hal.Simulated, hal.GuardConfig{})
	b := add(t, r, "b", haltest.NewBody("j"), hal.Simulated, hal.GuardConfig{})
	pa, la, oa := acquire(t, r, "one", a)
	pb, lb, ob := acquire(t, r, "two", b)

	pa.Step(la, []float64{1, nan})
	pa.Step(la, []float64{1, nan}) // asked twice, one step
	if len(oa.steps) != 0 || !la.Pending() {
		t.Fatalf("one of two asked: got steps %v", oa.steps)
	}
	pb.Step(lb, []float64{-1, nan})
	if !slices.Equal(oa.steps, []uint64{1}) || !slices.Equal(ob.steps, []uint64{1}) {
		t.Fatalf("both asked: got steps %v and %v, want one each", oa.steps, ob.steps)
	}
	if got := oa.seen[0][0]; math.Abs(got-0.06) > 1e-12 {
		t.Errorf("a after a step: got %v, want 0.06 (6 rad/s for 10 ms)", got)
	}

	pa.Reset(la, 7)
	pb.Step(lb, nil)
	if oa.resets != 0 || len(ob.steps) != 1 {
		t.Fatal("one asked for a reset, one for a step: time passed")
	}
	pb.Reset(lb, 9)
	if oa.resets != 1 || ob.resets != 1 {
		t.Fatalf("both asked for the reset: got %d and %d", oa.resets, ob.resets)
	}
	if got := a.Measured(nil)[0]; got != 9e-6 {
		t.Errorf("seed: got %v, want that of the last request", got)
	}

	pa.Step(la, nil)
	pb.Close() // the one that time waits for leaves
	if len(oa.steps) != 2 {
		t.Error("the last other lease was released: want the step to run")
	}
	if pb.Step(lb, nil) == nil {
		t.Error("a released lease stepped")
	}
}

func TestLeaseIsExclusive(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	a := add(t, r, "a", haltest.NewBody("j"), hal.Simulated, hal.GuardConfig{})
	pa, la, _ := acquire(t, r, "one", a)
	other := r.NewSession("two", nil)
	if _, err := other.Acquire(a); hal.KindOf(err) != hal.Busy {
		t.Fatalf("second lease: got %v, want busy", err)
	}
	if again, err := pa.Acquire(a); err != nil || again != la {
		t.Errorf("the holder asks again: got %v, %v; want the same lease", again, err)
	}
	pa.Release(la)
	if a.Holder() != "" {
		t.Errorf("holder: got %q, want none", a.Holder())
	}
	if _, err := other.Acquire(a); err != nil {
		t.Error(err)
	}
}

// A closed session gets no lease: it would never be released, and in lock-step time would never pass again.
func TestClosedSessionGetsNoLease(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	a := add(t, r, "arm", haltest.NewBody("elbow"), hal.Simulated, hal.GuardConfig{})
	p := r.NewSession("gone", &recorder{})
	p.Close()
	if _, err := p.Acquire(a); err == nil || a.Holder() != "" {
		t.Errorf("got %v, held by %q, want an error and no holder", err, a.Holder())
	}
}

func TestReleaseHolds(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	body, second := haltest.NewBody("j"), haltest.NewBody("j")
	a := add(t, r, "a", body, hal.Simulated, hal.GuardConfig{})
	b := add(t, r, "b", second, hal.Simulated, hal.GuardConfig{})
	pa, la, _ := acquire(t, r, "one", a)
	pb, lb, _ := acquire(t, r, "two", b)
	pa.Step(la, []float64{1, nan})
	pb.Step(lb, nil)
	pa.Release(la)
	was := body.Position[0]
	for range 20 {
		pb.Step(lb, nil)
	}
	if body.Position[0] != was || !body.Enabled[0] {
		t.Errorf("after the client left: got %v, enabled %v; want %v, held", body.Position[0], body.Enabled[0], was)
	}
}

func TestSimultaneousRunsAreEqual(t *testing.T) {
	run := func() [][]float64 {
		r := newRig(t, hal.Lockstep)
		a := add(t, r, "a", haltest.NewBody("x", "y"), hal.Simulated, hal.GuardConfig{})
		p, l, o := acquire(t, r, "one", a)
		p.Reset(l, 3)
		for i := range 200 {
			p.Step(l, []float64{math.Sin(float64(i) / 10), nan, math.Cos(float64(i) / 7), nan})
		}
		return o.seen
	}
	first, second := run(), run()
	for i := range first {
		if !slices.Equal(first[i], second[i]) {
			t.Fatalf("step %d: got %v and %v", i, first[i], second[i])
		}
	}
}

// running runs r until the test's end or stop; look reads the rig's data, at a cycle's edge.
func running(t *testing.T, r *hal.Rig) (look func(func()), stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return r.BetweenCycles, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A rig in lock-step ticks by itself until a client takes a lease, and again after the lease is released.
func TestLockstepTicksWithoutLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Lockstep)
		body := haltest.NewBody("j")
		a := add(t, r, "a", body, hal.Simulated, hal.GuardConfig{})
		look, stop := running(t, r)
		writes := func() (n int) { look(func() { n = body.Writes }); return n }
		time.Sleep(105 * time.Millisecond)
		if n := writes(); n < 10 {
			t.Errorf("100 ms alone: got %d cycles, want 10", n)
		}
		p, l, _ := acquire(t, r, "one", a)
		was := writes()
		time.Sleep(time.Second)
		if n := writes(); n != was {
			t.Errorf("a lease is held and no step is requested: got %d cycles more", n-was)
		}
		p.Release(l)
		time.Sleep(105 * time.Millisecond)
		if n := writes(); n < was+9 {
			t.Errorf("100 ms alone again: got %d cycles", n-was)
		}
		stop()
		if body.Halts != 1 {
			t.Errorf("at the end: got %d halts, want 1", body.Halts)
		}
	})
}

func TestRealtimeAnswersAtTheNextTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		body := haltest.NewBody("j")
		a := add(t, r, "a", body, hal.Emulated, hal.GuardConfig{CommandTimeout: 50 * time.Millisecond})
		look, stop := running(t, r)
		p, l, o := acquire(t, r, "one", a)
		for range 5 {
			p.Step(l, []float64{1, nan})
			time.Sleep(2 * period)
		}
		look(func() {
			if len(o.steps) != 5 {
				t.Errorf("5 steps asked: got %d answers", len(o.steps))
			}
		})
		time.Sleep(200 * time.Millisecond) // the client hangs: the robot continues, and stops
		if _, counts, _ := a.Guard(); counts.Expired != 1 {
			t.Errorf("the deadline of a hung client: expired %d times, want once", counts.Expired)
		}
		var was float64
		look(func() { was = body.Position[0] })
		time.Sleep(100 * time.Millisecond)
		look(func() {
			if body.Position[0] != was {
				t.Error("moves on after the deadline")
			}
		})
		stop()
		if !body.Enabled[0] {
			t.Error("policy hold: want torque kept at the end")
		}
	})
}

func TestRealResetMovesSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		body := haltest.NewBody("j")
		body.Position[0] = 0.5
		a := add(t, r, "a", body, hal.Real, hal.GuardConfig{HomeSpeed: 0.5})
		look, stop := running(t, r)
		p, l, o := acquire(t, r, "one", a)
		p.Reset(l, 1)
		time.Sleep(500 * time.Millisecond)
		look(func() {
			if o.resets != 0 || body.Position[0] < 0.2 || body.Position[0] > 0.3 {
				t.Errorf("half way: got %d resets at %v rad, want none near 0.25", o.resets, body.Position[0])
			}
		})
		time.Sleep(700 * time.Millisecond)
		look(func() {
			if o.resets != 1 || body.Position[0] != 0 {
				t.Errorf("at the end: got %d resets at %v rad, want one at 0", o.resets, body.Position[0])
			}
			if body.Seed != 0 {
				t.Error("a real body was reset exactly")
			}
		})
		stop()
	})
}

func TestParkBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		body := haltest.NewBody("j")
		body.Position[0] = 0.5
		a := add(t, r, "a", body, hal.Real, hal.GuardConfig{OnTimeout: hal.Park})
		look, stop := running(t, r)
		if err := a.Override([]float64{0.5}); err != nil {
			t.Error(err)
		}
		time.Sleep(50 * time.Millisecond)
		look(func() {})
		stop()
		if body.Position[0] != 0 {
			t.Errorf("policy park: ended at %v rad, want 0", body.Position[0])
		}
	})
}

func TestEmergencyStop(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	body := haltest.NewBody("x", "y", "z")
	a := add(t, r, "a", body, hal.Simulated, hal.GuardConfig{})
	p, l, _ := acquire(t, r, "one", a)
	p.Step(l, []float64{1, nan, 1, nan, 1, nan})
	body.HaltErr = errors.Join(&hal.Error{Kind: hal.BusFault, Joint: "y", Err: errors.New("no answer")})
	stops := r.EmergencyStop("test")
	if len(stops) != 3 || stops[0].Err != nil || stops[1].Err == nil || stops[2].Err != nil {
		t.Errorf("acknowledged: got %+v, want all but y", stops)
	}
	body.HaltErr = errors.New("the whole bus is gone")
	if stops := r.EmergencyStop("again"); stops[0].Err == nil || stops[2].Err == nil {
		t.Errorf("a fault of no particular joint: got %+v, want none acknowledged", stops)
	}
	was := body.Position[0]
	p.Step(l, []float64{1, nan, 1, nan, 1, nan})
	if body.Enabled[0] || body.Position[0] != was {
		t.Error("latched: a command moved the body")
	}
	if err := a.Arm(); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("arm while latched: got %v, want refused", err)
	}
	r.Recover()
	p.Step(l, []float64{1, nan, 1, nan, 1, nan})
	if body.Enabled[0] {
		t.Error("cleared but not armed: a command moved the body")
	}
	if err := a.Arm(); err != nil {
		t.Error(err)
	}
	p.Step(l, nil)
	if body.Enabled[0] {
		t.Error("armed: an old command came back")
	}
	p.Step(l, []float64{1, nan, nan, nan, nan, nan})
	if !body.Enabled[0] || body.Enabled[1] {
		t.Errorf("armed and commanded: got %v, want the first joint alone", body.Enabled)
	}
}

func TestOverride(t *testing.T) {
	for _, c := range []struct {
		reality hal.BodyKind
		held    bool
		ok      bool
	}{{hal.Simulated, true, true}, {hal.Emulated, true, true}, {hal.Real, false, true}, {hal.Real, true, false}} {
		r := newRig(t, hal.Realtime)
		a := add(t, r, "a", haltest.NewBody("j"), c.reality, hal.GuardConfig{})
		if c.held {
			acquire(t, r, "one", a)
		}
		if err := a.Override([]float64{1}); (err == nil) != c.ok {
			t.Errorf("%v, held %v: got %v, want ok %v", c.reality, c.held, err, c.ok)
		}
	}
}

func TestRealBodyNeedsRealTime(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	_, err := r.Add(hal.AgentConfig{Name: "a", Body: haltest.NewBody("j"), BodyKind: hal.Real})
	if hal.KindOf(err) != hal.Invalid {
		t.Errorf("real in lock-step: got %v, want invalid", err)
	}
}

func TestLateLoopSkips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		body := haltest.NewBody("j")
		slow := &slowBus{at: 3, hold: 35 * time.Millisecond}
		r.AddBus(slow)
		add(t, r, "a", body, hal.Emulated, hal.GuardConfig{})
		ctx, cancel := context.WithTimeout(t.Context(), 105*time.Millisecond)
		defer cancel()
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
		var s hal.Stats
		r.Stats(&s)
		if s.Missed != 2 {
			t.Errorf("a bus that blocks for 3.5 periods, begun a period early: got %d missed, want 2", s.Missed)
		}
	})
}

// A bus may come and go while the rig runs; it is asked while it is there and not after.
func TestBusesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		first, second := &slowBus{}, &slowBus{}
		r.AddBus(first)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx) }()
		time.Sleep(10*period + period/2)
		r.AddBus(second)
		time.Sleep(10 * period)
		r.RemoveBus(second)
		had := second.n
		time.Sleep(10 * period)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if had < 9 || second.n != had || first.n < 29 {
			t.Errorf("got %d sends to the bus that stayed, %d then %d to the other; want 30, 10 and no more", first.n,
				had, second.n)
		}
	})
}

// slowBus blocks once.
type slowBus struct {
	n, at int
	hold  time.Duration
}

func (b *slowBus) Send() error {
	if b.n++; b.n == b.at {
		time.Sleep(b.hold)
	}
	return nil
}
func (b *slowBus) Receive() error { return nil }

func TestValues(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	a := add(t, r, "arm", haltest.NewBody("j"), hal.Simulated, hal.GuardConfig{})
	v := r.Values()
	one := func(name string) hal.ValueID {
		t.Helper()
		ids := v.Find(regexp.MustCompile(regexp.QuoteMeta(name)))
		if len(ids) != 1 {
			t.Fatalf("%s: got %d values, want 1", name, len(ids))
		}
		return ids[0]
	}
	if ids := v.Find(regexp.MustCompile("StepSize")); len(ids) != 0 {
		t.Error("a part of a name matched; names match as a whole")
	}
	if ids := v.Find(regexp.MustCompile("/Control/P|/Control/Pause")); len(ids) != 1 {
		t.Errorf("an alternative that is a part of the name comes first: got %d values, want 1", len(ids))
	}
	if id, ok := v.Lookup("/Control/Pause"); !ok || id != one("/Control/Pause") {
		t.Errorf("lookup: got %d %t, want the value's id", id, ok)
	}
	if _, ok := v.Lookup("/Control/P"); ok {
		t.Error("lookup of a name that was never declared: got a value, want none")
	}
	all := v.Find(regexp.MustCompile(".*"))
	names := make([]string, len(all))
	for i, id := range all {
		names[i], _, _ = v.Info(id)
	}
	if !slices.IsSorted(names) || len(names) < 10 {
		t.Errorf("all values: got %d, sorted %v", len(names), slices.IsSorted(names))
	}
	size := one("/Simulation/TimeStepSize")
	if err := v.Set(size, hal.Value{Kind: hal.DoubleValue, Double: 0.02}); err != nil {
		t.Error(err)
	}
	if err := v.Set(size, hal.Value{Kind: hal.DoubleValue, Double: nan}); err == nil {
		t.Error("a step of NaN seconds: set, want refused")
	}
	if got, _ := v.Get(size); got.Double != 0.02 {
		t.Errorf("time step: got %v, want 0.02", got.Double)
	}
	p, l, o := acquire(t, r, "one", a)
	p.Step(l, []float64{1, nan})
	if got := o.seen[0][0]; math.Abs(got-0.12) > 1e-12 {
		t.Errorf("after a step of 20 ms: got %v, want 0.12", got)
	}
	if got, _ := v.Get(one("/arm/j/position")); got.Double != o.seen[0][0] {
		t.Errorf("channel as a value: got %v, want %v", got.Double, o.seen[0][0])
	}
	if err := v.Set(one("/Control/CurrentStep"), hal.Value{Kind: hal.IntValue}); !errors.Is(err, hal.ErrReadOnly) {
		t.Errorf("a read-only value: got %v", err)
	}
	if err := v.Set(0, hal.Value{}); !errors.Is(err, hal.ErrNoValue) {
		t.Errorf("value 0: got %v", err)
	}
	pause := one("/Control/Pause")
	v.Set(pause, hal.Value{Kind: hal.BoolValue, Bool: true})
	p.Step(l, nil)
	if len(o.steps) != 1 {
		t.Error("paused: time passed")
	}
	v.Set(pause, hal.Value{Kind: hal.BoolValue, Bool: false})
	if len(o.steps) != 2 {
		t.Error("no longer paused: the step that was asked for did not run")
	}
}

func TestEvents(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	a := add(t, r, "a", haltest.NewBody("j"), hal.Simulated, hal.GuardConfig{})
	p, l, o := acquire(t, r, "one", a)
	mine := r.Events().Declare("/Test/Mine")
	r.Events().Raise(mine)
	r.Events().Raise(mine)
	p.Step(l, nil)
	p.Step(l, nil)
	n := 0
	for _, id := range o.events {
		if id == mine {
			n++
		}
	}
	if n != 1 {
		t.Errorf("raised twice before a cycle: seen %d times, want once", n)
	}
	if id, ok := r.Events().Lookup("/Control/StepCompleted"); !ok || !slices.Contains(o.events, id) {
		t.Error("/Control/StepCompleted: did not occur")
	}
}

func TestFaultsAreEvents(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	body := haltest.NewBody("x", "y")
	a := add(t, r, "arm", body, hal.Simulated, hal.GuardConfig{})
	p, l, o := acquire(t, r, "one", a)
	fault, ok := r.Events().Lookup("/arm/y/Fault")
	if !ok {
		t.Fatal("a joint's fault: no event")
	}
	occurred := func() (n int) {
		for _, id := range o.events {
			if id == fault {
				n++
			}
		}
		return n
	}
	for want, err := range []error{nil, errors.New("no answer"), nil, errors.New("overload")} {
		if err != nil {
			body.Silent[1] = err
		} else {
			delete(body.Silent, 1)
		}
		p.Step(l, nil)
		p.Step(l, nil)
		if got := occurred(); got != (want+1)/2 {
			t.Errorf("after %d changes: got %d events, want one each time it comes to fault", want, got)
		}
	}
}

func TestCycleAllocatesNothing(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	a := add(t, r, "a", haltest.NewBody("x", "y"), hal.Simulated, hal.GuardConfig{})
	p := r.NewSession("one", nil)
	l, err := p.Acquire(a)
	if err != nil {
		t.Fatal(err)
	}
	in := []float64{1, nan, 0.5, nan}
	p.Step(l, in)
	if n := testing.AllocsPerRun(200, func() { p.Step(l, in) }); n != 0 && !hal.LocksChecked {
		t.Errorf("a step: got %g allocations, want 0", n)
	}
}

// BenchmarkCycle21 is one rig cycle with 21 joints and a stub body: the cost of Halyard itself. Bound: 5 µs.
func BenchmarkCycle21(b *testing.B) {
	joints := make([]string, 21)
	for i := range joints {
		joints[i] = string(rune('a' + i))
	}
	r, _ := hal.New(hal.Config{Period: period})
	body := haltest.NewBody(joints...)
	a, _ := r.Add(hal.AgentConfig{Name: "a", Body: body, World: body})
	p := r.NewSession("one", nil)
	l, _ := p.Acquire(a)
	in := make([]float64, 42)
	b.ReportAllocs()
	for b.Loop() {
		in[0] = -in[0] + 0.1
		p.Step(l, in)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5000, "of_bound")
}

// A stop input stops all robots in the cycle in which it fails, and latches. A robot added later is stopped too. The
// stop cannot be cleared while its cause is active, and the end of the cause moves nothing.
func TestStopInput(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	a := add(t, r, "arm", haltest.NewBody("x"), hal.Emulated, hal.GuardConfig{})
	var fault error
	asked := 0
	r.AddStopInput(func() error { asked++; return fault })
	p, l, o := acquire(t, r, "test", a)
	step := func() {
		t.Helper()
		if err := p.Step(l, nil); err != nil {
			t.Fatal(err)
		}
	}
	state := func(a *hal.Agent) hal.GuardState { s, _, _ := a.Guard(); return s }
	step()
	if state(a) != hal.Armed || asked != 1 {
		t.Fatalf("all well: got %v, asked %d times", state(a), asked)
	}
	fault = errors.New("the button is pressed")
	step()
	step()
	stops := 0
	for _, id := range o.events {
		if r.Events().Name(id) == "/Control/EmergencyStop" {
			stops++
		}
	}
	if state(a) != hal.Stopped || stops != 1 {
		t.Errorf("pressed: got %v, %d stops; want it stopped, once", state(a), stops)
	}
	late := add(t, r, "late", haltest.NewBody("x"), hal.Emulated, hal.GuardConfig{})
	step()
	if state(late) != hal.Stopped {
		t.Errorf("joined while it is pressed: got %v", state(late))
	}
	if err := r.Recover(); hal.KindOf(err) != hal.Unsafe || !errors.Is(err, fault) || state(a) != hal.Stopped {
		t.Errorf("cleared while it is pressed: got %v, %v", err, state(a))
	}
	fault = nil
	step()
	if state(a) != hal.Stopped {
		t.Errorf("released: got %v, want it latched", state(a))
	}
	if err := r.Recover(); err != nil || state(a) != hal.Disarmed {
		t.Errorf("cleared: got %v, %v", err, state(a))
	}
}

// An operator who has armed the rig has armed those that join where clients may arm them; a robot that only the
// operator arms, such as a real one that is bound again, waits.
func TestJoinsAnArmedRig(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	if err := r.Arm(); err != nil {
		t.Fatal(err)
	}
	sim := add(t, r, "simulated", haltest.NewBody("x"), hal.Simulated, hal.GuardConfig{Disarmed: true})
	real := add(t, r, "real", haltest.NewBody("x"), hal.Emulated,
		hal.GuardConfig{Disarmed: true, Arming: hal.OperatorArms})
	if sim.Condition().State != hal.Armed || real.Condition().State != hal.Disarmed {
		t.Errorf("got %v and %v, want armed and disarmed", sim.Condition(), real.Condition())
	}
	if err := real.RequestArm("client"); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("a client arms it: got %v", err)
	}
	if err := r.Arm(); err != nil || real.Condition().State != hal.Armed {
		t.Errorf("the operator arms it: got %v, %v", real.Condition(), err)
	}
}

// The stop is the rig's: an agent that is removed and added again is stopped too, until it is cleared.
func TestStopOutlivesAgents(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	add(t, r, "a", haltest.NewBody("x"), hal.Emulated, hal.GuardConfig{})
	r.EmergencyStop("test")
	if err := r.Remove("a"); err != nil {
		t.Fatal(err)
	}
	body := haltest.NewBody("x")
	a := add(t, r, "a", body, hal.Emulated, hal.GuardConfig{})
	p, l, _ := acquire(t, r, "test", a)
	if err := p.Step(l, []float64{1, nan}); err != nil {
		t.Fatal(err)
	}
	if err := a.Arm(); body.Enabled[0] || body.Halts != 1 || hal.KindOf(err) != hal.Unsafe {
		t.Errorf("came again: got enabled %v, %d halts, armed %v; want it stopped", body.Enabled[0], body.Halts, err)
	}
	for _, c := range []struct {
		name string
		act  func() error
		want hal.GuardState
	}{{"cleared", r.Recover, hal.Disarmed}, {"armed", r.Arm, hal.Armed}} {
		if err := c.act(); err != nil {
			t.Error(err)
		}
		late := add(t, r, c.name, haltest.NewBody("x"), hal.Emulated, hal.GuardConfig{})
		for _, a := range []*hal.Agent{a, late} {
			if state, _, _ := a.Guard(); state != c.want {
				t.Errorf("%s: %s: got %v, want %v", c.name, a.Name(), state, c.want)
			}
		}
	}
}

// latchBus is a bus with an alarm that stays until it is cleared.
type latchBus struct {
	slowBus
	cleared int
	err     error
}

func (b *latchBus) ClearAlarms() []error { b.cleared++; return []error{nil, b.err} }

// Without a stop a reset affects only the joints with a fault: the others keep their goals, and it is disarmed until
// armed.
func TestRecoverOneJoint(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	bus := &latchBus{err: errors.New("three times in five minutes")}
	if err := r.AddBus(bus); err != nil {
		t.Fatal(err)
	}
	body := haltest.NewBody("x", "y")
	a := add(t, r, "a", body, hal.Emulated, hal.GuardConfig{})
	p, l, _ := acquire(t, r, "test", a)
	wants := func(what string, x, y bool, state hal.GuardState) {
		t.Helper()
		if err := p.Step(l, []float64{1, nan, 1, nan}); err != nil {
			t.Fatal(err)
		}
		if body.Enabled[0] != x || body.Enabled[1] != y || a.JointState(0) != hal.Armed || a.JointState(1) != state {
			t.Errorf("%s: got enabled %v, %v and %v; want %v, true and %v", what, body.Enabled, a.JointState(0),
				a.JointState(1), x, state)
		}
	}
	for range 2 { // a joint is believed after three readings that agree
		p.Step(l, []float64{1, nan, 1, nan})
	}
	wants("commanded", true, true, hal.Armed)
	body.Silent[1] = errors.New("overload")
	wants("at fault", true, true, hal.Armed)
	if err := r.Recover(); !errors.Is(err, bus.err) || bus.cleared != 1 {
		t.Errorf("reset: got %v, cleared %d times", err, bus.cleared)
	}
	delete(body.Silent, 1)
	wants("reset", true, false, hal.Disarmed)
	if err := r.Arm(); err != nil {
		t.Error(err)
	}
	for range 2 {
		p.Step(l, []float64{1, nan, 1, nan})
	}
	wants("armed", true, true, hal.Armed)
}

// brakeBus records the halts before its brake command.
type brakeBus struct {
	slowBus
	body          *haltest.Body
	braked, halts int
}

func (b *brakeBus) CutTorque() error { b.braked, b.halts = b.braked+1, b.body.Halts; return nil }

// An emergency stop cuts torque on all lines before it waits for a halt.
func TestStopCutsFirst(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	bus := &brakeBus{body: haltest.NewBody("x")}
	if err := r.AddBus(bus); err != nil {
		t.Fatal(err)
	}
	add(t, r, "a", bus.body, hal.Emulated, hal.GuardConfig{})
	r.EmergencyStop("test")
	if bus.braked != 1 || bus.halts != 0 || bus.body.Halts != 1 {
		t.Errorf("got %d brakes after %d of %d halts, want 1 after 0 of 1", bus.braked, bus.halts, bus.body.Halts)
	}
}

// TestPeriodWhileItIsSet: the period may be read while a client sets it.
func TestPeriodWhileItIsSet(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	id, _ := r.Values().Lookup("/Simulation/TimeStepSize")
	var both sync.WaitGroup
	both.Go(func() {
		for range 100 {
			r.Period()
		}
	})
	for range 100 {
		if err := r.Values().Set(id, hal.Value{Kind: hal.DoubleValue, Double: 0.02}); err != nil {
			t.Fatal(err)
		}
	}
	both.Wait()
	if got := r.Period(); got != 2*period {
		t.Errorf("got %v, want %v", got, 2*period)
	}
}

// TestTheEndTakesStopsOnly: while a rig parks after its context has ended, it refuses every command and request, a
// client that leaves interrupts nothing, and a stop ends the park with torque off.
func TestTheEndTakesStopsOnly(t *testing.T) {
	for _, mode := range []hal.ClockMode{hal.Realtime, hal.Lockstep} {
		for _, stopped := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, mode)
				body := haltest.NewBody("j")
				body.Position[0] = 1
				a := add(t, r, "a", body, hal.Emulated, hal.GuardConfig{OnTimeout: hal.Park, HomeSpeed: 1})
				p, l, o := acquire(t, r, "client", a)
				look := func() (at float64, torque bool) {
					r.BetweenCycles(func() { at, torque = body.Position[0], body.Enabled[0] })
					return at, torque
				}
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- r.Run(ctx) }()
				p.Step(l, []float64{1, nan})
				time.Sleep(5 * period)
				p.Step(l, []float64{1, nan})
				time.Sleep(5*period + period/2)
				cancel()
				time.Sleep(10 * period)
				at, _ := look()
				if !a.Homing() || at >= 1 {
					t.Fatalf("%v: got homing %v at %g, want it parking", mode, a.Homing(), at)
				}
				p.Step(l, []float64{2, nan})
				a.Override([]float64{2, nan})
				a.Renew()
				session := r.NewSession("late", nil)
				for what, err := range map[string]error{"arm": r.Arm(), "arm the agent": a.Arm(),
					"ask to arm": a.RequestArm("client"), "recover": r.Recover(),
					"reset": p.Reset(l, 0), "reset the world": r.ResetWorld(body, 0), "restore": r.RestoreWorld(body)} {
					if hal.KindOf(err) != hal.Unsafe {
						t.Errorf("%v: %s: got %v, want it refused as unsafe", mode, what, err)
					}
				}
				if _, err := r.Add(hal.AgentConfig{Name: "b", Body: haltest.NewBody("j")}); hal.KindOf(
					err) != hal.Unsafe {
					t.Errorf("%v: a new agent: got %v, want it refused", mode, err)
				}
				for _, id := range r.Values().Find(regexp.MustCompile("/Control/Pause")) {
					r.Values().Set(id, hal.Value{Kind: hal.BoolValue, Bool: true})
				}
				p.Close()
				session.Close()
				time.Sleep(10 * period)
				if now, _ := look(); !a.Homing() || now >= at || o.resets != 0 {
					t.Errorf("%v: got homing %v, from %g to %g, want it parking on", mode, a.Homing(), at, now)
				}
				if stopped {
					if stops := r.EmergencyStop("test"); stops[0].Err != nil {
						t.Error(stops)
					}
				}
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if got, torque := look(); stopped == torque || (got == 0) == stopped {
					t.Errorf("%v, stopped %v: ended at %g with torque %v", mode, stopped, got, torque)
				}
				if stops := r.EmergencyStop("after the end"); stops[0].Err != nil || body.Enabled[0] {
					t.Errorf("%v: a stop after the end: got %+v, torque %v", mode, stops, body.Enabled[0])
				}
			})
		}
	}
}
