package simloid

import (
	"errors"
	"os"
	"time"
)

// maxLine bounds one line. The longest that means something has a force for each body.
const maxLine = 8192

var errLong = errors.New("line too long")

// heartbeat is how often a silent client's timeout is checked.
const heartbeat = 100 * time.Millisecond

// read waits for the client. A session spends its time here.
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
	var next time.Time
	if c.server.options.ClientTimeout > 0 {
		next = time.Now().Add(heartbeat)
	}
	c.conn.SetReadDeadline(next)
}
