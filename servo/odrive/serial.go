package odrive

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// serialProtocol is the servo.Protocol of a SerialChain.
type serialProtocol struct {
	chain   *servo.GenericChain
	link    *link
	devices []device
}

func (b *serialProtocol) Connect(x *servo.Exchange) { b.link = newLink(x) }

// ParserStats counts malformed lines and bytes.
func (b *serialProtocol) ParserStats() (uint64, uint64) {
	return b.link.lines.BadChecksum, b.link.lines.Garbage
}

// Identify reads the controller's firmware version and the state of axis i.
func (b *serialProtocol) Identify(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	major, err := b.link.number(odrivewire.FirmwareMajor, odrivewire.V05, 0)
	if err != nil {
		return err
	}
	minor, err := b.link.number(odrivewire.FirmwareMinor, odrivewire.V05, 0)
	if err != nil {
		return err
	}
	if major != 0 || minor < float64(odrivewire.V05) {
		dev.Barred = true
		return oldFirmware(dev.Error(hal.BusFault, "open", fmt.Errorf("firmware: got %g.%g, want 0.5 or 0.6", major,
			minor)))
	}
	d.dialect = odrivewire.Dialect(min(minor, float64(odrivewire.V06)))
	if d.limit, err = b.optional(odrivewire.CurrentLimit, i); err != nil {
		return err
	}
	if !(math.Abs(d.limit-d.wrote) < 0.01*d.m.Amps) { // else it is ours
		d.own, dev.State.Ceiling = d.limit, d.limit
	}
	if err := b.causes(i); err != nil {
		return err
	}
	return b.state(i)
}

// oldFirmware adds what to do to the refusal of a firmware.
func oldFirmware(err error) error {
	if e, ok := errors.AsType[*hal.Error](err); ok {
		e.Try = "update its firmware: odrivetool dfu"
	}
	return err
}

// optional is a property of axis i, NaN where its firmware or board does not have it.
func (b *serialProtocol) optional(p odrivewire.Property, i int) (float64, error) {
	v, err := b.link.number(p, b.devices[i].dialect, b.chain.Devices[i].ID)
	if err != nil && b.link.none {
		return math.NaN(), nil
	}
	return v, err
}

// causes reads the error words of the parts of axis i.
func (b *serialProtocol) causes(i int) error {
	for _, p := range odrivewire.Parts(b.devices[i].dialect) {
		if err := b.cause(i, p); err != nil {
			return err
		}
	}
	return nil
}

// cause reads the error word of part p of axis i; one that it does not have is 0.
func (b *serialProtocol) cause(i int, p odrivewire.Part) error {
	v, err := b.optional(odrivewire.PartTables[p].Property, i)
	if err == nil && v >= 0 { // not NaN
		b.devices[i].note(&b.chain.Devices[i], p, uint64(v))
	}
	return err
}

// state reads the state and the errors of axis i, and where they are new or it has fallen to idle, those of its parts.
func (b *serialProtocol) state(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	state, err := b.link.number(odrivewire.CurrentState, d.dialect, dev.ID)
	if err != nil {
		return err
	}
	e, err := b.link.number(odrivewire.AxisErrors, d.dialect, dev.ID)
	if err != nil {
		return err
	}
	fell := odrivewire.State(state) == odrivewire.Idle && dev.Stage == servo.TorqueOn && dev.Seen
	if fell || uint64(e) != d.words[odrivewire.AxisPart] {
		if err := b.causes(i); err != nil {
			return err
		}
	}
	d.judge(dev, odrivewire.HeartbeatMessage{Errors: odrivewire.Errors(e), State: odrivewire.State(state)})
	return nil
}

// SyncRead is never asked for: no axis takes part in one.
func (b *serialProtocol) SyncRead(servo.Level, []int) error { return nil }

// ReadState measures axis i. One without torque receives a watchdog update, since its watchdog may be on.
func (b *serialProtocol) ReadState(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	switch {
	case holds(dev):
		b.StageTorqueOff(i)
	case dev.Stage != servo.TorqueOn && d.guarded:
		b.link.Out = odrivewire.AppendSet(b.link.Out, 'u', dev.ID)
	}
	var v [2]float64
	b.link.Out = odrivewire.AppendSet(b.link.Out, 'f', dev.ID)
	if err := b.link.numbers(v[:]); err != nil {
		return err
	}
	if !finite(v[0]) || !finite(v[1]) || b.leaps(i, v[0], v[1]) {
		return servo.ErrCorrupt
	}
	dev.State.Position, dev.State.Velocity = v[0]*TicksPerTurn, v[1]*2*math.Pi
	return nil
}

