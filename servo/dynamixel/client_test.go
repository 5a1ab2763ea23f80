package dynamixel

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// play returns a client on a line that plays session; the test fails if the session is not kept to.
func play(t *testing.T, protocol int, session string) (*Client, *servotest.Playback) {
	t.Helper()
	turns, err := servotest.Parse(session)
	if err != nil {
		t.Fatal(err)
	}
	line := servotest.NewPlayback(1000000, turns...)
	line.Piece = 5 // answers come in pieces that end nowhere in particular
	t.Cleanup(func() {
		if err := line.Close(); err != nil {
			t.Error(err)
		}
	})
	c := NewClient(line, protocol)
	c.Name = "arm"
	return c, line
}

func TestClient1(t *testing.T) {
	c, _ := play(t, 1, `
# ping, and who it is: AX-12A (12), firmware 24
> FF FF 01 02 01 FB
< FF FF 01 02 00 FC
> FF FF 01 04 02 00 03 F5
< FF FF 01 05 00 0C 00 18 D5
# read the temperature
> FF FF 01 04 02 2B 01 CC
< FF FF 01 03 00 20 DB
# staged write of goal 500, then action for all
> FF FF 01 05 04 1E F4 01 E2
< FF FF 01 02 00 FC
> FF FF FE 02 05 FA
# write to all: id 1
> FF FF FE 04 03 03 01 F6
# factory reset of id 0
> FF FF 00 02 06 F7
< FF FF 00 02 00 FD
# angle limit: the servo says no
> FF FF 01 05 03 1E FF 0F CA
< FF FF 01 02 02 FA
# overload and heat are a state, not a no
> FF FF 01 04 02 2B 01 CC
< FF FF 01 03 24 20 B7
`)
	f, err := c.Ping(1)
	if err != nil || f != (Found{ID: 1, Number: 12, Firmware: 24, Answers: 1}) || f.Model(1).Name != "ax-12a" {
		t.Errorf("ping: got %+v, %v", f, err)
	}
	ax := ModelByName("ax-12a")
	if v, err := c.ReadRegister(1, ax, "present_temperature"); v != 32 || err != nil {
		t.Errorf("temperature: got %d, %v, want 32", v, err)
	}
	steps := []error{c.RegWrite(1, 30, []byte{0xF4, 1}), c.Action(Broadcast), c.WriteRegister(Broadcast, ax, "id", 1),
		c.FactoryReset(0, ResetAll)}
	if err := errors.Join(steps...); err != nil {
		t.Errorf("got %v", err)
	}
	err = c.Write(1, 30, []byte{0xFF, 0x0F})
	if r, ok := errors.AsType[Refusal](err); !ok || r.Code != 2 || hal.KindOf(err) != hal.BusFault {
		t.Errorf("angle limit: got %v", err)
	}
	if v, err := c.ReadRegister(1, ax, "present_temperature"); v != 32 || err != nil {
		t.Errorf("temperature with alarms: got %d, %v, want 32", v, err)
	}
	for _, err := range []error{
		c.FactoryReset(1, ResetKeepID), c.ClearMultiTurn(1), c.StoreBackup(1),
		c.WriteRegister(1, ax, "goal_position", 1024),
		c.WriteRegister(1, ax, "present_position", 1), c.WriteRegister(1, ax, "goal_velocity", 1),
	} {
		if hal.KindOf(err) != hal.Invalid {
			t.Errorf("got %v, want it refused before the line", err)
		}
	}
	if _, err := c.ReadRegister(1, ax, "goal_velocity"); hal.KindOf(err) != hal.Invalid {
		t.Errorf("unknown register: got %v", err)
	}
	if _, err := c.PingAll(); hal.KindOf(err) != hal.Invalid {
		t.Errorf("ping all: got %v", err)
	}
}

