package dynamixel

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// rig is a chain on a fake bus.
type rig struct {
	t *testing.T
	*fakeBus
	*servo.GenericChain
	p *protocol
}

func newRigOn(t *testing.T, b *fakeBus, cfg servo.ChainConfig) *rig {
	p := newChain(cfg)
	return &rig{t, b, p.chain, p}
}

func newRig(t *testing.T, change func(*servo.ChainConfig), models ...string) *rig {
	t.Helper()
	b := newFakeBus(1000000, models...)
	cfg := servo.ChainConfig{Name: "arm", Line: b, Period: 10 * time.Millisecond}
	for _, s := range b.servos {
		cfg.Servos = append(cfg.Servos, servo.ServoConfig{ID: s.id, Model: s.m, Joint: fmt.Sprintf("j%d", s.id)})
	}
	if change != nil {
		change(&cfg)
	}
	return newRigOn(t, b, cfg)
}

// opened is a rig whose Open went well.
func openedRig(t *testing.T, change func(*servo.ChainConfig), models ...string) *rig {
	t.Helper()
	r := newRig(t, change, models...)
	if err := r.Open(); err != nil {
		t.Fatalf("open: %v", err)
	}
	r.writes = r.writes[:0]
	return r
}

// run does n cycles; errors of the line fail the test.
func (r *rig) run(n int) {
	r.t.Helper()
	for range n {
		if err := r.Send(); err != nil {
			r.t.Fatalf("send: %v", err)
		}
		if err := r.Receive(); err != nil {
			r.t.Fatalf("receive: %v", err)
		}
	}
}

func (r *rig) goal(g servo.Goal) {
	for i := range r.servos {
		r.SetGoal(i, g)
	}
}

func atTicks(v float64) servo.Goal {
	return servo.Goal{Enable: true, Mode: hal.PositionMode, Position: v, Limit: 1}
}

func TestChainTorqueComesWithThePresentPosition(t *testing.T) {
	for _, model := range []string{"ax-12a", "mx-28", "xm430-w350", "xl430-w250", "xl-320"} {
		r := openedRig(t, nil, model, model)
		for i, s := range r.servos {
			s.set("present_position", int64(700+10*i))
			s.set("goal_position", 100)
		}
		r.run(1)
		if got := r.State(1).Position; got != 710 {
			t.Errorf("%s: position: got %g, want 710", model, got)
		}
		r.goal(atTicks(512.4))
		r.Send()
		for i := 0; r.servos[0].get("torque_enable") == 0 && i < 5; i++ { // a mode may have to change first
			r.Receive()
			r.Send()
		}
		if s := r.servos[1]; s.get("torque_enable") != 1 || s.get("goal_position") != 710 {
			for i := 0; s.get("torque_enable") == 0 && i < 5; i++ {
				r.Receive()
				r.Send()
			}
			if s.get("torque_enable") != 1 || s.get("goal_position") != 710 {
				t.Errorf("%s: at torque on: got torque %d, goal %d, want 1, 710", model, s.get("torque_enable"),
					s.get("goal_position"))
			}
		}
		r.Receive()
		r.run(4)
		for i, s := range r.servos {
			if s.get("goal_position") != 512 || !r.State(i).Torque || r.Fault(i) != nil {
				t.Errorf("%s: servo %d: got goal %d, torque %v, %v, want 512, true", model, i, s.get("goal_position"),
					r.State(i).Torque, r.Fault(i))
			}
		}
		r.goal(servo.Goal{})
		r.run(4)
		for i, s := range r.servos {
			if s.get("torque_enable") != 0 || r.State(i).Torque {
				t.Errorf("%s: servo %d: torque after disabling: got on, want off", model, i)
			}
		}
		if err := r.GenericChain.Close(); err != nil || r.closed != 1 {
			t.Errorf("%s: close: got %v, closed %d times", model, err, r.closed)
		}
	}
}

