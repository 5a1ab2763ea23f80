package topics_test

import (
	"context"
	"math"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// noServer is a stage without a server.
type noServer struct{}

func (noServer) Serve(context.Context) error { return nil }

func stage(t *testing.T, c topicstest.Config) *topicstest.Stage {
	return topicstest.New(t, c, func(net.Listener, *topics.Robot) (topicstest.Server, error) { return noServer{}, nil })
}

func TestTransforms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		f := topics.NewFeed[int](s.Robot, "test", func() time.Duration { return 0 })
		defer f.Close()
		if err := f.Goals([]topics.Goal{{Actuator: topicstest.Head, Mode: hal.PositionMode,
			Value: math.Pi / 2}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		// a link that a robot file welds to the neck is a frame of its own
		s.Robot.Welded = []topics.Frame{{Link: 1, Name: "hat",
			Pose: hal.Pose{Position: [3]float64{0, 0, 0.1}, Rotation: [4]float64{1}}}}
		at := map[string]topics.Transform{}
		for _, k := range s.Robot.Sample().Transforms() {
			at[k.Child] = k
		}
		// the camera points to the left once the head has turned there
		world := at["base_link"].Pose.Times(at["neck"].Pose).Times(at["eye"].Pose)
		if v := world.Turn([3]float64{1, 0, 0}); math.Abs(v[1]-1) > 1e-9 || world.Position[2] != 0.5 {
			t.Errorf("the camera: looks along %v from %v, want 0 1 0, 0.5 m up", v, world.Position)
		}
		// x of the picture is to the right, y down, z ahead
		seen := world.Times(at["eye_optical"].Pose)
		if z, x := seen.Turn([3]float64{0, 0, 1}), seen.Turn([3]float64{1, 0, 0}); math.Abs(z[1]-1) > 1e-9 ||
			math.Abs(x[0]-1) > 1e-9 {
			t.Errorf("its picture: z %v, x %v, want 0 1 0, 1 0 0", z, x)
		}
		if hat := at["hat"]; hat.Parent != "neck" || hat.Pose.Position[2] != 0.1 {
			t.Errorf("a welded link: got %+v, want it on the neck", hat)
		}
		if at["eye"].Parent != "neck" || at["scanner"].Parent != "base_link" || at["base_link"].Parent != "odom" {
			t.Errorf("parents: got %v", at)
		}
	})
}

// TestPose counts what a pose sensor measures in the world in base_link's axes.
func TestPose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		f := topics.NewFeed[int](s.Robot, "test", func() time.Duration { return 0 })
		defer f.Close()
		for range 5 {
			if err := f.Twist(0.5, 0, 0); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		p, linear, angular, ok := s.Robot.Sample().Pose()
		if !ok || math.Abs(p.Position[0]-0.24) > 0.02 || math.Abs(linear[0]-0.5) > 1e-9 || angular != [3]float64{} {
			t.Errorf("after 0.5 s at 0.5 m/s: got %v, %v, %v, %v", p, linear, angular, ok)
		}
	})
}

// TestDeadline keeps an emulated body's own guard in charge: its deadline passes as without a protocol.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime, BodyKind: hal.Emulated,
			Guard: hal.GuardConfig{CommandTimeout: 200 * time.Millisecond}})
		f := topics.NewFeed[int](s.Robot, "test", func() time.Duration { return 0 })
		defer f.Close()
		f.Twist(0.5, 0, 0)
		time.Sleep(400 * time.Millisecond)
		if left, _ := s.Rover.Wheels(); left != 0 || s.Agent.Holder() != "test" ||
			s.Agent.Condition().State != hal.Expired {
			t.Errorf("0.4 s after a command: got %g rad/s, held by %q, %v", left, s.Agent.Holder(),
				s.Agent.Condition().State)
		}
		time.Sleep(200 * time.Millisecond)
		if s.Agent.Holder() != "" {
			t.Errorf("0.6 s after it: held by %q", s.Agent.Holder())
		}
	})
}

// TestAnswersOfAReader: a client that always has a question open, and reads all answers, is not deaf, however many
// there were.
func TestAnswersOfAReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		f := topics.NewFeed[int](s.Robot, "test", func() time.Duration { return 0 })
		defer f.Close()
		const megabyte = 1 << 20
		for i := range 100 {
			if err := f.Answer(i, megabyte); err != nil {
				t.Fatalf("answer %d: got %v, want it queued", i, err)
			}
			if i == 0 {
				continue // one more is queued from now on
			}
			if d, err := f.Next(t.Context()); err != nil || d.Answer != i-1 {
				t.Fatalf("got %v, %v, want answer %d", d.Answer, err, i-1)
			}
		}
		for range 3 {
			f.Answer(0, megabyte)
		}
		if err := f.Answer(0, megabyte); err != topics.ErrDeaf {
			t.Errorf("5 MB unread: got %v, want %v", err, topics.ErrDeaf)
		}
	})
}

