package okon

import (
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

// maxPending bounds the bytes pending for one client. A client that far behind does not read at all.
const maxPending = 4 << 20

var errBehind = errors.New("the client does not read")

// outbox is the queue of one client. put may be called from any goroutine and never blocks; flush writes, one goroutine
// at a time.
type outbox struct {
	conn    net.Conn
	timeout time.Duration // of one write
	traffic *protocols.Traffic

	mu      sync.Mutex
	pending []byte
	spare   []byte // the buffer of the last write, for reuse
	writing bool
	began   time.Time // the write under way
	err     error
	until   time.Time     // the present write deadline
	wake    chan struct{} // a packet was put by a caller that does not flush
}

// put appends a packet; data, if not nil, appends the packet's data to its argument.
func (o *outbox) put(t Type, f Flag, data func([]byte) []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	start := len(o.pending)
	o.pending = appendHeader(o.pending, t, f, 0)
	if data != nil {
		o.pending = data(o.pending)
	}
	o.end(start)
}

// putBytes is put of a slice.
func (o *outbox) putBytes(t Type, f Flag, data []byte) {
	o.put(t, f, func(dst []byte) []byte { return append(dst, data...) })
}

// end writes the length of the packet that begins at start; above maxPending it closes the connection.
func (o *outbox) end(start int) {
	n := len(o.pending) - start - headerSize
	binary.LittleEndian.PutUint32(o.pending[start+2:], uint32(n))
	o.traffic.Send()
	if len(o.pending) > maxPending {
		o.fail(errBehind)
	}
}

// fail closes the connection; its reader learns of it. Under the lock.
func (o *outbox) fail(err error) {
	if o.err == nil {
		o.err, o.pending, o.spare = err, nil, nil
		o.traffic.Drop(protocols.Unsent)
		o.conn.Close()
	}
}

// signal wakes the goroutine that flushes.
func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// flush writes all that is pending, unless another goroutine is at it, which then writes that too.
func (o *outbox) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writing {
		return
	}
	o.writing = true
	for o.err == nil && len(o.pending) > 0 {
		out := o.pending
		o.pending, o.spare = o.spare[:0], nil
		if now := time.Now(); o.until.Sub(now) < o.timeout/2 {
			o.until = now.Add(o.timeout)
			o.conn.SetWriteDeadline(o.until)
		}
		o.began = time.Now()
		// without the lock: put must not wait for a client that does not read
		o.mu.Unlock()
		_, err := o.conn.Write(out)
		o.mu.Lock()
		if err != nil {
			o.fail(err)
		}
		if cap(out) <= smallest*4 { // the memory of a picture is not kept for each client
			o.spare = out
		}
	}
	o.writing = false
}

// deaf reports whether the client has left a write waiting for so long that it no longer counts as alive.
func (o *outbox) deaf() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.writing && time.Since(o.began) > protocols.MaxUnread
}

// why is the error that ended the outbox, or err.
func (o *outbox) why(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	return err
}
