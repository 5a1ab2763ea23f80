package wire

import (
	"math/bits"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// maxWaiting bounds the bytes that wait for a host that does not read; later ones are lost.
const maxWaiting = 1 << 16

// Adapter is the delay of the host's adapter in addition to the wire time; the zero one passes every byte on at once.
type Adapter struct {
	// Frame is the USB frame: bytes reach the host only at its edges. 1 ms at full speed, 125 µs at high speed.
	// Field measurements (LeRobot pull request 3456) match frames for received bytes, and none for sent ones.
	Frame time.Duration
	// Latency is the FTDI latency timer: received bytes are passed on when it expires, or when Batch bytes wait.
	Latency time.Duration
	Batch   int // bytes; 0 = the FTDI's 62
}

// ftdiBatch is a full packet of an FTDI: 64 bytes of USB less two of modem status.
const ftdiBatch = 62

// onWire is one byte that has been sent to the host.
type onWire struct {
	end  time.Duration // when its stop bit is over
	baud int           // 0 = the wire has no rate
	b    byte
}

// Path is everything on its way to the host, in the order of time, and the adapter that hands it on. Its methods are
// called under the medium's lock.
type Path struct {
	Adapter Adapter
	Bits    int // of a byte: start, data, parity, stop; 0 = 10
	bytes   []onWire
	head    int           // bytes before it have been read
	ready   int           // how many from head on the adapter has handed on
	flushed time.Duration // when the adapter last handed something on
}

// Time is how long n bytes take at baud; 0 where the wire has no rate.
func (w *Path) Time(n, baud int) time.Duration {
	if w.Bits == 0 {
		w.Bits = 10
	}
	return servo.WireTime(n, w.Bits, baud)
}

// waiting are the unread bytes.
func (w *Path) waiting() []onWire { return w.bytes[w.head:] }

// Clear drops all bytes.
func (w *Path) Clear() { w.bytes, w.head, w.ready = w.bytes[:0], 0, 0 }

// Busy is when the last byte on the wire ends.
func (w *Path) Busy() time.Duration {
	if n := len(w.bytes); n > w.head {
		return w.bytes[n-1].end
	}
	return 0
}

// Put sends p from start at baud. Bytes that meet others already on the wire collide with them.
// It returns when the last one ends.
func (w *Path) Put(p []byte, start time.Duration, baud int) time.Duration {
	if len(w.bytes)+len(p) > cap(w.bytes) { // make room where it has been read, before anything grows
		w.bytes = w.bytes[:copy(w.bytes, w.bytes[w.head:])]
		w.head = 0
	}
	for i, c := range p {
		if len(w.waiting()) >= maxWaiting {
			break
		}
		x := onWire{start + w.Time(i+1, baud), baud, c}
		if w.Busy() <= x.end-w.Time(1, baud)+time.Nanosecond || baud <= 0 {
			w.bytes = append(w.bytes, x)
		} else {
			w.collide(x)
		}
	}
	return start + w.Time(len(p), baud)
}

// collide puts x on a wire that is not idle. Where it overlaps another byte a low bit of either wins, each at its own
// place in time; else it goes between.
func (w *Path) collide(x onWire) {
	length, bit := w.Time(1, x.baud), max(1, w.Time(1, x.baud)/time.Duration(w.Bits))
	at := len(w.bytes)
	for at > w.head+w.ready && w.bytes[at-1].end > x.end-length {
		at--
	}
	if at == len(w.bytes) || w.bytes[at].end-length >= x.end {
		w.bytes = slices.Insert(w.bytes, at, x)
		return
	}
	y := &w.bytes[at]
	late := (x.end - y.end + bit/2) / bit // bits by which x is after y
	y.b &= bits.RotateLeft8(x.b, int(late))
}

// TalkOver garbles all bytes that end after from, since another device transmits too. The result is arbitrary, but the
// same each time.
func (w *Path) TalkOver(from time.Duration) {
	for i := w.head + w.ready; i < len(w.bytes); i++ {
		if w.bytes[i].end > from {
			w.bytes[i].b &= 0xA5
		}
	}
}

// Cut drops the bytes that were not sent by now: the sender has lost its power.
func (w *Path) Cut(now time.Duration) {
	for n := len(w.bytes); n > w.head+w.ready && w.bytes[n-1].end > now; n-- {
		w.bytes = w.bytes[:n-1]
	}
}

// Queue sends p from start at baud, or from when the wire is free, and returns when the last byte ends.
func (w *Path) Queue(p []byte, start time.Duration, baud int) time.Duration {
	return w.Put(p, max(start, w.Busy()), baud)
}

// Arrival is the time when the next bytes reach the host; Never if there are none.
func (w *Path) Arrival() time.Duration {
	if w.ready > 0 {
		return w.flushed
	}
	if w.head == len(w.bytes) {
		return Never
	}
	at, _ := w.packet(w.waiting())
	return at
}

// packet is when the first packet of waiting reaches the host, and how many bytes are in it. The latency timer runs
// freely from the last packet on, as the FT232's, so that a host that asks, waits and asks again pays one a turn.
func (w *Path) packet(waiting []onWire) (time.Duration, int) {
	first, latency := waiting[0].end, w.Adapter.Latency
	close := w.frame(first) // without a timer all goes that has come by the frame's edge
	if latency > 0 {
		periods := max(1, (first-w.flushed+latency-1)/latency)
		close = w.flushed + periods*latency
		batch := w.Adapter.Batch
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
func (w *Path) frame(t time.Duration) time.Duration {
	if f := w.Adapter.Frame; f > 0 {
		return (t + f - 1) / f * f
	}
	return t
}

// Take reads the bytes that the host has received by now into p, sampled at its rate.
func (w *Path) Take(p []byte, now time.Duration, baud int) int {
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
		p[i] = Sample(x.b, x.baud, baud)
	}
	w.head += n
	w.ready -= n
	if w.head == len(w.bytes) {
		w.Clear()
	}
	return n
}

// Discard drops the bytes received by now; bytes still on the wire arrive later.
func (w *Path) Discard(now time.Duration) {
	for w.head < len(w.bytes) && w.bytes[w.head].end <= now {
		w.head++
	}
	w.ready = 0
}

// SameBaud reports whether a receiver at one rate understands a sender at the other: a byte's last bit must still be
// sampled within itself, which allows some 5 % between ideal clocks and 3 % between real ones.
func SameBaud(a, b int) bool {
	x, y := int64(a), int64(b)
	return x*100 <= y*103 && y*100 <= x*103
}

// Sample is the byte that a receiver at rate to decodes from b sent at rate from. If the rates differ it finds the
// start bit's edge and samples the middle of its own eight bits; behind the stop bit the line is idle. Rate 0 matches
// any.
func Sample(b byte, from, to int) byte {
	if from <= 0 || to <= 0 || SameBaud(from, to) {
		return b
	}
	frame := uint(b)<<1 | 1<<9 // start 0, data, stop 1
	var out byte
	for k := range 8 {
		at := int64(2*k+3) * int64(from) / int64(2*to)
		if at > 9 || frame>>at&1 == 1 {
			out |= 1 << k
		}
	}
	return out
}
