package ros2

import (
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/cdr"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/rtps"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// wire is a network in memory.
type wire struct {
	mu    sync.Mutex
	boxes map[netip.AddrPort]*plug
}

type plug struct {
	*wire
	at    netip.AddrPort
	box   chan []byte
	once  sync.Once
	ended chan struct{}
}

func (w *wire) plug() *plug {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := &plug{wire: w, box: make(chan []byte, 4096), ended: make(chan struct{}),
		at: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(7410+len(w.boxes)))}
	w.boxes[p.at] = p
	return p
}

func (p *plug) Serve(handle func([]byte, netip.AddrPort)) {
	for {
		select {
		case b := <-p.box:
			handle(b, p.at)
		case <-p.ended:
			return
		}
	}
}

func (p *plug) Send(b []byte, to netip.AddrPort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if q := p.boxes[to]; q != nil {
		select {
		case q.box <- append([]byte(nil), b...):
		default:
		}
	}
}

func (p *plug) Addresses() []netip.AddrPort { return []netip.AddrPort{p.at} }
func (p *plug) Announce() (all []netip.AddrPort) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at := range p.boxes {
		all = append(all, at)
	}
	return all
}
func (p *plug) Reachable(netip.AddrPort) bool { return true }
func (p *plug) Sizes() (int, int)             { return 65000, 32000 }
func (p *plug) Close() error                  { p.once.Do(func() { close(p.ended) }); return nil }

// client is a node that a test drives.
type client struct {
	*Node
	end func()
}

// newStage runs a rover with a ROS 2 node named rover in namespace /r, and a client of it.
func newStage(t *testing.T, c topicstest.Config) (*topicstest.Stage, *wire, *Server) {
	w := &wire{boxes: map[netip.AddrPort]*plug{}}
	var server *Server
	s := topicstest.New(t, c, func(_ net.Listener, r *topics.Robot) (topicstest.Server, error) {
		var err error
		server, err = NewServer(w.plug(), r, Options{Namespace: "/r"})
		return server, err
	})
	return s, w, server
}

func newClient(t *testing.T, w *wire, name string, build func(*Node)) *client {
	n, err := NewNode(w.plug(), rtps.Options{}, "/r", name)
	if err != nil {
		t.Fatal(err)
	}
	build(n)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx) })
	c := &client{n, func() { cancel(); running.Wait() }}
	t.Cleanup(c.end)
	return c
}

// caller calls one service in the form of Fast DDS.
type caller struct {
	requests *Publisher
	replies  chan any
}

func (n *Node) caller(t *testing.T, name string, request, reply fields.Named) *caller {
	c := &caller{replies: make(chan any, 16)}
	var err error
	if c.requests, err = n.writer("rq/"+n.resolve(name)+"Request", request, Default, ""); err != nil {
		t.Fatal(err)
	}
	codec, err := cdr.Compile(reply)
	if err != nil {
		t.Fatal(err)
	}
	kind := typeOf(reply)
	if err := n.reader("rr/"+n.resolve(name)+"Reply", reply, Default, "", func(s *rtps.Sample) {
		m := reflect.New(kind).Interface()
		if s.Related.Writer != c.requests.GUID() {
			return
		}
		if err := codec.Decode(s.Payload, m); err != nil {
			t.Error(err)
		}
		c.replies <- m
	}); err != nil {
		t.Fatal(err)
	}
	return c
}

// call sends a request and waits for its reply; nil: none came.
func (c *caller) call(m any) any {
	c.requests.Send(m)
	select {
	case r := <-c.replies:
		return r
	case <-time.After(5 * time.Second):
		return nil
	}
}

// box keeps the last message of a topic and counts them.
type box struct {
	mu   sync.Mutex
	n    int
	last any
}

func (b *box) take(_ rtps.GUID, m any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n++
	b.last = m
}

func (b *box) get() (int, any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n, b.last
}

func ignore(error) {}

