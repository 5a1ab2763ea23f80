package foxglove

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/internal/protocols/ws"
	"github.com/halyard-robotics/halyard/protocols"
)

// The messages of the server.
type (
	serverInfo struct {
		Op, Name           string
		Capabilities       []string
		SupportedEncodings []string `field:"supportedEncodings"`
		Metadata           metadata
	}
	metadata  struct{ Agent, Body string }
	advertise struct {
		Op       string
		Channels []advertisedChannel
	}
	advertisedChannel struct {
		ID              uint32
		Topic, Encoding string
		SchemaName      string `field:"schemaName"`
		Schema          string
		SchemaEncoding  string `field:"schemaEncoding"`
	}
	advertiseServices struct {
		Op       string
		Services []advertisedService
	}
	advertisedService struct {
		ID                uint32
		Name, Type        string
		Request, Response serviceSchema
		RequestSchema     string `field:"requestSchema"` // of older clients
		ResponseSchema    string `field:"responseSchema"`
	}
	serviceSchema struct {
		Encoding       string
		SchemaName     string `field:"schemaName"`
		SchemaEncoding string `field:"schemaEncoding"`
		Schema         string
	}
	statusMessage struct {
		Op      string
		Level   uint8
		Message string
	}
	parameterValues struct {
		Op         string
		Parameters []parameter
		ID         string `field:",known"`
	}
	serviceCallFailure struct {
		Op        string
		ServiceID uint32 `field:"serviceId"`
		CallID    uint32 `field:"callId"`
		Message   string
	}
)

const (
	statusError = 2

	jsonEncoding = "json"
	maxChannels  = 64 // of a client
	maxList      = 1024
)

// services are the services that a client may call.
var services = []struct {
	name string
	do   func(c *topics.Commander) error
}{
	{"/stop", (*topics.Commander).Stop},
	{"/reset", (*topics.Commander).Reset},
	{"/arm", (*topics.Commander).Arm},
}

// greeting returns the first messages to every client.
func (s *Server) greeting() [][]byte {
	list := advertise{Op: "advertise", Channels: []advertisedChannel{}}
	for i := range s.channels {
		c := &s.channels[i]
		list.Channels = append(list.Channels, advertisedChannel{c.id, c.name, jsonEncoding, c.kind.TypeName(),
			Schema(c.kind), "jsonschema"})
	}
	calls := advertiseServices{Op: "advertiseServices"}
	request, response := Schema(triggerRequest{}), Schema(triggerResponse{})
	for i, v := range services {
		calls.Services = append(calls.Services, advertisedService{uint32(i + 1), v.name, "std_srvs/Trigger",
			serviceSchema{jsonEncoding, triggerRequest{}.TypeName(), "jsonschema", request},
			serviceSchema{jsonEncoding, triggerResponse{}.TypeName(), "jsonschema", response}, request, response})
	}
	agent := s.robot.Agent
	var all [][]byte
	for _, m := range []any{
		serverInfo{"serverInfo", "halyard: " + agent.Name(),
			[]string{"clientPublish", "time", "parameters", "services"}, []string{jsonEncoding},
			metadata{agent.Name(), agent.BodyKind().String()}},
		list, calls,
	} {
		all = append(all, fields.AppendJSON(nil, m, fields.Foxglove))
	}
	return all
}

// outgoing is an answer, ready to be sent.
type outgoing struct {
	text bool
	b    []byte
}

// key is a subscription of a client, or the rig's time.
type key struct {
	time bool
	id   uint32
}

// session is one client. Its reader, the goroutine of run, handles messages; its writer sends answers and subscribed
// topics.
type session struct {
	server *Server
	conn   *ws.Conn
	log    *slog.Logger
	feed   *topics.Feed[key]

	published map[uint32]clientChannel // the reader's: by the client's ids
	refused   int                      // logged
	last      map[string]string        // the writer's: the last diagnostics sent on /log

	mu   sync.Mutex
	subs map[uint32]*channel
}

// clientChannel is a channel that a client publishes: a topic of the robot, or nil.
type clientChannel struct {
	topic  *topics.Topic
	schema string
}

