package dynamixel

import (
	"errors"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// slack is added to the wire time of every exchange: a servo's own processing and a full-speed USB frame each way.
const slack = 2 * time.Millisecond

// maxDelay is the greatest return delay a servo can be set to.
const maxDelay = 254 * 2 * time.Microsecond

// link is one end of a line with the buffers of the exchange under way. Nothing in it allocates after newLink.
type link struct {
	port     servo.Port
	protocol int
	latency  time.Duration // what the adapter holds an answer back, at most
	parser   *Parser
	out      []byte // packets to send
	raw      []byte // received in this exchange, bounded
	deadline time.Duration
	late     bool // the deadline has passed and one last look was taken

	sent, received uint64 // bytes
}

func newLink(port servo.Port, protocol int) *link {
	return &link{
		port: port, protocol: protocol, parser: NewParser(protocol, FromServos),
		out: make([]byte, 0, 4*maxPacket), raw: make([]byte, 0, 2*maxPacket),
	}
}

// wire is the time of n bytes.
func (l *link) wire(n int) time.Duration { return wireTime(n, l.port.Baud()) }

func wireTime(bytes, baud int) time.Duration {
	if baud <= 0 {
		return 0
	}
	return time.Duration(bytes) * 10 * time.Second / time.Duration(baud)
}

// add encodes in behind what is already to be sent.
func (l *link) add(in *Instruction) {
	if l.protocol == 1 {
		l.out = AppendInstruction1(l.out, in)
	} else {
		l.out = AppendInstruction2(l.out, in)
	}
}

// tell sends what has been added; nobody answers.
func (l *link) tell() error {
	_, err := l.port.Write(l.out)
	l.sent += uint64(len(l.out))
	l.out = l.out[:0]
	return err
}

// ask sends what has been added and sets the deadline for an answer of reply bytes that may begin delay later.
// What is left of earlier exchanges is thrown away.
func (l *link) ask(reply int, delay time.Duration) error {
	// A late answer to the last question must not be taken for one to this.
	if err := l.port.Discard(); err != nil {
		return err
	}
	l.parser.Reset()
	l.raw = l.raw[:0]
	l.late = false
	l.deadline = l.port.Now() + l.wire(len(l.out)+reply) + delay + slack + l.latency
	return l.tell()
}

// more waits for the next piece of the answer and feeds it to raw and the parser. After the deadline it looks once
// more without waiting, since the answer may lie there while this process was not running; then it is errSilent.
func (l *link) more() error {
	// The deadline, not the wait, is fixed: a line that trickles bytes does not gain time by it.
	wait := l.deadline - l.port.Now()
	if wait <= 0 {
		if l.late {
			return errSilent
		}
		l.late, wait = true, 0
	}
	if len(l.raw) == cap(l.raw) { // a babbling line: no answer is that long
		return errSilent
	}
	// Raw bytes are kept beside the parser's: a fast answer that breaks off is no packet, but its beginning is good.
	n, err := l.port.Read(l.raw[len(l.raw):cap(l.raw)], wait)
	piece := l.raw[len(l.raw) : len(l.raw)+n]
	l.raw = l.raw[:len(l.raw)+n]
	l.received += uint64(n)
	l.parser.Feed(piece)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if n > 0 {
			return nil
		}
		return errSilent
	}
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
