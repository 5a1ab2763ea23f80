package hal

import (
	"errors"
	"math"
	"testing"
	"time"
)

const tick = 10 * time.Millisecond

// oneJoint is a layout with every mode, soft limits of ±1 rad and 2 rad/s.
func oneJoint() *Layout {
	in := func(q Quantity, span float64) Channel {
		return Channel{Name: "j/" + q.String(), Quantity: q, Min: -span, Max: span}
	}
	return &Layout{
		Inputs: []Channel{in(Position, math.Pi), in(Velocity, 2), in(Torque, 3), in(Duty, 1),
			{Name: "j/limit", Min: 0, Max: 3}},
		Outputs: []Channel{in(Position, math.Pi)},
		Actuators: []Actuator{{Name: "j", Goal: [NumModes]int{0, 1, 2, 3}, TorqueLimit: 4, Position: 0,
			Velocity: None, Torque: None, Voltage: None, Temperature: None,
			Limits: Limits{MinPosition: -1, MaxPosition: 1, MaxVelocity: 2, MaxTorque: 3}}},
	}
}

// guarded is a guard over one joint whose measured position the test sets.
type guarded struct {
	*guard
	f   *Frame
	now time.Duration
}

func newGuarded(c GuardConfig, position float64) *guarded {
	l := oneJoint()
	g := &guarded{guard: newGuard(l, c), f: NewFrame(l)}
	g.exact = true // the test sets the exact position of the joint
	g.f.Measured[0] = position
	return g
}

func (g *guarded) tick() {
	g.apply(g.f, g.now, g.now, tick)
	g.now += tick
}

func (g *guarded) command(position, velocity, torque, duty, limit float64) {
	g.accept([]float64{position, velocity, torque, duty, limit}, g.now)
}

var nan = math.NaN()

func TestGuardPassesNothingUnasked(t *testing.T) {
	g := newGuarded(GuardConfig{}, 0.3)
	g.tick()
	if g.f.Enable[0] || !math.IsNaN(g.f.Inputs[0]) {
		t.Errorf("without a command: got enable %v, goal %v; want no torque", g.f.Enable[0], g.f.Inputs[0])
	}
}

func TestGuardCommands(t *testing.T) {
	for _, c := range []struct {
		name     string
		measured float64
		command  [5]float64
		ticks    int
		input    int
		want     float64
		clamped  uint64
		refused  uint64
	}{
		{"slew starts where the joint is", 0.3, [5]float64{0.5, nan, nan, nan, nan}, 1, 0, 0.32, 0, 0},
		{"slew ends at the goal", 0.3, [5]float64{0.5, nan, nan, nan, nan}, 50, 0, 0.5, 0, 0},
		{"soft limit", 0.9, [5]float64{2, nan, nan, nan, nan}, 50, 0, 1, 1, 0},
		{"range and soft limit", 0.9, [5]float64{1e9, nan, nan, nan, nan}, 50, 0, 1, 2, 0},
		{"from a little beyond the limit", 1.04, [5]float64{1, nan, nan, nan, nan}, 1, 0, 1, 0, 0},
		{"far beyond the limit: no goal, no torque", 1.5, [5]float64{1, nan, nan, nan, nan}, 1, 0, nan, 0, 0},
		{"infinite is refused", 0.3, [5]float64{math.Inf(1), nan, nan, nan, nan}, 1, 0, nan, 0, 1},
		{"velocity", 0, [5]float64{nan, 1.5, nan, nan, nan}, 1, 1, 1.5, 0, 0},
		{"velocity is clamped", 0, [5]float64{nan, -7, nan, nan, nan}, 1, 1, -2, 1, 0},
		{"velocity stops at the limit", 1, [5]float64{nan, 1.5, nan, nan, nan}, 1, 1, 0, 0, 0},
		{"velocity may lead back", 1, [5]float64{nan, -1.5, nan, nan, nan}, 1, 1, -1.5, 0, 0},
		{"torque stops at the limit", -1.1, [5]float64{nan, nan, -2, nan, nan}, 1, 2, 0, 0, 0},
		{"duty", 0, [5]float64{nan, nan, nan, 0.25, nan}, 1, 3, 0.25, 0, 0},
		{"first mode wins", 0, [5]float64{nan, 1, 2, nan, nan}, 1, 1, 1, 0, 1},
		{"torque limit", 0, [5]float64{0, nan, nan, nan, 9}, 1, 4, 3, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGuarded(GuardConfig{}, c.measured)
			g.command(c.command[0], c.command[1], c.command[2], c.command[3], c.command[4])
			for range c.ticks {
				g.tick()
			}
			if got := g.f.Inputs[c.input]; !(math.Abs(got-c.want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("input %d: got %v, want %v", c.input, got, c.want)
			}
			for i, v := range g.f.Inputs[:4] {
				if i != c.input && c.input < 4 && !math.IsNaN(v) {
					t.Errorf("input %d: got %v in addition to the active mode, want NaN", i, v)
				}
			}
			if g.counts.Clamped != c.clamped || g.counts.Refused != c.refused {
				t.Errorf("counts: got %+v, want clamped %d, refused %d", g.counts, c.clamped, c.refused)
			}
		})
	}
}

