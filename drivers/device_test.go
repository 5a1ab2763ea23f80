package drivers

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// virtual is a device's own clock in virtual time: the cycle's edge, or what was waited for beyond it.
type virtual struct{ edge, own time.Duration }

func (v *virtual) Now() time.Duration {
	v.own = max(v.own, v.edge)
	return v.own
}
func (v *virtual) SleepUntil(t time.Duration) { v.own = max(v.Now(), t) }
func (v *virtual) Edge() time.Duration        { return v.edge }

// bubble is the clock of a synctest bubble.
type bubble struct{ start time.Time }

func (b bubble) Now() time.Duration         { return time.Since(b.start) }
func (b bubble) SleepUntil(t time.Duration) { time.Sleep(t - b.Now()) }

// scripted is a Sensor that counts its reads, each of which takes a while, and an Output that keeps its pulses.
type scripted struct {
	clock  hal.Clock
	takes  time.Duration
	slower atomic.Int64 // takes, where set: for goroutines that are at it already
	opens  int
	reads  float64
	closed int
	err    error // of Read and Write
	absent error // of Open
	pulses []time.Duration
	offs   int
	stuck  []error // of Off
}

func (s *scripted) Open() error {
	s.opens++
	clear(s.pulses)
	return s.absent
}

func (s *scripted) Read(values []float64) error {
	s.clock.SleepUntil(s.clock.Now() + max(s.takes, time.Duration(s.slower.Load())))
	values[0] = 99 // what a failed read leaves behind must not be seen
	if s.err != nil {
		return s.err
	}
	s.reads++
	copy(values, []float64{s.reads, 2 * s.reads})
	return nil
}

func (s *scripted) Write(pulses []time.Duration) error {
	s.clock.SleepUntil(s.clock.Now() + max(s.takes, time.Duration(s.slower.Load())))
	if s.err == nil {
		s.pulses = append(s.pulses[:0], pulses...)
	}
	return s.err
}

func (s *scripted) Off() []error {
	s.offs++
	clear(s.pulses)
	return s.stuck
}

func (s *scripted) Close() error { s.closed++; return nil }

const ms = time.Millisecond

// In virtual time a sensor that takes 18 ms is seen when its time has come, with its age, and nothing waits for it.
func TestPollerInStep(t *testing.T) {
	v := &virtual{}
	s := &scripted{clock: v, takes: 18 * ms}
	p := NewPoller(s, PollerConfig{Values: 3, Period: 50 * ms, Clock: v, CycleTime: v.Edge})
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		edge  time.Duration
		value float64 // 0 = none yet
		age   time.Duration
	}{{0, 0, -1}, {10 * ms, 0, -1}, {20 * ms, 1, 2 * ms}, {40 * ms, 1, 22 * ms}, {50 * ms, 1, 32 * ms},
		{60 * ms, 1, 42 * ms},
		{70 * ms, 2, 2 * ms}, {200 * ms, 2, 132 * ms}, {220 * ms, 3, 2 * ms}} {
		v.edge = want.edge
		if err := errors.Join(p.Send(), p.Receive()); err != nil {
			t.Fatal(err)
		}
		got := []float64{0, 0, 7}
		age, err := p.Latest(got, 0)
		if err != nil || age != want.age || got[0] != want.value || got[1] != 2*want.value {
			t.Errorf("%v: got %v, %v old, %v; want %v, %v old", want.edge, got, age, err, want.value, want.age)
		}
		if want.value > 0 && !math.IsNaN(got[2]) {
			t.Errorf("%v: got %v for what is not measured, want NaN", want.edge, got[2])
		}
	}
	if n := testing.AllocsPerRun(200, func() { v.edge += 10 * ms; _ = p.Receive(); _, _ = p.Latest(nil, 0) }); n != 0 {
		t.Errorf("a cycle: got %g allocations, want 0", n)
	}
	if err := p.Close(); err != nil || s.closed != 1 {
		t.Errorf("close: got %v, %d times", err, s.closed)
	}
}

// A failed reading changes no value, reports the reason, and after three the device is opened again; one that is gone
// at once.
func TestPollerRecovers(t *testing.T) {
	v := &virtual{}
	s := &scripted{clock: v}
	p := NewPoller(s, PollerConfig{Values: 1, Period: 10 * ms, Clock: v, CycleTime: v.Edge})
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	got := []float64{0}
	step := func() (time.Duration, error) {
		v.edge += 10 * ms
		_ = p.Receive()
		return p.Latest(got, 0)
	}
	step()
	s.err = errors.New("no acknowledge")
	for n := range 3 {
		age, err := step()
		if err != s.err || got[0] != 1 || age != time.Duration(n+1)*10*ms || s.opens != 1 {
			t.Errorf("failure %d: got %v, %v old, %v, opened %d times", n, got, age, err, s.opens)
		}
	}
	s.err, s.absent = nil, &hal.Error{Kind: hal.Absent}
	for range 60 { // 600 ms without it: six attempts
		step()
	}
	if s.opens != 1+6 {
		t.Errorf("lost: opened %d times, want 7", s.opens)
	}
	s.absent = nil
	for n := 0; got[0] == 1; n++ {
		if step(); n > 20 {
			t.Fatal("back: not read again within 200 ms")
		}
	}
	s.err = &hal.Error{Kind: hal.Absent}
	step()
	s.err = nil
	for range 21 {
		step()
	}
	if s.opens != 9 {
		t.Errorf("gone at once: opened %d times, want 9", s.opens)
	}
}

