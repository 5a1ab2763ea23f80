package odcp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/protocols"
)

// DefaultPort is the port of an agent's server.
const DefaultPort = 45453

// Names of the events, the original's.
const (
	receivedSetEvent   = "/Communication/SimpleUdpMotorInterface/ReceivedSetEvent"
	connectionEvent    = "/Communication/SimpleUdpMotorInterface/ConnectionEvent"
	disconnectionEvent = "/Communication/SimpleUdpMotorInterface/DisconnectionEvent"
)

// Server executes the commands of its clients on one agent. It has no sessions: connecting and disconnecting only raise
// events.
type Server struct {
	conn    protocols.PacketConn
	agent   *hal.Agent
	events  *hal.Events
	traffic protocols.Traffic
	motors  []motor
	rig     *hal.Rig
	log     *slog.Logger
	idle    bool // commands move nothing, and the log has it

	received, connected, disconnected hal.EventID

	// of the serving goroutine
	d                Datagram
	out              []byte
	inputs, measured []float64
}

// motor is one actuator that takes a position.
type motor struct {
	goal, limit, position int // channels; limit and position may be hal.None
	angle, torque         *hal.Channel
}

// NewServer returns a server for agent, of rig, at conn, which it owns from here on. A nil log is silent.
func NewServer(rig *hal.Rig, agent *hal.Agent, conn protocols.PacketConn, log *slog.Logger) *Server {
	l := agent.Layout()
	s := &Server{rig: rig, log: protocols.Logger(log), conn: conn, agent: agent, events: rig.Events(),
		inputs: make([]float64, len(l.Inputs))}
	for i := range l.Actuators {
		a := &l.Actuators[i]
		m := motor{goal: a.Goal[hal.PositionMode], limit: a.TorqueLimit, position: a.Position}
		if m.goal == hal.None {
			continue
		}
		m.angle = &l.Inputs[m.goal]
		if m.limit != hal.None {
			m.torque = &l.Inputs[m.limit]
		}
		s.motors = append(s.motors, m)
	}
	s.received = s.events.Declare(receivedSetEvent)
	s.connected = s.events.Declare(connectionEvent)
	s.disconnected = s.events.Declare(disconnectionEvent)
	v := rig.Values()
	v.Declare("/SimpleUdpMotorInterface/ServerPort", hal.IntValue,
		func() hal.Value { return hal.Value{Kind: hal.IntValue, Int: int64(s.Address().Port())} }, nil)
	v.Declare("/SimpleUdpMotorInterface/ControlledAgent", hal.StringValue,
		func() hal.Value { return hal.Value{Kind: hal.StringValue, Text: agent.Name()} }, nil)
	return s
}

// Address is where the server listens, Traffic are its counts, Motors is the number of angles of a datagram.
func (s *Server) Address() netip.AddrPort     { return protocols.Address(s.conn) }
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }
func (s *Server) Motors() int                 { return len(s.motors) }

// Serve answers until ctx ends or the socket breaks, and closes it. It is called once.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { s.conn.Close() })
	defer stop()
	defer s.conn.Close()
	in := make([]byte, MaxDatagram+1)
	for {
		n, from, err := s.conn.ReadFromUDPAddrPort(in)
		switch {
		case err == nil:
			s.traffic.Receive()
			s.receive(in[:n], from)
		case protocols.Transient(err):
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		default:
			return err
		}
	}
}

// receive handles one datagram.
func (s *Server) receive(b []byte, from netip.AddrPort) {
	defer s.rig.Contain("odcp datagram")
	if err := decode(b, &s.d); err != nil {
		s.traffic.Drop(protocols.CauseOf(err, ErrTruncated, ErrOversized))
		return
	}
	switch s.d.Command {
	case initCommunication:
		s.events.Raise(s.connected)
		s.d.Values = append(s.d.Values[:0], 15, 1)
		s.reply(initCommunicationAck, from)
	case endCommunication:
		s.events.Raise(s.disconnected)
		s.reply(endCommunicationAck, from)
	case setMotors:
		s.set(from)
	case getMotors:
		s.get()
		s.reply(motorSettings, from)
	default: // a server's
		s.traffic.Drop(protocols.Unknown)
	}
}

// set commands the agent from the next cycle on.
func (s *Server) set(from netip.AddrPort) {
	if len(s.d.Values) == 0 {
		s.traffic.Drop(protocols.Truncated)
		return
	}
	hal.FillNaN(s.inputs)
	for i, v := range s.d.Values {
		torque := i >= len(s.motors)
		if torque {
			i -= len(s.motors)
		}
		if i >= len(s.motors) {
			break // more values than motors
		}
		switch m := &s.motors[i]; {
		case !torque && v == unknown:
		case !torque:
			s.inputs[m.goal] = m.angle.FromFraction(fraction(v))
		case m.torque != nil:
			s.inputs[m.limit] = m.torque.FromFraction(fraction(v))
		}
	}
	why := s.agent.Ready()
	if (why != nil) != s.idle {
		if s.idle = why != nil; s.idle {
			s.log.Warn("odcp: commands move nothing", "client", from, "why", why)
		}
	}
	if err := s.agent.Override(s.inputs); err != nil || why != nil {
		s.traffic.Drop(protocols.Refused)
		return
	}
	s.events.Raise(s.received)
}

// get fills d with the measured angles, on the scale of set.
func (s *Server) get() {
	s.measured = s.agent.Measured(s.measured)
	s.d.Values = s.d.Values[:0]
	for i := range s.motors {
		m := &s.motors[i]
		s.d.Values = append(s.d.Values, fromFraction(m.angle.Fraction(hal.At(s.measured, m.position))))
	}
}

func (s *Server) reply(c Command, to netip.AddrPort) {
	s.d.Command = c
	s.out = Append(s.out[:0], &s.d)
	if _, err := s.conn.WriteToUDPAddrPort(s.out, to); err != nil {
		s.traffic.Drop(protocols.Unsent)
		return
	}
	s.traffic.Send()
}
