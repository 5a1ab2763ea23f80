package hal_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// The rig's part of docs/safety.md.

// cutBus is a line whose torque may be cut.
type cutBus struct {
	clock hal.Clock
	cut   atomic.Int64 // time of the first torque cut; 0 = never
	times atomic.Int32
}

func (b *cutBus) Send() error    { return nil }
func (b *cutBus) Receive() error { return nil }
func (b *cutBus) CutTorque() error {
	b.cut.CompareAndSwap(0, int64(b.clock.Now()))
	b.times.Add(1)
	return nil
}

// together is a body whose Halt ends when those of all its fellows have begun.
type together struct {
	*haltest.Body
	begun *sync.WaitGroup
}

func (b *together) Halt() error {
	b.begun.Done()
	all := make(chan struct{})
	go func() { b.begun.Wait(); close(all) }()
	select {
	case <-all:
		return b.Body.Halt()
	case <-time.After(time.Minute):
		return errors.New("alone")
	}
}

// TestSafety01BlockedLog: a log without a reader delays neither the cycle nor a stop.
func TestSafety01BlockedLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unread, blocked := io.Pipe()
		clock := bubbleClock{time.Now()}
		r, err := hal.New(hal.Config{Mode: hal.Realtime, Period: period, Clock: clock,
			Log: slog.New(slog.NewTextHandler(blocked, nil))})
		if err != nil {
			t.Fatal(err)
		}
		bus := &cutBus{clock: clock}
		r.AddBus(bus)
		body := haltest.NewBody("j")
		add(t, r, "a", body, hal.Emulated, hal.GuardConfig{})
		look, stop := running(t, r)
		for k := range 600 {
			time.Sleep(period)
			fault := errors.New(strings.Repeat("x", k))
			look(func() { body.ReadErr = fault })
		}
		before := clock.Now()
		stops := r.EmergencyStop("test")
		if took := clock.Now() - before; took > period || len(stops) != 1 || stops[0].Err != nil ||
			bus.cut.Load() == 0 {
			t.Errorf("stop: got %v after %v, cut %v; want the joint within a period", stops, took, bus.cut.Load())
		}
		unread.Close() // lets the sink end
		stop()
	})
}

