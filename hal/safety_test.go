package hal

import (
	"context"
	"math"
	"testing"
	"time"
)

// The guard's part of docs/safety.md: each test is one of its promises. joint is a guarded joint of a body that is not
// simulated: its readings have an age, and may be wrong.
type safeJoint struct {
	*guarded
	t *testing.T
	// Where the joint truly is; a servo without inertia follows the goal at 6 rad/s where it is free.
	at, speed float64
	free      bool
	silent    bool
	lie       func(float64) float64 // reported position in place of at
}

func newSafeJoint(t *testing.T, c GuardConfig, at float64) *safeJoint {
	s := &safeJoint{guarded: newGuarded(c, math.NaN()), t: t, at: at, free: true}
	s.exact = false
	s.blindfold(trustSamples)
	s.run(3 * tick)
	return s
}

// run lets d pass. A goal outside the soft limits fails the test.
func (s *safeJoint) run(d time.Duration) {
	s.t.Helper()
	for range d / tick {
		if !s.silent {
			p := s.at
			if s.lie != nil {
				p = s.lie(p)
			}
			s.f.Measured[0], s.f.Status[0] = p, Status{Time: s.now}
		} else {
			s.f.Status[0].Err = errPulled
		}
		s.tick()
		was := s.at
		if v := s.f.Inputs[0]; s.f.Enable[0] && !math.IsNaN(v) {
			if v < -1-1e-9 || v > 1+1e-9 {
				s.t.Fatalf("goal at %v: got %g, want within the soft limits -1..1", s.now, v)
			}
			if s.free {
				s.at += math.Max(-0.06, math.Min(0.06, v-s.at))
			}
		} else if v := s.f.Inputs[1]; s.f.Enable[0] && !math.IsNaN(v) {
			s.at += v * tick.Seconds()
		}
		s.speed = (s.at - was) / tick.Seconds()
	}
}

// TestSafety11TorqueOnBehindLine: a drive whose readings come late gets no goal ahead of where its torque came on until
// it was read with torque; and where its client leaves before that, it stays there.
func TestSafety11TorqueOnBehindLine(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		s := newSafeJoint(t, GuardConfig{CommandTimeout: 300 * time.Millisecond}, 0)
		s.free, s.behind = false, true
		s.command(0.9, nan, nan, nan, nan)
		s.run(tick)
		begin := s.f.Inputs[0]
		if s.silent = true; leaves {
			s.hold()
		}
		for range 2 {
			s.tick() // no reading comes, and no error
			if got := s.f.Inputs[0]; !s.f.Enable[0] || got > begin+1e-9 {
				t.Errorf("client leaves %v: got torque %v and goal %g, want %g", leaves, s.f.Enable[0], got, begin)
			}
		}
		s.silent = false
		s.run(300 * time.Millisecond)
		if got := s.f.Inputs[0]; leaves == (got > begin+1e-9) || leaves && got > 1e-9 {
			t.Errorf("client leaves %v: got goal %g from %g", leaves, got, begin)
		}
	}
}

// TestSafety02UnheardWheel: a wheel that does not reply is commanded to zero at once and loses torque within the
// deadline.
func TestSafety02UnheardWheel(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{CommandTimeout: 300 * time.Millisecond}, 0)
	s.layout.Actuators[0].Wraps = true
	for range 20 {
		s.command(nan, 1, nan, nan, nan)
		s.run(tick)
	}
	if s.f.Inputs[1] != 1 {
		t.Fatalf("heard: got %g rad/s, want 1", s.f.Inputs[1])
	}
	s.silent = true
	for range 15 {
		s.command(nan, 1, nan, nan, nan) // its client continues
		s.run(tick)
	}
	if s.f.Inputs[1] != 0 || !s.f.Enable[0] {
		t.Errorf("unheard for 150 ms: got %g rad/s, enabled %v, want 0, true", s.f.Inputs[1], s.f.Enable[0])
	}
	s.run(200 * time.Millisecond)
	if s.f.Enable[0] {
		t.Error("unheard for 350 ms: got torque, want none")
	}
	s.silent = false
	s.run(time.Second)
	if s.f.Enable[0] {
		t.Error("heard again: got torque without a new command")
	}
}

