package dynamixel

import (
	"errors"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// maxDelay is the greatest return delay a servo can be set to.
const maxDelay = 254 * 2 * time.Microsecond

// link is one end of a line with the parser of what comes in. Nothing in it allocates after newLink.
type link struct {
	*servo.Exchange
	protocol int
	parser   *Parser
	broken   uint64 // fast replies with a bad CRC
}

func newLink(x *servo.Exchange, protocol int) *link {
	return &link{Exchange: x, protocol: protocol, parser: NewParser(protocol, FromServos)}
}

// bitsPerByte on the wire: start, eight data, stop.
const bitsPerByte = 10

// add encodes in behind what is already to be sent.
func (l *link) add(in *Instruction) {
	if l.protocol == 1 {
		l.Out = AppendInstruction1(l.Out, in)
	} else {
		l.Out = AppendInstruction2(l.Out, in)
	}
}

// ask is Exchange.Ask, which the parser has to forget the past for as well.
func (l *link) ask(reply int, delay time.Duration) error {
	l.parser.Reset()
	return l.Request(reply, delay)
}

// more waits for the next piece of the answer and feeds it to the parser. Raw bytes are kept beside: a fast answer that
// breaks off is no packet, but its beginning is good.
func (l *link) more() error {
	piece, err := l.More()
	l.parser.Feed(piece)
	return err
}

// status returns the next whole answer, waiting for more as long as the deadline allows.
func (l *link) status() (Status, error) {
	var k Packet
	for {
		// Packets that are no answers (too short, other side) are skipped; the parser has checked their sums.
		for l.parser.Next(&k) {
			if l.protocol == 1 {
				return k.Status1(), nil
			}
			if s, ok := k.Status2(); ok {
				return s, nil
			}
		}
		if err := l.more(); err != nil {
			return Status{}, err
		}
	}
}

// statusBytes is the length of an answer with n bytes of data.
func statusBytes(protocol, n int) int {
	if protocol == 1 {
		return 6 + n
	}
	return 11 + n
}

// read asks servo id for s. What comes from another id is a late reply to an earlier request.
func (l *link) read(id byte, s span, delay time.Duration) (Status, error) {
	bad := l.parser.BadChecksum
	l.add(&Instruction{ID: id, Op: Read, Addr: s.addr, Size: s.size})
	if err := l.ask(statusBytes(l.protocol, int(s.size)), delay); err != nil {
		return Status{}, err
	}
	for {
		st, err := l.status()
		if errors.Is(err, servo.ErrNoReply) && l.parser.BadChecksum > bad {
			err = servo.ErrCorrupt
		}
		if err != nil || st.ID == id {
			return st, err
		}
	}
}
