package feetech

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

// The steps of arming, each one a packet over all servos that take it: a later one needs the earlier.
const (
	armSettings = iota // the lock, and settings that a power loss clears
	armGoal            // the goal is the present position
	armTorque
	armSteps
)

func (b *protocol) Steps() int { return armSteps }

func (b *protocol) TorqueStep() int { return armTorque }

// TookGoal reads back the goal of servo i, or of a mode without positions its speed or duty, which is zero.
func (b *protocol) TookGoal(i int) error {
	d := &b.devices[i]
	r := d.goalPosition
	_, mode := d.wanted(&b.chain.Devices[i].Goal)
	switch mode {
	case hal.VelocityMode:
		r = d.goalSpeed
	case hal.DutyMode, hal.TorqueMode:
		r = d.goalTime
	}
	if err := b.Flush(); err != nil {
		return err
	}
	got, err := b.link.register(d.cfg.ID, r, d.delay)
	switch {
	case err != nil:
		return err
	case mode == hal.PositionMode:
		return servo.SameGoal(got, d.goalNow, d.m.TicksPerTurn)
	}
	return servo.Unequal(got, 0)
}

// wanted is the operating mode that a goal needs, and the mode of ours it means. A mode the model does not have,
// like no mode at all, is to hold the position.
func (d *device) wanted(g *servo.Goal) (int, hal.Mode) {
	if g.Mode < hal.NoMode && d.m.Modes[g.Mode] >= 0 {
		return d.m.Modes[g.Mode], g.Mode
	}
	return modePosition, hal.PositionMode
}

// Ready reports whether the operating mode of servo i is right, and sets it right.
func (b *protocol) Ready(i int) (bool, error) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	want, _ := d.wanted(&dev.Goal)
	// It may have lost its power while torque was off, and have the mode of its EEPROM again: read before every arming.
	if d.mode != nil {
		if err := b.Flush(); err != nil {
			return false, err
		}
		v, err := b.link.register(d.cfg.ID, d.mode, d.delay)
		if err != nil {
			return false, err
		}
		d.modeNow = int(v)
	}
	if want == d.modeNow {
		err := dev.Outside(d.low, d.high, d.m.TicksPerTurn)
		return err == nil, err
	}
	if !b.chain.Resting(i) { // no motor may run into another mode
		return false, nil
	}
	if err := b.Flush(); err != nil {
		return false, err
	}
	if err := b.link.store(d.cfg.ID, d.lock, 1, d.delay); err != nil {
		return false, err
	}
	if err := b.link.store(d.cfg.ID, d.mode, int64(want), d.delay); err != nil {
		return false, err
	}
	d.modeNow, d.limitNow = want, -1
	err := dev.Outside(d.low, d.high, d.m.TicksPerTurn)
	return err == nil, err
}

func (b *protocol) StageTorqueOff(i int) { b.put(i, b.devices[i].torque, 0) }

// StageTorqueOn stages a step of giving servo i torque.
func (b *protocol) StageTorqueOn(i, step int) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	switch step {
	case armSettings:
		b.put(i, d.lock, 1)
		for _, s := range d.cfg.Settings {
			b.put(i, d.m.Register(s.Register), s.Value)
		}
		if d.limitNow = d.limitRaw(dev.Share()); d.current == nil {
			b.put(i, d.limit, d.limitNow)
		}
	case armGoal:
		b.putGoal(i, true)
	case armTorque:
		b.put(i, d.torque, 1)
	}
}

// StageGoal stages the goal of servo i and its limit where that has changed.
func (b *protocol) StageGoal(i int) bool {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if want, _ := d.wanted(&dev.Goal); want != d.modeNow {
		return false
	}
	// A limit raised under an alarm would defeat the servo's own protection.
	if v := d.limitRaw(dev.Share()); v != d.limitNow && (dev.State.Alarm&d.fatal == 0 || v < d.limitNow) {
		if d.limitNow = v; d.current == nil { // else it goes with the goal
			b.put(i, d.limit, v)
		}
	}
	b.putGoal(i, false)
	return true
}

