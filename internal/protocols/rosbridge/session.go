package rosbridge

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/internal/protocols/ws"
	"github.com/halyard-robotics/halyard/protocols"
)

// level is which status messages a client gets: those of its level and above.
type level uint8

const (
	levelInfo level = iota
	levelWarning
	levelError
	levelNone
)

var levels = [...]string{"info", "warning", "error", "none"}

// operations are what clients may send.
var operations = []string{"advertise", "unadvertise", "publish", "subscribe", "unsubscribe", "call_service", "fragment",
	"png", "set_level", "status"}

const (
	maxAdvertised = 64
	maxNesting    = 3 // of fragments and png in one another
)

// The messages of the server.
type (
	statusMessage struct {
		Op         string
		ID         any `field:",known"`
		Level, Msg string
	}
	publishMessage struct {
		Op, Topic string
		Msg       any
	}
	serviceResponse struct {
		Op, Service string
		Values      any
		Result      bool
		ID          any `field:",known"`
	}
	pngMessage struct{ Op, Data string }
)

// outgoing is an answer, ready to be sent.
type outgoing struct{ messages [][]byte }

// subscription is a client's requests for one topic, by their ids.
type subscription struct {
	topic    *topics.Topic
	requests map[string]request
	ros1     bool
	fragment int // 0: none
	compress string
}

type request struct {
	settings topics.Settings
	fragment int
	compress string
}

// session is one client. Its reader, the goroutine of run, handles messages; its writer sends answers and what is
// subscribed.
type session struct {
	server *Server
	conn   *ws.Conn
	log    *slog.Logger
	feed   *topics.Feed[string]

	// The reader's.
	ros1       bool
	level      level
	advertised map[string]bool // topics without subscribers
	fragments  fragments
	refused    int // logged

	mu   sync.Mutex
	subs map[string]*subscription // by the client's name of the topic
	sent int                      // fragmented messages
}

func (s *session) style() fields.Style { return styleOf(s.ros1) }

// run serves until the client leaves or ctx ends, and returns the reason.
func (s *session) run(ctx context.Context) error {
	return s.feed.Run(ctx, s.server.robot.Rig, "rosbridge writer", s.write, s.read)
}

