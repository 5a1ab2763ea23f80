package dynamixel

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// How a servo is read, from the cheapest to what always works. A servo that keeps a group from answering goes one level
// down and is tried a level up again later, so that one old firmware does not slow down the rest.
const (
	fast  servo.Level = iota // in a fast sync or fast bulk read: one request, one common answer
	group                    // in a sync read (2.0) or bulk read: one request, an answer a servo
	alone                    // a request a servo; all that AX-12A can do
)

// Receive asks every servo for its state, blocks for the answers and fills State. It costs the wire time of what is
// asked; a silent servo adds 2 ms and the adapter's latency once a request, is asked alone in the next two cycles and
// then every fiftieth. Receive returns an error when the line itself is lost; a servo's own trouble stands in its
// State.Err.
func (c *Chain) Receive() error {
	if c.link == nil {
		return c.lost()
	}
	c.cycle++
	c.stats.Resume(&c.link.Exchange)
	c.silences = 0
	c.wide = c.pickWide()
	for i := range c.devices {
		c.devices[i].reading.Answered = false
	}
	// Mostly one of these has members, and the cycle has one request.
	for _, lv := range []servo.Level{fast, group} {
		if err := c.readGroup(lv); err != nil {
			return err
		}
	}
	err := c.readAlone()
	if d := c.wide; err == nil && d != nil && d.narrowed() && d.reading.Answered {
		err = c.readHealthParts(d)
	}
	c.endCycle()
	return err
}

// readHealthParts reads what a long read would have shown of a servo that refuses those.
func (c *Chain) readHealthParts(d *device) error {
	// Up to three questions more, but only in the cycles that would have read long.
	torque, err := c.fetch(d, d.reg.torque)
	if err == nil && d.reg.hardware != nil {
		var bits int64
		if bits, err = c.fetch(d, d.reg.hardware); err == nil {
			d.State.Alarm = d.m.Alarms(byte(bits))
		}
	}
	if err == nil {
		d.parseTorque(servo.SwitchOf(torque), span{}, nil)
		d.State.Torque = d.Torque == servo.On
	}
	if err == nil && d.reg.watchdog != nil && d.Stage == servo.TorqueOn {
		var dog int64
		if dog, err = c.fetch(d, d.reg.watchdog); err == nil && dog < 0 {
			d.hold(errTripped)
		}
	}
	if c.link == nil {
		return err
	}
	return nil
}

// pickWide chooses the servo that is read long in this cycle: one where something has to be seen, else the next in
// turn in every Health-th cycle, else none.
func (c *Chain) pickWide() *device {
	n := len(c.devices)
	// What waits to be seen comes first; the rotation goes on from there, so that one restless servo cannot keep the
	// others from being read long.
	routine := c.cfg.Health > 0 && c.cycle%uint64(c.cfg.Health) == 0
	var turn *device
	for k := range n {
		i := (c.turn + k) % n
		d := &c.devices[i]
		if d.m == nil || d.barred || d.reading.Lost {
			continue
		}
		if d.Verify {
			c.turn = (i + 1) % n
			return d
		}
		if turn == nil {
			turn = d
		}
	}
	if !routine || turn == nil {
		return nil
	}
	for i := range c.devices {
		if &c.devices[i] == turn {
			c.turn = (i + 1) % n
		}
	}
	return turn
}

// span is what d is asked for in this cycle.
func (c *Chain) span(d *device) span {
	// A lost servo says at once whether its torque is still on.
	if d == c.wide || d.reading.Lost {
		return d.long
	}
	return d.short
}

// readGroup reads all servos of a level with one request.
func (c *Chain) readGroup(lv servo.Level) error {
	c.members = c.members[:0]
	for i := range c.devices {
		d := &c.devices[i]
		if d.m != nil && !d.barred && d.reading.Joins(lv, c.cycle) {
			c.members = append(c.members, d)
		}
	}
	if len(c.members) == 0 {
		return nil
	}
	reply, delay := c.groupRequest(lv)
	// Nothing should wait here; if it does, it must not be mistaken for a part of the question.
	if err := c.sendFirst(); err != nil {
		return err
	}
	c.link.add(&c.request)
	if err := c.link.ask(reply, delay); err != nil {
		return c.lineError(err)
	}
	var err error
	if lv == fast {
		err = c.receiveFast(reply)
	} else {
		err = c.receiveGroup()
	}
	if err != nil && !errors.Is(err, servo.ErrNoReply) {
		return c.lineError(err)
	}
	c.judgeGroup(lv)
	return nil
}