// TestSafety08ParallelStop: the lines are cut first, then all bodies are halted side by side.
func TestSafety08ParallelStop(t *testing.T) {
	r := newRig(t, hal.Realtime)
	var begun sync.WaitGroup
	begun.Add(3)
	var buses [3]*cutBus
	for i := range buses {
		buses[i] = &cutBus{clock: hal.WallClock()}
		r.AddBus(buses[i])
		body := &together{haltest.NewBody("j"), &begun}
		if _, err := r.Add(hal.AgentConfig{Name: string(rune('a' + i)), Body: body, World: body.Body,
			BodyKind: hal.Emulated}); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range r.EmergencyStop("test") {
		if s.Err != nil {
			t.Errorf("%s: got %v, want it halted while the others are", s.Agent, s.Err)
		}
	}
	for i, b := range buses {
		if b.times.Load() != 1 {
			t.Errorf("line %d: cut %d times, want once", i, b.times.Load())
		}
	}
}

// TestSafety07OperatorArms: after a disarmed start, a stop or an operator's disarm, only an operator may arm.
func TestSafety07OperatorArms(t *testing.T) {
	r := newRig(t, hal.Realtime)
	a := add(t, r, "a", haltest.NewBody("j"), hal.Emulated, hal.GuardConfig{Disarmed: true})
	refused := func(when string) {
		t.Helper()
		if err := a.RequestArm("client"); hal.KindOf(err) != hal.Unsafe {
			t.Errorf("%s: a client arms: got %v, want refused", when, err)
		}
	}
	arm := func() {
		t.Helper()
		if err := r.Arm(); err != nil {
			t.Fatal(err)
		}
		if c := a.Condition(); c.State != hal.Armed || c.Reason != "operator" {
			t.Errorf("armed: got %+v", c)
		}
		if err := a.RequestArm("client"); err != nil {
			t.Errorf("armed: a client's request: got %v", err)
		}
	}
	refused("guard.armed: false")
	arm()
	r.EmergencyStop("test")
	refused("stopped")
	if err := r.Recover(); err != nil {
		t.Fatal(err)
	}
	refused("reset")
	b := add(t, r, "b", haltest.NewBody("j"), hal.Emulated, hal.GuardConfig{})
	if err := b.RequestArm("client"); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("spawned after a reset: a client arms: got %v, want refused", err)
	}
	arm()
	a.Disarm()
	refused("disarmed by an operator")
	arm()
	a.RequestDisarm("client")
	if err := a.RequestArm("client"); err != nil || a.Condition().Reason != "client" {
		t.Errorf("disarmed by a client: got %v, %+v", err, a.Condition())
	}
	a.RequestDisarm("client")
	a.Disarm()
	refused("disarmed by a client, then by an operator")
	arm()
	a.RequestDisarm("client")
	r.Disarm()
	refused("disarmed by a client, then all by an operator")
	arm()
	// A stop that only clients ordered is theirs to clear, any other one is not.
	r.RequestStop("client")
	refused("stopped by a client")
	if err := r.RequestRecover("client"); err != nil {
		t.Errorf("a client clears its stop: got %v", err)
	}
	if err := a.RequestArm("client"); err != nil {
		t.Errorf("a client arms after its stop: got %v", err)
	}
	for _, stops := range [][]bool{{true}, {true, false}, {false, true}, {false, true, false}} {
		for _, operator := range stops {
			if operator {
				r.EmergencyStop("button")
			} else {
				r.RequestStop("client")
			}
		}
		if err := r.RequestRecover("client"); hal.KindOf(err) != hal.Unsafe || !r.Latched() {
			t.Errorf("a client clears the operator's stop %v: got %v", stops, err)
		}
		if err := r.Recover(); err != nil {
			t.Fatal(err)
		}
		refused("reset by the operator")
		arm()
	}
	a.RequestDisarm("client")
	r.RequestStop("client")
	a.Disarm()
	r.RequestRecover("client")
	refused("disarmed by an operator while a client's stop was latched")
	arm()
	// guard.arming: operator: a client may not even arm after its own disarm.
	c := add(t, r, "c", haltest.NewBody("j"), hal.Emulated, hal.GuardConfig{Arming: hal.OperatorArms})
	c.RequestDisarm("client")
	if err := c.RequestArm("client"); hal.KindOf(err) != hal.Unsafe || c.Condition().State != hal.Disarmed {
		t.Errorf("arming by the operator alone: a client arms: got %v, %+v", err, c.Condition())
	}
	r.RequestStop("client")
	if err := r.RequestRecover("client"); hal.KindOf(err) != hal.Unsafe || !r.Latched() {
		t.Errorf("arming by the operator alone: a client clears its stop: got %v", err)
	}
}

// lossy is a wheel that does not receive the first torque-off packets.
type lossy struct {
	*haltest.Body
	on   atomic.Bool // read by the test while the rig runs
	lost int
}

func (b *lossy) Write(f *hal.Frame) error {
	if f.Enable[0] {
		b.on.Store(true)
	} else if b.lost--; b.lost < 0 {
		b.on.Store(false)
	}
	return b.Body.Write(f)
}

func (b *lossy) Holding(int) bool { return b.on.Load() }

// TestSafety12ExitIsVerified: at the end of the rig torque-off is repeated until a wheel has confirmed it; a missing
// confirmation is an error.
func TestSafety12ExitIsVerified(t *testing.T) {
	for lost, want := range map[int]bool{0: true, 5: true, 1000: false} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, hal.Realtime)
			l := haltest.Layout("wheel")
			l.Inputs[0].Quantity = hal.Velocity
			l.Actuators[0].Goal = [hal.NumModes]int{hal.None, 0, hal.None, hal.None}
			body := &lossy{Body: haltest.NewBodyOf(l), lost: lost}
			a, err := r.Add(hal.AgentConfig{Name: "a", Body: body, World: body.Body, BodyKind: hal.Emulated})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error)
			go func() { ended <- r.Run(ctx) }()
			a.Override([]float64{1, nan})
			time.Sleep(5 * period)
			if !body.on.Load() {
				t.Fatal("the wheel does not turn")
			}
			cancel()
			if err := <-ended; (err == nil) != want || body.on.Load() == want {
				t.Errorf("%d packets lost: got %v, torque %v", lost, err, body.on.Load())
			}
		})
	}
}

