package dynamixel

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

func models(n int, name string) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = name
	}
	return list
}

// TestChainManySilentServosKeepThePeriod: when a whole limb loses its power the rest goes on at its pace.
func TestChainManySilentServosKeepThePeriod(t *testing.T) {
	for _, model := range []string{"ax-12a", "mx-28", "xm430-w350"} {
		r := driving(t, nil, models(12, model)...)
		for _, s := range r.servos[:10] {
			s.dead = true
		}
		// One more request may be under way when the period ends, and a group may have waited for all its members.
		limit := 10*time.Millisecond + 2*servo.Slack + servo.WireTime(12*20, bitsPerByte, r.rate)
		for k := range 200 {
			r.run(1)
			if spent := r.Stats().Spent; spent > limit {
				t.Fatalf("%s: cycle %d: got %v, want %v at most", model, k, spent, limit)
			}
		}
		for i := range r.servos {
			if lost := r.State(i).Err != nil; lost != (i < 10) {
				t.Errorf("%s: servo %d: got %v", model, i, r.State(i).Err)
			}
		}
	}
}

// TestChainAsksOneLostServoACycle: the lost do not all come due in the same cycle.
func TestChainAsksOneLostServoACycle(t *testing.T) {
	r := driving(t, func(cfg *servo.ChainConfig) { cfg.Period = 0 }, models(6, "xm430-w350")...)
	for _, s := range r.servos[:5] {
		s.dead = true
	}
	r.run(10)
	usual, worst := time.Duration(0), time.Duration(0)
	for range 5 { // one of them reads a servo long
		r.run(1)
		usual = max(usual, r.Stats().Spent)
	}
	before := r.Stats().Timeouts
	for range 200 {
		r.run(1)
		worst = max(worst, r.Stats().Spent)
	}
	if limit := usual + servo.Slack + servo.WireTime(14+11+83+20, bitsPerByte, r.rate); worst > limit {
		t.Errorf("worst cycle: got %v, want %v", worst, limit)
	}
	if asked := r.Stats().Timeouts - before; asked < 15 || asked > 20 {
		t.Errorf("questions to 5 lost servos in 200 cycles: got %d, want each every fiftieth", asked)
	}
	for _, s := range r.servos {
		s.dead = false
	}
	r.run(60)
	for i := range r.servos {
		if err := r.State(i).Err; err != nil {
			t.Errorf("servo %d: got %v, want it back within 60 cycles", i, err)
		}
	}
}

// TestChainTorqueLimitGone: a 1.0 servo that tripped and was switched on again by a goal has no torque all the same.
func TestChainTorqueLimitGone(t *testing.T) {
	r := driving(t, nil, "ax-12a", "mx-28")
	for i, s := range r.servos {
		s.set("torque_limit", 0)
		r.run(12)
		if !errors.Is(r.Fault(i), servo.ErrLatched) {
			t.Errorf("servo %d: got %v, want %v", i, r.Fault(i), servo.ErrLatched)
		}
	}
}

// TestChainLimitsUnderAlarm: lowering a limit is always right; raising one would free a latched servo.
func TestChainLimitsUnderAlarm(t *testing.T) {
	r := driving(t, nil, "ax-12a")
	s := r.servos[0]
	s.set("shutdown", 0) // the alarm does not take the torque
	r.p.devices[0].fatal = 0
	s.errors = bitOverload
	r.run(3)
	for _, c := range []struct {
		share float64
		want  int64
	}{{0.5, 512}, {0.9, 512}, {0.1, 102}} {
		g := atTicks(600)
		g.Limit = c.share
		r.goal(g)
		r.run(2)
		if got := s.get("torque_limit"); got != c.want {
			t.Errorf("limit %g under alarm: got %d, want %d", c.share, got, c.want)
		}
	}
	s.errors = 0
	r.run(2)
	r.goal(atTicks(600))
	r.run(2)
	if got := s.get("torque_limit"); got != 1023 {
		t.Errorf("limit after the alarm: got %d, want 1023", got)
	}
}

func TestChainOpenAsksTwice(t *testing.T) {
	r := newRig(t, nil, "xm430-w350")
	r.servos[0].bad = 1
	if err := r.Open(); err != nil {
		t.Errorf("open: got %v", err)
	}
}

func TestChainGoesOnAfterUnheardNarrowServo(t *testing.T) {
	r := newRig(t, nil, "xm430-w350")
	s := r.servos[0]
	s.noWide = true
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	r.run(2)
	r.goal(atTicks(600))
	r.run(20)
	s.mute = true
	r.run(10)
	s.mute = false
	s.power()
	r.run(60)
	if !errors.Is(r.Fault(0), servo.ErrPowerLost) || r.State(0).Err != nil {
		t.Errorf("power lost unheard: got %v, %v", r.Fault(0), r.State(0).Err)
	}
}

