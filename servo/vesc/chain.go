package vesc

import (
	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
)

// NewChain returns a chain of all controllers of one line, at its end or on the CAN bus behind it; nothing is sent
// until Open, which also reports faults of cfg.
//
// A cycle is one command of 10 bytes to each controller, repeated even if unchanged, one request of 10 bytes and a
// reply of 32; for one behind the first there are 4 bytes more. At 115200 Bd that is 4.5 ms for each. All requests are
// sent together, so that the line is in use while the CAN bus behind the first handles the next: 1.75 ms each, which
// from 250000 Bd on is more than the line needs.
//
// A controller has no readable torque switch: it has torque while it is commanded, and for its timeout after that. So a
// lost controller, and one whose tachometer restarted, is assumed to have lost its power; torque stays off until Enable
// has been false once. Only the torque mode can be limited in the cycle; a limit of zero releases the motor in all
// modes. There are no health values in addition to the state.
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
		LastID: vescwire.LastID, Bits: bitsPerByte, Out: max(1, n) * 3 * 16, In: 2*vescwire.MaxPacket + 64*n,
		NoLimit: true, Known: func(i int) bool { return b.devices[i].m != nil },
		Base: func(int) servo.Level { return servo.SyncReads },
	}, b)
	return b
}