// TestSafety13ParkPowersNothing: parking at the end leaves an arm without torque as it is.
func TestSafety13ParkPowersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		body := haltest.NewBody("limp", "held")
		body.Position[0], body.Position[1] = 0.5, 0.5
		a := add(t, r, "a", body, hal.Emulated, hal.GuardConfig{OnTimeout: hal.Park})
		_, stop := running(t, r)
		a.Override([]float64{nan, nan, 0.4, nan})
		time.Sleep(10 * period)
		stop()
		if body.Position[0] != 0.5 || body.Enabled[0] {
			t.Errorf("never commanded: at %g, torque %v, want 0.5 and none", body.Position[0], body.Enabled[0])
		}
		if body.Position[1] != 0 || !body.Enabled[1] {
			t.Errorf("with torque: at %g, torque %v, want 0, parked", body.Position[1], body.Enabled[1])
		}
	})
}

// panics is an observer that fails once.
type panics struct{ at uint64 }

func (p *panics) Cycle(c *hal.Cycle) {
	if c.Step == p.at {
		panic("a bug")
	}
}

// TestSafety18Panic: a panic in the cycle switches all torque off, is latched and reported, and the rig continues.
func TestSafety18Panic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		bus := &cutBus{clock: bubbleClock{time.Now()}}
		r.AddBus(bus)
		body := haltest.NewBody("j")
		a := add(t, r, "a", body, hal.Emulated, hal.GuardConfig{})
		r.NewSession("faulty", &panics{20})
		look, stop := running(t, r)
		a.Override([]float64{1, nan})
		time.Sleep(10 * period)
		look(func() {
			if !body.Enabled[0] {
				t.Error("before: no torque")
			}
		})
		time.Sleep(20 * period)
		var s hal.Stats
		r.Stats(&s)
		torque := false
		look(func() { torque = body.Enabled[0] })
		if torque || !r.Latched() || bus.cut.Load() == 0 || !strings.Contains(s.LastFault, "a bug") {
			t.Errorf("after: torque %v, latched %v, fault %q", torque, r.Latched(), s.LastFault)
		}
		if c := a.Condition(); c.State != hal.Stopped || !strings.Contains(c.Reason, "a bug") {
			t.Errorf("condition: got %+v", c)
		}
		before := s.Ticks
		time.Sleep(10 * period)
		if r.Stats(&s); s.Ticks <= before {
			t.Error("the rig has ended")
		}
		stop()
	})
}

// TestSafety18Contain: a panic in a goroutine that serves a client causes an emergency stop; a normal return does not.
func TestSafety18Contain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		body := haltest.NewBody("j")
		a := add(t, r, "a", body, hal.Emulated, hal.GuardConfig{})
		look, stop := running(t, r)
		defer stop()
		a.Override([]float64{1, nan})
		time.Sleep(10 * period)
		serve := func(f func()) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer r.Contain("a session")
				f()
			}()
			<-done
		}
		serve(func() {})
		look(func() {
			if !body.Enabled[0] || r.Latched() {
				t.Error("a session that ends: got a stop")
			}
		})
		serve(func() { r.BetweenCycles(func() { panic("a bug") }) }) // also while it holds the rig
		look(func() {
			if body.Enabled[0] || !r.Latched() {
				t.Error("a panic: got torque")
			}
		})
		if c := a.Condition(); c.Reason != "panic in a session: a bug" {
			t.Errorf("condition: got %+v", c)
		}
	})
}

// slowBody is a body, on a line of its own, whose torque-off and whose end take a while.
type slowBody struct {
	*haltest.Body
	cut, halt time.Duration
}

func (b slowBody) Send() error      { return nil }
func (b slowBody) Receive() error   { return nil }
func (b slowBody) CutTorque() error { time.Sleep(b.cut); return nil }
func (b slowBody) Halt() error      { time.Sleep(b.halt); return b.Body.Halt() }