func TestChainCycleOnTheWire(t *testing.T) {
	for _, c := range []struct {
		name   string
		models []string
		want   []Op
		bytes  uint64
	}{
		// 14 + 3*5 written; 14 + 3 asked, 8 + 3*(4+10) answered
		{"X", []string{"xm430-w350", "xm430-w350", "xm540-w270"}, []Op{SyncWrite, FastSyncRead}, 29 + 17 + 50},
		// The XL430 has load where the XM430 has current: at the same address.
		{"X mixed", []string{"xm430-w350", "xl430-w250"}, []Op{SyncWrite, FastSyncRead}, 24 + 16 + 36},
		{"X and XL-320", []string{"xm430-w350", "xl-320"}, []Op{BulkWrite, FastSyncRead, SyncRead},
			28 + 15 + 22 + 15 + 17},
		{"MX", []string{"mx-28", "mx-64"}, []Op{SyncWrite, BulkRead}, 18 + 13 + 24},
		{"AX", []string{"ax-12a", "ax-12a"}, []Op{SyncWrite, Read, Read}, 18 + 16 + 24},
		{"AX and MX", []string{"ax-12a", "mx-28", "mx-28"}, []Op{SyncWrite, BulkRead, Read}, 23 + 13 + 24 + 8 + 12},
	} {
		r := openedRig(t, func(cfg *servo.ChainConfig) { cfg.Health = -1 }, c.models...)
		r.run(2)
		r.goal(atTicks(600))
		r.run(20)
		r.ops()
		r.run(1)
		if got := r.ops(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		st := r.Stats()
		if got := st.Sent + st.Received; got != c.bytes || st.Wire != time.Duration(c.bytes)*10*time.Microsecond {
			t.Errorf("%s: got %d bytes in %v, want %d", c.name, got, st.Wire, c.bytes)
		}
		if st.Timeouts+st.BadChecksums+st.Garbage+st.Fallbacks != 0 {
			t.Errorf("%s: stats: got %+v, want no trouble", c.name, st)
		}
	}
}

func TestBoundIsTheSheets(t *testing.T) {
	// hardware.md 7, cycle of sync write 4 and fast sync read 4, D = 0, here with 10 bytes read.
	for _, c := range []struct {
		baud int
		want float64 // ms
	}{{1000000, 4.36}, {4000000, 1.09}} {
		if got := readBytes(servo.FastReads, 10).Bound(20, c.baud, 0).Seconds() * 1e3; math.Abs(got-c.want) > 0.005 {
			t.Errorf("20 servos at %d: got %.3f ms, want %.2f", c.baud, got, c.want)
		}
	}
}

func TestChainStates(t *testing.T) {
	r := openedRig(t, func(cfg *servo.ChainConfig) { cfg.Health = 1 }, "xm430-w350", "xl430-w250")
	s := r.servos[0]
	s.set("present_position", -5)
	s.set("present_velocity", -100)
	s.set("present_current", 200)
	s.set("present_voltage", 118)
	s.set("present_temperature", 41)
	r.servos[1].set("present_load", -500)
	r.run(2)
	st := r.State(0)
	if st.Position != -5 || math.Abs(st.Velocity+2.39808) > 1e-4 || math.Abs(st.Effort-0.538) > 1e-9 ||
		math.Abs(st.Voltage-11.8) > 1e-9 || st.Temperature != 41 || st.Err != nil {
		t.Errorf("state: got %+v", *st)
	}
	if st.Time <= 0 || st.Time > r.now {
		t.Errorf("time: got %v, now %v", st.Time, r.now)
	}
	if got := r.State(1).Effort; got != -0.5 {
		t.Errorf("load: got %g, want -0.5", got)
	}
	if u := r.Units(0); u.Name != "xm430-w350" || !u.Current {
		t.Errorf("units: got %+v", u)
	}
}

// Where the line has no time for more, the position alone is read; a long read tells no velocity either, which would be
// old in the next cycle.
func TestChainPositionOnly(t *testing.T) {
	r := openedRig(t, func(cfg *servo.ChainConfig) { cfg.Health, cfg.PositionOnly = 3, true }, "xm430-w350",
		"xm430-w350")
	r.servos[0].set("present_position", 1234)
	r.servos[0].set("present_velocity", 100)
	r.servos[0].set("present_current", 200)
	r.servos[0].set("present_temperature", 41)
	for range 12 {
		r.run(1)
		if s := r.State(0); s.Err != nil || s.Position != 1234 || !math.IsNaN(s.Velocity) || !math.IsNaN(s.Effort) {
			t.Fatalf("got %+v", *s)
		}
	}
	if s := r.State(0); s.Temperature != 41 {
		t.Errorf("long read: got %g °C, want 41", s.Temperature)
	}
	// Limp: a question of 14 + 2 bytes, an answer of 8 + 2·(4+4).
	r.run(1)
	if s := r.Stats(); s.Sent+s.Received != 16+24 {
		t.Errorf("got %d bytes, want 40", s.Sent+s.Received)
	}
}

func TestChainModesAndLimits(t *testing.T) {
	r := openedRig(t, nil, "xm430-w350")
	s := r.servos[0]
	r.run(1)
	for _, c := range []struct {
		goal  servo.Goal
		mode  int64
		check string
		want  int64
	}{
		{servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 1000, Limit: 0.5}, 5, "goal_current", 597},
		{servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 1, Limit: 1}, 1, "goal_velocity", 42},
		{servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: -99, Limit: 0.1}, 1, "goal_velocity", -350},
		{servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 1, Limit: 0.1}, 1, "goal_pwm", 89},
		{servo.Goal{Enable: true, Mode: hal.TorqueMode, Effort: 1, Limit: 1}, 0, "goal_current", 372},
		{servo.Goal{Enable: true, Mode: hal.TorqueMode, Effort: -9, Limit: 0.1}, 0, "goal_current", -119},
		{servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: -0.5, Limit: 1}, 16, "goal_pwm", -443},
		{servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: math.NaN(), Limit: 1}, 16, "goal_pwm", 0},
		{servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 99999, Limit: 1}, 5, "goal_position", 4095},
		{servo.Goal{Enable: true, Mode: hal.PositionMode, Position: math.NaN(), Limit: 0}, 5, "goal_current", 0},
	} {
		r.goal(c.goal)
		r.run(8)
		if s.get("operating_mode") != c.mode || s.get(c.check) != c.want || s.get("torque_enable") != 1 {
			t.Errorf("%+v: got mode %d, %s %d, torque %d, want %d, %d, 1",
				c.goal, s.get("operating_mode"), c.check, s.get(c.check), s.get("torque_enable"), c.mode, c.want)
		}
	}
}

