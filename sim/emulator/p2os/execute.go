package p2os

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
)

func (b *Board) Receive(p []byte, now time.Duration) {
	if now < b.ready {
		return
	}
	for len(p) > 0 {
		p = p[b.parser.Feed(p):]
		for data := b.parser.Data(); data != nil; data = b.parser.Data() {
			if c, err := p2oswire.DecodeCommand(data); err == nil {
				b.received = now
				b.execute(&c, data, now)
			}
		}
	}
	b.answer = now + thinking
}

// execute executes one command.
func (b *Board) execute(c *p2oswire.Command, data []byte, now time.Duration) {
	if !b.open {
		b.sync(c.Op, data, now)
		return
	}
	if b.wheels(c) {
		return
	}
	switch c.Op {
	case p2oswire.OpClose:
		b.open, b.synced = false, 0
		b.encoder, b.gyro, b.io, b.gripper, b.digital, b.order, b.fires = 0, false, 0, 0, 0, "", 0
		b.switchMotors(false)
	case p2oswire.OpEnable:
		b.switchMotors(c.Int != 0)
	case p2oswire.OpSetO:
		b.x, b.y, b.h = 0, 0, 0
		b.drive.heading = false
	case p2oswire.OpStop, p2oswire.OpEStop:
		b.drive.stop()
		if c.Op == p2oswire.OpEStop {
			b.speed, b.brake = [2]float64{}, now+braking
		}
	case p2oswire.OpSonar:
		b.sonar = c.Int&1 != 0
	case p2oswire.OpPolling:
		b.order, b.fires = "", 0
		for _, n := range []byte(c.Text) {
			if n >= 1 && int(n) <= len(b.robot.Sonar) {
				b.order += string(rune(n))
			}
		}
	case p2oswire.OpConfig:
		if b.Configs++; b.Mute {
			break
		}
		b.out = p2oswire.AppendPacket(b.out, b.config().Append(nil))
		if b.WrongConfig {
			b.out[len(b.out)-1] ^= 0xFF
		}
	case p2oswire.OpEncoder:
		b.encoder = c.Int
	case p2oswire.OpGyro:
		b.gyro = c.Int != 0
	case p2oswire.OpIORequest:
		b.io = c.Int
	case p2oswire.OpGripperState:
		b.gripper = c.Int
	case p2oswire.OpGripper:
		if states := [9]byte{1: 1, 2: 2, 4: 1<<4 | b.grip&3, 5: 1<<5 | b.grip&3, 7: 2 | 1<<4,
			8: 1 | 1<<5}; c.Int >= 0 && c.Int < len(states) {
			b.grip = states[c.Int]
		}
	case p2oswire.OpDigOut:
		mask := byte(c.Int >> 8)
		b.digital = b.digital&^mask | byte(c.Int)&mask
	case p2oswire.OpADSel:
		b.selected = byte(c.Int)
	}
}

// sync is the way to an open session.
func (b *Board) sync(op p2oswire.Op, data []byte, now time.Duration) {
	switch {
	case op == p2oswire.OpPulse:
		b.synced = 1
		b.out = p2oswire.AppendPacket(b.out, data)
	case op == p2oswire.OpOpen && b.synced == 3:
		b.open, b.report = true, now+cycle
		b.switchMotors(false)
	case op == p2oswire.OpOpen && b.synced >= 1:
		b.synced = 2
		b.out = p2oswire.AppendPacket(b.out, data)
	case op == p2oswire.OpClose && b.synced >= 2:
		b.synced = 3
		b.out = p2oswire.AppendPacket(b.out, b.names.Append(nil))
	}
}
