package control

import (
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// exhausted is a listener of a process without a free descriptor.
type exhausted struct {
	net.Listener
	calls  atomic.Int64
	closed atomic.Bool
}

func (l *exhausted) Accept() (net.Conn, error) {
	if l.calls.Add(1) > 1000 || l.closed.Load() {
		return nil, net.ErrClosed
	}
	return nil, errors.New("too many open files")
}

func (l *exhausted) Close() error {
	l.closed.Store(true)
	return nil
}

// TestLinesPauseAfterAnError: a listener that fails again and again does not take a processor.
func TestLinesPauseAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &exhausted{}
		end := serveLines(l, func(string) any { return nil })
		<-time.After(time.Second)
		if n := l.calls.Load(); n > 101 {
			t.Errorf("got %d attempts to accept in a second, want at most 101", n)
		}
		end()
	})
}
