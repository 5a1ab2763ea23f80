package emulator

import (
	"math/bits"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// maxWaiting bounds what waits for a host that does not read, bytes; what comes then is lost.
const maxWaiting = 1 << 15

// onWire is one byte that has been sent to the host.
type onWire struct {
	end  time.Duration // when its stop bit is over
	baud int
	b    byte
}

// wire is everything on its way to the host, in the order of time, and the adapter that hands it on.
type wire struct {
	timing  Timing
	bits    int // of a byte: start, data, parity, stop
	bytes   []onWire
	head    int           // bytes before it have been read
	ready   int           // how many from head on the adapter has handed on
	flushed time.Duration // when the adapter last handed something on
}

// time is how long n bytes take at baud.
func (w *wire) time(n, baud int) time.Duration { return servo.WireTime(n, w.bits, baud) }

// waiting is what has not been read yet.
func (w *wire) waiting() []onWire { return w.bytes[w.head:] }

// clear loses everything.
func (w *wire) clear() { w.bytes, w.head, w.ready = w.bytes[:0], 0, 0 }

// busy is when the last byte on the wire ends.
func (w *wire) busy() time.Duration {
	if n := len(w.bytes); n > w.head {
		return w.bytes[n-1].end
	}
	return 0
}

// put sends p from start at baud. Bytes that meet others already on the wire collide with them.
// It returns when the last one ends.
func (w *wire) put(p []byte, start time.Duration, baud int) time.Duration {
	if len(w.bytes)+len(p) > cap(w.bytes) { // make room where it has been read, before anything grows
		w.bytes = w.bytes[:copy(w.bytes, w.bytes[w.head:])]
		w.head = 0
	}
	for i, c := range p {
		if len(w.waiting()) >= maxWaiting {
			break
		}
		x := onWire{start + w.time(i+1, baud), baud, c}
		if w.busy() <= x.end-w.time(1, baud)+time.Nanosecond {
			w.bytes = append(w.bytes, x)
		} else {
			w.collide(x)
		}
	}
	return start + w.time(len(p), baud)
}

// collide puts x on a wire that is not idle. Where it overlaps another byte a low bit of either wins, each at its own
// place in time; else it goes between.
func (w *wire) collide(x onWire) {
	length, bit := w.time(1, x.baud), max(1, w.time(1, x.baud)/time.Duration(w.bits))
	at := len(w.bytes)
	for at > w.head+w.ready && w.bytes[at-1].end > x.end-length {
		at--
	}
	if at == len(w.bytes) || w.bytes[at].end-length >= x.end {
		w.bytes = slices.Insert(w.bytes, at, x)
		return
	}
	y := &w.bytes[at]
	late := (x.end - y.end + bit/2) / bit // bits by which x comes after y
	y.b &= bits.RotateLeft8(x.b, int(late))
}

// corrupt garbles everything that ends after from: somebody else talks. What is left of it is arbitrary, and the same
// each time.
func (w *wire) corrupt(from time.Duration) {
	for i := w.head + w.ready; i < len(w.bytes); i++ {
		if w.bytes[i].end > from {
			w.bytes[i].b &= 0xA5
		}
	}
}

// next is when the host sees the next bytes, and false when none are on their way.
func (w *wire) next() (time.Duration, bool) {
	if w.ready > 0 {
		return w.flushed, true
	}
	if w.head == len(w.bytes) {
		return 0, false
	}
	at, _ := w.packet(w.waiting())
	return at, true
}

// packet is when the first packet of waiting reaches the host, and how many bytes are in it. The latency timer runs
// freely from the last packet on, as the FT232's, so that a host that asks, waits and asks again pays one a turn.
func (w *wire) packet(waiting []onWire) (time.Duration, int) {
	first, latency := waiting[0].end, w.timing.Latency
	close := w.frame(first) // without a timer all goes that has come by the frame's edge
	if latency > 0 {
		periods := max(1, (first-w.flushed+latency-1)/latency)
		close = w.flushed + periods*latency
		batch := w.timing.Batch
		if batch <= 0 {
			batch = ftdiBatch
		}
		if batch <= len(waiting) && waiting[batch-1].end <= close {
			return w.frame(waiting[batch-1].end), batch
		}
	}
	n := 1
	for n < len(waiting) && waiting[n].end <= close {
		n++
	}
	return w.frame(close), n
}

// frame is the first edge of a USB frame at or after t.
func (w *wire) frame(t time.Duration) time.Duration {
	if f := w.timing.Frame; f > 0 {
		return (t + f - 1) / f * f
	}
	return t
}

// receive reads into p what the host has by now, at its own rate.
func (w *wire) receive(p []byte, now time.Duration, baud int) int {
	for w.ready < len(p) && w.head+w.ready < len(w.bytes) {
		at, n := w.packet(w.bytes[w.head+w.ready:])
		if at > now {
			break
		}
		w.ready += n
		w.flushed = at
	}
	n := min(len(p), w.ready)
	for i, x := range w.bytes[w.head : w.head+n] {
		if p[i] = x.b; !sameBaud(x.baud, baud) {
			p[i] = missample(x.b, x.baud, baud)
		}
	}
	w.head += n
	w.ready -= n
	if w.head == len(w.bytes) {
		w.clear()
	}
	return n
}

// discard throws away what has come by now; what is still on its way comes later.
func (w *wire) discard(now time.Duration) {
	for w.head < len(w.bytes) && w.bytes[w.head].end <= now {
		w.head++
	}
	w.ready = 0
}
