package cybergear

import (
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

// frameBits is the maximum length of a frame of 8 bytes with an extended identifier, stuffing and the gap included, per
// byte of its 16 bytes on a servo.Line: 160 bits.
const frameBits = 10

// Chain drives all motors of one bus. It is a servo.Chain; one goroutine calls it.
//
// A cycle is one goal to each motor, which replies with its feedback: two frames each, 0.26..0.32 ms at 1 Mbit/s. A
// motor without torque gets a stop command instead. Missing replies cost 3 ms per cycle, for all motors together. The
// mode changes only at rest, for one motor per cycle.
type Chain struct {
	*servo.GenericChain
	b *protocol
}

// NewChain returns a chain; nothing is sent until Open, which also reports faults of cfg.
func NewChain(cfg servo.ChainConfig) *Chain {
	b := &protocol{name: cfg.Name, devices: make([]device, len(cfg.Servos))}
	n := max(1, len(cfg.Servos))
	for i := range cfg.Servos {
		c := &cfg.Servos[i]
		m, _ := c.Model.(*Model)
		b.devices[i] = device{cfg: c, m: m, own: math.NaN(), limit: math.NaN(), wrote: math.NaN(),
			timeout: usualTimeout}
		for _, s := range c.Settings {
			b.devices[i].timeout = float64(s.Value) // there is no other
		}
	}
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: cybergearwire.LastID, Bits: frameBits, Out: 8 * n * servo.CANSize, In: (64 + 8*n) * servo.CANSize,
		Known: func(i int) bool { return b.devices[i].m != nil },
		Base:  func(int) servo.Level { return servo.SyncReads },
	}, b)
	return &Chain{b.chain, b}
}

// SetZero makes the present position of motor i its zero, until power-off. It is refused while the motor has torque,
// and if a calibration depends on the present zero.
func (c *Chain) SetZero(i int) error {
	d, dev := &c.b.devices[i], &c.Devices[i]
	refuse := func(format string, args ...any) error {
		return dev.Error(hal.Unsafe, "zero", fmt.Errorf(format, args...))
	}
	switch {
	case d.cfg.Calibrated:
		return refuse("its calibration counts on the zero that it has: remove the calibration first")
	case dev.Torque != servo.Off:
		return refuse("its torque is not known to be off")
	}
	m := cybergearwire.To(d.cfg.ID, cybergearwire.ZeroSet)
	m.Data[0] = 1
	c.b.stage(i, m)
	return servo.Fault(c.b.name, dev.ID, "zero", c.b.collect(i, 0))
}
