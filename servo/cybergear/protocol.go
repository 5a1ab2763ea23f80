package cybergear

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// protocol is the servo.Protocol of a chain.
type protocol struct {
	name    string // of the bus, in errors
	chain   *servo.GenericChain
	x       *servo.CANExchange
	devices []device
}

// device is what the chain knows of one motor beside its seat.
type device struct {
	cfg *servo.ServoConfig
	m   *Model

	last    Feedback // as it came last
	heard   bool     // since the last Flush began
	staged  int      // commands that are staged and answered with feedback
	pending int      // feedback that is on the way
	ask     Index    // parameter that is waited for, 0 = none
	got     float64  // its value
	mode    int      // RunMode that it was armed in
	limit   float64  // LimitTorque in the motor, N·m, NaN = unknown
	timeout float64  // CANTimeout that it must have
	mute    int      // questions for its voltage without an answer
	owed    int      // feedback that came too late so far: it may come yet
	extra   int      // feedback that nothing asked for, lately
	message Message  // the last feedback
}

// maxExtra is how much new feedback without a question is believed to be chance. A second node with a motor's id sends one for each question.
const maxExtra = 5

// errSharedID is why a motor loses its torque of whose feedback half is another node's.
var errSharedID = errors.New("more replies than questions: another node on the bus sends with its id (try: halyard scan, with one motor connected at a time)")

// replyDelay is what a motor needs before an answer.
const replyDelay = time.Millisecond

// Connect takes a line.
func (b *protocol) Connect(x *servo.Exchange) { b.x = servo.NewCANExchange(x, b.handleFrame) }

// ParserStats is what was no frame; the bus itself drops what is damaged.
func (b *protocol) ParserStats() (uint64, uint64) { return 0, b.x.Bad }

// handleFrame takes one frame; it reports whether it was waited for.
func (b *protocol) handleFrame(f *servo.CANFrame) bool {
	var m Message
	if !m.Parse(f) {
		return false
	}
	id, ok := m.sender()
	for i := range b.devices {
		if d := &b.devices[i]; ok && d.cfg.ID == id {
			return b.handleReply(i, &m)
		}
	}
	return false
}

// handleReply takes an answer of motor i.
func (b *protocol) handleReply(i int, m *Message) bool {
	d, s := &b.devices[i], &b.chain.Devices[i].State
	again := *m == d.message // an adapter's doing; two motors hardly ever agree on every bit
	switch m.Type {
	case Who:
	case Read:
		k, v := m.Parameter()
		if k != d.ask {
			return false
		}
		d.ask, d.got = 0, v
	case Tell:
		d.message = *m
		d.last.Parse(m, &d.m.Spans)
		s.Position, s.Velocity = ticks(d.last.Angle), d.last.Speed
		s.Effort, s.Temperature = d.last.Torque/d.m.Kt, d.last.Celsius
		s.Alarm = d.last.Faults.Alarm()
		d.heard = true
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
	default: // faults on their own: feedback has them too
		return false
	}
	return true
}

// stage stages a command for motor i that it answers with feedback, put any other message.
func (b *protocol) stage(i int, m Message) {
	b.devices[i].staged++
	b.put(m)
}

func (b *protocol) put(m Message) {
	f := m.Frame()
	b.x.Put(&f)
}

// collect sends what is staged for motor i and waits for more answers than its feedback.
func (b *protocol) collect(i, more int) error {
	d := &b.devices[i]
	d.pending, d.staged = d.pending+d.staged, 0
	return b.x.Collect(d.pending+more, replyDelay)
}

// Identify asks motor i whether it is there. One that holds goes on holding.
func (b *protocol) Identify(i int) error {
	d := &b.devices[i]
	d.limit, d.mute = math.NaN(), 0
	b.put(To(d.cfg.ID, Who))
	return b.collect(i, 1)
}

// SyncRead waits for the feedback of many: of those that were told a goal it is on the way, the others are told something
// that changes nothing.
func (b *protocol) SyncRead(_ servo.Level, list []int) error {
	if err := b.x.Drain(); err != nil {
		return err
	}
	want := 0
	for _, i := range list {
		d := &b.devices[i]
		if d.pending == 0 && !d.heard {
			b.nudge(i)
		}
		d.pending, d.staged = d.pending+d.staged, 0
		want += d.pending
	}
	err := b.x.Collect(want, replyDelay)
	for _, i := range list {
		d := &b.devices[i]
		// The last of several answers is the one that counts.
		if d.heard && d.pending == 0 {
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
	d.heard, d.owed, d.pending = false, d.owed+d.pending, 0
}

// nudge makes motor i answer: one that is not meant to hold is commanded to stop, another its limit.
func (b *protocol) nudge(i int) {
	if b.chain.Devices[i].Stage == servo.TorqueOn {
		b.stage(i, Set(b.devices[i].cfg.ID, LimitTorque, b.share(i)))
		return
	}
	b.StageTorqueOff(i)
}

// share is the greatest torque that motor i may give now, N·m.
func (b *protocol) share(i int) float64 {
	return b.chain.Devices[i].Share() * b.devices[i].m.Spans.Torque
}

// judge compares what motor i does with what it was told.
func (b *protocol) judge(i int) {
	d, seat := &b.devices[i], &b.chain.Devices[i]
	torque := servo.On // whatever else it does turns the motor
	if d.last.State == Resting {
		torque = servo.Off
	}
	seat.SawTorque(torque, torque == servo.Off && d.last.Faults != 0)
	if d.extra >= maxExtra {
		d.extra = 0
		seat.Hold(errSharedID)
	}
	seat.State.Torque = torque == servo.On
}

// ReadState is Group for one.
func (b *protocol) ReadState(i int) error {
	list := [1]int{i}
	return b.SyncRead(servo.SyncReads, list[:])
}

// muteAfter is how often a motor is asked for its voltage before it counts as one that cannot say it: firmware before
// 1.2.1.5.
const muteAfter = 3

// ReadHealth reads the supply's voltage, and of a motor that must be limp whether it is.
func (b *protocol) ReadHealth(i int) error {
	d, seat := &b.devices[i], &b.chain.Devices[i]
	if d.heard, d.ask = false, 0; d.mute < muteAfter {
		d.ask = BusVolts
		b.put(Ask(d.cfg.ID, BusVolts))
	}
	b.nudge(i)
	more := 0
	if d.ask != 0 {
		more = 1
	}
	err := b.collect(i, more)
	switch {
	case more == 1 && d.ask == 0:
		d.mute, seat.State.Voltage = 0, d.got
	case more == 1 && d.heard:
		d.mute++ // it is there, and does not say its voltage
		err = onlyOther(err)
	}
	d.ask, d.owed, d.pending = 0, d.owed+d.pending, 0
	d.extra, d.owed = d.extra/2, d.owed/2 // what was long ago has no weight
	if err == nil {
		b.judge(i)
	}
	return err
}

// onlyOther leaves out that an answer did not come.
func onlyOther(err error) error {
	if errors.Is(err, servo.ErrNoReply) {
		return nil
	}
	return err
}

// Invalidate reports that the limit has to be written again; the mode is before every arming.
func (b *protocol) Invalidate(i int) { b.devices[i].limit = math.NaN() }

// Clear frees motor i of its faults.
func (b *protocol) Clear(i int) error {
	m := To(b.devices[i].cfg.ID, Stop)
	m.Data[0] = 1
	b.stage(i, m)
	err := b.collect(i, 0)
	if f := b.devices[i].last.Faults; err == nil && f != 0 {
		err = fmt.Errorf("still there: %v", f.Alarm())
	}
	return err
}