// A poller with its own goroutine reads at its own rate. A read that hangs shows as a stale value; Close waits for it.
func TestPollerBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := bubble{time.Now()}
		s := &scripted{clock: clock, takes: 5 * ms}
		p := NewPoller(s, PollerConfig{Values: 1, Period: 20 * ms, Clock: clock})
		if err := p.Open(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(108 * ms) // reads begin at 0, 20 .. 100 and end 5 ms later
		synctest.Wait()
		got := []float64{0}
		if age, err := p.Latest(got, 0); got[0] != 6 || age != 3*ms || err != nil {
			t.Errorf("got %v, %v old, %v", got, age, err)
		}
		s.slower.Store(int64(2 * time.Second))
		time.Sleep(800 * ms)
		if age, err := p.Latest(got, 0); err != errStale || age < 700*ms {
			t.Errorf("hanging: got %v old, %v", age, err)
		}
		begin := clock.Now()
		if err := p.Close(); err != nil || clock.Now()-begin < time.Second {
			t.Errorf("close: got %v after %v, want it to wait for the read", err, clock.Now()-begin)
		}
	})
}

// A value that jumps is accepted when a second reading confirms it; a single jump is taken for a bit error.
func TestPollerJump(t *testing.T) {
	v := &virtual{}
	s := &fixed{}
	p := NewPoller(s, PollerConfig{Values: 2, Period: 10 * ms, Clock: v, CycleTime: v.Edge, Jump: []float64{0, 5}})
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	got := make([]float64, 2)
	for i, step := range []struct{ first, second, shown float64 }{
		{1, 10, 10}, {900, 14, 14}, {2, 9, 9}, // near, and a first value that may jump
		{3, 50, 9}, {4, 11, 11}, // once
		{5, -50, 11}, {6, 50, 11}, // twice, but not alike
		{7, 90, 11}, {8, 91, 91}, {9, 92, 92}, // twice
	} {
		s.values = [2]float64{step.first, step.second}
		v.edge += 10 * ms
		_ = p.Receive()
		_, err := p.Latest(got, 0)
		if got[1] != step.shown || (err == errJump) != (step.second != step.shown) {
			t.Errorf("reading %d, %g: got %v, %v; want %g", i, step.second, got, err, step.shown)
		}
	}
}

// fixed is a Sensor that returns given values.
type fixed struct{ values [2]float64 }

func (f *fixed) Open() error                 { return nil }
func (f *fixed) Read(values []float64) error { copy(values, f.values[:]); return nil }
func (f *fixed) Close() error                { return nil }

func TestPollerMissing(t *testing.T) {
	s := &scripted{absent: &hal.Error{Kind: hal.Absent}}
	if err := NewPoller(s, PollerConfig{Values: 1}).Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("got %v", err)
	}
}

// feeder returns a feeder of two channels in virtual time.
func feeder(t *testing.T, gate func(bool) error) (*OutputWriter, *scripted, *virtual) {
	t.Helper()
	v := &virtual{}
	s := &scripted{clock: v}
	f := NewOutputWriter(s, OutputWriterConfig{Channels: 2, Clock: v, CycleTime: v.Edge, Gate: gate})
	if err := f.Open(); err != nil {
		t.Fatal(err)
	}
	return f, s, v
}

