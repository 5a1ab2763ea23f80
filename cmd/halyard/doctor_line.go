package main

import (
	"bytes"
	"errors"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/kondo"
)

// What can be told of a line only by looking at its bare bytes.

// late is how long after its due time an answer is waited for; real servos that are alive are never later.
const late = 25 * time.Millisecond

// tries is how often a tool asks before it takes silence for an answer.
const tries = 3

// insist repeats what a line may have lost. What the servo itself refuses is repeated in vain, which does no harm.
func insist(try func() error) error {
	var err error
	for range tries {
		if err = try(); hal.KindOf(err) != hal.Timeout && hal.KindOf(err) != hal.BusFault {
			break
		}
	}
	return err
}

const echoFix = "use an adapter that switches direction by itself, or one with its receiver off while it sends"

// lineTime is the time of n bytes on line.
func lineTime(line servo.Port, n int) time.Duration {
	return time.Duration(n) * 10 * time.Second / time.Duration(max(line.Baud(), 1))
}

// listen sends p and returns what comes, and how long after the sending its last byte did. It waits for quiet beyond the
// wire time of p and size bytes, and, once size bytes are there, shortly for more that should not come.
func listen(line servo.Port, p []byte, size int, quiet time.Duration) (got []byte, took time.Duration, err error) {
	if err := line.Discard(); err != nil {
		return nil, 0, err
	}
	start := line.Now()
	if _, err := line.Write(p); err != nil {
		return nil, 0, err
	}
	buf := make([]byte, 512)
	wait := lineTime(line, len(p)+size) + quiet
	for len(got) <= 4*size { // a line that babbles has been heard enough
		n, err := line.Read(buf, wait)
		if n > 0 {
			got, took = append(got, buf[:n]...), line.Now()-start
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return got, took, err
		}
		if len(got) >= size {
			wait = time.Millisecond
		}
	}
	return got, took, nil
}

// echoes tells whether line's adapter hears what it sends. The packet is one that every servo ignores, since no servo
// can have its id.
func echoes(line servo.Port) (bool, error) {
	p := dynamixel.AppendInstruction2(nil, &dynamixel.Instruction{ID: 0xFD, Op: dynamixel.Action})
	got, _, err := listen(line, p, len(p), 5*time.Millisecond)
	return len(got) >= len(p) && bytes.Equal(got[:len(p)], p), err
}

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
	case asKondo:
		q.ask = kondo.AppendPacket(nil, &kondo.Packet{Op: kondo.Read, ID: id, A: kondo.Stretch}, kondo.FromHost)
		q.want = kondo.AppendPacket(nil, &kondo.Packet{Op: kondo.Read, ID: id, A: kondo.Stretch, B: 1}, kondo.FromServos)
		q.same = func(got []byte) bool { return bytes.Equal(got[:2], q.want[:2]) }
		q.sound = func(got []byte) bool { return got[2] < 0x80 } // ICS has no checksum
		return q
	case asHiwonder:
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
	due := lineTime(line, len(q.ask)+len(q.want)) + patience + latency
	for i := range n {
		got, took, err := listen(line, q.ask, len(q.want), late+latency)
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
