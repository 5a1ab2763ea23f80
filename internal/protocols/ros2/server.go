package ros2

import (
	"context"
	"errors"
	"log/slog"
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
