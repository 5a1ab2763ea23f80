package rosbridge

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/internal/protocols/ws"
	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultPort is rosbridge's port, DefaultConnections how many clients are served at a time.
const (
	DefaultPort        = 9090
	DefaultConnections = 16
	maxMessage         = ws.DefaultMaxMessage
)

// Options are what a user may set of a server.
type Options struct {
	MaxConnections int           // 0 = DefaultConnections
	WriteTimeout   time.Duration // for which a client may leave a message unread until its session ends; 0 = 5 s
	Origins        []string      // hosts of web pages that may connect; see ws.Options
	// ROS1 gives clients that name no types the names and times of ROS 1; otherwise those of ROS 2.
	ROS1 bool
	// Log receives sessions that begin and end, and commands that are refused; nil = silent.
	Log *slog.Logger
}

// Server serves one robot. Its listener's goroutine accepts, three serve each client and one each camera that it
// watches.
type Server struct {
	robot    *topics.Robot
	listener net.Listener
	topics   []topics.Topic
	services []service
	options  Options
	traffic  protocols.Traffic
}

// NewServer returns a server of robot and owns listener. It fails where robot does not fit its layout.
func NewServer(listener net.Listener, robot *topics.Robot, o Options) (*Server, error) {
	all, err := robot.Topics()
	if err != nil {
		return nil, err
	}
	protocols.Positive(&o.MaxConnections, DefaultConnections)
	protocols.Positive(&o.WriteTimeout, 5*time.Second)
	o.Log = protocols.Logger(o.Log)
	return &Server{robot: robot, listener: listener, topics: all, services: services(), options: o}, nil
}

// Address is the server's address. Traffic counts messages, and those that were refused.
func (s *Server) Address() net.Addr           { return s.listener.Addr() }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// Serve serves until ctx ends or the listener breaks, then ends every session and waits for it.
func (s *Server) Serve(ctx context.Context) error {
	return ws.Serve(ctx, s.listener, protocols.Limits{Connections: s.options.MaxConnections},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer s.robot.Rig.Contain("rosbridge session")
			conn, err := ws.Open(w, r, ws.Options{MaxMessage: maxMessage, Origins: s.options.Origins,
				WriteTimeout: s.options.WriteTimeout})
			log := s.options.Log.With("client", r.RemoteAddr, "agent", s.robot.Agent.Name())
			if err != nil {
				s.traffic.Drop(protocols.Refused)
				log.Warn("rosbridge: connection refused", "reason", err)
				return
			}
			defer conn.Close()
			log.Info("rosbridge: session")
			c := &session{server: s, conn: conn, log: log, ros1: s.options.ROS1, level: levelError,
				subs: map[string]*subscription{}, advertised: map[string]bool{}}
			c.feed = topics.NewFeed[string](s.robot, "rosbridge@"+r.RemoteAddr, conn.Blocked)
			err = c.run(r.Context())
			log.Info("rosbridge: session ends", "reason", err)
		}))
}

// topic and service find a topic or service by the client's name for it; nil if unknown.
func (s *Server) topic(name string) *topics.Topic {
	if i := slices.IndexFunc(s.topics, func(t topics.Topic) bool { return t.Name == absolute(name) }); i >= 0 {
		return &s.topics[i]
	}
	return nil
}

func (s *Server) service(name string) *service {
	if i := slices.IndexFunc(s.services, func(v service) bool { return v.name == absolute(name) }); i >= 0 {
		return &s.services[i]
	}
	return nil
}

// topicTypes are all topics and their types, in the server's order.
func (s *Server) topicTypes(ros1 bool) (names, types []string) {
	for i := range s.topics {
		names = append(names, s.topics[i].Name)
		types = append(types, spell(rosmsg.Type(s.topics[i].Kind).TypeName(), "msg", ros1))
	}
	return names, types
}

// serviceNames are the services of a type, or all for "".
func (s *Server) serviceNames(kind string) []string {
	all := []string{}
	for i := range s.services {
		if kind == "" || s.services[i].kind == kind ||
			spell(s.services[i].kind, "srv", false) == spell(kind, "srv", false) {
			all = append(all, s.services[i].name)
		}
	}
	return all
}

// refusal is a mistake of the client, in rosbridge's words where it has any: they begin with a capital letter.
type refusal string

func (r refusal) Error() string { return string(r) }

func errorf(format string, args ...any) error { return refusal(fmt.Sprintf(format, args...)) }
