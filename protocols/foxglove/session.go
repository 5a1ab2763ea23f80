package foxglove

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/fields"
	"github.com/halyard-robotics/halyard/protocols/rosbridge"
	"github.com/halyard-robotics/halyard/protocols/topics"
	"github.com/halyard-robotics/halyard/protocols/ws"
)

// The messages of the server.
type (
	serverInfo struct {
		Op                 string   `field:"op"`
		Name               string   `field:"name"`
		Capabilities       []string `field:"capabilities"`
		SupportedEncodings []string `field:"supportedEncodings"`
		Metadata           metadata `field:"metadata"`
	}
	metadata struct {
		Agent string `field:"agent"`
		Body  string `field:"body"`
	}
	advertise struct {
		Op       string              `field:"op"`
		Channels []advertisedChannel `field:"channels"`
	}
	advertisedChannel struct {
		ID             uint32 `field:"id"`
		Topic          string `field:"topic"`
		Encoding       string `field:"encoding"`
		SchemaName     string `field:"schemaName"`
		Schema         string `field:"schema"`
		SchemaEncoding string `field:"schemaEncoding"`
	}
	advertiseServices struct {
		Op       string              `field:"op"`
		Services []advertisedService `field:"services"`
	}
	advertisedService struct {
		ID             uint32        `field:"id"`
		Name           string        `field:"name"`
		Type           string        `field:"type"`
		Request        serviceSchema `field:"request"`
		Response       serviceSchema `field:"response"`
		RequestSchema  string        `field:"requestSchema"` // of older clients
		ResponseSchema string        `field:"responseSchema"`
	}
	serviceSchema struct {
		Encoding       string `field:"encoding"`
		SchemaName     string `field:"schemaName"`
		SchemaEncoding string `field:"schemaEncoding"`
		Schema         string `field:"schema"`
	}
	statusMessage struct {
		Op      string `field:"op"`
		Level   uint8  `field:"level"`
		Message string `field:"message"`
	}
	parameterValues struct {
		Op         string      `field:"op"`
		Parameters []parameter `field:"parameters"`
		ID         string      `field:"id,known"`
	}
	serviceCallFailure struct {
		Op        string `field:"op"`
		ServiceID uint32 `field:"serviceId"`
		CallID    uint32 `field:"callId"`
		Message   string `field:"message"`
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
		list.Channels = append(list.Channels, advertisedChannel{c.id, c.name, jsonEncoding, c.kind.TypeName(), Schema(c.kind), "jsonschema"})
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
		serverInfo{"serverInfo", "halyard: " + agent.Name(), []string{"clientPublish", "time", "parameters", "services"}, []string{jsonEncoding},
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
	c := &session{server: s, conn: conn, log: log, published: map[uint32]clientChannel{}, last: map[string]string{}, subs: map[uint32]*channel{}}
	c.feed = topics.NewFeed[key](s.robot, name, blocked)
	for _, m := range s.begin {
		c.feed.Answer(outgoing{true, m}, 0)
	}
	c.feed.Subscribe(key{time: true}, &topics.Topic{Kind: topics.Clock}, topics.Settings{})
	return c
}

// run serves until the client leaves or ctx ends, and returns the reason.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.feed.Close() // its body holds still
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cancel()
	writing.Go(func() {
		defer s.server.robot.Rig.Contain("foxglove writer")
		defer cancel() // the reader ends with it
		s.write(ctx)
	})
	return s.read(ctx)
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
		return []outgoing{{false, appendTime(nil, d.Sample.Time)}}
	}
	s.mu.Lock()
	c := s.subs[d.Key.id]
	s.mu.Unlock()
	if c == nil {
		return nil // it has ended meanwhile
	}
	data := func(at time.Duration, m any) {
		if m != nil {
			all = append(all, outgoing{false, appendMessageData(nil, d.Key.id, at, fields.AppendJSON(nil, m, fields.Foxglove))})
		}
	}
	switch {
	case d.Picture != nil:
		data(d.Picture.Time, imageOf(c.topic, d.Picture))
	case c.view == events:
		for _, m := range logs(s.server.robot, d.Sample, s.last) {
			data(d.Sample.Time, m)
		}
	default:
		data(d.Sample.Time, message(s.server.robot, c, d.Sample))
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
		return s.fail(protocols.Unknown, wrong("op: got %.100v, want subscribe, unsubscribe, advertise, unadvertise, getParameters or setParameters", m["op"]))
	}
	if err := handle(b); errors.Is(err, topics.ErrDeaf) {
		return err
	} else if err != nil {
		return s.fail(protocols.Refused, wrong("%s: %w", op, err))
	}
	return nil
}

