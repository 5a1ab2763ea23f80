package dynamixel

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// driving is an opened rig whose servos have torque and follow goal 600.
func driving(t *testing.T, change func(*servo.ChainConfig), models ...string) *rig {
	t.Helper()
	r := openedRig(t, change, models...)
	r.run(2)
	r.goal(atTicks(600))
	r.run(20)
	for i, s := range r.servos {
		if s.get("torque_enable") != 1 || s.get("goal_position") != 600 || !r.State(i).Torque {
			t.Fatalf("servo %d: got torque %d, goal %d, want 1, 600", i, s.get("torque_enable"), s.get("goal_position"))
		}
	}
	r.writes = r.writes[:0]
	return r
}

func TestChainSilentServoCostsTwoMilliseconds(t *testing.T) {
	for _, models := range [][]string{
		{"xm430-w350", "xm430-w350", "xm430-w350"}, {"mx-28", "mx-28", "mx-28"}, {"ax-12a", "ax-12a", "ax-12a"},
	} {
		r := driving(t, nil, models...)
		usual := r.Stats().Spent
		r.servos[1].dead = true
		worst, stale := time.Duration(0), 0
		for range 49 {
			r.run(1)
			worst = max(worst, r.Stats().Spent)
			if r.State(0).Err != nil {
				t.Fatalf("%s: servo before the silent one: got %v", models[0], r.State(0).Err)
			}
			if r.State(2).Err != nil {
				stale++
			}
		}
		// One request is left open a cycle at most, and an answer of at most 83 bytes is waited for.
		if limit := usual + servo.Slack + servo.WireTime(110, bitsPerByte, r.rate); worst > limit {
			t.Errorf("%s: worst cycle: got %v, want %v", models[0], worst, limit)
		}
		if stale > 1 {
			t.Errorf("%s: servo behind the silent one: got %d cycles without values, want 1 at most", models[0], stale)
		}
		if err := r.State(1).Err; !errors.Is(err, servo.ErrLost) || hal.KindOf(err) != hal.Timeout ||
			r.State(1).Torque {
			t.Errorf("%s: silent servo: got %v, torque %v", models[0], err, r.State(1).Torque)
		}
		// it is asked each cycle for as long as its answer may be a late one
		if got := r.Stats(); got.Timeouts < 3 || got.Timeouts > 10 {
			t.Errorf("%s: got %d timeouts in 49 cycles, want 3 to 10", models[0], got.Timeouts)
		}
	}
}

func TestChainReturnOfAServo(t *testing.T) {
	for _, c := range []struct {
		name  string
		model string
		power bool // lost its power meanwhile
	}{
		{"unheard", "xm430-w350", false}, {"unheard", "mx-28", false}, {"unheard", "ax-12a", false},
		{"powered again", "xm430-w350", true}, {"powered again", "mx-28", true}, {"powered again", "ax-12a", true},
	} {
		setting := map[string]string{"xm430-w350": "position_p_gain", "mx-28": "punch", "ax-12a": "punch"}[c.model]
		r := driving(t, func(cfg *servo.ChainConfig) {
			cfg.Servos[1].Settings = []servo.Setting{{Register: setting, Value: 40}}
		}, c.model, c.model)
		s := r.servos[1]
		s.dead = c.power
		s.mute = true
		r.run(10)
		if c.power {
			s.power()
		}
		s.mute = false
		s.set("present_position", 650)
		r.run(60)
		if err := r.State(1).Err; err != nil || r.State(1).Position != 650 {
			t.Errorf("%s %s: back: got %v at %g, want 650", c.model, c.name, err, r.State(1).Position)
		}
		if !c.power {
			if !r.State(1).Torque || r.Fault(1) != nil || s.get("goal_position") != 600 {
				t.Errorf("%s %s: got torque %v, %v, goal %d, want it to go on", c.model, c.name, r.State(1).Torque,
					r.Fault(1), s.get("goal_position"))
			}
			continue
		}
		// No torque and no goal until it is enabled again; then settings, the present position, torque.
		if r.State(1).Torque || !errors.Is(r.Fault(1), servo.ErrPowerLost) || s.get("torque_enable") != 0 {
			t.Errorf("%s %s: got torque %v, %v, want none", c.model, c.name, r.State(1).Torque, r.Fault(1))
		}
		r.SetGoal(1, servo.Goal{})
		r.run(2)
		r.SetGoal(1, atTicks(700))
		r.Send()
		if got := s.get("goal_position"); got != 650 || s.get("torque_enable") != 1 {
			t.Errorf("%s %s: enabled: got goal %d, torque %d, want 650, 1", c.model, c.name, got,
				s.get("torque_enable"))
		}
		if got := s.get(setting); got != 40 {
			t.Errorf("%s %s: setting: got %d, want 40", c.model, c.name, got)
		}
		r.Receive()
		r.run(2)
		if got := s.get("goal_position"); got != 700 || !r.State(1).Torque {
			t.Errorf("%s %s: going on: got goal %d, torque %v, want 700, true", c.model, c.name, got, r.State(1).Torque)
		}
	}
}

