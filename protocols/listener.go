package protocols

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 50 * time.Millisecond
)

// Bound returns ln with limits; see Limits. Its Accept continues after transient errors: no descriptor or memory left,
// a client that disconnected while it was accepted. It ends when ln is closed.
func Bound(ln net.Listener, l Limits) net.Listener {
	return &bound{Listener: ln, door: newDoor(l), closed: make(chan struct{})}
}

// ListenTCP opens a listener at an address, and returns the address that it has. Acceptor, Bound and ws.Serve limit its
// connections.
func ListenTCP(at netip.AddrPort) (net.Listener, netip.AddrPort, error) {
	ln, err := net.Listen("tcp", at.String())
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	return ln, Plain(ln.Addr().(*net.TCPAddr).AddrPort()), nil
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
	door   *door
	once   sync.Once
	closed chan struct{}
}

// Accept returns the next connection within the limits.
func (b *bound) Accept() (net.Conn, error) {
	for {
		conn, err := b.door.accept(b.Listener, b.closed)
		if err != nil {
			return nil, err
		}
		if c := b.door.place(conn, b.closed); c != nil {
			return placed{c}, nil
		}
		conn.Close()
	}
}

// Close closes the listener. Connections stay open.
func (b *bound) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// placed is a connection whose end frees its place.
type placed struct{ *admitted }

func (c placed) Close() error {
	c.door.leave(c.admitted)
	return c.admitted.Close()
}

// Passes reports whether a listener's error is one after which it may accept again.
func Passes(err error) bool {
	passing := []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED,
		syscall.EINTR}
	return slices.ContainsFunc(passing, func(e error) bool { return errors.Is(err, e) })
}