func newSession(s *Server, conn *ws.Conn, name string, blocked func() time.Duration, log *slog.Logger) *session {
	c := &session{server: s, conn: conn, log: log, published: map[uint32]clientChannel{}, last: map[string]string{},
		subs: map[uint32]*channel{}}
	c.feed = topics.NewFeed[key](s.robot, name, blocked)
	for _, m := range s.begin {
		c.feed.Answer(outgoing{true, m}, 0)
	}
	c.feed.Subscribe(key{time: true}, &topics.Topic{Kind: topics.Clock}, topics.Settings{})
	return c
}

// run serves until the client leaves or ctx ends, and returns the reason.
func (s *session) run(ctx context.Context) error {
	return s.feed.Run(ctx, s.server.robot.Rig, "foxglove writer", s.write, s.read)
}

func (s *session) read(ctx context.Context) error {
	for {
		text, b, err := s.conn.Read(ctx)
		if err != nil {
			return err
		}
		s.server.traffic.Receive()
		if err := s.incoming(text, b); err != nil {
			return err
		}
	}
}

// write sends until a write fails or ctx ends.
func (s *session) write(ctx context.Context) {
	for {
		d, err := s.feed.Next(ctx)
		if err != nil {
			return
		}
		for _, m := range s.outgoing(d) {
			if err := s.conn.Write(ctx, m.text, m.b); err != nil {
				s.server.traffic.Drop(protocols.Unsent)
				return
			}
			s.server.traffic.Send()
		}
	}
}

// outgoing encodes a delivery.
func (s *session) outgoing(d topics.Delivery[key]) (all []outgoing) {
	if out, ok := d.Answer.(outgoing); ok {
		return []outgoing{out}
	}
	if d.Key.time {
		return []outgoing{{false, appendTime(nil, s.server.robot.Label(d.Sample.Time))}}
	}
	s.mu.Lock()
	c := s.subs[d.Key.id]
	s.mu.Unlock()
	if c == nil {
		return nil // it has ended meanwhile
	}
	data := func(at time.Duration, m any) {
		if m != nil {
			all = append(all, outgoing{false,
				appendMessageData(nil, d.Key.id, at, fields.AppendJSON(nil, m, fields.Foxglove))})
		}
	}
	switch {
	case d.Picture != nil:
		data(d.Picture.Time, imageOf(c.topic, d.Picture))
	case c.view == events:
		for _, m := range logs(s.server.robot, d.Sample, s.last) {
			data(s.server.robot.Label(d.Sample.Time), m)
		}
	default:
		data(d.Sample.Stamp(c.topic), message(s.server.robot, c, d.Sample))
	}
	return all
}

// answer queues a message in JSON.
func (s *session) answer(m any) error {
	b := fields.AppendJSON(nil, m, fields.Foxglove)
	return s.feed.Answer(outgoing{true, b}, len(b))
}

// fail reports a message that is not done.
func (s *session) fail(cause protocols.Cause, err error) error {
	s.server.traffic.Drop(cause)
	const most = 16
	if s.refused++; s.refused <= most {
		s.log.Warn("foxglove: message refused", "fault", err)
	}
	return s.answer(statusMessage{"status", statusError, err.Error()})
}

// incoming handles one message. Its error ends the session.
func (s *session) incoming(text bool, b []byte) error {
	if !text {
		m, err := decodeClient(b)
		switch {
		case err != nil:
			return s.fail(protocols.Truncated, err)
		case m.call != nil:
			return s.call(m.call)
		}
		if err := s.publish(m.channel, m.data); err != nil {
			return s.fail(protocols.Refused, err)
		}
		return nil
	}
	m, err := fields.Parse(b)
	if err != nil {
		return s.fail(protocols.Truncated, err)
	}
	op, _ := m["op"].(string)
	handle, ok := map[string]func([]byte) error{
		"subscribe": s.subscribe, "unsubscribe": s.unsubscribe, "advertise": s.advertise, "unadvertise": s.unadvertise,
		"getParameters": s.getParameters, "setParameters": s.setParameters,
	}[op]
	if !ok {
		return s.fail(protocols.Unknown,
			wrong("op: got %.100v, want subscribe, unsubscribe, advertise, unadvertise, getParameters or setParameters",
				m["op"]))
	}
	if err := handle(b); errors.Is(err, topics.ErrDeaf) {
		return err
	} else if err != nil {
		return s.fail(protocols.Refused, wrong("%s: %w", op, err))
	}
	return nil
}