func TestChainBrownOutIsNoticed(t *testing.T) {
	for _, model := range []string{"xm430-w350", "mx-28", "ax-12a"} {
		r := driving(t, nil, model, model)
		r.servos[0].power() // too short for a miss
		r.run(12)
		if !errors.Is(r.Fault(0), servo.ErrPowerLost) || r.State(0).Torque || r.Fault(1) != nil {
			t.Errorf("%s: got %v, torque %v and %v, want %v", model, r.Fault(0), r.State(0).Torque, r.Fault(1),
				servo.ErrPowerLost)
		}
	}
}

// A servo whose startup register switches its torque on comes back with it: its watchdog, which does not, tells.
func TestChainBrownOutWithTorqueAtStart(t *testing.T) {
	r := driving(t, nil, "xm430-w350", "xm430-w350")
	r.run(12)
	s := r.servos[0]
	s.power()
	s.set("torque_enable", 1)
	s.set("goal_pwm", 885)
	r.run(12)
	if !errors.Is(r.Fault(0), servo.ErrPowerLost) || r.Fault(1) != nil {
		t.Errorf("got %v and %v, want %v", r.Fault(0), r.Fault(1), servo.ErrPowerLost)
	}
}

// A servo that does not take its operating mode says so after three tries; a 1.0 one whose EEPROM is locked as well.
func TestChainRefusedMode(t *testing.T) {
	for model, mode := range map[string]servo.Goal{
		"xm430-w350": {Enable: true, Mode: hal.VelocityMode, Limit: 1},
		"mx-28":      {Enable: true, Mode: hal.VelocityMode, Limit: 1},
	} {
		r := openedRig(t, nil, model, model)
		r.run(2)
		r.servos[0].fixed = true
		r.goal(mode)
		r.run(2)
		if r.Fault(0) != nil {
			t.Errorf("%s: after two tries: got %v", model, r.Fault(0))
		}
		r.run(6)
		if err := r.Fault(0); err == nil || !strings.Contains(err.Error(), "j1") ||
			!strings.Contains(err.Error(), ": got ") {
			t.Errorf("%s: got %v", model, err)
		}
		if r.Fault(1) != nil || !r.State(1).Torque {
			t.Errorf("%s: the other: got %v, torque %v", model, r.Fault(1), r.State(1).Torque)
		}
		r.servos[0].fixed = false
		r.SetGoal(0, servo.Goal{})
		r.run(2)
		r.SetGoal(0, mode)
		r.run(6)
		if r.Fault(0) != nil || !r.State(0).Torque {
			t.Errorf("%s: enabled again: got %v, torque %v", model, r.Fault(0), r.State(0).Torque)
		}
	}
}

