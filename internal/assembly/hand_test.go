package assembly_test

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// bench is an emulated SO-101 on a bench, whose time passes when a test says so.
func bench(t *testing.T) (*assembly.EmulatedWorld, func(time.Duration)) {
	t.Helper()
	c, err := configs.Load("so101", configs.Options{Body: "emulated"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Resolve(c, builtin.Catalog())
	if err != nil {
		t.Fatal(err)
	}
	w, err := assembly.EmulateAll(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Devices.Close() })
	return w, func(d time.Duration) {
		for range d / (2 * time.Millisecond) {
			w.Pass(2 * time.Millisecond)
		}
	}
}

func do(t *testing.T, w *assembly.EmulatedWorld, order string) assembly.HandAnswer {
	t.Helper()
	a := w.Hand(order)
	if a.Error != "" {
		t.Errorf("%s: %s", order, a.Error)
	}
	return a
}

// seen is a joint as the eye sees it.
func seen(t *testing.T, w *assembly.EmulatedWorld, joint string) assembly.HandJoint {
	t.Helper()
	for _, j := range do(t, w, "look").Joints {
		if strings.HasSuffix(j.Joint, "/"+joint) {
			return j
		}
	}
	t.Fatalf("no joint %s", joint)
	return assembly.HandJoint{}
}

// A person calibrates an arm by hand: turns a joint to both ends, holds it, lets it go, and reads the ticks.
func TestHand(t *testing.T) {
	w, pass := bench(t)
	pass(20 * time.Millisecond)
	do(t, w, "move elbow_flex 0.5 0.2")
	pass(100 * time.Millisecond)
	if j := seen(t, w, "elbow_flex"); j.Hand != "moves" || float64(j.Position) < 0.05 || float64(j.Position) > 0.45 {
		t.Errorf("half way: got %+v", j)
	}
	pass(300 * time.Millisecond)
	j := seen(t, w, "elbow_flex")
	if j.Hand != "holds" || math.Abs(float64(j.Position)-0.5) > 0.01 || j.Torque ||
		math.Abs(float64(j.Ticks)-(2048+0.5*4096/(2*math.Pi))) > 15 {
		t.Errorf("held: got %+v", j)
	}
	do(t, w, "move elbow_flex 99")
	pass(time.Second)
	if far := seen(t, w, "elbow_flex"); float64(far.Position) > 2 || far.Ticks <= j.Ticks {
		t.Errorf("at its stop: got %+v", far)
	}
	do(t, w, "release elbow_flex")
	do(t, w, "push shoulder_pan -0.3 0.1")
	pass(50 * time.Millisecond)
	if j := seen(t, w, "shoulder_pan"); j.Hand != "moves" {
		t.Errorf("pushed: got %+v", j)
	}
	pass(300 * time.Millisecond)
	if j := seen(t, w, "shoulder_pan"); j.Hand != "" || float64(j.Position) > -0.2 {
		t.Errorf("let go: got %+v", j)
	}
	do(t, w, "hold wrist_roll")
	do(t, w, "release all")
	pass(10 * time.Millisecond)
	if j := seen(t, w, "wrist_roll"); j.Hand != "" {
		t.Errorf("all let go: got %+v", j)
	}
	do(t, w, "unplug gripper")
	if j := seen(t, w, "gripper"); j.Plugged {
		t.Errorf("unplugged: got %+v", j)
	}
	do(t, w, "fault slow bus by=1ms")
	do(t, w, "plug gripper")
	if j := seen(t, w, "gripper"); !j.Plugged {
		t.Errorf("plugged: got %+v", j)
	}
	do(t, w, "heal")
	if list := do(t, w, "registers gripper").Registers; len(list) < 30 {
		t.Errorf("registers: got %d", len(list))
	}
	for order, want := range map[string]string{
		"move elbow_flx 0.1": `did you mean "elbow_flex"?`, "move elbow_flex far": "want RAD [SECONDS]",
		"move elbow_flex 0.1 -1": "want RAD [SECONDS]",
		"throw elbow_flex":       "want an order", "look here": "halyard hand DIR lists them",
		"fault off servo 77": "no emulated servo has id 77",
	} {
		if a := w.Hand(order); !strings.Contains(a.Error, want) {
			t.Errorf("%s: got %q, want %q", order, a.Error, want)
		}
	}
}

// What a tool has written into the EEPROM is there at the next start, and nothing else is.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	w, _ := bench(t)
	s := w.Bus("arm").Servos()[2]
	if !s.Preset("homing_offset", 77) || !s.Preset("goal_position", 1234) {
		t.Fatal("preset")
	}
	written := map[string][]byte{}
	if err := w.Save(dir, written); err != nil {
		t.Fatal(err)
	}
	next, _ := bench(t)
	if err := next.Restore(dir); err != nil {
		t.Fatal(err)
	}
	s = next.Bus("arm").Servos()[2]
	if v, _ := s.Register("homing_offset"); v != 77 {
		t.Errorf("EEPROM: got %d, want 77", v)
	}
	if v, _ := s.Register("goal_position"); v == 1234 {
		t.Error("RAM was kept")
	}
	if v, _ := next.Bus("arm").Servos()[1].Register("homing_offset"); v != 0 {
		t.Errorf("another servo: got %d", v)
	}
	// What has not changed is not written again; what cannot be read is an error.
	file := dir + "/arm.json"
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := w.Save(dir, written); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the same was written again")
	}
	if err := os.WriteFile(file, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := next.Restore(dir); err == nil {
		t.Error("a broken file: no error")
	}
}