// TestSafety02UnheardBrake: a joint that brakes before its soft limit, by torque or duty, and then does not reply is
// commanded zero, not the torque that braked the speed of its last reading: it has stopped, and would be driven back.
func TestSafety02UnheardBrake(t *testing.T) {
	for _, m := range []Mode{TorqueMode, DutyMode} {
		s := newSafeJoint(t, GuardConfig{CommandTimeout: 500 * time.Millisecond}, 0)
		inputs := []float64{nan, nan, nan, nan, nan}
		inputs[m] = 1
		s.accept(inputs, s.now)
		for s.at < 0.9 {
			s.run(tick)
			s.at += 2 * tick.Seconds()
		}
		if v := s.f.Inputs[m]; !(v < 0) {
			t.Fatalf("%v: near its limit at 2 rad/s: got %g, want it to brake", m, v)
		}
		s.silent = true
		s.run(blindAfter + 2*tick)
		for s.f.Enable[0] {
			if v := s.f.Inputs[m]; v != 0 {
				t.Fatalf("%v: last seen %v ago: got %g, want 0", m, s.now-s.joints[0].sight.time, v)
			}
			s.run(tick)
		}
	}
}

// TestSafety03HoldKeepsTheLastGoal: neither an old reading nor a wrong one becomes the goal of a hold.
func TestSafety03HoldKeepsTheLastGoal(t *testing.T) {
	for name, spoil := range map[string]func(*safeJoint){
		"no answers": func(s *safeJoint) { s.silent = true },
		"wrong answers": func(s *safeJoint) {
			k := 0.
			s.lie = func(p float64) float64 { k++; return p + math.Mod(k*0.37, 2) }
		},
	} {
		s := newSafeJoint(t, GuardConfig{CommandTimeout: 200 * time.Millisecond}, -0.8)
		s.command(0.8, nan, nan, nan, nan)
		s.run(150 * time.Millisecond)
		spoil(s)
		was := s.at
		s.run(time.Second)
		if s.counts.Expired != 1 || math.Abs(s.at-was) > 0.3 {
			t.Errorf("%s: moved from %g to %g, want within what was told already", name, was, s.at)
		}
		was = s.at
		s.hold() // its client leaves
		s.run(time.Second)
		if s.at != was || !s.f.Enable[0] {
			t.Errorf("%s: moved by the hold: from %g to %g", name, was, s.at)
		}
	}
}

// TestSafety04BlindnessAndJumps: one reading after a silence moves nothing, three that agree do; the same wrong reading
// again and again is a jump, and a jump is a fault until an operator resets it.
func TestSafety04BlindnessAndJumps(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0)
	s.command(0.5, nan, nan, nan, nan)
	s.run(500 * time.Millisecond)
	s.silent = true
	s.run(300 * time.Millisecond)
	s.silent, s.lie = false, func(p float64) float64 { return 2.4 } // far outside the soft limits
	goal := s.f.Inputs[0]
	s.run(2 * tick)
	if s.f.Inputs[0] != goal {
		t.Errorf("two wrong readings after a silence: goal went from %g to %g", goal, s.f.Inputs[0])
	}
	s.lie = nil
	s.run(5 * tick)
	if s.f.Inputs[0] != goal || !s.f.Enable[0] {
		t.Errorf("back: got goal %g, enabled %v, want %g, true", s.f.Inputs[0], s.f.Enable[0], goal)
	}
	s.lie = func(p float64) float64 { return -0.9 }
	s.run(trustSamples * tick)
	if s.f.Enable[0] || s.counts.Jumped != 1 {
		t.Errorf("a jump: got enabled %v, %d jumps, want none and 1", s.f.Enable[0], s.counts.Jumped)
	}
	s.lie = nil
	s.command(0.2, nan, nan, nan, nan)
	s.run(time.Second)
	if s.f.Enable[0] {
		t.Error("the old readings again: got torque without a reset")
	}
	s.disarmFaulty(s.f)
	s.admit()
	s.command(0.2, nan, nan, nan, nan)
	s.run(time.Second)
	if !s.f.Enable[0] || math.Abs(s.at-0.2) > 1e-6 {
		t.Errorf("reset and armed: got %g, enabled %v, want 0.2, true", s.at, s.f.Enable[0])
	}
}