func TestFeederInStep(t *testing.T) {
	var gate []bool
	f, s, v := feeder(t, func(open bool) error { gate = append(gate, open); return nil })
	f.Stage(0, 1500*time.Microsecond)
	_ = f.Send()
	if len(s.pulses) != 2 || s.pulses[0] != 1500*time.Microsecond || s.pulses[1] != 0 || len(gate) != 1 || !gate[0] {
		t.Errorf("first: got %v, gate %v", s.pulses, gate)
	}
	// What does not change is written every 100 ms, so that a loss is noticed.
	s.pulses = nil
	for range 9 {
		v.edge += 10 * ms
		_ = f.Send()
	}
	if s.pulses != nil {
		t.Error("unchanged: written within 100 ms")
	}
	v.edge += 10 * ms
	_ = f.Send()
	if s.pulses == nil {
		t.Error("unchanged: not written after 100 ms")
	}
	n := time.Duration(0)
	if allocs := testing.AllocsPerRun(200, func() {
		v.edge += 10 * ms
		n++
		f.Stage(1, n)
		_ = f.Send()
		_, _, _ = f.State()
	}); allocs > 0 {
		t.Errorf("a cycle: got %g allocations beyond the test's own, want 0", allocs)
	}
	// Halt: the gate first, then the bus; each channel answers; nothing begins again by itself.
	s.stuck = []error{nil, errors.New("still pulsing")}
	gate = nil
	errs := f.Halt()
	if len(errs) != 2 || errs[0] != nil || errs[1] == nil || len(gate) != 1 || gate[0] || s.offs != 1 {
		t.Errorf("halt: got %v, gate %v", errs, gate)
	}
	v.edge += time.Second
	_ = f.Send()
	if s.pulses[0] != 0 || s.pulses[1] != 0 || len(gate) != 1 {
		t.Errorf("after the halt: got %v, gate %v", s.pulses, gate)
	}
	if err := f.Close(); err != nil || s.closed != 1 {
		t.Errorf("close: got %v", err)
	}
}

// A gate that does not close is notified of every channel, though the bus obeyed.
func TestFeederGateFails(t *testing.T) {
	stuck := errors.New("line is stuck")
	f, _, _ := feeder(t, func(open bool) error { return stuck })
	if errs := f.Halt(); errs[0] != stuck || errs[1] != stuck {
		t.Errorf("got %v", errs)
	}
}

// A gate that is lost has ended all pulses: that is reported for as long as it is away, and none begins by itself when
// it is back.
func TestFeederGateLost(t *testing.T) {
	var gone error
	open := false
	f, s, v := feeder(t, func(on bool) error {
		open = on && gone == nil
		return gone
	})
	step := func() error {
		v.edge += 10 * ms
		f.Stage(0, 1700*time.Microsecond)
		_ = f.Send()
		_, _, err := f.State()
		return err
	}
	_, begun, _ := f.State()
	if err := step(); err != nil || !open {
		t.Fatalf("got open %v, %v", open, err)
	}
	gone = &hal.Error{Kind: hal.Absent}
	reported := 0
	for range 50 {
		if step() == gone {
			reported++
		}
	}
	if reported < 39 { // it is found out within 100 ms
		t.Errorf("gone for 50 cycles: reported in %d", reported)
	}
	_, now, _ := f.State()
	if now != begun+1 || s.pulses[0] != 0 && open {
		t.Errorf("pulses restarted %d times, want once", now-begun)
	}
	gone = nil
	n := 0
	for ; step() != nil; n++ {
		if n > 20 {
			t.Fatal("back: not well within 200 ms")
		}
		if open {
			t.Error("back: open before the caller has staged values again")
		}
	}
	// The caller has seen the new count and has staged no pulses yet; from here on it stages them again.
	for range 10 {
		step()
	}
	if !open {
		t.Error("sent again: not open")
	}
}

// A device that comes back gets no order from before; what is staged then is written within 200 ms.
func TestFeederRecovers(t *testing.T) {
	f, s, v := feeder(t, nil)
	pulse := 1700 * time.Microsecond
	step := func() error {
		v.edge += 10 * ms
		f.Stage(0, pulse)
		_ = f.Send()
		_, _, err := f.State()
		return err
	}
	if err := step(); err != nil {
		t.Fatal(err)
	}
	_, begun, _ := f.State()
	s.err = &hal.Error{Kind: hal.Absent}
	pulse++
	if err := step(); err != s.err {
		t.Errorf("lost: got %v", err)
	}
	s.absent = s.err
	for range 50 {
		if step() == nil {
			t.Fatal("lost: no fault")
		}
	}
	s.err, s.absent = nil, nil
	for n := 0; step() != nil; n++ {
		if n > 20 {
			t.Fatal("back: not written within 200 ms")
		}
	}
	if _, now, _ := f.State(); now == begun {
		t.Error("back: the restart of the pulses is not reported")
	}
	if s.pulses[0] != 0 {
		t.Errorf("back: got %v, an order from before", s.pulses)
	}
	if step(); s.pulses[0] != pulse {
		t.Errorf("back: got %v, want %v", s.pulses, pulse)
	}
}