// TestChainUnpluggedAnywhere pulls the adapter out at every single write of a life with all kinds of exchanges: each
// time the chain says so once, goes on saying so, and closes the line once.
func TestChainUnpluggedAnywhere(t *testing.T) {
	life := func(r *rig) (err error) {
		step := func(e error) {
			if err == nil {
				err = e
			}
		}
		step(r.Open())
		for _, mode := range []hal.Mode{hal.NoMode, hal.PositionMode, hal.VelocityMode, hal.DutyMode} {
			for range 5 {
				r.goal(servo.Goal{Enable: mode != hal.NoMode, Mode: mode, Position: 600, Limit: 1})
				step(r.Send())
				step(r.Receive())
			}
		}
		r.servos[0].mute = true
		for range 5 {
			step(r.Send())
			step(r.Receive())
		}
		step(r.ClearAlarm(1))
		step(errors.Join(r.Halt()[1:]...))
		return err
	}
	for _, names := range [][]string{{"xm430-w350", "xl-320", "xl430-w250"}, {"ax-12a", "mx-28", "mx-28"}} {
		for k := 1; ; k++ {
			r := newRig(t, nil, names...)
			r.last = k
			err := life(r)
			if !r.fakeBus.gone {
				if k < 50 || err != nil {
					t.Errorf("%s: undisturbed life: got %d writes, %v", names[0], k, err)
				}
				break
			}
			if hal.KindOf(err) != hal.Absent || !errors.Is(err, servo.ErrDisconnected) {
				t.Errorf("%s: unplugged at write %d: got %v, want %v", names[0], k, err, servo.ErrDisconnected)
			}
			if err := r.GenericChain.Close(); err != nil || r.closed != 1 {
				t.Errorf("%s: unplugged at write %d: close: got %v, closed %d times", names[0], k, err, r.closed)
			}
		}
	}
}

// TestChainIDZero: errors name id 0, which hal.Error does not print by itself.
func TestChainIDZero(t *testing.T) {
	line := servotest.NewPlayback(1000000, servotest.Turn{Any: true}, servotest.Turn{Any: true})
	c := NewChain(servo.ChainConfig{Name: "arm", Line: line,
		Servos: []servo.ServoConfig{{ID: 0, Model: ModelByName("ax-12a")}}})
	if err := c.Open(); !containsText(err, "id 0") || hal.KindOf(err) != hal.Absent {
		t.Errorf("got %v, want id 0 named as absent", err)
	}
}

// slowHost is a line whose process is stopped for 50 ms after each write; the answer waits in the kernel.
type slowHost struct{ *servotest.Playback }

func (h slowHost) Write(p []byte) (int, error) {
	n, err := h.Playback.Write(p)
	h.Pass(50 * time.Millisecond)
	return n, err
}

func TestLinkLooksOnceMoreAfterTheDeadline(t *testing.T) {
	turns, err := servotest.Parse(`
> FF FF FD 00 01 07 00 02 84 00 04 00 1D 15
< FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0
`)
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(slowHost{servotest.NewPlayback(1000000, turns...)}, 2)
	if p, err := c.Read(1, 132, 4); err != nil || p[0] != 0xA6 {
		t.Errorf("got % X, %v, want the answer that lay there", p, err)
	}
}

// TestChainLives takes one servo of each model through its modes and a halt.
func TestChainLives(t *testing.T) {
	for _, m := range Models() {
		r := openedRig(t, nil, m.Name)
		s := r.servos[0]
		s.set("present_position", int64(m.Centre))
		r.run(3)
		for mode, code := range m.Modes {
			if code < 0 {
				continue
			}
			r.goal(servo.Goal{Enable: true, Mode: hal.Mode(mode), Position: m.Centre + 10, Velocity: 1, Effort: 0.1,
				Duty: 0.1, Limit: 1})
			r.run(8)
			if s.get("torque_enable") != 1 || !r.State(0).Torque || r.Fault(0) != nil {
				t.Errorf("%s: %v: got torque %d, %v", m.Name, hal.Mode(mode), s.get("torque_enable"), r.Fault(0))
			}
		}
		if faults := r.Halt(); faults[0] != nil || s.get("torque_enable") != 0 {
			t.Errorf("%s: halt: got %v", m.Name, faults[0])
		}
		if st := r.Stats(); st.Timeouts+st.BadChecksums+st.Garbage+st.Fallbacks != 0 {
			t.Errorf("%s: stats: got %+v, want no trouble", m.Name, st)
		}
	}
}

// A cycle of 20 servos on a fake bus at 1 Mbaud. The bound is its bytes, a sync write of 4 and a fast sync read of 10:
// 4.36 ms; ratio is what of a cycle's virtual time they are, long reads in turn included.
func BenchmarkChainCycle20(b *testing.B) {
	bus := newFakeBus(1000000, models(20, "xm430-w350")...)
	cfg := servo.ChainConfig{Name: "arm", Line: bus}
	for _, s := range bus.servos {
		cfg.Servos = append(cfg.Servos, servo.ServoConfig{ID: s.id, Model: s.m})
	}
	c := NewChain(cfg)
	if err := c.Open(); err != nil {
		b.Fatal(err)
	}
	bus.logging = false
	for i := range bus.servos {
		c.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 2048, Limit: 1})
	}
	b.ReportAllocs()
	start := bus.now
	for b.Loop() {
		c.Send()
		c.Receive()
	}
	cycles := float64(b.N)
	b.ReportMetric(cycles/(bus.now-start).Seconds(), "cycles/virtual-s")
	b.ReportMetric(4.36e-3*cycles/(bus.now-start).Seconds(), "ratio")
}

// TestPingLateReply: a reply that the adapter held back is no second servo; a second servo is one.
func TestPingLateReply(t *testing.T) {
	for _, model := range []string{"xm430-w350", "ax-12a"} {
		b := newFakeBus(1_000_000, model)
		c := NewClient(b, b.proto)
		b.late = true
		if _, err := c.Ping(1); hal.KindOf(err) != hal.Timeout {
			t.Errorf("%s: a reply that is held back: got %v, want a timeout", model, err)
		}
		if f, err := c.Ping(1); err != nil || f.Answers != 1 {
			t.Errorf("%s: the late reply and its own: got %+v, %v, want one servo", model, f, err)
		}
		b.servos[0].twin = true
		if _, err := c.Ping(1); !errors.Is(err, errTwice) || !strings.Contains(err.Error(), "2 servos have this id") {
			t.Errorf("%s: two servos: got %v", model, err)
		}
	}
}
