package cybergear

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

// wanted is the RunMode that a goal needs. A torque goal goes by motion commands, with no stiffness.
func wanted(g *servo.Goal) int {
	switch g.Mode {
	case hal.VelocityMode:
		return cybergearwire.InSpeed
	case hal.TorqueMode:
		return cybergearwire.Operating
	}
	return cybergearwire.InPosition
}

// nearEnd is the distance from the end of its counting range at which a motor may have stopped counting, rad.
const nearEnd = 0.05

var (
	errMode    = fmt.Errorf("its mode: %w", servo.ErrDiffers)
	errTimeout = fmt.Errorf("its CAN timeout: %w, so that nothing stops it when the cable is pulled; registers: "+
		"{can_timeout: 0} does without", servo.ErrDiffers)
)

// Ready stops motor i, writes its mode and its CAN timeout and reads them back: a mode changes only at rest, and a
// short power loss resets both. Its own torque limit is read before ours is written.
func (b *protocol) Ready(i int) (bool, error) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if !b.chain.Resting(i) {
		return false, nil
	}
	// Staged frames are sent first; their replies are not waited for.
	if err := b.Flush(); err != nil {
		return false, err
	}
	b.StageTorqueOff(i)
	d.mode = wanted(&dev.Goal)
	if err := b.write(i, cybergearwire.RunMode, float64(d.mode), errMode); err != nil {
		return false, err
	}
	if d.timeout > 0 {
		if err := b.write(i, cybergearwire.CANTimeout, d.timeout, errTimeout); err != nil {
			return false, err
		}
	}
	if err := b.readOwn(i); err != nil {
		return false, err
	}
	d.limit = math.NaN()
	// At the end of its counting range the true position may be anywhere beyond.
	if at, most := dev.State.Position, ticks(d.m.Spans.Angle); d.mode == cybergearwire.InPosition &&
		math.Abs(at) > most-ticks(nearEnd) {
		return false, fmt.Errorf("position: got %.0f ticks, want %.0f..%.0f, %w", at, -most, most, servo.ErrOutOfLimits)
	}
	return d.last.State == cybergearwire.Resting, nil
}

// write writes a parameter and reads it back; differs where it does not take it.
func (b *protocol) write(i int, k cybergearwire.Index, v float64, differs error) error {
	d := &b.devices[i]
	b.stage(i, cybergearwire.Set(d.cfg.ID, k, v))
	b.put(cybergearwire.Ask(d.cfg.ID, k))
	d.ask = k
	err := b.collect(i, 1)
	d.ask, d.pending = 0, 0
	if err == nil && d.got != v {
		err = differs
	}
	return err
}

// Steps of arming: the goal where it is, the torque, and the goal once more, should enabling have forgotten it.
func (b *protocol) Steps() int { return 3 }

// StageTorqueOff stages a stop.
func (b *protocol) StageTorqueOff(i int) {
	b.stage(i, cybergearwire.To(b.devices[i].cfg.ID, cybergearwire.Stop))
}

// StageTorqueOn stages one step of switching torque on. The speed limit of position mode, 2 rad/s from the factory, is
// the motor's own: it is never written.
func (b *protocol) StageTorqueOn(i, step int) {
	d := &b.devices[i]
	if step == 1 {
		b.stage(i, cybergearwire.To(d.cfg.ID, cybergearwire.Enable))
		return
	}
	b.goal(i, true)
}

func (b *protocol) StageGoal(i int) bool {
	fits := wanted(&b.chain.Devices[i].Goal) == b.devices[i].mode
	if fits {
		b.goal(i, false)
	}
	return fits
}

// goal stages the goal of motor i, and its limit where that has changed. rest asks for no motion.
func (b *protocol) goal(i int, rest bool) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	g, id := &dev.Goal, d.cfg.ID
	if limit := b.share(i); !(math.Abs(limit-d.limit) < 0.01*d.m.Spans.Torque) || limit == 0 && d.limit != 0 {
		d.limit, d.wrote = limit, limit
		b.stage(i, cybergearwire.Set(id, cybergearwire.LimitTorque, limit))
	}
	switch d.mode {
	case cybergearwire.InSpeed:
		b.stage(i, cybergearwire.Set(id, cybergearwire.SpeedRef, servo.Bounded(g.Velocity, d.m.Spans.Speed, rest)))
	case cybergearwire.Operating:
		// The manual does not specify whether the limit applies to motion commands.
		k := cybergearwire.Motions{Torque: servo.Bounded(g.Effort*d.m.Kt, b.share(i), rest)}
		b.stage(i, k.Message(id, &d.m.Spans))
	default:
		span := ticks(d.m.Spans.Angle)
		b.stage(i, cybergearwire.Set(id, cybergearwire.AngleRef,
			radians(dev.Position(rest, g.Mode != hal.PositionMode, -span, span))))
	}
}

// Stage does nothing: frames are sent in the order they are staged.
func (b *protocol) Stage() {}

// Flush ends a Send: it discards earlier frames and sends the staged ones.
func (b *protocol) Flush() error {
	if b.chain.Cutting() { // frames that have come are left to the next Drain, which changes states
		for i := range b.devices {
			d := &b.devices[i]
			d.pending, d.staged = d.pending+d.staged, 0
		}
		return b.x.Write()
	}
	if err := b.x.Drain(); err != nil {
		return err
	}
	for i := range b.devices {
		d := &b.devices[i]
		d.received, d.pending, d.staged = false, d.staged, 0
	}
	return b.x.Write()
}
