package doctor

import (
	"bytes"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// What can be told of a line only by looking at its bare bytes.

// late is how long after its due time an answer is waited for; real servos that are alive are never later.
const late = 25 * time.Millisecond

// hearing counts how a servo's answers to the same question came.
type hearing struct {
	asked   int
	clean   int
	silent  int
	tardy   int // clean, but later than a client waits
	garbled int // right bytes, wrong checksum
	cut     int // ended too early
	crossed int // bytes of two answers: longer than one, or other data than there can be
}

// patience, beside the adapter's latency, is how long a client waits for the answer after the wire time: the longest
// return delay, the servo's and the adapter's time.
const patience = 508*time.Microsecond + 2*time.Millisecond

// surelySilent is how many unanswered questions in a row, from the first on, are enough: each costs its full patience.
const surelySilent = 6

// question is one whose answer is known beforehand, but for what changes by itself.
type question struct {
	ask, want []byte
	same      func(got []byte) bool // of an answer as long as want: what cannot be otherwise is as it should be
	sound     func(got []byte) bool // and it is whole
}

// whoIs asks the servo of a protocol at id for its id, whose register is r; of a Kondo servo, which cannot be asked that,
// for its stiffness.
func whoIs(protocol int, r *servo.Register, id byte) question {
	var q question
	switch protocol {
	case catalog.AsKondo:
		q.ask = kondo.AppendPacket(nil, &kondo.Packet{Op: kondo.Read, ID: id, A: kondo.Stretch}, kondo.FromHost)
		q.want = kondo.AppendPacket(nil, &kondo.Packet{Op: kondo.Read, ID: id, A: kondo.Stretch, B: 1}, kondo.FromServos)
		q.same = func(got []byte) bool { return bytes.Equal(got[:2], q.want[:2]) }
		q.sound = func(got []byte) bool { return got[2] < 0x80 } // ICS has no checksum
		return q
	case catalog.AsHiwonder:
		const readID = 14
		q.ask = hiwonder.AppendPacket(nil, &hiwonder.Packet{ID: id, Command: readID})
		q.want = hiwonder.AppendPacket(nil, &hiwonder.Packet{ID: id, Command: readID, Params: []byte{id}})
		q.same = func(got []byte) bool { return bytes.Equal(got[:len(got)-1], q.want[:len(q.want)-1]) }
		q.sound = func(got []byte) bool { return bytes.Equal(got, q.want) }
		return q
	}
	in := dynamixel.Instruction{ID: id, Op: dynamixel.Read, Addr: r.Addr, Size: r.Size}
	st := dynamixel.Status{ID: id, Data: []byte{id}}
	errorAt := 4 // the error byte tells of alarms, which may come and go
	if protocol == 2 {
		q.ask, q.want = dynamixel.AppendInstruction2(nil, &in), dynamixel.AppendStatus2(nil, &st)
		errorAt = 8
	} else { // Feetech's packets are those of 1.0
		protocol = 1
		q.ask, q.want = dynamixel.AppendInstruction1(nil, &in), dynamixel.AppendStatus1(nil, &st)
	}
	data := errorAt + 1 // one byte: the register
	q.same = func(got []byte) bool {
		return bytes.Equal(got[:errorAt], q.want[:errorAt]) && got[data] == q.want[data]
	}
	q.sound = func(got []byte) bool {
		p := dynamixel.NewParser(protocol, dynamixel.FromServos)
		p.Feed(got)
		var k dynamixel.Packet
		return p.Next(&k)
	}
	return q
}

// hear asks q n times and sorts what comes.
func hear(line servo.Line, q question, n int, latency time.Duration) (hearing, error) {
	h := hearing{asked: n}
	due := catalog.LineTime(line, len(q.ask)+len(q.want)) + patience + latency
	for i := range n {
		got, took, err := catalog.Listen(line, q.ask, len(q.want), late+latency)
		if err != nil {
			return h, err
		}
		h.sort(got, &q, took > due)
		if i == surelySilent-1 && h.silent == surelySilent {
			h.asked = surelySilent
			break
		}
	}
	return h, nil
}

// sort counts one answer. Noise spoils single bits, mostly seen in the checksum; two servos that answer at once and not in
// step make a longer answer, or one whose very address or data are not what they can be: every bit is the lower of both.
func (h *hearing) sort(got []byte, q *question, tardy bool) {
	switch n := len(got); {
	case n == 0:
		h.silent++
	case n < len(q.want):
		h.cut++
	case n > len(q.want) || !q.same(got):
		h.crossed++
	case !q.sound(got):
		h.garbled++
	case tardy:
		h.tardy++
	default:
		h.clean++
	}
}
