package kondo

import "github.com/halyard-robotics/halyard/servo"

// NewChain returns a chain of all servos of one line; nothing is sent until Open, which also reports what is wrong with cfg.
//
// A cycle is one exchange with each servo, 3 bytes and 3: it sends the goal and measures the position. It takes place in
// Send, which therefore blocks for the replies; State is as old as that. Receive asks those alone that Send did not.
//
// The servo reports no alarm, no voltage, no speed, and no temperature in degrees. Its torque switch
// cannot be read: torque is off where the command to be free was answered. So a servo that was lost and had torque is
// taken to have lost its power. It cannot be limited from cycle to cycle: a limit of zero is made by freeing it.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain {
	b := &protocol{devices: make([]device, len(cfg.Servos))}
	for i := range cfg.Servos {
		m, _ := cfg.Servos[i].Model.(*Model)
		b.devices[i] = device{cfg: &cfg.Servos[i], m: m}
	}
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: LastID, Bits: bitsPerByte, Out: maxPacket, In: 8 * maxPacket, NoLimit: true, Untold: true,
		Known: func(i int) bool { return b.devices[i].m != nil },
	}, b)
	return b.chain
}