// groupRequest fills c.request for c.members and returns the length of all answers and what they may take beside
// their wire time.
func (c *Chain) groupRequest(lv servo.Level) (reply int, delay time.Duration) {
	in, first := &c.request, c.span(c.members[0])
	alike := true
	*in = Instruction{ID: Broadcast, Blocks: in.Blocks[:0]}
	for _, d := range c.members {
		s := c.span(d)
		alike = alike && s == first
		in.Blocks = append(in.Blocks, Block{ID: d.cfg.ID, Addr: s.addr, Size: s.size})
		if lv == fast {
			reply += 4 + int(s.size)
			delay = max(delay, d.delay) // all wait together
			continue
		}
		reply += statusBytes(c.link.protocol, int(s.size))
		delay += d.delay
	}
	if lv == fast {
		reply += 8
	}
	switch sync := alike && c.link.protocol == 2; {
	case sync && lv == fast:
		in.Op = FastSyncRead
	case sync:
		in.Op = SyncRead
	case lv == fast:
		in.Op = FastBulkRead
	default:
		in.Op = BulkRead
	}
	// Blocks of a sync read are ids alone; address and size stand before them.
	if alike && c.link.protocol == 2 {
		in.Addr, in.Size = first.addr, first.size
		for i := range in.Blocks {
			in.Blocks[i] = Block{ID: in.Blocks[i].ID}
		}
	}
	return reply, delay
}

// receiveFast reads the parts of a fast answer of total bytes as they come. What was received before a servo fell silent
// counts.
func (c *Chain) receiveFast(total int) error {
	l := c.link
	var parts FastParts
	started := false
	for k := 0; k < len(c.members); {
		if err := l.more(); err != nil {
			return err
		}
		if !started {
			if started = parts.Start(l.Raw, total-7); !started {
				continue
			}
		}
		for parts.Grow(l.Raw); k < len(c.members); k++ {
			d := c.members[k]
			s := c.span(d)
			st, ok := parts.Next(int(s.size))
			if !ok {
				break
			}
			// Right CRC, wrong servo: somebody answers out of turn.
			if st.ID != d.cfg.ID {
				return servo.ErrCorrupt
			}
			c.accept(d, s, &st)
		}
		if parts.Broken() {
			c.stats.BadChecksums++
			c.members[k].reading.Garbled = true
			return servo.ErrNoReply // nothing after it can be trusted
		}
	}
	return nil
}

// receiveGroup reads the answers of a sync or bulk read. They come in the order asked for, but a missing one is not
// allowed to hide another, so any order is taken.
func (c *Chain) receiveGroup() error {
	l := c.link
	bad := l.parser.BadChecksum
	for left := len(c.members); left > 0; {
		st, err := l.status()
		if err != nil {
			if l.parser.BadChecksum > bad {
				c.markCorrupt()
			}
			return err
		}
		// A second answer under one id finds nobody who still waits, and is dropped.
		for _, d := range c.members {
			if s := c.span(d); d.cfg.ID == st.ID && !d.reading.Answered {
				c.accept(d, s, &st)
				left--
				break
			}
		}
	}
	return nil
}

// markCorrupt notes that the first member without an answer sent a bad one.
func (c *Chain) markCorrupt() {
	for _, d := range c.members {
		if !d.reading.Answered {
			d.reading.Garbled = true
			return
		}
	}
}

// accept takes d's answer to a read of s, which may be a refusal.
func (c *Chain) accept(d *device, s span, st *Status) {
	// A refusal has no data. It is an answer all the same: the servo is there.
	if len(st.Data) != int(s.size) || c.link.protocol == 2 && st.Error&^AlertBit != 0 {
		d.reading.Answered, d.State.Err = true, d.Corrupt
		if s == d.long {
			d.narrow()
		}
		return
	}
	now := c.link.Port.Now()
	if v, ok := s.within(d.reg.position, st.Data); ok && !d.Believes(float64(v), d.m.TicksPerTurn, d.m.MaxVelocity, now) {
		d.reading.Answered, d.State.Err = true, d.Corrupt
		return
	}
	if s == d.long && !d.narrowed() {
		d.reading.wideFails = 0 // what went wrong before was the line
	}
	d.parseState(s, st, now)
	c.markReceived(d)
}
