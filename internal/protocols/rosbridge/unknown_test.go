package rosbridge

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/fields"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
	"github.com/halyard-robotics/halyard/internal/protocols/rosmsg"
	"github.com/halyard-robotics/halyard/internal/protocols/topics"
)

// TestUnknown is what a subscriber sees of lost joints and sensors, of rays that a scan has lost, and of a robot that
// no command moves: null, or no message, and the reason in /diagnostics.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		name, topic string
		lost        []string
		disarm      bool
		want        string // "" = no message
	}{
		{"all known", "/joint_states", nil, false, `"position":[0,0,0],"velocity":[0,0,0],"effort":[null,null,null]`},
		{"a lost joint", "/joint_states", []string{"head"}, false, `"position":[0,0,null],"velocity":[0,0,null]`},
		{"frames beyond a lost joint", "/tf", []string{"head"}, false, `"child_frame_id":"base_link"`},
		{"lost odometry", "/odom", []string{"odometry"}, false, ""},
		{"a lost wheel", "/odom", []string{"left"}, false, `"twist":{"twist":{"linear":{"x":null,`},
		{"a lost imu", "/imu/data", []string{"imu"}, false, ""},
		{"a lost ray", "/scan", nil, false, `"ranges":[1,2,null,4,null]`},
		{"a lost scanner", "/scan", []string{"scanner"}, false, ""},
		{"a lost sonar", "/range/front", []string{"front"}, false, `"range":null`},
		{"why a joint is lost", "/diagnostics", []string{"head"}, false,
			`{"level":2,"name":"rover: head","message":"no reply"`},
		{"disarmed by the operator", "/diagnostics", nil, true,
			`{"level":1,"name":"rover: guard","message":"disarmed"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{})
				s.Rover.Silence(c.lost...)
				if c.disarm {
					s.Agent.Disarm()
				}
				time.Sleep(time.Second)
				all, err := s.Robot.Topics()
				if err != nil {
					t.Fatal(err)
				}
				got := ""
				for i := range all {
					if m := rosmsg.Message(s.Robot, &all[i], s.Robot.Sample()); all[i].Name == c.topic && m != nil {
						got = string(fields.AppendJSON(nil, m, fields.ROS2))
					}
				}
				if !strings.Contains(got, c.want) || (got == "") != (c.want == "") ||
					strings.Contains(got, `"child_frame_id":"neck"`) &&
						c.lost != nil {
					t.Errorf("got %s, want %q", got, c.want)
				}
			})
		})
	}
}

// TestAdvice: a command that a disarmed robot refuses names the way that arms it: a service where clients arm, the
// operator's command where they may not.
func TestAdvice(t *testing.T) {
	for _, c := range []struct {
		kind hal.BodyKind
		by   func(a *hal.Agent)
		want string
	}{
		{hal.Emulated, func(a *hal.Agent) { a.RequestDisarm("client") }, "(try: /arm)"},
		{hal.Emulated, (*hal.Agent).Disarm, "(try: halyard arm)"},
		{hal.Real, (*hal.Agent).Disarm, "(try: halyard arm)"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, topicstest.Config{Mode: hal.Realtime, BodyKind: c.kind}, Options{})
			c.by(s.Agent)
			commander := topics.NewCommander(s.Robot, "test", func() time.Duration { return 0 }, time.Second)
			defer commander.Close()
			if err := commander.Twist(1, 0, 0); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: got %v, want %q", c.kind, err, c.want)
			}
		})
	}
}
