package kondo

import (
	"errors"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/kondowire"
	"github.com/halyard-robotics/halyard/servo"
)

// protocol is the servo.Protocol of a chain.
type protocol struct {
	chain   *servo.GenericChain
	link    *link
	devices []device
}

// device is the state of one servo in addition to servo.Device.
type device struct {
	cfg *servo.ServoConfig
	m   *Model

	due      bool // goal is to be sent in this Send
	goal     int  // ticks; 0 = free
	settings bool // the settings must be written before it
}

// free is the position that switches torque off.
const free = 0

func (b *protocol) Connect(x *servo.Exchange) { b.link = newLink(x) }

// ParserStats returns the parser's counters; the protocol has no checksum.
func (b *protocol) ParserStats() (uint64, uint64) {
	return b.link.parser.BadChecksum, b.link.parser.Garbage
}

// Identify checks that servo i replies, by a read of its stretch (stiffness).
func (b *protocol) Identify(i int) error {
	_, err := b.link.exchange(kondowire.Packet{Op: kondowire.Read, ID: b.devices[i].cfg.ID, A: kondowire.Stretch})
	return err
}

// SyncRead is never called: the protocol has no group read.
func (b *protocol) SyncRead(servo.Level, []int) error { return nil }

// Ready has nothing to prepare.
func (b *protocol) Ready(i int) (bool, error) {
	d := &b.devices[i]
	err := b.chain.Devices[i].Outside(d.m.MinTicks, d.m.MaxTicks, d.m.TicksPerTurn)
	return err == nil, err
}

// Steps of arming: one, a goal at the present position switches torque on.
func (b *protocol) Steps() int { return 1 }

// StageTorqueOff stages the free position for Flush.
func (b *protocol) StageTorqueOff(i int) {
	// A lost servo is switched off by a stop and by its next poll: waiting for it in every cycle would delay the
	// others.
	if c := b.chain; !c.Devices[i].Lost || c.Cutting() || c.Halting() {
		b.setGoal(i, free)
	}
}

// StageTorqueOn stages a goal at the present position of servo i, and its settings before that.
func (b *protocol) StageTorqueOn(i, _ int) {
	b.devices[i].settings = len(b.devices[i].cfg.Settings) > 0
	b.setGoal(i, b.target(i, true))
}

func (b *protocol) StageGoal(i int) bool {
	b.setGoal(i, b.target(i, false))
	return true
}

func (b *protocol) setGoal(i, goal int) { b.devices[i].due, b.devices[i].goal = true, goal }

// target is the position to send to servo i.
func (b *protocol) target(i int, rest bool) int {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	return int(math.Round(dev.Position(rest, dev.Goal.Mode != hal.PositionMode, d.m.MinTicks, d.m.MaxTicks)))
}

// Stage does nothing: each servo gets one command.
func (b *protocol) Stage() {}

// Flush sends every due command and receives the reply, lost servos last.
func (b *protocol) Flush() error {
	if err := b.flush(false); err != nil {
		return err
	}
	return b.flush(true)
}

func (b *protocol) flush(lost bool) error {
	for i := range b.devices {
		d := &b.devices[i]
		if !d.due || b.chain.Devices[i].Lost != lost {
			continue
		}
		d.due = false
		if b.chain.Cutting() { // Halt checks which are free
			if _, err := b.link.exchange(kondowire.At(d.cfg.ID, d.goal)); err != nil && !servo.IsServoError(err) {
				return err
			}
			continue
		}
		err := b.writeSettings(i)
		if err == nil {
			err = b.exchange(i, d.goal)
		}
		switch {
		case err == nil:
			b.chain.MarkReceived(i)
		case servo.IsServoError(err):
			b.chain.Missed(i, errors.Is(err, servo.ErrCorrupt))
		default:
			return err
		}
	}
	return nil
}

// writeSettings writes the settings of servo i if they are due.
func (b *protocol) writeSettings(i int) error {
	d := &b.devices[i]
	if !d.settings {
		return nil
	}
	for _, s := range d.cfg.Settings {
		sc := byte(d.m.Register(s.Register).Addr)
		k, err := b.link.exchange(kondowire.Packet{Op: kondowire.Write, ID: d.cfg.ID, A: sc, B: byte(s.Value)})
		if err != nil {
			return err
		}
		if k.B != byte(s.Value) {
			return servo.ErrCorrupt
		}
	}
	d.settings = false
	return nil
}

// exchange sends a position to servo i and reads the present one. The reply proves that the command was received, so
// the torque state is known.
func (b *protocol) exchange(i, goal int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	k, err := b.link.exchange(kondowire.At(d.cfg.ID, goal))
	if err != nil {
		return err
	}
	if !b.believable(i, k.Value()) {
		return servo.ErrCorrupt
	}
	dev.State.Position = float64(k.Value())
	// An answered command has been executed. If a servo was switched off only to be measured, ReadState decides.
	torque := goal != free
	if driven := dev.Stage == servo.TorqueOn; driven == torque {
		dev.SawTorque(servo.SwitchOf(torque), false)
	}
	dev.State.Torque = torque
	return nil
}

// beyond is the greatest distance that a shaft can be pushed beyond its range, ticks.
const beyond = 300

// believable reports whether servo i can be at a position. Without a checksum this is the only check.
func (b *protocol) believable(i, ticks int) bool {
	d := &b.devices[i]
	if float64(ticks) < d.m.MinTicks-beyond || float64(ticks) > d.m.MaxTicks+beyond {
		return false
	}
	return b.chain.Devices[i].Believes(float64(ticks), d.m.TicksPerTurn, d.m.MaxVelocity, b.link.Port.Now())
}

// ReadState measures servo i without a change: it sends the last goal again, or the free position. A servo that was
// lost while it had torque may have lost its power, and must not move then: its torque is switched off.
func (b *protocol) ReadState(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	goal := free
	if dev.Stage == servo.TorqueOn && !dev.Lost {
		goal = d.goal
	}
	err := b.exchange(i, goal)
	if err == nil && dev.Lost && dev.Stage == servo.TorqueOn {
		dev.Hold(servo.ErrPowerLost)
	}
	return err
}

// ReadHealth reads the current of servo i. If torque must be off it sends the free position first; the reply proves it.
func (b *protocol) ReadHealth(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if dev.Stage != servo.TorqueOn {
		if err := b.exchange(i, free); err != nil {
			return err
		}
	}
	k, err := b.link.exchange(kondowire.Packet{Op: kondowire.Read, ID: d.cfg.ID, A: kondowire.Current})
	if err != nil {
		return err
	}
	// 0..63 forwards, 64 more backwards; the effort is a share of the stall current.
	amps := ampere * float64(k.B&0x3F)
	if k.B&0x40 != 0 {
		amps = -amps
	}
	dev.State.Effort = amps / d.m.StallCurrent
	return nil
}

// Invalidate discards the staged goal; the settings are written again at the next arming.
func (b *protocol) Invalidate(i int) { b.devices[i].due = false }

// Clear does nothing: the servo reports no alarm.
func (b *protocol) Clear(int) error { return nil }
