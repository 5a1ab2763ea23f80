package kondo

import (
	"errors"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// protocol is the servo.Protocol of a chain.
type protocol struct {
	chain   *servo.GenericChain
	link    *link
	devices []device
}

// device is what the chain knows of one servo beside its seat.
type device struct {
	cfg *servo.ServoConfig
	m   *Model

	due      bool // goal is to be told in this Send
	goal     int  // ticks; 0 = free
	settings bool // they are to be written first
}

// free is the position that takes the torque off.
const free = 0

// Connect takes a line.
func (b *protocol) Connect(x *servo.Exchange) { b.link = newLink(x) }

// ParserStats is what the parser has counted; there is no checksum.
func (b *protocol) ParserStats() (uint64, uint64) {
	return b.link.parser.BadChecksum, b.link.parser.Garbage
}

// Identify asks whether servo i is there, by its stiffness.
func (b *protocol) Identify(i int) error {
	_, err := b.link.exchange(Packet{Op: Read, ID: b.devices[i].cfg.ID, A: Stretch})
	return err
}

// SyncRead is never asked for: no servo takes part in one.
func (b *protocol) SyncRead(servo.Level, []int) error { return nil }

// Ready has nothing to prepare.
func (b *protocol) Ready(i int) (bool, error) {
	d := &b.devices[i]
	err := b.chain.Devices[i].Outside(d.m.MinTicks, d.m.MaxTicks, d.m.TicksPerTurn)
	return err == nil, err
}

// Steps of arming: the position where the servo stands is its torque.
func (b *protocol) Steps() int { return 1 }

// StageTorqueOff, Arm and Aim note what Flush must tell.
func (b *protocol) StageTorqueOff(i int) {
	// A lost servo is freed when it is asked for: waiting for it in every cycle would cost the others their pace.
	if !b.chain.Devices[i].Lost {
		b.setGoal(i, free)
	}
}

// StageTorqueOn tells servo i to be where it is, its settings before that.
func (b *protocol) StageTorqueOn(i, _ int) {
	b.devices[i].settings = len(b.devices[i].cfg.Settings) > 0
	b.setGoal(i, b.target(i, true))
}

// StageGoal tells servo i its goal.
func (b *protocol) StageGoal(i int) bool {
	b.setGoal(i, b.target(i, false))
	return true
}

func (b *protocol) setGoal(i, goal int) { b.devices[i].due, b.devices[i].goal = true, goal }

// target is the position to tell servo i.
func (b *protocol) target(i int, rest bool) int {
	d, seat := &b.devices[i], &b.chain.Devices[i]
	return int(math.Round(seat.Position(rest, seat.Goal.Mode != hal.PositionMode, d.m.MinTicks, d.m.MaxTicks)))
}

// Stage has nothing to do: each servo is told one thing.
func (b *protocol) Stage() {}

// Flush tells every servo what is due and takes the answer.
func (b *protocol) Flush() error {
	for i := range b.devices {
		d := &b.devices[i]
		if !d.due {
			continue
		}
		d.due = false
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

// writeSettings writes the settings of servo i where they are due.
func (b *protocol) writeSettings(i int) error {
	d := &b.devices[i]
	if !d.settings {
		return nil
	}
	for _, s := range d.cfg.Settings {
		sc := byte(d.m.Register(s.Register).Addr)
		k, err := b.link.exchange(Packet{Op: Write, ID: d.cfg.ID, A: sc, B: byte(s.Value)})
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

// exchange tells servo i a position and takes where it is and, since it has received, whether it has torque.
func (b *protocol) exchange(i, goal int) error {
	d, seat := &b.devices[i], &b.chain.Devices[i]
	k, err := b.link.exchange(At(d.cfg.ID, goal))
	if err != nil {
		return err
	}
	if !b.believable(i, k.Value()) {
		return servo.ErrCorrupt
	}
	seat.State.Position = float64(k.Value())
	torque := servo.On
	if goal == free {
		torque = servo.Off
	}
	// What was answered has been done. One that is freed to be measured is Ask's to judge.
	if driven := seat.Stage == servo.TorqueOn; driven == (torque == servo.On) {
		seat.SawTorque(torque, false)
	}
	seat.State.Torque = torque == servo.On
	return nil
}

// beyond is how far beyond its range a shaft may be pushed, ticks.
const beyond = 300

// believable reports whether servo i can be at a position. Without a checksum this is all there is.
func (b *protocol) believable(i, ticks int) bool {
	d := &b.devices[i]
	if float64(ticks) < d.m.MinTicks-beyond || float64(ticks) > d.m.MaxTicks+beyond {
		return false
	}
	return b.chain.Devices[i].Believes(float64(ticks), d.m.TicksPerTurn, d.m.MaxVelocity, b.link.Port.Now())
}

// ReadState measures servo i without a change: it is told once more what it was told, or to be free. One that was lost while
// it had torque may have lost its power, and then must not be driven: it is freed.
func (b *protocol) ReadState(i int) error {
	d, seat := &b.devices[i], &b.chain.Devices[i]
	goal := free
	if seat.Stage == servo.TorqueOn && !seat.Lost {
		goal = d.goal
	}
	err := b.exchange(i, goal)
	if err == nil && seat.Lost && seat.Stage == servo.TorqueOn {
		seat.Hold(servo.ErrPowerLost)
	}
	return err
}

// ReadHealth reads the current of servo i. Where it must be limp it is told so, whose answer is the proof.
func (b *protocol) ReadHealth(i int) error {
	d, seat := &b.devices[i], &b.chain.Devices[i]
	if seat.Stage != servo.TorqueOn {
		if err := b.exchange(i, free); err != nil {
			return err
		}
	}
	k, err := b.link.exchange(Packet{Op: Read, ID: d.cfg.ID, A: Current})
	if err != nil {
		return err
	}
	// 0..63 forwards, 64 more backwards; as a share of what it draws when it does not move.
	amps := ampere * float64(k.B&0x3F)
	if k.B&0x40 != 0 {
		amps = -amps
	}
	seat.State.Effort = amps / d.m.StallCurrent
	return nil
}

// Invalidate reports that the settings have to be written again.
func (b *protocol) Invalidate(i int) { b.devices[i].due = false }

// Clear has nothing to do: the servo reports no alarm.
func (b *protocol) Clear(int) error { return nil }
