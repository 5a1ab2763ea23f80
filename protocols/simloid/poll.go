package simloid

import (
	"io"
	"net"
	"runtime"
	"syscall"
	"time"
)

// pollFor is how long a read polls. Two cores wake from idle in it, one for the client and one for the server, with
// time left for the client's own work.
const pollFor = 100 * time.Microsecond

// pollConn returns a reader of conn for a client in lock-step, which sends its next request soon after the last answer.
// While it does so, a read polls for up to 100 µs before it waits: to wake an idle core takes longer than the cycle of
// a small robot. After a read that took longer the next ones wait at once, until one takes less again, so a client in
// real time costs nothing. Deadlines and Close work as for conn. The reader is for one goroutine; it is conn itself
// where conn or the operating system cannot be polled.
func pollConn(conn net.Conn) io.Reader {
	c, ok := conn.(syscall.Conn)
	if !ok || !canPoll {
		return conn
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return conn
	}
	p := &poller{conn: conn, raw: raw}
	p.poll = p.look
	return p
}

type poller struct {
	conn net.Conn
	raw  syscall.RawConn
	poll func(fd uintptr) bool // look, made once
	soon bool                  // the last read took less than pollFor

	// The read.
	to    []byte
	n     int
	until time.Time
}

// Read is that of an io.Reader.
func (p *poller) Read(b []byte) (n int, err error) {
	p.to, p.n, p.until = b, 0, time.Now().Add(pollFor)
	if p.soon {
		p.raw.Read(p.poll) // its error, if any, is also conn.Read's
	}
	n = p.n
	if n == 0 {
		n, err = p.conn.Read(b)
	}
	p.soon = n > 0 && time.Now().Before(p.until)
	return n, err
}

// look reads until there is something, an error or the end, or the time is over. It always returns true: RawConn.Read
// would wait otherwise. Every eighth look lets other goroutines and processes run, one of which may be the client.
func (p *poller) look(fd uintptr) bool {
	for i := 1; len(p.to) > 0; i++ {
		n, again := look(fd, p.to)
		if p.n = n; !again || !time.Now().Before(p.until) {
			break
		}
		if i%8 == 0 {
			runtime.Gosched()
			yield()
		}
	}
	return true
}
