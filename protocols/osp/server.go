package osp

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultPort is the protocol's main port.
const DefaultPort = 45454

// Options are the settings of a server. The zero Options are the defaults.
type Options struct {
	// Physical sends outputs and infos as the original did: in its units (angles in degrees), not normalised.
	Physical bool
	// AckTimeout is how long an answer that needs an acknowledgement waits for it until it is sent again;
	// 0 = 500 ms. Any valid command of the client counts as the acknowledgement.
	AckTimeout time.Duration
	// AckTries is how often an answer is repeated before the session continues without an acknowledgement; 0 = 3.
	AckTries int
	// ClientTimeout is the silence after which a client's session ends and its agents are free. 0 = never.
	ClientTimeout time.Duration
	// MaxSessions bounds the clients at one time; 0 = 64. At the bound a new client replaces the client that has been
	// silent longest, among those that control no agent; without such a client it is ignored.
	MaxSessions int
	// Listen opens the sockets of the sessions; nil = protocols.ListenUDP.
	Listen protocols.Listener
	// Log is notified of sessions that begin and end; nil = silent.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	protocols.Positive(&o.AckTimeout, 500*time.Millisecond)
	protocols.Positive(&o.AckTries, 3)
	protocols.Positive(&o.MaxSessions, 64)
	if o.Listen == nil {
		o.Listen = protocols.ListenUDP
	}
	o.Log = protocols.Logger(o.Log)
	return o
}

const (
	// evictAfter is the silence after which a session without agents may be replaced: a flood of requests does not
	// evict a new client.
	evictAfter = time.Second
	// sameInit is how long a repeated request for a session from the same address means the same session: its answer
	// was lost. Later on it is a client that started again.
	sameInit = time.Second
)

// Server answers the clients of one rig. One goroutine reads the main port, one each session's.
type Server struct {
	rig     *hal.Rig
	conn    protocols.PacketConn
	options Options
	traffic protocols.Traffic
	names   *interfaces

	mu       sync.Mutex
	sessions map[netip.AddrPort]*session
	closed   bool
	wg       sync.WaitGroup
}

// NewServer returns a server of rig for the clients of conn. It owns conn.
func NewServer(rig *hal.Rig, conn protocols.PacketConn, o Options) *Server {
	s := &Server{rig: rig, conn: conn, options: o.withDefaults(), sessions: map[netip.AddrPort]*session{}}
	s.names = &interfaces{rig: rig, declared: map[*hal.Agent]bool{}}
	s.names.declare()
	rig.Values().Declare("/UDPCommunication/ServerPort", hal.IntValue,
		func() hal.Value { return hal.Value{Kind: hal.IntValue, Int: int64(s.Address().Port())} }, nil)
	return s
}

// Address is where the main port listens. Traffic are the counts of all ports.
func (s *Server) Address() netip.AddrPort     { return protocols.Address(s.conn) }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// Sessions is the number of clients.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions)
}

// Serve answers until ctx ends or the main port breaks, then ends every session, frees its agents and waits for them.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.conn.Close() })
	defer stop()
	err := s.accept()
	// closing its socket ends a session's goroutine, which frees its agents
	s.conn.Close()
	s.mu.Lock()
	s.closed = true
	for _, c := range s.sessions {
		c.conn.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
	if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// accept reads the main port, which accepts only requests for a session.
func (s *Server) accept() error {
	in := make([]byte, MaxDatagram+1)
	var d Datagram
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(in)
		if err != nil {
			if protocols.Transient(err) {
				continue
			}
			return err
		}
		s.greet(in[:n], &d, from)
	}
}

// greet handles one datagram of the main port.
func (s *Server) greet(b []byte, d *Datagram, from netip.AddrPort) {
	defer s.rig.Contain("osp datagram")
	s.traffic.Receive()
	switch err := decode(b, d); {
	case err != nil:
		s.traffic.Drop(causeOf(err))
	case d.Command != initCommunication:
		s.traffic.Drop(protocols.Unknown)
	case d.Version.Major != 1 || d.Version.Minor != 1:
		s.traffic.Drop(protocols.Version) // silence, as the original
	default:
		s.open(protocols.Plain(from), d.Version)
	}
}

// open starts a session for client, or answers again for one that has just begun.
func (s *Server) open(client netip.AddrPort, v versionNumber) {
	s.mu.Lock()
	old := s.sessions[client]
	s.mu.Unlock()
	if old != nil && time.Since(old.begun) < sameInit {
		old.reply(&Datagram{Command: initCommunicationAck, Version: v})
		return
	}
	// a client is identified by its address: one address is one client
	if old != nil {
		old.end("restarted")
	} else if !s.makeRoom() {
		s.traffic.Drop(protocols.Full)
		return
	}
	// at the main port's own address: a server on loopback stays there with all its ports
	conn, err := s.options.Listen(netip.AddrPortFrom(s.Address().Addr(), 0))
	if err != nil {
		s.options.Log.Warn("osp: open session", "client", client, "fault", err)
		s.traffic.Drop(protocols.Full)
		return
	}
	c := newSession(s, conn, client)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		c.end("server closed")
		return
	}
	s.sessions[client] = c
	s.wg.Add(1)
	s.mu.Unlock()
	s.options.Log.Info("osp: session", "client", client, "at", protocols.Address(conn))
	c.reply(&Datagram{Command: initCommunicationAck, Version: v})
	go c.run()
}

// makeRoom reports whether there is room for a session; if necessary it ends an idle one.
func (s *Server) makeRoom() bool {
	s.mu.Lock()
	// never evicted: a client that controls an agent, or a new client
	var idlest *session
	full := len(s.sessions) >= s.options.MaxSessions
	for _, c := range s.sessions {
		if c.silence() > evictAfter && !c.controls() && (idlest == nil || c.silence() > idlest.silence()) {
			idlest = c
		}
	}
	s.mu.Unlock()
	if full && idlest != nil {
		idlest.end("idle, and another client came")
	}
	return !full || idlest != nil
}

// resetCommunication ends every session. All agents are free before the first client is notified, so that no client
// finds its agent taken when it reconnects.
func (s *Server) resetCommunication() {
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	for _, c := range all {
		c.party.Close()
	}
	for _, c := range all {
		c.reply(&Datagram{Command: resetCommunicationAck})
		c.reply(&Datagram{Command: resetSimulationAck}) // the original sends it too
		c.end("communication reset")
	}
}

// forget drops c from the clients' table, unless another has taken its place.
func (s *Server) forget(c *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[c.client] == c {
		delete(s.sessions, c.client)
	}
}

func causeOf(err error) protocols.Cause { return protocols.CauseOf(err, ErrTruncated, ErrOversized) }
