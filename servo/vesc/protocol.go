package vesc

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// protocol is the servo.Protocol of a chain.
type protocol struct {
	chain   *servo.GenericChain
	link    *link
	devices []device
}

// device is what the chain knows of one controller beside its seat.
type device struct {
	m *Model

	due   bool    // an answer of it is waited for
	pairs float64 // pole pairs
	tacho float64 // its counter without sign, which a restart brings back to 0; NaN = not known yet
	fault Fault

	turned  bool          // its last goal was no position: to hold is to stay where it is then
	timeout time.Duration // its own
}

// asked are the fields of a usual answer, 27 bytes of payload: with one more over the controllers' CAN bus it would be a frame more.
func (m *Model) asked() uint32 {
	const always = 1<<TempFET | 1<<CurrentQ | 1<<ERPM | 1<<Volts | 1<<TachoAbs | 1<<FaultCode | 1<<ControllerID
	if m.Encoder {
		return always | 1<<PosNow
	}
	return always | 1<<Tacho
}

// Connect takes a line; who is at its end is asked again.
func (b *protocol) Connect(x *servo.Exchange) { b.link = newLink(x) }

// ParserStats is what the parser has counted.
func (b *protocol) ParserStats() (uint64, uint64) {
	return b.link.parser.BadChecksum, b.link.parser.Garbage
}

// The oldest firmware whose packets are these, and the longest timeout that still stops a motor in time.
const (
	minMajor, minMinor = 5, 2
	maxTimeout         = 2 * time.Second
)

// Identify asks controller i who it is. One that would go on without this program is left alone: its own timeout is all that
// stops a motor whose cable was pulled.
func (b *protocol) Identify(i int) error {
	d, seat := &b.devices[i], &b.chain.Devices[i]
	if err := b.link.find(); err != nil {
		return err
	}
	who, err := b.link.identify(seat.ID)
	if err != nil {
		return err
	}
	refuse := func(kind hal.Kind, format string, args ...any) error {
		seat.Barred = true
		return seat.Error(kind, "open", fmt.Errorf(format, args...))
	}
	switch {
	case who.old():
		return refuse(hal.BusFault, "firmware: got %d.%02d, want %d.%02d or later: VESC Tool, Firmware", who.major, who.minor, minMajor, minMinor)
	case who.timeout <= 0 || who.timeout > maxTimeout:
		return refuse(hal.Unsafe, "timeout: got %v, want 1ms..%v, or nothing stops the motor when the cable is pulled: VESC Tool, App Settings, General",
			who.timeout, maxTimeout)
	}
	d.pairs = float64(cmp.Or(who.poles/2, d.m.PolePairs))
	d.tacho, d.timeout = math.NaN(), who.timeout
	return nil
}

// SyncRead asks many in one write: the line has a wire each way, and an answer says whose it is. Those behind the first are
// asked over its CAN bus while it sends what others have answered.
func (b *protocol) SyncRead(_ servo.Level, list []int) error {
	if err := b.link.find(); err != nil {
		return err
	}
	for _, i := range list {
		b.link.put(b.chain.Devices[i].ID, AppendSelective(b.link.room[:0], b.devices[i].m.asked()))
		b.devices[i].due = true
	}
	err := b.gather(len(list))
	for _, i := range list {
		b.devices[i].due = false
	}
	return err
}

// gather sends what is staged and takes n answers of those that are due one.
func (b *protocol) gather(n int) error {
	// The mask and the packet's own bytes stand around the fields, which are as long of one with an encoder as without.
	const length = 5 + 22 + 6
	l := b.link
	// Those behind the first answer over one CAN bus, which may take longer for it than the line does.
	delay := replyDelay + time.Duration(max(0, n-2))*max(0, replyDelay-l.Wire(length))
	err := l.Ask(&l.parser.Framer, n*length, delay)
	for err == nil && n > 0 {
		var p []byte
		if p, err = l.next(Selective, 6); err != nil {
			break
		}
		if got, e := l.values.Parse(p); e == nil && b.answered(&l.values, got) {
			n--
		}
	}
	return err
}