func TestGuardUnknownPositionStaysLimp(t *testing.T) {
	g := newGuarded(GuardConfig{}, nan)
	g.command(0.5, nan, nan, nan, nan)
	g.tick()
	if g.f.Enable[0] {
		t.Error("a joint without a reading: got torque, want none")
	}
	g.f.Measured[0] = 0.4
	g.tick()
	if !g.f.Enable[0] || math.Abs(g.f.Inputs[0]-0.42) > 1e-12 {
		t.Errorf("once it has: got enable %v, goal %v; want 0.42", g.f.Enable[0], g.f.Inputs[0])
	}
}

func TestGuardShortWayRound(t *testing.T) {
	g := newGuarded(GuardConfig{}, 3)
	g.layout.Actuators[0].Wraps = true
	g.command(-3, nan, nan, nan, nan)
	g.tick()
	if g.f.Inputs[0] <= 3 {
		t.Errorf("from 3 to -3 rad: got %v, want through π", g.f.Inputs[0])
	}
}

func TestGuardRaisedLimitMovesFromWhereItIs(t *testing.T) {
	g := newGuarded(GuardConfig{}, 0)
	g.command(1, nan, nan, nan, 0)
	for range 100 {
		g.tick()
	}
	g.f.Measured[0] = -0.5 // a joint without torque falls
	g.command(nan, nan, nan, nan, 2)
	g.tick()
	if got := g.f.Inputs[0]; math.Abs(got+0.48) > 1e-12 {
		t.Errorf("goal after the limit was raised: got %v, want -0.48", got)
	}
}

func TestGuardBackToPositionStartsWhereTheJointIs(t *testing.T) {
	g := newGuarded(GuardConfig{}, 0)
	g.command(0.5, nan, nan, nan, nan)
	g.tick()
	g.command(nan, nan, nan, 0.3, nan)
	g.tick()
	g.f.Measured[0] = -0.6 // duty has moved it
	g.command(0.5, nan, nan, nan, nan)
	g.tick()
	if got := g.f.Inputs[0]; math.Abs(got+0.58) > 1e-12 {
		t.Errorf("position after duty: got %v, want -0.58", got)
	}
}

func TestGuardDeadline(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		enable bool
		want   float64 // goal after a second
	}{
		{Hold, true, 0.22}, // the last commanded goal, not the present position
		{TorqueOff, false, nan},
		{Park, true, -0.15}, // held back: the goal waits ahead of it
	} {
		t.Run(c.policy.String(), func(t *testing.T) {
			g := newGuarded(GuardConfig{CommandTimeout: 100 * time.Millisecond, OnTimeout: c.policy}, 0)
			g.layout.Actuators[0].Default = -0.2
			g.command(1, nan, nan, nan, nan)
			for range 10 {
				g.tick()
				g.f.Measured[0] = 0.1 // stuck
			}
			if g.counts.Expired != 0 {
				t.Fatal("expired within the deadline")
			}
			for range 100 {
				g.tick()
			}
			if g.counts.Expired != 1 {
				t.Errorf("expired: got %d times, want once", g.counts.Expired)
			}
			got := g.f.Inputs[0]
			if g.f.Enable[0] != c.enable || math.Abs(got-c.want) > 1e-12 || math.IsNaN(got) != math.IsNaN(c.want) {
				t.Errorf("after the deadline: got enable %v, goal %v; want %v, %v", g.f.Enable[0], got, c.enable,
					c.want)
			}
			g.command(nan, nan, nan, nan, nan) // a returning client without a command moves nothing
			g.tick()
			if g.f.Inputs[0] != got && !math.IsNaN(got) {
				t.Errorf("after the client came back: got %v, want %v", g.f.Inputs[0], got)
			}
		})
	}
}

