package dynamixel

import (
	"errors"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// write is one register's new value, waiting to be put into a sync write with its like.
type write struct {
	id    byte
	addr  uint16
	size  uint16
	bytes [4]byte
	sent  bool
}

// Send hands every staged goal to the servos. It blocks for the writing alone, but for a change of operating mode,
// which is acknowledged and done for one servo a cycle. While the line is lost it returns why.
//
// The goals of all servos with torque go out every time, changed or not: they are what keeps a bus watchdog quiet and
// repairs a lost packet.
func (c *Chain) Send() error {
	err := c.send()
	if c.link != nil {
		c.stats.Pause(&c.link.Exchange)
	}
	return err
}

func (c *Chain) send() error {
	if err := c.attend(); err != nil {
		return err
	}
	l := c.link
	c.stats.Begin(&l.Exchange)
	l.Out = l.Out[:0]
	c.goals, c.modeSet = c.goals[:0], false
	// 1. Torque off, for all that must be limp and are not known to be; the lost ones may still hear it.
	for i := range c.devices {
		d := &c.devices[i]
		if d.m == nil || d.barred || d.Goal.Enable && !d.RunsOn() {
			continue
		}
		// Enable has fallen: whatever was wrong is forgotten, and the way to torque begins again.
		if !d.Goal.Enable && d.Release() {
			d.limit = -1
		}
		// Repeated in every Send until a long read has seen it: one lost packet must not leave a joint driven.
		if d.Torque != servo.Off {
			d.Verify = true
			c.put(d, d.reg.torque, 0)
		}
	}
	c.flushWrites()
	// 2. Those that must have torque and have not.
	for i := range c.devices {
		if d := &c.devices[i]; d.Goal.Enable && d.Stage == servo.TorqueOff && c.ready(d) {
			c.arm(d)
		}
		if c.link == nil { // the line went while a mode was changed
			return c.lost()
		}
	}
	c.flushArming()
	// 3. Limits that have changed, then all goals.
	for i := range c.devices {
		d := &c.devices[i]
		fresh := d.fresh // armed in this Send: its goal, the present position, is on the way
		d.fresh = false
		if d.Stage != servo.TorqueOn || d.reading.Lost || fresh {
			continue
		}
		// A mode can be changed with torque off alone.
		if want, _ := d.wantedMode(); want != d.mode {
			c.leaveMode(d)
			continue
		}
		if d.bare {
			d.bare = false
			c.putStep(d, armWatchdog)
		}
		// Limits change rarely and are as long as goals: they are sent when they change.
		if r := d.limitRegister(); r != nil {
			// A limit raised after an alarm would take the latch of a 1.0 servo away.
			const latching = servo.AlarmHeat | servo.AlarmOverload
			if v := d.limitRaw(); v != d.limit && (d.State.Alarm&latching == 0 || v < d.limit) {
				d.limit = v
				c.put(d, r, v)
			}
		}
		// An alarm of the shutdown register is about to take the torque, and a goal may switch a 1.0 servo on again.
		if d.Verify && d.State.Alarm&d.fatal != 0 {
			continue
		}
		d.encodeGoal(false)
		c.goals = append(c.goals, d)
	}
	c.flushWrites()
	c.addGoals()
	if c.link == nil {
		return c.lost()
	}
	return c.sendFirst()
}

// ready reports whether d can be given torque now: it answered in the last cycle, no alarm has it latched, and its
// operating mode is right. A wrong mode is set right, which needs torque off and takes a cycle of its own.
func (c *Chain) ready(d *device) bool {
	switch {
	case d.m == nil || d.barred || d.reading.Lost || d.State.Err != nil || math.IsNaN(d.State.Position):
		return false
	// Enabling it again would do nothing on an X and free a 1.0 servo: neither is what latching is for.
	case d.Latched:
		d.hold(servo.ErrLatched)
		return false
	}
	want, _ := d.wantedMode()
	if want == d.mode {
		err := d.Outside(d.minTicks, d.maxTicks, d.m.TicksPerTurn)
		if err != nil {
			d.Refused(err)
		}
		return err == nil
	}
	// Not only told to be off but seen to be: a mode written under torque is refused.
	if d.Torque != servo.Off {
		d.Verify = true
		c.put(d, d.reg.torque, 0)
		c.flushWrites()
		return false
	}
	// One a cycle: the EEPROM takes its time, and so do the two exchanges.
	if c.modeSet {
		return false
	}
	c.modeSet = true
	switch err := c.setMode(d, want); {
	case err == nil:
		d.mode, d.limit = want, -1
	case c.link != nil && hal.KindOf(err) != hal.Timeout: // silence is the reading's to count
		var told *hal.Error
		if errors.As(err, &told) { // who says it and on which bus stands around it
			err = fmt.Errorf("%s: %w", told.Op, told.Err)
		}
		d.Refused(err)
	}
	return false
}

// leaveMode takes the torque off a servo whose operating mode has to change; ready does the rest.
func (c *Chain) leaveMode(d *device) {
	d.Disarm()
	c.put(d, d.reg.torque, 0)
}

// The steps of arming, each one a packet over all servos that take it: a later one needs the earlier.
const (
	armSettings = iota // watchdog off, since a tripped one locks the goals; what a power loss has cleared
	armGoal            // the goal is where the servo stands
	armTorque
	armWatchdog
)

// arm stages everything that gives d torque. The packets leave in flushArming, step by step.
func (c *Chain) arm(d *device) {
	d.Arm()
	d.limit, d.fresh, d.guarded, d.bare = -1, true, false, false
	d.encodeGoal(true)
	c.goals = append(c.goals, d)
}

// flushArming adds the packets for all servos that arm has staged.
func (c *Chain) flushArming() {
	for step := armSettings; step <= armWatchdog; step++ {
		for _, d := range c.goals {
			c.putStep(d, step)
		}
		c.flushWrites()
		if step == armGoal {
			c.addGoals()
		}
	}
	c.goals = c.goals[:0]
}

func (c *Chain) putStep(d *device, step int) {
	switch step {
	case armSettings:
		if d.reg.watchdog != nil {
			c.put(d, d.reg.watchdog, 0)
		}
		// Written even where no bound is wanted: zero is what takes an old one away.
		if d.reg.profileVelocity != nil {
			c.put(d, d.reg.profileAcceleration, d.reg.profileAcceleration.Raw(d.cfg.Acceleration))
			c.put(d, d.reg.profileVelocity, d.reg.profileVelocity.Raw(d.cfg.Velocity))
		}
		// Behind it: a profile may be one of them.
		for _, s := range d.cfg.Settings {
			c.put(d, d.m.Register(s.Register), s.Value)
		}
		if r := d.limitRegister(); r != nil {
			d.limit = d.limitRaw()
			c.put(d, r, d.limit)
		}
	case armTorque:
		c.put(d, d.reg.torque, 1)
	case armWatchdog:
		if d.reg.watchdog != nil && c.cfg.Watchdog > 0 {
			c.put(d, d.reg.watchdog, max(1, d.reg.watchdog.Raw(c.cfg.Watchdog.Seconds())))
		}
	}
}

// put stages v for register r of d.
func (c *Chain) put(d *device, r *Register, v int64) {
	w := write{id: d.cfg.ID, addr: r.Addr, size: r.Size}
	r.Append(w.bytes[:0], v)
	c.queue = append(c.queue, w)
}

// flushWrites adds the staged writes, one sync write for each register and size.
func (c *Chain) flushWrites() {
	for i := range c.queue {
		first := &c.queue[i]
		if first.sent {
			continue
		}
		in := &c.request
		*in = Instruction{ID: Broadcast, Op: SyncWrite, Addr: first.addr, Blocks: in.Blocks[:0]}
		for k := i; k < len(c.queue); k++ {
			w := &c.queue[k]
			// A register set twice keeps its order: the later value goes into a later packet.
			if w.sent || w.addr != first.addr || w.size != first.size || blocksHave(in.Blocks, w.id) {
				continue
			}
			w.sent = true
			in.Blocks = append(in.Blocks, Block{ID: w.id, Data: w.bytes[:w.size]})
		}
		c.add(in)
	}
	c.queue = c.queue[:0]
}

// blocksHave reports whether id is among blocks: a servo is named once in a packet.
func blocksHave(blocks []Block, id byte) bool {
	for i := range blocks {
		if blocks[i].ID == id {
			return true
		}
	}
	return false
}

// addGoals adds the goals of c.goals: in 2.0 one sync write where they lie alike, else one bulk write; in 1.0, which
// has no bulk write, one sync write for each kind.
func (c *Chain) addGoals() {
	if len(c.goals) == 0 {
		return
	}
	first, in := c.goals[0], &c.request
	*in = Instruction{ID: Broadcast, Op: SyncWrite, Addr: first.goalAt, Blocks: in.Blocks[:0]}
	// Alike or not is decided over all before anything is encoded.
	for _, d := range c.goals {
		if d.goalAt != first.goalAt || d.length != first.length {
			in.Op, in.Addr = BulkWrite, 0
		}
	}
	for _, d := range c.goals {
		if in.Op == BulkWrite && c.protocol() == 1 {
			w := write{id: d.cfg.ID, addr: d.goalAt, size: uint16(d.length), bytes: d.bytes}
			c.queue = append(c.queue, w)
			continue
		}
		in.Blocks = append(in.Blocks, Block{ID: d.cfg.ID, Addr: d.goalAt, Data: d.bytes[:d.length]})
	}
	if len(in.Blocks) > 0 {
		c.add(in)
	}
	c.flushWrites()
}

// add encodes in, sending first what is there when the buffer is nearly full.
func (c *Chain) add(in *Instruction) {
	// Arming a long chain at once fills several packets; the line takes them one after the other anyway.
	if l := c.link; l != nil && cap(l.Out)-len(l.Out) < maxPacket {
		c.lineError(l.Write())
	}
	if c.link != nil {
		c.link.add(in)
	}
}
