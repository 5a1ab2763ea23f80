package feetech

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// play is a line at 1 Mbit/s that goes by a session's text, in which ?? stands for the checksum of the line.
func play(t *testing.T, text string) *servotest.Playback {
	t.Helper()
	text = regexp.MustCompile(`FF FF [0-9A-F ]*\?\?`).ReplaceAllStringFunc(text, func(packet string) string {
		b := servotest.Hex(t, strings.TrimSuffix(packet, "??"))
		return fmt.Sprintf("% X", append(b, servo.Complement(b[2:])))
	})
	turns, err := servotest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return servotest.NewPlayback(1000000, turns...)
}

// What the chain says to two STS3215 from Open on, byte for byte.
func TestChainSession(t *testing.T) {
	setup := "00 01 00 00 FF 0F 46 8C 28 E8 03 0C 2C 2F 20 20 00 10 00 01 01 F4 01 01 00 00 00 14 C8 50 0A C8 0A 00"
	line := play(t, `
# Open: firmware, byte order, model; then the EEPROM and the torque switch
> FF FF 01 04 02 00 05 ??
< FF FF 01 07 00 03 0A 00 09 03 ??
> FF FF 01 04 02 07 22 ??
< FF FF 01 24 00 `+setup+` ??
> FF FF 02 04 02 00 05 ??
< FF FF 02 07 00 03 0A 00 09 03 ??
> FF FF 02 04 02 07 22 ??
< FF FF 02 24 00 `+setup+` ??
# the first Receive: one sync read of eight bytes
> FF FF FE 06 82 38 08 01 02 36
< FF FF 01 0A 00 00 08 00 00 00 00 4A 19 ??
< FF FF 02 0A 00 10 08 64 80 F4 05 4A 1A ??
# torque: the mode is asked for once more
> FF FF 01 04 02 21 01 ??
< FF FF 01 03 00 00 ??
> FF FF 02 04 02 21 01 ??
< FF FF 02 03 00 00 ??
# lock and limit, then the goal at the position of each, read back, then the switch
> FF FF FE 08 83 37 01 01 01 02 01 ??
+ FF FF FE 0A 83 30 02 01 E8 03 02 E8 03 ??
+ FF FF FE 14 83 29 07 01 00 00 08 00 00 00 10 02 00 10 08 00 00 00 10 ??
> FF FF 01 04 02 2A 02 ??
< FF FF 01 04 00 00 08 ??
> FF FF 02 04 02 2A 02 ??
< FF FF 02 04 00 10 08 ??
> FF FF FE 08 83 28 01 01 01 02 01 ??
> FF FF FE 06 82 38 08 01 02 36
< FF FF 01 0A 00 00 08 00 00 00 00 4A 19 ??
< FF FF 02 0A 00 10 08 00 00 00 00 4A 1A ??
# the look at the first: mode 0, torque on, limit 1000, lock
> FF FF 01 04 02 21 21 ??
< FF FF 01 23 00 00 14 C8 50 0A C8 0A 01 00 00 08 00 00 00 10 E8 03 00 00 00 00 00 01 00 08 00 00 00 00 4A 19 00 00 ??
# from now on a goal each
> FF FF FE 14 83 29 07 01 00 E8 03 00 00 00 10 02 00 E8 03 00 00 00 10 ??
`)
	c := NewChain(servo.ChainConfig{Name: "arm", Line: line, Health: -1, Servos: []servo.ServoConfig{
		{ID: 1, Model: sts(4096), Joint: "pan"}, {ID: 2, Model: sts(4096), Joint: "lift"}}})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	if err := c.Receive(); err != nil {
		t.Fatal(err)
	}
	s := c.State(1)
	tick := speed4096.Scale
	if s.Position != 2064 || s.Velocity != -100*tick || s.Effort != -0.5 || s.Voltage != 7.4 || s.Temperature != 26 ||
		s.Err != nil {
		t.Errorf("state: got %+v", s)
	}
	for i := range 2 {
		c.SetGoal(i, servo.Goal{Enable: true, Mode: hal.NoMode, Limit: 1})
	}
	if err := errors.Join(c.Send(), c.Receive()); err != nil {
		t.Fatal(err)
	}
	if !c.State(0).Torque || c.State(1).Torque {
		t.Errorf("torque as seen: got %v and %v, want the first alone", c.State(0).Torque, c.State(1).Torque)
	}
	for i := range 2 {
		c.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode, Position: 1000.4, Limit: 1})
	}
	if err := c.Send(); err != nil {
		t.Fatal(err)
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
	if st := c.Stats(); st.Timeouts+st.BadChecksums+st.Garbage != 0 {
		t.Errorf("stats: got %+v", st)
	}
	// 8 + 2·8 written, 10 asked, 2·14 answered.
	if got := Driver().Traits().Benchmarks[0].Bound(2, 1000000, 0); got != 620*time.Microsecond {
		t.Errorf("wire time: got %v, want 620µs", got)
	}
}

