package vesc

import "github.com/halyard-robotics/halyard/servo"

// NewChain returns a chain of all controllers of one line, at its end or on the CAN bus behind it; nothing is sent until
// Open, which also reports what is wrong with cfg.
//
// A cycle is one command of 10 bytes to each controller, repeated whether it changed or not, one request of 10 bytes
// and a reply of 32; 4 more there for one behind the first. At 115200 Bd that is 4.5 ms for each. All are asked at once,
// so that the line carries bytes while the CAN bus behind the first is busy with the next: 1.75 ms each, which from 250000 Bd on is more
// than the line needs.
//
// A controller has no torque switch that could be read: it holds torque while it is commanded to, and for its timeout after
// that. So one that was lost, and one whose counter of turns has begun again, is taken to have lost its power, and waits
// for Enable to have been false once. Only the torque mode can be limited from cycle to cycle; a limit of zero releases the
// motor in all of them. There is no health to read beside the state.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain { return newProtocol(cfg).chain }

func newProtocol(cfg servo.ChainConfig) *protocol {
	n := len(cfg.Servos)
	b := &protocol{devices: make([]device, n)}
	for i := range cfg.Servos {
		m, _ := cfg.Servos[i].Model.(*Model)
		b.devices[i] = device{m: m, pairs: 1}
	}
	cfg.Health = -1
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: LastID, Bits: bitsPerByte, Out: max(1, n) * 3 * 16, In: 2*maxPacket + 64*n, NoLimit: true,
		Known: func(i int) bool { return b.devices[i].m != nil },
		Base:  func(int) servo.Level { return servo.SyncReads },
	}, b)
	return b
}
