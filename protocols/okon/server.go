package okon

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// The original's ports.
const (
	DefaultPort      = 44210
	DefaultVideoPort = 44209
)

// Options are the settings of a server. The zero Options follow the document.
type Options struct {
	// RawHits sends HIT_NGZ and HIT_FZ with the bare id, as the original did at its end, not {"id":""}.
	RawHits bool
	// AngularAccel calls rotAccel angularAccel, as the original did.
	AngularAccel bool
	// BareIDs sends the ids of all action points without quotes, as the original did: [AP1,AP2] is no JSON.
	BareIDs bool
	// Teleport puts a simulated robot back into a start zone when it hits a zone, as the original did.
	Teleport bool
	// Heartbeat is the silence of a client after which it gets an ACK, and how often from then on; 0 = 500 ms.
	Heartbeat time.Duration
	// WriteTimeout is how long a client may leave data unread until its session ends; 0 = 5 s.
	WriteTimeout time.Duration
	// ClientTimeout is the silence after which a client is disconnected; 0 = never.
	ClientTimeout time.Duration
	// MaxClients bounds the clients at one time; 0 = 256. Further clients are refused with an ERROR.
	MaxClients int
	// Log receives sessions, commanders and, at level debug, packets without DO_NOT_LOG_PACKET; nil = silent.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	protocols.Positive(&o.Heartbeat, 500*time.Millisecond)
	protocols.Positive(&o.WriteTimeout, 5*time.Second)
	protocols.Positive(&o.MaxClients, 256)
	o.Log = protocols.Logger(o.Log)
	return o
}

// Server is the control channel of one robot. Each client has two goroutines: one reads and answers, the other sends
// unsolicited packets. Serve waits for all of them.
type Server struct {
	rig     *hal.Rig
	robot   *Robot
	options Options
	traffic protocols.Traffic
	clients protocols.Acceptor
	command command
	setting settings

	mu       sync.Mutex // taken after every other lock
	sessions []*session

	hits    []Hit // the cycle's
	notices []notice
	arming  bool // the drives of the thrusters are being switched on
	status  []hal.Status
}

// notice is the packet to every client when the robot's guard enters a state.
type notice struct {
	event hal.EventID
	data  []byte
}

// NewServer returns a server of robot, an agent of rig, for the clients of listener. It owns listener. The robot's
// pilot becomes its agent's autopilot.
func NewServer(rig *hal.Rig, listener net.Listener, robot *Robot, o Options) (*Server, error) {
	if err := robot.validate(); err != nil {
		return nil, err
	}
	s := &Server{rig: rig, robot: robot, options: o.withDefaults()}
	s.clients = acceptor(listener, s.options.MaxClients, rig.Contain, &s.traffic, s.options.Log)
	s.setting.begin(robot.Pilot)
	s.command.begin(s)
	robot.Agent.SetAutopilot(robot.Pilot)
	name := robot.Agent.Name()
	for state, text := range map[string]string{
		"Expired":  "no command before the deadline: the motors are off (try: SET_MTR, SET_ACRO or SET_STABLE)",
		"Stopped":  "emergency stop: the motors are off (try: halyard reset)",
		"Disarmed": "disarmed by the operator: the motors are off (try: halyard arm)",
	} {
		if e, ok := rig.Events().Lookup("/" + name + "/" + state); ok {
			s.notices = append(s.notices, notice{e, appendFault(nil, "command "+name+": "+text, nil)})
		}
	}
	for _, d := range devices(robot.Agent) {
		if e, ok := rig.Events().Lookup("/" + name + "/" + d + "/Fault"); ok {
			s.notices = append(s.notices, notice{e, appendFault(nil, "fault of "+d+" (try: halyard status)", nil)})
		}
	}
	return s, nil
}

// devices are the names of a's actuators and sensors.
func devices(a *hal.Agent) []string {
	names := a.Joints()
	for _, s := range a.Layout().Sensors {
		names = append(names, s.Name)
	}
	return names
}