// TestTopics: a client finds the robot's topics, each reading once; what it publishes moves it, and its deadline ends
// that.
func TestTopics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w, _ := newStage(t, topicstest.Config{Mode: hal.Realtime, ScanEvery: 5})
		boxes := map[string]*box{}
		var twist, stamped, forward *Publisher
		newClient(t, w, "viewer", func(n *Node) {
			for name, m := range map[string]fields.Named{"joint_states": &rosmsg.JointState{},
				"/tf":        &rosmsg.TFMessage{},
				"/tf_static": &rosmsg.TFMessage{}, "scan": &rosmsg.LaserScan{}, "imu/data": &rosmsg.IMU{},
				"odom": &rosmsg.Odometry{}, "range/front": &rosmsg.Range{}, "/clock": &rosmsg.Clock{},
				"robot_description": &rosmsg.String{}, "/diagnostics": &rosmsg.DiagnosticArray{},
				"camera/image_raw": &rosmsg.Image{}, "camera/camera_info": &rosmsg.CameraInfo{},
				"camera/image_raw/compressed": &rosmsg.CompressedImage{}} {
				boxes[name] = &box{}
				q := Default
				if name == "/tf_static" || name == "robot_description" {
					q = Latched
				}
				if err := n.Subscribe(name, m, q, boxes[name].take, ignore); err != nil {
					t.Fatal(err)
				}
			}
			twist, _ = n.Publish("cmd_vel", &rosmsg.Twist{}, Default)
			stamped, _ = n.Publish("cmd_vel", &rosmsg.TwistStamped{}, Default)
			forward, _ = n.Publish("position_controller/commands", &rosmsg.Float64MultiArray{}, Default)
		})
		time.Sleep(4 * time.Second)
		before, _ := boxes["scan"].get()
		time.Sleep(2 * time.Second)
		if n, m := boxes["scan"].get(); n-before < 19 || n-before > 21 ||
			m.(*rosmsg.LaserScan).Header.FrameID != "scanner" {
			t.Errorf("scans in 2 s: got %d, %+v, want 20", n-before, m)
		}
		for name, b := range boxes {
			if n, _ := b.get(); n == 0 {
				t.Errorf("%s: got nothing", name)
			}
		}
		if _, m := boxes["/tf_static"].get(); m != nil && len(m.(*rosmsg.TFMessage).Transforms) != 5 {
			t.Errorf("/tf_static: got %+v, want imu, scanner, front, eye and its optical frame", m)
		}
		if _, m := boxes["camera/image_raw"].get(); m != nil && len(m.(*rosmsg.Image).Data) != 24 {
			t.Errorf("image_raw: got %+v", m)
		}
		m := &rosmsg.Twist{}
		m.Linear.X = 0.5
		for range 5 {
			twist.Send(m)
			time.Sleep(100 * time.Millisecond)
		}
		if left, _ := s.Rover.Wheels(); math.Abs(left-5) > 1e-9 {
			t.Errorf("cmd_vel: got %g rad/s, want 5", left)
		}
		time.Sleep(time.Second)
		if s.Agent.Holder() != "" {
			t.Errorf("1 s after the last: held by %q", s.Agent.Holder())
		}
		old := &rosmsg.TwistStamped{Twist: *m}
		old.Header.Stamp.Sec = 1
		stamped.Send(old)
		time.Sleep(50 * time.Millisecond)
		if s.Agent.Holder() != "" {
			t.Error("a stamp of long ago moved it")
		}
		stamped.Send(&rosmsg.TwistStamped{Twist: *m})
		time.Sleep(50 * time.Millisecond)
		if !strings.HasPrefix(s.Agent.Holder(), "ros2@01ee") {
			t.Errorf("TwistStamped: held by %q", s.Agent.Holder())
		}
		forward.Send(&rosmsg.Float64MultiArray{Data: []float64{0.4}})
		time.Sleep(50 * time.Millisecond)
		if got := s.Rover.Looks(); math.Abs(got-0.4) > 1e-9 {
			t.Errorf("position_controller/commands: got %g, want 0.4", got)
		}
	})
}

