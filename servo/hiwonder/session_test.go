package hiwonder

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// play is a line that goes by a session's text, in which ?? stands for the checksum of the line.
func play(t *testing.T, text string) *servotest.Playback {
	t.Helper()
	text = regexp.MustCompile(`55 55 [0-9A-F ]*\?\?`).ReplaceAllStringFunc(text, func(packet string) string {
		b := servotest.Hex(t, strings.TrimSuffix(packet, "??"))
		return fmt.Sprintf("% X", append(b, servo.Complement(b[2:])))
	})
	turns, err := servotest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return servotest.NewPlayback(Baud, turns...)
}

// opening is what the chain asks a servo at first, and what a new one answers.
const opening = `
> 55 55 ID 03 15 ??
< 55 55 ID 07 15 00 00 E8 03 ??
> 55 55 ID 03 15 ??
< 55 55 ID 07 15 00 00 E8 03 ??
> 55 55 ID 03 17 ??
< 55 55 ID 07 17 94 11 E0 2E ??
> 55 55 ID 03 17 ??
< 55 55 ID 07 17 94 11 E0 2E ??
> 55 55 ID 03 19 ??
< 55 55 ID 04 19 55 ??
> 55 55 ID 03 1E ??
< 55 55 ID 07 1E 00 00 00 00 ??
> 55 55 ID 03 20 ??
< 55 55 ID 04 20 00 ??
`

func TestChainSession(t *testing.T) {
	line := play(t, strings.ReplaceAll(opening, "ID", "01")+`
# position: read as a signed number
> 55 55 01 03 1C ??
< 55 55 01 05 1C F4 01 ??
# torque: the mode is asked for once more, then the goal where it stands, then the load
> 55 55 01 03 1E ??
< 55 55 01 07 1E 00 00 00 00 ??
> 55 55 01 07 01 F4 01 00 00 ??
+ 55 55 01 04 1F 01 ??
> 55 55 01 03 1C ??
< 55 55 01 05 1C F4 01 ??
# the look: temperature, load
> 55 55 01 03 1A ??
< 55 55 01 04 1A 1E ??
> 55 55 01 03 20 ??
< 55 55 01 04 20 01 ??
# a goal, which is not said twice
> 55 55 01 07 01 58 02 00 00 ??
> 55 55 01 03 1C ??
< 55 55 01 05 1C FE FF ??
> 55 55 01 03 1C ??
< 55 55 01 05 1C FE FF ??
# a duty: torque off and seen off, the mode asked for, written and read back, then torque
> 55 55 01 04 1F 00 ??
> 55 55 01 03 1C ??
< 55 55 01 05 1C F4 01 ??
> 55 55 01 03 1B ??
< 55 55 01 05 1B E8 1C ??
> 55 55 01 03 20 ??
< 55 55 01 04 20 00 ??
> 55 55 01 03 1E ??
< 55 55 01 07 1E 00 00 00 00 ??
> 55 55 01 07 1D 01 00 00 00 ??
> 55 55 01 03 1E ??
< 55 55 01 07 1E 01 00 00 00 ??
> 55 55 01 07 1D 01 00 00 00 ??
+ 55 55 01 04 1F 01 ??
> 55 55 01 03 1C ??
< 55 55 01 05 1C F4 01 ??
> 55 55 01 03 1A ??
< 55 55 01 04 1A 5A ??
> 55 55 01 03 20 ??
< 55 55 01 04 20 01 ??
> 55 55 01 07 1D 01 00 0C FE ??
`)
	c := NewChain(servo.ChainConfig{Name: "arm", Line: line, Health: -1,
		Servos: []servo.ServoConfig{{ID: 1, Model: ModelByName("lx-16a")}}})
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
	to := servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 600, Limit: 1}
	cycle(to)
	cycle(to)
	if s := c.State(0); s.Position != -2 || !s.Torque || s.Temperature != 30 || s.Alarm != 0 {
		t.Errorf("state: got %+v", s)
	}
	duty := servo.Goal{Enable: true, Mode: hal.DutyMode, Duty: -0.5, Limit: 1}
	cycle(duty)
	cycle(duty)
	// 90 °C, of 85.
	if s := c.State(0); s.Voltage != 7.4 || s.Alarm != servo.AlarmHeat {
		t.Errorf("hot: got %+v", s)
	}
	c.SetGoal(0, duty)
	if err := c.Send(); err != nil {
		t.Fatal(err)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
	if got, want := servo.WireTime(24, 10, Baud), 2*time.Millisecond; got < want {
		t.Errorf("wire time: got %v, want at least %v", got, want)
	}
}

