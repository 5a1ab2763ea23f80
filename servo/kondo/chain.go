package kondo

import (
	"github.com/halyard-robotics/halyard/internal/wire/kondowire"
	"github.com/halyard-robotics/halyard/servo"
)

// NewChain returns a chain of all servos of one line; nothing is sent until Open, which also reports faults of cfg.
//
// A cycle is one exchange with each servo, 3 bytes and 3: it sends the goal and measures the position. Send does it,
// and therefore blocks for the replies; State has that age. Receive polls only the servos that Send did not.
//
// The servo reports no alarm, no voltage, no speed, and no temperature in degrees. Its torque switch cannot be read:
// torque is off if the free position was answered. So a lost servo that had torque is assumed to have lost its power.
// Its torque cannot be limited in the cycle: a limit of zero frees it.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain {
	b := &protocol{devices: make([]device, len(cfg.Servos))}
	for i := range cfg.Servos {
		m, _ := cfg.Servos[i].Model.(*Model)
		b.devices[i] = device{cfg: &cfg.Servos[i], m: m}
	}
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: kondowire.LastID, Bits: bitsPerByte, Out: kondowire.MaxPacket, In: 8 * kondowire.MaxPacket,
		NoLimit: true, TorqueUnreported: true, Known: func(i int) bool { return b.devices[i].m != nil },
	}, b)
	return b.chain
}