func TestGuardDeadlineStopsVelocity(t *testing.T) {
	g := newGuarded(GuardConfig{CommandTimeout: 100 * time.Millisecond}, 0)
	g.command(nan, 1, nan, nan, nan)
	for range 12 {
		g.tick()
	}
	if g.f.Inputs[1] != 0 || !g.f.Enable[0] {
		t.Errorf("velocity after the deadline: got %v, want 0, held", g.f.Inputs[1])
	}
}

func TestGuardHomingIsSlowAndEnds(t *testing.T) {
	g := newGuarded(GuardConfig{HomeSpeed: 0.5}, 0.9)
	g.home(true)
	g.reset = true
	g.tick()
	if got := g.f.Inputs[0]; math.Abs(got-0.895) > 1e-12 {
		t.Errorf("first step home: got %v, want 0.895", got)
	}
	g.command(1, nan, nan, nan, nan)
	if g.counts.Refused != 1 {
		t.Error("a command during a reset: passed, want refused")
	}
	for range 300 {
		g.f.Measured[0] = g.f.Inputs[0]
		g.tick()
	}
	if g.homing || g.reset {
		t.Error("homing: still under way at the default pose")
	}
}

// TestGuardHomingEndsAtRest: a reset is not over while a joint that is near its default pose still moves.
func TestGuardHomingEndsAtRest(t *testing.T) {
	g := newGuarded(GuardConfig{HomeSpeed: 0.5}, 0.3)
	l := g.layout
	l.Infos = append(l.Infos, Channel{Name: "joint/velocity", Quantity: Velocity, Min: -10, Max: 10})
	l.Actuators[0].Velocity = len(l.Outputs) + len(l.Infos) - 1
	g.f = NewFrame(l)
	g.f.Measured[0] = 0.3
	g.home(true)
	g.reset = true
	for range 150 {
		g.tick()
		g.f.Measured[0] = max(g.f.Inputs[0], 0.04)
		g.f.Measured[l.Actuators[0].Velocity] = -0.4
	}
	if !g.reset {
		t.Error("a joint that moves at 0.4 rad/s: the reset is over")
	}
	g.f.Measured[l.Actuators[0].Velocity] = 0.01
	g.tick()
	if g.tick(); g.reset {
		t.Error("a joint at rest at its default pose: the reset is not over")
	}
}

// TestGuardHomingOfALostJoint: a joint that is not seen at a reset moves at the home speed when it is back, or, after
// the reset has ended, not at all.
func TestGuardHomingOfALostJoint(t *testing.T) {
	for lost, moves := range map[time.Duration]bool{60 * time.Millisecond: true, 90 * time.Millisecond: true,
		500 * time.Millisecond: true, 5 * time.Second: false} {
		s := newSafeJoint(t, GuardConfig{}, 0.5)
		s.silent = true
		s.run(50 * time.Millisecond)
		s.home(true)
		s.guard.reset = true
		s.run(lost - 50*time.Millisecond)
		s.silent = false
		s.f.Status[0].Err = nil
		for range 300 {
			at := s.at
			if s.run(tick); math.Abs(s.at-at) > defaultHomeSpeed*tick.Seconds()+1e-9 {
				t.Fatalf("lost for %v: moves at %.3g rad/s, want at most %g", lost, math.Abs(s.at-at)/tick.Seconds(),
					defaultHomeSpeed)
			}
		}
		if moves && (math.Abs(s.at) > homeTolerance || s.homing) || !moves && (s.at != 0.5 || s.f.Enable[0]) {
			t.Errorf("lost for %v: at %g, torque %v, homing %v", lost, s.at, s.f.Enable[0], s.homing)
		}
	}
}

