package protocols

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Limits bound the connections of a server. Zero values give the defaults.
type Limits struct {
	Connections int // of the server; 0 = 512
	PerAddress  int // from one address that is not this host's own; 0 = 128
}

const (
	defaultConnections = 512
	defaultPerAddress  = 128
	firstRetry         = 5 * time.Millisecond
	lastRetry          = 500 * time.Millisecond
)

// Bound returns ln with limits: a connection above them is closed at once. Its Accept continues after transient errors:
// no descriptor or memory left, a client that disconnected while it was accepted. It ends when ln is closed.
func Bound(ln net.Listener, l Limits) net.Listener {
	l.Connections = cmp.Or(l.Connections, defaultConnections)
	l.PerAddress = cmp.Or(l.PerAddress, defaultPerAddress)
	return &bound{Listener: ln, limits: l, from: map[netip.Addr]int{}, closed: make(chan struct{})}
}

// ListenTCP opens a listener at an address, within the default Limits, and returns the address that it has.
func ListenTCP(at netip.AddrPort) (net.Listener, netip.AddrPort, error) {
	ln, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	return Bound(ln, Limits{}), Plain(ln.Addr().(*net.TCPAddr).AddrPort()), nil
}

// TCPAddr is the address of a TCP connection's end without its port, comparable (Plain); the zero Addr of another's.
func TCPAddr(a net.Addr) netip.Addr {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return Plain(tcp.AddrPort()).Addr()
	}
	return netip.Addr{}
}

type bound struct {
	net.Listener
	limits Limits
	once   sync.Once
	closed chan struct{}

	mu   sync.Mutex
	open int
	from map[netip.Addr]int
}

// Accept returns the next connection within the limits.
func (b *bound) Accept() (net.Conn, error) {
	for {
		conn, err := accept(b.Listener, b.closed)
		if err != nil {
			return nil, err
		}
		if c := b.admit(conn); c != nil {
			return c, nil
		}
		conn.Close()
	}
}

// accept waits for a connection. After a transient error it tries again, until closed is.
func accept(ln net.Listener, closed <-chan struct{}) (net.Conn, error) {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		conn, err := ln.Accept()
		if err == nil || !Passes(err) {
			return conn, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-closed:
			timer.Stop()
			return nil, net.ErrClosed
		}
	}
}

// Close closes the listener. Connections stay open.
func (b *bound) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// admit counts conn; nil where there are too many.
func (b *bound) admit(conn net.Conn) net.Conn {
	at := TCPAddr(conn.RemoteAddr())
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open >= b.limits.Connections || b.from[at] >= b.limits.PerAddress && !at.IsLoopback() {
		return nil
	}
	b.open++
	b.from[at]++
	return &boundConn{Conn: conn, of: b, at: at}
}

type boundConn struct {
	net.Conn
	of   *bound
	at   netip.Addr
	once sync.Once
}

// Close closes the connection and makes room for another.
func (c *boundConn) Close() error {
	c.once.Do(func() {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.open--
		if c.of.from[c.at]--; c.of.from[c.at] == 0 {
			delete(c.of.from, c.at)
		}
	})
	return c.Conn.Close()
}

// SetNoDelay is that of a TCP connection.
func (c *boundConn) SetNoDelay(on bool) error {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		return t.SetNoDelay(on)
	}
	return nil
}

// SyscallConn is that of a TCP connection.
func (c *boundConn) SyscallConn() (syscall.RawConn, error) {
	if t, ok := c.Conn.(*net.TCPConn); ok {
		return t.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// Passes reports whether a listener's error is one after which it may accept again.
func Passes(err error) bool {
	passing := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR}
	return slices.ContainsFunc(passing, func(e error) bool { return errors.Is(err, e) })
}