func (s *session) subscribe(b []byte) error {
	var m struct {
		Subscriptions []struct {
			ID        uint32 `json:"id"`
			ChannelID uint32 `json:"channelId"`
		} `json:"subscriptions"`
	}
	if err := decode(b, &m); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, sub := range m.Subscriptions[:min(len(m.Subscriptions), maxList)] {
		switch {
		case s.subs[sub.ID] != nil:
			errs = append(errs, wrong("id %d: got it twice, want a free one", sub.ID))
		case sub.ChannelID == 0 || int(sub.ChannelID) > len(s.server.channels):
			errs = append(errs, wrong("channelId: got %d, want one that was advertised", sub.ChannelID))
		default:
			c := &s.server.channels[sub.ChannelID-1]
			s.subs[sub.ID] = c
			if !s.feed.Subscribe(key{id: sub.ID}, c.topic, topics.Settings{}) {
				delete(s.subs, sub.ID)
				errs = append(errs, wrong("got more than %d subscriptions", topics.MaxSubscriptions-1))
			}
		}
	}
	return errors.Join(errs...)
}

func (s *session) unsubscribe(b []byte) error {
	var m struct {
		SubscriptionIDs []uint32 `json:"subscriptionIds"`
	}
	if err := decode(b, &m); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, id := range m.SubscriptionIDs[:min(len(m.SubscriptionIDs), maxList)] {
		if delete(s.subs, id); !s.feed.Unsubscribe(key{id: id}) {
			errs = append(errs, wrong("subscription: got %d, want one that there is", id))
		}
	}
	return errors.Join(errs...)
}

// schemas are the schema names accepted on a kind of topic.
var schemas = map[topics.Kind][]string{
	topics.JointCommands: {"foxglove.JointStates", "sensor_msgs/JointState", "sensor_msgs/msg/JointState"},
	topics.Twist:         {"geometry_msgs/Twist", "geometry_msgs/msg/Twist"},
}

func (s *session) advertise(b []byte) error {
	var m struct {
		Channels []struct {
			ID         uint32 `json:"id"`
			Topic      string `json:"topic"`
			Encoding   string `json:"encoding"`
			SchemaName string `json:"schemaName"`
		} `json:"channels"`
	}
	if err := decode(b, &m); err != nil {
		return err
	}
	var errs []error
	for _, c := range m.Channels[:min(len(m.Channels), maxList)] {
		var topic *topics.Topic
		for i := range s.server.topics {
			if t := &s.server.topics[i]; t.Name == c.Topic && t.Command() {
				topic = t
			}
		}
		switch _, have := s.published[c.ID]; {
		case have:
			errs = append(errs, wrong("channel %d: got it twice, want a free id", c.ID))
		case len(s.published) >= maxChannels:
			errs = append(errs, wrong("got more than %d channels", maxChannels))
		case c.Encoding != jsonEncoding:
			errs = append(errs, wrong("channel %d: encoding: got %.100q, want json", c.ID, c.Encoding))
		case topic == nil:
			errs = append(errs, wrong("channel %d: topic: got %.100q, want /joint_commands, or /cmd_vel of a robot with wheels on two sides", c.ID, c.Topic))
		case !contains(schemas[topic.Kind], c.SchemaName):
			errs = append(errs, wrong("channel %d: schemaName: got %.100q, want one of %q", c.ID, c.SchemaName, schemas[topic.Kind]))
		default:
			s.published[c.ID] = clientChannel{topic, c.SchemaName}
		}
	}
	return errors.Join(errs...)
}

func contains(list []string, name string) bool {
	for _, have := range list {
		if have == name {
			return true
		}
	}
	return false
}