// With a goroutine of its own the newest pulses win, and a write that hangs delays only Halt and Close.
func TestFeederBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := bubble{time.Now()}
		s := &scripted{clock: clock, takes: 3 * ms}
		f := NewOutputWriter(s, OutputWriterConfig{Channels: 1, Clock: clock})
		if err := f.Open(); err != nil {
			t.Fatal(err)
		}
		for i := range 10 { // ten cycles of 1 ms: the device keeps up with every third
			f.Stage(0, time.Duration(1000+i)*time.Microsecond)
			_ = errors.Join(f.Send(), f.Receive())
			time.Sleep(ms)
		}
		time.Sleep(10 * ms)
		synctest.Wait()
		if age, _, err := f.State(); s.pulses[0] != 1009*time.Microsecond || err != nil || age > 10*ms {
			t.Errorf("got %v, %v old, %v", s.pulses, age, err)
		}
		s.slower.Store(int64(900 * ms))
		f.Stage(0, 0)
		_ = f.Send()
		time.Sleep(850 * ms)
		if _, _, err := f.State(); err != errStale {
			t.Errorf("hanging: got %v", err)
		}
		if errs := f.Halt(); errs[0] != nil || s.offs != 1 {
			t.Errorf("halt: got %v", errs)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A halt that comes while a write is under way: the write's end must not open the gate again.
func TestFeederHaltsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := bubble{time.Now()}
		s := &scripted{clock: clock, takes: 50 * ms}
		var open atomic.Bool
		f := NewOutputWriter(s, OutputWriterConfig{Channels: 1, Clock: clock, Gate: func(now bool) error {
			open.Store(now)
			return nil
		}})
		if err := f.Open(); err != nil {
			t.Fatal(err)
		}
		f.Stage(0, 1500*time.Microsecond)
		_ = f.Send()
		time.Sleep(10 * ms)
		begin := clock.Now()
		if errs := f.Halt(); errs[0] != nil {
			t.Errorf("halt: got %v", errs)
		}
		if clock.Now()-begin > 60*ms {
			t.Errorf("halt: took %v, want the write's end", clock.Now()-begin)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if open.Load() || s.pulses[0] != 0 {
			t.Errorf("after the halt: gate open %v, pulses %v", open.Load(), s.pulses)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestSafety18SilentCycle: while the cycle hangs nothing is written: pulses that the supervisor has ended do not begin
// again.
func TestSafety18SilentCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := bubble{time.Now()}
		s := &scripted{clock: clock}
		f := NewOutputWriter(s, OutputWriterConfig{Channels: 1, Clock: clock})
		if err := f.Open(); err != nil {
			t.Fatal(err)
		}
		const pulse = 1500 * time.Microsecond
		f.Stage(0, pulse)
		_ = f.Send()
		synctest.Wait()
		if s.pulses[0] != pulse {
			t.Fatalf("got %v, want %v", s.pulses, pulse)
		}
		s.pulses[0] = 0 // by the supervisor
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s.pulses[0] != 0 {
			t.Errorf("the cycle hangs: got %v, want no pulses", s.pulses)
		}
		_ = f.Send()
		synctest.Wait()
		if s.pulses[0] != pulse {
			t.Errorf("the cycle goes on: got %v, want %v again", s.pulses, pulse)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// edgeClock is a clock of virtual time whose edge is where the cycle is; a reading moves it on.
type edgeClock struct{ edge, now time.Duration }

func (c *edgeClock) Now() time.Duration         { return max(c.edge, c.now) }
func (c *edgeClock) SleepUntil(t time.Duration) { c.now = max(c.Now(), t) }
func (c *edgeClock) cycleTime() time.Duration   { return c.edge }
func (c *edgeClock) Open() error                { return nil }
func (c *edgeClock) Close() error               { return nil }
func (c *edgeClock) Read(values []float64) error {
	values[0] = c.Now().Seconds()
	c.SleepUntil(c.Now() + time.Millisecond)
	return nil
}

// A sensor that is read in step with the cycle has a new reading in every cycle, and none of before a reset of its
// world.
func TestPollerIsFresh(t *testing.T) {
	const period = 10 * time.Millisecond
	c := &edgeClock{}
	p := NewPoller(c, PollerConfig{Values: 1, Period: period, Clock: c, CycleTime: c.cycleTime})
	if err := p.Open(); err != nil {
		t.Fatal(err)
	}
	last, fresh := math.NaN(), 0
	var v [1]float64
	for range 100 {
		c.edge += period
		if err := p.Receive(); err != nil {
			t.Fatal(err)
		}
		age, err := p.Latest(v[:], 0)
		if err != nil || age > period {
			t.Fatalf("at %v: got age %v, %v", c.edge, age, err)
		}
		if v[0] != last {
			last = v[0]
			fresh++
		}
	}
	if fresh < 99 {
		t.Errorf("got %d fresh readings in 100 cycles", fresh)
	}
	c.edge += period
	p.ForgetReadings()
	if _, err := p.Latest(v[:], 0); err != nil || v[0] != c.edge.Seconds() {
		t.Errorf("after a reset: got %v, %v, want a reading of %v", v[0], err, c.edge)
	}
}
