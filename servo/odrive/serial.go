package odrive

import (
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
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
	major, err := b.link.number(FirmwareMajor, V05, 0)
	if err != nil {
		return err
	}
	minor, err := b.link.number(FirmwareMinor, V05, 0)
	if err != nil {
		return err
	}
	if major != 0 || minor < float64(V05) {
		dev.Barred = true
		return dev.Error(hal.BusFault, "open", fmt.Errorf("firmware: got %g.%g, want 0.5 or 0.6", major, minor))
	}
	d.dialect = Dialect(min(minor, float64(V06)))
	return b.state(i)
}

// state reads the state and the errors of axis i.
func (b *serialProtocol) state(i int) error {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	state, err := b.link.number(CurrentState, d.dialect, dev.ID)
	if err != nil {
		return err
	}
	e, err := b.link.number(AxisErrors, d.dialect, dev.ID)
	if err != nil {
		return err
	}
	d.judge(dev, HeartbeatMessage{Errors(e), State(state)})
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
		b.link.Out = AppendSet(b.link.Out, 'u', dev.ID)
	}
	var v [2]float64
	b.link.Out = AppendSet(b.link.Out, 'f', dev.ID)
	if err := b.link.numbers(v[:]); err != nil {
		return err
	}
	if b.leaps(i, v[0], v[1]) {
		return servo.ErrCorrupt
	}
	dev.State.Position, dev.State.Velocity = v[0]*TicksPerTurn, v[1]*2*math.Pi
	return nil
}

// slack is how far an axis may be from where its speed takes it, turns.
const slack = 1. / 8

// leaps reports whether the position turns, reported by axis i with speed, is implausible: it cannot be reached since the
// last report at the greater of this speed and the last, and was not reported twice. The XOR checksum does not detect bytes
// lost in pairs, nor one corrupt line in 256.
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

// ReadHealth reads state and errors of axis i, and in half of the calls its current, its voltage or its temperature: properties have long
// names, so that reading all of them would take longer than a cycle does.
func (b *serialProtocol) ReadHealth(i int) error {
	d, s := &b.devices[i], &b.chain.Devices[i].State
	d.turn = (d.turn + 1) % 8
	p, to := IqMeasured, &s.Effort
	switch d.turn {
	case 1:
		p, to = BusVolts, &s.Voltage
	case 5:
		p, to = FETCelsius, &s.Temperature
	case 0:
		d.limit = math.NaN() // a limit is not acknowledged: send it again regularly
	}
	if d.turn%4 != 1 && d.turn%4 != 2 {
		return b.state(i)
	}
	// Not every board has every sensor; a request for a missing property is answered with an error text.
	v, err := b.link.number(p, d.dialect, b.chain.Devices[i].ID)
	switch {
	case err == nil:
		*to = v
	case !servo.IsServoError(err):
		return err
	}
	return b.state(i)
}

// Invalidate marks the settings as unknown: they are written again before the next arming.
func (b *serialProtocol) Invalidate(i int) { b.devices[i].limit = math.NaN() }

// Clear clears the errors of the controller.
func (b *serialProtocol) Clear(i int) error {
	b.link.Out = AppendLine(b.link.Out, "sc")
	if err := b.state(i); err != nil {
		return err
	}
	return b.devices[i].remaining()
}

// Ready sets watchdog and input mode of axis i and reads them back. It clears the watchdog error: enabling the axis means
// that the host is back.
func (b *serialProtocol) Ready(i int) (bool, error) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if !b.chain.Resting(i) {
		return false, nil
	}
	if d.heartbeat.Errors != 0 && d.heartbeat.Errors.Alarm(d.dialect) == 0 {
		b.link.Out = AppendLine(b.link.Out, "sc")
	}
	for _, w := range [...]struct {
		p Property
		v float64
	}{{WatchdogTime, Watchdog.Seconds()}, {InputMode, Passthrough}, {WatchdogOn, 1}} {
		// Fed first: a watchdog counts from the last time that it was on.
		b.link.Out = AppendSet(b.link.Out, 'u', dev.ID)
		b.link.Out = AppendWrite(b.link.Out, w.p, d.dialect, dev.ID, w.v)
		got, err := b.link.number(w.p, d.dialect, dev.ID)
		if err != nil {
			return false, err
		}
		if math.Abs(got-w.v) > 1e-3 {
			return false, fmt.Errorf("%s: %w: got %g, want %g", properties[w.p].v05, servo.ErrDiffers, got, w.v)
		}
	}
	d.guarded, d.limit = true, math.NaN()
	return true, nil
}

// Steps of arming: the goal where it is, the torque, and the goal once more.
func (b *serialProtocol) Steps() int { return 3 }

func (b *serialProtocol) StageTorqueOff(i int) { b.request(i, Idle) }

func (b *serialProtocol) StageTorqueOn(i, step int) {
	if step == 1 {
		b.request(i, ClosedLoop)
		return
	}
	b.goal(i, true)
}

// StageGoal stages the goal of axis i; a goal of another mode changes the control mode by itself.
func (b *serialProtocol) StageGoal(i int) bool {
	b.goal(i, false)
	return true
}

func (b *serialProtocol) request(i int, s State) {
	b.link.Out = AppendWrite(b.link.Out, RequestedState, b.devices[i].dialect, b.chain.Devices[i].ID, float64(s))
}

func (b *serialProtocol) goal(i int, rest bool) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if amps, changed := d.amps(dev); changed {
		b.link.Out = AppendWrite(b.link.Out, CurrentLimit, d.dialect, dev.ID, amps)
	}
	// Omitted values of a line keep their last value: the feed-forward speed of a speed goal would stay with a position goal,
	// and a torque with both.
	switch control, v := d.goal(dev, rest); control {
	case TorqueControl:
		b.link.Out = AppendSet(b.link.Out, 'c', dev.ID, v)
	case VelocityControl:
		b.link.Out = AppendSet(b.link.Out, 'v', dev.ID, v, 0)
	default:
		b.link.Out = AppendSet(b.link.Out, 'p', dev.ID, v, 0, 0)
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
