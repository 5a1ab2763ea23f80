package dynamixel

import (
	"errors"
	"math"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// openAX is what Open asks one AX-12A: who it is, whether it answers reads, and its settings.
const openAX = `
> FF FF 01 02 01 FB
< FF FF 01 02 00 FC
> FF FF 01 04 02 00 03 F5      # model and firmware
< FF FF 01 05 00 0C 00 18 D5
> FF FF 01 04 02 18 01 DF      # torque_enable: it answers reads
< FF FF 01 03 00 00 FB
> FF FF 01 04 02 05 01 F2      # return_delay 0
< FF FF 01 03 00 00 FB
> FF FF 01 04 02 12 01 E5      # shutdown: overload and heat
< FF FF 01 03 00 24 D7
> FF FF 01 04 02 0E 02 E8      # max_torque 1023
< FF FF 01 04 00 FF 03 F8
> FF FF 01 04 02 06 02 F0      # angle limits 0
< FF FF 01 04 00 00 00 FA
> FF FF 01 04 02 08 02 EE      # to 1023: a joint
< FF FF 01 04 00 FF 03 F8
> FF FF 01 04 02 18 01 DF      # torque is off
< FF FF 01 03 00 00 FB
`

const sessionAX = openAX + `
# at rest: nothing is written
> FF FF 01 04 02 24 06 CE
< FF FF 01 08 00 58 02 00 00 00 00 9C
# told to go to 612: torque limit, goal := present (600), which is read back, torque on; a long read sees it
> FF FF FE 07 83 22 02 01 FF 03 50
+ FF FF FE 09 83 1E 04 01 58 02 00 00 F8
> FF FF 01 04 02 1E 02 D8
< FF FF 01 04 00 58 02 A0
> FF FF FE 06 83 18 01 01 01 5D
> FF FF 01 04 02 18 14 CC
< FF FF 01 16 00 01 00 01 01 20 20 58 02 00 00 FF 03 58 02 00 00 00 00 78 19 5E
# the goal itself
> FF FF FE 09 83 1E 04 01 64 02 00 00 EC
> FF FF 01 04 02 24 06 CE
< FF FF 01 08 00 59 02 64 04 F4 05 3A
# silence
> FF FF FE 09 83 1E 04 01 64 02 00 00 EC
> FF FF 01 04 02 24 06 CE
< silence
# a bad checksum
> FF FF FE 09 83 1E 04 01 64 02 00 00 EC
> FF FF 01 04 02 24 06 CE
< FF FF 01 08 00 59 02 64 04 F4 05 3B
# garbage before a good answer
> FF FF FE 09 83 1E 04 01 64 02 00 00 EC
> FF FF 01 04 02 24 06 CE
< 00 FF 37 FF FF 01 08 00 5A 02 00 00 00 00 9A
# overload: the error byte says so, the goal is withheld, a long read finds torque and torque limit gone
> FF FF FE 09 83 1E 04 01 64 02 00 00 EC
> FF FF 01 04 02 24 06 CE
< FF FF 01 08 24 58 02 00 00 00 00 78
> FF FF 01 04 02 18 14 CC
< FF FF 01 16 24 00 00 01 01 20 20 64 02 00 00 00 00 58 02 00 00 00 00 78 19 31
# no more goals
> FF FF 01 04 02 24 06 CE
< FF FF 01 08 24 58 02 00 00 00 00 78
# cleared by command: a new torque limit, read back
> FF FF 01 05 03 22 FF 03 D2
< FF FF 01 02 24 D8
> FF FF 01 04 02 22 02 D4
< FF FF 01 04 24 FF 03 D4
# halt: off, twice, and seen
> FF FF FE 06 83 18 01 01 00 5E
> FF FF FE 06 83 18 01 01 00 5E
> FF FF 01 04 02 18 01 DF
< FF FF 01 03 00 00 FB
# the adapter is pulled out
> FF FF 01 04 02 24 06 CE
< gone
`

// player is a chain of one servo on a line that plays a session.
type player struct {
	*testing.T
	*servo.GenericChain
	line *servotest.Playback
}

func playChain(t *testing.T, model, session string) *player {
	t.Helper()
	turns, err := servotest.Parse(session)
	if err != nil {
		t.Fatal(err)
	}
	line := servotest.NewPlayback(1000000, turns...)
	c := NewChain(servo.ChainConfig{Name: "arm", Line: line, Health: -1,
		Servos: []servo.ServoConfig{{ID: 1, Model: ModelByName(model)}}})
	if err := c.Open(); err != nil {
		t.Fatal(err)
	}
	return &player{t, c, line}
}

// step runs a cycle and compares what the chain then knows.
func (p *player) step(name string, position float64, err error, torque bool) {
	p.Helper()
	if err := p.Send(); err != nil {
		p.Fatalf("%s: send: %v", name, err)
	}
	if err := p.Receive(); err != nil {
		p.Fatalf("%s: receive: %v", name, err)
	}
	if s := p.State(0); s.Position != position || !errors.Is(s.Err, err) || err == nil && s.Err != nil ||
		s.Torque != torque {
		p.Errorf("%s: got %+v, want position %g, error %v, torque %v", name, *s, position, err, torque)
	}
}

func (p *player) end() {
	p.Helper()
	if err := p.line.Close(); err != nil {
		p.Error(err)
	}
}

func TestChainSessionAX(t *testing.T) {
	p := playChain(t, "ax-12a", sessionAX)
	p.step("rest", 600, nil, false)
	p.SetGoal(0, atTicks(611.6))
	p.step("torque on", 600, nil, true)
	p.step("goal", 601, nil, true)
	// 100 units of 0.111 rpm and 500 of 1023, both clockwise
	if s := p.State(0); math.Abs(s.Velocity+1.16239) > 1e-5 || math.Abs(s.Effort+500./1023) > 1e-9 {
		t.Errorf("goal: got velocity %g, effort %g, want -1.16239, %g", s.Velocity, s.Effort, -500./1023)
	}
	p.step("silence", 601, servo.ErrNoReply, true)
	p.step("bad checksum", 601, servo.ErrCorrupt, true)
	p.step("garbage", 602, nil, true)
	p.step("alarm", 600, nil, true)
	if got := p.State(0).Alarm; got != servo.AlarmOverload|servo.AlarmHeat {
		t.Errorf("alarm: got %v, want overload and heat", got)
	}
	p.step("seen", 600, nil, false)
	p.step("latched", 600, nil, false)
	if err := p.ClearAlarm(0); err != nil {
		t.Errorf("clear alarm: %v", err)
	}
	if faults := p.Halt(); len(faults) != 1 || faults[0] != nil {
		t.Errorf("halt: got %v", faults)
	}
	p.Send()
	if err := p.Receive(); hal.KindOf(err) != hal.Absent {
		t.Errorf("pulled out: got %v, want %v", err, hal.Absent)
	}
	if st := p.Stats(); st.Timeouts != 1 || st.BadChecksums != 1 || st.Garbage == 0 {
		t.Errorf("stats: got %+v", st)
	}
	p.end()
}

const openXM = `
> FF FF FD 00 01 03 00 01 19 4E
< FF FF FD 00 01 07 00 55 00 FC 03 30 59 43          # 1020
> FF FF FD 00 01 07 00 02 40 00 01 00 3C DB          # torque_enable: it answers reads
< FF FF FD 00 01 05 00 55 00 00 53 21
> FF FF FD 00 01 07 00 02 09 00 01 00 21 EF          # return_delay 0
< FF FF FD 00 01 05 00 55 00 00 53 21
> FF FF FD 00 01 07 00 02 3F 00 01 00 2B 57          # shutdown 34
< FF FF FD 00 01 05 00 55 00 34 E8 A1
> FF FF FD 00 01 07 00 02 24 00 02 00 2E 01          # pwm_limit 885
< FF FF FD 00 01 06 00 55 00 75 03 CA E5
> FF FF FD 00 01 07 00 02 26 00 02 00 2D A9          # current_limit 1193
< FF FF FD 00 01 06 00 55 00 A9 04 D7 AD
> FF FF FD 00 01 07 00 02 2C 00 04 00 2D 35          # velocity_limit 350
< FF FF FD 00 01 08 00 55 00 5E 01 00 00 B0 A0
> FF FF FD 00 01 07 00 02 34 00 04 00 28 55          # min_position 0
< FF FF FD 00 01 08 00 55 00 00 00 00 00 BF B8
> FF FF FD 00 01 07 00 02 30 00 04 00 2B 85          # max_position 4095
< FF FF FD 00 01 08 00 55 00 FF 0F 00 00 5B B4
> FF FF FD 00 01 07 00 02 0B 00 01 00 22 47          # operating_mode 5
< FF FF FD 00 01 05 00 55 00 05 4D 21
> FF FF FD 00 01 07 00 02 14 00 04 00 24 D5          # homing_offset
< FF FF FD 00 01 08 00 55 00 00 00 00 00 BF B8
> FF FF FD 00 01 07 00 02 40 00 01 00 3C DB          # torque is off
< FF FF FD 00 01 05 00 55 00 00 53 21
`

const sessionXM = openXM + `
# at rest
> FF FF FD 00 FE 08 00 8A 7E 00 0A 00 01 9C 26
< FF FF FD 00 FE 0F 00 55 00 01 00 00 00 00 00 00 58 02 00 00 58 69
# watchdog off, profile, current limit; goal := present, which is read back; torque on; watchdog 200 ms; a long read sees it
> FF FF FD 00 FE 09 00 83 62 00 01 00 01 00 3A AF
+ FF FF FD 00 FE 0C 00 83 6C 00 04 00 01 00 00 00 00 DC F6
+ FF FF FD 00 FE 0C 00 83 70 00 04 00 01 00 00 00 00 5F 3A
+ FF FF FD 00 FE 0A 00 83 66 00 02 00 01 A9 04 04 6B
+ FF FF FD 00 FE 0C 00 83 74 00 04 00 01 58 02 00 00 EF C3
> FF FF FD 00 01 07 00 02 74 00 04 00 35 D5
< FF FF FD 00 01 08 00 55 00 58 02 00 00 8C D8
> FF FF FD 00 FE 09 00 83 40 00 01 00 01 01 1D DF
+ FF FF FD 00 FE 09 00 83 62 00 01 00 01 0A 06 AF
> FF FF FD 00 FE 08 00 8A 40 00 53 00 01 3B A8
< FF FF FD 00 FE 58 00 55 00 01 01 00 00 00 02 00 00 00 00 00 00 00 80 07 64 00 00 00 00 00 20 03 00 00 00 00 00 00
< 00 00 00 00 00 00 0A 00 75 03 A9 04 00 00 00 00 00 00 00 00 00 00 00 00 58 02 00 00 00 00 00 00 00 00 00 00 00 00
< 00 00 58 02 00 00 00 00 00 00 00 00 00 00 78 00 19 04 E8
# the goal
> FF FF FD 00 FE 0C 00 83 74 00 04 00 01 64 02 00 00 E5 F3
> FF FF FD 00 FE 08 00 8A 7E 00 0A 00 01 9C 26
< FF FF FD 00 FE 0F 00 55 00 01 00 00 00 00 00 00 58 02 00 00 58 69
# silence, then asked alone
> FF FF FD 00 FE 0C 00 83 74 00 04 00 01 64 02 00 00 E5 F3
> FF FF FD 00 FE 08 00 8A 7E 00 0A 00 01 9C 26
< silence
> FF FF FD 00 FE 0C 00 83 74 00 04 00 01 64 02 00 00 E5 F3
> FF FF FD 00 01 07 00 02 7E 00 0A 00 36 F9
< FF FF FD 00 01 0E 00 55 00 00 00 00 00 00 00 58 02 00 00 AF 10
# a bad CRC, then asked alone, then fast again
> FF FF FD 00 FE 0C 00 83 74 00 04 00 01 64 02 00 00 E5 F3
> FF FF FD 00 FE 08 00 8A 7E 00 0A 00 01 9C 26
< FF FF FD 00 FE 0F 00 55 00 01 00 00 00 00 00 00 58 02 00 00 58 68
> FF FF FD 00 FE 0C 00 83 74 00 04 00 01 64 02 00 00 E5 F3
> FF FF FD 00 01 07 00 02 7E 00 0A 00 36 F9
< FF FF FD 00 01 0E 00 55 00 00 00 00 00 00 00 58 02 00 00 AF 10
# garbage before the answer; the alert bit in it
> FF FF FD 00 FE 0C 00 83 74 00 04 00 01 64 02 00 00 E5 F3
> FF FF FD 00 FE 08 00 8A 7E 00 0A 00 01 9C 26
< FF FF FD 13 FF FF FD 00 FE 0F 00 55 80 01 00 00 00 00 00 00 58 02 00 00 9B D6
# the long read names it: overload, torque off
> FF FF FD 00 FE 0C 00 83 74 00 04 00 01 64 02 00 00 E5 F3
> FF FF FD 00 FE 08 00 8A 40 00 53 00 01 3B A8
< FF FF FD 00 FE 58 00 55 80 01 00 00 00 00 02 00 20 00 00 00 00 00 80 07 64 00 00 00 00 00 20 03 00 00 00 00 00 00
< 00 00 00 00 00 00 0A 00 75 03 A9 04 00 00 00 00 00 00 00 00 00 00 00 00 64 02 00 00 00 00 00 00 00 00 00 00 00 00
< 00 00 58 02 00 00 00 00 00 00 00 00 00 00 78 00 19 9A 8B
# no more goals; cleared by command: a reboot
> FF FF FD 00 FE 08 00 8A 7E 00 0A 00 01 9C 26
< FF FF FD 00 FE 0F 00 55 80 01 00 00 00 00 00 00 58 02 00 00 9B D6
> FF FF FD 00 01 03 00 08 2F 4E
< FF FF FD 00 01 04 00 55 00 A1 0C
`

func TestChainSessionXM(t *testing.T) {
	p := playChain(t, "xm430-w350", sessionXM)
	p.step("rest", 600, nil, false)
	p.SetGoal(0, atTicks(612))
	p.step("torque on", 600, nil, true)
	if v := p.State(0); v.Voltage != 12 || v.Temperature != 25 {
		t.Errorf("long read: got %g V, %g °C, want 12, 25", v.Voltage, v.Temperature)
	}
	p.step("goal", 600, nil, true)
	p.step("silence", 600, servo.ErrNoReply, true)
	p.step("alone", 600, nil, true)
	p.step("bad crc", 600, servo.ErrCorrupt, true)
	p.step("alone", 600, nil, true)
	p.step("alert", 600, nil, true)
	p.step("named", 600, nil, false)
	if got := p.State(0).Alarm; got != servo.AlarmOverload || !errors.Is(p.Fault(0), servo.ErrLatched) {
		t.Errorf("alarm: got %v, %v, want overload, latched", got, p.Fault(0))
	}
	p.step("latched", 600, nil, false)
	if err := p.ClearAlarm(0); err != nil {
		t.Errorf("clear alarm: %v", err)
	}
	// The servo restarts: it is not asked for some cycles, and nothing is written.
	for range rebootPause - 1 {
		if err := errors.Join(p.Send(), p.Receive()); err != nil {
			t.Fatal(err)
		}
	}
	p.end()
}
