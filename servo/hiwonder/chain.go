package hiwonder

import "github.com/halyard-robotics/halyard/servo"

// NewChain returns a chain of all servos of one line; nothing is sent until Open, which also reports what is wrong with cfg.
//
// A cycle is one write of 10 bytes to each servo whose goal has changed, and one request of 6 and reply of 8 bytes to
// each. The bus is slow: 6 servos take 12.5 ms of bytes. A goal that stays is repeated in every tenth cycle, which repairs
// a lost packet. The reading of one servo's health in turn reads its torque switch and either its temperature or its voltage.
//
// The servo reports no alarm: heat and voltage are named by comparing what is measured with its own limits. It measures
// neither speed nor effort, and cannot limit its torque: a limit of zero is made by taking the torque off.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain {
	b := &protocol{devices: make([]device, len(cfg.Servos))}
	for i := range cfg.Servos {
		b.devices[i].init(&cfg.Servos[i])
	}
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: LastID, Bits: bitsPerByte, Out: exchangeRoom, In: 16 * maxPacket, NoLimit: true,
		Known: func(i int) bool { return b.devices[i].m != nil },
	}, b)
	return b.chain
}