// A servo outside its position limits gets no torque: it would jump to the nearer limit.
func TestChainOutsideOfItsLimits(t *testing.T) {
	for model, limit := range map[string]string{"xm430-w350": "min_position", "xl430-w250": "min_position",
		"ax-12a": "cw_angle_limit"} {
		r := newRig(t, nil, model, model)
		s := r.servos[0]
		s.set(limit, 400)
		s.set("present_position", 200)
		if err := r.Open(); err != nil {
			t.Fatal(err)
		}
		r.run(2)
		r.goal(atTicks(500))
		r.run(8)
		if !errors.Is(r.Fault(0), servo.ErrOutOfLimits) || s.get("torque_enable") != 0 || !r.State(1).Torque {
			t.Errorf("%s: got %v, torque %d, the other's %v", model, r.Fault(0), s.get("torque_enable"),
				r.State(1).Torque)
		}
		s.set("present_position", 410)
		r.SetGoal(0, servo.Goal{})
		r.run(3)
		r.SetGoal(0, atTicks(500))
		r.run(6)
		if r.Fault(0) != nil || s.get("goal_position") != 500 || !r.State(0).Torque {
			t.Errorf("%s: turned back: got %v, goal %d", model, r.Fault(0), s.get("goal_position"))
		}
	}
}

func TestChainLostTorquePacketIsRepeated(t *testing.T) {
	r := openedRig(t, nil, "xm430-w350", "xm430-w350")
	r.run(2)
	r.goal(atTicks(600))
	r.servos[0].dead = true
	r.Send() // does not reach servo 1
	r.servos[0].dead = false
	r.Receive()
	r.run(3)
	if got := r.servos[0].get("torque_enable"); got != 1 || !r.State(0).Torque {
		t.Errorf("torque: got %d, want 1: %v", got, r.Fault(0))
	}
}

func TestChainFallsBackForOneServoAndTriesAgain(t *testing.T) {
	r := driving(t, nil, "xm430-w350", "xm430-w350", "xm430-w350")
	r.servos[1].noFast = true
	r.run(2)
	if r.Stats().Fallbacks != 0 {
		t.Errorf("after one miss: got %d fallbacks, want 0", r.Stats().Fallbacks)
	}
	r.run(2)
	r.ops()
	r.run(1)
	if got := r.ops(); len(got) != 3 || !got[1].isFast() || got[2] != SyncRead {
		t.Errorf("with an old firmware: got %v, want fast for two and sync for one", got)
	}
	if r.Stats().Fallbacks != 1 {
		t.Errorf("fallbacks: got %d, want 1", r.Stats().Fallbacks)
	}
	for range 40 {
		r.run(1)
		for i := range r.servos {
			if err := r.State(i).Err; err != nil {
				t.Fatalf("servo %d: got %v", i, err)
			}
		}
	}
	// New firmware: it is back among the fast ones before long.
	r.servos[1].noFast = false
	r.run(120)
	r.ops()
	r.run(1)
	if got := r.ops(); len(got) != 2 || !got[1].isFast() {
		t.Errorf("with new firmware: got %v, want one fast read", got)
	}
}

func TestChainRefusedLongRead(t *testing.T) {
	r := newRig(t, nil, "xm430-w350", "xm430-w350")
	r.servos[1].noWide = true
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	r.run(2)
	r.goal(atTicks(600))
	r.run(40)
	if !r.State(1).Torque || r.State(1).Err != nil || r.State(0).Err != nil {
		t.Errorf("torque: got %v, %v, want it seen apart", r.State(1).Torque, r.State(1).Err)
	}
	r.servos[1].set("bus_watchdog", -1)
	r.run(20)
	if !errors.Is(r.Fault(1), errTripped) {
		t.Errorf("watchdog: got %v, want %v", r.Fault(1), errTripped)
	}
	r.SetGoal(1, servo.Goal{})
	r.run(2)
	r.goal(atTicks(600))
	r.run(20)
	r.servos[1].set("torque_enable", 0)
	r.run(20)
	if !errors.Is(r.Fault(1), servo.ErrPowerLost) {
		t.Errorf("torque gone: got %v, want %v", r.Fault(1), servo.ErrPowerLost)
	}
}