func (s *session) read(ctx context.Context) error {
	for {
		text, b, err := s.conn.Read(ctx)
		if err != nil {
			return err
		}
		s.server.traffic.Receive()
		if !text {
			err = s.fail(nil, protocols.Unknown,
				errorf("Unable to deserialize message from client: got binary data, want JSON"))
		} else {
			err = s.incoming(b, 0)
		}
		if err != nil {
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
		if out, ok := d.Answer.(outgoing); ok {
			for _, m := range out.messages {
				if s.send(ctx, true, m) != nil {
					return
				}
			}
			continue
		}
		if s.publish(ctx, d) != nil {
			return
		}
	}
}

func (s *session) send(ctx context.Context, text bool, b []byte) error {
	err := s.conn.Write(ctx, text, b)
	if err != nil {
		s.server.traffic.Drop(protocols.Unsent)
		return err
	}
	s.server.traffic.Send()
	return nil
}

// publish sends a sample or a picture as its subscription wants it.
func (s *session) publish(ctx context.Context, d topics.Delivery[string]) error {
	s.mu.Lock()
	sub := s.subs[d.Key]
	if sub == nil {
		s.mu.Unlock()
		return nil // it has ended meanwhile
	}
	size, compress, ros1 := sub.fragment, sub.compress, sub.ros1
	s.sent++
	number := s.sent
	s.mu.Unlock()
	out := publishMessage{"publish", d.Key, nil}
	if d.Picture != nil {
		out.Msg = rosmsg.ImageOf(d.Topic, d.Picture)
	} else if m := rosmsg.Message(s.server.robot, d.Topic, d.Sample); m != nil {
		out.Msg = m
	} else {
		return nil
	}
	if compress == "cbor" {
		return s.send(ctx, false, fields.AppendCBOR(nil, out, styleOf(ros1)))
	}
	text := fields.AppendJSON(nil, out, styleOf(ros1))
	if compress == "png" {
		text = fields.AppendJSON(nil, pngMessage{"png", string(toPNG(text))}, fields.ROS2)
	}
	if size == 0 || len(text) <= size {
		return s.send(ctx, true, text)
	}
	for _, piece := range split(text, size, fmt.Sprint(number)) {
		if err := s.send(ctx, true, piece); err != nil {
			return err
		}
	}
	return nil
}

// answer queues a message, in fragments where it is longer than size.
func (s *session) answer(m any, size int, id any) error {
	text := fields.AppendJSON(nil, m, s.style())
	out := outgoing{[][]byte{text}}
	if size > 0 && len(text) > size {
		if id == nil {
			id = "answer"
		}
		out.messages = split(text, size, id)
	}
	return s.feed.Answer(out, len(text))
}

// status sends a status message where the client wants it.
func (s *session) status(l level, id any, text string) error {
	if l < s.level {
		return nil
	}
	return s.answer(statusMessage{"status", id, levels[l], text}, 0, nil)
}

// fail reports a message that is not done.
func (s *session) fail(id any, cause protocols.Cause, err error) error {
	s.server.traffic.Drop(cause)
	const most = 16
	if s.refused++; s.refused <= most {
		s.log.Warn("rosbridge: message refused", "fault", err)
	}
	return s.status(levelError, id, err.Error())
}

// incoming handles one message. Its error ends the session.
func (s *session) incoming(b []byte, depth int) error {
	m, err := fields.Parse(b)
	if err != nil {
		return s.fail(nil, protocols.Truncated, errorf("Unable to deserialize message from client: %v", err))
	}
	id := m["id"]
	switch id.(type) {
	case nil, string, float64:
	default:
		return s.fail(nil, protocols.Truncated,
			errorf("Expected field id to be a string or a number. Invalid value: %.100v", id))
	}
	op, ok := m["op"].(string)
	switch {
	case m["op"] == nil:
		return s.fail(id, protocols.Unknown,
			errorf("Received a message without an op.  All messages require 'op' field with value one of: %q.",
				operations))
	case !ok || !slices.Contains(operations, op):
		return s.fail(id, protocols.Unknown, errorf("Unknown operation: %.100v.  Allowed operations: %q", m["op"],
			operations))
	}
	if op == "call_service" {
		return s.call(m, id)
	}
	if err := s.handle(op, m, id, depth); err != nil {
		if _, ok := err.(ending); ok {
			return err
		}
		return s.fail(id, protocols.Refused, errorf("%s: %v", op, err))
	}
	return nil
}

// ending is an error that ends the session.
type ending struct{ error }

func (s *session) handle(op string, m map[string]any, id any, depth int) error {
	end := func(err error) error {
		if err != nil {
			return ending{err}
		}
		return nil
	}
	switch op {
	case "subscribe":
		return s.subscribe(m, id)
	case "unsubscribe":
		topic, err := text(m, "topic", true)
		if err != nil {
			return err
		}
		s.unsubscribe(topic, id)
		return nil
	case "advertise":
		return s.advertise(m, id)
	case "unadvertise":
		topic, err := text(m, "topic", true)
		if err != nil {
			return err
		}
		if !s.advertised[topic] {
			return end(s.status(levelWarning, id, "unadvertise: "+topic+" is not advertised"))
		}
		delete(s.advertised, topic)
		return nil
	case "publish":
		return s.take(m, id)
	case "set_level":
		name, err := text(m, "level", true)
		if err != nil {
			return err
		}
		if i := slices.Index(levels[:], name); i >= 0 {
			s.level = level(i) // a bad one is dropped
		}
		return nil
	case "status":
		return nil // a client's own log
	}
	if depth >= maxNesting {
		return errorf("got fragments within fragments")
	}
	whole, ok := m["data"].(string)
	if _, several := m["total"]; op == "fragment" || several {
		var err error
		if whole, err = s.fragments.add(m, maxMessage); err != nil || whole == "" {
			return err
		}
	} else if !ok {
		return errorf("Expected a data field but none was found.")
	}
	if op == "png" {
		b, err := fromPNG(whole, maxMessage)
		if err != nil {
			return err
		}
		whole = string(b)
	}
	return end(s.incoming([]byte(whole), depth+1))
}
