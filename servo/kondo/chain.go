package kondo

import (
	"fmt"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// ChainConfig describes all servos of one line. Zero values give the defaults.
type ChainConfig struct {
	Name    string // the bus in errors
	Servos  []ServoConfig
	Line    servo.Line    // owned by the chain from NewChain on; its echo is out of it already
	Reopen  servo.Opener  // how to get the line back after it was lost; nil = never
	Period  time.Duration // of the cycle; bounds what asking for lost servos may cost in one. 0 = no bound
	Latency time.Duration // what the adapter may hold an answer back
	Health  int           // cycles from one look at a servo to the next; 0 = as servo.HealthInterval has it, below 0 = only where something has changed
}

// ServoConfig is one servo of a chain.
type ServoConfig struct {
	ID       byte
	Model    *Model
	Joint    string          // named in errors; may be empty
	Settings []servo.Setting // parameters to write before torque goes on
}

// Chain drives all servos of one line. It is a servo.Chain; one goroutine calls it.
//
// A cycle is one exchange with each servo, 3 bytes and 3: it tells the goal and measures the position. It takes place in
// Send, which therefore blocks for the answers; State is as old as that. Receive asks those alone that Send did not.
//
// The servo reports no alarm, no voltage, no speed, and no temperature that could be told in degrees. Its torque switch
// cannot be read: torque is off where the command to be free was answered. So a servo that was lost and had torque is
// taken to have lost its power. It cannot be limited from cycle to cycle: a limit of zero is made by freeing it.
type Chain struct {
	*servo.GenericChain
	b *protocol
}

var _ servo.Chain = (*Chain)(nil)

// NewChain returns a chain; nothing is sent until Open, which also reports what is wrong with cfg.
func NewChain(cfg ChainConfig) *Chain {
	b := &protocol{cfg: &cfg, devices: make([]device, len(cfg.Servos))}
	generic := servo.GenericChainConfig{
		Bus: cfg.Name, Line: cfg.Line, Reopen: cfg.Reopen, LastID: LastID, Period: cfg.Period, Latency: cfg.Latency,
		Health: cfg.Health, Bits: bitsPerByte, Out: maxPacket, In: 8 * maxPacket, NoLimit: true,
	}
	for i := range cfg.Servos {
		s := &cfg.Servos[i]
		b.devices[i] = device{cfg: s, m: s.Model}
		generic.Devices = append(generic.Devices, servo.DeviceConfig{ID: int(s.ID), Joint: s.Joint, Faults: servo.Faults(s.Model != nil, s.Settings, s.check)})
	}
	c := &Chain{b: b}
	c.GenericChain = servo.NewGenericChain(generic, b)
	b.chain = c.GenericChain
	return c
}

// check says why x is no setting of the servo.
func (s *ServoConfig) check(x servo.Setting) error {
	r := s.Model.Register(x.Register)
	if r == nil || r.Addr < Stretch || r.Addr > Heat || x.Value < r.Min || x.Value > r.Max {
		return fmt.Errorf("setting %s = %d: not a setting of %s, or out of range", x.Register, x.Value, s.Model.Name)
	}
	return nil
}

// Units returns what servo i's values mean.
func (c *Chain) Units(i int) servo.Units { return c.b.devices[i].m.Units() }

// WireTime is the time of a usual cycle's bytes: 3 told and 3 answered by each.
func (c *Chain) WireTime(baud int) time.Duration {
	return servo.WireTime(6*len(c.b.devices), bitsPerByte, baud)
}
