package vesc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
)

// protocol is the servo.Protocol of a chain.
type protocol struct {
	chain   *servo.GenericChain
	link    *link
	devices []device
}

// device is the state of one controller in addition to servo.Device.
type device struct {
	m *Model

	due   bool    // a reply is pending
	pairs float64 // pole pairs
	tacho float64 // its unsigned tachometer, which a restart resets to 0; NaN = not known yet
	fault vescwire.Fault

	turned  bool          // its last goal was not a position: hold then keeps the present position
	timeout time.Duration // the controller's own
}

// asked are the fields of a cyclic reply, 27 bytes of payload: one more byte would need another frame on the
// controllers' CAN bus.
func (m *Model) asked() uint32 {
	const always = 1<<vescwire.TempFET | 1<<vescwire.CurrentQ | 1<<vescwire.ERPM | 1<<vescwire.Volts | 1<<vescwire.TachoAbs | 1<<vescwire.FaultCode | 1<<vescwire.ControllerID
	if m.Encoder {
		return always | 1<<vescwire.PosNow
	}
	return always | 1<<vescwire.Tacho
}

// Connect takes a line; the id of the controller at its end is read again.
func (b *protocol) Connect(x *servo.Exchange) { b.link = newLink(x) }

func (b *protocol) ParserStats() (uint64, uint64) {
	return b.link.parser.BadChecksum, b.link.parser.Garbage
}

// The oldest supported firmware, and the longest timeout that still stops a motor in time.
const (
	minMajor, minMinor = 5, 2
	maxTimeout         = 2 * time.Second
)

// Identify reads the identity of controller i. It refuses one without a short timeout: only the timeout stops a motor
// whose cable was pulled.
func (b *protocol) Identify(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	refuse := func(kind hal.Kind, try, format string, args ...any) error {
		dev.Barred = true
		err := dev.Error(kind, "open", fmt.Errorf(format, args...))
		if e, ok := errors.AsType[*hal.Error](err); ok {
			e.Try = try
		}
		return err
	}
	err := b.link.find()
	if old, ok := errors.AsType[oldFirmware](err); ok {
		return refuse(hal.BusFault, updateFirmware, "%w", old)
	}
	if err != nil {
		return err
	}
	found, err := b.link.identify(dev.ID)
	if errors.Is(err, servo.ErrNoReply) && b.link.first != dev.ID && !b.names(b.link.first) {
		return fmt.Errorf("%w; the controller at the line's end has id %d, which no joint of the config has", err,
			b.link.first)
	}
	if err != nil {
		return err
	}
	switch {
	case found.old():
		return refuse(hal.BusFault, updateFirmware, "%w", oldFirmware{found.major, found.minor})
	case found.timeout <= 0 || found.timeout > maxTimeout:
		return refuse(hal.Unsafe, "VESC Tool: App Settings, General, Timeout: 1000 ms",
			"timeout: got %v, want 1ms..%v, or nothing stops the motor when the cable is pulled", found.timeout,
			maxTimeout)
	}
	d.pairs = float64(cmp.Or(found.poles/2, d.m.PolePairs))
	d.tacho, d.timeout = math.NaN(), found.timeout
	return nil
}

// names reports whether a device of the chain has an id.
func (b *protocol) names(id int) bool {
	return slices.ContainsFunc(b.chain.Devices, func(d servo.Device) bool { return d.ID == id })
}

// SyncRead sends requests to many controllers in one write: the line has a wire each way, and a reply has its sender's
// id. The first controller forwards requests to the others over its CAN bus while it sends replies of others.
func (b *protocol) SyncRead(_ servo.Level, list []int) error {
	if err := b.link.find(); err != nil {
		return err
	}
	for _, i := range list {
		b.link.put(b.chain.Devices[i].ID, vescwire.AppendSelective(b.link.room[:0], b.devices[i].m.asked()))
		b.devices[i].due = true
	}
	err := b.gather(len(list))
	for _, i := range list {
		b.devices[i].due = false
	}
	return err
}

// gather sends the staged packets and receives n replies of controllers with a pending one.
func (b *protocol) gather(n int) error {
	// The mask and the packet's own bytes around the fields, which have the same length with an encoder and without.
	const length = 5 + 22 + 6
	l := b.link
	// Controllers behind the first reply over one CAN bus, which may be slower than the line.
	delay := replyDelay + time.Duration(max(0, n-2))*max(0, replyDelay-l.Wire(length))
	err := l.Ask(&l.parser.Framer, n*length, delay)
	for err == nil && n > 0 {
		var p []byte
		if p, err = l.next(vescwire.Selective, 6); err != nil {
			break
		}
		if got, e := l.values.Parse(p); e == nil && b.answered(&l.values, got) {
			n--
		}
	}
	return err
}

// answered handles a reply with the given fields; false if no device with its id waits for them.
func (b *protocol) answered(v *vescwire.Values, fields uint32) bool {
	for i := range b.devices {
		if d := &b.devices[i]; d.due && b.chain.Devices[i].ID == int(v[vescwire.ControllerID]) &&
			fields&d.m.asked() == d.m.asked() {
			d.due = false
			b.handleValues(i, v)
			b.chain.MarkReceived(i)
			return true
		}
	}
	return false
}

// ReadState measures controller i.
func (b *protocol) ReadState(i int) error {
	if err := b.link.find(); err != nil {
		return err
	}
	v, err := b.link.measure(b.chain.Devices[i].ID, b.devices[i].m.asked())
	switch {
	case err == nil:
		b.handleValues(i, v)
	case errors.Is(err, servo.ErrNoReply) && b.chain.Devices[i].Lost:
		if again := b.link.findAgain(); again != nil && !servo.IsServoError(again) {
			return again
		}
	}
	return err
}