// answered takes an answer of some fields; false where nobody is due one of them with its id.
func (b *protocol) answered(v *Values, fields uint32) bool {
	for i := range b.devices {
		if d := &b.devices[i]; d.due && b.chain.Devices[i].ID == int(v[ControllerID]) && fields&d.m.asked() == d.m.asked() {
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

// handleValues takes what controller i has answered.
func (b *protocol) handleValues(i int, v *Values) {
	d, seat := &b.devices[i], &b.chain.Devices[i]
	s := &seat.State
	s.Velocity = v[ERPM] / d.pairs * rpm
	s.Effort, s.Voltage, s.Temperature = v[CurrentQ], v[Volts], v[TempFET]
	if s.Position = v[PosNow] / 360 * TicksPerTurn; !d.m.Encoder {
		s.Position = v[Tacho] / (6 * d.pairs) * TicksPerTurn
	}
	d.fault = Fault(v[FaultCode])
	s.Alarm = d.fault.Alarm()
	// The counter runs up from 0 from when it has power, which tells nothing of one that never turned. One that was silent
	// for longer than its timeout has let go: a goal of then is no goal of now.
	silent := b.link.Port.Now() - s.Time
	restarted := v[TachoAbs] < d.tacho || seat.Lost && (!(d.tacho > 0) || silent > d.timeout)
	d.tacho = v[TachoAbs]
	switch {
	case seat.Stage != servo.TorqueOn:
	case d.fault != 0:
		seat.SawTorque(servo.Off, true)
	case restarted:
		seat.Hold(servo.ErrPowerLost)
	default:
		seat.SawTorque(servo.On, false)
	}
	s.Torque = seat.Stage == servo.TorqueOn
}

// idle is the current below which a motor that was let go counts as let go, A: what the sensors of an idle bridge say.
const idle = 1.0

// ReadHealth has nothing more to read. A controller that must be limp is told so once more, in one write with the question:
// what answers has received it, and what no longer pushes has done it.
func (b *protocol) ReadHealth(i int) error {
	seat := &b.chain.Devices[i]
	if seat.Stage == servo.TorqueOn {
		return b.ReadState(i)
	}
	if err := b.link.find(); err != nil {
		return err
	}
	b.StageTorqueOff(i)
	if err := b.ReadState(i); err != nil {
		return err
	}
	off := servo.Off
	if math.Abs(seat.State.Effort) > idle {
		off = servo.On
	}
	seat.SawTorque(off, false)
	return nil
}

// Invalidate has nothing to do: everything is told in every cycle.
func (b *protocol) Invalidate(int) {}

// Clear looks whether the fault is over: a controller forgets one by itself half a second later.
func (b *protocol) Clear(i int) error {
	if err := b.ReadHealth(i); err != nil {
		return err
	}
	if f := b.devices[i].fault; f != 0 {
		return fmt.Errorf("still there: %v", f)
	}
	return nil
}

// Ready has nothing to prepare, and Steps of arming are one: the first goal is the torque.
func (b *protocol) Ready(int) (bool, error) { return true, nil }
func (b *protocol) Steps() int              { return 1 }

// StageTorqueOff lets the motor go.
func (b *protocol) StageTorqueOff(i int) { b.link.set(b.chain.Devices[i].ID, SetCurrent, 0) }

// StageTorqueOn tells controller i to stay where it is, Aim its goal.
func (b *protocol) StageTorqueOn(i, _ int) { b.setGoal(i, true) }

func (b *protocol) StageGoal(i int) bool {
	b.setGoal(i, false)
	return true
}

// reach is how far from where it is a controller is sent at once, ticks.
const reach = 0.45 * TicksPerTurn

// setGoal stages the goal of controller i. rest asks for no motion.
func (b *protocol) setGoal(i int, rest bool) {
	d, seat := &b.devices[i], &b.chain.Devices[i]
	g, turned := &seat.Goal, d.turned
	d.turned = g.Mode != hal.PositionMode && g.Mode != hal.NoMode
	known := func(v float64) float64 {
		if rest || math.IsNaN(v) {
			return 0
		}
		return v
	}
	switch {
	case g.Mode == hal.TorqueMode:
		most := d.m.Amps * seat.Share()
		b.link.set(seat.ID, SetCurrent, min(max(known(g.Effort), -most), most))
	case g.Mode == hal.DutyMode:
		b.link.set(seat.ID, SetDuty, min(max(known(g.Duty), -1), 1))
	case g.Mode == hal.VelocityMode || !d.m.Encoder: // without an encoder no speed is all the hold there is
		v := known(g.Velocity)
		if g.Mode != hal.VelocityMode {
			v = 0
		}
		b.link.set(seat.ID, SetRPM, min(max(v, -d.m.Velocity), d.m.Velocity)/rpm*d.pairs)
	default:
		at := seat.Position(rest || turned && g.Mode != hal.PositionMode, g.Mode != hal.PositionMode, 0, TicksPerTurn-1)
		// It goes the shorter way round: to a goal half a turn away or more, by way of the end of its range.
		at = min(max(at, seat.State.Position-reach), seat.State.Position+reach)
		b.link.set(seat.ID, SetPos, at/TicksPerTurn*360)
	}
}

// Stage has nothing to do: packets leave in the order they are staged.
func (b *protocol) Stage() {}

// Flush sends what is staged.
func (b *protocol) Flush() error {
	if len(b.link.Out) == 0 {
		return nil
	}
	return b.link.Write()
}
