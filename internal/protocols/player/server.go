package player

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultPort is Player's port, DefaultConnections how many clients are served at a time.
const (
	DefaultPort        = 6665
	DefaultConnections = 16
)

// interval is how often devices publish data; pictures at half that rate.
const interval = 100 * time.Millisecond

// Options are what a user may set of a server.
type Options struct {
	// MaxConnections bounds the clients; 0 = DefaultConnections. A further connection is closed.
	MaxConnections int
	// WriteTimeout is how long a client may leave data unread until its session ends; 0 = 5 s.
	WriteTimeout time.Duration
	// ClientTimeout is the silence after which a client counts as gone; 0 = never: commands persist.
	ClientTimeout time.Duration
	// Log receives sessions that begin and end, and once a session each kind of command that is refused; nil = silent.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	protocols.Positive(&o.MaxConnections, DefaultConnections)
	protocols.Positive(&o.WriteTimeout, 5*time.Second)
	o.Log = protocols.Logger(o.Log)
	return o
}

// Server serves one robot to its clients. One goroutine accepts, two serve each client, and one each camera that a
// client has opened.
type Server struct {
	rig      *hal.Rig
	listener net.Listener
	robot    *Robot
	entries  []entry
	port     uint32
	options  Options
	traffic  protocols.Traffic
}

// NewServer returns a server of robot, an agent of rig, and owns listener. It fails where robot does not fit its
// layout.
func NewServer(rig *hal.Rig, listener net.Listener, robot *Robot, o Options) (*Server, error) {
	if err := robot.validate(); err != nil {
		return nil, err
	}
	_, text, _ := net.SplitHostPort(listener.Addr().String())
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		port = DefaultPort // a listener in memory
	}
	return &Server{rig: rig, listener: listener, robot: robot, entries: units(rig, robot), port: uint32(port),
		options: o.withDefaults()}, nil
}

// Address is the server's address. Traffic counts messages, and those that were refused.
func (s *Server) Address() net.Addr           { return s.listener.Addr() }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// Devices are what the server offers.
func (s *Server) Devices() []Device {
	var all []Device
	for _, e := range s.entries {
		all = append(all, e.device)
	}
	return all
}

// find is the unit of a device, or nil.
func (s *Server) find(d Device) unit {
	for _, e := range s.entries {
		if e.device == d {
			return e.unit
		}
	}
	return nil
}

// driver is the name of the drivers.
func (s *Server) driver() string {
	if s.robot.Driver != "" {
		return s.robot.Driver
	}
	return "halyard"
}

// address is a device in a message of the server.
func (s *Server) address(d Device) address { return address{localhost, s.port, d} }

// Serve serves until ctx ends or the listener breaks, then ends every connection and waits for it.
func (s *Server) Serve(ctx context.Context) error {
	a := protocols.Acceptor{Name: "player", Listener: s.listener, Limit: s.options.MaxConnections,
		Contain: s.rig.Contain, Log: s.options.Log, Traffic: &s.traffic}
	return a.Serve(ctx, s.serve)
}

// serve is one session.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	log := s.options.Log.With("client", conn.RemoteAddr(), "agent", s.robot.Agent.Name())
	log.Info("player: session")
	c := newSession(s, conn, log)
	defer c.rig.Close() // its body holds still
	err := c.run(ctx)
	log.Info("player: session ends", "reason", err)
}
