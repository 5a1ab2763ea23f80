package servo

import (
	"errors"
	"os"
	"sync/atomic"
	"time"
)

// Slack is added to the wire time of every exchange: a servo's own processing and a full-speed USB frame each way.
const Slack = 2 * time.Millisecond

// Exchange is one end of a line with the buffers of the question under way. Nothing in it allocates after its making.
type Exchange struct {
	Port     Port
	Latency  time.Duration // longest time that the adapter holds a reply back
	Out      []byte        // packets to send
	Raw      []byte        // received in this exchange, bounded
	Abort    *atomic.Bool  // while it is true no answer is waited for; nil = never
	Sent     uint64        // bytes
	Received uint64

	sending  bool          // goals, which belong to the present: see maxPause
	seen     time.Duration // when this process was last seen to run meanwhile
	bits     int           // of a byte on the wire: start, data, parity, stop
	bad      uint64        // damaged packets before this exchange
	deadline time.Duration
	late     bool // the deadline has passed and the line was read once more
}

// NewExchange returns an exchange on port for packets of out bytes together and answers of in bytes. bits is the length
// of a byte on the wire, 10 where there is no parity.
func NewExchange(port Port, bits, out, in int) *Exchange {
	return &Exchange{Port: port, bits: bits, Out: make([]byte, 0, out), Raw: make([]byte, 0, in)}
}

// Wire is the time of n bytes.
func (x *Exchange) Wire(n int) time.Duration { return WireTime(n, x.bits, x.Port.Baud()) }

// WireTime is the time of n bytes of bits bits each at baud, 0 where that is not known.
func WireTime(n, bits, baud int) time.Duration {
	if baud <= 0 {
		return 0
	}
	return time.Duration(n) * time.Duration(bits) * time.Second / time.Duration(baud)
}

// Write sends Out, which may be empty; no reply follows.
func (x *Exchange) Write() error {
	if len(x.Out) == 0 {
		return nil
	}
	if x.sending && x.Port.Now()-x.seen > maxPause {
		x.Out = x.Out[:0]
		return errPaused
	}
	_, err := x.Port.Write(x.Out)
	x.Sent += uint64(len(x.Out))
	x.Out = x.Out[:0]
	x.seen = x.Port.Now()
	return err
}

// maxPause is how long this process may have been stopped within a Send: after it neither a goal nor torque on is
// written, since a supervisor may have switched torque off meanwhile.
const maxPause = 100 * time.Millisecond

// errPaused reports a Send that was not finished for maxPause.
var errPaused = errors.New("this process did not run for too long: goals are not sent")

// begin notes that a Send begins, whose packets are dropped after a pause; end that it has ended.
func (x *Exchange) begin() { x.sending, x.seen = true, x.Port.Now() }
func (x *Exchange) end()   { x.sending = false }

// Request sends Out and sets the deadline for a reply of reply bytes that may begin delay later. It discards bytes of
// earlier exchanges: a late reply to the last request must not be taken for one to this. A separate parser must be
// reset as well.
func (x *Exchange) Request(reply int, delay time.Duration) error {
	if err := x.Port.Discard(); err != nil {
		return err
	}
	return x.Await(reply, delay)
}

// Await is Request for a line on which a reply identifies its request: it discards nothing.
func (x *Exchange) Await(reply int, delay time.Duration) error {
	x.Raw, x.late = x.Raw[:0], false
	x.deadline = x.Port.Now() + x.Wire(len(x.Out)+reply) + delay + Slack + x.Latency
	return x.Write()
}

// Ask is Request for replies that f finds in the received bytes.
func (x *Exchange) Ask(f *Framer, reply int, delay time.Duration) error {
	f.Reset()
	x.bad = f.BadChecksum
	return x.Request(reply, delay)
}

// Packet waits for a packet that is is true of; nil = any. next takes the next packet from f. It is ErrNoReply after
// the deadline.
func (x *Exchange) Packet(f *Framer, next, is func() bool) error {
	for {
		for f.Buffered() > 0 && next() {
			if is == nil || is() {
				return nil
			}
		}
		piece, err := x.More()
		f.Feed(piece)
		if err != nil {
			return err
		}
	}
}

// Reply is Packet that returns ErrCorrupt where something was received after Ask and it was damaged.
func (x *Exchange) Reply(f *Framer, next, is func() bool) error {
	err := x.Packet(f, next, is)
	if errors.Is(err, ErrNoReply) && (f.BadChecksum > x.bad || f.rules.Unchecked && len(x.Raw) > 0) {
		return ErrCorrupt
	}
	return err
}

// More waits for the next piece of the answer, adds it to Raw and returns it. After the deadline it reads once more
// without waiting, since the answer may lie there while this process was not running; then it is ErrNoReply.
func (x *Exchange) More() ([]byte, error) {
	for {
		piece, last, err := x.wait()
		if len(piece) > 0 || err != nil || last {
			return piece, err
		}
	}
}

// wait is More for abortCheck at most; last reports that more waiting is of no use.
func (x *Exchange) wait() (piece []byte, last bool, err error) {
	if x.Abort != nil && x.Abort.Load() {
		return nil, true, ErrNoReply
	}
	// The deadline, not the wait, is fixed: a line that trickles bytes does not gain time by it.
	wait := x.deadline - x.Port.Now()
	if wait <= 0 {
		if x.late {
			return nil, true, ErrNoReply
		}
		x.late, wait = true, 0
	}
	if len(x.Raw) == cap(x.Raw) { // a babbling line: no answer is that long
		return nil, true, ErrNoReply
	}
	part := wait
	if x.Abort != nil {
		part = min(wait, abortCheck)
	}
	n, err := x.Port.Read(x.Raw[len(x.Raw):cap(x.Raw)], part)
	if now := x.Port.Now(); now-x.seen <= part+maxPause {
		x.seen = now
	}
	piece = x.Raw[len(x.Raw) : len(x.Raw)+n]
	x.Raw = x.Raw[:len(x.Raw)+n]
	x.Received += uint64(n)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		if err = nil; n == 0 && part == wait {
			err = ErrNoReply
		}
	}
	return piece, part == wait, err
}