// newGuardedPair is a body of two joints at 0.8 rad that parks at 0.
func newGuardedPair() *guarded {
	l := oneJoint()
	l.Inputs = append(l.Inputs, Channel{Name: "k/position", Quantity: Position, Min: -math.Pi, Max: math.Pi})
	l.Outputs = append(l.Outputs, Channel{Name: "k/position", Quantity: Position, Min: -math.Pi, Max: math.Pi})
	k := l.Actuators[0]
	k.Name, k.Goal, k.TorqueLimit, k.Position = "k", [NumModes]int{5, None, None, None}, None, 1
	l.Actuators = append(l.Actuators, k)
	g := &guarded{guard: newGuard(l, GuardConfig{CommandTimeout: 100 * time.Millisecond, OnTimeout: Park}),
		f: NewFrame(l)}
	g.exact, g.f.Measured[0], g.f.Measured[1] = true, 0.8, 0.8
	return g
}

// TestGuardParksTogether: a joint whose deadline has passed does not park the body while another is commanded.
func TestGuardParksTogether(t *testing.T) {
	g := newGuardedPair()
	g.accept([]float64{0.8, nan, nan, nan, nan, 0.8}, g.now)
	for range 100 {
		g.accept([]float64{0.8}, g.now)
		if g.tick(); g.f.Inputs[5] != 0.8 || g.homing {
			t.Fatalf("at %v: got goal %g, homing %v, want it held at 0.8", g.now, g.f.Inputs[5], g.homing)
		}
	}
}

// TestGuardHomingOfOthers: where a returning client commands one joint of a parking body, the others go on at the home
// speed.
func TestGuardHomingOfOthers(t *testing.T) {
	g := newGuardedPair()
	g.accept([]float64{0.8, nan, nan, nan, nan, 0.8}, g.now)
	for n := range 200 {
		if n > 30 {
			g.accept([]float64{0.8}, g.now)
		}
		was := g.f.Inputs[5]
		g.tick()
		if v := g.f.Inputs[5]; was-v > defaultHomeSpeed*tick.Seconds()+1e-9 {
			t.Fatalf("at %v: goal %g after %g, want at most %g rad/s", g.now, v, was, defaultHomeSpeed)
		}
		g.f.Measured[0], g.f.Measured[1] = g.f.Inputs[0], g.f.Inputs[5]
	}
	if g.f.Inputs[0] != 0.8 || g.f.Inputs[5] != 0 {
		t.Errorf("got goals %g and %g, want 0.8 as commanded and 0", g.f.Inputs[0], g.f.Inputs[5])
	}
}

func TestGuardStoppedRefuses(t *testing.T) {
	g := newGuarded(GuardConfig{}, 0)
	g.command(0.5, nan, nan, nan, nan)
	g.tick()
	g.set(Stopped)
	g.command(0.5, nan, nan, nan, nan)
	g.tick()
	if g.f.Enable[0] || g.counts.Refused != 1 {
		t.Errorf("stopped: got enable %v, refused %d; want no torque, 1", g.f.Enable[0], g.counts.Refused)
	}
	g.set(Armed)
	g.tick()
	if g.f.Enable[0] {
		t.Error("armed again: old commands came back")
	}
}

