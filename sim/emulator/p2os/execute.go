package p2os

import (
	"time"

	"github.com/halyard-robotics/halyard/drivers/base"
)

func (b *Board) Receive(p []byte, now time.Duration) {
	if now < b.ready {
		return
	}
	for len(p) > 0 {
		p = p[b.parser.Feed(p):]
		for data := b.parser.Data(); data != nil; data = b.parser.Data() {
			if c, err := base.DecodeCommand(data); err == nil {
				b.received = now
				b.execute(&c, data, now)
			}
		}
	}
	b.answer = now + thinking
}

// execute executes one command.
func (b *Board) execute(c *base.Command, data []byte, now time.Duration) {
	if !b.open {
		b.sync(c.Op, data, now)
		return
	}
	if b.wheels(c) {
		return
	}
	switch c.Op {
	case base.OpClose:
		b.open, b.synced = false, 0
		b.encoder, b.gyro, b.io, b.gripper, b.digital, b.order, b.fires = 0, false, 0, 0, 0, "", 0
		b.switchMotors(false)
	case base.OpEnable:
		b.switchMotors(c.Int != 0)
	case base.OpSetO:
		b.x, b.y, b.h = 0, 0, 0
		b.drive.heading = false
	case base.OpStop, base.OpEStop:
		b.drive.stop()
		if c.Op == base.OpEStop {
			b.speed, b.brake = [2]float64{}, now+braking
		}
	case base.OpSonar:
		b.sonar = c.Int&1 != 0
	case base.OpPolling:
		b.order, b.fires = "", 0
		for _, n := range []byte(c.Text) {
			if n >= 1 && int(n) <= len(b.robot.Sonar) {
				b.order += string(rune(n))
			}
		}
	case base.OpConfig:
		if b.Configs++; b.Mute {
			break
		}
		b.out = base.AppendPacket(b.out, b.config().Append(nil))
		if b.WrongConfig {
			b.out[len(b.out)-1] ^= 0xFF
		}
	case base.OpEncoder:
		b.encoder = c.Int
	case base.OpGyro:
		b.gyro = c.Int != 0
	case base.OpIORequest:
		b.io = c.Int
	case base.OpGripperState:
		b.gripper = c.Int
	case base.OpGripper:
		if states := [9]byte{1: 1, 2: 2, 4: 1<<4 | b.grip&3, 5: 1<<5 | b.grip&3, 7: 2 | 1<<4,
			8: 1 | 1<<5}; c.Int >= 0 && c.Int < len(states) {
			b.grip = states[c.Int]
		}
	case base.OpDigOut:
		mask := byte(c.Int >> 8)
		b.digital = b.digital&^mask | byte(c.Int)&mask
	case base.OpADSel:
		b.selected = byte(c.Int)
	}
}

// sync is the way to an open session.
func (b *Board) sync(op base.Op, data []byte, now time.Duration) {
	switch {
	case op == base.OpPulse:
		b.synced = 1
		b.out = base.AppendPacket(b.out, data)
	case op == base.OpOpen && b.synced == 3:
		b.open, b.report = true, now+cycle
		b.switchMotors(false)
	case op == base.OpOpen && b.synced >= 1:
		b.synced = 2
		b.out = base.AppendPacket(b.out, data)
	case op == base.OpClose && b.synced >= 2:
		b.synced = 3
		b.out = base.AppendPacket(b.out, b.names.Append(nil))
	}
}