func TestClient2(t *testing.T) {
	c, _ := play(t, 2, `
> FF FF FD 00 01 03 00 01 19 4E
< FF FF FD 00 01 07 00 55 00 06 04 26 65 5D
# read the position
> FF FF FD 00 01 07 00 02 84 00 04 00 1D 15
< FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0
> FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89
< FF FF FD 00 01 04 00 55 00 A1 0C
> FF FF FD 00 01 09 00 04 68 00 C8 00 00 00 AE 8E
< FF FF FD 00 01 04 00 55 00 A1 0C
> FF FF FD 00 01 03 00 05 02 CE
< FF FF FD 00 01 04 00 55 00 A1 0C
> FF FF FD 00 01 04 00 06 01 A1 E6
< FF FF FD 00 01 04 00 55 00 A1 0C
> FF FF FD 00 01 03 00 08 2F 4E
< FF FF FD 00 01 04 00 55 00 A1 0C
> FF FF FD 00 01 08 00 10 01 44 58 4C 22 B1 DC
< FF FF FD 00 01 04 00 55 00 A1 0C
> FF FF FD 00 01 08 00 20 01 43 54 52 4C 16 F5
< FF FF FD 00 01 04 00 55 00 A1 0C
> FF FF FD 00 01 08 00 20 02 43 54 52 4C 9E F5
< FF FF FD 00 01 04 00 55 00 A1 0C
`)
	f, err := c.Ping(1)
	if err != nil || f.Number != 1030 || f.Firmware != 38 || f.Model(2).Name != "xm430-w210" {
		t.Errorf("ping: got %+v, %v", f, err)
	}
	xm := ModelByName("xm430-w210")
	if v, err := c.ReadRegister(1, xm, "present_position"); v != 166 || err != nil {
		t.Errorf("position: got %d, %v, want 166", v, err)
	}
	if err := errors.Join(
		c.WriteRegister(1, xm, "goal_position", 512), c.RegWrite(1, 104, []byte{0xC8, 0, 0, 0}), c.Action(1),
		c.FactoryReset(1, ResetKeepID), c.Reboot(1), c.ClearMultiTurn(1), c.StoreBackup(1), c.RestoreBackup(1),
	); err != nil {
		t.Errorf("got %v", err)
	}
	if c.Protocol() != 2 {
		t.Errorf("protocol: got %d", c.Protocol())
	}
}

// TestClientTroubles: each kind of trouble is its own kind of error, and silence costs 2 ms and the wire.
func TestClientTroubles(t *testing.T) {
	const ping = "> FF FF FD 00 01 03 00 01 19 4E\n"
	for _, c := range []struct {
		name, answer string
		kind         hal.Kind
		want         string
	}{
		{"silence", "< silence", hal.Timeout, `bus "arm": id 1: ping: no answer`},
		{"noise", "< 00 FF FF 13 37", hal.BusFault, "answer mangled: got 5 bytes, 0 bad checksums"},
		{"bad crc", "< FF FF FD 00 01 07 00 55 00 06 04 26 65 5E", hal.BusFault, "1 bad checksums"},
		{"broken off", "< FF FF FD 00 01 07 00 55 00 06", hal.BusFault, "answer mangled: got 10 bytes"},
		{"two with one id", "< FF FF FD 00 01 07 00 55 00 06 04 26 65 5D FF FF FD 00 01 07 00 55 00 06 04 26 65 5D",
			hal.BusFault,
			"answered more than once: got 2 answers, want 1"},
		{"rubbish behind", "< FF FF FD 00 01 07 00 55 00 06 04 26 65 5D FF FF FD 00 01", hal.BusFault,
			"answer mangled after the first: two servos"},
		{"unplugged", "< gone", hal.Absent, "ping: adapter gone"},
		{"late", "after 9ms\n< FF FF FD 00 01 07 00 55 00 06 04 26 65 5D", hal.Timeout, "no answer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ping + c.answer
			limit := 28*10*time.Microsecond + maxDelay + servo.Slack + 40*10*time.Microsecond
			if strings.HasPrefix(c.name, "two") { // it is asked again when the line is quiet
				text, limit = text+"\n"+text, 2*limit+heldBack
			}
			client, line := play(t, 2, text)
			_, err := client.Ping(1)
			if hal.KindOf(err) != c.kind || !containsText(err, c.want) {
				t.Errorf("got %v (%v), want %q (%v)", err, hal.KindOf(err), c.want, c.kind)
			}
			if line.Now() > limit {
				t.Errorf("took %v, want %v at most", line.Now(), limit)
			}
			var e *hal.Error
			if errors.As(err, &e) && (e.Bus != "arm" || e.ID != 1) {
				t.Errorf("error: got bus %q id %d, want arm, 1", e.Bus, e.ID)
			}
		})
	}
	// With SetLatency the client waits for a slow adapter.
	client, _ := play(t, 2, ping+"after 9ms\n< FF FF FD 00 01 07 00 55 00 06 04 26 65 5D")
	client.SetLatency(16 * time.Millisecond)
	if _, err := client.Ping(1); err != nil {
		t.Errorf("with 16 ms of latency: got %v", err)
	}
	// The reply of another id is ignored.
	client, _ = play(t, 2, ping+"< FF FF FD 00 02 07 00 55 00 06 04 26 6F 6D FF FF FD 00 01 07 00 55 00 06 04 26 65 5D")
	if f, err := client.Ping(1); err != nil || f.Number != 1030 {
		t.Errorf("behind another's answer: got %+v, %v", f, err)
	}
}