// TestServices: stop, disarm, arm and the controller manager, and parameters.
func TestServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w, _ := newStage(t, topicstest.Config{Mode: hal.Realtime})
		calls := map[string]*caller{}
		newClient(t, w, "operator", func(n *Node) {
			for _, name := range []string{"stop", "reset", "arm", "disarm"} {
				calls[name] = n.caller(t, name, &rosmsg.TriggerRequest{}, &rosmsg.Trigger{})
			}
			calls["list"] = n.caller(t, "controller_manager/list_controllers", &rosmsg.ListControllersRequest{},
				&rosmsg.ListControllers{})
			calls["switch"] = n.caller(t, "controller_manager/switch_controller", &rosmsg.SwitchControllerRequest{},
				&rosmsg.SwitchController{})
			calls["get"] = n.caller(t, "rover/get_parameters", &rosmsg.GetParametersRequest{}, &rosmsg.GetParameters{})
			calls["set"] = n.caller(t, "rover/set_parameters", &rosmsg.SetParametersRequest{}, &rosmsg.SetParameters{})
		})
		time.Sleep(5 * time.Second)
		trigger := func(name string, want bool) {
			if r, ok := calls[name].call(&rosmsg.TriggerRequest{}).(*rosmsg.Trigger); !ok || r.Success != want {
				t.Errorf("%s: got %+v, want %v", name, r, want)
			}
		}
		trigger("stop", true)
		if !s.Rig.Latched() {
			t.Error("stop: not latched")
		}
		trigger("arm", false)
		trigger("reset", true)
		trigger("arm", true)
		trigger("disarm", true)
		if state, _, _ := s.Agent.Guard(); state != hal.Disarmed {
			t.Errorf("disarm: got %v", state)
		}
		trigger("arm", true)
		state := func(name string) string {
			m, ok := calls["list"].call(&rosmsg.ListControllersRequest{}).(*rosmsg.ListControllers)
			if !ok {
				return "no reply"
			}
			for _, c := range m.Controller {
				if c.Name == name {
					return c.State
				}
			}
			return "none"
		}
		if got := state(follower); got != "active" {
			t.Errorf("%s: got %s", follower, got)
		}
		for _, c := range []struct {
			request rosmsg.SwitchControllerRequest
			ok      bool
			state   string
		}{
			{rosmsg.SwitchControllerRequest{DeactivateControllers: []string{follower, "other"}, Strictness: strict},
				false,
				"active"},
			{rosmsg.SwitchControllerRequest{DeactivateControllers: []string{follower, "other"}, Strictness: 1}, true,
				"inactive"},
			{rosmsg.SwitchControllerRequest{ActivateControllers: []string{follower}, Strictness: strict}, true,
				"active"},
		} {
			r, _ := calls["switch"].call(&c.request).(*rosmsg.SwitchController)
			if r == nil || r.OK != c.ok || state(follower) != c.state {
				t.Errorf("switch %+v: got %+v, %s, want %s", c.request, r, state(follower), c.state)
			}
		}
		get, _ := calls["get"].call(&rosmsg.GetParametersRequest{Names: []string{"joints", "none"}}).(*rosmsg.GetParameters)
		if get == nil || fmt.Sprint(get.Values[0].StringArrayValue) != "[left right head]" || get.Values[1].Type != 0 {
			t.Errorf("get_parameters: got %+v", get)
		}
		set, _ := calls["set"].call(&rosmsg.SetParametersRequest{Parameters: make([]rosmsg.Parameter,
			1)}).(*rosmsg.SetParameters)
		if set == nil || set.Results[0].Successful {
			t.Errorf("set_parameters: got %+v, want it refused", set)
		}
	})
}

