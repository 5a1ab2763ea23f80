package feetech

import (
	"fmt"

	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
)

// NewChain returns a chain of all servos of one line; nothing is sent until Open, which also reports faults of cfg.
//
// A cycle is one sync write of 7 bytes each (acceleration, position, time, speed; for HLS a current in place of the
// time). For STS and SMS one sync read of 8 bytes follows (position, speed, load, voltage, temperature), for HLS of 15,
// up to the current. SCS get 6 bytes and are read one by one. Alarms are in every reply. The health read of one servo
// in turn also reads its mode, torque switch, limit and lock.
//
// The operating mode is an EEPROM register. It is changed with torque off, read back, and written with the lock closed,
// which changes only its copy in RAM. EEPROM settings are written the same way.
func NewChain(cfg servo.ChainConfig) *servo.GenericChain {
	n := len(cfg.Servos)
	b := &protocol{devices: make([]device, n), queue: make([]write, 0, 16*n)}
	for i := range cfg.Servos {
		b.devices[i].init(&cfg.Servos[i])
	}
	b.chain = servo.NewGenericChain(cfg, servo.ChainSpec{
		LastID: feetechwire.LastID, Bits: bitsPerByte, Out: exchangeRoom, In: exchangeRoom,
		Known: func(i int) bool { return b.devices[i].m != nil },
		Base: func(i int) servo.Level {
			if m := b.devices[i].m; m != nil && m.Series != SCS {
				return servo.SyncReads
			}
			return servo.SingleReads
		},
		Faults: func(i int) []error {
			if i == maxServos {
				return []error{fmt.Errorf("got %d servos, want %d at most: they do not fit into one packet", n,
					maxServos)}
			}
			return nil
		},
	}, b)
	return b.chain
}

// maxServos fit into one sync write of goals.
const maxServos = (feetechwire.MaxLength - 4) / (1 + goalBlock)
