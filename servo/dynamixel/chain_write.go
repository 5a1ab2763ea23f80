package dynamixel

import (
	"slices"

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

// The steps of arming, each one a packet over all servos that take it: a later one needs the earlier.
const (
	armSettings = iota // watchdog off, since a tripped one locks the goals; settings that a power loss clears
	armGoal            // the goal is the present position
	armTorque
	armWatchdog
)

func (c *protocol) Steps() int { return armWatchdog + 1 }

func (c *protocol) TorqueStep() int { return armTorque }

// TookGoal reads back the goal of servo i. Of a packet with a speed behind the position, the position counts.
func (c *protocol) TookGoal(i int) error {
	d := &c.devices[i]
	goals := []*Register{d.reg.goalPosition, d.reg.goalVelocity, d.reg.goalCurrent, d.reg.goalPWM, d.reg.movingSpeed}
	r := servo.Find(goals, func(r *Register) bool { return r != nil && r.Addr == d.goalAt })
	if d.isY() {
		return c.tookGoalY(d, r)
	}
	got, err := c.fetch(d, r)
	if err != nil {
		return err
	}
	return d.sameGoal(r, got)
}

// sameGoal compares got, as read from register r, with the goal as written.
func (d *device) sameGoal(r *Register, got int64) error {
	want := r.Decode(d.bytes[:r.Size])
	if r == d.reg.goalPosition {
		return servo.SameGoal(got, want, d.m.TicksPerTurn)
	}
	return servo.Unequal(got, want)
}

// Ready reports whether the operating mode of servo i is right, and sets it right, which needs torque off and takes a
// cycle of its own: the EEPROM takes its time, and so do the two exchanges.
func (c *protocol) Ready(i int) (bool, error) {
	d := &c.devices[i]
	want, _ := d.wantedMode()
	if d.isY() {
		if ok, err := c.readyY(i, d); !ok || err != nil {
			return false, err
		}
	}
	if want == d.mode && d.afar {
		if !c.chain.Resting(i) {
			return false, nil
		}
		d.afar = false
		return false, c.client().ClearMultiTurn(d.cfg.ID)
	}
	if want == d.mode {
		err := d.Outside(d.minTicks, d.maxTicks, d.m.TicksPerTurn)
		return err == nil, err
	}
	// Not only commanded to be off but seen to be: a mode written under torque is refused.
	if !c.chain.Resting(i) {
		return false, nil
	}
	d.mode, d.limit = -1, -1 // an error does not mean that it was not written
	err := c.setMode(d, want)
	if err == nil {
		d.mode = want
	}
	return false, err
}

func (c *protocol) StageTorqueOff(i int) { c.put(&c.devices[i], c.devices[i].reg.torque, 0) }

// Invalidate reports that the limit has to be written again.
func (c *protocol) Invalidate(i int) { c.devices[i].limit, c.devices[i].bounded = -1, false }

// StageTorqueOn stages a step of giving servo i torque.
func (c *protocol) StageTorqueOn(i, step int) {
	d := &c.devices[i]
	switch step {
	case armSettings:
		d.guarded, d.bare, d.Opening = false, false, d.isY()
		if d.reg.watchdog != nil {
			c.put(d, d.reg.watchdog, 0)
		}
		if d.isY() {
			c.putSafeY(d)
		} else {
			c.putSettings(d)
		}
		d.limit = -1
		if r := d.limitRegister(); r != nil {
			d.limit = d.limitRaw()
			c.put(d, r, d.limit)
		}
	case armGoal:
		d.encodeGoal(true)
		c.goals = append(c.goals, d)
	case armTorque:
		c.put(d, d.reg.torque, 1)
	case armWatchdog:
		c.putWatchdog(d)
	}
}

// StageGoal stages the goal of servo i, its limit if that has changed, and its watchdog after a loss. The mode can only
// be changed with torque off.
func (c *protocol) StageGoal(i int) bool {
	d := &c.devices[i]
	if want, _ := d.wantedMode(); want != d.mode {
		return false
	}
	if d.bare {
		d.bare = false
		c.putWatchdog(d)
	}
	if d.isY() && !d.bounded {
		c.putSafeY(d)
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
	if !d.Verify || d.State.Alarm&d.fatal == 0 {
		// A brake that is not open yet: the first goal that is taken must not be far away.
		d.encodeGoal(d.Opening)
		c.goals = append(c.goals, d)
	}
	return true
}

func (c *protocol) Flush() error { return c.link.Write() }

// putWatchdog stages the watchdog of d, which has torque.
func (c *protocol) putWatchdog(d *device) {
	// With torque off the Y table would store a profile as its EEPROM, where the owner's is.
	if d.isY() {
		c.putSettings(d)
	}
	if d.reg.watchdog != nil && c.watchdog > 0 {
		c.put(d, d.reg.watchdog, max(1, d.reg.watchdog.Raw(c.watchdog.Seconds())))
	}
}

// StageGain stages a gain of the position control of servo i, within its register's range.
func (c *protocol) StageGain(i, gain int, raw int64) {
	d := &c.devices[i]
	if r := d.m.Register([...]string{"position_p_gain", "position_i_gain", "position_d_gain"}[gain]); r != nil {
		c.put(d, r, min(max(raw, r.Min), r.Max))
	}
}

// putSettings stages d's profile and settings.
func (c *protocol) putSettings(d *device) {
	// Written even without a bound: zero removes an old one.
	if d.reg.profileVelocity != nil {
		c.put(d, d.reg.profileAcceleration, atLeast1(d.reg.profileAcceleration, d.cfg.Acceleration))
		c.put(d, d.reg.profileVelocity, atLeast1(d.reg.profileVelocity, d.cfg.Velocity))
	}
	// Behind it: a profile may be one of them.
	for _, s := range d.cfg.Settings {
		c.put(d, d.m.Register(s.Register), s.Value)
	}
}

// atLeast1 is v as a raw value of r, where 0 means no bound: a small one is at least 1.
func atLeast1(r *Register, v float64) int64 {
	if !(v > 0) {
		return 0
	}
	return max(1, r.Raw(v))
}

// put stages v for register r of d.
func (c *protocol) put(d *device, r *Register, v int64) {
	w := write{id: d.cfg.ID, addr: r.Addr, size: r.Size}
	r.Append(w.bytes[:0], v)
	c.queue = append(c.queue, w)
}

// Stage adds the staged writes to the output: one sync write for each register and size, then the goals.
func (c *protocol) Stage() {
	c.flushWrites()
	c.addGoals()
	c.goals = c.goals[:0]
}

// flushWrites adds the staged writes, one sync write for each register and size.
func (c *protocol) flushWrites() {
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
			isNamed := func(b Block) bool { return b.ID == w.id }
			if w.sent || w.addr != first.addr || w.size != first.size || slices.ContainsFunc(in.Blocks, isNamed) {
				continue
			}
			w.sent = true
			in.Blocks = append(in.Blocks, Block{ID: w.id, Data: w.bytes[:w.size]})
		}
		c.add(in)
	}
	c.queue = c.queue[:0]
}

// addGoals adds the goals of c.goals: in 2.0 one sync write where they lie alike, else one bulk write; in 1.0, which
// has no bulk write, one sync write for each kind.
func (c *protocol) addGoals() {
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
		if in.Op == BulkWrite && c.protocol == 1 {
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

// add encodes in; if the buffer is nearly full it sends the buffer first.
func (c *protocol) add(in *Instruction) {
	// Arming a long chain at once fills several packets; the line sends them one after the other anyway.
	// An error here occurs again in the next exchange.
	if l := c.link; cap(l.Out)-len(l.Out) < maxPacket && l.Write() != nil {
		return
	}
	c.link.add(in)
}
