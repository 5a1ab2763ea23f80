package cybergear

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

// protocol is the servo.Protocol of a chain.
type protocol struct {
	name    string // of the bus, in errors
	chain   *servo.GenericChain
	x       *servo.CANExchange
	devices []device
}

// device is the state of one motor in addition to servo.Device.
type device struct {
	cfg *servo.ServoConfig
	m   *Model

	last     cybergearwire.Feedback // decoded last feedback
	received bool                   // feedback was received since the last Flush began
	staged   int                    // staged commands that are answered with feedback
	pending  int                    // expected feedback frames
	ask      cybergearwire.Index    // parameter of the pending read, 0 = none
	got      float64                // its value
	mode     int                    // RunMode in which it was armed
	own      float64                // LimitTorque that the motor came with, N·m, NaN = unknown: never exceeded
	limit    float64                // LimitTorque in the motor, N·m, NaN = it is to be written
	wrote    float64                // the last one that was written here, N·m, NaN = none
	timeout  float64                // required CANTimeout
	mute     int                    // reads of its voltage without a reply
	owed     int                    // feedback frames that missed their timeout and may still arrive
	extra    int                    // recent feedback frames without a command
	message  cybergearwire.Message  // the last feedback
}

// maxExtra is the number of feedback frames without a command that are tolerated as chance. A second node with the
// motor's id sends one for each command.
const maxExtra = 5

// errSharedID is the fault of a motor whose id another node also uses: half of the feedback is the other node's.
var errSharedID = errors.New("more replies than questions: another node on the bus sends with its id (try: halyard " +
	"scan, with one motor connected at a time)")

// replyDelay is the time of a motor before a reply.
const replyDelay = time.Millisecond

func (b *protocol) Connect(x *servo.Exchange) { b.x = servo.NewCANExchange(x, b.handleFrame) }

// ParserStats counts malformed frames; the bus itself drops corrupt ones.
func (b *protocol) ParserStats() (uint64, uint64) { return 0, b.x.Bad }

// handleFrame handles one frame; it reports whether the frame was expected.
func (b *protocol) handleFrame(f *servo.CANFrame) bool {
	var m cybergearwire.Message
	if !m.Parse(f) {
		return false
	}
	id, ok := m.Sender()
	for i := range b.devices {
		if d := &b.devices[i]; ok && d.cfg.ID == id {
			return b.handleReply(i, &m)
		}
	}
	return false
}

// handleReply handles a reply of motor i.
func (b *protocol) handleReply(i int, m *cybergearwire.Message) bool {
	d, s := &b.devices[i], &b.chain.Devices[i].State
	again := *m == d.message // duplicated by an adapter; two motors hardly ever agree on every bit
	switch m.Type {
	case cybergearwire.DeviceID:
	case cybergearwire.Read:
		k, v := m.Parameter()
		if k != d.ask {
			return false
		}
		d.ask, d.got = 0, v
	case cybergearwire.Report:
		d.message = *m
		d.last.Parse(m, &d.m.Spans)
		s.Position, s.Velocity = ticks(d.last.Angle), d.last.Speed
		s.Effort, s.Temperature = d.last.Torque/d.m.Kt, d.last.Celsius
		s.Report.Set(cybergearwire.FaultNames, uint64(d.last.Faults))
		d.received = true
		switch {
		case d.pending > 0:
			d.pending--
		case d.owed > 0:
			d.owed--
			return false
		case again:
			return false
		default:
			d.extra++
			return false
		}
	default: // fault frames: feedback has the faults too
		return false
	}
	return true
}

// stage stages a command for motor i that it answers with feedback; put stages any other message.
func (b *protocol) stage(i int, m cybergearwire.Message) {
	b.devices[i].staged++
	b.put(m)
}

func (b *protocol) put(m cybergearwire.Message) {
	f := m.Frame()
	b.x.Put(&f)
}

// collect sends the staged messages for motor i and waits for its feedback and more other replies.
func (b *protocol) collect(i, more int) error {
	d := &b.devices[i]
	d.pending, d.staged = d.pending+d.staged, 0
	return b.x.Collect(d.pending+more, replyDelay)
}

// Identify reads the device id of motor i. It does not change the motor's torque.
func (b *protocol) Identify(i int) error {
	d := &b.devices[i]
	d.limit, d.mute = math.NaN(), 0
	b.put(cybergearwire.To(d.cfg.ID, cybergearwire.DeviceID))
	return b.collect(i, 1)
}

