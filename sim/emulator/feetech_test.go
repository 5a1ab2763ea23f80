package emulator_test

import (
	"math"
	"testing"
	"time"

	emufeetech "github.com/halyard-robotics/halyard/internal/emulator/feetech"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// light is an actuator of a model with a light load.
func light(t testing.TB, model string) *actuator.Servo {
	t.Helper()
	spec, ok := actuator.Lookup(model)
	if !ok {
		t.Fatalf("no actuator %q", model)
	}
	act := actuator.NewServo(spec)
	act.Load.Inertia = 1e-4
	return act
}

func newFeetech(t testing.TB, model string, id int, presets ...any) *emulator.Servo {
	t.Helper()
	s := emufeetech.New(feetech.ModelByName(model), id, light(t, model), emulator.GroundTruth{})
	preset(t, s, presets...)
	return s
}

// Known-good bytes of hardware.md, section 2, asked of an emulated servo.
func TestFeetechVectors(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newFeetech(t, "sts3215", 1), newFeetech(t, "sts3215", 2))
	for _, c := range []struct{ name, request, answer string }{
		{"ping", "FF FF 01 02 01 FB", "FF FF 01 02 00 FC"},
		{"model", "FF FF 01 04 02 03 02 F3", "FF FF 01 04 00 09 03 EE"},
		{"position", "FF FF 01 04 02 38 02 BE", "FF FF 01 04 00 00 08 F2"},
		{"unlock", "FF FF 01 04 03 37 00 C0", "FF FF 01 02 00 FC"},
		{"lock", "FF FF 01 04 03 37 01 BF", "FF FF 01 02 00 FC"},
		{"WritePosEx", "FF FF 01 0A 03 29 32 E9 03 00 00 60 09 41", "FF FF 01 02 00 FC"},
		{"sync write", "FF FF FE 12 83 2A 06 01 00 08 00 00 E8 03 02 00 08 00 00 E8 03 53", ""},
		{"wheel speed", "FF FF 01 05 03 2E E8 83 5D", "FF FF 01 02 00 FC"},
		{"sync read", "FF FF FE 06 82 38 08 01 02 36",
			"FF FF 01 0A 00 00 08 00 00 00 00 4A 19 89 FF FF 02 0A 00 00 08 00 00 00 00 4A 19 88"},
		{"no servo with that id", "FF FF 03 02 01 F9", ""},
		{"bad checksum", "FF FF 01 02 01 FA", ""},
	} {
		t.Run(c.name, func(t *testing.T) { r.TB = t; r.want(c.request, c.answer) })
	}
	r.TB = t
	for i, want := range map[string]int64{"goal_velocity": -1000, "goal_acceleration": 50, "goal_position": 2048} {
		if got := r.register(0, i); got != want {
			t.Errorf("%s: got %d, want %d", i, got, want)
		}
	}
	// Broadcasts: the ID of a lone servo, and here is the middle.
	lone := newRig(t, emulator.Timing{}, newFeetech(t, "sts3215", 7))
	lone.want("FF FF FE 04 03 05 01 F4", "")
	if got := lone.register(0, "id"); got != 1 {
		t.Errorf("id: got %d, want 1", got)
	}
	lone.servos[0].Actuator().Reset((1304 - 2048) * 2 * math.Pi / 4096)
	lone.want("FF FF 01 04 02 38 02 BE", "FF FF 01 04 00 18 05 DD")
	lone.servos[0].Actuator().Reset(1000 * 2 * math.Pi / 4096)
	lone.want("FF FF 01 04 03 28 80 4F", "FF FF 01 02 00 FC")
	if got := lone.register(0, "present_position"); got != 2048 || lone.register(0, "homing_offset") != 1000 {
		t.Errorf("middle: got %d with offset %d, want 2048 with 1000", got, lone.register(0, "homing_offset"))
	}
	lone.want("FF FF 01 05 03 1F 64 08 6B", "FF FF 01 02 00 FC")
	if got := lone.register(0, "homing_offset"); got != -100 {
		t.Errorf("offset: got %d, want -100", got)
	}
	// High byte first.
	scs := newRig(t, emulator.Timing{}, newFeetech(t, "scs0009", 1))
	scs.want("FF FF 01 05 03 2A 02 00 CA", "FF FF 01 02 00 FC")
	if got := scs.register(0, "goal_position"); got != 512 {
		t.Errorf("SCS goal: got %d, want 512", got)
	}
	scs.want("FF FF 01 04 02 03 02 F3", "FF FF 01 04 00 05 04 F1")
}

// After a middle command at any shaft angle and in any turn the position reads as 2048, and as half a turn more half a
// turn away.
func TestFeetechMiddleEverywhere(t *testing.T) {
	s := newFeetech(t, "sts3215", 1)
	r := newRig(t, emulator.Timing{}, s)
	place := func(ticks int) { s.Actuator().Reset(float64(ticks-2048) * 2 * math.Pi / 4096) }
	for ticks := -4096; ticks < 2*4096; ticks++ {
		place(ticks)
		r.ask("FF FF 01 04 03 28 80 4F")
		// Half a turn is a tick more than the offset holds.
		if got := r.register(0, "present_position"); got < 2047 || got > 2049 {
			t.Fatalf("at %d: got %d with offset %d, want 2048", ticks, got, r.register(0, "homing_offset"))
		}
		place(ticks + 1024)
		if got := r.register(0, "present_position"); got < 3071 || got > 3073 {
			t.Fatalf("a quarter of a turn from %d: got %d, want 3072", ticks, got)
		}
	}
}

// A register of the EEPROM written while the lock is closed is lost with the power; written while it is open, it stays.
func TestFeetechLock(t *testing.T) {
	r := newRig(t, emulator.Timing{}, newFeetech(t, "sts3215", 1))
	power := func() {
		r.bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: 1, P: 1, For: 10 * time.Millisecond})
		r.pass(20 * time.Millisecond)
	}
	r.ask("FF FF 01 04 03 37 01 BF")
	r.ask("FF FF 01 04 03 21 01 D5") // mode 1
	if got := r.register(0, "operating_mode"); got != 1 {
		t.Errorf("locked: got %d, want the copy in RAM changed", got)
	}
	power()
	if got := r.register(0, "operating_mode"); got != 0 {
		t.Errorf("locked, power lost: got %d, want 0", got)
	}
	r.ask("FF FF 01 04 03 37 00 C0")
	r.ask("FF FF 01 04 03 21 01 D5")
	power()
	if got := r.register(0, "operating_mode"); got != 1 {
		t.Errorf("unlocked, power lost: got %d, want 1", got)
	}
}

func driveFeetech(t testing.TB, model string, n int, timing emulator.Timing,
	change func(*servo.ChainConfig)) *rostered {
	t.Helper()
	var servos []*emulator.Servo
	cfg := servo.ChainConfig{Name: "bench", Period: period}
	for id := 1; id <= n; id++ {
		servos = append(servos, newFeetech(t, model, id))
		cfg.Servos = append(cfg.Servos, servo.ServoConfig{ID: byte(id), Model: feetech.ModelByName(model)})
	}
	r := newRig(t, timing, servos...)
	cfg.Line, cfg.Reopen = r.line, r.bus.Open
	if change != nil {
		change(&cfg)
	}
	c := feetech.NewChain(cfg)
	t.Cleanup(func() { c.Close() })
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	return &rostered{rig: r, Chain: c, stats: c.Stats, fault: c.Fault, close: c.Close}
}

func openFeetech(t *testing.T, model string, n int) *rostered {
	return driveFeetech(t, model, n, emulator.Timing{Reply: emulator.DefaultReply}, nil)
}
