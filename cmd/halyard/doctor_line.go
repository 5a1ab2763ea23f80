package main

import (
	"bytes"
	"errors"
	"os"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
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

// hear asks the servo at id for its id register n times, whose answer is known beforehand, and sorts what comes. protocol is
// Dynamixel's or Feetech's, whose packets are those of 1.0.
func hear(line servo.Line, protocol int, r *servo.Register, id byte, n int, latency time.Duration) (hearing, error) {
	in := dynamixel.Instruction{ID: id, Op: dynamixel.Read, Addr: r.Addr, Size: r.Size}
	st := dynamixel.Status{ID: id, Data: []byte{id}}
	var ask, want []byte
	errorAt := 4 // the error byte tells of alarms, which may come and go
	if protocol != 2 {
		protocol = 1
		ask, want = dynamixel.AppendInstruction1(nil, &in), dynamixel.AppendStatus1(nil, &st)
	} else {
		ask, want = dynamixel.AppendInstruction2(nil, &in), dynamixel.AppendStatus2(nil, &st)
		errorAt = 8
	}
	h := hearing{asked: n}
	due := lineTime(line, len(ask)+len(want)) + patience + latency
	for i := range n {
		got, took, err := listen(line, ask, len(want), late+latency)
		if err != nil {
			return h, err
		}
		h.sort(got, want, errorAt, protocol, took > due)
		if i == surelySilent-1 && h.silent == surelySilent {
			h.asked = surelySilent
			break
		}
	}
	return h, nil
}

// hearTool is hear by the tool of a brand whose packets are others: what is spoilt is not told apart further.
func (s *servoExam) hearTool() (hearing, error) {
	h := hearing{asked: asks}
	slow, err := newTool(s.line, s.name, s.latency+late, s.protocol)
	if err != nil {
		return h, err
	}
	due := lineTime(s.line, 2*wordiest) + patience + s.latency
	for i := range asks {
		if err := s.line.Discard(); err != nil {
			return h, err
		}
		start := s.line.Now()
		switch _, err := slow.read(int(s.id), "id"); {
		case err == nil && s.line.Now()-start > due:
			h.tardy++
		case err == nil:
			h.clean++
		case hal.KindOf(err) == hal.Timeout:
			h.silent++
		case hal.KindOf(err) == hal.Absent:
			return h, err
		default:
			h.garbled++
		}
		if i == surelySilent-1 && h.silent == surelySilent {
			h.asked = surelySilent
			break
		}
	}
	return h, nil
}

// wordiest is the length of the longest question and answer of an id, bytes.
const wordiest = 8

// sort counts one answer, got, where want was expected. Noise spoils single bits, mostly seen in the checksum; two
// servos that answer at once and not in step make a longer answer, or one whose very address or data are not what they
// can be: every bit is the lower of both.
func (h *hearing) sort(got, want []byte, errorAt, protocol int, tardy bool) {
	switch n := len(got); {
	case n == 0:
		h.silent++
		return
	case n > len(want):
		h.crossed++
		return
	case n < len(want):
		h.cut++
		return
	}
	data := errorAt + 1 // one byte: the register
	if !bytes.Equal(got[:errorAt], want[:errorAt]) || got[data] != want[data] {
		h.crossed++
		return
	}
	p := dynamixel.NewParser(protocol, dynamixel.FromServos)
	p.Feed(got)
	var k dynamixel.Packet
	switch {
	case !p.Next(&k):
		h.garbled++
	case tardy:
		h.tardy++
	default:
		h.clean++
	}
}