// TestSafety18Beat: each cycle beats, and a stop does while its bodies become inert, but for 2 s at most, and not where
// a line does not take its torque off: that may be a hang.
func TestSafety18Beat(t *testing.T) {
	for _, c := range []struct {
		cut, halt time.Duration
		want      int
	}{
		{0, 410 * time.Millisecond, 20}, {0, 5 * time.Second, 100}, {time.Second, 410 * time.Millisecond, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, hal.Lockstep)
			body := slowBody{haltest.NewBody("j"), c.cut, c.halt}
			r.AddBus(body)
			if _, err := r.Add(hal.AgentConfig{Name: "a", Body: body, World: body,
				BodyKind: hal.Emulated}); err != nil {
				t.Fatal(err)
			}
			n := 0
			r.OnBeat(func() { n++ })
			if err := errors.Join(r.Step(), r.Step()); err != nil || n != 2 {
				t.Errorf("two cycles: got %d beats, %v", n, err)
			}
			n = 0
			if r.EmergencyStop("test"); n != c.want {
				t.Errorf("a stop of %v and %v: got %d beats, want %d", c.cut, c.halt, n, c.want)
			}
			time.Sleep(c.cut) // it ends too
		})
	}
}

// pressedInReset is a line of a rig that clears its alarms in a reset: the stop button is pressed meanwhile.
type pressedInReset struct {
	cutBus
	rig     *hal.Rig
	reached chan struct{} // closed by the cut of the line: the stop is latched
	ended   chan struct{}
}

func (p *pressedInReset) CutTorque() error { close(p.reached); return nil }

func (p *pressedInReset) ClearAlarms() []error {
	go func() { p.rig.EmergencyStop("pressed"); close(p.ended) }()
	<-p.reached
	return nil
}

// TestSafety07StopDuringReset: a stop that comes while a reset is under way is not cleared by it.
func TestSafety07StopDuringReset(t *testing.T) {
	r := newRig(t, hal.Realtime)
	a := add(t, r, "a", haltest.NewBody("j"), hal.Emulated, hal.GuardConfig{})
	p := &pressedInReset{rig: r, reached: make(chan struct{}), ended: make(chan struct{})}
	p.clock = bubbleClock{time.Now()}
	if err := r.AddBus(p); err != nil {
		t.Fatal(err)
	}
	err := r.Recover()
	latched := r.Latched()
	<-p.ended
	if state, _, _ := a.Guard(); err != nil || !latched || !r.Latched() || state != hal.Stopped {
		t.Errorf("got %v, latched at the end of the reset %v, then %v, %v; want the stop latched throughout", err,
			latched, r.Latched(), state)
	}
}

// virtualClock is a bubble's clock that reports that its time is virtual.
type virtualClock struct{ bubbleClock }

func (virtualClock) Virtual() {}

// slowCut is a line whose torque is cut after a second.
type slowCut struct{ cutBus }

func (b *slowCut) CutTorque() error {
	time.Sleep(time.Second)
	return b.cutBus.CutTorque()
}

// TestVirtualStop: in virtual time a stop waits for each line, so that the same schedule ends the same on a busy
// machine.
func TestVirtualStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := bubbleClock{time.Now()}
		for want, c := range []hal.Clock{clock, virtualClock{clock}} {
			r, err := hal.New(hal.Config{Name: "test", Period: period, Clock: c})
			if err != nil {
				t.Fatal(err)
			}
			line := &slowCut{}
			line.clock = clock
			if err := r.AddBus(line); err != nil {
				t.Fatal(err)
			}
			r.EmergencyStop("test")
			if got := line.times.Load(); got != int32(want) {
				t.Errorf("%T: got %d cuts when the stop ended, want %d", c, got, want)
			}
			time.Sleep(time.Second) // the cut ends
		}
	})
}

// panicBus is a line whose driver fails once.
type panicBus struct {
	cutBus
	at, n int
}

func (b *panicBus) Receive() error {
	if b.n++; b.n == b.at {
		panic("a bug of a driver")
	}
	return nil
}