// handleValues updates the state of controller i from a reply.
func (b *protocol) handleValues(i int, v *vescwire.Values) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	s := &dev.State
	s.Velocity = v[vescwire.ERPM] / d.pairs * rpm
	s.Effort, s.Voltage, s.Temperature = v[vescwire.CurrentQ], v[vescwire.Volts], v[vescwire.TempFET]
	if s.Position = v[vescwire.PosNow] / 360 * TicksPerTurn; !d.m.Encoder {
		s.Position = v[vescwire.Tacho] / (6 * d.pairs) * TicksPerTurn
	}
	if f := vescwire.Fault(v[vescwire.FaultCode]); f != d.fault { // its texts are made once
		d.fault, s.Report = f, f.Report()
	}
	// The tachometer counts up from 0 at power-on; it shows no restart of a motor that never turned. A controller that
	// got no command for longer than its timeout has released the motor: goals from before do not count.
	silent := b.link.Port.Now() - s.Time
	restarted := fellBack(d.tacho, v[vescwire.TachoAbs]) || dev.Lost && (!(d.tacho > 0) || silent > d.timeout)
	d.tacho = v[vescwire.TachoAbs]
	switch {
	case dev.Stage != servo.TorqueOn:
	case d.fault != 0:
		dev.SawTorque(servo.Off, true)
	case restarted:
		dev.Hold(servo.ErrPowerLost)
	default:
		dev.SawTorque(servo.On, false)
	}
	s.Torque = dev.Stage == servo.TorqueOn
}

// farTacho is more than a tachometer counts between two readings: 400000 turns of 7 pole pairs.
const farTacho = 1 << 24

// fellBack reports whether a tachometer counts from 0 again. A wrap at 32 bits is no restart. was may be NaN.
func fellBack(was, now float64) bool {
	step := int32(int64(now) - int64(was))
	return !math.IsNaN(was) && (step < 0 || step > farTacho)
}

// idle is the current below which a motor counts as released, A: the noise of the sensors of an idle bridge.
const idle = 1.0

// ReadHealth reads no further values. If torque must be off it sends the command again, in one write with the request.
// A reply proves that the command was received; a current near zero proves that it was executed.
func (b *protocol) ReadHealth(i int) error {
	dev := &b.chain.Devices[i]
	if dev.Stage == servo.TorqueOn {
		return b.ReadState(i)
	}
	if err := b.link.find(); err != nil {
		return err
	}
	b.StageTorqueOff(i)
	if err := b.ReadState(i); err != nil {
		return err
	}
	dev.SawTorque(servo.SwitchOf(math.Abs(dev.State.Effort) > idle), false)
	return nil
}

// Invalidate does nothing: every cycle sends all commands.
func (b *protocol) Invalidate(int) {}

// Clear checks whether the fault is over: a controller clears its fault by itself after half a second.
func (b *protocol) Clear(i int) error {
	if err := b.ReadHealth(i); err != nil {
		return err
	}
	return b.devices[i].fault.Report().Left()
}

// Ready has nothing to prepare, and there is one step of arming: the first goal switches torque on.
func (b *protocol) Ready(int) (bool, error) { return true, nil }
func (b *protocol) Steps() int              { return 1 }

// StageTorqueOff stages torque off.
func (b *protocol) StageTorqueOff(i int) { b.link.setOff(b.chain.Devices[i].ID) }

// StageTorqueOn stages a goal that keeps controller i in place.
func (b *protocol) StageTorqueOn(i, _ int) { b.setGoal(i, true) }

func (b *protocol) StageGoal(i int) bool {
	b.setGoal(i, false)
	return true
}

// reach is the greatest distance of a position goal from the present position, ticks.
const reach = 0.45 * TicksPerTurn

// setGoal stages the goal of controller i. rest asks for no motion.
func (b *protocol) setGoal(i int, rest bool) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	g, turned := &dev.Goal, d.turned
	d.turned = g.Mode != hal.PositionMode && g.Mode != hal.NoMode
	switch {
	case g.Mode == hal.TorqueMode:
		b.link.set(dev.ID, vescwire.SetCurrent, servo.Bounded(g.Effort, d.m.Amps*dev.Share(), rest))
	case g.Mode == hal.DutyMode:
		b.link.set(dev.ID, vescwire.SetDuty, servo.Bounded(g.Duty, 1, rest))
	case g.Mode == hal.VelocityMode || !d.m.Encoder: // without an encoder, zero speed is the only hold
		v := servo.Bounded(g.Velocity, d.m.Velocity, rest || g.Mode != hal.VelocityMode)
		b.link.set(dev.ID, vescwire.SetRPM, v/rpm*d.pairs)
	default:
		at := dev.Position(rest || turned && g.Mode != hal.PositionMode, g.Mode != hal.PositionMode, 0, TicksPerTurn-1)
		// The controller takes the shorter way round, which for a goal half a turn away passes the end of its range.
		at = min(max(at, dev.State.Position-reach), dev.State.Position+reach)
		b.link.set(dev.ID, vescwire.SetPos, at/TicksPerTurn*360)
	}
}

// Stage does nothing: packets are sent in the order they are staged.
func (b *protocol) Stage() {}

func (b *protocol) Flush() error { return b.link.Write() }
