package rosbridge

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/protocols"
	"github.com/halyard-robotics/halyard/protocols/fields"
	"github.com/halyard-robotics/halyard/protocols/topics"
	"github.com/halyard-robotics/halyard/protocols/ws"
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
var operations = []string{"advertise", "unadvertise", "publish", "subscribe", "unsubscribe", "call_service", "fragment", "png",
	"set_level", "status"}

const (
	maxAdvertised = 64
	maxNesting    = 3 // of fragments and png in one another
)

// The messages of the server.
type (
	statusMessage struct {
		Op    string `field:"op"`
		ID    any    `field:"id,known"`
		Level string `field:"level"`
		Msg   string `field:"msg"`
	}
	publishMessage struct {
		Op    string `field:"op"`
		Topic string `field:"topic"`
		Msg   any    `field:"msg"`
	}
	serviceResponse struct {
		Op      string `field:"op"`
		Service string `field:"service"`
		Values  any    `field:"values"`
		Result  bool   `field:"result"`
		ID      any    `field:"id,known"`
	}
	pngMessage struct {
		Op   string `field:"op"`
		Data string `field:"data"`
	}
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
	advertised map[string]bool // topics that nothing here takes
	fragments  fragments
	refused    int // logged

	mu   sync.Mutex
	subs map[string]*subscription // by the client's name of the topic
	sent int                      // fragmented messages
}

func (s *session) style() fields.Style { return styleOf(s.ros1) }