// TestSafety18BusPanic: a panic in the driver of one of several lines, each of which has a goroutine, stops all robots,
// and the rig continues.
func TestSafety18BusPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		bus, other := &panicBus{at: 20}, &panicBus{}
		bus.clock, other.clock = bubbleClock{time.Now()}, bubbleClock{time.Now()}
		r.AddBus(bus)
		r.AddBus(other)
		body := haltest.NewBody("j")
		a := add(t, r, "a", body, hal.Emulated, hal.GuardConfig{})
		look, stop := running(t, r)
		a.Override([]float64{1, nan})
		time.Sleep(30 * period)
		torque := false
		look(func() { torque = body.Enabled[0] })
		if c := a.Condition(); torque || other.cut.Load() == 0 || c.State != hal.Stopped ||
			!strings.Contains(c.Reason, "a bug of a driver") {
			t.Errorf("after: torque %v, condition %+v", torque, c)
		}
		var before int
		look(func() { before = other.n })
		time.Sleep(10 * period)
		if look(func() { before = other.n - before }); before < 9 {
			t.Errorf("the rig has ended: got %d more cycles", before)
		}
		stop()
	})
}

// failsAtReset is an observer that fails at the completion of a reset.
type failsAtReset struct{}

func (failsAtReset) Cycle(c *hal.Cycle) {
	if c.Reset {
		panic("a bug")
	}
}

// TestSafety18ResetPanic: a panic in a reset, which the loop runs in real time, stops all robots, and the rig
// continues.
func TestSafety18ResetPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hal.Realtime)
		bus := &cutBus{clock: bubbleClock{time.Now()}}
		r.AddBus(bus)
		a := add(t, r, "a", haltest.NewBody("j"), hal.Emulated, hal.GuardConfig{})
		r.NewSession("faulty", failsAtReset{})
		look, stop := running(t, r)
		p, l, _ := acquire(t, r, "client", a)
		if err := p.Reset(l, 0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * period)
		var s hal.Stats
		r.Stats(&s)
		if c := a.Condition(); bus.cut.Load() == 0 || c.State != hal.Stopped || !strings.Contains(c.Reason, "a bug") {
			t.Errorf("after: condition %+v", c)
		}
		before := s.Ticks
		time.Sleep(10 * period)
		if r.Stats(&s); s.Ticks < before+9 {
			t.Errorf("the rig has ended: got %d more cycles", s.Ticks-before)
		}
		look(func() {})
		stop()
	})
}

// held is a body that has torque when it joins.
type held struct {
	*haltest.Body
	let int // cycles in which its torque was switched off
}

func (b *held) Write(f *hal.Frame) error {
	if !f.Enable[0] {
		b.let++
	}
	return b.Body.Write(f)
}

func (b *held) Holding(int) bool { return b.let == 0 }

// TestHeldArmIsNotLetFall: a joint that holds its position when the rig begins goes on, while its first readings are
// not trusted yet too: an arm would fall. One outside its soft limits does not.
func TestHeldArmIsNotLetFall(t *testing.T) {
	for _, k := range []hal.BodyKind{hal.Emulated, hal.Real} {
		for at, want := range map[float64]bool{0.5: true, 2.5: false} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, hal.Realtime)
				body := &held{Body: haltest.NewBody("j")}
				body.Position[0] = at
				a, err := r.Add(hal.AgentConfig{Name: "a", Body: body, World: body.Body, BodyKind: k})
				if err != nil {
					t.Fatal(err)
				}
				look, stop := running(t, r)
				time.Sleep(10 * period)
				look(func() {
					if got := body.Holding(0); got != want || body.Position[0] != at {
						t.Errorf("%v at %g: got torque off in %d cycles, at %g", k, at, body.let, body.Position[0])
					}
				})
				if g := a.Goals(nil)[0]; want && g != (hal.Goal{Mode: hal.PositionMode, Value: at}) {
					t.Errorf("%v at %g: got goal %+v", k, at, g)
				}
				stop()
			})
		}
	}
}

// failingWorld is a world that fails once.
type failingWorld struct{ n, at int }

func (w *failingWorld) Advance(time.Duration) error {
	if w.n++; w.n == w.at {
		panic("a bug")
	}
	return nil
}

