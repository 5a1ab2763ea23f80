package rosbridge

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/protocols"
)

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
	return errorf("Tried to register topic %s with type %.200s but it is already established with type %s", topic,
		given, spell(kind.TypeName(), "msg", ros1))
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
		if topic != nil && !sameType(given, rosmsg.Type(topic.Kind)) {
			return conflict(name, given, rosmsg.Type(topic.Kind))
		}
		if err := s.status(levelWarning, id, "subscribe: nothing publishes "+name); err != nil {
			return ending{err}
		}
		return nil
	}
	if given != "" && !sameType(given, rosmsg.Type(topic.Kind)) {
		return conflict(name, given, rosmsg.Type(topic.Kind))
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
	case topic != nil && !sameType(given, rosmsg.Type(topic.Kind)):
		return conflict(name, given, rosmsg.Type(topic.Kind))
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
	missing, err := rosmsg.Command(&s.feed.Commander, s.server.robot, topic, in, s.now())
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
