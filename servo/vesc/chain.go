package vesc

import (
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// ChainConfig describes all controllers of one line. Zero values give the defaults.
type ChainConfig struct {
	Name    string // the bus in errors
	Motors  []MotorConfig
	Line    servo.Line    // owned by the chain from NewChain on
	Reopen  servo.Opener  // how to get the line back after it was lost; nil = never
	Period  time.Duration // of the cycle; bounds what asking for lost controllers may cost in one. 0 = no bound
	Latency time.Duration // what the adapter may hold an answer back
}

// MotorConfig is one controller of a chain, at the line's end or on the CAN bus behind it.
type MotorConfig struct {
	ID    byte
	Model *Model
	Joint string // named in errors; may be empty
}

// Chain drives all controllers of one line. It is a servo.Chain; one goroutine calls it.
//
// A cycle is one command of 10 bytes to each controller, repeated whether it changed or not, one question of 10 bytes
// and an answer of 32; 4 more there for one behind the first. At 115200 Bd that is 4.5 ms for each. All are asked at once,
// so that the line speaks while the CAN bus behind the first is busy with the next: 1.75 ms each, which from 250000 Bd on is more
// than the line needs.
//
// A controller has no torque switch that could be read: it holds torque while it is told to, and for its timeout after
// that. So one that was lost, and one whose counter of turns has begun again, is taken to have lost its power, and waits
// for Enable to have been false once. Only the torque mode can be limited from cycle to cycle; a limit of zero lets the
// motor go in all of them.
type Chain struct {
	*servo.GenericChain
	b *protocol
}

var _ servo.Chain = (*Chain)(nil)

// NewChain returns a chain; nothing is sent until Open, which also reports what is wrong with cfg.
func NewChain(cfg ChainConfig) *Chain {
	b := &protocol{cfg: &cfg, devices: make([]device, len(cfg.Motors))}
	generic := servo.GenericChainConfig{
		Bus: cfg.Name, Line: cfg.Line, Reopen: cfg.Reopen, LastID: LastID, Period: cfg.Period, Latency: cfg.Latency,
		Health: -1, Bits: bitsPerByte, Out: max(1, len(cfg.Motors)) * 3 * 16, In: 2*maxPacket + 64*len(cfg.Motors), NoLimit: true,
	}
	for i := range cfg.Motors {
		m := &cfg.Motors[i]
		b.devices[i] = device{cfg: m, m: m.Model, pairs: 1}
		generic.Devices = append(generic.Devices, servo.DeviceConfig{ID: int(m.ID), Joint: m.Joint, Grouped: true, Faults: servo.Faults(m.Model != nil, nil, nil)})
	}
	c := &Chain{b: b}
	c.GenericChain = servo.NewGenericChain(generic, b)
	b.chain = c.GenericChain
	return c
}

// Units returns what motor i's values mean.
func (c *Chain) Units(i int) servo.Units { return c.b.devices[i].m.Units() }

// WireTime is the time of a usual cycle's bytes, as if every controller stood at the line's end.
func (c *Chain) WireTime(baud int) time.Duration {
	bytes := 0
	for i := range c.b.devices {
		if m := c.b.devices[i].m; m != nil {
			bytes += 10 + 10 + 10 + size(m.asked())
		}
	}
	return servo.WireTime(bytes, bitsPerByte, baud)
}