// TestSafety05HoldNeverAdoptsSag: clients that come and leave do not lower an arm that sags under its load.
func TestSafety05HoldNeverAdoptsSag(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0)
	s.command(0.5, nan, nan, nan, nan)
	s.run(time.Second)
	s.lie = func(p float64) float64 { return p - 0.1 }
	for range 60 {
		s.hold()
		s.run(5 * tick)
	}
	if got := s.f.Inputs[0]; math.Abs(got-0.5) > 1e-9 {
		t.Errorf("after 60 clients: got goal %g, want 0.5", got)
	}
}

// TestSafety09FollowingError: the goal of a blocked joint is near when the joint is released, and its speed is bounded.
func TestSafety09FollowingError(t *testing.T) {
	for _, c := range []struct{ limit, lead float64 }{{0, 0.2 + 0.05}, {0.1, 0.1}} {
		s := newSafeJoint(t, GuardConfig{Slew: 0.25, FollowingError: c.limit}, -1)
		s.free = false
		s.command(1, nan, nan, nan, nan)
		s.run(4 * time.Second)
		if lead := s.f.Inputs[0] - s.at; math.Abs(lead-c.lead) > 1e-9 {
			t.Errorf("held by a hand: got the goal %g rad ahead, want %g", lead, c.lead)
		}
		s.free = true
		s.run(20 * tick)
		was := s.at
		s.run(40 * tick)
		if v := (s.at - was) / 0.4; v > 0.51 {
			t.Errorf("let go: got %g rad/s, want 0.5", v)
		}
		s.run(5 * time.Second)
		if math.Abs(s.at-1) > 1e-6 {
			t.Errorf("in the end: got %g, want 1", s.at)
		}
	}
}

// TestSafety09PushedOutside: a joint pushed by hand outside its soft limits, where no goal can be near it, does not
// jump back when it is released. Far outside it loses torque, near the limits when it returns too fast. Moved inside by
// hand, it continues slowly.
func TestSafety09PushedOutside(t *testing.T) {
	for _, c := range []struct {
		to     float64 // rad
		torque bool    // while it is held there
	}{{1.5, false}, {1.15, true}} {
		s := newSafeJoint(t, GuardConfig{Slew: 0.25}, 0.9) // 0.5 rad/s
		s.command(0.9, nan, nan, nan, nan)
		s.run(5 * tick)
		s.free = false
		for s.at < c.to {
			s.at += 0.02
			s.run(tick)
		}
		if s.f.Enable[0] != c.torque {
			t.Errorf("held %g rad outside: got torque %v, want %v", c.to-1, s.f.Enable[0], c.torque)
		}
		s.free = true
		was := s.at
		// two cycles of 6 rad/s, and the reading is of the last cycle
		if s.run(500 * time.Millisecond); was-s.at > 0.13 {
			t.Errorf("let go %g rad outside: came back by %g rad, want it to have lost its torque", c.to-1, was-s.at)
		}
		if s.f.Enable[0] || !s.joints[0].outside {
			t.Errorf("let go %g rad outside: got torque %v, outside %v, want it without", c.to-1, s.f.Enable[0],
				s.joints[0].outside)
		}
		for s.at > 1.01 { // a hand leads it inside
			s.at -= 0.005
			s.run(tick)
		}
		was = s.at
		if s.run(tick); was-s.at > 0.0151 { // to the limit, and 0.5 rad/s
			t.Errorf("led inside: went by %g rad in a cycle", was-s.at)
		}
		if s.run(time.Second); !s.f.Enable[0] || math.Abs(s.at-0.9) > 1e-6 {
			t.Errorf("led inside: got %g, torque %v, want 0.9, true", s.at, s.f.Enable[0])
		}
	}
}

// TestSafety09NearALimit: how far outside its soft limits a joint may be to get torque follows from the guard's speed:
// the step to the limit makes no servo faster.
func TestSafety09NearALimit(t *testing.T) {
	for _, c := range []struct {
		slew, outside float64
		torque        bool
	}{{1, 0.049, true}, {1, 0.051, false}, {0.1, 0.005, true}, {0.1, 0.007, false}} { // 2 rad/s, 0.2 rad/s
		s := newSafeJoint(t, GuardConfig{Slew: c.slew}, -1-c.outside)
		s.command(0, nan, nan, nan, nan)
		if s.run(tick); s.f.Enable[0] != c.torque {
			t.Errorf("slew %g, %g rad outside: got torque %v, want %v", c.slew, c.outside, s.f.Enable[0], c.torque)
		}
	}
}

