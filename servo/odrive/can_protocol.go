package odrive

import (
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// frameBits is the maximum length of a standard frame of 8 bytes, with stuffing and the gap, per byte of its 16 bytes
// on a servo.Line: 135 bits, rounded up.
const frameBits = 9

// canDelay is the time of a node before a reply.
const canDelay = time.Millisecond

// heartbeatTimeout is the timeout of a heartbeat: one and a half of its usual periods.
const heartbeatTimeout = 150 * time.Millisecond

// canProtocol is the servo.Protocol of a CANChain.
type canProtocol struct {
	chain   *servo.GenericChain
	x       *servo.CANExchange
	devices []device
}

// Connect takes a line; heartbeats of an earlier one become invalid.
func (b *canProtocol) Connect(x *servo.Exchange) {
	b.x = servo.NewCANExchange(x, b.handleFrame)
	for i := range b.devices {
		b.devices[i].beatAt = -1
	}
}

// ParserStats counts malformed frames; the bus itself drops corrupt ones.
func (b *canProtocol) ParserStats() (uint64, uint64) { return 0, b.x.Bad }

// handleFrame handles one frame; it reports whether the frame was expected.
func (b *canProtocol) handleFrame(f *servo.CANFrame) bool {
	node, c, ok := odrivewire.Split(f)
	if !ok || f.Remote {
		return false
	}
	for i := range b.devices {
		if d := &b.devices[i]; d.cfg.ID == node {
			if !b.handleReply(i, c, f) || d.due&(1<<c) == 0 {
				return false
			}
			d.due &^= 1 << c
			return true
		}
	}
	return false
}

// handleReply handles a frame of node i; false if it is not a valid reply.
func (b *canProtocol) handleReply(i int, c odrivewire.Command, f *servo.CANFrame) bool {
	d, s := &b.devices[i], &b.chain.Devices[i].State
	switch c {
	case odrivewire.GetVersion:
		if f.Len != 8 {
			return false
		}
		d.dialect = odrivewire.V06
	case odrivewire.GetErrors:
		if d.dialect == odrivewire.V06 {
			d.note(&b.chain.Devices[i], odrivewire.DisarmReason, uint64(f.Word(4)))
		} else { // of the motor; 4 bytes before 0.5.2
			d.note(&b.chain.Devices[i], odrivewire.MotorPart, uint64(f.Word(0))|uint64(f.Word(4))<<32)
		}
	case encoderErrors05:
		if d.dialect != odrivewire.V05 {
			return false
		}
		d.note(&b.chain.Devices[i], odrivewire.EncoderPart, uint64(f.Word(0)))
	case odrivewire.Heartbeat:
		beat, ok := odrivewire.ParseBeat(f)
		if !ok {
			return false
		}
		d.heartbeat, d.beatAt = beat, b.x.Port.Now()
	case odrivewire.Estimates:
		at, speed := f.Float(0), f.Float(4)
		if !finite(at) || !finite(speed) {
			return false
		}
		s.Position, s.Velocity = at*TicksPerTurn, speed*2*math.Pi
		d.received = true
	case odrivewire.GetIq:
		if v := f.Float(4); finite(v) {
			s.Effort = v
		}
	case odrivewire.GetBus:
		if v := f.Float(0); finite(v) {
			s.Voltage = v
		}
	case odrivewire.GetTemperature:
		if v := f.Float(0); finite(v) {
			s.Temperature = v
		}
	case odrivewire.TxSDO:
		sdo, ok := odrivewire.ParseSDO(f)
		if !ok {
			return false
		}
		d.sdo = sdo
	default:
		return false
	}
	return true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (b *canProtocol) put(f servo.CANFrame) { b.x.Put(&f) }

// ask stages the request for c of node i.
func (b *canProtocol) ask(i int, c odrivewire.Command) {
	b.devices[i].due |= 1 << c
	b.put(odrivewire.Ask(b.devices[i].cfg.ID, c))
}

// Identify requests the version of node i. Firmware 0.5 does not answer that; then it requests the estimates, which
// both series answer.
func (b *canProtocol) Identify(i int) error {
	d := &b.devices[i]
	if err := b.x.Drain(); err != nil {
		return err
	}
	b.ask(i, odrivewire.GetVersion)
	err := b.x.Collect(1, canDelay)
	if d.due = 0; errors.Is(err, servo.ErrNoReply) {
		b.ask(i, odrivewire.Estimates)
		if err = b.x.Collect(1, canDelay); err == nil {
			d.dialect = odrivewire.V05
		}
		d.due = 0
	}
	if d.received = false; err != nil {
		return err
	}
	return b.readOwn(i)
}

// SyncRead requests the estimates and currents of many nodes with remote frames, all together.
func (b *canProtocol) SyncRead(_ servo.Level, list []int) error {
	// Cyclic frames received meanwhile are old by now; only heartbeats, whose time is less critical, are used.
	if err := b.x.Drain(); err != nil {
		return err
	}
	for _, i := range list {
		b.devices[i].received = false
		if holds(&b.chain.Devices[i]) {
			b.StageTorqueOff(i)
		}
		b.ask(i, odrivewire.Estimates)
		b.ask(i, odrivewire.GetIq)
	}
	err := b.x.Collect(2*len(list), canDelay)
	b.markSent()
	for _, i := range list {
		d := &b.devices[i]
		if d.due = 0; d.received {
			b.weigh(i)
			b.chain.MarkReceived(i)
		}
	}
	return err
}

// settling is the time that an axis may need to reach a commanded state.
const settling = 10 * time.Millisecond

// stale reports whether the node has not reported its state since the last state command.
func (d *device) stale() bool { return d.beatAt < 0 || d.staged || d.beatAt < d.changedAt+settling }

// weigh judges node i by its last heartbeat, if that is newer than the last state command.
func (b *canProtocol) weigh(i int) {
	d, dev := &b.devices[i], &b.chain.Devices[i]
	if d.stale() {
		return
	}
	// it fell: why may be in the word of a part
	if d.heartbeat.State == odrivewire.Idle && dev.Stage == servo.TorqueOn && dev.Seen {
		b.readCauses(i)
	}
	d.judge(dev, d.heartbeat)
}

// readCauses reads the error words of the parts of node i. Without an answer the heartbeat's word has to do.
func (b *canProtocol) readCauses(i int) {
	n := 1
	if b.ask(i, odrivewire.GetErrors); b.devices[i].dialect == odrivewire.V05 {
		n++
		b.ask(i, encoderErrors05)
	}
	b.x.Collect(n, canDelay)
	b.devices[i].due = 0
}

// encoderErrors05 asks an axis with firmware 0.5 for its encoder's error.
const encoderErrors05 = odrivewire.RxSDO

// ReadState is SyncRead for one node.
func (b *canProtocol) ReadState(i int) error {
	list := [1]int{i}
	err := b.SyncRead(servo.SyncReads, list[:])
	if !b.devices[i].received && err == nil {
		err = servo.ErrNoReply
	}
	if b.devices[i].received {
		return nil // only its current is missing
	}
	return err
}

// ReadHealth reads the voltage or the temperature of node i, and judges it by its heartbeat. Only Halt waits for one.
func (b *canProtocol) ReadHealth(i int) error {
	d := &b.devices[i]
	if b.chain.Halting() {
		for range 2 { // the first may have been sent just as it stopped
			if !d.stale() {
				break
			}
			d.due = 1 << odrivewire.Heartbeat
			err := b.x.Collect(1, heartbeatTimeout)
			if d.due = 0; err != nil {
				return err
			}
		}
		b.weigh(i)
		return nil
	}
	// Firmware 0.5 does not report its temperature over CAN.
	d.turn++
	d.limit = math.NaN() // a limit is not acknowledged: send it again regularly
	c := odrivewire.GetBus
	if d.dialect == odrivewire.V06 && d.turn%2 == 0 {
		c = odrivewire.GetTemperature
	}
	if d.turn%4 == 0 {
		c = odrivewire.GetErrors
	}
	b.ask(i, c)
	err := b.x.Collect(1, canDelay)
	if d.due = 0; err == nil {
		b.weigh(i)
	}
	return err
}

// Invalidate marks the limit as unknown, so it is written again; all else is written before every arming. The last
// heartbeat becomes invalid too.
func (b *canProtocol) Invalidate(i int) { b.devices[i].limit, b.devices[i].beatAt = math.NaN(), -1 }
