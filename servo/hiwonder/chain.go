package hiwonder

import (
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
	Health  int           // cycles from one look at a servo to the next; 0 = as servo.HealthInterval has it, below 0 = only where something has changed
}

// ServoConfig is one servo of a chain.
type ServoConfig struct {
	ID       byte
	Model    *Model
	Joint    string  // named in errors; may be empty
	Velocity float64 // greatest speed of a position goal, rad/s; 0 = the servo's own
}

// Chain drives all servos of one line. It is a servo.Chain; one goroutine calls it.
//
// A cycle is one write of 10 bytes to each servo whose goal has changed, and one question of 6 and answer of 8 bytes to
// each. The bus is slow: 6 servos take 12.5 ms of bytes. A goal that stays is repeated in every tenth cycle, which repairs
// a lost packet. The look at one servo in turn reads its torque switch and either its temperature or its voltage.
//
// The servo reports no alarm: heat and voltage are named by comparing what is measured with its own limits. It measures
// neither speed nor effort, and cannot limit its torque: a limit of zero is made by taking the torque off.
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
		Health: cfg.Health, Bits: bitsPerByte, Out: exchangeRoom, In: 16 * maxPacket, NoLimit: true,
	}
	for i := range cfg.Servos {
		s := &cfg.Servos[i]
		b.devices[i].init(s)
		generic.Devices = append(generic.Devices, servo.DeviceConfig{ID: int(s.ID), Joint: s.Joint, Faults: servo.Faults(s.Model != nil, nil, nil)})
	}
	c := &Chain{b: b}
	c.GenericChain = servo.NewGenericChain(generic, b)
	b.chain = c.GenericChain
	return c
}

// Units returns what servo i's values mean.
func (c *Chain) Units(i int) servo.Units { return c.b.devices[i].m.Units() }

// WireTime is the time of a usual cycle's bytes with all goals changing: 10 written, 6 asked, 8 answered each.
func (c *Chain) WireTime(baud int) time.Duration {
	return servo.WireTime(24*len(c.b.devices), bitsPerByte, baud)
}
