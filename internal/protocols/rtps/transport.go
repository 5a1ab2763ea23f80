package rtps

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// Transport carries datagrams of one participant.
type Transport interface {
	// Serve calls handle for each datagram, from any goroutine, until Close, and returns when they have ended.
	Serve(handle func(b []byte, from netip.AddrPort))
	// Send sends a datagram; b is the caller's. What cannot be sent is lost.
	Send(b []byte, to netip.AddrPort)
	// Addresses are where peers reach this participant; Announce, where it announces itself.
	Addresses() []netip.AddrPort
	Announce() []netip.AddrPort
	// Reachable reports whether a peer's address is one to send to.
	Reachable(netip.AddrPort) bool
	// Sizes are the longest datagram and the size of fragments.
	Sizes() (datagram, fragment int)
	Close() error
}

const (
	basePort    = 7400
	domainPorts = 250
	// MaxDomain is the highest domain whose ports exist.
	MaxDomain = 232
	// participants is how many of a host are found by its address alone: their ports are known.
	participants = 33
	socketBuffer = 4 << 20
)

func discoveryPort(domain uint32, participant int) uint16 {
	return uint16(basePort + domainPorts*int(domain) + 10 + 2*participant)
}

// UDPOptions are the network of a participant.
type UDPOptions struct {
	Domain uint32
	// Address is the interface: loopback, one interface's address, or unspecified for all that are up.
	Address netip.Addr
	Port    uint16 // 0: a free one, of those where peers search a participant if possible
	// Peers are hosts, or participants with their port, that multicast does not reach. On loopback 127.0.0.1 is one.
	Peers   []netip.AddrPort
	Contain func(what string) // as in Options
}

// UDP is a Transport over UDP and IPv4. On loopback nothing leaves the computer, and there is no multicast.
type UDP struct {
	interfaces []udpInterface
	peers      []netip.AddrPort
	announce   []netip.AddrPort
	own        map[netip.Addr]bool
	local      bool
	contain    func(string)
}

type udpInterface struct {
	network     netip.Prefix
	conn, group *net.UDPConn // group: nil without multicast
	address     netip.AddrPort
}

// ListenUDP opens the sockets.
func ListenUDP(o UDPOptions) (*UDP, error) {
	if o.Domain > MaxDomain {
		return nil, fmt.Errorf("rtps: domain: got %d, want at most %d", o.Domain, MaxDomain)
	}
	u := &UDP{peers: o.Peers, own: map[netip.Addr]bool{}, local: o.Address.IsLoopback(),
		contain: orNothing(o.Contain)}
	found, err := u.networks(o.Address)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if err := u.open(&found[i], o); err != nil {
			u.Close()
			return nil, err
		}
		o.Port = u.interfaces[0].address.Port() // one for all
	}
	hosts := o.Peers
	if u.local {
		hosts = append([]netip.AddrPort{netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)}, hosts...)
	} else {
		u.announce = append(u.announce, group(o.Domain))
	}
	for _, at := range hosts {
		if at.Port() != 0 {
			u.announce = append(u.announce, at)
			continue
		}
		for i := range participants {
			u.announce = append(u.announce, netip.AddrPortFrom(at.Addr(), discoveryPort(o.Domain, i)))
		}
	}
	return u, nil
}

func group(domain uint32) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{239, 255, 0, 1}), uint16(basePort+domainPorts*int(domain)))
}

// network is an interface of this computer with one address.
type network struct {
	device net.Interface
	prefix netip.Prefix
}

// networks returns the networks of an address and notes all addresses of this computer.
func (u *UDP) networks(at netip.Addr) (chosen []network, err error) {
	devices, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("rtps: %w", err)
	}
	for _, d := range devices {
		addresses, _ := d.Addrs()
		for _, a := range addresses {
			prefix, err := netip.ParsePrefix(a.String())
			if err != nil || !prefix.Addr().Is4() {
				continue
			}
			u.own[prefix.Addr()] = true
			loop := prefix.Addr().IsLoopback()
			switch {
			case at.IsUnspecified() && !loop && d.Flags&net.FlagUp != 0, at == prefix.Addr(),
				at.IsLoopback() && prefix.Contains(at) && at != prefix.Addr():
				chosen = append(chosen, network{d, netip.PrefixFrom(at, prefix.Bits())})
				if at.IsUnspecified() {
					chosen[len(chosen)-1].prefix = prefix
				}
			}
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("rtps: listen: got %v, want an IPv4 address of an interface of this computer", at)
	}
	return chosen, nil
}

