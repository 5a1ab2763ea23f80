package dynamixel

import (
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// maxDelay is the greatest return delay a servo can be set to.
const maxDelay = 254 * 2 * time.Microsecond

// link is the host's end of a line with the parser of received bytes. It does not allocate after newLink.
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

// add encodes in at the end of Out.
func (l *link) add(in *Instruction) {
	if l.protocol == 1 {
		l.Out = AppendInstruction1(l.Out, in)
	} else {
		l.Out = AppendInstruction2(l.Out, in)
	}
}

// ask sends Out and sets the deadline for replies of reply bytes.
func (l *link) ask(reply int, delay time.Duration) error {
	return l.Ask(&l.parser.Framer, reply, delay)
}

// status returns the next whole answer, waiting for more as long as the deadline allows.
func (l *link) status() (s Status, err error) {
	err = l.Packet(&l.parser.Framer, func() bool { return l.next(&s) }, nil)
	return s, err
}

// next decodes the next reply of the received bytes. It skips packets that are not replies (too short, other side); the
// parser has checked their checksums.
func (l *link) next(s *Status) (ok bool) {
	var k Packet
	for !ok && l.parser.Next(&k) {
		if ok = l.protocol == 1; ok {
			*s = k.Status1()
		} else {
			*s, ok = k.Status2()
		}
	}
	return ok
}

// statusBytes is the length of an answer with n bytes of data.
func statusBytes(protocol, n int) int {
	if protocol == 1 {
		return 6 + n
	}
	return 11 + n
}

// read reads s of servo id. A reply of another id is a late reply to an earlier request.
func (l *link) read(id byte, s span, delay time.Duration) (st Status, err error) {
	l.add(&Instruction{ID: id, Op: Read, Addr: s.addr, Size: s.size})
	if err := l.ask(statusBytes(l.protocol, int(s.size)), delay); err != nil {
		return st, err
	}
	err = l.Reply(&l.parser.Framer, func() bool { return l.next(&st) }, func() bool { return st.ID == id })
	return st, err
}