// TestSafety18PanicAnswers: clients that wait for the cycle of a panic are answered, in lock-step too, where no other
// cycle follows.
func TestSafety18PanicAnswers(t *testing.T) {
	r := newRig(t, hal.Lockstep)
	a := add(t, r, "a", haltest.NewBody("j"), hal.Simulated, hal.GuardConfig{})
	r.AddWorld(&failingWorld{at: 3})
	p, l, o := acquire(t, r, "client", a)
	for n := range 5 {
		if err := p.Step(l, []float64{1, nan}); err != nil || l.Pending() || len(o.steps) != n+1 {
			t.Fatalf("step %d: got %v, %d answers", n+1, err, len(o.steps))
		}
		if want := n >= 2; r.Latched() != want {
			t.Fatalf("step %d: stopped %v", n+1, !want)
		}
	}
}

// stallClock is a clock in which no time passes but in sleeps, and once a host that stands still.
type stallClock struct {
	now, slept time.Duration
	at         time.Duration // when it stands still
	gap        time.Duration // for how long
	suspended  bool          // the machine, whose monotonic clock stands still as well
	meanwhile  func()
	each       func(now time.Duration)
}

func (c *stallClock) Now() time.Duration       { return c.now }
func (c *stallClock) Suspended() time.Duration { return c.slept }

func (c *stallClock) SleepUntil(t time.Duration) {
	c.now = max(c.now, t)
	if c.at > 0 && c.now >= c.at {
		if c.at = 0; c.suspended {
			c.slept += c.gap
		} else {
			c.now += c.gap
		}
		c.meanwhile()
	}
	c.each(c.now)
}

// torques is a body that records whether it has torque, and where it was and was sent when it got it.
type torques struct {
	*haltest.Body
	on       bool
	goal, at float64
}

func (b *torques) Write(f *hal.Frame) error {
	if f.Enable[0] && !b.on {
		b.goal, b.at = f.Inputs[0], b.Position[0]
	}
	b.on = f.Enable[0]
	return b.Body.Write(f)
}

