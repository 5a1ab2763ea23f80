package dynamixel

import (
	"errors"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// ReadLong reports which servo is read long in this cycle.
func (c *protocol) ReadLong(i int) { c.wide = i }

// ShowsHealth reports whether the long read of servo i shows its torque switch.
func (c *protocol) ShowsHealth(i int) bool { return !c.devices[i].narrowed() }

// narrow takes the registers before the state out of d's long read: some firmware refuses a read across the gaps of
// its table. Torque is then not seen any more.
func (d *device) narrow() {
	if d.wideFails++; d.wideFails < 2 {
		return
	}
	d.long = spanOf(d.reg.position, d.reg.velocity, d.reg.effort, d.reg.voltage, d.reg.temperature)
}

// narrowed reports that d's long read does not show its torque.
func (d *device) narrowed() bool { return d.long.addr > d.reg.torque.Addr }

// isWide reports that d is read long in this cycle; a lost servo shows at once whether its torque is still on.
func (c *protocol) isWide(d *device) bool { return c.wide >= 0 && d == &c.devices[c.wide] || d.Lost }

// span is the register range to read of d in this cycle.
func (c *protocol) span(d *device) span {
	if c.isWide(d) {
		return d.long
	}
	return d.short
}

var errTripped = errors.New("bus watchdog has tripped: enable again")

// ReadHealth reads the health registers that a long read of servo i would contain: its torque switch and, after an
// alert, its alarms.
func (c *protocol) ReadHealth(i int) error {
	d := &c.devices[i]
	if d.isY() {
		return c.readHealthY(d)
	}
	torque, err := c.fetch(d, d.reg.torque)
	if err != nil {
		return err
	}
	if d.reg.hardware != nil && d.alert {
		bits, err := c.fetch(d, d.reg.hardware)
		if err != nil {
			return err
		}
		d.note(byte(bits))
	}
	d.parseTorque(servo.SwitchOf(torque != 0), span{}, nil)
	if d.reg.watchdog != nil && d.Stage == servo.TorqueOn {
		dog, err := c.fetch(d, d.reg.watchdog)
		if err != nil {
			return err
		}
		if dog < 0 {
			d.hold(errTripped)
		}
	}
	return nil
}

// SyncRead reads servos with one request.
func (c *protocol) SyncRead(way servo.Level, list []int) error {
	c.members = c.members[:0]
	for _, i := range list {
		c.members = append(c.members, &c.devices[i])
	}
	reply, delay := c.groupRequest(way)
	// Nothing should wait here; if it does, it must not be mistaken for a part of the request.
	if err := c.Flush(); err != nil {
		return err
	}
	c.link.add(&c.request)
	if err := c.link.ask(reply, delay); err != nil {
		return err
	}
	var err error
	if way == servo.FastReads {
		err = c.receiveFast(reply)
	} else {
		err = c.receiveGroup()
	}
	// Perhaps it was the length of its part that kept the first from replying.
	if d := c.silent(); d != nil && c.isWide(d) {
		d.narrow()
	}
	return err
}

// silent is the first member without a reply, nil if all have replied.
func (c *protocol) silent() *device {
	return servo.Find(c.members, func(d *device) bool { return !d.Answered })
}

func (c *protocol) ReadState(i int) error {
	d, l := &c.devices[i], c.link
	s := c.span(d)
	if err := c.Flush(); err != nil {
		return err
	}
	st, err := l.read(d.cfg.ID, s, d.delay)
	if err != nil {
		return err
	}
	c.accept(d, s, &st)
	return nil
}

// groupRequest fills c.request for c.members. It returns the length of all replies and their delays in addition to the
// wire time.
func (c *protocol) groupRequest(lv servo.Level) (reply int, delay time.Duration) {
	in, first := &c.request, c.span(c.members[0])
	alike := true
	*in = Instruction{ID: Broadcast, Blocks: in.Blocks[:0]}
	for _, d := range c.members {
		s := c.span(d)
		alike = alike && s == first
		in.Blocks = append(in.Blocks, Block{ID: d.cfg.ID, Addr: s.addr, Size: s.size})
		if lv == servo.FastReads {
			reply += 4 + int(s.size)
			delay = max(delay, d.delay) // all wait together
			continue
		}
		reply += statusBytes(c.link.protocol, int(s.size))
		delay += d.delay
	}
	if lv == servo.FastReads {
		reply += 8
	}
	switch sync := alike && c.link.protocol == 2; {
	case sync && lv == servo.FastReads:
		in.Op = FastSyncRead
	case sync:
		in.Op = SyncRead
	case lv == servo.FastReads:
		in.Op = FastBulkRead
	default:
		in.Op = BulkRead
	}
	// Blocks of a sync read are only ids; address and size are before them.
	if alike && c.link.protocol == 2 {
		in.Addr, in.Size = first.addr, first.size
		for i := range in.Blocks {
			in.Blocks[i] = Block{ID: in.Blocks[i].ID}
		}
	}
	return reply, delay
}

// receiveFast reads the parts of a fast reply of total bytes as they arrive. Parts before a missing servo are valid.
func (c *protocol) receiveFast(total int) error {
	l := c.link
	var parts FastParts
	started := false
	for k := 0; k < len(c.members); {
		if _, err := l.More(); err != nil {
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
			// Right CRC, wrong servo: a servo replied out of turn.
			if st.ID != d.cfg.ID {
				return servo.ErrCorrupt
			}
			c.accept(d, s, &st)
		}
		if parts.Broken() {
			l.broken++
			c.members[k].Garbled = true
			return servo.ErrNoReply // parts after it are not reliable
		}
	}
	return nil
}

// receiveGroup reads the answers of a sync or bulk read. They come in the order asked for, but a missing one is not
// allowed to hide another, so any order is taken.
func (c *protocol) receiveGroup() error {
	l := c.link
	bad := l.parser.BadChecksum
	next := 0
	for left := len(c.members); left > 0; {
		st, err := l.status()
		if err != nil {
			if d := c.silent(); d != nil && l.parser.BadChecksum > bad {
				d.Garbled = true
			}
			return err
		}
		// A second reply under one id matches no pending device, and is dropped. The next in turn is the likeliest.
		for k := range c.members {
			d := c.members[(next+k)%len(c.members)]
			if d.cfg.ID == st.ID && !d.Answered {
				c.accept(d, c.span(d), &st)
				next += k + 1
				left--
				break
			}
		}
	}
	return nil
}

// withinTurn is a position as the servo will report it in the position mode. One that was left in another mode counts
// its turns, which its mode of now forgets: with them a joint would seem to be turns away. The current-based position
// mode counts them too, until Ready lets the servo forget them.
func (d *device) withinTurn(v int64) int64 {
	const extended, currentBased = 4, 5
	want, _ := d.wantedMode()
	bounded := d.Goal.Low < d.Goal.High // else a wheel, which counts on
	if d.afar = false; d.m.Protocol == 1 || d.isY() || want != d.m.Modes[hal.PositionMode] ||
		d.mode != extended && d.mode != currentBased && !bounded {
		return v
	}
	homing, turn := int64(0), int64(d.m.TicksPerTurn)
	if !math.IsNaN(d.State.Homing) {
		homing = int64(d.State.Homing)
	}
	within := ((v-homing)%turn+turn)%turn + homing
	if d.mode != want {
		return within
	}
	// What the servo forgets is only what is surely another turn, without torque.
	if d.afar = want == currentBased && bounded && d.Stage != servo.TorqueOn &&
		(v-homing < -turn/8 || v-homing > turn+turn/8); d.afar {
		return within
	}
	return v
}

// accept takes d's answer to a read of s, which may be a refusal.
func (c *protocol) accept(d *device, s span, st *Status) {
	// A refusal has no data. It is an answer all the same: the servo is there.
	if len(st.Data) != int(s.size) || c.link.protocol == 2 && st.Error&^alertBit != 0 {
		d.Answered, d.State.Err = true, d.Corrupt
		if s == d.long {
			d.narrow()
		}
		return
	}
	now := c.link.Port.Now()
	v, ok := s.within(d.reg.position, st.Data)
	v = d.withinTurn(v)
	// A motor without a gear may turn too far between two reads for that.
	if ok && d.m.Gear != 1 && !d.Believes(float64(v), d.m.TicksPerTurn, d.m.MaxVelocity, now) {
		d.Answered, d.State.Err = true, d.Corrupt
		return
	}
	if ok {
		d.State.Position = float64(v)
	}
	if s == d.long && !d.narrowed() {
		d.wideFails = 0 // earlier failures were errors of the line
	}
	d.parseState(s, st)
	c.chain.MarkReceived(d.index)
}
