package p2os_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/p2os"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// ahead is a chassis whose wheels start with an offset: left by, right -by.
type ahead struct {
	*p2os.Floor
	by float64 // m
}

func (a *ahead) Rims() (left, right float64) {
	left, right = a.Floor.Rims()
	return left + a.by, right - a.by
}

// The encoder counts overflow at 32 bits in both directions; the reported values continue.
func TestEncodersGoRound(t *testing.T) {
	const perMetre = 128000 // of the emulated board
	var far *ahead
	r := newRobotOn(t, "p3dx", 1, nil, func(f *p2os.Floor) p2os.Chassis {
		far = &ahead{Floor: f}
		return far
	})
	far.by = (math.MaxInt32 - 1000) / float64(perMetre) // 8 mm before the end
	must(t, r.base.Open())
	r.run(time.Second)
	first, s := r.sensor("encoders")
	was := [2]float64{first[0], first[1]}
	r.enable(true)
	r.drive(4, 4)
	r.run(3 * time.Second)
	r.drive(0, 0)
	r.run(2 * time.Second)
	got, s := r.sensor("encoders")
	left, right := r.floor.Rims()
	for i, rim := range [2]float64{left, right} {
		if want := rim * perMetre; s.Err != nil || math.Abs(got[i]-was[i]-want) > 2 || want < 20000 {
			t.Errorf("side %d: got %.0f more, %v, want %.0f", i, got[i]-was[i], s.Err, want)
		}
	}
	// After a power loss they restart at zero: the reported values continue.
	was = [2]float64{got[0], got[1]}
	r.line.Fault(wire.Fault{Kind: wire.PowerLoss, For: time.Second})
	r.run(3 * time.Second)
	if again, s := r.sensor("encoders"); s.Err != nil || again[0] != was[0] || again[1] != was[1] {
		t.Errorf("after a loss of power: got %.0f, %v, want %.0f", again, s.Err, was)
	}
}

// Transducers that are not asked for are silent, and known to be; the others go on.
func TestPolling(t *testing.T) {
	r := newRobot(t, "p2at", 1, func(s *base.Settings) { s.Polling = "\x01\x02\x01\x09" })
	must(t, r.base.Open())
	r.run(2 * time.Second)
	if v, s := r.sensor("F1"); s.Err != nil || math.Abs(v[0]-1.5) > 0.01 {
		t.Errorf("the first: got %v, %v", v, s.Err)
	}
	if _, s := r.sensor("R8"); s.Err == nil || !strings.Contains(s.Err.Error(), "report") {
		t.Errorf("the last: got %v", s.Err)
	}
	// Off altogether.
	r = newRobot(t, "p2at", 1, func(s *base.Settings) { s.SonarOff = true })
	must(t, r.base.Open())
	r.run(2 * time.Second)
	if _, s := r.sensor("F1"); s.Err == nil || r.base.Report().Flags&p2oswire.FlagSonar != 0 {
		t.Errorf("off: got %v, flags %02X", s.Err, r.base.Report().Flags)
	}
}

// held is a chassis that something holds on its right side.
type held struct {
	*p2os.Floor
	on bool
}

func (h *held) Drive(left, right float64, on bool) {
	if h.on {
		right = 0
	}
	h.Floor.Drive(left, right, on)
}

// A wheel that cannot turn is an alarm of its side, while it lasts.
func TestStall(t *testing.T) {
	var stuck *held
	r := newRobotOn(t, "p2dx", 1, nil, func(f *p2os.Floor) p2os.Chassis { stuck = &held{f, true}; return stuck })
	must(t, r.base.Open())
	r.enable(true)
	r.drive(4, 4)
	r.run(3 * time.Second)
	if left, right := r.base.State(0).Alarm, r.base.State(1).Alarm; left != 0 || right != servo.AlarmOverload {
		t.Errorf("held: got %v and %v", left, right)
	}
	stuck.on = false
	r.run(time.Second)
	if a := r.base.State(1).Alarm; a != 0 {
		t.Errorf("free: got %v", a)
	}
}

// gagged is a line that drops the host's bytes while the gag is on.
type gagged struct {
	servo.Line
	on  *bool
	but []byte // always dropped
}

func (g gagged) Write(p []byte) (int, error) {
	if *g.on || g.but != nil && bytes.Contains(p, g.but) {
		return len(p), nil
	}
	return g.Line.Write(p)
}

// Each setting requested at the start is requested again until it takes effect, even if another never does.
func TestReminder(t *testing.T) {
	gag := false
	r := newRobot(t, "p2at", 1, func(s *base.Settings) {
		open := s.Line
		s.IO, s.Gripper, s.SonarOff = true, true, true
		s.Line = func() (servo.Line, error) {
			l, err := open()
			return gagged{l, &gag, []byte{0xFA, 0xFB, 6, byte(p2oswire.OpSonar)}}, err
		}
	})
	must(t, r.base.Open())
	gag = true
	r.run(1500 * time.Millisecond)
	if r.base.Config().Watchdog != 0 {
		t.Fatal("nothing was lost")
	}
	gag = false
	r.run(10 * time.Second)
	for _, name := range []string{"gyro", "encoders", "F1"} {
		if _, s := r.sensor(name); s.Err != nil {
			t.Errorf("%s: %v", name, s.Err)
		}
	}
	if r.base.Config().Watchdog != 2000 || r.base.IO().Ins != 4 || r.base.GripperState().Kind != 2 ||
		r.base.Report().Flags&p2oswire.FlagSonar == 0 {
		t.Errorf("got %+v, %+v, %+v", r.base.Config(), r.base.IO(), r.base.GripperState())
	}
}

// rolling is a chassis that rolls on as it did when its motors go off.
type rolling struct {
	*p2os.Floor
	speed [2]float64
}

func (r *rolling) Drive(left, right float64, on bool) {
	if on {
		r.speed = [2]float64{left, right}
	}
	r.Floor.Drive(r.speed[0], r.speed[1], true)
}

// Disabled wheels stop: motors without power do not brake, so they go off when the base is at rest.
func TestLetGo(t *testing.T) {
	for _, late := range []bool{false, true} {
		gag := false
		r := newRobotOn(t, "p2dx", 1, func(s *base.Settings) {
			open := s.Line
			s.Line = func() (servo.Line, error) { l, err := open(); return gagged{l, &gag, nil}, err }
		}, func(f *p2os.Floor) p2os.Chassis { return &rolling{Floor: f} })
		must(t, r.base.Open())
		r.enable(true)
		r.drive(5, 5)
		r.run(3 * time.Second)
		if on, speed, _ := r.board.Motors(); !on || speed < 0.3 {
			t.Fatalf("got motors %v at %g m/s", on, speed)
		}
		r.enable(false)
		if gag = late; late { // the first words are lost
			r.run(150 * time.Millisecond)
			gag = false
		}
		r.run(time.Second)
		before := left(r)
		r.run(time.Second)
		if on, _, _ := r.board.Motors(); on || left(r) != before {
			t.Errorf("first words lost %v: got motors %v, %g m more", late, on, left(r)-before)
		}
		// It drives again as soon as it may.
		r.enable(true)
		r.run(2 * time.Second)
		if on, speed, _ := r.board.Motors(); !on || speed < 0.3 {
			t.Errorf("enabled again: got motors %v at %g m/s", on, speed)
		}
	}
}
