package emulator_test

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// plant is three XM430 in one bus with one fault on the second.
func plant(t *testing.T, text string) *rig {
	t.Helper()
	r := newRig(t, emulator.Timing{}, newServo(t, "xm430-w350", 1, "return_delay", 0),
		newServo(t, "xm430-w350", 2, "return_delay", 0), newServo(t, "xm430-w350", 3, "return_delay", 0))
	f, err := wire.Parse(text)
	if err == nil {
		err = r.bus.Fault(f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func position(id byte) dynamixel.Instruction {
	return dynamixel.Instruction{ID: id, Op: dynamixel.Read, Addr: 132, Size: 4}
}

// sync reads the positions of 1, 2 and 3 and returns the IDs that answer soundly.
func (r *rig) sync(op dynamixel.Op) string {
	r.Helper()
	in := dynamixel.Instruction{ID: dynamixel.Broadcast, Op: op, Addr: 132, Size: 4,
		Blocks: []dynamixel.Block{{ID: 1}, {ID: 2}, {ID: 3}}}
	r.line.Write(dynamixel.AppendInstruction2(nil, &in))
	got := r.listen(20 * time.Millisecond)
	var ids []byte
	if op == dynamixel.FastSyncRead {
		var parts dynamixel.FastParts
		if parts.Start(got, 1+3*8) {
			for st, ok := parts.Next(4); ok; st, ok = parts.Next(4) {
				ids = append(ids, '0'+st.ID)
			}
		}
		return string(ids)
	}
	parser := dynamixel.NewParser(2, dynamixel.FromServos)
	parser.Feed(got)
	var k dynamixel.Packet
	for parser.Next(&k) {
		ids = append(ids, '0'+k.ID)
	}
	return string(ids)
}

// Effect of each fault of the middle servo on a single read, a sync read and a fast sync read.
func TestFaultsOnTheWire(t *testing.T) {
	for _, x := range []struct {
		fault      string
		alone      bool
		sync, fast string
	}{
		{"stuck servo 2", true, "123", "123"},
		{"off servo 2", false, "1", "1"},
		{"unplug servo 2", false, "1", "1"},
		{"brownout servo 2 for=1s", false, "1", "1"},
		{"intermittent servo 2 p=1", false, "1", "1"},
		{"crc servo 2", false, "13", "1"},
		{"truncate servo 2", false, "1", "1"},
		{"duplicate_id servo 2", false, "13", "1"},
		{"slow servo 2 by=3ms", true, "123", "123"},
		{"off servo 1", true, "", ""},
		{"off servo 3", true, "12", "12"},
		{"off servo 2 from=1s", true, "123", "123"},
	} {
		r := plant(t, x.fault)
		_, ok := r.execute(2, position(2))
		if ok != x.alone || r.sync(dynamixel.SyncRead) != x.sync || r.sync(dynamixel.FastSyncRead) != x.fast {
			t.Errorf("%s: got alone %v, sync %q, fast %q, want %v %q %q", x.fault,
				ok, r.sync(dynamixel.SyncRead), r.sync(dynamixel.FastSyncRead), x.alone, x.sync, x.fast)
		}
		r.bus.ClearFaults()
		if got := r.sync(dynamixel.SyncRead); got != "123" {
			t.Errorf("%s: cleared: got %q, want all", x.fault, got)
		}
	}
	// Firmware that continues after a missing reply.
	r := newRig(t, emulator.Timing{SkipSilent: time.Millisecond}, newServo(t, "xm430-w350", 1),
		newServo(t, "xm430-w350", 3))
	if got := r.sync(dynamixel.SyncRead); got != "13" {
		t.Errorf("skipping: got %q, want 13", got)
	}
}

func TestFaultsOfValues(t *testing.T) {
	read := func(r *rig) int64 {
		st, ok := r.execute(2, position(2))
		if !ok {
			t.Fatal("silent")
		}
		return dynamixel.ModelByName("xm430-w350").Register("present_position").Decode(st.Data)
	}
	r := plant(t, "wrong servo 2 by=-30")
	if got := read(r); got != 2018 {
		t.Errorf("wrong: got %d, want 2018", got)
	}
	r = plant(t, "stuck servo 2 for=1s")
	place(r.servos[1], 3000)
	if got := read(r); got != 2048 {
		t.Errorf("stuck: got %d, want 2048", got)
	}
	if r.pass(time.Second); read(r) != 3000 {
		t.Error("stuck beyond its time")
	}
	r = plant(t, "slipped servo 2 by=300 from=100ms") // after half of its time by half
	r.write(1, "torque_enable", 1)
	r.write(1, "goal_position", 2048)
	if r.pass(145 * time.Millisecond); read(r) < 2048+75 || read(r) > 2048+225 {
		t.Errorf("slips: got %d, want about %d", read(r), 2048+150)
	}
	r.pass(2 * time.Second) // the shaft is back at its goal, the joint at another place
	if a, want := r.servos[1].Actuator(), -300*2*math.Pi/4096; math.Abs(float64(read(r))-2048) > 10 ||
		math.Abs(a.GoalPosition-want) > 1e-9 || math.Abs(a.Position-want) > 0.02 {
		t.Errorf("slipped: got %d, the joint at %.4f rad and its goal at %.4f, want 2048 and %.4f", read(r), a.Position,
			a.GoalPosition, want)
	}
	r = plant(t, "garbage servo 2")
	if a, b := read(r), read(r); a == b {
		t.Errorf("garbage: got %d twice", a)
	}
	r = plant(t, "stale servo 2 by=10ms")
	start := r.line.Now()
	for i := range 40 {
		place(r.servos[1], float64(2048+i))
		r.bus.Advance(time.Millisecond)
	}
	age := float64(r.line.Now()-start-10*time.Millisecond) / 1e6
	r.line.Write(dynamixel.AppendInstruction2(nil, &dynamixel.Instruction{ID: 2, Op: dynamixel.Read, Addr: 132,
		Size: 4}))
	got := r.listen(time.Millisecond)
	if len(got) != 15 {
		t.Fatalf("delayed: got % X", got)
	}
	if p := float64(int(got[9])|int(got[10])<<8) - 2048; p < age-2 || p > age+2 {
		t.Errorf("delayed: got the position of %g ms, want of %g", p, age)
	}
}

func TestSlowIsLate(t *testing.T) {
	for text, want := range map[string]time.Duration{"slow servo 2 by=3ms": 3 * time.Millisecond, "stuck servo 2": 0} {
		r := plant(t, text)
		r.line.Write(dynamixel.AppendInstruction2(nil, &dynamixel.Instruction{ID: 2, Op: dynamixel.Ping}))
		start := r.line.Now()
		if _, err := r.line.Read(make([]byte, 1), time.Second); err != nil {
			t.Fatal(err)
		}
		if got := r.line.Now() - start - 10*time.Microsecond; got != want {
			t.Errorf("%s: first byte after %v, want %v", text, got, want)
		}
	}
}

// The same seed gives the same faults, and about as many as asked for.
func TestFaultsAreSeeded(t *testing.T) {
	run := func() string {
		r := plant(t, "intermittent servo 2 p=0.3")
		var got []byte
		for range 200 {
			_, ok := r.execute(2, dynamixel.Instruction{ID: 2, Op: dynamixel.Ping})
			got = append(got, "10"[map[bool]int{true: 0, false: 1}[ok]])
		}
		return string(got)
	}
	a, b := run(), run()
	if missed := strings.Count(a, "0"); a != b || missed < 40 || missed > 80 {
		t.Errorf("missed %d of 200, equal: %v", missed, a == b)
	}
}

func TestUnplug(t *testing.T) {
	r := plant(t, "unplug bus from=50ms for=100ms")
	ping := unhex(t, "FF FF FD 00 01 03 00 01 19 4E")
	r.pass(5 * time.Millisecond)
	if got := r.ask("FF FF FD 00 01 03 00 01 19 4E"); got == "" {
		t.Error("silent before the fault")
	}
	r.pass(50 * time.Millisecond)
	old := r.line
	for name, err := range map[string]error{
		"write":   func() error { _, err := old.Write(ping); return err }(),
		"read":    func() error { _, err := old.Read(make([]byte, 9), time.Millisecond); return err }(),
		"discard": old.Discard(),
	} {
		if !errors.Is(err, servo.ErrDisconnected) {
			t.Errorf("%s: got %v, want %v", name, err, servo.ErrDisconnected)
		}
	}
	if _, err := r.bus.Open(); hal.KindOf(err) != hal.Absent {
		t.Errorf("open: got %v, want absent", err)
	}
	r.pass(100 * time.Millisecond)
	if _, err := old.Write(ping); !errors.Is(err, servo.ErrDisconnected) {
		t.Errorf("the old line after it is back: got %v", err)
	}
	fresh, err := r.bus.Open()
	if err != nil {
		t.Fatal(err)
	}
	r.line = fresh
	if got := r.ask("FF FF FD 00 01 03 00 01 19 4E"); got == "" {
		t.Error("silent after it is back")
	}
	if err := r.bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: 77, P: 1}); err == nil {
		t.Error("a fault of a servo that is not there was taken")
	}
	fresh.Close()
	if _, err := fresh.Read(make([]byte, 1), 0); errors.Is(err, os.ErrDeadlineExceeded) || err == nil {
		t.Errorf("closed: got %v", err)
	}
}
