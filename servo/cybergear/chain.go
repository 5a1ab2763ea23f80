package cybergear

import (
	"fmt"
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// frameBits is what a frame of 8 bytes and an extended identifier takes at the most, stuffing and the gap included, shared
// out over the bytes that it is on a line: 160 bits of 16 bytes.
const frameBits = 10

// ChainConfig describes all motors of one bus. Zero values give the defaults.
type ChainConfig struct {
	Name    string // the bus in errors
	Motors  []MotorConfig
	Line    servo.Line    // a CAN line, owned by the chain from NewChain on
	Reopen  servo.Opener  // how to get the line back after it was lost; nil = never
	Period  time.Duration // of the cycle; bounds what asking for lost motors may cost in one. 0 = no bound
	Latency time.Duration // what the adapter may hold a frame back
}

// MotorConfig is one motor of a chain.
type MotorConfig struct {
	ID         byte
	Model      *Model
	Joint      string // named in errors; may be empty
	Calibrated bool   // a calibration counts on its zero
	Settings   []servo.Setting
}

// Chain drives all motors of one bus. It is a servo.Chain; one goroutine calls it.
//
// A cycle is one goal to each motor, which answers it with its feedback: two frames each, 0.26..0.32 ms at 1 Mbit/s. A
// motor that must be limp is told to stop instead. A silent one costs 3 ms once a cycle, for all that are silent. Modes
// change at rest alone, one motor a cycle.
type Chain struct {
	*servo.GenericChain
	b *protocol
}

var _ servo.Chain = (*Chain)(nil)

// NewChain returns a chain; nothing is sent until Open, which also reports what is wrong with cfg.
func NewChain(cfg ChainConfig) *Chain {
	b := &protocol{cfg: &cfg, devices: make([]device, len(cfg.Motors))}
	n := max(1, len(cfg.Motors))
	generic := servo.GenericChainConfig{
		Bus: cfg.Name, Line: cfg.Line, Reopen: cfg.Reopen, LastID: LastID, Period: cfg.Period, Latency: cfg.Latency,
		Bits: frameBits, Out: 8 * n * servo.CANSize, In: (64 + 8*n) * servo.CANSize,
	}
	for i := range cfg.Motors {
		m := &cfg.Motors[i]
		b.devices[i] = device{cfg: m, m: m.Model, limit: math.NaN(), timeout: usualTimeout}
		for _, s := range m.Settings {
			b.devices[i].timeout = float64(s.Value) // there is no other
		}
		generic.Devices = append(generic.Devices, servo.DeviceConfig{ID: int(m.ID), Joint: m.Joint, Grouped: true,
			Faults: servo.Faults(m.Model != nil, m.Settings, m.check)})
	}
	c := &Chain{b: b}
	c.GenericChain = servo.NewGenericChain(generic, b)
	b.chain = c.GenericChain
	return c
}

// check says why x is no setting of the motor.
func (m *MotorConfig) check(x servo.Setting) error {
	return m.Model.Register(x.Register).CheckSetting(m.Model.Name, x)
}

// Units returns what motor i's values mean.
func (c *Chain) Units(i int) servo.Units { return c.b.devices[i].m.Units() }

// SetZero makes where motor i stands its zero, until its power goes. It is refused while the motor holds, and where a
// calibration counts on the zero that it has.
func (c *Chain) SetZero(i int) error {
	d, seat := &c.b.devices[i], &c.Devices[i]
	refuse := func(format string, args ...any) error {
		return seat.Error(hal.Unsafe, "zero", fmt.Errorf(format, args...))
	}
	switch {
	case d.cfg.Calibrated:
		return refuse("its calibration counts on the zero that it has: remove the calibration first")
	case seat.Torque != servo.Off:
		return refuse("it is not known to be limp")
	}
	m := To(d.cfg.ID, ZeroSet)
	m.Data[0] = 1
	c.b.stage(i, m)
	return servo.Fault(c.b.cfg.Name, seat.ID, "zero", c.b.collect(i, 0))
}

// WireTime is the most that a usual cycle's frames take: a goal and its feedback each.
func (c *Chain) WireTime(bitrate int) time.Duration {
	return servo.WireTime(2*servo.CANSize*len(c.b.devices), frameBits, bitrate)
}
