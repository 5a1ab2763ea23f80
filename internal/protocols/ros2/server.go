package ros2

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/rtps"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
	"github.com/halyard-robotics/halyard/protocols"
)

const (
	maxCommanders = 16 // participants that command at one time
	watchEvery    = time.Second
	maxLogged     = 16 // refused messages
	// maxStampAge is how old a stamped twist may be.
	maxStampAge = 500 * time.Millisecond
)

// Options are a server's. The zero value is domain 0, no namespace and a node named like its agent.
type Options struct {
	Domain    uint32
	Namespace string
	Partial   bool // accept trajectories of some of the joints
	Log       *slog.Logger
}

// Server is the ROS 2 node of one agent.
type Server struct {
	robot   *topics.Robot
	node    *Node
	log     *slog.Logger
	topics  []topics.Topic
	outputs map[int]*Publisher // by the topic's index
	raw     map[int][2]*Publisher
	fixed   func()      // sends what is sent once
	modes   [2][]string // joints with goals of position and of velocity
	traffic protocols.Traffic
	control controllers
	follow  *follow
	jobs    chan job

	mu         sync.Mutex
	commanders map[rtps.Prefix]*topics.Commander
	refused    int
	ended      bool
}

// NewServer returns the node of a robot over t, which it owns once it has returned one.
func NewServer(t rtps.Transport, robot *topics.Robot, o Options) (*Server, error) {
	all, err := robot.Topics()
	if err != nil {
		return nil, err
	}
	s := &Server{robot: robot, log: protocols.Logger(o.Log), topics: all, outputs: map[int]*Publisher{},
		raw: map[int][2]*Publisher{}, commanders: map[rtps.Prefix]*topics.Commander{},
		jobs: make(chan job, 64)}
	if s.node, err = NewNode(t, rtps.Options{Domain: o.Domain, Contain: robot.Rig.Contain}, o.Namespace,
		Name(robot.Agent.Name())); err != nil {
		return nil, err
	}
	l := robot.Agent.Layout()
	for i := range l.Actuators {
		a := &l.Actuators[i]
		if a.Goal[hal.PositionMode] != hal.None {
			s.modes[0] = append(s.modes[0], a.Name)
		}
		if a.Goal[hal.VelocityMode] != hal.None {
			s.modes[1] = append(s.modes[1], a.Name)
		}
	}
	for _, f := range []func() error{s.publishers, s.subscriptions, s.services, s.controllers, s.parameters,
		func() error { return s.newFollow(o.Partial) }} {
		if err := f(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Traffic counts messages, and those that were refused.
func (s *Server) Traffic() *protocols.Traffic { return &s.traffic }

// relative is a topic's name in the node's namespace; those of the whole system have none.
func relative(name string) string {
	switch name {
	case "/tf", "/tf_static", "/clock", "/diagnostics":
		return name
	}
	return strings.TrimPrefix(name, "/")
}

// publishers adds what the robot sends.
func (s *Server) publishers() (err error) {
	add := func(name string, m fields.Named, q Quality) *Publisher {
		if err != nil {
			return nil
		}
		var p *Publisher
		p, err = s.node.Publish(relative(name), m, q)
		return p
	}
	for i := range s.topics {
		t := &s.topics[i]
		q := Default
		switch {
		case t.Command():
			continue
		case t.Kind == topics.Clock && !s.simulatedTime():
			continue
		case t.Kind == topics.Scan || t.Kind == topics.Range || t.Kind == topics.IMU:
			q = Sensor
		case t.Kind == topics.Image:
			base := strings.TrimSuffix(t.Name, "/compressed")
			q = Quality{Reliable: true, Depth: 1}
			s.raw[i] = [2]*Publisher{add(base+"/image_raw", &rosmsg.Image{}, q), add(base+"/camera_info",
				&rosmsg.CameraInfo{}, q)}
			s.outputs[i] = add(base+"/image_raw/compressed", &rosmsg.CompressedImage{}, q)
			continue
		case t.Kind == topics.Transforms:
			q.Depth = 100
		}
		s.outputs[i] = add(t.Name, rosmsg.Type(t.Kind), q)
	}
	static := add("/tf_static", &rosmsg.TFMessage{}, Latched)
	description := add("robot_description", &rosmsg.String{}, Latched)
	s.fixed = func() {
		now := s.robot.Sample()
		if m := rosmsg.Static(now); len(m.Transforms) > 0 {
			static.Send(m)
		}
		if urdf := URDF(s.robot); urdf != "" {
			description.Send(&rosmsg.String{Data: urdf})
		}
	}
	return err
}

// simulatedTime reports whether stamps count simulated time, so that ROS needs /clock.
func (s *Server) simulatedTime() bool {
	return s.robot.Rig.Mode() == hal.Lockstep || s.robot.Agent.BodyKind() == hal.Simulated
}

// Serve serves until ctx ends; bodies hold still.
func (s *Server) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rig := s.robot.Rig
	feed := topics.NewFeed[int](s.robot, "ros2", func() time.Duration { return 0 })
	var running sync.WaitGroup
	spawn := func(what string, f func()) {
		running.Go(func() {
			defer rig.Contain(what)
			defer cancel()
			f()
		})
	}
	spawn("ros2 watch", func() { s.watch(ctx, feed) })
	spawn("ros2 writer", func() { s.write(ctx, feed) })
	spawn("ros2 trajectory", func() { s.follow.run(ctx) })
	spawn("ros2 results", func() { s.follow.answer(ctx) })
	for i, out := range s.raw {
		spawn("ros2 camera", func() { s.pictures(ctx, &s.topics[i], out) })
	}
	err := s.node.Run(ctx)
	cancel()
	running.Wait()
	s.mu.Lock()
	s.ended = true
	all := s.commanders
	s.commanders = nil
	s.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
	feed.Close()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// watch follows peers: it samples only what has readers, and ends the commanders of those that left.
func (s *Server) watch(ctx context.Context, feed *topics.Feed[int]) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	on := map[int]bool{}
	s.fixed()
	for {
		for i, p := range s.outputs {
			if want := p.Matched(); want != on[i] {
				if on[i] = want; want {
					feed.Subscribe(i, &s.topics[i], topics.Settings{})
				} else {
					feed.Unsubscribe(i)
				}
			}
		}
		s.node.tell()
		s.prune()
		select {
		case <-s.node.p.Changed():
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// prune ends what belongs to peers that have left.
func (s *Server) prune() {
	var gone []*topics.Commander
	s.mu.Lock()
	for prefix, c := range s.commanders {
		if !s.node.p.Alive(prefix) {
			gone = append(gone, c)
			delete(s.commanders, prefix)
		}
	}
	s.mu.Unlock()
	s.follow.prune()
	for _, c := range gone {
		c.Close()
	}
}

// write sends samples until ctx ends.
func (s *Server) write(ctx context.Context, feed *topics.Feed[int]) {
	for {
		d, err := feed.Next(ctx)
		if err != nil {
			return
		}
		var m fields.Named
		switch {
		case d.Picture != nil:
			m = rosmsg.ImageOf(d.Topic, d.Picture)
		case d.Sample != nil && d.Topic.Kind == topics.Transforms:
			m = rosmsg.Moving(d.Sample, d.Topic)
		case d.Sample != nil:
			m = rosmsg.Message(s.robot, d.Topic, d.Sample)
		}
		if m == nil {
			continue
		}
		s.outputs[d.Key].Send(m)
		s.traffic.Send()
	}
}

// pictures sends a camera's pictures as they are while they have readers.
func (s *Server) pictures(ctx context.Context, t *topics.Topic, out [2]*Publisher) {
	wanted := func() bool { return out[0].Matched() || out[1].Matched() }
	for ctx.Err() == nil {
		if wanted() {
			s.stream(ctx, t, out, wanted)
		}
		select {
		case <-time.After(watchEvery / 4):
		case <-ctx.Done():
		}
	}
}

func (s *Server) stream(ctx context.Context, t *topics.Topic, out [2]*Publisher, wanted func() bool) {
	images, err := s.robot.Cameras.Watch(t.At)
	if err != nil {
		return
	}
	defer images.Close()
	for last := uint64(0); wanted(); {
		p, err := images.Next(ctx, last)
		if err != nil {
			return
		}
		last = p.Sequence
		stamp := s.robot.Label(p.Time)
		if m := rosmsg.RawImage(t, p, stamp); m != nil {
			out[0].Send(m)
			out[1].Send(rosmsg.CameraInfoOf(s.robot, t, p, stamp))
		}
		p.Release()
		select {
		case <-time.After(rawEvery):
		case <-ctx.Done():
		}
	}
}

// rawEvery is the shortest time between two pictures.
const rawEvery = 33 * time.Millisecond

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
