package foxglove

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/internal/protocols/ws"
	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultPort is Foxglove's port, DefaultConnections how many clients are served at a time.
const (
	DefaultPort        = 8765
	DefaultConnections = 16
	maxMessage         = ws.DefaultMaxMessage
)

// subprotocols are the names of the protocol: its own, and that by which Foxglove's SDK calls the same messages.
var subprotocols = []string{"foxglove.sdk.v1", "foxglove.websocket.v1"}

// Options are the settings of a server.
type Options struct {
	MaxConnections int           // 0 = DefaultConnections
	WriteTimeout   time.Duration // for which a client may leave a message unread until its session ends; 0 = 5 s
	Origins        []string      // hosts of web pages that may connect; see ws.Options
	// Log receives sessions that begin and end, and messages that are refused; nil = silent.
	Log *slog.Logger
}

// Server serves one robot. Its listener's goroutine accepts, three serve each client and one each camera that it
// watches.
type Server struct {
	robot    *topics.Robot
	listener net.Listener
	topics   []topics.Topic
	channels []channel
	begin    [][]byte // the first messages to every client
	options  Options
	traffic  protocols.Traffic
}

// NewServer returns a server of robot. It owns listener. It fails if robot does not fit its layout.
func NewServer(listener net.Listener, robot *topics.Robot, o Options) (*Server, error) {
	all, err := robot.Topics()
	if err != nil {
		return nil, err
	}
	protocols.Positive(&o.MaxConnections, DefaultConnections)
	protocols.Positive(&o.WriteTimeout, 5*time.Second)
	o.Log = protocols.Logger(o.Log)
	s := &Server{robot: robot, listener: listener, topics: all, channels: channels(all), options: o}
	s.begin = s.greeting()
	return s, nil
}

// Address is the server's address. Traffic counts messages, and those that were refused.
func (s *Server) Address() net.Addr           { return s.listener.Addr() }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// Serve serves until ctx ends or the listener breaks, then ends every session and waits for it.
func (s *Server) Serve(ctx context.Context) error {
	return ws.Serve(ctx, s.listener, protocols.Limits{Connections: s.options.MaxConnections},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer s.robot.Rig.Contain("foxglove session")
			conn, err := ws.Open(w, r, ws.Options{Subprotocols: subprotocols, MaxMessage: maxMessage,
				Origins: s.options.Origins, WriteTimeout: s.options.WriteTimeout})
			log := s.options.Log.With("client", r.RemoteAddr, "agent", s.robot.Agent.Name())
			if err != nil {
				s.traffic.Drop(protocols.Refused)
				log.Warn("foxglove: connection refused", "reason", err)
				return
			}
			defer conn.Close()
			log.Info("foxglove: session")
			c := newSession(s, conn, "foxglove@"+r.RemoteAddr, conn.Blocked, log)
			err = c.run(r.Context())
			log.Info("foxglove: session ends", "reason", err)
		}))
}

// wrong is a mistake of the client.
func wrong(format string, args ...any) error { return fmt.Errorf(format, args...) }