// SyncRead waits for the feedback of many motors. A motor that was sent a goal already replies; the others get a
// command without effect.
func (b *protocol) SyncRead(_ servo.Level, list []int) error {
	if err := b.x.Drain(); err != nil {
		return err
	}
	want := 0
	for _, i := range list {
		d := &b.devices[i]
		if d.pending == 0 && !d.received {
			b.nudge(i)
		}
		d.pending, d.staged = d.pending+d.staged, 0
		want += d.pending
	}
	err := b.x.Collect(want, replyDelay)
	for _, i := range list {
		d := &b.devices[i]
		// The last of several replies counts.
		if d.received && d.pending == 0 {
			b.judge(i)
			b.chain.MarkReceived(i)
		}
	}
	for i := range b.devices {
		b.devices[i].forget()
	}
	return err
}

// forget ends the wait for feedback.
func (d *device) forget() {
	d.received, d.owed, d.pending = false, d.owed+d.pending, 0
}

// nudge makes motor i send feedback: a motor without torque gets a stop command, another one its torque limit.
func (b *protocol) nudge(i int) {
	if b.chain.Devices[i].Stage == servo.TorqueOn {
		b.stage(i, cybergearwire.Set(b.devices[i].cfg.ID, cybergearwire.LimitTorque, b.share(i)))
		return
	}
	b.StageTorqueOff(i)
}

// share is the torque limit of motor i now, N·m: the lower of ours and its own.
func (b *protocol) share(i int) float64 {
	return min(b.chain.Devices[i].Share()*b.devices[i].m.Spans.Torque, b.devices[i].own)
}

// readOwn reads the torque limit of motor i. One that was not written here is the motor's own: a user set it, or the
// motor has restarted.
func (b *protocol) readOwn(i int) error {
	d := &b.devices[i]
	b.put(cybergearwire.Ask(d.cfg.ID, cybergearwire.LimitTorque))
	d.ask = cybergearwire.LimitTorque
	err := b.collect(i, 1)
	d.ask, d.pending = 0, 0
	if err == nil && !(d.got >= 0) {
		err = fmt.Errorf("%w: got %g N·m, want at least 0", servo.ErrDiffers, d.got)
	}
	if err != nil {
		return fmt.Errorf("limit_torque: %w", err)
	}
	if !(math.Abs(d.got-d.wrote) < slackTorque) {
		d.own, b.chain.Devices[i].State.Ceiling = d.got, d.got/d.m.Kt
	}
	return nil
}

// slackTorque is the difference of torque limits that counts as none, N·m: they are floats of 32 bits.
const slackTorque = 1e-3

// judge compares the state of motor i with the commanded one.
func (b *protocol) judge(i int) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	torque := d.last.State != cybergearwire.Resting // every other state drives the motor
	dev.SawTorque(servo.SwitchOf(torque), !torque && d.last.Faults != 0)
	if d.extra >= maxExtra {
		d.extra = 0
		dev.Hold(errSharedID)
	}
	dev.State.Torque = torque
}

// ReadState is SyncRead for one motor.
func (b *protocol) ReadState(i int) error {
	list := [1]int{i}
	return b.SyncRead(servo.SyncReads, list[:])
}

// muteAfter is the number of unanswered reads of the voltage after which a motor counts as one that cannot report it:
// firmware before 1.2.1.5.
const muteAfter = 3

// ReadHealth reads the supply's voltage and, if torque must be off, whether it is off.
func (b *protocol) ReadHealth(i int) error {
	d, dev, more := &b.devices[i], &b.chain.Devices[i], 0
	if d.received, d.ask = false, 0; d.mute < muteAfter {
		d.ask, more = cybergearwire.BusVolts, 1
		b.put(cybergearwire.Ask(d.cfg.ID, cybergearwire.BusVolts))
	}
	b.nudge(i)
	err := b.collect(i, more)
	switch {
	case more == 1 && d.ask == 0:
		d.mute, dev.State.Voltage = 0, d.got
	case more == 1 && d.received:
		d.mute++ // it replies, but not with its voltage
		if errors.Is(err, servo.ErrNoReply) {
			err = nil
		}
	}
	d.ask, d.owed, d.pending = 0, d.owed+d.pending, 0
	d.extra, d.owed = d.extra/2, d.owed/2 // old frames lose weight
	if err == nil {
		b.judge(i)
	}
	return err
}

// Invalidate marks the torque limit as unknown, so it is written again; the mode is written before every arming.
func (b *protocol) Invalidate(i int) { b.devices[i].limit = math.NaN() }

// Clear clears the faults of motor i.
func (b *protocol) Clear(i int) error {
	m := cybergearwire.To(b.devices[i].cfg.ID, cybergearwire.Stop)
	m.Data[0] = 1
	b.stage(i, m)
	err := b.collect(i, 0)
	if err != nil {
		return err
	}
	return cybergearwire.FaultNames.Report("", uint64(b.devices[i].last.Faults)).Left()
}
