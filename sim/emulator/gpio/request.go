package gpio

import (
	"syscall"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// request is lines that were handed out.
type request struct {
	chip      *Chip
	asked     gpiochip.Request
	queue     []gpiochip.Event
	maxEvents int
	seq       uint32
}

// wants returns the request's settings of its line i.
func (r *request) wants(i int) (flags gpiochip.Flags, out bool, quiet time.Duration) {
	flags = r.asked.Flags
	for _, a := range r.asked.Attributes {
		switch {
		case a.Mask>>i&1 == 0:
		case a.Flags != nil:
			flags = *a.Flags
		case a.Values != nil:
			out = *a.Values>>i&1 == 1
		default:
			quiet = a.Debounce
		}
	}
	return flags, out, quiet
}

// values are the lines' activities at a time.
func (r *request) values(now time.Duration) (bits uint64) {
	r.flush(now)
	for i, offset := range r.asked.Offsets {
		if l := &r.chip.lines[offset]; l.shown != (l.flags&gpiochip.ActiveLow != 0) {
			bits |= 1 << i
		}
	}
	return bits
}

func (r *request) set(bits, mask uint64, now time.Duration) error {
	r.flush(now)
	for i, offset := range r.asked.Offsets {
		l := &r.chip.lines[offset]
		switch {
		case mask>>i&1 == 0:
		case l.out == loose:
			return syscall.EPERM
		default:
			l.out = pulled((bits>>i&1 == 1) != (l.flags&gpiochip.ActiveLow != 0))
			r.chip.refresh(int(offset), now)
		}
	}
	return nil
}

// flush applies the pending changes of the request's lines, in order of time.
func (r *request) flush(until time.Duration) {
	for {
		first, at := -1, until
		for _, offset := range r.asked.Offsets {
			if next, ok := r.chip.lines[offset].next(); ok && (next < at || next == at && first < 0) {
				first, at = int(offset), next
			}
		}
		if first < 0 {
			return
		}
		r.chip.flush(first, at)
	}
}

// queueEvent queues an event; where the queue is full the oldest goes. One that is lost is counted all the same.
func (r *request) queueEvent(e gpiochip.Event, lost bool) {
	r.seq++
	e.Seq = r.seq
	if lost {
		return
	}
	if len(r.queue) == r.maxEvents {
		r.queue = r.queue[:copy(r.queue, r.queue[1:])]
	}
	r.queue = append(r.queue, e)
}

// release releases a request's lines. Under the lock.
func (r *request) release() {
	c := r.chip
	for fd, have := range c.nodes {
		if have == r {
			delete(c.nodes, fd)
		}
	}
	for _, offset := range r.asked.Offsets {
		l := &c.lines[offset]
		l.holder, l.flags, l.quiet, l.settles = nil, 0, 0, false
		if !c.config.Keeps {
			l.out = loose
		}
		c.refresh(int(offset), c.EdgeTime())
	}
}
