package doctor

import (
	"math/bits"
	"time"

	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/servo"
)

// What can be seen of a line only by its bare bytes.

// late is how long after its due time an answer is waited for; real servos that are alive are never later.
const late = 25 * time.Millisecond

// answerCount counts how a servo's answers to the same question came.
type answerCount struct {
	asked, clean, silent int
	tardy                int // clean, but later than a client waits
	garbled              int // right bytes, wrong checksum
	cut                  int // ended too early
	crossed              int // bytes of two answers: longer than one, or other data than there can be
}

// patience, in addition to the adapter's latency, is how long a client waits for the answer after the wire time: the
// longest return delay, the servo's and the adapter's time.
const patience = 508*time.Microsecond + 2*time.Millisecond

// surelySilent is how many unanswered questions in a row, from the first on, are enough: each costs its full patience.
const surelySilent = 6

// countAnswers asks q n times and counts the answers by their faults.
func countAnswers(line servo.Line, q servo.Question, n int, latency time.Duration) (answerCount, error) {
	h := answerCount{asked: n}
	due := catalog.LineTime(line, len(q.Ask)+len(q.Want)) + patience + latency
	for i := range n {
		got, took, err := catalog.Listen(line, q.Ask, len(q.Want), late+latency)
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

// noisy reports whether an answer has a wrong bit or two, one of them high: of two servos in step every bit is the
// lower of both, and two out of step spoil whole bytes.
func noisy(got, want []byte) bool {
	wrong, high := 0, 0
	for i := range want {
		wrong += bits.OnesCount8(got[i] ^ want[i])
		high += bits.OnesCount8(got[i] &^ want[i])
	}
	return wrong <= 2 && high > 0
}

// sort counts one answer. Noise spoils single bits, mostly seen in the checksum; two servos that answer at once and not
// in step make a longer answer, or one whose very address or data are not what they can be: every bit is the lower of
// both.
func (h *answerCount) sort(got []byte, q *servo.Question, tardy bool) {
	switch n := len(got); {
	case n == 0:
		h.silent++
	case n < len(q.Want):
		h.cut++
	case n == len(q.Want) && !q.Same(got) && !q.Sound(got) && noisy(got, q.Want):
		h.garbled++
	case n > len(q.Want) || !q.Same(got):
		h.crossed++
	case !q.Sound(got):
		h.garbled++
	case tardy:
		h.tardy++
	default:
		h.clean++
	}
}
