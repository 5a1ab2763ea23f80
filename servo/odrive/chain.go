package odrive

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// NewSerialChain returns a chain of the axes of one controller on a serial line; nothing is sent until Open, which also
// reports faults of cfg.
//
// A cycle is one command of about 21 bytes, one request of 7 and a reply of 25 for each axis: 4.6 ms at 115200 Bd; on
// USB the time is negligible. Current, voltage and temperature are read in turn, with state and errors: they are some
// cycles old. The watchdog is set before torque is switched on.
func NewSerialChain(cfg servo.ChainConfig) *servo.GenericChain {
	b := &serialProtocol{devices: devices(&cfg)}
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: 1, Bits: bitsPerByte, Out: 1024, In: 8 * maxAnswer,
		Known: func(i int) bool { return b.devices[i].m != nil },
	}, b)
	return b.chain
}

// CANChain drives the axes of one CAN bus, each a node. It is a servo.Chain; one goroutine calls it.
//
// A cycle is one goal to each axis and two remote frames, and two replies from each. The heartbeat of an axis, every
// 100 ms, has its state, and proves that torque is on or off. If its endpoints are known the watchdog is set before
// torque is switched on; else it has odrivetool's setting. Any command feeds it. Halt waits for the heartbeats that are
// its proof: up to 0.15 s.
type CANChain struct {
	*servo.GenericChain
	b *canProtocol
}

// NewCANChain returns a chain; nothing is sent until Open, which also reports faults of cfg.
func NewCANChain(cfg servo.ChainConfig) *CANChain {
	cfg.Servos = slices.Clone(cfg.Servos)
	for i := range cfg.Servos {
		if m := ModelIn(cfg.Servos[i].Model); m != nil { // its settings are those of a node
			cfg.Servos[i].Model = node{m}
		}
	}
	b := &canProtocol{devices: devices(&cfg)}
	n := max(1, len(cfg.Servos))
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: odrivewire.LastNode, Bits: frameBits, Out: 8 * n * servo.CANSize, In: (64 + 8*n) * servo.CANSize,
		NoLimit: true, Known: func(i int) bool { return b.devices[i].m != nil },
		Base: func(int) servo.Level { return servo.SyncReads },
	}, b)
	return &CANChain{b.chain, b}
}

func devices(cfg *servo.ChainConfig) []device {
	all := make([]device, len(cfg.Servos))
	for i := range all {
		c := &cfg.Servos[i]
		all[i] = device{cfg: c, m: ModelIn(c.Model), dialect: odrivewire.V06, own: math.NaN(), limit: math.NaN(),
			wrote: math.NaN(), beatAt: -1}
	}
	return all
}
