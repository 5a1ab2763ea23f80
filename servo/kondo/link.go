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