// TestInertial turns roll, pitch and yaw into the attitude whose RollPitchYaw they are.
func TestInertial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		l := s.Rover.Layout()
		l.Sensors[topicstest.IMU].Kind, l.Sensors[topicstest.IMU].Count = "inertial", 3
		sample := s.Robot.Sample()
		want := [3]float64{0.3, -0.4, 2}
		copy(sample.Of(topicstest.IMU), want[:])
		q, _, _, measures, ok := sample.Attitude(topicstest.IMU)
		got := hal.Pose{Rotation: q}.RollPitchYaw()
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-9 || measures || !ok {
				t.Errorf("got %v, %v, %v, want %v", got, measures, ok, want)
			}
		}
	})
}

func TestMisfits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		for want, change := range map[string]func(*topics.Robot){
			"got no agent":                    func(r *topics.Robot) { r.Agent = nil },
			"mount: got link 7, want below 2": func(r *topics.Robot) { r.SensorLinks = map[int]int{0: 7} },
			"radius 0 m": func(
				r *topics.Robot) {
				r.Drive = kinematics.Sides([]int{0}, []int{1}, 0, 1)
			},
			"got actuator 2, want an actuator with a velocity goal": func(r *topics.Robot) {
				r.Drive = kinematics.Sides([]int{2}, []int{1}, 1, 1)
			},
			"joint: got actuator 9": func(r *topics.Robot) {
				r.Tree = kinematics.Tree{{Parent: hal.None, Joint: 9, Axis: [3]float64{1}}}
			},
		} {
			r := *s.Robot
			if change(&r); true {
				if _, err := r.Topics(); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
			}
		}
	})
}

// TestQueue: a subscription that is not read keeps only as many samples as its queue length.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, topicstest.Config{Mode: hal.Realtime})
		f := topics.NewFeed[string](s.Robot, "test", func() time.Duration { return 0 })
		defer f.Close()
		f.Subscribe("a", &topics.Topic{Kind: topics.Clock}, topics.Settings{})
		time.Sleep(time.Second)
		begin := time.Now()
		d, err := f.Next(t.Context())
		if err != nil || d.Key != "a" || d.Sample.Time < time.Second-50*time.Millisecond || time.Since(begin) > 0 {
			t.Errorf("after 1 s: got %v, %+v, want the newest sample at once", err, d)
		}
		for i := range topics.MaxSubscriptions {
			if ok := f.Subscribe(strings.Repeat("b", i+1), &topics.Topic{Kind: topics.Clock},
				topics.Settings{}); ok != (i < topics.MaxSubscriptions-1) {
				t.Fatalf("subscription %d: got %v", i+2, ok)
			}
		}
		if !f.Unsubscribe("a") || f.Unsubscribe("a") {
			t.Error("unsubscribe: want true, then false")
		}
	})
}

// TestOnce: a reading is sent once, stamped with its acquisition. The slow body's scanner has a reading every fifth
// cycle, joints in each.
func TestOnce(t *testing.T) {
	for _, kind := range []hal.BodyKind{hal.Simulated, hal.Emulated} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			s := stage(t, topicstest.Config{Mode: hal.Realtime, BodyKind: kind, ScanEvery: 5})
			f := topics.NewFeed[string](s.Robot, "test", func() time.Duration { return 0 })
			defer f.Close()
			all, err := s.Robot.Topics()
			if err != nil {
				t.Fatal(err)
			}
			byName := map[string]*topics.Topic{}
			for i := range all {
				byName[all[i].Name] = &all[i]
			}
			f.Subscribe("scan", byName["/scan"], topics.Settings{Queue: 64})
			f.Subscribe("joints", byName["/joint_states"], topics.Settings{Queue: 64})
			seen := map[string]map[time.Duration]int{"scan": {}, "joints": {}}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			for {
				d, err := f.Next(ctx)
				if err != nil {
					break
				}
				at := d.Sample.Acquired(d.Topic)
				seen[d.Key][at]++
				want := at
				if kind == hal.Emulated {
					want += time.Duration(begin.UnixNano())
				}
				if got := d.Sample.Stamp(d.Topic); got < want-time.Millisecond || got > want+time.Millisecond {
					t.Fatalf("%s: got stamp %v, want %v", d.Key, got, want)
				}
			}
			for key, least := range map[string]int{"scan": 18, "joints": 95} {
				if len(seen[key]) < least {
					t.Errorf("%v: %s: got %d readings, want at least %d", kind, key, len(seen[key]), least)
				}
				for at, n := range seen[key] {
					if n != 1 {
						t.Errorf("%v: %s: the reading of %v came %d times", kind, key, at, n)
					}
				}
			}
		})
	}
}