func TestChainBadChecksum(t *testing.T) {
	for _, model := range []string{"xm430-w350", "mx-28", "ax-12a"} {
		r := driving(t, nil, model, model, model)
		r.servos[1].bad = 1
		r.run(1)
		if err := r.State(1).Err; !errors.Is(err, servo.ErrCorrupt) || hal.KindOf(err) != hal.BusFault ||
			r.State(0).Err != nil {
			t.Errorf("%s: got %v, want %v; first servo %v", model, err, servo.ErrCorrupt, r.State(0).Err)
		}
		if r.Stats().BadChecksums != 1 {
			t.Errorf("%s: bad checksums: got %d, want 1", model, r.Stats().BadChecksums)
		}
		r.run(1)
		for i := range r.servos {
			if err := r.State(i).Err; err != nil {
				t.Errorf("%s: servo %d in the next cycle: got %v", model, i, err)
			}
		}
	}
}

func TestChainAlarms(t *testing.T) {
	for _, c := range []struct {
		model string
		trip  func(s *fakeServo)
	}{
		{"ax-12a", func(s *fakeServo) { s.errors = 0x20; s.set("torque_limit", 0); s.set("torque_enable", 0) }},
		{"mx-28", func(s *fakeServo) { s.errors = 0x20; s.set("torque_limit", 0); s.set("torque_enable", 0) }},
		{"xm430-w350", func(s *fakeServo) {
			s.errors = alertBit
			s.set("hardware_error", 0x20)
			s.set("torque_enable", 0)
		}},
	} {
		r := driving(t, nil, c.model, c.model)
		s := r.servos[0]
		c.trip(s)
		r.run(3)
		if r.State(0).Alarm != servo.AlarmOverload || r.State(0).Torque || !errors.Is(r.Fault(0), servo.ErrLatched) {
			t.Errorf("%s: got %v, torque %v, %v, want a latched overload", c.model, r.State(0).Alarm, r.State(0).Torque,
				r.Fault(0))
		}
		// Enabling again does not help, nor does it clear anything.
		enable := func() {
			r.SetGoal(0, servo.Goal{})
			r.run(2)
			r.SetGoal(0, atTicks(600))
			r.run(3)
		}
		enable()
		if s.get("torque_enable") != 0 || !errors.Is(r.Fault(0), servo.ErrLatched) {
			t.Errorf("%s: enabled while latched: got torque %d, %v", c.model, s.get("torque_enable"), r.Fault(0))
		}
		for k := range servo.MaxClears {
			if err := r.ClearAlarm(0); err != nil {
				t.Fatalf("%s: clear %d: %v", c.model, k, err)
			}
		}
		if err := r.ClearAlarm(0); hal.KindOf(err) != hal.Unsafe {
			t.Errorf("%s: clear too often: got %v, want %v", c.model, err, hal.Unsafe)
		}
		s.errors = 0
		r.run(80)
		if s.get("torque_enable") != 0 {
			t.Errorf("%s: cleared: got torque, want none before it is enabled", c.model)
		}
		enable()
		if s.get("torque_enable") != 1 || r.Fault(0) != nil || r.State(0).Alarm != 0 {
			t.Errorf("%s: enabled after clearing: got torque %d, %v, %v", c.model, s.get("torque_enable"), r.Fault(0),
				r.State(0).Alarm)
		}
		r.now += servo.ClearWindow
		if err := r.ClearAlarm(0); err != nil {
			t.Errorf("%s: clear five minutes later: got %v", c.model, err)
		}
	}
}

func TestChainOpenReportsAll(t *testing.T) {
	r := newRig(t, nil, "xm430-w350", "xm430-w350", "xm430-w350", "xm430-w350")
	r.servos[0].dead = true
	r.servos[1].m = ModelByName("xm430-w210")
	r.servos[2].bad = 9
	err := r.Open()
	for _, want := range []string{
		`bus "arm": id 1: joint "j1": open: no answer, want a xm430-w350`,
		`bus "arm": id 2: joint "j2": open: got xm430-w210, want xm430-w350`,
		`bus "arm": id 3: joint "j3": ping: answer mangled`,
	} {
		if !containsText(err, want) {
			t.Errorf("open: got %s, want %s", joined(err), want)
		}
	}
	if containsText(err, "id 4") {
		t.Errorf("open: got %s, want nothing of id 4", joined(err))
	}
	// The rest runs; the missing servo joins when it appears, the wrong one is left alone.
	r.servos[0].dead, r.servos[2].bad = false, 0
	r.goal(atTicks(600))
	r.run(150)
	for i, want := range []int64{0, 0, 1, 1} {
		if got := r.servos[i].get("torque_enable"); i != 0 && got != want {
			t.Errorf("servo %d: torque: got %d, want %d", i, got, want)
		}
	}
	if faults := r.Halt(); faults[0] != nil || !containsText(faults[1], "not configured") || faults[3] != nil {
		t.Errorf("halt: got %v, want only the wrong model left out", faults)
	}
	if r.State(0).Err != nil || r.State(1).Err == nil {
		t.Errorf("states: got %v and %v, want the first good", r.State(0).Err, r.State(1).Err)
	}
}

