// Package protocolstest is a network in memory for the tests of protocols, of datagrams (Net) and of streams (Pipes):
// no sockets, no ports, no waiting. Inside a testing/synctest bubble its deadlines run on the bubble's clock.
package protocolstest

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
)

const (
	firstPort = 50000 // first of the ports assigned for port 0
	backlog   = 4096  // datagrams queued at a socket; more are lost, as on a real one
)

// Net connects the sockets that it listens with.
type Net struct {
	// Lose, if set, is called for each datagram, one at a time; the datagram is lost if it returns true. Set it before
	// the first datagram.
	Lose func(from, to netip.AddrPort, b []byte) bool

	losing sync.Mutex

	mu    sync.Mutex
	next  uint16
	conns map[netip.AddrPort]*Conn
}

// Listen is a protocols.Listener.
func (n *Net) Listen(at netip.AddrPort) (protocols.PacketConn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.conns == nil {
		n.conns = map[netip.AddrPort]*Conn{}
	}
	if at.Port() == 0 {
		at = netip.AddrPortFrom(at.Addr(), firstPort+n.next)
		n.next++
	}
	if n.conns[at] != nil {
		return nil, fmt.Errorf("listen %v: address in use", at)
	}
	c := &Conn{net: n, at: at, queue: make(chan packet, backlog), gone: make(chan struct{})}
	n.conns[at] = c
	return c, nil
}

func (n *Net) lose(from, to netip.AddrPort, b []byte) bool {
	n.losing.Lock()
	defer n.losing.Unlock()
	return n.Lose != nil && n.Lose(from, to, b)
}

type packet struct {
	from netip.AddrPort
	data []byte
}

// Conn is one socket.
type Conn struct {
	net   *Net
	at    netip.AddrPort
	queue chan packet
	gone  chan struct{}
	once  sync.Once

	mu       sync.Mutex
	deadline time.Time
}

// ReadFromUDPAddrPort waits for a datagram until the deadline that is set when it is called.
func (c *Conn) ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error) {
	c.mu.Lock()
	deadline := c.deadline
	c.mu.Unlock()
	var expired <-chan time.Time
	if !deadline.IsZero() {
		if !time.Now().Before(deadline) {
			return 0, netip.AddrPort{}, os.ErrDeadlineExceeded
		}
		t := time.NewTimer(time.Until(deadline))
		defer t.Stop()
		expired = t.C
	}
	select {
	case p := <-c.queue:
		return copy(b, p.data), p.from, nil
	case <-expired:
		return 0, netip.AddrPort{}, os.ErrDeadlineExceeded
	case <-c.gone:
		return 0, netip.AddrPort{}, net.ErrClosed
	}
}

// WriteToUDPAddrPort sends a copy of b. As on a real network, delivery is not reported.
func (c *Conn) WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error) {
	select {
	case <-c.gone:
		return 0, net.ErrClosed
	default:
	}
	c.net.mu.Lock()
	peer := c.net.conns[to]
	c.net.mu.Unlock()
	if peer == nil || c.net.lose(c.at, to, b) {
		return len(b), nil
	}
	select {
	case peer.queue <- packet{c.at, append([]byte(nil), b...)}:
	default: // its buffer is full
	}
	return len(b), nil
}

// SetReadDeadline bounds the reads that begin after it.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return nil
}

// LocalAddr is a *net.UDPAddr.
func (c *Conn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(c.at) }

// Close frees the address and wakes the reader.
func (c *Conn) Close() error {
	c.once.Do(func() {
		close(c.gone)
		c.net.mu.Lock()
		delete(c.net.conns, c.at)
		c.net.mu.Unlock()
	})
	return nil
}
