package kondo

import (
	"errors"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

func play(t *testing.T, text string) *servotest.Playback {
	t.Helper()
	turns, err := servotest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return servotest.NewPlayback(1250000, turns...)
}

func TestChainSession(t *testing.T) {
	line := play(t, `
# Open: is it there
> A1 01
< 21 01 3C
# the first Receive: measured by being told to be free
> 81 00 00
< 01 3A 4C
# torque: the settings, then the position where it stands
> C1 01 50
< 41 01 50
> 81 3A 4C
< 01 3A 4C
# a goal of 8000, and its current, 0.5 A, which every third cycle looks at
> 81 3E 40
< 01 3B 1A
> A1 03
< 21 03 45
# it says something that cannot be, then silence, then noise: three misses, one of them no sign of absence
> 81 3E 40
< 01 00 00
> 81 3E 40
> 81 3E 40
< 01 80 80
# limp: freed until it says where it is
> 81 00 00
< 01 3B 1A
`)
	c := NewChain(servo.ChainConfig{Name: "arm", Line: line, Health: 3, Servos: []servo.ServoConfig{
		{ID: 1, Model: ModelByName("krs-2552"), Settings: []servo.Setting{{Register: "stretch", Value: 80}}}}})
	cycle := func(g servo.Goal) {
		t.Helper()
		c.SetGoal(0, g)
		if err := errors.Join(c.Send(), c.Receive()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.Open(), c.Receive()); err != nil {
		t.Fatal(err)
	}
	cycle(servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	to := servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 8000, Limit: 1}
	cycle(to)
	s := c.State(0)
	if want := -0.5 / 4.2; s.Position != 7578 || !s.Torque || s.Effort < want-1e-9 || s.Effort > want+1e-9 ||
		s.Err != nil {
		t.Errorf("state: got %+v", s)
	}
	cycle(to)
	if !errors.Is(s.Err, servo.ErrCorrupt) || s.Position != 7578 {
		t.Errorf("an impossible position: got %g, %v", s.Position, s.Err)
	}
	cycle(to)
	if !errors.Is(s.Err, servo.ErrNoReply) {
		t.Errorf("silence: got %v", s.Err)
	}
	cycle(to)
	if !errors.Is(s.Err, servo.ErrCorrupt) {
		t.Errorf("noise: got %v", s.Err)
	}
	cycle(servo.Goal{})
	if s.Err != nil || s.Torque {
		t.Errorf("limp: got %+v", s)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

func TestChainRefusesItsDescription(t *testing.T) {
	err := NewChain(servo.ChainConfig{Line: play(t, ""), Servos: []servo.ServoConfig{
		{ID: 1}, {ID: 2, Model: ModelByName("krs-2552"),
			Settings: []servo.Setting{{Register: "id", Value: 3}}}}}).Open()
	for _, want := range []string{"no model", "setting id: not a setting of krs-2552"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	err = NewChain(servo.ChainConfig{Line: play(t, ""),
		Servos: []servo.ServoConfig{{ID: 32, Model: ModelByName("krs-2552")}}}).Open()
	if err == nil || !strings.Contains(err.Error(), "got id 32, want 0..31") {
		t.Errorf("got %v", err)
	}
}

func TestClientSession(t *testing.T) {
	line := play(t, `
> FF 00 00 00
< E5
> E9 01 01 01
< E9
> C9 02 40
< 49 02 40
> C9 03 3F
< 49 03 20
> A9 04
< 29 04 5A
> 89 00 00
< 09 3A 4C
> A0 01
> A1 01
< 21 01 FF
> A2 01
< gone
`)
	c := Driver().Tool(line, servo.ToolConfig{Bus: "bench", Model: ModelByName("krs-2552")})
	if err := c.SetID(5, 9); err != nil {
		t.Errorf("set id: %v", err)
	}
	if err := c.SetID(9, 32); hal.KindOf(err) != hal.Invalid {
		t.Errorf("id 32: got %v", err)
	}
	if err := c.Write(9, "speed", 64); err != nil {
		t.Errorf("speed: %v", err)
	}
	if err := c.Write(9, "current_limit", 63); err == nil || !strings.Contains(err.Error(), "got 32, want 63") {
		t.Errorf("a write that does not take: got %v", err)
	}
	if err := c.Write(9, "baud_rate", 1); hal.KindOf(err) != hal.Invalid {
		t.Errorf("the rate: got %v", err)
	}
	if v, err := c.Read(9, "present_heat"); err != nil || v != 90 {
		t.Errorf("heat: got %d, %v", v, err)
	}
	if err := c.Write(9, "torque_enable", 0); err != nil {
		t.Errorf("free: %v", err)
	}
	for id, want := range []hal.Kind{hal.Timeout, hal.BusFault, hal.Absent} { // silence, noise, the adapter gone
		if err := c.Ping(id); hal.KindOf(err) != want {
			t.Errorf("ping %d: got %v, want %v", id, err, want)
		}
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// An error of a refused operation names the servo, id 0 too.
func TestRefusalNamesID0(t *testing.T) {
	tool := Driver().Tool(servotest.Play(115200, ""), servo.ToolConfig{Bus: "bench", Model: catalogue[0]})
	if err := tool.Write(0, "present_position", 1); err == nil ||
		!strings.Contains(err.Error(), "id 0: write present_position") {
		t.Errorf("got %v, want the id in it", err)
	}
}

// A stop reaches a servo that is lost, too, after those that answer: only its answers may be missing.
func TestStopReachesALostServo(t *testing.T) {
	line := play(t, `
> A1 01
< 21 01 3C
> A2 01
< 22 01 3C
# one becomes lost
> 81 00 00
> 82 00 00
< 02 3A 4C
> 81 00 00
> 82 00 00
< 02 3A 4C
> 81 00 00
> 82 00 00
< 02 3A 4C
# the stop
> 82 00 00
< 02 3A 4C
> 81 00 00
`)
	c := NewChain(servo.ChainConfig{Name: "arm", Line: line, Health: -1, Servos: []servo.ServoConfig{
		{ID: 1, Model: ModelByName("krs-2552")}, {ID: 2, Model: ModelByName("krs-2552")}}})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	for range servo.LostAfter {
		if err := c.Receive(); err != nil {
			t.Fatal(err)
		}
	}
	if !c.Devices[0].Lost || c.Devices[1].Lost {
		t.Fatalf("lost: got %v and %v, want the first", c.Devices[0].Lost, c.Devices[1].Lost)
	}
	if err := c.CutTorque(); err != nil {
		t.Error(err)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

// A stop comes from any goroutine: it leaves the states, which the cycle's goroutine reads meanwhile.
func TestStopLeavesStates(t *testing.T) {
	line := play(t, `
> A1 01
< 21 01 3C
> 81 00 00
< 01 3A 4C
> 81 00 00
< 01 3A 4D
`)
	c := NewChain(servo.ChainConfig{Name: "arm", Line: line, Health: -1,
		Servos: []servo.ServoConfig{{ID: 1, Model: ModelByName("krs-2552")}}})
	if err := errors.Join(c.Open(), c.Receive()); err != nil {
		t.Fatal(err)
	}
	before := *c.State(0)
	if err := c.CutTorque(); err != nil {
		t.Error(err)
	}
	if after := c.State(0); after.Position != before.Position || after.Time != before.Time {
		t.Errorf("got %+v, want %+v", *after, before)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}
