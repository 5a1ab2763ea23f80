package odrive

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// Clear clears the errors of node i and waits for a heartbeat without them.
func (b *canProtocol) Clear(i int) error {
	d := &b.devices[i]
	if err := b.clear(i); err != nil {
		return err
	}
	if err := b.x.Drain(); err != nil {
		return err
	}
	d.due = 1 << odrivewire.Heartbeat
	err := b.x.Collect(1, heartbeatTimeout)
	if d.due = 0; err != nil {
		return err
	}
	d.note(&b.chain.Devices[i], odrivewire.AxisPart, uint64(d.heartbeat.Errors))
	b.readCauses(i)
	return d.remaining(&b.chain.Devices[i])
}

// clear stages the clearing of node i's errors. Firmware 0.5 clears both axes of the board by it, and does not tell
// which nodes share one: it is refused while another node has an error.
func (b *canProtocol) clear(i int) error {
	d := &b.devices[i]
	for k := range b.devices {
		if o := &b.devices[k]; k != i && d.dialect == odrivewire.V05 && o.dialect == odrivewire.V05 &&
			o.words.Latched() != 0 && !o.words.HostOnly(odrivewire.V05) {
			return b.chain.Devices[i].Error(hal.Unsafe, "clear errors",
				fmt.Errorf("node %d, which may be the other axis of its board, has errors too, %s, "+
					"which the same command would clear: see to it first, then odrivetool: odrv0.clear_errors()",
					o.cfg.ID,
					o.words.Report(odrivewire.V05).Fault))
		}
	}
	b.put(odrivewire.Frame(d.cfg.ID, odrivewire.ClearErrors))
	return nil
}

// Ready prepares node i: that the host was away is forgotten, and the watchdog is set where its endpoints are known.
func (b *canProtocol) Ready(i int) (bool, error) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if !b.chain.Resting(i) {
		return false, nil
	}
	if d.words.Latched() != 0 && d.words.HostOnly(d.dialect) {
		if err := b.clear(i); err != nil {
			return false, err
		}
	}
	if err := b.guard(i); err != nil {
		return false, err
	}
	if err := b.readOwn(i); err != nil { // another client may have lowered it
		return false, err
	}
	d.control, d.limit = wanted(&dev.Goal), math.NaN()
	return true, nil
}

var errWatchdog = fmt.Errorf("its watchdog: %w: the endpoints of the config are not those of its firmware's "+
	"flat_endpoints.json", servo.ErrDiffers)

// guard writes the watchdog of node i and reads it back.
func (b *canProtocol) guard(i int) error {
	d := &b.devices[i]
	for _, s := range d.cfg.Settings {
		if s.Register == limitEndpoint {
			continue
		}
		w := odrivewire.SDO{Write: true, Endpoint: uint16(s.Value), Value: 1}
		if s.Register == watchdogEndpoint {
			w.Value = odrivewire.FloatWord(watchdog.Seconds())
		}
		b.put(w.Frame(d.cfg.ID, odrivewire.RxSDO))
		err := b.fetch(i, w.Endpoint)
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

// fetch reads an endpoint of node i into its sdo.
func (b *canProtocol) fetch(i int, endpoint uint16) error {
	d := &b.devices[i]
	b.put(odrivewire.SDO{Endpoint: endpoint}.Frame(d.cfg.ID, odrivewire.RxSDO))
	d.due |= 1 << odrivewire.TxSDO
	err := b.x.Collect(1, canDelay)
	d.due &^= 1 << odrivewire.TxSDO
	return err
}

// readOwn reads node i's own current limit, where its endpoint is known: one that was not written here. CANSimple has a
// frame that sets a limit, with one of the speed, and none that reads it: without an endpoint none is written.
func (b *canProtocol) readOwn(i int) error {
	d := &b.devices[i]
	for _, s := range d.cfg.Settings {
		if s.Register != limitEndpoint || d.dialect == odrivewire.V05 {
			continue
		}
		d.ceiling = uint16(s.Value)
		err := b.fetch(i, d.ceiling)
		v := float64(math.Float32frombits(d.sdo.Value))
		switch {
		case err != nil && !servo.IsServoError(err):
			return err
		case err != nil || d.sdo.Endpoint != d.ceiling || !(v >= 0):
			return b.chain.Devices[i].Error(hal.Invalid, "open",
				fmt.Errorf("%s: %w: it is not that of its firmware's flat_endpoints.json", limitEndpoint,
					servo.ErrDiffers))
		}
		d.limit = v
		if !(math.Abs(v-d.wrote) < 0.01*d.m.Amps) { // else it is ours
			d.own, b.chain.Devices[i].State.Ceiling = v, v
		}
	}
	return nil
}

// Steps of arming: the control with the goal where it is, the torque, and the goal once more.
func (b *canProtocol) Steps() int { return 3 }

// StageTorqueOff stages torque off. A repetition does not count as a change of the state.
func (b *canProtocol) StageTorqueOff(i int) {
	b.request(i, odrivewire.Idle, b.devices[i].commanded != odrivewire.Idle)
}

func (b *canProtocol) request(i int, s odrivewire.State, changed bool) {
	d := &b.devices[i]
	d.commanded, d.staged = s, d.staged || changed
	b.put(odrivewire.Words(d.cfg.ID, odrivewire.SetState, uint32(s)))
}

func (b *canProtocol) StageTorqueOn(i, step int) {
	switch step {
	case 0:
		b.put(odrivewire.Words(b.devices[i].cfg.ID, odrivewire.SetControl, uint32(b.devices[i].control),
			odrivewire.Passthrough))
	case 1:
		b.request(i, odrivewire.ClosedLoop, true)
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

// goal stages the goal of node i, and its current limit where that has changed. rest asks for no motion.
func (b *canProtocol) goal(i int, rest bool) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if amps, changed := d.amps(dev); changed {
		b.put(odrivewire.SDO{Write: true, Endpoint: d.ceiling, Value: odrivewire.FloatWord(amps)}.Frame(d.cfg.ID,
			odrivewire.RxSDO))
	}
	switch control, v := d.goal(dev, rest); control {
	case odrivewire.VelocityControl:
		b.put(odrivewire.Floats(d.cfg.ID, odrivewire.InputVel, v, 0))
	case odrivewire.TorqueControl:
		b.put(odrivewire.Floats(d.cfg.ID, odrivewire.InputTorque, v))
	default:
		b.put(odrivewire.Position(d.cfg.ID, v))
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