// TestSafety04StalledHost: a process or machine that stood still takes no reading and no command of before for a new
// one. After more than the deadline the client is lost too, and a real body waits for its operator; what held goes on
// holding.
func TestSafety04StalledHost(t *testing.T) {
	for _, c := range []struct {
		kind      hal.BodyKind
		gap       time.Duration
		suspended bool
		held      bool // it has torque when the host stops
		policy    hal.Policy
		waits     bool // for the operator
	}{
		{hal.Real, 60 * time.Millisecond, false, false, hal.Hold, false},
		{hal.Real, 400 * time.Millisecond, false, false, hal.Hold, false},
		{hal.Real, 400 * time.Millisecond, true, false, hal.Hold, false},
		{hal.Real, 2 * time.Second, false, false, hal.Hold, true},
		{hal.Real, 2 * time.Second, false, true, hal.Hold, true},
		{hal.Real, 30 * time.Second, false, true, hal.Park, true},
		{hal.Real, 2 * time.Second, false, true, hal.TorqueOff, true},
		{hal.Emulated, 400 * time.Millisecond, false, false, hal.Hold, false},
		{hal.Emulated, 2 * time.Second, false, true, hal.Hold, false},
	} {
		ctx, end := context.WithCancel(t.Context())
		clock := &stallClock{at: time.Second, gap: c.gap, suspended: c.suspended}
		r, err := hal.New(hal.Config{Name: "test", Mode: hal.Realtime, Period: period, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		b := &torques{Body: haltest.NewBody("j")}
		a, err := r.Add(hal.AgentConfig{Name: "a", Body: b, World: b.Body, BodyKind: c.kind,
			Guard: hal.GuardConfig{CommandTimeout: 500 * time.Millisecond, OnTimeout: c.policy}})
		if err != nil {
			t.Fatal(err)
		}
		if c.held {
			a.Override([]float64{0.3, 1})
		}
		where := 0.3
		clock.meanwhile = func() {
			if !c.held {
				b.Position[0] = 1.5 // a hand
				where = 1.5
			}
			a.Override([]float64{-1, 1}) // it waited in a socket
		}
		woke := time.Second + c.gap
		if c.suspended {
			woke = time.Second
		}
		clock.each = func(now time.Duration) {
			switch at := now - woke; {
			case now < time.Second && c.held:
				a.Override([]float64{0.3, 1})
			case at == 500*time.Millisecond && c.waits:
				if b.Position[0] != where || b.on != (c.held && c.policy != hal.TorqueOff) {
					t.Errorf("%+v: got torque %v at %g, want it as it was at %g", c, b.on, b.Position[0], where)
				}
				if s := a.Condition(); s.State != hal.Expired || !strings.Contains(s.Reason, "stood still") {
					t.Errorf("%+v: got %+v, want it said", c, s)
				}
				a.RequestDisarm("client")
				if err := a.RequestArm("client"); hal.KindOf(err) != hal.Unsafe {
					t.Errorf("%+v: a client arms: got %v", c, err)
				}
				if err := a.Arm(); err != nil {
					t.Error(err)
				}
			case at > 0 && at < 400*time.Millisecond && c.waits:
				a.Override([]float64{-1, 1})
				a.Renew()
				if err := a.RequestArm("client"); hal.KindOf(err) != hal.Unsafe {
					t.Errorf("%+v: a client arms: got %v", c, err)
				}
			case at > 500*time.Millisecond && at < 3*time.Second:
				a.Override([]float64{-1, 1})
			case at >= 3*time.Second && ctx.Err() == nil:
				if b.Position[0] != -1 || r.Latched() {
					t.Errorf("%+v: got %g, stopped %v, want it to go on to -1", c, b.Position[0], r.Latched())
				}
				end()
			}
		}
		if err := r.Run(ctx); err != nil {
			t.Error(err)
		}
		if d := b.at - b.goal; d > 0.1 || d < -0.1 {
			t.Errorf("%+v: torque came on at %g with goal %g", c, b.at, b.goal)
		}
	}
}

// TestSafety04HeldThroughAStall: the operator's arm after a stall lets what holds go on holding.
func TestSafety04HeldThroughAStall(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	clock := &stallClock{at: time.Second, gap: time.Second}
	r, err := hal.New(hal.Config{Name: "test", Mode: hal.Realtime, Period: period, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	b := &torques{Body: haltest.NewBody("j")}
	a, err := r.Add(hal.AgentConfig{Name: "a", Body: b, World: b.Body, BodyKind: hal.Real, Guard: hal.GuardConfig{}})
	if err != nil {
		t.Fatal(err)
	}
	a.Override([]float64{0.3, 1})
	clock.meanwhile = func() {}
	clock.each = func(now time.Duration) {
		if now > time.Second && (!b.on || b.Position[0] != 0.3) {
			t.Fatalf("got torque %v at %g, want it held at 0.3", b.on, b.Position[0])
		}
		switch now {
		case 2500 * time.Millisecond:
			if a.Condition().State != hal.Expired {
				t.Errorf("got %+v", a.Condition())
			}
			a.Arm()
			if s := a.Condition(); s.State != hal.Armed || s.Reason != "operator" {
				t.Errorf("armed: got %+v", s)
			}
		case 3 * time.Second:
			end()
		}
	}
	r.Run(ctx)
}

// TestStalledArmStaysAtTheEnd: what stood still for too long does not move at the end of the program either, where its
// policy is to park; what is armed does.
func TestStalledArmStaysAtTheEnd(t *testing.T) {
	for _, arms := range []bool{false, true} {
		ctx, end := context.WithCancel(t.Context())
		clock := &stallClock{at: time.Second, gap: time.Second}
		r, err := hal.New(hal.Config{Name: "test", Mode: hal.Realtime, Period: period, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		b := &torques{Body: haltest.NewBody("j")}
		a, err := r.Add(hal.AgentConfig{Name: "a", Body: b, World: b.Body, BodyKind: hal.Real,
			Guard: hal.GuardConfig{OnTimeout: hal.Park}})
		if err != nil {
			t.Fatal(err)
		}
		a.Override([]float64{0.3, 1})
		clock.meanwhile = func() {}
		clock.each = func(now time.Duration) {
			switch now {
			case 2500 * time.Millisecond:
				if arms {
					a.Arm()
				}
			case 3 * time.Second:
				end()
			}
		}
		r.Run(ctx)
		if at := b.Position[0]; (at == 0.3) == arms {
			t.Errorf("armed %v: at the end it is at %g, want it parked only where it was armed", arms, at)
		}
	}
}