func (s *session) unadvertise(b []byte) error {
	var m struct {
		ChannelIDs []uint32 `json:"channelIds"`
	}
	if err := decode(b, &m); err != nil {
		return err
	}
	var errs []error
	for _, id := range m.ChannelIDs[:min(len(m.ChannelIDs), maxList)] {
		if _, have := s.published[id]; !have {
			errs = append(errs, wrong("channel: got %d, want one that was advertised", id))
		}
		delete(s.published, id)
	}
	return errors.Join(errs...)
}

// publish executes a published command.
func (s *session) publish(id uint32, data []byte) error {
	c, ok := s.published[id]
	if !ok {
		return wrong("channel: got %d, want one that was advertised", id)
	}
	in, err := fields.Parse(data)
	if err != nil {
		return wrong("%s: %w", c.topic.Name, err)
	}
	now := s.server.robot.Sample().Time
	if !strings.HasPrefix(c.schema, "foxglove.") {
		_, err := rosbridge.Command(&s.feed.Commander, s.server.robot, c.topic, in, now)
		return err
	}
	var m jointStates
	if _, err := fields.DecodeAs(in, &m, c.schema, fields.Foxglove, fields.At(now)); err != nil {
		return err
	}
	list, _ := in["joints"].([]any)
	given := make([]map[string]any, len(m.Joints))
	for i := range given {
		given[i], _ = list[i].(map[string]any)
	}
	goals, err := m.goals(s.server.robot.Agent.Layout(), given)
	if err != nil {
		return err
	}
	return s.feed.Goals(goals)
}

func (s *session) getParameters(b []byte) error {
	var m struct {
		Names []string `json:"parameterNames"`
		ID    string   `json:"id"`
	}
	if err := decode(b, &m); err != nil {
		return err
	}
	return s.answer(parameterValues{"parameterValues", parameters(s.server.robot.Rig.Values(), m.Names[:min(len(m.Names), maxParameters)]), m.ID})
}

// setParameters sets the valid parameters, and answers with their present values.
func (s *session) setParameters(b []byte) error {
	var m struct {
		Parameters []struct {
			Name  string `json:"name"`
			Value any    `json:"value"`
		} `json:"parameters"`
		ID string `json:"id"`
	}
	if err := decode(b, &m); err != nil {
		return err
	}
	var errs []error
	var names []string
	values := s.server.robot.Rig.Values()
	for _, p := range m.Parameters[:min(len(m.Parameters), maxParameters)] {
		names = append(names, p.Name)
		errs = append(errs, setParameter(values, p.Name, p.Value))
	}
	if m.ID != "" && len(names) > 0 {
		if err := s.answer(parameterValues{"parameterValues", parameters(values, names), m.ID}); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// call calls a service and answers.
func (s *session) call(c *call) error {
	failure := func(text string) error {
		s.server.traffic.Drop(protocols.Refused)
		return s.answer(serviceCallFailure{"serviceCallFailure", c.service, c.id, text})
	}
	if c.service == 0 || int(c.service) > len(services) {
		return failure("Service does not exist")
	}
	if c.encoding != jsonEncoding {
		return failure("encoding: got " + c.encoding + ", want json")
	}
	if len(c.payload) > 0 {
		in, err := fields.Parse(c.payload)
		if err == nil && len(in) > 0 {
			err = wrong("got fields, want none")
		}
		if err != nil {
			return failure("request: " + err.Error())
		}
	}
	r := triggerResponse{Success: true}
	if err := services[c.service-1].do(&s.feed.Commander); err != nil {
		r = triggerResponse{false, err.Error()}
	}
	out := call{c.service, c.id, jsonEncoding, fields.AppendJSON(nil, r, fields.Foxglove)}
	b := out.append(nil, opServiceCallResponse)
	return s.feed.Answer(outgoing{false, b}, len(b))
}

// decode reads a message that has been parsed before, and so is JSON of bounded depth.
func decode(b []byte, m any) error {
	err := json.Unmarshal(b, m)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return wrong("%s: got a %s, want a %s", kind.Field, kind.Value, kind.Type.Kind())
	}
	return err
}