// Address is where the server listens. Traffic counts packets.
func (s *Server) Address() net.Addr           { return s.clients.Listener.Addr() }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// Commander names the client that commands the motors, or is "".
func (s *Server) Commander() string { return *s.command.name.Load() }

// Serve serves until ctx ends or the listener fails, then ends every session, releases the agent and waits for them.
func (s *Server) Serve(ctx context.Context) error {
	s.command.party = s.rig.NewSession("okon@"+s.Address().String(), s)
	defer s.command.party.Close()
	return s.clients.Serve(ctx, func(ctx context.Context, conn net.Conn) {
		c := newSession(s, conn)
		s.enter(c)
		defer s.leave(c)
		why := c.run(ctx)
		s.options.Log.Info("okon: session ends", "client", c.name, "why", why)
	})
}

func (s *Server) enter(c *session) {
	s.rig.BetweenCycles(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sessions = append(s.sessions, c)
	})
	if why := s.robot.Agent.Ready(); why != nil { // its state was broadcast before the client came
		c.fault(why, nil)
		c.out.signal()
	}
}

func (s *Server) leave(c *session) {
	s.mu.Lock()
	s.sessions = slices.DeleteFunc(s.sessions, func(d *session) bool { return c == d })
	s.mu.Unlock()
	s.command.leave(c)
}

// broadcast sends a packet to every client. It never blocks.
func (s *Server) broadcast(t Type, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sessions {
		c.out.putBytes(t, 0, data)
		c.out.signal()
	}
}

// Cycle is called by the rig after each cycle, under the rig's lock. It broadcasts the reason when the motors go off,
// and the zones that the robot has entered.
func (s *Server) Cycle(c *hal.Cycle) {
	for _, e := range c.Events {
		for i := range s.notices {
			if s.notices[i].event == e {
				s.broadcast(failure, s.notices[i].data)
			}
		}
	}
	s.watchArming()
	if s.robot.Course == nil {
		return
	}
	s.hits = s.robot.Course.Hits(s.hits)
	for _, h := range s.hits {
		if s.options.Teleport && !s.robot.real() {
			if err := s.robot.Course.Restart(); err != nil {
				s.options.Log.Warn("okon: not put back", "zone", h.ID, "why", err)
			}
		}
		data := []byte(h.ID)
		if !s.options.RawHits {
			data = append(appendText([]byte(`{"id":`), data), '}')
		}
		t := HitNoGo
		if h.Finish {
			t = HitFinish
		}
		s.broadcast(t, data)
	}
}

// watchArming broadcasts when the thrusters' drives begin to be switched on, as ESCs that arm for seconds, and when
// they are. The original's motors turned at once; an ACK with a text is what its clients take without harm.
func (s *Server) watchArming() {
	if !s.command.armed.Load() && !s.arming {
		return
	}
	s.status = s.robot.Agent.Status(s.status)
	arming := slices.ContainsFunc(s.status, func(d hal.Status) bool { return d.Drive == hal.Switching })
	if arming != s.arming {
		s.arming = arming
		text := `{"info":"armed"}`
		if arming {
			text = `{"info":"arming: the thrusters do not turn yet"}`
		}
		s.broadcast(Ack, []byte(text))
	}
}

// Deferrable implements hal.Deferrable: there is no client to report a cycle to.
func (s *Server) Deferrable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sessions) == 0
}

// acceptor lets at most limit clients in. One too many gets an ERROR packet, within 10 ms.
func acceptor(listener net.Listener, limit int, contain func(string), traffic *protocols.Traffic,
	log *slog.Logger) protocols.Acceptor {
	return protocols.Acceptor{Name: "okon", Listener: listener, Limit: limit, Contain: contain, Traffic: traffic,
		Log: log, Refuse: func(conn net.Conn) {
			conn.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
			conn.Write(Append(nil, Packet{Type: failure, Data: appendFault(nil, "too many clients", nil)}))
		}}
}
