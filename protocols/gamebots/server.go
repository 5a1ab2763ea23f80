package gamebots

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultPort is the original's port, DefaultConnections how many connections it serves at a time.
const (
	DefaultPort        = 3000
	DefaultConnections = 16
)

// Options are the settings of a server. The zero Options are the original of the manual.
type Options struct {
	// Dialect is the generation of the protocol that sessions begin in.
	Dialect Dialect
	// Choose lets a session change its dialect by the first words of its client that only some dialects have.
	Choose bool
	// MaxConnections bounds the connections, and so the robots; 0 = 16. One more finds its connection closed.
	MaxConnections int
	// Commands are further commands by their names, in capitals. They cannot replace those of the manual.
	Commands map[string]Command
	// WriteTimeout is how long a client may leave messages unread until its session ends; 0 = 5 s.
	WriteTimeout time.Duration
	// ClientTimeout is the silence after which a client is disconnected; 0 = never: commands persist.
	ClientTimeout time.Duration
	// Log receives the begin and end of sessions, and once a session each kind of refused command; nil = silent.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	protocols.Positive(&o.MaxConnections, DefaultConnections)
	protocols.Positive(&o.WriteTimeout, 5*time.Second)
	o.Log = protocols.Logger(o.Log)
	return o
}

// Server serves one robot to each of its connections. One goroutine accepts, two serve each connection.
type Server struct {
	rig      *hal.Rig
	listener net.Listener
	arena    Arena
	options  Options
	traffic  protocols.Traffic
	cycles   atomic.Uint64 // since Serve: the clock of those that have no robot

	spawning sync.Mutex // the arena's Spawner is called one at a time
}

// NewServer returns a server of arena, whose robots are agents of rig, for the clients of listener. It owns listener.
func NewServer(rig *hal.Rig, listener net.Listener, arena Arena, o Options) *Server {
	arena.Game = cmp.Or(arena.Game, "USARBot.USARDeathMatch")
	arena.Level = cmp.Or(arena.Level, "DM-USAR")
	return &Server{rig: rig, listener: listener, arena: arena, options: o.withDefaults()}
}

// Address is where the server listens. Traffic counts lines that came and were dropped, and writes that left.
func (s *Server) Address() net.Addr           { return s.listener.Addr() }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// Serve serves until ctx ends or the listener breaks, then ends every session and waits for it.
func (s *Server) Serve(ctx context.Context) error {
	party := s.rig.NewSession("gamebots", s)
	defer party.Close()
	a := protocols.Acceptor{Name: "gamebots", Listener: s.listener, Limit: s.options.MaxConnections, Grace: grace,
		Contain: s.rig.Contain, Log: s.options.Log, Traffic: &s.traffic}
	return a.Serve(ctx, s.serve)
}

// grace is how long a new client waits for a free place.
const grace = 250 * time.Millisecond

// Cycle is the rig's call after each cycle.
func (s *Server) Cycle(c *hal.Cycle) {
	if !c.Reset {
		s.cycles.Add(1)
	}
}

// Deferrable implements hal.Deferrable: each session observes the cycles too.
func (*Server) Deferrable() bool { return true }

// serve is one session.
func (s *Server) serve(ctx context.Context, conn net.Conn) {
	log := s.options.Log.With("client", conn.RemoteAddr())
	log.Info("gamebots: session")
	c := newSession(s, conn, log)
	defer c.leave()
	why := c.run(ctx)
	log.Info("gamebots: session ends", "robot", c.name, "why", why)
}

// commands are the document's, each with the dialect that brought it, the names of its values, and its handler.
var commands = [...]struct {
	name    string
	dialect Dialect
	values  string
	do      Command
}{
	{"INIT", document, "ClassName Name Location Rotation Start", (*Control).spawn},
	{"DRIVE", document, "Left Right Normalized Light Flip Name Steer Order Value Speed FrontSteer RearSteer",
		(*Control).wheels},
	{"CAMERA", document, "Rotation Order Zoom", (*Control).camera},
	{"SET", document, "Type Name Opcode Params Robot Client", (*Control).set},
	{"MISPKG", document, "Name Rotation Translation Order Link Value", (*Control).mission},
	{"MISPGK", document, "Name Rotation", (*Control).mission},
	{"ACT", Later, "Name Link Value Order", (*Control).mission},
	{"GETGEO", document, "Type Name", (*Control).geo},
	{"GETCONF", document, "Type Name", (*Control).conf},
	{"GETSTARTPOSES", document, "", (*Control).starts},
}

// find returns the handler of m and its name; nil if absent.
func (s *session) find(m *Message) (name string, f Command) {
	for i := range commands {
		if c := &commands[i]; m.Is(c.name) && s.dialect.since(c.dialect) {
			return c.name, c.do
		}
	}
	for name, f := range s.server.options.Commands {
		if m.Is(name) {
			return name, f
		}
	}
	return "", nil
}

// anytime reports whether a command needs no robot, or checks for one itself.
func anytime(name string) bool { return name == "INIT" || name == "SET" || name == "GETSTARTPOSES" }

// ready returns an error without a robot, or if its battery is empty.
func (s *session) ready() error {
	switch k := s.robot.Load(); {
	case k == nil:
		return errNoRobot
	case k.drained.Load():
		return errEmpty
	}
	return nil
}

// geo, conf and starts execute the queries.
func (c *Control) geo() error  { return c.query("GEO") }
func (c *Control) conf() error { return c.query("CONF") }

func (c *Control) starts() error {
	c.session.reply(func(t *text) { startPoses(t, c.session.server.arena.Starts) })
	return nil
}

// query handles GETGEO and GETCONF.
func (c *Control) query(head string) error {
	kind, _ := c.message.Value("Type")
	name, _ := c.message.Value("Name")
	if len(kind) == 0 || len(kind) > maxName || len(name) > maxName {
		return fmt.Errorf("type %.64q: %w", kind, ErrFormat)
	}
	c.session.reply(func(t *text) { c.link().query(t, head, kind, name) })
	return nil
}

// spawn makes a robot. One without a name gets that of its class and the least number that is free: a name's values and
// events stay in the rig, so that names must not count up with each client that comes and goes.
func (s *Server) spawn(class, name string, at hal.Pose) (*hal.Agent, error) {
	s.spawning.Lock()
	defer s.spawning.Unlock()
	// a number that is free now is free until Spawn: only this server names robots so
	for n, given := 1, name != ""; !given; n++ {
		name = fmt.Sprint(short(class), n)
		given = s.rig.Agent(name) == nil
	}
	return s.arena.Spawner.Spawn(class, name, at)
}

// remove removes a robot from the world. Its lease is released before: the rig does not remove a robot with a lease.
func (s *Server) remove(name string) {
	s.spawning.Lock()
	defer s.spawning.Unlock()
	if err := s.arena.Spawner.Remove(name); err != nil {
		s.options.Log.Warn("gamebots: remove", "robot", name, "fault", err)
	}
}
