package hiwonder

import (
	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
	"github.com/halyard-robotics/halyard/servo"
)

// NewChain returns a chain of all servos of one line; nothing is sent until Open, which also reports faults of cfg.
//
// A cycle is one write of 10 bytes to each servo with a changed goal, and one request of 6 and reply of 8 bytes for
// each servo. The bus is slow: 6 servos take 12.5 ms of wire time. An unchanged goal is repeated in every tenth cycle,
// which repairs a lost packet. The health read of one servo in turn reads its torque switch and its temperature or
// voltage.
//
// The servo reports no alarms: the chain compares temperature and voltage with the servo's own limits. It measures
// neither speed nor effort, and cannot limit its torque: a limit of zero switches torque off.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain {
	b := &protocol{devices: make([]device, len(cfg.Servos))}
	for i := range cfg.Servos {
		b.devices[i].init(&cfg.Servos[i])
	}
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: hiwonderwire.LastID, Bits: bitsPerByte, Out: exchangeRoom, In: 16 * hiwonderwire.MaxPacket,
		NoLimit: true, Known: func(i int) bool { return b.devices[i].m != nil },
	}, b)
	return b.chain
}