// putGoal stages acceleration, position, time (of HLS a current) and speed, which in every mode lie side by side; of a
// goal without a position the latter two. rest asks for no motion: the present position, or a speed or duty of zero.
func (b *protocol) putGoal(i int, rest bool) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	_, mode := d.wanted(&dev.Goal)
	position := dev.Position(rest, mode != hal.PositionMode || dev.Goal.Mode != mode, d.low, d.high)
	// The maximum speed is written explicitly: the meaning of 0 depends on the servo's phase register.
	fastest := d.cfg.Velocity
	if !(fastest > 0) {
		fastest = 1.2 * d.m.MaxVelocity
	}
	speed, duty := fastest, int64(0) // duty: at the address of the time
	switch mode {
	case hal.VelocityMode:
		speed = servo.Bounded(dev.Goal.Velocity, math.Inf(1), rest)
	case hal.DutyMode:
		speed = 0
		duty = d.goalTime.Raw(servo.Bounded(dev.Goal.Duty, 1, rest))
	}
	if d.current != nil {
		duty = d.currentRaw(servo.Bounded(dev.Goal.Effort, math.Inf(1), rest), mode, dev.Share())
	}
	w := write{id: d.cfg.ID, addr: byte(d.goalTime.Addr), size: byte(d.goalTime.Size + d.goalSpeed.Size)}
	if mode != hal.PositionMode && !rest {
		// Without a position: a servo that lost its power is in its position mode again, and a goal takes its torque
		// on.
		d.goalSpeed.Append(d.goalTime.Append(w.bytes[:0], duty), d.goalSpeed.Raw(speed/d.coarse))
		b.queue = append(b.queue, w)
		return
	}
	w.addr, w.size = byte(d.goalPosition.Addr), goalBlock-1
	p := w.bytes[:0]
	if d.acceleration != nil {
		w.addr, w.size = byte(d.acceleration.Addr), goalBlock
		p = d.acceleration.Append(p, d.accelerationRaw())
	}
	raw := min(max(int64(math.Round(position)), d.goalPosition.Min), d.goalPosition.Max)
	d.goalNow = raw
	p = d.goalTime.Append(d.goalPosition.Append(p, raw), duty)
	d.goalSpeed.Append(p, d.goalSpeed.Raw(speed/d.coarse))
	b.queue = append(b.queue, w)
}

// accelerationRaw is the bound of the config, at least one count; 0: none.
func (d *device) accelerationRaw() int64 {
	if !(d.cfg.Acceleration > 0) {
		return 0
	}
	return max(1, d.acceleration.Raw(d.cfg.Acceleration))
}

// StageGain stages a gain of the position control of servo i, within its register's range. The lock, set at arming,
// keeps it from the EEPROM.
func (b *protocol) StageGain(i, gain int, raw int64) {
	names := [...]string{"position_p_gain", "position_i_gain", "position_d_gain"}
	if r := b.devices[i].m.Register(names[gain]); r != nil {
		b.put(i, r, min(max(raw, r.Min), r.Max))
	}
}

// put stages v for register r of servo i.
func (b *protocol) put(i int, r *servo.Register, v int64) {
	w := write{id: b.devices[i].cfg.ID, addr: byte(r.Addr), size: byte(r.Size)}
	r.Append(w.bytes[:0], v)
	b.queue = append(b.queue, w)
}

// Stage adds the staged writes to the output, one sync write for each address and size.
func (b *protocol) Stage() {
	for i := range b.queue {
		first := &b.queue[i]
		if first.sent {
			continue
		}
		// Arming a long chain at once fills several packets; the line takes them one after the other anyway.
		if cap(b.link.Out)-len(b.link.Out) < feetechwire.MaxPacket && b.Flush() != nil {
			break // the next exchange meets the same
		}
		g := feetechwire.BeginGroup(b.link.Out, feetechwire.SyncWrite, first.addr, first.size)
		var in [4]uint64 // ids of this packet, as bits
		for k := i; k < len(b.queue); k++ {
			w := &b.queue[k]
			// A register set twice keeps its order: the later value goes into a later packet.
			word, bit := w.id/64, uint64(1)<<(w.id%64)
			if w.sent || w.addr != first.addr || w.size != first.size || in[word]&bit != 0 {
				continue
			}
			w.sent = true
			in[word] |= bit
			g.Add(w.id, w.bytes[:w.size])
		}
		b.link.Out = g.End()
	}
	b.queue = b.queue[:0]
}

func (b *protocol) Flush() error { return b.link.Write() }