func TestChainOpenRefusesItsDescription(t *testing.T) {
	b := newFakeBus(1000000, "ax-12a")
	ax, xm := ModelByName("ax-12a"), ModelByName("xm430-w350")
	err := NewChain(servo.ChainConfig{Name: "arm", Line: b, Servos: []servo.ServoConfig{
		{ID: 1, Model: ax}, {ID: 1, Model: ax}, {ID: 2, Model: xm}, {ID: 254, Model: ax}, {ID: 3},
		{ID: 4, Model: ax, Settings: []servo.Setting{{Register: "id", Value: 7},
			{Register: "torque_enable", Value: 1}}},
	}}).Open()
	for _, want := range []string{"id used twice", "got protocol 2 (xm430-w350), want 1", "got id 254", "no model",
		"setting id: not a setting of ax-12a", "setting torque_enable: not a setting of ax-12a"} {
		if !containsText(err, want) {
			t.Errorf("got %s, want %q", joined(err), want)
		}
	}
	if hal.KindOf(err) != hal.Invalid || len(b.writes) != 0 {
		t.Errorf("got kind %v and %d packets, want %v and none", hal.KindOf(err), len(b.writes), hal.Invalid)
	}
	if err := NewChain(servo.ChainConfig{Servos: []servo.ServoConfig{{ID: 1, Model: ax}}}).Open(); hal.KindOf(
		err) != hal.Absent {
		t.Errorf("no line: got %v, want %v", err, hal.Absent)
	}
}

func TestChainWakesAServoThatOnlyPings(t *testing.T) {
	for _, model := range []string{"ax-12a", "xm430-w350"} {
		r := newRig(t, nil, model)
		s := r.servos[0]
		s.set("status_return", 0)
		s.set("torque_enable", 1)
		err := r.Open()
		if err != nil || s.get("status_return") != 2 {
			t.Errorf("%s: got %v, level %d, want 2", model, err, s.get("status_return"))
		}
	}
}

func TestChainHalt(t *testing.T) {
	for _, model := range []string{"xm430-w350", "ax-12a"} {
		r := driving(t, nil, model, model, model)
		r.servos[1].mute = true
		for range 2 {
			faults := r.Halt()
			if len(faults) != 3 || faults[0] != nil || hal.KindOf(faults[1]) != hal.Timeout || faults[2] != nil {
				t.Fatalf("%s: got %v, want a timeout of the second alone", model, faults)
			}
		}
		r.run(5)
		for i, s := range r.servos {
			if s.get("torque_enable") != 0 {
				t.Errorf("%s: servo %d: torque after halt: got on, want off", model, i)
			}
		}
		if !errors.Is(r.Fault(0), servo.ErrHalted) {
			t.Errorf("%s: fault: got %v, want %v", model, r.Fault(0), servo.ErrHalted)
		}
	}
}

