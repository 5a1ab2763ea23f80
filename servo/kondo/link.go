package kondo

import (
	"github.com/halyard-robotics/halyard/internal/wire/kondowire"
	"github.com/halyard-robotics/halyard/servo"
)

// bitsPerByte on the wire: start, eight data, parity, stop.
const bitsPerByte = 11

// link is one end of a line: the question that both the client and the chain ask.
type link struct {
	*servo.Exchange
	parser *kondowire.Parser
}

func newLink(x *servo.Exchange) *link { return &link{x, kondowire.NewParser(kondowire.FromServos)} }

// exchange sends a command and returns its answer. The first packet that is one counts: it has to be of the same kind,
// from the same servo and, of a parameter, about the same.
func (l *link) exchange(k kondowire.Packet) (got kondowire.Packet, err error) {
	l.Out = kondowire.AppendPacket(l.Out[:0], &k, kondowire.FromHost)
	if err := l.Ask(&l.parser.Framer, kondowire.Size(k.Op, kondowire.FromServos), 0); err != nil {
		return got, err
	}
	err = l.Reply(&l.parser.Framer, func() bool { return l.parser.Next(&got) }, func() bool {
		asked := got.Op == k.Op && (got.ID == k.ID || k.Op == kondowire.ID && k.A == 0)
		return asked && (k.Op != kondowire.Read && k.Op != kondowire.Write || got.A == k.A)
	})
	return got, err
}

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
