package emulator_test

import (
	"testing"
	"time"

	emukondo "github.com/halyard-robotics/halyard/internal/emulator/kondo"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

func newKondo(t testing.TB, id int, presets ...any) *emulator.Servo {
	t.Helper()
	s := emukondo.New(kondo.ModelByName("krs-2552"), id, light(t, "krs-2552"), emulator.GroundTruth{})
	preset(t, s, presets...)
	return s
}

func kondoRig(t testing.TB, timing emulator.Timing, servos ...*emulator.Servo) *rig {
	b := emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: 1250000, Timing: timing}, servos...)
	return &rig{t, b, b.Line(), servos}
}

func TestKondoCommands(t *testing.T) {
	r := kondoRig(t, emulator.Timing{}, newKondo(t, 3))
	for _, c := range []struct{ name, request, answer string }{
		{"free", "83 00 00", "03 3A 4C"},
		{"to 8000", "83 3E 40", "03 3A 4C"},
		{"read stretch", "A3 01", "23 01 3C"},
		{"write speed", "C3 02 40", "43 02 40"},
		{"read speed", "A3 02", "23 02 40"},
		{"read current", "A3 03", "23 03 00"},
		{"no such parameter", "A3 09", ""},
		{"id", "FF 00 00 00", "E3"},
		{"another id", "84 00 00", ""},
		{"half a command, then a whole", "83 3E 83 00 00", "03 3A 4C"},
		{"set id", "E5 01 01 01", "E5"},
		{"the new one", "85 00 00", "05 3A 4C"},
	} {
		t.Run(c.name, func(t *testing.T) { r.TB = t; r.want(c.request, c.answer) })
	}
}

// Three bytes of eleven bits each way.
func TestKondoWireTime(t *testing.T) {
	r := kondoRig(t, emulator.Timing{}, newKondo(t, 0))
	start := r.line.Now()
	r.line.Write([]byte{0x80, 0, 0})
	var b [3]byte
	for n := 0; n < 3; {
		k, err := r.line.Read(b[n:], time.Second)
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	if got, want := r.line.Now()-start, 66*time.Second/1250000; got != want {
		t.Errorf("an exchange: got %v, want %v", got, want)
	}
}

func openKondo(t *testing.T, model string, n int) *rostered {
	t.Helper()
	var servos []*emulator.Servo
	cfg := servo.ChainConfig{Name: "bench", Period: period}
	for id := 1; id <= n; id++ {
		servos = append(servos, newKondo(t, id))
		cfg.Servos = append(cfg.Servos, servo.ServoConfig{ID: byte(id), Model: kondo.ModelByName(model)})
	}
	r := kondoRig(t, emulator.Timing{Reply: emulator.DefaultReply}, servos...)
	cfg.Line, cfg.Reopen = r.line, r.bus.Open
	c := kondo.NewChain(cfg)
	t.Cleanup(func() { c.Close() })
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	return &rostered{rig: r, Chain: c, stats: c.Stats, fault: c.Fault, close: c.Close}
}
