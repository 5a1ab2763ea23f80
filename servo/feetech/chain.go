package feetech

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// ChainConfig describes all servos of one line. Zero values give the defaults.
type ChainConfig struct {
	Name    string // the bus in errors
	Servos  []ServoConfig
	Line    servo.Line    // owned by the chain from NewChain on
	Reopen  servo.Opener  // how to get the line back after it was lost; nil = never
	Period  time.Duration // of the cycle; bounds what asking for lost servos may cost in one. 0 = no bound
	Latency time.Duration // what the adapter may hold an answer back
	// Health is how many cycles pass from one look at a servo's switches to the next; each serves one servo in turn.
	// 0 = as servo.HealthInterval has it, below 0 = only where something has changed.
	Health int
}

// ServoConfig is one servo of a chain.
type ServoConfig struct {
	ID           byte
	Model        *Model
	Joint        string          // named in errors; may be empty
	Velocity     float64         // greatest speed of a position goal, rad/s; 0 = the servo's own
	Acceleration float64         // rad/s²; 0 = no bound
	Settings     []servo.Setting // registers to write before torque goes on; those of the EEPROM in their copy in RAM alone
}

// Chain drives all servos of one line. It is a servo.Chain; one goroutine calls it.
//
// A cycle is one sync write of 7 bytes each (acceleration, position, time, speed) and, of STS and SMS, one sync read of
// 8 (position, speed, load, voltage, temperature); SCS take 6 and are read one by one. Alarms stand in every answer.
// The look at one servo in turn reads its mode, torque switch, limit and lock as well.
//
// The operating mode is an EEPROM register. It is changed with torque off, read back, and written with the lock closed,
// which changes its copy in RAM alone.
type Chain struct {
	*servo.GenericChain
	b *protocol
}

var _ servo.Chain = (*Chain)(nil)

// NewChain returns a chain; nothing is sent until Open, which also reports what is wrong with cfg.
func NewChain(cfg ChainConfig) *Chain {
	n := len(cfg.Servos)
	b := &protocol{cfg: &cfg, devices: make([]device, n), queue: make([]write, 0, 16*n)}
	generic := servo.GenericChainConfig{
		Bus: cfg.Name, Line: cfg.Line, Reopen: cfg.Reopen, LastID: LastID, Period: cfg.Period, Latency: cfg.Latency,
		Health: cfg.Health, Bits: bitsPerByte, Out: exchangeRoom, In: exchangeRoom,
	}
	for i := range cfg.Servos {
		s := &cfg.Servos[i]
		b.devices[i].init(s)
		faults := servo.Faults(s.Model != nil, s.Settings, s.check)
		if i == maxServos {
			faults = append(faults, fmt.Errorf("got %d servos, want %d at most: they do not fit into one packet", n, maxServos))
		}
		generic.Devices = append(generic.Devices, servo.DeviceConfig{
			ID: int(s.ID), Joint: s.Joint, Grouped: s.Model != nil && s.Model.Series == STS, Faults: faults,
		})
	}
	c := &Chain{b: b}
	c.GenericChain = servo.NewGenericChain(generic, b)
	b.chain = c.GenericChain
	return c
}

// maxServos fit into one sync write of goals.
const maxServos = (maxLength - 4) / (1 + goalBlock)

// check says why x is no setting of the servo.
func (s *ServoConfig) check(x servo.Setting) error {
	r := s.Model.Register(x.Register)
	if r == nil || r.Access == servo.ReadOnly || x.Value < r.Min || x.Value > r.Max || !Settable(x.Register) {
		return fmt.Errorf("setting %s = %d: not a setting of %s, or out of range", x.Register, x.Value, s.Model.Name)
	}
	return nil
}

// Settable reports that a register is neither an address nor what the chain itself writes.
func Settable(name string) bool {
	switch name {
	case "id", "baud_rate", "operating_mode", "lock", "torque_enable", "torque_limit", "goal_position", "goal_velocity",
		"goal_time", "goal_acceleration":
		return false
	}
	return true
}

// Units returns what servo i's values mean.
func (c *Chain) Units(i int) servo.Units { return c.b.devices[i].m.Units() }

// WireTime is the time of a usual cycle's bytes at the line's rate, with the return delays: 8 + N·8 written, then
// 8 + N asked and N·14 answered; of SCS 8 + N·7 and N·(8 + 14).
func (c *Chain) WireTime(baud int) time.Duration {
	bytes, grouped, delay := 8, 0, time.Duration(0)
	for i := range c.b.devices {
		d := &c.b.devices[i]
		delay += d.delay
		if bytes += 1 + d.goalSize() + 6 + stateSize; c.Devices[i].Level == 0 {
			grouped++
			bytes++
		} else {
			bytes += 8
		}
	}
	if grouped > 0 {
		bytes += 8
	}
	return servo.WireTime(bytes, bitsPerByte, baud) + delay
}