// TestParameters: the tools of ROS list, describe and refuse to set the parameters.
func TestParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w, _ := newStage(t, topicstest.Config{Mode: hal.Realtime})
		var list, describe, types, atomic *caller
		newClient(t, w, "operator", func(n *Node) {
			list = n.caller(t, "rover/list_parameters", &rosmsg.ListParametersRequest{}, &rosmsg.ListParameters{})
			describe = n.caller(t, "rover/describe_parameters", &rosmsg.DescribeParametersRequest{},
				&rosmsg.DescribeParameters{})
			types = n.caller(t, "rover/get_parameter_types", &rosmsg.GetParameterTypesRequest{},
				&rosmsg.GetParameterTypes{})
			atomic = n.caller(t, "rover/set_parameters_atomically", &rosmsg.SetAtomicallyRequest{},
				&rosmsg.SetAtomically{})
		})
		time.Sleep(5 * time.Second)
		if m, ok := list.call(&rosmsg.ListParametersRequest{}).(*rosmsg.ListParameters); !ok ||
			!slices.Contains(m.Result.Names, "joints") {
			t.Errorf("list_parameters: got %+v", m)
		}
		if m, ok := describe.call(&rosmsg.DescribeParametersRequest{Names: []string{"joints"}}).(*rosmsg.
			DescribeParameters); !ok || len(m.Descriptors) != 1 || !m.Descriptors[0].ReadOnly {
			t.Errorf("describe_parameters: got %+v", m)
		}
		if m, ok := types.call(&rosmsg.GetParameterTypesRequest{Names: []string{"joints", "none"}}).(*rosmsg.
			GetParameterTypes); !ok || fmt.Sprint(m.Types) != "[9 0]" {
			t.Errorf("get_parameter_types: got %+v", m)
		}
		if m, ok := atomic.call(&rosmsg.SetAtomicallyRequest{Parameters: make([]rosmsg.Parameter, 1)}).(*rosmsg.
			SetAtomically); !ok || m.Result.Successful || m.Result.Reason == "" {
			t.Errorf("set_parameters_atomically: got %+v", m)
		}
	})
}

// TestJointTopics: the topics that command joints, each until its deadline, and the status of the action.
func TestJointTopics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w, _ := newStage(t, topicstest.Config{Mode: hal.Realtime})
		var joints, speeds, path *Publisher
		status := &box{}
		newClient(t, w, "operator", func(n *Node) {
			joints, _ = n.Publish("joint_commands", &rosmsg.JointState{}, Default)
			speeds, _ = n.Publish("velocity_controller/commands", &rosmsg.Float64MultiArray{}, Default)
			path, _ = n.Publish(follower+"/joint_trajectory", &rosmsg.JointTrajectory{}, Default)
			if err := n.Subscribe(follower+"/follow_joint_trajectory/_action/status", &rosmsg.GoalStatusArray{},
				Latched,
				status.take, ignore); err != nil {
				t.Fatal(err)
			}
		})
		time.Sleep(5 * time.Second)
		joints.Send(&rosmsg.JointState{Name: []string{"head"}, Position: []float64{0.3}})
		time.Sleep(50 * time.Millisecond)
		if got := s.Rover.Looks(); math.Abs(got-0.3) > 1e-9 {
			t.Errorf("joint_commands: got %g, want 0.3 rad", got)
		}
		speeds.Send(&rosmsg.Float64MultiArray{Data: []float64{2, 3}})
		time.Sleep(50 * time.Millisecond)
		if left, right := s.Rover.Wheels(); math.Abs(left-2) > 1e-9 || math.Abs(right-3) > 1e-9 {
			t.Errorf("velocity_controller/commands: got %g, %g, want 2, 3 rad/s", left, right)
		}
		time.Sleep(time.Second)
		if left, right := s.Rover.Wheels(); left != 0 || right != 0 {
			t.Errorf("1 s after the last: got %g, %g", left, right)
		}
		path.Send(&rosmsg.JointTrajectory{JointNames: []string{"head"}, Points: []rosmsg.JointTrajectoryPoint{
			point(1, -0.2)}})
		time.Sleep(1500 * time.Millisecond)
		if got := s.Rover.Looks(); math.Abs(got+0.2) > 1e-3 {
			t.Errorf("joint_trajectory: got %g, want -0.2 rad", got)
		}
	})
}

// goalOf is a trajectory of the rover's head.
func goalOf(id byte, points ...rosmsg.JointTrajectoryPoint) *rosmsg.FollowSend {
	m := &rosmsg.FollowSend{GoalID: rosmsg.ID{UUID: [16]byte{id}}}
	m.Body.Trajectory = rosmsg.JointTrajectory{JointNames: []string{"head"}, Points: points}
	return m
}