func FuzzGuard(f *testing.F) {
	f.Add(0.1, 0.5, 1.0, -1.0, 0.0, 2.0)
	f.Add(math.Inf(1), math.NaN(), -1e300, 5e-324, 3.0, -7.0)
	f.Add(1.04, 0.5, math.NaN(), math.NaN(), math.NaN(), math.NaN()) // a little outside its soft limits
	f.Add(1.06, 0.5, math.NaN(), math.NaN(), math.NaN(), math.NaN()) // too far to be led back
	f.Fuzz(func(t *testing.T, measured, position, velocity, torque, duty, limit float64) {
		g := newGuarded(GuardConfig{}, math.Remainder(measured, math.Pi))
		a := &g.layout.Actuators[0]
		last := soft(a, g.f.Measured[0]) // within the soft limits, a goal starts from where the joint is
		for range 5 {
			g.command(position, velocity, torque, duty, limit)
			g.tick()
			for i, v := range g.f.Inputs {
				if c := g.layout.Inputs[i]; !math.IsNaN(v) && (v < c.Min || v > c.Max) {
					t.Fatalf("input %s: got %v, want %g..%g", c.Name, v, c.Min, c.Max)
				}
			}
			if v := g.f.Inputs[0]; !math.IsNaN(v) {
				if v != soft(a, v) {
					t.Fatalf("goal: got %v, want %g..%g", v, a.Limits.MinPosition, a.Limits.MaxPosition)
				}
				if !g.near(&g.layout.Actuators[0], g.f.Measured[0]) {
					t.Fatalf("goal of a joint far outside its limits, at %v: got %v, want none", g.f.Measured[0], v)
				}
				if math.Abs(v-last) > 2*tick.Seconds()+1e-9 {
					t.Fatalf("goal: from %v to %v in a period, want at most 0.02", last, v)
				}
				last = v
			}
		}
	})
}

// A direct guard only clamps.
func TestGuardDirect(t *testing.T) {
	g := newGuarded(GuardConfig{Direct: true}, 0)
	g.command(5, nan, nan, nan, nan)
	g.tick()
	if g.f.Inputs[0] != 1 {
		t.Errorf("goal: got %g, want the limit 1 at once", g.f.Inputs[0])
	}
	g.f.Measured[0] = 1.01
	g.command(nan, nan, nan, 0.5, nan)
	g.tick()
	if g.f.Inputs[3] != 0.5 {
		t.Errorf("duty at the stop: got %g, want 0.5", g.f.Inputs[3])
	}
	g.home(true)
	g.tick()
	if v := g.f.Inputs[0]; v > 1 || v < 0.99 {
		t.Errorf("on the way home: got %g, want the home speed", v)
	}
}

// A joint without readings continues from its commanded position; one found far from there continues from its present
// one. One missing reading does not move a goal.
func TestGuardFindsAJointAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		blind int // ticks without an answer
		at    float64
		want  float64
	}{
		{"one answer missing", 1, 0, 0.04},
		{"lost, and where it was", 30, 0, 0.04},
		{"lost, and elsewhere", 30, -0.5, -0.48},
	} {
		g := newGuarded(GuardConfig{}, 0)
		g.command(0.8, nan, nan, nan, nan)
		seen := func(err error) {
			if g.f.Status[0].Err = err; err == nil {
				g.f.Status[0].Time = g.now
			}
			g.tick()
		}
		seen(nil)
		for range c.blind {
			seen(errors.New("no answer"))
		}
		g.f.Measured[0] = c.at
		if seen(nil); math.Abs(g.f.Inputs[0]-c.want) > 1e-9 || !g.f.Enable[0] {
			t.Errorf("%s: got goal %v, enabled %v; want %v", c.name, g.f.Inputs[0], g.f.Enable[0], c.want)
		}
	}
}