// slack is how far an axis may be from where its speed takes it, turns.
const slack = 1. / 8

// leaps reports whether the position turns, reported by axis i with speed, is implausible: it cannot be reached since
// the last report at the greater of this speed and the last, and was not reported twice. The XOR checksum does not
// detect bytes lost in pairs, nor one corrupt line in 256.
func (b *serialProtocol) leaps(i int, at, speed float64) bool {
	d, s, now := &b.devices[i], &b.chain.Devices[i].State, b.link.Port.Now()
	fastest := max(math.Abs(speed), math.Abs(s.Velocity)/(2*math.Pi))
	fastest = min(1.5*fastest, d.m.Velocity/math.Pi) // it may have been faster between
	comes := func(from float64, since time.Duration) bool {
		return math.Abs(at-from) <= fastest*(now-since).Seconds()+slack
	}
	if math.IsNaN(s.Position) || comes(turns(s.Position), s.Time) || d.doubted && comes(d.strange, d.strangeAt) {
		d.doubted = false
		return false
	}
	d.strange, d.strangeAt, d.doubted = at, now, true
	return true
}

// ReadHealth reads state and errors of axis i, and in half of the calls its current, its voltage or its temperature:
// properties have long names, so that reading all of them would take longer than a cycle does.
func (b *serialProtocol) ReadHealth(i int) error {
	d, s := &b.devices[i], &b.chain.Devices[i].State
	d.turn = (d.turn + 1) % 8
	var p odrivewire.Property
	var to *float64
	var err error
	switch d.turn {
	case 1:
		p, to = odrivewire.BusVolts, &s.Voltage
	case 5:
		p, to = odrivewire.FETCelsius, &s.Temperature
	case 2, 6:
		p, to = odrivewire.IqMeasured, &s.Effort
	case 4:
		err = b.checkLimit(i)
	default: // a part's error may stop the axis with no word of its own
		list := odrivewire.Parts(d.dialect)
		d.part++
		err = b.cause(i, list[d.part%len(list)])
	}
	if err != nil && !servo.IsServoError(err) {
		return err
	}
	if to == nil {
		return b.state(i)
	}
	// Not every board has every sensor; a request for a missing property is answered with an error text.
	v, err := b.link.number(p, d.dialect, b.chain.Devices[i].ID)
	switch {
	case err == nil && finite(v):
		*to = v
	case err != nil && !servo.IsServoError(err):
		return err
	}
	return b.state(i)
}

// checkLimit reads the current limit of axis i, whose writing is not acknowledged. A lower one than was written is
// another program's, which set it meanwhile: it is not raised.
func (b *serialProtocol) checkLimit(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	v, err := b.optional(odrivewire.CurrentLimit, i)
	if err != nil {
		return err
	}
	if slack := 0.01 * d.m.Amps; v < d.limit-slack {
		d.own, d.limit, dev.State.Ceiling = v, v, v
	} else if v > d.limit+slack { // the writing was lost, or its power
		d.limit = math.NaN()
	}
	return nil
}

// Invalidate marks the settings as unknown: they are written again before the next arming.
func (b *serialProtocol) Invalidate(i int) { b.devices[i].limit = math.NaN() }

// Clear clears the errors of axis i.
func (b *serialProtocol) Clear(i int) error {
	if err := b.clear(i); err != nil {
		return err
	}
	if err := b.causes(i); err != nil {
		return err
	}
	if err := b.state(i); err != nil {
		return err
	}
	return b.devices[i].remaining(&b.chain.Devices[i])
}

