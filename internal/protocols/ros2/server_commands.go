package ros2

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/rtps"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/protocols"
)

// commander returns the commander of a peer.
func (s *Server) commander(from rtps.Prefix) (*topics.Commander, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.commanders[from]; c != nil {
		return c, nil
	}
	switch {
	case s.ended:
		return nil, errors.New("ros2: the server ends")
	case !s.node.p.Alive(from):
		return nil, errors.New("ros2: the participant has left")
	case len(s.commanders) >= maxCommanders:
		return nil, fmt.Errorf("ros2: got more than %d participants that command", maxCommanders)
	}
	c := topics.NewCommander(s.robot, s.client(from), func() time.Duration { return 0 }, topics.Deadline)
	s.commanders[from] = c
	return c, nil
}

// client names a participant in messages of the rig.
func (s *Server) client(from rtps.Prefix) string { return fmt.Sprintf("ros2@%x", from[:]) }

// refuse counts what a client must not do, and logs the first of it.
func (s *Server) refuse(err error) {
	s.traffic.Drop(protocols.Refused)
	s.mu.Lock()
	s.refused++
	log := s.refused <= maxLogged
	s.mu.Unlock()
	if log {
		s.log.Warn("ros2: message refused", "agent", s.robot.Agent.Name(), "fault", err)
	}
}

// job is a command on its way from the network to its commander.
type job struct {
	from rtps.Prefix
	m    any
	do   func(c *topics.Commander, from rtps.Prefix, m any) error
}

