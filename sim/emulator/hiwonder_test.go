package emulator_test

import (
	"testing"
	"time"

	emuhiwonder "github.com/halyard-robotics/halyard/internal/emulator/hiwonder"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

func newHiwonder(t testing.TB, id int, presets ...any) *emulator.Servo {
	t.Helper()
	s := emuhiwonder.New(hiwonder.ModelByName("lx-16a"), id, light(t, "lx-16a"), emulator.GroundTruth{})
	preset(t, s, presets...)
	return s
}

// slowRig is a bus at 115200 baud.
func slowRig(t testing.TB, timing emulator.Timing, servos ...*emulator.Servo) *rig {
	b := emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: hiwonder.Baud, Timing: timing}, servos...)
	return &rig{t, b, b.Line(), servos}
}

// Known-good bytes of hardware.md, section 3.1, asked of an emulated servo.
func TestHiwonderVectors(t *testing.T) {
	r := slowRig(t, emulator.Timing{}, newHiwonder(t, 1))
	for _, c := range []struct{ name, request, answer string }{
		{"position", "55 55 01 03 1C DF", "55 55 01 05 1C F4 01 E8"},
		{"volts", "55 55 01 03 1B E0", "55 55 01 05 1B E8 1C DA"},
		{"temperature", "55 55 01 03 1A E1", "55 55 01 04 1A 19 C7"},
		{"id of a lone servo", "55 55 FE 03 0E F0", "55 55 01 04 0E 01 EB"},
		{"move", "55 55 01 07 01 F4 01 E8 03 16", ""},
		{"stop", "55 55 01 03 0C EF", ""},
		{"motor mode", "55 55 01 07 1D 01 00 F4 01 E4", ""},
		{"load", "55 55 01 04 1F 01 DA", ""},
		{"offset", "55 55 01 04 11 F6 F3", ""},
		{"offset read", "55 55 01 03 13 E8", "55 55 01 04 13 F6 F1"},
		{"another id", "55 55 02 03 1C DE", ""},
		{"bad checksum", "55 55 01 03 1C DE", ""},
	} {
		t.Run(c.name, func(t *testing.T) { r.TB = t; r.want(c.request, c.answer) })
	}
	r.TB = t
	r.servos[0].Actuator().Temperature = 30
	r.want("55 55 01 03 1A E1", "55 55 01 04 1A 1E C2")
	for name, want := range map[string]int64{"goal_pwm": 500, "motor_mode": 1, "torque_enable": 1, "angle_offset": -10,
		"present_position": 490} {
		if got := r.register(0, name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	// An offset that was not saved is gone with the power.
	r.bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: 1, P: 1, For: 10 * time.Millisecond})
	r.pass(20 * time.Millisecond)
	if got := r.register(0, "angle_offset"); got != 0 {
		t.Errorf("offset after a power loss: got %d, want 0", got)
	}
}

func TestHiwonderMoveWaitsForStart(t *testing.T) {
	r := slowRig(t, emulator.Timing{}, newHiwonder(t, 1, "torque_enable", 1))
	r.ask("55 55 01 07 07 58 02 00 00 96") // 600 at once, when told
	r.pass(300 * time.Millisecond)
	if got := r.register(0, "present_position"); got != 500 {
		t.Errorf("before start: got %d, want 500", got)
	}
	r.ask("55 55 FE 03 0B F3")
	r.pass(500 * time.Millisecond)
	if got := r.register(0, "present_position"); got < 590 || got > 610 {
		t.Errorf("after start: got %d, want near 600", got)
	}
}

func openHiwonder(t *testing.T, model string, n int) *rostered {
	t.Helper()
	var servos []*emulator.Servo
	// At 115200 baud a cycle of six servos is longer than the period of the other tests.
	cfg := servo.ChainConfig{Name: "bench", Period: 2 * period}
	for id := 1; id <= n; id++ {
		servos = append(servos, newHiwonder(t, id))
		cfg.Servos = append(cfg.Servos, servo.ServoConfig{ID: byte(id), Model: hiwonder.ModelByName(model)})
	}
	r := slowRig(t, emulator.Timing{Reply: emulator.DefaultReply}, servos...)
	cfg.Line, cfg.Reopen = r.line, r.bus.Open
	c := hiwonder.NewChain(cfg)
	t.Cleanup(func() { c.Close() })
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	return &rostered{rig: r, Chain: c, stats: c.Stats, fault: c.Fault, close: c.Close}
}
