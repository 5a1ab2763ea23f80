package laser

import (
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// replies are the power and the queued replies of a scanner. Replies leave before the scans of a stream.
type replies struct {
	powered bool
	ready   time.Duration // from then on it listens
	out     []byte        // what has not left
	answer  time.Duration // when it leaves
}

// listens reports whether the scanner receives at now.
func (r *replies) listens(now time.Duration) bool { return r.powered && now >= r.ready }

// next is when the scanner sends: its replies, or in a stream its next scan.
func (r *replies) next(streams bool, scan time.Duration) time.Duration {
	next := wire.Never
	if r.powered && len(r.out) > 0 {
		next = r.answer
	}
	if r.powered && streams {
		next = min(next, scan)
	}
	return next
}

// take appends the replies that are due to dst, and reports whether there were any.
func (r *replies) take(dst []byte, now time.Duration) ([]byte, bool) {
	if len(r.out) == 0 || r.answer > now {
		return dst, false
	}
	dst = append(dst, r.out...)
	r.out = r.out[:0]
	return dst, true
}