func TestChainReplug(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		tries := 0
		r = driving(t, func(cfg *servo.ChainConfig) {
			b := cfg.Line.(*fakeBus)
			cfg.Reopen = func() (servo.Line, error) {
				if tries++; tries < 3 {
					return nil, &hal.Error{Kind: hal.Absent, Err: os.ErrNotExist}
				}
				b.gone = false
				return b, nil
			}
		}, "xm430-w350", "xm430-w350")
		r.fakeBus.gone = true
		if err := r.Receive(); hal.KindOf(err) != hal.Absent || !errors.Is(err, servo.ErrDisconnected) ||
			r.closed != 1 {
			t.Fatalf("unplugged: got %v, closed %d times", err, r.closed)
		}
		if r.State(0).Torque || r.State(0).Err == nil {
			t.Errorf("unplugged: got torque %v, %v", r.State(0).Torque, r.State(0).Err)
		}
		if faults := r.Halt(); hal.KindOf(faults[0]) != hal.Absent || hal.KindOf(faults[1]) != hal.Absent {
			t.Errorf("halt without a line: got %v", faults)
		}
		cycles := 0
		for ; r.Send() != nil; cycles++ {
			if err := r.Receive(); hal.KindOf(err) != hal.Absent {
				t.Fatalf("receive: got %v, want %v", err, hal.Absent)
			}
			synctest.Wait()
			if cycles > 100 {
				t.Fatal("not back after 100 cycles")
			}
		}
		if tries != 3 || cycles < servo.FirstPause+2*servo.FirstPause {
			t.Errorf("back after %d tries in %d cycles, want 3 with growing pauses", tries, cycles)
		}
		r.run(3)
		if err := r.State(0).Err; err != nil || r.Fault(0) == nil || r.Stats().Reopened != 1 {
			t.Errorf("back: got %v, fault %v", err, r.Fault(0))
		}
		r.SetGoal(0, servo.Goal{})
		r.run(2)
		r.servos[0].set("present_position", 333)
		r.run(1)
		r.SetGoal(0, atTicks(333))
		r.run(2)
		if r.servos[0].get("goal_position") != 333 || r.servos[0].get("torque_enable") != 1 || r.Fault(0) != nil {
			t.Errorf("enabled again: got goal %d, %v", r.servos[0].get("goal_position"), r.Fault(0))
		}
		// Close waits for a try under way and closes what it brings.
		r.fakeBus.gone = true
		r.Receive()
		r.Send()
		if err := r.GenericChain.Close(); err != nil || r.closed != 3 {
			t.Errorf("close: got %v, closed %d times, want 3", err, r.closed)
		}
		if err := r.Send(); hal.KindOf(err) != hal.Absent {
			t.Errorf("send after close: got %v", err)
		}
	})
}

// A change of the mode that is not confirmed, as its reply was lost or a stop ended the wait, may have taken place:
// torque does not go on for a joint that has become a wheel, which would turn on and on.
func TestChainModeInDoubt(t *testing.T) {
	for _, x := range []struct {
		model, register string
		mode            hal.Mode
		joint           int64
	}{
		{"ax-12a", "ccw_angle_limit", hal.DutyMode, 1023},
		{"mx-28", "ccw_angle_limit", hal.VelocityMode, 4095},
		{"xm430-w350", "operating_mode", hal.VelocityMode, 5},
	} {
		r := openedRig(t, func(cfg *servo.ChainConfig) { cfg.Servos[0].Velocity = 1 }, x.model)
		s := r.servos[0]
		joint := atTicks(s.m.Units().CentreTicks)
		s.set("present_position", int64(joint.Position))
		r.run(6)
		r.goal(joint)
		r.run(6)
		r.goal(servo.Goal{})
		r.run(6)
		s.hush = s.m.Register(x.register)
		r.goal(servo.Goal{Enable: true, Mode: x.mode, Limit: 1})
		for n := 0; n < 10 && !s.mute; n++ {
			r.run(1)
		}
		if !s.mute || s.get(x.register) == x.joint {
			t.Fatalf("%s: got mode %d, want another", x.model, s.get(x.register))
		}
		s.hush, s.mute = nil, false
		r.goal(servo.Goal{})
		r.run(60)
		r.goal(joint)
		for range 10 {
			r.run(1)
			if s.get("torque_enable") != 0 && s.get(x.register) != x.joint {
				t.Fatalf("%s: torque in mode %d, want %d", x.model, s.get(x.register), x.joint)
			}
		}
		if s.get("torque_enable") == 0 {
			t.Errorf("%s: got no torque: %v", x.model, r.Fault(0))
		}
	}
}

func (o Op) isFast() bool { return o == FastSyncRead || o == FastBulkRead }
