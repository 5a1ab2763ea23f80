package foxglove

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/protocols"
)

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
			errs = append(errs, wrong("id %d: used twice, want a free id", sub.ID))
		case sub.ChannelID == 0 || int(sub.ChannelID) > len(s.server.channels):
			errs = append(errs, wrong("channelId: got %d, want an advertised channel", sub.ChannelID))
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
			errs = append(errs, wrong("subscription: got %d, want an open subscription", id))
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
			errs = append(errs, wrong("channel %d: used twice, want a free id", c.ID))
		case len(s.published) >= maxChannels:
			errs = append(errs, wrong("got more than %d channels", maxChannels))
		case c.Encoding != jsonEncoding:
			errs = append(errs, wrong("channel %d: encoding: got %.100q, want json", c.ID, c.Encoding))
		case topic == nil:
			errs = append(errs, wrong("channel %d: topic: got %.100q, want /joint_commands, or /cmd_vel of a robot "+
				"with wheels on two sides", c.ID, c.Topic))
		case !slices.Contains(schemas[topic.Kind], c.SchemaName):
			errs = append(errs, wrong("channel %d: schemaName: got %.100q, want one of %q", c.ID, c.SchemaName,
				schemas[topic.Kind]))
		default:
			s.published[c.ID] = clientChannel{topic, c.SchemaName}
		}
	}
	return errors.Join(errs...)
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
			errs = append(errs, wrong("channel: got %d, want an advertised channel", id))
		}
		delete(s.published, id)
	}
	return errors.Join(errs...)
}

// publish executes a published command.
func (s *session) publish(id uint32, data []byte) error {
	c, ok := s.published[id]
	if !ok {
		return wrong("channel: got %d, want an advertised channel", id)
	}
	in, err := fields.Parse(data)
	if err != nil {
		return wrong("%s: %w", c.topic.Name, err)
	}
	now := s.server.robot.Sample().Time
	if !strings.HasPrefix(c.schema, "foxglove.") {
		_, err := rosmsg.Command(&s.feed.Commander, s.server.robot, c.topic, in, now)
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
	return s.answer(parameterValues{"parameterValues",
		parameters(s.server.robot.Rig.Values(), m.Names[:min(len(m.Names), maxParameters)]), m.ID})
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