// TestSafety10StoppingDistance: a velocity, torque or duty towards a soft limit ends before it.
func TestSafety10StoppingDistance(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, -0.5)
	for range 500 {
		s.command(nan, 2, nan, nan, nan)
		s.run(tick)
		if s.at > 1 {
			t.Fatalf("velocity: got %g, want at most the soft limit 1", s.at)
		}
	}
	if s.at < 0.98 {
		t.Errorf("velocity: got %g, want nearly 1", s.at)
	}
	// A mass that a torque accelerates at 10 rad/s², or a duty towards 2 rad/s, with readings 20 ms late.
	for _, mode := range []int{2, 3} {
		s := newSafeJoint(t, GuardConfig{}, -0.5)
		v, most := 0., -1.
		late := [2]float64{}
		for range 500 {
			s.command(nan, nan, [...]float64{2: 3, 3: nan}[mode], [...]float64{2: nan, 3: 1}[mode], nan)
			s.run(tick)
			u := late[0]
			late[0], late[1] = late[1], s.f.Inputs[mode]
			if mode == 2 {
				v += u / 3 * 10 * tick.Seconds()
			} else {
				v += (2*u - v) * 0.3
			}
			s.at += v * tick.Seconds()
			most = math.Max(most, s.at)
		}
		if most > 1.03 {
			t.Errorf("mode %v: overshot to %g, want at most 1.03", Mode(mode), most)
		}
		if s.at < 0.5 {
			t.Errorf("mode %v: got %g, want near the limit", Mode(mode), s.at)
		}
	}
}

// TestSafety11GoalContinuity: while a drive switches to position mode its goal stays where the joint is.
func TestSafety11GoalContinuity(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0)
	s.command(nan, 0.5, nan, nan, nan)
	s.run(200 * time.Millisecond)
	s.command(1, nan, nan, nan, nan)
	for range 20 { // the chain switches
		s.f.Measured[0], s.f.Status[0] = s.at, Status{Time: s.now, Drive: Switching}
		s.tick()
		if s.f.Inputs[0] != s.at {
			t.Fatalf("while switching: got goal %g, want the position %g", s.f.Inputs[0], s.at)
		}
	}
	was := s.f.Inputs[0]
	s.run(tick)
	if step := s.f.Inputs[0] - was; step > 0.02+1e-9 || step <= 0 {
		t.Errorf("first step: got %g rad, want at most 0.02", step)
	}
}

// TestSafety17DeadlinePerJoint: a message without a command, or with refused ones, renews no deadline; a command renews
// only that of its own joint.
func TestSafety17DeadlinePerJoint(t *testing.T) {
	l := oneJoint()
	l.Actuators = append(l.Actuators, l.Actuators[0])
	l.Actuators[1].Name = "k"
	l.Actuators[1].Goal = [NumModes]int{None, 5, None, None}
	l.Actuators[1].TorqueLimit = None
	l.Inputs = append(l.Inputs, Channel{Name: "k/velocity", Quantity: Velocity, Min: -2, Max: 2})
	g := newGuard(l, GuardConfig{CommandTimeout: 100 * time.Millisecond})
	g.exact = true
	f := NewFrame(l)
	f.Measured[0] = 0
	f.Status[0].Time, f.Status[1].Time = 0, 0
	g.accept([]float64{nan, 1, nan, nan, nan, 1}, 0)
	for k := range 30 {
		now := time.Duration(k) * tick
		f.Status[0].Time, f.Status[1].Time = now, now
		g.accept([]float64{nan, nan, nan, nan, nan, 0.5}, now)
		g.accept([]float64{nan, math.Inf(1), nan, nan, nan, nan}, now)
		g.accept([]float64{nan, nan, nan, nan, nan, nan}, now)
		g.apply(f, now, now, tick)
	}
	if f.Inputs[1] != 0 || f.Inputs[5] != 0.5 || !g.joints[0].expired || g.joints[1].expired {
		t.Errorf("after 300 ms: got %g and %g rad/s, expired %v and %v; want 0 and 0.5, the first alone",
			f.Inputs[1], f.Inputs[5], g.joints[0].expired, g.joints[1].expired)
	}
}