func point(at, position float64) rosmsg.JointTrajectoryPoint {
	return rosmsg.JointTrajectoryPoint{Positions: []float64{position}, Velocities: []float64{0},
		TimeFromStart: rosmsg.Duration{Sec: int32(at), Nanosec: uint32(math.Mod(at, 1) * 1e9)}}
}

// TestTrajectory executes, preempts and cancels goals, and aborts that of a client that leaves.
func TestTrajectory(t *testing.T) {
	for _, mode := range []hal.ClockMode{hal.Realtime, hal.Lockstep} {
		synctest.Test(t, func(t *testing.T) {
			s, w, _ := newStage(t, topicstest.Config{Mode: mode})
			var send, result, cancel *caller
			feedback := &box{}
			c := newClient(t, w, "planner", func(n *Node) {
				const path = follower + "/follow_joint_trajectory/_action/"
				send = n.caller(t, path+"send_goal", &rosmsg.FollowSend{}, &rosmsg.FollowAccepted{})
				result = n.caller(t, path+"get_result", &rosmsg.FollowAsk{}, &rosmsg.FollowEnded{})
				cancel = n.caller(t, path+"cancel_goal", &rosmsg.CancelGoalRequest{}, &rosmsg.CancelGoal{})
				n.Subscribe(path+"feedback", &rosmsg.FollowFeedbackMessage{}, Default, feedback.take, ignore)
			})
			time.Sleep(5 * time.Second)
			begin := func(want bool, m *rosmsg.FollowSend) {
				t.Helper()
				if r, _ := send.call(m).(*rosmsg.FollowAccepted); r == nil || r.Accepted != want {
					t.Fatalf("%v: goal %d: got %+v, want accepted %v", mode, m.GoalID.UUID[0], r, want)
				}
			}
			ended := func(id byte) rosmsg.FollowEnded {
				r, _ := result.call(&rosmsg.FollowAsk{GoalID: rosmsg.ID{UUID: [16]byte{id}}}).(*rosmsg.FollowEnded)
				if r == nil {
					return rosmsg.FollowEnded{}
				}
				return *r
			}
			begin(true, goalOf(1, point(1, 1), point(2, 0.5)))
			time.Sleep(time.Second)
			if got := s.Rover.Looks(); math.Abs(got-1) > 0.05 {
				t.Errorf("%v: after 1 s: got %g, want 1", mode, got)
			}
			if r := ended(1); r.Status != succeeded || r.Result.ErrorCode != 0 || math.Abs(s.Rover.Looks()-0.5) > 1e-9 {
				t.Errorf("%v: got %+v at %g, want it succeeded at 0.5", mode, r, s.Rover.Looks())
			}
			if n, m := feedback.get(); n < 30 || n > 45 || m.(*rosmsg.FollowFeedbackMessage).GoalID.UUID[0] != 1 {
				t.Errorf("%v: feedback: got %d, %+v, want 20 a second", mode, n, m)
			}
			begin(true, goalOf(2, point(2, 0)))
			time.Sleep(500 * time.Millisecond)
			begin(true, goalOf(3, point(4, 1)))
			if r := ended(2); r.Status != aborted || r.Result.ErrorCode != codeInvalid {
				t.Errorf("%v: preempted: got %+v", mode, r)
			}
			time.Sleep(time.Second)
			r, _ := cancel.call(&rosmsg.CancelGoalRequest{}).(*rosmsg.CancelGoal)
			if r == nil || r.ReturnCode != 0 || len(r.GoalsCanceling) != 1 {
				t.Errorf("%v: cancel: got %+v", mode, r)
			}
			if r := ended(3); r.Status != canceled || r.Result.ErrorCode != 0 {
				t.Errorf("%v: canceled: got %+v", mode, r)
			}
			at := s.Rover.Looks()
			time.Sleep(time.Second)
			if s.Rover.Looks() != at || at < 0.05 || at > 0.9 || s.Agent.Holder() != "" {
				t.Errorf("%v: after cancel: from %g to %g, held by %q", mode, at, s.Rover.Looks(), s.Agent.Holder())
			}
			if r, _ := cancel.call(&rosmsg.CancelGoalRequest{GoalInfo: rosmsg.GoalInfo{GoalID: rosmsg.ID{
				UUID: [16]byte{9}}}}).(*rosmsg.CancelGoal); r == nil || r.ReturnCode != 2 {
				t.Errorf("%v: cancel of an unknown goal: got %+v", mode, r)
			}
			begin(false, goalOf(4, point(1, math.NaN())))
			begin(true, goalOf(5, point(60, 2)))
			time.Sleep(time.Second)
			c.end()
			time.Sleep(time.Second)
			at = s.Rover.Looks()
			time.Sleep(5 * time.Second)
			if s.Rover.Looks() != at || s.Agent.Holder() != "" {
				t.Errorf("%v: its client has left: moves from %g to %g, held by %q", mode, at, s.Rover.Looks(),
					s.Agent.Holder())
			}
		})
	}
}

