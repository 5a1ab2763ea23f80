package kondo

import (
	"errors"

	"github.com/halyard-robotics/halyard/servo"
)

// bitsPerByte on the wire: start, eight data, parity, stop.
const bitsPerByte = 11

// link is one end of a line: the question that both the client and the chain ask.
type link struct {
	*servo.Exchange
	parser *Parser
}

func newLink(x *servo.Exchange) *link { return &link{x, NewParser(FromServos)} }

// exchange sends a command and returns its answer. The first packet that is one counts: it has to be of the same kind,
// from the same servo and, of a parameter, about the same.
func (l *link) exchange(k Packet) (Packet, error) {
	l.parser.Reset()
	l.Out = AppendPacket(l.Out[:0], &k, FromHost)
	if err := l.Request(size(k.Op, FromServos), 0); err != nil {
		return Packet{}, err
	}
	for {
		var got Packet
		for l.parser.Next(&got) {
			asked := got.Op == k.Op && (got.ID == k.ID || k.Op == ID && k.A == 0)
			if k.Op == Read || k.Op == Write {
				asked = asked && got.A == k.A
			}
			if asked {
				return got, nil
			}
		}
		piece, err := l.More()
		l.parser.Feed(piece)
		if errors.Is(err, servo.ErrNoReply) && len(l.Raw) > 0 {
			err = servo.ErrCorrupt
		}
		if err != nil {
			return Packet{}, err
		}
	}
}