// TestSafety17TorqueLimitIsNoGoal: torque limits alone neither keep a joint moving nor revive it after its deadline.
func TestSafety17TorqueLimitIsNoGoal(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{CommandTimeout: 200 * time.Millisecond}, 0)
	s.command(nan, 0.5, nan, nan, nan)
	for range 50 {
		s.command(nan, nan, nan, nan, 2)
		s.run(tick)
	}
	if v := s.f.Inputs[1]; v != 0 || !s.joints[0].expired || s.f.Inputs[4] != 2 {
		t.Errorf("500 ms after its last goal: got velocity %g, expired %v, limit %g; want 0, true, 2", v,
			s.joints[0].expired, s.f.Inputs[4])
	}
}

// lateClock wakes its sleeper late.
type lateClock struct{ now, late time.Duration }

func (c *lateClock) Now() time.Duration         { return c.now }
func (c *lateClock) SleepUntil(t time.Duration) { c.now = max(c.now, t) + c.late }

// TestSafety19TimeNeverParts: rig time is the sum of the worlds' advances, even with a late host; deadlines use the
// clock.
func TestSafety19TimeNeverParts(t *testing.T) {
	clock := &lateClock{late: 25 * time.Millisecond} // two and a half periods
	r, err := New(Config{Mode: Realtime, Period: tick, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	l := oneJoint()
	l.Actuators[0].Position = None
	world := &ticking{}
	a, err := r.Add(AgentConfig{Name: "a", Body: &thrusters{layout: l}, World: world, BodyKind: Emulated,
		Guard: GuardConfig{CommandTimeout: 200 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	next := tick
	a.Override([]float64{nan, 1, nan, nan, nan})
	begin := clock.now
	for a.Condition().State != Expired && clock.now < time.Second {
		clock.SleepUntil(next)
		next = r.tick(t.Context(), next)
	}
	if took := clock.now - begin; took < 200*time.Millisecond || took > 300*time.Millisecond {
		t.Errorf("deadline of 200 ms: got %v of the clock", took)
	}
	var s Stats
	r.Stats(&s)
	if r.time != world.time || a.frame.Time != world.time {
		t.Errorf("rig time: got %v and %v, want the world's %v", r.time, a.frame.Time, world.time)
	}
	if behind := clock.now - r.time; s.Behind == 0 || (behind-s.Behind).Abs() > 4*tick {
		t.Errorf("behind: got %v, want about %v", s.Behind, behind)
	}
}

// ticking is a world that counts its time.
type ticking struct{ time time.Duration }

func (w *ticking) Advance(dt time.Duration) error { w.time += dt; return nil }

// cutLine is a line whose torque may be cut.
type cutLine struct{ cut chan struct{} }

func (l *cutLine) Send() error      { return nil }
func (l *cutLine) Receive() error   { return nil }
func (l *cutLine) CutTorque() error { close(l.cut); return nil }

// TestSafety01StopNeedsNoCycle: torque is cut while user code holds the cycle, and the result reports it as not
// verified.
func TestSafety01StopNeedsNoCycle(t *testing.T) {
	r, a, _, _ := pilotedRig(t, GuardConfig{})
	line := &cutLine{make(chan struct{})}
	r.AddBus(line)
	r.edgeTime = time.Millisecond
	var stops []JointStop
	r.BetweenCycles(func() {
		done := make(chan struct{})
		go func() { stops = r.EmergencyStop("test"); close(done) }()
		<-done
		if c := a.Condition(); c.State != Stopped || c.Reason != "test" || a.JointState(0) != Stopped ||
			a.JointState(1) != Stopped {
			t.Errorf("got %+v, joint %v; want both joints stopped though they did not confirm", c, a.JointState(0))
		}
	})
	<-line.cut
	if len(stops) != 2 || stops[0].Err == nil || !r.Latched() {
		t.Errorf("got %v, latched %v; want two unverified joints", stops, r.Latched())
	}
	if err := r.Recover(); err != nil || a.JointState(0) != Disarmed || a.Condition().State != Disarmed {
		t.Errorf("reset: got %v, joint %v; want it disarmed, in any phase of the cycle", err, a.JointState(0))
	}
}

// sleepyClock is a clock of a machine that is suspended.
type sleepyClock struct {
	lateClock
	slept time.Duration
}

func (c *sleepyClock) Suspended() time.Duration { return c.slept }

// TestSafety18Suspend: a robot of devices is stopped after a suspend of the machine, but not because of earlier ones.
func TestSafety18Suspend(t *testing.T) {
	for kind, want := range map[BodyKind]bool{Simulated: false, Emulated: true} {
		clock := &sleepyClock{slept: time.Hour}
		r, err := New(Config{Mode: Realtime, Period: tick, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Add(AgentConfig{Name: "a", Body: &thrusters{layout: oneJoint()}, World: &ticking{},
			BodyKind: kind}); err != nil {
			t.Fatal(err)
		}
		next := tick
		cycle := func() {
			clock.SleepUntil(next)
			next = r.tick(t.Context(), next)
		}
		cycle()
		cycle()
		if r.Latched() {
			t.Errorf("%v: stopped by what the machine slept before", kind)
		}
		clock.slept += time.Minute
		cycle()
		if r.Latched() != want {
			t.Errorf("%v: suspended for a minute: got stopped %v, want %v", kind, r.Latched(), want)
		}
	}
}

// TestSafety04TorqueOnByANewReading: a command to a joint that has not been read for some cycles gives no torque, and a
// drive that switches torque on while the joint's position is not known gets no earlier goal.
func TestSafety04TorqueOnByANewReading(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0.9)
	s.silent = true
	s.run((freshCycles + 1) * tick)
	s.command(0.9, nan, nan, nan, nan)
	if s.run(tick); s.f.Enable[0] {
		t.Errorf("read %d cycles ago: got torque with goal %g, want none", freshCycles+1, s.f.Inputs[0])
	}

	s = newSafeJoint(t, GuardConfig{Slew: 0.1}, 0)
	s.silent = true
	s.command(0, nan, nan, nan, nan)
	s.f.Status[0].Drive = Switching
	if s.run(tick); !s.f.Enable[0] || s.f.Inputs[0] != 0 {
		t.Fatalf("commanded: got goal %g, enabled %v, want 0, true", s.f.Inputs[0], s.f.Enable[0])
	}
	s.at = 0.15 // it sags: it has no torque yet
	s.run(500 * time.Millisecond)
	if !math.IsNaN(s.f.Inputs[0]) || !s.f.Enable[0] {
		t.Errorf("not seen for 500 ms: got goal %g, enabled %v, want none, true", s.f.Inputs[0], s.f.Enable[0])
	}
	s.free, s.silent = false, false
	s.f.Status[0].Drive = Follows // it has switched itself on, where it is
	for n := 0; n <= trustSamples && math.IsNaN(s.f.Inputs[0]); n++ {
		s.run(tick)
	}
	if v := s.f.Inputs[0]; !(math.Abs(v-0.15) < 0.13) {
		t.Errorf("back at 0.15: got goal %g, want a step of it", v)
	}

	// After an expired deadline there is no goal to hold.
	s = newSafeJoint(t, GuardConfig{CommandTimeout: 300 * time.Millisecond}, 0)
	s.silent = true
	s.command(0, nan, nan, nan, nan)
	s.f.Status[0].Drive = Switching
	s.run(500 * time.Millisecond)
	s.silent, s.at = false, 0.15
	s.f.Status[0].Drive = Follows
	if s.run(500 * time.Millisecond); s.f.Enable[0] || s.at != 0.15 {
		t.Errorf("back after its deadline: got torque %v at %g, want none at 0.15", s.f.Enable[0], s.at)
	}
}

// TestSafety04LeftBeforeTorque: a joint whose client leaves while torque comes on, and that is then not seen, stays
// where it is found.
func TestSafety04LeftBeforeTorque(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{CommandTimeout: 300 * time.Millisecond}, 0)
	s.silent = true
	s.command(0, nan, nan, nan, nan)
	s.f.Status[0].Drive = Switching
	s.run(tick)
	s.hold()
	s.run(500 * time.Millisecond)
	s.silent, s.at = false, 0.6
	if s.run(500 * time.Millisecond); !s.f.Enable[0] || s.at != 0.6 {
		t.Errorf("back at 0.6: got torque %v at %g, want it held at 0.6", s.f.Enable[0], s.at)
	}
}

// TestWheelGoalIsAhead: the goal of a fast wheel is a quarter ahead at most: from half a turn on it is behind.
func TestWheelGoalIsAhead(t *testing.T) {
	g := newGuard(oneJoint(), GuardConfig{})
	a := &g.layout.Actuators[0]
	a.Limits.MaxVelocity, a.Wraps = 500, true
	if got := g.following(a, 500); got > math.Pi/2 {
		t.Errorf("got a following error of %g rad, want %g at most", got, math.Pi/2)
	}
}

// TestWheelTooFastForPositions: a wheel gets no position goal while it turns by more than a quarter in a cycle.
func TestWheelTooFastForPositions(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0)
	s.layout.Actuators[0].Wraps = true
	s.layout.Actuators[0].Velocity = s.layout.Actuators[0].Position // it measures its speed
	s.command(0.5, nan, nan, nan, nan)
	for _, c := range []struct {
		quarters float64 // in a cycle
		torque   bool
	}{{1.1, false}, {-1.1, false}, {0.1, true}} {
		s.f.Measured[0], s.f.Status[0] = c.quarters*math.Pi/2/tick.Seconds(), Status{Time: s.now}
		s.joints[0].sight.at, s.joints[0].sight.seen = s.f.Measured[0], s.now-tick
		if s.tick(); s.f.Enable[0] != c.torque {
			t.Errorf("%g quarters in a cycle: got torque %v, want %v", c.quarters, s.f.Enable[0], c.torque)
		}
	}
}

// TestSafety11HoldBeforeTheCycle: a client that commands another mode and leaves within one cycle moves nothing.
func TestSafety11HoldBeforeTheCycle(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0)
	s.command(nan, 0.5, nan, nan, nan)
	s.run(200 * time.Millisecond)
	was := s.at
	s.command(0.9, nan, nan, nan, nan)
	s.hold()
	if s.run(time.Second); s.at != was || !s.f.Enable[0] {
		t.Errorf("from %g to %g, torque %v, want it held where it was", was, s.at, s.f.Enable[0])
	}
}

// TestSafety11TwoModesInACycle: two clients that command two modes in each cycle leave the goal where it was: one that
// began again at the joint each time would go with it, and drive it on.
func TestSafety11TwoModesInACycle(t *testing.T) {
	s := newSafeJoint(t, GuardConfig{}, 0)
	s.free = false
	for k := range 10 {
		s.command(nan, 1, nan, nan, nan)
		s.command(0, nan, nan, nan, nan)
		s.at += 0.015 // a hand
		if s.run(tick); math.Abs(s.f.Inputs[0]) > 1e-9 {
			t.Fatalf("cycle %d: got goal %g, want 0", k, s.f.Inputs[0])
		}
	}
}

// dozyClock counts how its sleeper waits, and ends the loop at the tenth time.
type dozyClock struct {
	lateClock
	slept, dozed int
	end          func()
}

func (c *dozyClock) wait(n *int, t time.Duration) {
	c.lateClock.SleepUntil(t)
	if *n++; c.slept+c.dozed >= 10 {
		c.end()
	}
}

func (c *dozyClock) SleepUntil(t time.Duration) { c.wait(&c.slept, t) }
func (c *dozyClock) DozeUntil(t time.Duration)  { c.wait(&c.dozed, t) }

// A loop holds a processor before its cycle only where something outside the process is on time, or a session controls
// a robot in real time.
func TestLoopWaitsPreciselyWhereItMatters(t *testing.T) {
	for _, c := range []struct {
		name    string
		mode    ClockMode
		kind    BodyKind
		leased  bool
		precise bool
	}{
		{"lock-step", Lockstep, Simulated, false, false},
		{"lock-step, emulated", Lockstep, Emulated, false, false},
		{"real time, simulated", Realtime, Simulated, false, false},
		{"real time, simulated, under control", Realtime, Simulated, true, true},
		{"real time, emulated", Realtime, Emulated, false, true},
		{"real", Realtime, Real, false, true},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		clock := &dozyClock{end: cancel}
		r, err := New(Config{Mode: c.mode, Period: tick, Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		l := oneJoint()
		l.Actuators[0].Position = None
		a, err := r.Add(AgentConfig{Name: "a", Body: &thrusters{layout: l}, World: &ticking{}, BodyKind: c.kind})
		if err != nil {
			t.Fatal(err)
		}
		if c.leased {
			if _, err := r.NewSession("test", nil).Acquire(a); err != nil {
				t.Fatal(err)
			}
		}
		r.loop(ctx)
		cancel()
		if want := map[bool][2]int{true: {10, 0}, false: {0, 10}}[c.precise]; [2]int{clock.slept, clock.dozed} != want {
			t.Errorf("%s: got %d sleeps and %d dozes, want %v", c.name, clock.slept, clock.dozed, want)
		}
	}
}
