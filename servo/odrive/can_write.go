package odrive

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/servo"
)

// Clear clears the errors of node i and waits for a heartbeat without them.
func (b *canProtocol) Clear(i int) error {
	d := &b.devices[i]
	b.put(Frame(d.cfg.ID, ClearErrors))
	if err := b.x.Drain(); err != nil {
		return err
	}
	d.due = 1 << Heartbeat
	err := b.x.Collect(1, heartbeatTimeout)
	if d.due = 0; err != nil {
		return err
	}
	return d.remaining()
}

// Ready prepares node i: that the host was away is forgotten, and the watchdog is set where its endpoints are known.
func (b *canProtocol) Ready(i int) (bool, error) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if !b.chain.Resting(i) {
		return false, nil
	}
	if d.heartbeat.Errors != 0 && d.heartbeat.Errors.Alarm(d.dialect) == 0 {
		b.put(Frame(d.cfg.ID, ClearErrors))
	}
	if err := b.guard(i); err != nil {
		return false, err
	}
	d.control, d.limit = wanted(&dev.Goal), math.NaN()
	return true, nil
}

var errWatchdog = fmt.Errorf("its watchdog: %w: the endpoints of the config are not those of its firmware's flat_endpoints.json", servo.ErrDiffers)

// guard writes the watchdog of node i and reads it back.
func (b *canProtocol) guard(i int) error {
	d := &b.devices[i]
	for _, s := range d.cfg.Settings {
		w := SDO{Write: true, Endpoint: uint16(s.Value), Value: 1}
		if s.Register == watchdogEndpoint {
			w.Value = floatWord(Watchdog.Seconds())
		}
		b.put(w.Frame(d.cfg.ID, RxSDO))
		b.put(SDO{Endpoint: w.Endpoint}.Frame(d.cfg.ID, RxSDO))
		d.due |= 1 << TxSDO
		err := b.x.Collect(1, canDelay)
		d.due &^= 1 << TxSDO
		switch {
		case servo.IsServoError(err): // a nonexistent endpoint is not answered
			return errWatchdog
		case err != nil:
			return err
		case d.sdo.Endpoint != w.Endpoint || d.sdo.Value != w.Value:
			return errWatchdog
		}
		d.guarded = true
	}
	return nil
}

// Steps of arming: the control with the goal where it is, the torque, and the goal once more.
func (b *canProtocol) Steps() int { return 3 }

// StageTorqueOff stages torque off. A repetition does not count as a change of the state.
func (b *canProtocol) StageTorqueOff(i int) { b.request(i, Idle, b.devices[i].commanded != Idle) }

func (b *canProtocol) request(i int, s State, changed bool) {
	d := &b.devices[i]
	d.commanded, d.staged = s, d.staged || changed
	b.put(Words(d.cfg.ID, SetState, uint32(s)))
}

func (b *canProtocol) StageTorqueOn(i, step int) {
	switch step {
	case 0:
		b.put(Words(b.devices[i].cfg.ID, SetControl, uint32(b.devices[i].control), Passthrough))
	case 1:
		b.request(i, ClosedLoop, true)
		return
	}
	b.goal(i, true)
}

// StageGoal stages the goal of node i. The control mode changes only at rest.
func (b *canProtocol) StageGoal(i int) bool {
	fits := wanted(&b.chain.Devices[i].Goal) == b.devices[i].control
	if fits {
		b.goal(i, false)
	}
	return fits
}

// goal stages the goal of node i, and its limits where they have changed. rest asks for no motion.
func (b *canProtocol) goal(i int, rest bool) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if amps, changed := d.amps(dev); changed {
		b.put(Floats(d.cfg.ID, SetLimits, d.m.Velocity/(2*math.Pi), amps))
	}
	switch control, v := d.goal(dev, rest); control {
	case VelocityControl:
		b.put(Floats(d.cfg.ID, InputVel, v, 0))
	case TorqueControl:
		b.put(Floats(d.cfg.ID, InputTorque, v))
	default:
		b.put(Position(d.cfg.ID, v))
	}
}

// Stage does nothing: frames are sent in the order they are staged.
func (b *canProtocol) Stage() {}

// Flush ends a Send.
func (b *canProtocol) Flush() error {
	if len(b.x.Out) == 0 {
		return nil
	}
	// Frames received by now are older than the commands sent now. A stop leaves them: they change states.
	if !b.chain.Cutting() {
		if err := b.x.Drain(); err != nil {
			return err
		}
	}
	err := b.x.Write()
	b.markSent()
	// Only heartbeats after a halt prove it.
	if b.chain.Halting() {
		for i := range b.devices {
			b.devices[i].beatAt = -1
		}
	}
	return err
}

// markSent notes that the staged state commands have been sent.
func (b *canProtocol) markSent() {
	for i := range b.devices {
		if d := &b.devices[i]; d.staged {
			d.staged, d.changedAt = false, b.x.Port.Now()
		}
	}
}
