package dynamixel

import (
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// ChainConfig describes all servos of one line. Zero values give the defaults.
type ChainConfig struct {
	Name   string // the bus in errors
	Servos []ServoConfig
	Line   servo.Line    // owned by the chain from NewChain on
	Reopen servo.Opener  // how to get the line back after it was lost; nil = never
	Period time.Duration // of the cycle; bounds what asking for lost servos may cost in one. 0 = no bound

	Latency  time.Duration // what the adapter may hold an answer back (FTDI: its latency timer)
	Watchdog time.Duration // bus_watchdog of servos that have one; 0 = 200 ms or 4 periods, below 0 = off
	// Health is how many cycles pass from one long read to the next; each serves one servo in turn. 0 = as servo.HealthInterval
	// has it, below 0 = only where something has changed.
	Health int
	// PositionOnly reads the position alone in a cycle, 4 bytes of 10 on an X: velocities and efforts stay NaN. It is for
	// lines too slow for more.
	PositionOnly bool
}

// ServoConfig is one servo of a chain. A servo whose drive_mode has bit 2 takes its profile for times: leave Velocity and
// Acceleration 0 there.
type ServoConfig struct {
	ID           byte
	Model        *Model
	Joint        string          // named in errors; may be empty
	Velocity     float64         // profile_velocity or moving_speed, rad/s; 0 = no bound
	Acceleration float64         // profile_acceleration, rad/s²; 0 = no bound
	Settings     []servo.Setting // RAM registers to write before torque goes on, again after every power loss
}

// Chain drives all servos of one line: one write and one read a cycle. It is a servo.Chain; one goroutine calls it.
//
// Send writes every goal in one sync write, or in one bulk write where the servos' modes differ. Rare things (torque
// switching, limits, settings) go as further sync writes ahead of it in the same Write; none of them is answered.
//
// Receive asks the servos of one reading level with one request (see fast). Health registers would make each answer
// long, so one servo at a time is read long: from torque_enable through temperature, which makes a fast sync read
// into a fast bulk read in every Health-th cycle, and in every cycle while a switch of torque waits to be seen or an
// alert to be named.
type Chain struct {
	cfg      ChainConfig
	link     *link // nil while the line is lost
	line     servo.Line
	devices  []device
	cycle    uint64
	turn     int     // next servo of the health rotation
	next     int     // next servo asked alone, where the period does not suffice for all
	wide     *device // the servo read long in this cycle, or nil
	silences int     // servos that did not answer in this cycle
	modeSet  bool    // an operating mode was written in this Send

	request Instruction // reused
	members []*device   // of the group read under way
	queue   []write     // of the sync writes under way
	goals   []*device   // whose goals go out in this cycle
	stats   Stats
	reopen  servo.Reconnector
}

var _ servo.Chain = (*Chain)(nil)

// NewChain returns a chain; nothing is sent until Open, which also reports what is wrong with cfg.
func NewChain(cfg ChainConfig) *Chain {
	if cfg.Health == 0 {
		cfg.Health = servo.HealthInterval(cfg.Period)
	}
	// Four periods let three packets be lost; below 200 ms the watchdog would bite hosts that are merely busy.
	if cfg.Watchdog == 0 {
		cfg.Watchdog = max(200*time.Millisecond, 4*cfg.Period)
	}
	n := len(cfg.Servos)
	c := &Chain{
		cfg: cfg, line: cfg.Line, devices: make([]device, n), members: make([]*device, 0, n), goals: make([]*device, 0, n),
		queue: make([]write, 0, 16*n), request: Instruction{ID: Broadcast, Blocks: make([]Block, 0, n)},
	}
	c.reopen = servo.Reconnector{Bus: cfg.Name, Open: cfg.Reopen}
	// Devices lie in one slice and are pointed at: it never grows.
	for i := range c.devices {
		c.devices[i].init(&c.cfg, &c.cfg.Servos[i])
	}
	if cfg.Line != nil {
		c.link = c.newLink(cfg.Line)
	}
	return c
}

func (c *Chain) newLink(line servo.Line) *link {
	l := newLink(line, c.protocol())
	l.Latency = c.cfg.Latency
	return l
}

// protocol is that of the first servo; Open refuses a mixture.
func (c *Chain) protocol() int {
	// Either way Open has something to say before the line is used.
	if len(c.devices) == 0 || c.devices[0].m == nil {
		return 2
	}
	return c.devices[0].m.Protocol
}

// Units returns what servo i's values mean.
func (c *Chain) Units(i int) servo.Units { return c.devices[i].m.Units() }

// SetGoal stages what servo i must do from the next Send on.
func (c *Chain) SetGoal(i int, g servo.Goal) { c.devices[i].Goal = g }

// State returns what servo i last said. The chain changes it in Receive and Halt.
func (c *Chain) State(i int) *servo.State { return &c.devices[i].State }

// Fault returns why servo i has no torque although it is told to, or nil: it lost its power, an alarm is latched, its
// bus watchdog tripped. Torque stays off until Enable has been false once.
func (c *Chain) Fault(i int) error { return c.devices[i].State.Inhibit }

// span is a stretch of registers read at once.
type span struct{ addr, size uint16 }

// device is one servo of the chain with everything known of it.
type device struct {
	servo.DeviceState
	cfg *ServoConfig
	m   *Model

	reg       deviceRegisters
	short     span // read every cycle: position, velocity, effort
	long      span // read in turn: torque_enable through temperature
	delay     time.Duration
	inspected bool // delay, limits and mode below were read from the servo
	barred    bool // another model answers at this id: it is left alone

	alert  bool        // the last answer had the alert bit, or 1.0 alarm bits
	fatal  servo.Alarm // what takes the torque, by the shutdown register
	clears servo.Clears

	mode     int      // operating mode in the servo, -1 = unknown
	limit    int64    // raw limit last written, -1 = unknown
	maxLimit [3]int64 // greatest raw torque_limit or goal_pwm, goal_current, goal_velocity that the EEPROM allows
	minTicks float64
	maxTicks float64
	guarded  bool    // its watchdog was seen to be on since it was armed
	bare     bool    // it was not: the packet was lost
	fresh    bool    // armed in this Send
	bytes    [4]byte // the goal as written
	length   int
	goalAt   uint16
	reading  reading
}

// The entries of device.maxLimit.
const (
	limitOutput = iota
	limitCurrent
	limitVelocity
)

func (d *device) init(chain *ChainConfig, cfg *ServoConfig) {
	*d = device{cfg: cfg, m: cfg.Model, mode: -1, limit: -1, delay: maxDelay}
	d.Init(chain.Name, int(cfg.ID), cfg.Joint)
	if d.m == nil {
		return
	}
	d.resolve()
	if chain.PositionOnly {
		d.reg.velocity, d.reg.effort = nil, nil
		d.short = spanOf(d.reg.position)
	}
	d.reading.restart(d.m)
}
