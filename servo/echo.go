package servo

import "time"

// EchoFilter is a line whose adapter echoes transmitted bytes, like a bare half-duplex UART. It discards the echo by
// comparison: bytes that differ from the expected echo are passed on, and end the wait for the rest of it.
type EchoFilter struct {
	Line
	due  []byte // sent, and the echo not received yet
	head int    // of due
}

// Write sends p and remembers it.
func (l *EchoFilter) Write(p []byte) (int, error) {
	n, err := l.Line.Write(p)
	if l.head == len(l.due) {
		l.due, l.head = l.due[:0], 0
	}
	l.due = append(l.due, p[:n]...)
	return n, err
}

// Discard throws the echo away with the rest.
func (l *EchoFilter) Discard() error {
	l.due, l.head = l.due[:0], 0
	return l.Line.Discard()
}

// Read continues to wait while it receives only echo.
func (l *EchoFilter) Read(p []byte, timeout time.Duration) (int, error) {
	until := l.Now() + timeout
	for {
		n, err := l.Line.Read(p, max(0, until-l.Now()))
		echo := 0
		for echo < n && l.head < len(l.due) && p[echo] == l.due[l.head] {
			echo++
			l.head++
		}
		if echo < n {
			l.head = len(l.due)
		}
		if n = copy(p, p[echo:n]); n > 0 || err != nil {
			return n, err
		}
	}
}

// Ignored is a packet that no device executes: it is framed as most protocols frame theirs, for an id that no device
// has. A line that returns it has an echo.
func Ignored() []byte { return []byte{0xFF, 0xFF, 0xFD, 0x00, 0xFD, 0x03, 0x00, 0x05, 0x2A, 0xFE} }