// TestRules is the list of what joint_trajectory_controller accepts.
func TestRules(t *testing.T) {
	names := []string{"a", "b"}
	p := func(at float64, values ...float64) rosmsg.JointTrajectoryPoint {
		return rosmsg.JointTrajectoryPoint{Positions: values, TimeFromStart: point(at, 0).TimeFromStart}
	}
	with := func(p rosmsg.JointTrajectoryPoint, v, a, e []float64) rosmsg.JointTrajectoryPoint {
		p.Velocities, p.Accelerations, p.Effort = v, a, e
		return p
	}
	two := []float64{0, 0}
	for _, c := range []struct {
		name    string
		joints  []string
		points  []rosmsg.JointTrajectoryPoint
		partial bool
		stamp   time.Duration // -1: 0
		want    string        // "": accepted
	}{
		{"plain", names, []rosmsg.JointTrajectoryPoint{p(1, 1, 2)}, false, -1, ""},
		{"first at 0", names, []rosmsg.JointTrajectoryPoint{p(0, 1, 2), p(1, 1, 2)}, false, -1, ""},
		{"other order", []string{"b", "a"}, []rosmsg.JointTrajectoryPoint{p(1, 1, 2)}, false, -1, ""},
		{"no joints", nil, []rosmsg.JointTrajectoryPoint{p(1)}, true, -1, "no joints"},
		{"unknown joint", []string{"a", "c"}, []rosmsg.JointTrajectoryPoint{p(1, 1, 2)}, false, -1, `"c"`},
		{"twice", []string{"a", "a"}, []rosmsg.JointTrajectoryPoint{p(1, 1, 2)}, false, -1, "twice"},
		{"too few", []string{"a"}, []rosmsg.JointTrajectoryPoint{p(1, 1)}, false, -1, "want all 2"},
		{"partial", []string{"a"}, []rosmsg.JointTrajectoryPoint{p(1, 1)}, true, -1, ""},
		{"no points", names, nil, false, -1, "0 points"},
		{"same time", names, []rosmsg.JointTrajectoryPoint{p(1, 1, 2), p(1, 1, 2)}, false, -1, "rise"},
		{"backwards", names, []rosmsg.JointTrajectoryPoint{p(1, 1, 2), p(0.5, 1, 2)}, false, -1, "rise"},
		{"ended", names, []rosmsg.JointTrajectoryPoint{p(1, 1, 2)}, false, 8 * time.Second, "ended 1s ago"},
		{"in the middle", names, []rosmsg.JointTrajectoryPoint{p(1, 1, 2), p(5, 1, 2)}, false, 8 * time.Second, ""},
		{"no positions", names, []rosmsg.JointTrajectoryPoint{p(1)}, false, -1, "0 positions"},
		{"positions", names, []rosmsg.JointTrajectoryPoint{p(1, 1)}, false, -1, "1 positions"},
		{"velocities", names, []rosmsg.JointTrajectoryPoint{with(p(1, 1, 2), []float64{0}, nil, nil)}, false, -1,
			"1 velocities"},
		{"accelerations", names, []rosmsg.JointTrajectoryPoint{with(p(1, 1, 2), two, []float64{0}, nil)}, false, -1,
			"1 accelerations"},
		{"accelerations alone", names, []rosmsg.JointTrajectoryPoint{with(p(1, 1, 2), nil, two, nil)}, false, -1,
			"without velocities"},
		{"effort", names, []rosmsg.JointTrajectoryPoint{with(p(1, 1, 2), nil, nil, two)}, false, -1, "effort"},
		{"fast at the end", names, []rosmsg.JointTrajectoryPoint{with(p(1, 1, 2), []float64{0, 1}, nil, nil)}, false,
			-1,
			"at the end"},
		{"fast before it", names, []rosmsg.JointTrajectoryPoint{with(p(1, 1, 2), []float64{0, 1}, nil, nil), p(2, 1,
			2)}, false, -1, ""},
		{"infinite", names, []rosmsg.JointTrajectoryPoint{p(1, 1, math.Inf(1))}, false, -1, "numbers"},
	} {
		_, err := check(&rosmsg.JointTrajectory{JointNames: c.joints, Points: c.points}, names, c.partial,
			10*time.Second,
			c.stamp)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// TestSplines: each degree meets its ends, and is the derivative of itself.
func TestSplines(t *testing.T) {
	a, b := state{1, 0.5, -0.2}, state{3, -0.4, 0.6}
	for _, degree := range []int{1, 3, 5} {
		for k, end := range []state{a, b} {
			got := between(a, b, degree, 2*float64(k), 2)
			if math.Abs(got.position-end.position) > 1e-9 || degree > 1 && math.Abs(got.velocity-end.velocity) > 1e-9 ||
				degree > 3 && math.Abs(got.acceleration-end.acceleration) > 1e-9 {
				t.Errorf("degree %d: got %+v, want %+v", degree, got, end)
			}
		}
		const h = 1e-6
		x, y := between(a, b, degree, 0.7, 2), between(a, b, degree, 0.7+h, 2)
		if math.Abs((y.position-x.position)/h-x.velocity) > 1e-5 || math.Abs((y.velocity-x.velocity)/h-x.acceleration) >
			1e-5 {
			t.Errorf("degree %d: got %+v, then %+v", degree, x, y)
		}
	}
	// a stamp ahead: the motion to the first point takes the whole wait
	m, err := check(&rosmsg.JointTrajectory{JointNames: []string{"a"}, Points: []rosmsg.JointTrajectoryPoint{{
		Positions: []float64{1}}}}, []string{"a"}, false, 10*time.Second, 14*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	m.from = []state{{}}
	out := make([]state, 1)
	for at, want := range map[time.Duration]float64{10: 0, 11: 0.25, 13: 0.75, 14: 1, 99: 1} {
		if m.at(at*time.Second, out); math.Abs(out[0].position-want) > 1e-9 {
			t.Errorf("at %d s: got %g, want %g", at, out[0].position, want)
		}
	}
}

func TestTolerances(t *testing.T) {
	names, usual := []string{"a", "b"}, tolerance{0.5, 0.01}
	for _, c := range []struct {
		name  string
		given []rosmsg.JointTolerance
		want  []tolerance
	}{
		{"none given", nil, []tolerance{usual, usual}},
		{"0 is the default", []rosmsg.JointTolerance{{Name: "a"}}, []tolerance{usual, usual}},
		{"given", []rosmsg.JointTolerance{{Name: "b", Position: 2}}, []tolerance{usual, {2, 0.01}}},
		{"-1 is none", []rosmsg.JointTolerance{{Name: "a", Position: -1, Velocity: -1}}, []tolerance{{}, usual}},
		{"negative", []rosmsg.JointTolerance{{Name: "a", Position: 2}, {Name: "b", Velocity: -3}},
			[]tolerance{usual, usual}},
		{"unknown", []rosmsg.JointTolerance{{Name: "a", Position: 2}, {Name: "c"}}, []tolerance{usual, usual}},
	} {
		if got := tolerances(c.given, names, usual); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestCyclone: the identity of a request in the payload, of either byte order, comes back in the reply.
func TestCyclone(t *testing.T) {
	s := &service{name: "s", kind: reflect.TypeFor[rosmsg.SetBoolRequest](), calls: make(chan *Call, 1),
		refuse: func(err error) { t.Error(err) }}
	s.requests, _ = cdr.Compile(rosmsg.SetBoolRequest{})
	for _, payload := range [][]byte{
		{0, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0, 0, 0, 0, 1},
		{0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 9, 1},
	} {
		s.take(&rtps.Sample{Payload: payload, Vendor: cyclone})
		c := <-s.calls
		if !c.Request.(*rosmsg.SetBoolRequest).Data || c.inside == nil {
			t.Errorf("got %+v", c)
		}
		head := c.head()
		if want := "0001000001020304050607080900000000000000"; fmt.Sprintf("%x", head) != want {
			t.Errorf("got %x, want %s", head, want)
		}
	}
	short := 0
	s.refuse = func(error) { short++ }
	for n := range 20 {
		s.take(&rtps.Sample{Payload: make([]byte, n), Vendor: cyclone})
	}
	if short != 20 {
		t.Errorf("short requests: got %d refused, want 20", short)
	}
}

// TestGraph: a peer with ids of 24 bytes gets the graph in that size, others in 16.
func TestGraph(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w, server := newStage(t, topicstest.Config{Mode: hal.Realtime})
		sizes := map[bool]*box{}
		for _, wide := range []bool{false, true} {
			b := &box{}
			sizes[wide] = b
			p, err := rtps.New(w.plug(), rtps.Options{})
			if err != nil {
				t.Fatal(err)
			}
			e := rtps.Endpoint{Topic: "ros_discovery_info", Type: rosmsg.DDSName(rosmsg.Participant{}), Reliable: true,
				Transient: true, Depth: 1}
			writer, _ := p.NewWriter(e)
			narrow, long := server.node.narrow, server.node.long
			p.NewReader(e, func(s *rtps.Sample) {
				m := any(&rosmsg.Participant{})
				codec := narrow
				if wide {
					m, codec = &rosmsg.Participant24{}, long
				}
				if s.Writer.Prefix == server.node.p.Prefix() && codec.Decode(s.Payload, m) == nil {
					b.take(s.Writer, m)
				}
			})
			id := p.GUID().Append(nil)
			if wide {
				writer.Write(long.Append(nil, &rosmsg.Participant24{GID: rosmsg.GID24{Data: [24]byte(append(id,
					make([]byte, 8)...))}}))
			} else {
				writer.Write(narrow.Append(nil, &rosmsg.Participant{GID: rosmsg.GID{Data: [16]byte(id)}}))
			}
			ctx, cancel := context.WithCancel(context.Background())
			var running sync.WaitGroup
			running.Go(func() { p.Run(ctx) })
			t.Cleanup(func() { cancel(); running.Wait() })
		}
		time.Sleep(5 * time.Second)
		_, m := sizes[false].get()
		n, _ := m.(*rosmsg.Participant)
		if n == nil || len(n.Nodes) != 1 || n.Nodes[0].NodeName != "rover" || n.Nodes[0].NodeNamespace != "/r" {
			t.Errorf("16 bytes: got %+v", m)
		}
		_, m = sizes[true].get()
		l, _ := m.(*rosmsg.Participant24)
		if l == nil || len(l.Nodes) != 1 || l.Nodes[0].NodeName != "rover" || len(l.Nodes[0].Writers) < 10 {
			t.Errorf("24 bytes: got %+v", m)
		}
	})
}

// TestURDF: the description is XML, with the joints of the robot between its links.
func TestURDF(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := newStage(t, topicstest.Config{Mode: hal.Realtime})
		text := URDF(s.Robot)
		var robot struct {
			Links []struct {
				Name string `xml:"name,attr"`
			} `xml:"link"`
			Joints []struct {
				Name   string `xml:"name,attr"`
				Type   string `xml:"type,attr"`
				Origin struct {
					XYZ string `xml:"xyz,attr"`
				} `xml:"origin"`
			} `xml:"joint"`
		}
		if err := xml.Unmarshal([]byte(text), &robot); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(robot); got != "{[{base_link} {neck_axis} {neck}] [{neck_fixed fixed {0 0 -0}} "+
			"{head revolute {0 0 0.5}}]}" && got != "{[{base_link} {neck}] [{head revolute {0 0 0.5}}]}" {
			t.Errorf("got %s\n%s", got, text)
		}
	})
}