// TestGuardRampsGains: a commanded gain goes from its value at power-up to the command across its range in a second at
// most, is bounded by it, renews no deadline, passes only while armed, and is back at power-up after a reset.
func TestGuardRampsGains(t *testing.T) {
	l := oneJoint()
	for k := range 2 {
		l.Inputs = append(l.Inputs, Channel{Name: "j/" + Gain(k).Quantity().String(), Quantity: Gain(k).Quantity(),
			Max: 100})
	}
	own := GainInput{Input: 6, PowerUp: nan} // a law of its own until it is commanded
	l.Actuators[0].Gains = []GainInput{{Input: 5, PowerUp: 20}, own, {Input: None}}
	if err := l.Validate(); err != nil || l.Inputs[5].Unit() != "N·m/rad" || l.Inputs[5].Name != "j/kp" {
		t.Fatalf("got %v, %q in %q", err, l.Inputs[5].Name, l.Inputs[5].Unit())
	}
	g := &guarded{guard: newGuard(l, GuardConfig{}), f: NewFrame(l)}
	g.exact = true
	at := func(what string, kp, own float64) {
		t.Helper()
		if got := g.f.Inputs[5:]; math.Abs(got[0]-kp) > 1e-9 || math.IsNaN(got[0]) != math.IsNaN(kp) ||
			got[1] != own && !(math.IsNaN(got[1]) && math.IsNaN(own)) {
			t.Errorf("%s: got %g, want %g and %g", what, got, kp, own)
		}
	}
	g.tick()
	at("never commanded", nan, nan)
	command := func(kp, own float64) { g.accept([]float64{nan, nan, nan, nan, nan, kp, own}, g.now) }
	command(50, 7)
	g.tick()
	at("one cycle", 21, 7)
	for range 100 {
		g.tick()
	}
	at("arrived", 50, 7)
	command(1e6, nan)
	for range 100 {
		g.tick()
	}
	if at("bounded", 100, 7); g.waiting || g.f.Enable[0] {
		t.Errorf("a gain is no goal: got enable %v", g.f.Enable[0])
	}
	g.clear()
	g.tick()
	at("cleared", 20, nan)
	g.set(Disarmed)
	command(90, 9)
	g.tick()
	at("disarmed", 20, nan)
}

// TestGuardFall: a robot that is tilted too far for too long loses its torque, or holds and takes no command until it
// stands; a short tilt and an unknown attitude are no fall.
func TestGuardFall(t *testing.T) {
	for _, c := range []struct {
		name    string
		then    Policy
		tilt    float64
		ticks   int
		torque  bool
		state   GuardState
		refused uint64
	}{
		{"stands", TorqueOff, 0.3, 100, true, Armed, 0},
		{"for a moment", TorqueOff, 1.5, 10, true, Armed, 0},
		{"torque off", TorqueOff, 1.5, 30, false, Disarmed, 1},
		{"hold", Hold, 1.5, 30, true, Armed, 1},
		{"unknown", TorqueOff, nan, 100, true, Armed, 0},
	} {
		l := oneJoint()
		for _, name := range []string{"w", "x", "y", "z"} {
			l.Outputs = append(l.Outputs, Channel{Name: name, Min: -1, Max: 1})
		}
		var config GuardConfig
		config.Fall.Tilt, config.Fall.For, config.Fall.Then, config.Fall.Attitude = 0.8, 200*time.Millisecond, c.then, 1
		g := &guarded{guard: newGuard(l, config), f: NewFrame(l)}
		g.exact = true
		copy(g.f.Measured, []float64{0, 1, 0, 0, 0})
		g.command(0.5, nan, nan, nan, nan)
		g.tick()
		g.f.Measured[1], g.f.Measured[2] = math.Cos(c.tilt/2), math.Sin(c.tilt/2)
		for range c.ticks {
			g.tick()
		}
		refused := g.counts.Refused
		g.command(0.5, nan, nan, nan, nan)
		if g.f.Enable[0] != c.torque || g.state != c.state || g.counts.Refused-refused != c.refused {
			t.Errorf("%s: got torque %v, %v, %d refused, want %v, %v, %d", c.name, g.f.Enable[0], g.state,
				g.counts.Refused-refused, c.torque, c.state, c.refused)
		}
	}
}

// TestGuardTorqueRamp: the torque limit rises evenly from torque-on on, each time, to the commanded one.
func TestGuardTorqueRamp(t *testing.T) {
	g := newGuarded(GuardConfig{TorqueRamp: 100 * time.Millisecond}, 0)
	for range 2 {
		g.command(0.5, nan, nan, nan, 2)
		var limits []float64
		for range 12 {
			g.tick()
			limits = append(limits, g.f.Inputs[4])
		}
		if math.Abs(limits[0]-0.1) > 1e-9 || math.Abs(limits[5]-1) > 1e-9 || limits[11] != 2 {
			t.Errorf("got limits %.2f, want 0.1, 1 after 50 ms, 2 after 100 ms", limits)
		}
		g.clear()
		g.tick()
	}
}