// TestChainLimitsOfTheOwner: a limit is a share of what the model can do, and the EEPROM's limits cut it.
func TestChainLimitsOfTheOwner(t *testing.T) {
	r := newRig(t, nil, "xm430-w350", "xl430-w250")
	r.servos[0].set("current_limit", 400)
	r.servos[0].set("max_position", 3000)
	r.servos[1].set("pwm_limit", 500)
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	r.run(2)
	for _, c := range []struct {
		share                float64
		current, pwm, stands int64
	}{{0.2, 239, 177, 3000}, {1, 400, 500, 3000}, {math.NaN(), 400, 500, 3000}, {-1, 0, 0, 3000}} {
		g := atTicks(4000)
		g.Limit = c.share
		r.goal(g)
		r.run(8)
		a, b, p := r.servos[0].get("goal_current"), r.servos[1].get("goal_pwm"), r.servos[0].get("goal_position")
		if a != c.current || b != c.pwm || p != c.stands {
			t.Errorf("limit %g: got current %d, pwm %d, goal %d, want %d, %d, %d", c.share, a, b, p, c.current, c.pwm,
				c.stands)
		}
	}
}

func TestChainWheelsByAngleLimits(t *testing.T) {
	r := openedRig(t, nil, "ax-12a", "mx-28")
	r.run(1)
	r.SetGoal(0, servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: -0.5, Limit: 0.5})
	r.SetGoal(1, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 1, Limit: 1})
	r.run(8)
	ax, mx := r.servos[0], r.servos[1]
	if ax.get("ccw_angle_limit") != 0 || ax.get("moving_speed") != -512 || ax.get("torque_limit") != 512 {
		t.Errorf("AX wheel: got limit %d, speed %d, torque limit %d, want 0, -512, 512",
			ax.get("ccw_angle_limit"), ax.get("moving_speed"), ax.get("torque_limit"))
	}
	if mx.get("ccw_angle_limit") != 0 || mx.get("moving_speed") != 84 {
		t.Errorf("MX wheel: got limit %d, speed %d, want 0, 84", mx.get("ccw_angle_limit"), mx.get("moving_speed"))
	}
	r.goal(atTicks(300))
	r.run(8)
	if ax.get("ccw_angle_limit") != 1023 || mx.get("ccw_angle_limit") != 4095 || mx.get("goal_position") != 300 {
		t.Errorf("joints again: got limits %d, %d, goal %d", ax.get("ccw_angle_limit"), mx.get("ccw_angle_limit"),
			mx.get("goal_position"))
	}
	// The AX has no velocity mode: it stays where it stands.
	ax.set("present_position", 444)
	r.run(2) // a leap is believed when it is said twice
	r.SetGoal(0, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 1, Limit: 1})
	r.run(2)
	if got := ax.get("goal_position"); got != 444 {
		t.Errorf("AX told a velocity: got goal %d, want 444", got)
	}
}

