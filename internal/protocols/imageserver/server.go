package imageserver

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultPort is the original's port.
const DefaultPort = 5003

// Options are the settings of a server. The zero Options send raw pictures at 30 a second.
type Options struct {
	Format        Format
	FrameRate     float64 // pictures a second at most; 0 = 30
	Width, Height int     // of every picture; 0 = the camera's own
	// MaxClients bounds the clients; 0 = 16. One more finds its connection closed.
	MaxClients int
	// WriteTimeout is how long a client may leave a picture unread until its session ends; 0 = 5 s.
	WriteTimeout time.Duration
	// Log is notified of sessions that begin and end; nil = silent.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	protocols.Positive(&o.FrameRate, 30)
	protocols.Positive(&o.MaxClients, 16)
	protocols.Positive(&o.WriteTimeout, 5*time.Second)
	o.Log = protocols.Logger(o.Log)
	return o
}

// Finder finds the camera of that name on the agent of that name; "" means the first camera, and for the first
// agent that has one. It fails if absent, and may be called from any goroutine.
type Finder func(robot, camera string) (w hal.CameraSource, index int, err error)

// Server shows cameras to its clients. Each has two goroutines and a watch of its own, so that one waits for no other.
type Server struct {
	listener net.Listener
	find     Finder
	options  Options
	contain  func(what string) // hal.Rig.Contain
	views    views
	traffic  protocols.Traffic
}

// NewServer returns a server of the cameras of find, for the clients of listener. It owns listener. The viewpoints are
// a value of rig.
func NewServer(rig *hal.Rig, listener net.Listener, find Finder, o Options) *Server {
	s := &Server{contain: rig.Contain, listener: listener, find: find, options: o.withDefaults()}
	s.views.declare(rig.Values())
	return s
}

// Address is where the server listens. Traffic counts acknowledgements that came and pictures that left.
func (s *Server) Address() net.Addr           { return s.listener.Addr() }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// Serve serves until ctx ends or the listener breaks, then ends every session and waits for it.
func (s *Server) Serve(ctx context.Context) error {
	a := protocols.Acceptor{Name: "imageserver", Listener: s.listener, Limit: s.options.MaxClients, Contain: s.contain,
		Log: s.options.Log, Traffic: &s.traffic}
	return a.Serve(ctx, func(ctx context.Context, conn net.Conn) {
		c := newSession(s, conn)
		c.log.Info("imageserver: session")
		c.log.Info("imageserver: session ends", "why", c.run(ctx))
	})
}