// work does the commands of clients, one after the other.
func (s *Server) work(ctx context.Context) {
	for {
		select {
		case j := <-s.jobs:
			c, err := s.commander(j.from)
			if err == nil {
				err = j.do(c, j.from, j.m)
			}
			if err != nil {
				s.refuse(err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// command subscribes to a topic that clients publish.
func (s *Server) command(topic string, m fields.Named, do func(*topics.Commander, rtps.Prefix, any) error) error {
	return s.node.Subscribe(topic, m, Quality{Depth: 1}, func(from rtps.GUID, m any) {
		s.traffic.Receive()
		select {
		case s.jobs <- job{from.Prefix, m, do}:
		default:
			s.refuse(fmt.Errorf("%s: got commands faster than they are done", topic))
		}
	}, s.refuse)
}

// subscriptions adds the topics that clients publish.
func (s *Server) subscriptions() error {
	s.node.running = append(s.node.running, s.work)
	var failed error
	add := func(topic string, m fields.Named, do func(c *topics.Commander, m any) error) {
		failed = errors.Join(failed, s.command(topic, m, func(c *topics.Commander, _ rtps.Prefix, m any) error {
			return do(c, m)
		}))
	}
	if s.robot.Drive != nil {
		add("cmd_vel", &rosmsg.Twist{}, func(c *topics.Commander, m any) error {
			return rosmsg.Apply(c, s.robot, m.(*rosmsg.Twist))
		})
		add("cmd_vel", &rosmsg.TwistStamped{}, func(c *topics.Commander, m any) error {
			t := m.(*rosmsg.TwistStamped)
			if at := t.Header.Stamp; at != (fields.Time{}) {
				now := s.robot.Label(s.robot.Sample().Time)
				sent := time.Duration(at.Sec)*time.Second + time.Duration(at.Nsec)
				if age := now - sent; age > maxStampAge {
					return fmt.Errorf("cmd_vel: got a stamp %v old, want at most %v", age, maxStampAge)
				}
			}
			return rosmsg.Apply(c, s.robot, &t.Twist)
		})
	}
	add("joint_commands", &rosmsg.JointState{}, func(c *topics.Commander, m any) error {
		return rosmsg.Apply(c, s.robot, m.(*rosmsg.JointState))
	})
	for i, mode := range [...]hal.Mode{hal.PositionMode, hal.VelocityMode} {
		if len(s.modes[i]) == 0 {
			continue
		}
		name := forward[i]
		add(name+"/commands", &rosmsg.Float64MultiArray{}, func(c *topics.Commander, m any) error {
			if !s.control.is(name) {
				return fmt.Errorf("%s: the controller is inactive (try: switch_controller)", name)
			}
			return s.forward(c, mode, s.modes[i], m.(*rosmsg.Float64MultiArray).Data)
		})
	}
	return failed
}

// forward are the controllers that pass goals on.
var forward = [...]string{"position_controller", "velocity_controller"}

// forward commands one goal a joint, in the order of the controller's joints; NaN commands nothing.
func (s *Server) forward(c *topics.Commander, mode hal.Mode, names []string, values []float64) error {
	if len(values) != len(names) {
		return fmt.Errorf("%v commands: got %d values, want %d: %s", mode, len(values), len(names),
			strings.Join(names, " "))
	}
	var goals []topics.Goal
	for i, v := range values {
		if !math.IsNaN(v) {
			goals = append(goals, topics.Goal{Actuator: s.robot.Agent.Layout().Actuator(names[i]), Mode: mode,
				Value: v})
		}
	}
	return c.Goals(goals)
}

// services adds the orders of an operator's kind.
func (s *Server) services() error {
	for name, act := range map[string]func(c *topics.Commander, client string) error{
		"stop":  func(c *topics.Commander, _ string) error { return c.Stop() },
		"reset": func(c *topics.Commander, _ string) error { return c.Reset() },
		"arm":   func(c *topics.Commander, _ string) error { return c.Arm() },
		"disarm": func(_ *topics.Commander, client string) error {
			s.robot.Agent.RequestDisarm(client)
			return nil
		},
	} {
		err := s.node.Serve(name, &rosmsg.TriggerRequest{}, &rosmsg.Trigger{}, Default,
			func(ctx context.Context, call *Call) {
				s.traffic.Receive()
				c, err := s.commander(call.From)
				if c == nil && name == "stop" { // the stop asks for nothing
					err = s.robot.Stop(s.client(call.From))
				} else if err == nil {
					err = act(c, s.client(call.From))
				}
				answer := &rosmsg.Trigger{Success: err == nil}
				if err != nil {
					answer.Message = err.Error()
				}
				call.Reply(ctx, answer)
			}, s.refuse)
		if err != nil {
			return err
		}
	}
	return nil
}

// parameters adds the node's parameters, which can be read only.
func (s *Server) parameters() error {
	const boolType, doubleType, stringType, stringsType = 1, 3, 4, 9
	all := []rosmsg.Parameter{
		{Name: "joints", Value: rosmsg.ParameterValue{Type: stringsType, StringArrayValue: s.names()}},
		{Name: "robot_description", Value: rosmsg.ParameterValue{Type: stringType, StringValue: URDF(s.robot)}},
		{Name: "update_rate", Value: rosmsg.ParameterValue{Type: doubleType,
			DoubleValue: 1 / s.robot.Rig.Period().Seconds()}},
		{Name: "use_sim_time", Value: rosmsg.ParameterValue{Type: boolType, BoolValue: s.simulatedTime()}},
	}
	find := func(name string) (p rosmsg.Parameter) {
		if i := slices.IndexFunc(all, func(p rosmsg.Parameter) bool { return p.Name == name }); i >= 0 {
			p = all[i]
		}
		return p
	}
	readOnly := func(name string) rosmsg.SetParametersResult {
		return rosmsg.SetParametersResult{Reason: fmt.Sprintf("set %.100s: got a parameter that is read-only", name)}
	}
	var failed error
	add := func(name string, request, reply fields.Named, do func(any) any) {
		failed = errors.Join(failed, s.node.Serve(s.node.name+"/"+name, request, reply, Params,
			func(ctx context.Context, c *Call) { call := do(c.Request); c.Reply(ctx, call) }, s.refuse))
	}
	add("get_parameters", &rosmsg.GetParametersRequest{}, &rosmsg.GetParameters{}, func(m any) any {
		out := &rosmsg.GetParameters{}
		for _, name := range m.(*rosmsg.GetParametersRequest).Names {
			out.Values = append(out.Values, find(name).Value)
		}
		return out
	})
	add("get_parameter_types", &rosmsg.GetParameterTypesRequest{}, &rosmsg.GetParameterTypes{}, func(m any) any {
		out := &rosmsg.GetParameterTypes{}
		for _, name := range m.(*rosmsg.GetParameterTypesRequest).Names {
			out.Types = append(out.Types, find(name).Value.Type)
		}
		return out
	})
	add("set_parameters", &rosmsg.SetParametersRequest{}, &rosmsg.SetParameters{}, func(m any) any {
		out := &rosmsg.SetParameters{}
		for _, p := range m.(*rosmsg.SetParametersRequest).Parameters {
			out.Results = append(out.Results, readOnly(p.Name))
		}
		return out
	})
	add("set_parameters_atomically", &rosmsg.SetAtomicallyRequest{}, &rosmsg.SetAtomically{}, func(m any) any {
		out := &rosmsg.SetAtomically{Result: rosmsg.SetParametersResult{Successful: true}}
		if list := m.(*rosmsg.SetAtomicallyRequest).Parameters; len(list) > 0 {
			out.Result = readOnly(list[0].Name)
		}
		return out
	})
	add("list_parameters", &rosmsg.ListParametersRequest{}, &rosmsg.ListParameters{}, func(m any) any {
		out := &rosmsg.ListParameters{}
		prefixes := m.(*rosmsg.ListParametersRequest).Prefixes
		for _, p := range all {
			if len(prefixes) == 0 || slices.Contains(prefixes, p.Name) {
				out.Result.Names = append(out.Result.Names, p.Name)
			}
		}
		return out
	})
	add("describe_parameters", &rosmsg.DescribeParametersRequest{}, &rosmsg.DescribeParameters{}, func(m any) any {
		out := &rosmsg.DescribeParameters{}
		for _, name := range m.(*rosmsg.DescribeParametersRequest).Names {
			out.Descriptors = append(out.Descriptors,
				rosmsg.ParameterDescriptor{Name: name, Type: find(name).Value.Type,
					ReadOnly: true})
		}
		return out
	})
	return failed
}

// names are the joints, in the order of joint_states.
func (s *Server) names() (all []string) {
	l := s.robot.Agent.Layout()
	for i := range l.Actuators {
		all = append(all, l.Actuators[i].Name)
	}
	return all
}
