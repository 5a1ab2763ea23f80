package odrive

import (
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// frameBits is what a standard frame of 8 bytes takes at the most, stuffing and the gap included, shared out over the
// bytes that it is on a line: 135 bits of 16 bytes, rounded up. remoteBits is a whole remote frame.
const (
	frameBits  = 9
	remoteBits = 55
)

// canDelay is what a node needs before an answer.
const canDelay = time.Millisecond

// heartbeatTimeout is how long a heartbeat may be away: one and a half of its usual periods.
const heartbeatTimeout = 150 * time.Millisecond

// canProtocol is the servo.Protocol of a CANChain.
type canProtocol struct {
	chain      *servo.GenericChain
	x          *servo.CANExchange
	devices    []device
	awaitBeats bool // heartbeats are waited for
}

// Connect takes a line; heartbeats of an earlier one say nothing any more.
func (b *canProtocol) Connect(x *servo.Exchange) {
	b.x = servo.NewCANExchange(x, b.handleFrame)
	for i := range b.devices {
		b.devices[i].beatAt = -1
	}
}

// ParserStats is what was no frame; the bus itself drops what is damaged.
func (b *canProtocol) ParserStats() (uint64, uint64) { return 0, b.x.Bad }

// handleFrame takes one frame; it reports whether it was waited for.
func (b *canProtocol) handleFrame(f *servo.CANFrame) bool {
	node, c, ok := Split(f)
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

// handleReply takes what node i says; false where it is nothing that a node says.
func (b *canProtocol) handleReply(i int, c Command, f *servo.CANFrame) bool {
	d, s := &b.devices[i], &b.chain.Devices[i].State
	switch c {
	case GetVersion:
		if f.Len != 8 {
			return false
		}
		d.dialect = V06
	case Heartbeat:
		beat, ok := ParseBeat(f)
		if !ok {
			return false
		}
		d.heartbeat, d.beatAt = beat, b.x.Port.Now()
	case Estimates:
		at, speed := f.Float(0), f.Float(4)
		if !finite(at) || !finite(speed) {
			return false
		}
		s.Position, s.Velocity = at*TicksPerTurn, speed*2*math.Pi
		d.heard = true
	case GetIq:
		if v := f.Float(4); finite(v) {
			s.Effort = v
		}
	case GetBus:
		if v := f.Float(0); finite(v) {
			s.Voltage = v
		}
	case GetTemperature:
		if v := f.Float(0); finite(v) {
			s.Temperature = v
		}
	case TxSDO:
		sdo, ok := ParseSDO(f)
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

// ask stages the question of node i for c.
func (b *canProtocol) ask(i int, c Command) {
	b.devices[i].due |= 1 << c
	b.put(Ask(b.devices[i].cfg.ID, c))
}

// Identify asks node i for its version, which 0.5 does not know, and else for what both do.
func (b *canProtocol) Identify(i int) error {
	d := &b.devices[i]
	if err := b.x.Drain(); err != nil {
		return err
	}
	b.ask(i, GetVersion)
	err := b.x.Collect(1, canDelay)
	if d.due = 0; errors.Is(err, servo.ErrNoReply) {
		b.ask(i, Estimates)
		if err = b.x.Collect(1, canDelay); err == nil {
			d.dialect = V05
		}
		d.due = 0
	}
	d.heard = false
	return err
}

// SyncRead asks many for their estimates and their currents with remote frames, all at once.
func (b *canProtocol) SyncRead(_ servo.Level, list []int) error {
	// What came unasked meanwhile is old by now, but for heartbeats, whose time is not so exact.
	if err := b.x.Drain(); err != nil {
		return err
	}
	for _, i := range list {
		b.devices[i].heard = false
		if holds(&b.chain.Devices[i]) {
			b.StageTorqueOff(i)
		}
		b.ask(i, Estimates)
		b.ask(i, GetIq)
	}
	err := b.x.Collect(2*len(list), canDelay)
	b.markSent()
	for _, i := range list {
		d := &b.devices[i]
		if d.due = 0; d.heard {
			b.weigh(i)
			b.chain.MarkReceived(i)
		}
	}
	return err
}

// settling is what an axis may need to come to the state that it was told.
const settling = 10 * time.Millisecond

// stale reports that node i has said nothing of its state since it was told another one.
func (d *device) stale() bool { return d.beatAt < 0 || d.telling || d.beatAt < d.toldAt+settling }

// weigh judges node i by its last heartbeat, if that came after it was told another state.
func (b *canProtocol) weigh(i int) {
	if d := &b.devices[i]; !d.stale() {
		d.judge(&b.chain.Devices[i], d.heartbeat)
	}
}

// ReadState is Group for one.
func (b *canProtocol) ReadState(i int) error {
	list := [1]int{i}
	err := b.SyncRead(servo.SyncReads, list[:])
	if !b.devices[i].heard && err == nil {
		err = servo.ErrNoReply
	}
	if b.devices[i].heard {
		return nil // its current alone is missing
	}
	return err
}

// ReadHealth reads the voltage or the temperature of node i, and judges it by its heartbeat, which only Halt waits for.
func (b *canProtocol) ReadHealth(i int) error {
	d := &b.devices[i]
	if b.awaitBeats {
		for range 2 { // the first may be of the moment in which it stopped
			if !d.stale() {
				break
			}
			d.due = 1 << Heartbeat
			err := b.x.Collect(1, heartbeatTimeout)
			if d.due = 0; err != nil {
				return err
			}
		}
		b.weigh(i)
		return nil
	}
	// 0.5 does not tell its temperature over CAN.
	d.turn++
	d.limit = math.NaN() // nobody reports that a limit was received: it is told again now and then
	c := GetBus
	if d.dialect == V06 && d.turn%2 == 0 {
		c = GetTemperature
	}
	b.ask(i, c)
	err := b.x.Collect(1, canDelay)
	if d.due = 0; err == nil {
		b.weigh(i)
	}
	return err
}

// Invalidate reports that the limit has to be written again; the rest is before every arming. What it said of its state counts no
// longer either.
func (b *canProtocol) Invalidate(i int) { b.devices[i].limit, b.devices[i].beatAt = math.NaN(), -1 }