// sts is an STS3215 whose greatest speed written out is steps a second, a round number for reading bytes.
func sts(steps float64) *Model {
	m := *ModelByName("sts3215")
	m.MaxVelocity = steps * speed4096.Scale / 1.2
	return &m
}

func TestChainRefusesItsDescription(t *testing.T) {
	m := ModelByName("sts3215")
	err := NewChain(servo.ChainConfig{Name: "arm", Line: play(t, ""), Servos: []servo.ServoConfig{
		{ID: 1}, {ID: 2, Model: m, Settings: []servo.Setting{{Register: "id", Value: 3}}},
		{ID: 3, Model: m, Settings: []servo.Setting{{Register: "punch", Value: 2000}}},
	}}).Open()
	for _, want := range []string{"no model", "setting id: not a setting of sts3215",
		"setting punch: got 2000, want 0..1000"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	err = NewChain(servo.ChainConfig{Line: play(t, ""),
		Servos: []servo.ServoConfig{{ID: 254, Model: m}, {ID: 4, Model: m}, {ID: 4, Model: m}}}).Open()
	for _, want := range []string{"got id 254, want 0..253", "id used twice"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := NewChain(servo.ChainConfig{Line: play(t, ""), Servos: make([]servo.ServoConfig, 40)}).Open(); hal.KindOf(
		err) != hal.Invalid {
		t.Errorf("40 servos: got %v", err)
	}
	if err := NewChain(servo.ChainConfig{Servos: []servo.ServoConfig{{ID: 1, Model: m}}}).Open(); hal.KindOf(
		err) != hal.Absent {
		t.Errorf("no line: got %v, want %v", err, hal.Absent)
	}
}

func TestOpenNamesForeignServos(t *testing.T) {
	line := play(t, `
# an SCS0009 where an STS3215 should be; a missing one, asked twice; one that answers mangled, twice
> FF FF 01 04 02 00 05 ??
< FF FF 01 07 00 02 04 01 05 04 ??
> FF FF 02 04 02 00 05 ??
> FF FF 02 04 02 00 05 ??
> FF FF 03 04 02 00 05 ??
< FF FF 03 07 00 03 0A 00 09 03 00
> FF FF 03 04 02 00 05 ??
< FF FF 03 07 00 03 0A 00 09 03 00
`)
	m := ModelByName("sts3215")
	c := NewChain(servo.ChainConfig{Name: "arm", Line: line,
		Servos: []servo.ServoConfig{{ID: 1, Model: m}, {ID: 2, Model: m, Joint: "lift"}, {ID: 3, Model: m}}})
	err := c.Open()
	for _, want := range []string{"got scs0009, want sts3215", `id 2: joint "lift": open: no answer`,
		"id 3: open: answer mangled"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}

func TestClientSession(t *testing.T) {
	line := play(t, `
# ping: the bare one, then who it is
> FF FF 01 02 01 FB
< FF FF 01 02 00 FC
> FF FF 01 04 02 00 05 ??
< FF FF 01 07 00 03 0A 00 09 03 ??
# an SCS says its number the other way round
> FF FF 02 02 01 FA
< FF FF 02 02 00 FB
> FF FF 02 04 02 00 05 ??
< FF FF 02 07 00 02 04 01 05 04 ??
# EEPROM: torque asked for, unlocked, written, read back, locked
> FF FF 01 04 02 28 01 ??
< FF FF 01 03 00 00 ??
> FF FF 01 04 03 37 00 C0
< FF FF 01 02 00 FC
> FF FF 01 04 02 37 01 ??
< FF FF 01 03 00 00 ??
> FF FF 01 05 03 1F 64 08 6B
< FF FF 01 02 00 FC
> FF FF 01 04 02 1F 02 ??
< FF FF 01 04 00 64 08 ??
> FF FF 01 04 03 37 01 BF
< FF FF 01 02 00 FC
> FF FF 01 04 02 37 01 ??
< FF FF 01 03 00 01 ??
# a new id is locked at its new place; the servo answers nothing to the write
> FF FF 01 04 02 28 01 ??
< FF FF 01 03 00 00 ??
> FF FF 01 04 03 37 00 C0
> FF FF 01 04 02 37 01 ??
< FF FF 01 03 00 00 ??
> FF FF 01 04 03 05 07 ??
> FF FF 07 04 03 37 01 ??
< FF FF 07 02 00 ??
> FF FF 07 04 02 37 01 ??
< FF FF 07 03 00 01 ??
# torque on: nothing is written
> FF FF 01 04 02 28 01 ??
< FF FF 01 03 00 01 ??
# a write that does not take is locked all the same
> FF FF 01 04 02 28 01 ??
< FF FF 01 03 00 00 ??
> FF FF 01 04 03 37 00 C0
< FF FF 01 02 00 FC
> FF FF 01 04 02 37 01 ??
< FF FF 01 03 00 00 ??
> FF FF 01 04 03 15 10 ??
< FF FF 01 02 00 FC
> FF FF 01 04 02 15 01 ??
< FF FF 01 03 00 20 ??
> FF FF 01 04 03 37 01 BF
< FF FF 01 02 00 FC
> FF FF 01 04 02 37 01 ??
< FF FF 01 03 00 01 ??
# silence, and noise
> FF FF 05 02 01 F7
> FF FF 06 02 01 F6
< FF FF 06 02 00 00
> FF FF 07 02 01 F5
> FF FF 08 02 01 F4
< gone
`)
	m := ModelByName("sts3215")
	c := Driver().Tool(line, servo.ToolConfig{Bus: "bench", Model: m})
	if f, err := c.Identify(1); err != nil || f.Model != m || f.Firmware != "3.10" {
		t.Errorf("ping 1: got %+v, %v", f, err)
	}
	if f, err := c.Identify(2); err != nil || f.Model != ModelByName("scs0009") || f.Number != 0x0504 {
		t.Errorf("ping 2: got %+v, %v", f, err)
	}
	if err := c.Write(1, "homing_offset", -100); err != nil {
		t.Errorf("offset: %v", err)
	}
	if err := c.SetID(1, 7); err != nil {
		t.Errorf("id: %v", err)
	}
	if err := c.SetID(1, 7); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("id under torque: got %v", err)
	}
	if err := c.Write(1, "position_p_gain", 16); err == nil || !strings.Contains(err.Error(), "got 32, want 16") {
		t.Errorf("a write that does not take: got %v", err)
	}
	for _, x := range []struct {
		name  string
		value int64
	}{{"present_position", 1}, {"nonsense", 1}, {"position_p_gain", 300}} {
		if err := c.Write(1, x.name, x.value); hal.KindOf(err) != hal.Invalid {
			t.Errorf("write %s: got %v, want it refused", x.name, err)
		}
	}
	if _, err := c.Read(1, "nonsense"); hal.KindOf(err) != hal.Invalid {
		t.Errorf("read nonsense: got %v", err)
	}
	// silence, noise, silence, the adapter gone
	for i, want := range []hal.Kind{hal.Timeout, hal.BusFault, hal.Timeout, hal.Absent} {
		if err := c.Ping(5 + i); hal.KindOf(err) != want {
			t.Errorf("ping %d: got %v, want %v", 5+i, err, want)
		}
	}
	if err := line.Close(); err != nil {
		t.Error(err)
	}
}