// clear clears the errors of axis i and of no other: those of the other axis are another joint's, whose operator was
// not asked. Firmware 0.5 lets the words be written one by one. What only the command for the whole board ends (all of
// 0.6, and the board's own errors) is refused while the other axis has an error.
func (b *serialProtocol) clear(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	board := d.words[odrivewire.MotorPart]&odrivewire.BoardWide != 0 || d.words[odrivewire.AxisPart]&0x10 != 0
	if d.dialect == odrivewire.V05 && !board {
		for _, p := range append(odrivewire.Parts(odrivewire.V05), odrivewire.AxisPart) {
			b.link.Out = odrivewire.AppendWrite(b.link.Out, odrivewire.PartTables[p].Property, odrivewire.V05, dev.ID,
				0)
		}
		return nil
	}
	other := 1 - dev.ID
	for _, p := range append([]odrivewire.Part{odrivewire.AxisPart}, odrivewire.Parts(d.dialect)...) {
		v, err := b.link.number(odrivewire.PartTables[p].Property, d.dialect, other)
		switch {
		case err != nil && b.link.none: // there is no other axis
		case err != nil:
			return err
		case v != 0 && p != odrivewire.DisarmReason:
			var w odrivewire.ErrorWords
			w[p] = uint64(v)
			return dev.Error(hal.Unsafe, "clear errors",
				fmt.Errorf("axis %d of the board has errors too, %s, which the same command would clear: "+
					"see to it first, then odrivetool: odrv0.clear_errors()", other, w.Report(d.dialect).Fault))
		}
	}
	b.link.Out = odrivewire.AppendLine(b.link.Out, "sc")
	return nil
}

// Ready sets watchdog and input mode of axis i and reads them back. It clears the watchdog error: enabling the axis
// means that the host is back.
func (b *serialProtocol) Ready(i int) (bool, error) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if !b.chain.Resting(i) {
		return false, nil
	}
	if d.words.Latched() != 0 && d.words.HostOnly(d.dialect) {
		if err := b.clear(i); err != nil {
			return false, err
		}
	}
	for _, w := range [...]struct {
		p odrivewire.Property
		v float64
	}{{odrivewire.WatchdogTime, watchdog.Seconds()}, {odrivewire.InputMode, odrivewire.Passthrough},
		{odrivewire.WatchdogOn, 1}} {
		// Fed first: a watchdog counts from the last time that it was on.
		b.link.Out = odrivewire.AppendSet(b.link.Out, 'u', dev.ID)
		b.link.Out = odrivewire.AppendWrite(b.link.Out, w.p, d.dialect, dev.ID, w.v)
		got, err := b.link.number(w.p, d.dialect, dev.ID)
		if err != nil {
			return false, err
		}
		if math.Abs(got-w.v) > 1e-3 {
			return false, fmt.Errorf("%s: %w: got %g, want %g", odrivewire.Properties[w.p].V05, servo.ErrDiffers, got,
				w.v)
		}
	}
	d.guarded = true
	return true, nil
}

// Steps of arming: the goal where it is, the torque, and the goal once more.
func (b *serialProtocol) Steps() int { return 3 }

func (b *serialProtocol) StageTorqueOff(i int) { b.request(i, odrivewire.Idle) }

func (b *serialProtocol) StageTorqueOn(i, step int) {
	if step == 1 {
		b.request(i, odrivewire.ClosedLoop)
		return
	}
	b.goal(i, true)
}

// StageGoal stages the goal of axis i; a goal of another mode changes the control mode by itself.
func (b *serialProtocol) StageGoal(i int) bool {
	b.goal(i, false)
	return true
}

func (b *serialProtocol) request(i int, s odrivewire.State) {
	b.link.Out = odrivewire.AppendWrite(b.link.Out, odrivewire.RequestedState, b.devices[i].dialect,
		b.chain.Devices[i].ID, float64(s))
}

func (b *serialProtocol) goal(i int, rest bool) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if amps, changed := d.amps(dev); changed {
		b.link.Out = odrivewire.AppendWrite(b.link.Out, odrivewire.CurrentLimit, d.dialect, dev.ID, amps)
	}
	// Omitted values of a line keep their last value: the feed-forward speed of a speed goal would stay with a position
	// goal, and a torque with both.
	switch control, v := d.goal(dev, rest); control {
	case odrivewire.TorqueControl:
		b.link.Out = odrivewire.AppendSet(b.link.Out, 'c', dev.ID, v)
	case odrivewire.VelocityControl:
		b.link.Out = odrivewire.AppendSet(b.link.Out, 'v', dev.ID, v, 0)
	default:
		b.link.Out = odrivewire.AppendSet(b.link.Out, 'p', dev.ID, v, 0, 0)
	}
}

// Stage does nothing: lines are sent in the order they are staged.
func (b *serialProtocol) Stage() {}

// Flush ends a Send.
func (b *serialProtocol) Flush() error {
	if len(b.link.Out) == 0 {
		return nil
	}
	return b.link.Write()
}
