package dynamixel

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// NewChain returns a chain of all servos of one line; nothing is sent until Open, which also reports faults of cfg.
//
// Send writes every goal in one sync write, or in one bulk write if the servos' modes differ. Rare writes (torque
// switching, limits, settings) are further sync writes before it in the same Write; none of them is acknowledged.
//
// Receive reads all servos with the same way of reading with one request. Health registers would make each reply long,
// so one servo at a time is read long: from torque_enable through temperature. This turns a fast sync read into a fast
// bulk read in every Health-th cycle. It does so in every cycle while a torque switch must be confirmed or an alert
// read.
//
// A servo with bit 2 set in drive_mode interprets its profile as times: leave Velocity and Acceleration 0 there.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain { return newChain(cfg).chain }

func newChain(cfg servo.ChainConfig) *protocol {
	// Four periods let three packets be lost; below 200 ms the watchdog would trip on hosts that are merely busy.
	if cfg.Watchdog == 0 {
		cfg.Watchdog = max(200*time.Millisecond, 4*cfg.Period)
	}
	n := len(cfg.Servos)
	c := &protocol{
		name: cfg.Name, watchdog: cfg.Watchdog, devices: make([]device, n), wide: -1, members: make([]*device, 0, n),
		goals: make([]*device, 0, n),
		queue: make([]write, 0, 16*n), request: Instruction{ID: Broadcast, Blocks: make([]Block, 0, n)}, protocol: 2,
	}
	for i := range c.devices {
		c.devices[i].init(&cfg, i)
	}
	// If the first has no model, Open reports it before it uses the line.
	if n > 0 && c.devices[0].m != nil {
		c.protocol = c.devices[0].m.Protocol
	}
	c.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: 254 - c.protocol, Bits: bitsPerByte, Out: 4 * maxPacket, In: 2 * maxPacket,
		Known: func(i int) bool { return c.devices[i].m != nil },
		Base:  func(i int) servo.Level { return c.devices[i].base() }, Faults: c.faults,
	}, c)
	for i := range c.devices {
		c.devices[i].Device = &c.chain.Devices[i]
	}
	return c
}

// faults are those of servo i: a line has one protocol, and the longest packet must hold all servos.
func (c *protocol) faults(i int) (faults []error) {
	if m := c.devices[i].m; m.Protocol != c.protocol {
		faults = append(faults, fmt.Errorf(
			"got protocol %d (%s), want %d as the first servo's: a line speaks one protocol", m.Protocol, m.Name,
			c.protocol))
	}
	// The longest packet is the fast reply with one servo read long, or in 1.0 the goals.
	limit, longest := MaxLength2, 1
	for k := range c.devices {
		longest += 5 + int(c.devices[k].short.size)
	}
	if c.protocol == 1 {
		limit, longest = maxLength1, 3+5*len(c.devices)
	}
	if i == 0 && longest > limit-100 {
		faults = append(faults, fmt.Errorf("got %d servos, want fewer: they do not fit into one packet",
			len(c.devices)))
	}
	return faults
}

// protocol is the servo.Protocol of a chain.
type protocol struct {
	name     string // of the bus, in errors
	protocol int    // 1 or 2
	watchdog time.Duration
	chain    *servo.GenericChain
	link     *link
	devices  []device
	wide     int // the servo read long in this cycle, -1 = none

	request Instruction // reused
	members []*device   // of the group read under way
	queue   []write     // of the sync writes under way
	goals   []*device   // whose goals are staged
}

// Connect takes a line; on one that may be another every servo may have another firmware.
func (c *protocol) Connect(x *servo.Exchange) {
	c.link = newLink(x, c.protocol)
	c.queue, c.goals = c.queue[:0], c.goals[:0]
}

// ParserStats returns the parser's counters, with the truncated fast replies added to the bad checksums.
func (c *protocol) ParserStats() (badChecksums, garbage uint64) {
	return c.link.parser.BadChecksum + c.link.broken, c.link.parser.Garbage
}

// span is a stretch of registers read at once.
type span struct{ addr, size uint16 }

// device is one servo of the chain with everything known of it.
type device struct {
	*servo.Device
	index int
	cfg   *servo.ServoConfig
	m     *Model

	reg   deviceRegisters
	y     yRegisters
	short span // read every cycle: position, velocity, effort
	long  span // read in turn: torque_enable through temperature
	delay time.Duration

	alert bool        // the last answer had the alert bit, or 1.0 alarm bits
	afar  bool        // it counts whole turns that it must forget before it gets torque
	told  byte        // the error byte of the last answer to a question to it alone
	fatal servo.Alarm // alarms that switch torque off, by the shutdown register

	mode      int      // operating mode in the servo, -1 = unknown
	limit     int64    // raw limit last written, -1 = unknown
	maxLimit  [3]int64 // greatest raw torque_limit or goal_pwm, goal_current, goal_velocity that the EEPROM allows
	minTicks  float64
	maxTicks  float64
	guarded   bool    // its watchdog was seen to be on since it was armed
	bare      bool    // it was not: the packet was lost
	bounded   bool    // Y: the limits in RAM are as they must be
	startsOn  bool    // Y: power brings torque
	safeStop  int64   // Y: safe_stop_time in the servo
	bytes     [4]byte // the goal as written
	length    int
	goalAt    uint16
	wideFails int // long reads that went wrong
}

// The entries of device.maxLimit.
const (
	limitOutput = iota
	limitCurrent
	limitVelocity
)

func (d *device) init(chain *servo.ChainConfig, i int) {
	cfg := &chain.Servos[i]
	m, _ := cfg.Model.(*Model)
	*d = device{index: i, cfg: cfg, m: m, mode: -1, limit: -1, delay: maxDelay}
	if m == nil {
		return
	}
	d.resolve()
	if chain.PositionOnly {
		d.reg.velocity, d.reg.effort = nil, nil
		d.short = spanOf(d.reg.position)
	}
}

// base is the best way to read d that its model's table promises; its firmware may know less.
func (d *device) base() servo.Level {
	if d.m == nil {
		return servo.SingleReads
	}
	return d.m.BestReading()
}
