// Package protocols holds the common parts of the protocol packages: the socket of datagram protocols, and counters of
// received and dropped messages. A protocol translates between its clients and hal; it never uses a device.
package protocols

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// PacketConn is a socket for datagrams. *net.UDPConn is one; tests use the network of protocolstest. It has the calls
// of a UDPConn that allocate nothing. Writing is safe from any goroutine; one goroutine reads.
type PacketConn interface {
	// ReadFromUDPAddrPort blocks for the next datagram, at most until the deadline. A longer datagram is truncated to
	// b.
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (n int, err error)
	SetReadDeadline(t time.Time) error
	LocalAddr() net.Addr
	Close() error
}

// Listener opens a socket at an address; port 0 means any free one.
type Listener func(at netip.AddrPort) (PacketConn, error)

// ListenUDP opens a UDP socket of the operating system.
func ListenUDP(at netip.AddrPort) (PacketConn, error) {
	conn, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	return conn, nil
}

// ListenFor opens the socket of a client of server with listen, nil = ListenUDP: on loopback for a server there, so
// that no other host can answer in its place.
func ListenFor(server netip.AddrPort, listen Listener) (PacketConn, error) {
	local := netip.IPv4Unspecified()
	if server.Addr().IsLoopback() {
		local = server.Addr()
	} else if server.Addr().Is6() {
		local = netip.IPv6Unspecified()
	}
	if listen == nil {
		listen = ListenUDP
	}
	return listen(netip.AddrPortFrom(local, 0))
}

// Address is where conn listens.
func Address(conn PacketConn) netip.AddrPort {
	a, _ := conn.LocalAddr().(*net.UDPAddr)
	return Plain(a.AddrPort())
}

// Plain returns a without the IPv6 wrapping of an IPv4 address, so that addresses of all sockets compare.
func Plain(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// Transient reports whether a read error concerns one datagram or the deadline, so that the socket is still usable:
// some systems report at the next read that an earlier datagram reached no listener.
func Transient(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ECONNREFUSED) ||
		errors.Is(err, syscall.ECONNRESET)
}