func TestClientSession(t *testing.T) {
	line := play(t, `
# who is alone on the line
> 55 55 FE 03 0E F0
< 55 55 07 04 0E 07 ??
# one register of a command: the other stays as it is
# torque is off
> 55 55 07 03 20 ??
< 55 55 07 04 20 00 ??
> 55 55 07 03 15 ??
< 55 55 07 07 15 00 00 E8 03 ??
> 55 55 07 07 14 64 00 E8 03 ??
> 55 55 07 03 15 ??
< 55 55 07 07 15 64 00 E8 03 ??
# the offset is saved by a command of its own
> 55 55 07 03 20 ??
< 55 55 07 04 20 00 ??
> 55 55 07 03 13 ??
< 55 55 07 04 13 00 ??
> 55 55 07 04 11 F6 ??
+ 55 55 07 03 12 ??
> 55 55 07 03 13 ??
< 55 55 07 04 13 F6 ??
# a new id is read back from its new place
> 55 55 07 03 20 ??
< 55 55 07 04 20 00 ??
> 55 55 07 03 0E ??
< 55 55 07 04 0E 07 ??
> 55 55 07 04 0D 03 ??
> 55 55 03 03 0E ??
< 55 55 03 04 0E 03 ??
# a write that does not take
> 55 55 03 03 22 ??
< 55 55 03 04 22 00 ??
> 55 55 03 04 21 01 ??
> 55 55 03 03 22 ??
< 55 55 03 04 22 00 ??
# scan: silence, noise, then the adapter goes
> 55 55 01 03 0E ??
> 55 55 02 03 0E ??
< 55 55 02 04 0E 02 00
> 55 55 03 03 0E ??
< gone
`)
	c := Driver().Tool(line, servo.ToolConfig{Bus: "bench", Model: ModelByName("lx-16a")})
	if id, err := c.Read(hiwonderwire.Broadcast, "id"); err != nil || id != 7 {
		t.Errorf("alone: got %d, %v", id, err)
	}
	for _, x := range []struct {
		name  string
		value int64
	}{{"min_position", 100}, {"angle_offset", -10}} {
		if err := c.Write(7, x.name, x.value); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
	}
	if err := c.SetID(7, 3); err != nil {
		t.Errorf("id: %v", err)
	}
	if err := c.Write(3, "led", 1); err == nil || !strings.Contains(err.Error(), "got 0, want 1") {
		t.Errorf("a write that does not take: got %v", err)
	}
	for _, name := range []string{"present_position", "nonsense"} {
		if err := c.Write(3, name, 1); hal.KindOf(err) != hal.Invalid {
			t.Errorf("write %s: got %v, want it refused", name, err)
		}
	}
	if err := c.Write(3, "goal_position", 1001); hal.KindOf(err) != hal.Invalid {
		t.Errorf("out of range: got %v, want it refused", err)
	}
	if _, err := c.Read(3, "nonsense"); hal.KindOf(err) != hal.Invalid {
		t.Errorf("read nonsense: got %v", err)
	}
	for i, want := range []hal.Kind{hal.Timeout, hal.BusFault, hal.Absent} { // silence, noise, the adapter gone
		if err := c.Ping(1 + i); hal.KindOf(err) != want {
			t.Errorf("ping %d: got %v, want %v", 1+i, err, want)
		}
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
	if err := NewChain(servo.ChainConfig{Line: play(t, ""), Servos: []servo.ServoConfig{{ID: 1}}}).Open(); hal.KindOf(
		err) != hal.Invalid {
		t.Errorf("no model: got %v", err)
	}
}