func TestClientRefusals(t *testing.T) {
	for _, c := range []struct {
		r    Refusal
		want string
	}{
		{Refusal{1, 0x42}, "refused: error 42 (angle limit, instruction)"},
		{Refusal{2, 0x87}, "refused: error 7 (access)"},
		{Refusal{2, 0x33}, "refused: error 51"},
	} {
		if got := c.r.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if refusal(1, 0x25) != nil || refusal(2, alertBit) != nil || refusal(2, 0x84) == nil {
		t.Errorf("states and refusals are mixed up")
	}
	// Torque on: EEPROM is not even tried.
	b := newFakeBus(1000000, "xm430-w350")
	b.servos[0].set("torque_enable", 1)
	c := NewClient(b, 2)
	if err := c.WriteRegister(1, b.servos[0].m, "return_delay", 0); hal.KindOf(err) != hal.Unsafe {
		t.Errorf("EEPROM with torque on: got %v, want %v", err, hal.Unsafe)
	}
	b.servos[0].set("torque_enable", 0)
	if err := c.WriteRegister(1, b.servos[0].m, "return_delay", 7); err != nil || b.servos[0].get("return_delay") != 7 {
		t.Errorf("EEPROM with torque off: got %v, %d", err, b.servos[0].get("return_delay"))
	}
}

func TestClientFindsAll(t *testing.T) {
	c, line := play(t, 2, `
> FF FF FD 00 FE 03 00 01 31 42
< FF FF FD 00 01 07 00 55 00 06 04 26 65 5D
< FF FF FD 00 02 07 00 55 00 06 04 26 6F 6D
< FF FF FD 00 02 07 00 55 00 06 04 26 6F 6D
`)
	all, err := c.PingAll()
	if fmt.Sprint(all) != "[{1 1030 38 1} {2 1030 38 2}]" || err != nil {
		t.Errorf("ping all: got %v, %v", all, err)
	}
	if line.Now() > time.Second {
		t.Errorf("ping all took %v, want a second at most", line.Now())
	}
	c, _ = play(t, 2, `
> FF FF FD 00 FE 03 00 01 31 42
< FF FF FD 00 01 07 00 55 00 06 04 26 65 5D
< FF FF FD 00 02 07 00 55 00 07 04 26 6F 6D
`)
	if all, err := c.PingAll(); len(all) != 1 || hal.KindOf(err) != hal.BusFault {
		t.Errorf("collision: got %v, %v, want one servo and a bus fault", all, err)
	}
	c, _ = play(t, 1, `
> FF FF 00 02 01 FC
< silence
> FF FF 01 02 01 FB
< FF FF 01 02 00 FC
> FF FF 01 04 02 00 03 F5
< FF FF 01 05 00 0C 00 18 D5
> FF FF 02 02 01 FA
< FF FF 02 02 00 FC
> FF FF 03 02 01 F9
< FF FF 03 02 00 FA
> FF FF 03 04 02 00 03 F3
< silence
`)
	var found []string
	for id := range 4 {
		f, err := c.Ping(byte(id))
		found = append(found, fmt.Sprint(f.ID, f.Number, hal.KindOf(err), err != nil))
	}
	want := "[0 0 timed out true 1 12 unexpected false 2 0 bus fault true 3 0 bus fault true]"
	if fmt.Sprint(found) != want {
		t.Errorf("pings: got %v, want %s", found, want)
	}
	c, _ = play(t, 1, "> FF FF 00 02 01 FC\n< gone")
	if _, err := c.Ping(0); !errors.Is(err, servo.ErrDisconnected) {
		t.Errorf("ping without an adapter: got %v", err)
	}
}

func TestClientDoesNotWaitForABabbler(t *testing.T) {
	line := &babbler{}
	c := NewClient(line, 1)
	if _, err := c.Ping(1); hal.KindOf(err) != hal.BusFault {
		t.Errorf("got %v, want a bus fault", err)
	}
	if line.reads > 4*maxPacket {
		t.Errorf("got %d reads, want an end", line.reads)
	}
}

// babbler is a line on which something never stops talking, and no time passes.
type babbler struct{ reads int }

func (b *babbler) Write(p []byte) (int, error) { return len(p), nil }
func (b *babbler) Read(p []byte, _ time.Duration) (int, error) {
	b.reads++
	p[0] = 0x55
	return 1, nil
}
func (b *babbler) Discard() error     { return nil }
func (b *babbler) Now() time.Duration { return 0 }
func (b *babbler) Baud() int          { return 1000000 }