// open opens the sockets of one network.
func (u *UDP) open(n *network, o UDPOptions) error {
	address := net.UDPAddr{IP: n.prefix.Addr().AsSlice(), Port: int(o.Port)}
	var conn *net.UDPConn
	var err error
	for i := 0; i < participants && o.Port == 0 && conn == nil; i++ {
		address.Port = int(discoveryPort(o.Domain, i))
		conn, _ = net.ListenUDP("udp4", &address)
	}
	if conn == nil {
		address.Port = int(o.Port)
		if conn, err = net.ListenUDP("udp4", &address); err != nil {
			return fmt.Errorf("rtps: %w", err)
		}
	}
	conn.SetReadBuffer(socketBuffer)
	conn.SetWriteBuffer(socketBuffer)
	at := conn.LocalAddr().(*net.UDPAddr).AddrPort()
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	u.interfaces = append(u.interfaces, udpInterface{n.prefix.Masked(), conn, nil, at})
	if u.local || n.device.Flags&net.FlagMulticast == 0 {
		return nil
	}
	joined, err := net.ListenMulticastUDP("udp4", &n.device, net.UDPAddrFromAddrPort(group(o.Domain)))
	if err != nil {
		return fmt.Errorf("rtps: %w", err)
	}
	u.interfaces[len(u.interfaces)-1].group = joined
	return nil
}

// Serve is Transport's.
func (u *UDP) Serve(handle func(b []byte, from netip.AddrPort)) {
	var running sync.WaitGroup
	defer running.Wait()
	serve := func(conn *net.UDPConn) {
		b := make([]byte, 1<<16)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			handle(b[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		}
	}
	for i := range u.interfaces {
		for _, conn := range []*net.UDPConn{u.interfaces[i].conn, u.interfaces[i].group} {
			if conn == nil {
				continue
			}
			running.Go(func() {
				defer u.contain("rtps socket")
				serve(conn)
			})
		}
	}
}

// Send is Transport's: by the interface of the address's network, to a group by each.
func (u *UDP) Send(b []byte, to netip.AddrPort) {
	if to.Addr().IsMulticast() {
		for i := range u.interfaces {
			if u.interfaces[i].group != nil {
				u.interfaces[i].conn.WriteToUDPAddrPort(b, to)
			}
		}
		return
	}
	conn := u.interfaces[0].conn
	for i := range u.interfaces {
		if u.interfaces[i].network.Contains(to.Addr()) {
			conn = u.interfaces[i].conn
		}
	}
	conn.WriteToUDPAddrPort(b, to)
}

// Addresses is Transport's.
func (u *UDP) Addresses() (all []netip.AddrPort) {
	for i := range u.interfaces {
		all = append(all, u.interfaces[i].address)
	}
	return all
}

// Announce is Transport's.
func (u *UDP) Announce() []netip.AddrPort { return u.announce }

// Reachable is Transport's: on loopback only this computer, else the networks of its interfaces and its peers.
func (u *UDP) Reachable(at netip.AddrPort) bool {
	if u.local {
		return at.Addr().IsLoopback() || u.own[at.Addr()]
	}
	for i := range u.interfaces {
		if u.interfaces[i].network.Contains(at.Addr()) {
			return true
		}
	}
	for _, peer := range u.peers {
		if peer.Addr() == at.Addr() {
			return true
		}
	}
	return false
}

// Sizes is Transport's. Ethernet's datagrams are a few packets, since each lost packet costs all of one.
func (u *UDP) Sizes() (datagram, fragment int) {
	if u.local {
		return 65000, 32000
	}
	return 14720, 1344
}

// Close is Transport's.
func (u *UDP) Close() error {
	for i := range u.interfaces {
		u.interfaces[i].conn.Close()
		if g := u.interfaces[i].group; g != nil {
			g.Close()
		}
	}
	return nil
}
