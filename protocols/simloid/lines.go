package simloid

import (
	"bytes"
	"errors"
	"os"
	"time"
)

// maxLine bounds one line. The longest that means something has a force for each body.
const maxLine = 8192

var errLong = errors.New("line too long")

// lineReader splits the bytes of read into lines. It uses no memory beyond its buffer: a line that does not fit is dropped,
// with one errLong for each full buffer.
type lineReader struct {
	read       func([]byte) (int, error)
	buf        [maxLine]byte
	start, end int  // of what is read and not returned
	dropping   bool // up to the next newline
}

// line returns the next line without its newline; it is valid until the next call.
func (r *lineReader) line() ([]byte, error) {
	scanned := r.start
	for {
		if i := bytes.IndexByte(r.buf[scanned:r.end], '\n'); i >= 0 {
			line := r.buf[r.start : scanned+i]
			r.start = scanned + i + 1
			if r.dropping {
				r.dropping, scanned = false, r.start
				continue
			}
			return line, nil
		}
		if r.start > 0 {
			r.end = copy(r.buf[:], r.buf[r.start:r.end])
			r.start = 0
		}
		if r.end == len(r.buf) {
			r.end, r.dropping = 0, true
			return nil, errLong
		}
		scanned = r.end
		n, err := r.read(r.buf[r.end:])
		r.end += n
		if n == 0 && err != nil {
			return nil, err
		}
	}
}

// heartbeat is how often a silent client's timeout is checked.
const heartbeat = 100 * time.Millisecond

// read waits for the client. It is where a session spends its time.
func (c *session) read(b []byte) (int, error) {
	received := time.Time{} // when the silence began, as far as it matters
	for {
		n, err := c.requests.Read(b)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) || c.lease == nil {
			return n, err
		}
		if received.IsZero() {
			received = time.Now().Add(-heartbeat)
		}
		if t := c.server.options.ClientTimeout; t > 0 && time.Since(received) >= t {
			return 0, errSilent
		}
		c.arm()
	}
}

// arm sets the next heartbeat, if it has a use.
func (c *session) arm() {
	if c.server.options.ClientTimeout > 0 {
		c.conn.SetReadDeadline(time.Now().Add(heartbeat))
		return
	}
	c.conn.SetReadDeadline(time.Time{})
}