// run serves until the client leaves or ctx ends, and returns the reason.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.feed.Close() // its body holds still
	var writing sync.WaitGroup
	defer writing.Wait()
	defer cancel()
	writing.Go(func() {
		defer s.server.robot.Rig.Contain("rosbridge writer")
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
		if !text {
			err = s.fail(nil, protocols.Unknown, errorf("Unable to deserialize message from client: got binary data, want JSON"))
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
		out.Msg = imageOf(d.Topic, d.Picture)
	} else if m := message(s.server.robot, d.Topic, d.Sample); m != nil {
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
		return s.fail(nil, protocols.Truncated, errorf("Expected field id to be a string or a number. Invalid value: %.100v", id))
	}
	op, ok := m["op"].(string)
	switch {
	case m["op"] == nil:
		return s.fail(id, protocols.Unknown, errorf("Received a message without an op.  All messages require 'op' field with value one of: %q.", operations))
	case !ok || !slices.Contains(operations, op):
		return s.fail(id, protocols.Unknown, errorf("Unknown operation: %.100v.  Allowed operations: %q", m["op"], operations))
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

// text is a field that holds a text, "" where it may be left out.
func text(m map[string]any, key string, want bool) (string, error) {
	v, given := m[key]
	if !given && want {
		return "", errorf("Expected a %s field but none was found.", key)
	}
	if v, ok := v.(string); ok || !given {
		return v, nil
	}
	return "", errorf("Expected field %s to be a string. Invalid value: %.100v", key, v)
}

// whole is a field that holds a number of at least 0, 0 where it is left out.
func whole(m map[string]any, key string) (int, error) {
	v, given := m[key]
	n, ok := v.(float64)
	if given && v != nil && (!ok || n != math.Trunc(n) || n < 0 || n > math.MaxInt32) {
		return 0, errorf("Expected field %s to be a whole number of at least 0. Invalid value: %.100v", key, v)
	}
	return int(n), nil
}

// compression is how a client wants messages to be packed.
func compression(m map[string]any) (string, error) {
	name, err := text(m, "compression", false)
	switch name {
	case "":
		return "none", err
	case "none", "png", "cbor":
		return name, err
	}
	return "", errorf("compression: got %.100q, want none, png or cbor", name)
}

func fragmentSize(m map[string]any) (int, error) {
	size, err := whole(m, "fragment_size")
	if err == nil && size != 0 && size < minFragment {
		return 0, errorf("fragment_size: got %d, want at least %d", size, minFragment)
	}
	return size, err
}

// sameType reports whether a client's name of a type is that of kind.
func sameType(given string, kind fields.Named) bool {
	plain, _ := plainType(given)
	return plain == kind.TypeName() || kind.TypeName() == "tf2_msgs/TFMessage" && plain == "tf/tfMessage"
}

// conflict is rosbridge's message of a topic with another type.
func conflict(topic string, given string, kind fields.Named) error {
	_, ros1 := plainType(given)
	return errorf("Tried to register topic %s with type %.200s but it is already established with type %s", topic, given, spell(kind.TypeName(), "msg", ros1))
}

func (s *session) subscribe(m map[string]any, id any) error {
	name, err := text(m, "topic", true)
	if err != nil {
		return err
	}
	given, err := text(m, "type", false)
	if err != nil {
		return err
	}
	throttle, err := whole(m, "throttle_rate")
	if err != nil {
		return err
	}
	queue, err := whole(m, "queue_length")
	if err != nil {
		return err
	}
	r := request{settings: topics.Settings{Every: time.Duration(throttle) * time.Millisecond, Queue: queue}}
	if r.fragment, err = fragmentSize(m); err != nil {
		return err
	}
	if r.compress, err = compression(m); err != nil {
		return err
	}
	topic := s.server.topic(name)
	if topic == nil || topic.Command() {
		if given == "" {
			return errorf("Cannot infer topic type for topic %.200s as it is not yet advertised", name)
		}
		if topic != nil && !sameType(given, kinds[topic.Kind]) {
			return conflict(name, given, kinds[topic.Kind])
		}
		if err := s.status(levelWarning, id, "subscribe: nothing publishes "+name); err != nil {
			return ending{err}
		}
		return nil
	}
	if given != "" && !sameType(given, kinds[topic.Kind]) {
		return conflict(name, given, kinds[topic.Kind])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := s.subs[name]
	if sub == nil {
		sub = &subscription{topic: topic, requests: map[string]request{}, ros1: s.ros1}
	}
	if given != "" {
		_, sub.ros1 = plainType(given)
	}
	key := fmt.Sprint(id)
	if _, have := sub.requests[key]; !have && len(sub.requests) >= topics.MaxSubscriptions {
		return errorf("got more than %d subscriptions of %s", topics.MaxSubscriptions, name)
	}
	sub.requests[key] = r
	if !s.feed.Subscribe(name, topic, sub.settle()) {
		return errorf("got more than %d subscriptions", topics.MaxSubscriptions)
	}
	s.subs[name] = sub
	return nil
}

// settle finds what serves all requests: the lowest rate and fragment size, the longest queue.
func (s *subscription) settle() topics.Settings {
	first := true
	var all topics.Settings
	s.fragment, s.compress = 0, "none"
	for _, r := range s.requests {
		if all.Queue = max(all.Queue, r.settings.Queue); first || r.settings.Every < all.Every {
			all.Every = r.settings.Every
		}
		first = false
		if r.fragment > 0 && (s.fragment == 0 || r.fragment < s.fragment) {
			s.fragment = r.fragment
		}
		if r.compress == "cbor" || r.compress == "png" && s.compress == "none" {
			s.compress = r.compress
		}
	}
	return all
}

// unsubscribe ends the request of an id, or without one all of a topic.
func (s *session) unsubscribe(name string, id any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := s.subs[name]
	if sub == nil {
		return
	}
	if id == nil {
		clear(sub.requests)
	}
	delete(sub.requests, fmt.Sprint(id))
	if len(sub.requests) > 0 {
		s.feed.Subscribe(name, sub.topic, sub.settle())
		return
	}
	delete(s.subs, name)
	s.feed.Unsubscribe(name)
}

func (s *session) advertise(m map[string]any, id any) error {
	name, err := text(m, "topic", true)
	if err != nil {
		return err
	}
	given, err := text(m, "type", true)
	if err != nil {
		return err
	}
	topic := s.server.topic(name)
	switch {
	case topic != nil && !sameType(given, kinds[topic.Kind]):
		return conflict(name, given, kinds[topic.Kind])
	case topic != nil && !topic.Command():
		return errorf("Tried to register topic %s, which only the robot publishes", name)
	case len(s.advertised) >= maxAdvertised:
		return errorf("got more than %d topics", maxAdvertised)
	}
	s.advertised[name] = true
	if topic == nil {
		if err := s.status(levelWarning, id, "advertise: nothing subscribes to "+name); err != nil {
			return ending{err}
		}
	}
	return nil
}

// take does what a client publishes.
func (s *session) take(m map[string]any, id any) error {
	name, err := text(m, "topic", true)
	if err != nil {
		return err
	}
	topic := s.server.topic(name)
	switch {
	case topic == nil && s.advertised[name]:
		return nil // advertised, but without subscribers
	case topic == nil:
		return errorf("Cannot infer topic type for topic %.200s as it is not yet advertised", name)
	case !topic.Command():
		return errorf("Tried to publish %s, which only the robot publishes", name)
	}
	in, given := m["msg"]
	if !given {
		in = map[string]any{}
	}
	missing, err := Command(&s.feed.Commander, s.server.robot, topic, in, s.now())
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		if err := s.status(levelWarning, id, "publish: "+name+": filled in "+strings.Join(missing, ", ")); err != nil {
			return ending{err}
		}
	}
	return nil
}

// call calls a service and answers.
func (s *session) call(m map[string]any, id any) error {
	name, err := text(m, "service", true)
	if err != nil {
		return s.fail(id, protocols.Refused, errorf("call_service: %v", err))
	}
	bare := name
	if at := strings.IndexByte(name, '#'); at >= 0 { // an older way to give an id
		if bare = name[:at]; id == nil {
			id = name[at+1:]
		}
	}
	size, err := fragmentSize(m)
	var values any
	if err == nil {
		values, err = s.do(bare, m["args"])
	}
	if err != nil {
		if err := s.fail(id, protocols.Refused, errorf("call_service: %v", err)); err != nil {
			return err
		}
		return s.answer(serviceResponse{"service_response", name, err.Error(), false, id}, 0, nil)
	}
	return s.answer(serviceResponse{"service_response", name, values, true, id}, size, id)
}

func (s *session) do(name string, args any) (any, error) {
	v := s.server.service(name)
	if v == nil {
		return nil, errorf("Service %.200s does not exist", name)
	}
	request := reflect.New(reflect.TypeOf(v.request))
	if list, ok := args.([]any); ok { // arguments in their order
		all := fields.Of(request.Type().Elem(), s.style())
		if len(list) > len(all) {
			return nil, errorf("%s: got %d arguments, want %d", v.name, len(list), len(all))
		}
		object := map[string]any{}
		for i := range list {
			object[all[i].Name] = list[i]
		}
		args = object
	}
	if args == nil {
		args = map[string]any{}
	}
	if _, err := fields.DecodeAs(args, request.Interface(), v.kind, s.style(), fields.Time{}); err != nil {
		return nil, err
	}
	return v.do(s, request.Interface())
}