func TestChainSettingsProfileAndWatchdog(t *testing.T) {
	r := openedRig(t, func(cfg *servo.ChainConfig) {
		cfg.Servos[0].Velocity, cfg.Servos[0].Acceleration = 2.398, 3.745
		cfg.Servos[0].Settings = []servo.Setting{{Register: "position_p_gain", Value: 500},
			{Register: "profile_velocity", Value: 77}}
		cfg.Watchdog = 100 * time.Millisecond
	}, "xm430-w350", "xm430-w350")
	r.run(1)
	r.goal(atTicks(2000))
	r.run(6)
	s := r.servos[0]
	for name, want := range map[string]int64{"profile_velocity": 77, "profile_acceleration": 10, "position_p_gain": 500,
		"bus_watchdog": 5} {
		if got := s.get(name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	if got := r.servos[1].get("profile_velocity"); got != 0 {
		t.Errorf("without a bound: profile_velocity: got %d, want 0", got)
	}
	// A watchdog whose packet was lost is written again when that is seen.
	r.servos[1].set("bus_watchdog", 0)
	r.p.devices[1].guarded = false
	r.run(12)
	if got := r.servos[1].get("bus_watchdog"); got != 5 || r.Fault(1) != nil {
		t.Errorf("lost watchdog: got %d, %v, want 5", got, r.Fault(1))
	}
	// A tripped watchdog: nothing more is written until Enable has been false.
	s.set("bus_watchdog", -1)
	r.run(12)
	if !errors.Is(r.Fault(0), errTripped) {
		t.Errorf("fault: got %v, want %v", r.Fault(0), errTripped)
	}
	r.SetGoal(0, atTicks(2100))
	r.run(2)
	if got := s.get("goal_position"); got != 2000 {
		t.Errorf("goal after the watchdog tripped: got %d, want 2000", got)
	}
	r.SetGoal(0, servo.Goal{})
	r.run(3)
	r.SetGoal(0, atTicks(2100))
	r.run(4)
	if s.get("bus_watchdog") != 5 || s.get("goal_position") != 2100 || r.Fault(0) != nil {
		t.Errorf("enabled again: got watchdog %d, goal %d, %v, want 5, 2100", s.get("bus_watchdog"),
			s.get("goal_position"), r.Fault(0))
	}
}

func TestChainCycleAllocatesNothing(t *testing.T) {
	for _, models := range [][]string{{"xm430-w350", "xm430-w350", "xl-320"}, {"ax-12a", "mx-28", "mx-64"},
		{"ym070-210-r099", "ym080-230-a051"}} {
		r := openedRig(t, nil, models...)
		r.run(2)
		r.goal(atTicks(600))
		r.run(20)
		r.logging = false
		goal := 600.
		if n := testing.AllocsPerRun(200, func() {
			goal++
			r.goal(servo.Goal{Enable: true, Mode: hal.PositionMode, Position: goal, Limit: goal / 4096})
			r.Send()
			r.Receive()
		}); n != 0 {
			t.Errorf("%v: got %g allocations a cycle, want 0", models, n)
		}
		if r.State(0).Err != nil {
			t.Errorf("%v: state: got %v", models, r.State(0).Err)
		}
	}
}

// joined lists the errors that err joins, as text.
func joined(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", " | ")
}

// containsText reports whether err says text.
func containsText(err error, text string) bool {
	return err != nil && strings.Contains(err.Error(), text)
}
