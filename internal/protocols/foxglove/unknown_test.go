package foxglove

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/protocols/protocolstest/topicstest"
)

// TestUnknown is what a subscriber sees of lost joints and sensors: no value, null, or no message.
func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		name, channel, want string // want "" = no message
		lost                string
	}{
		{"all known", "/joint_states", `{"name":"head","position":0,"velocity":0}`, ""},
		{"a lost joint", "/joint_states", `{"name":"head"}`, "head"},
		{"lost odometry", "/odom", "", "odometry"},
		{"a lost wheel", "/odom", `"linear_velocity":{"x":null,`, "left"},
		{"a lost imu", "/imu/data", "", "imu"},
		{"a lost ray", "/scan", `"ranges":[1,2,null,4,null]`, ""},
		{"a lost scanner", "/scan", "", "scanner"},
		{"a lost sonar", "/range/front", `"range":null`, "front"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, topicstest.Config{Mode: hal.Realtime}, Options{})
				s.Rover.Silence(c.lost)
				time.Sleep(time.Second)
				client := dial(t, s, "foxglove.sdk.v1")
				_, channels, _ := client.begin()
				_, rest, ok := strings.Cut(channels, `,"topic":"`+c.channel+`"`)
				if !ok {
					t.Fatalf("no channel %s in %s (%s)", c.channel, channels, rest)
				}
				head := channels[:strings.Index(channels, `,"topic":"`+c.channel+`"`)]
				id := head[strings.LastIndex(head, `"id":`)+5:]
				client.send(`{"op":"subscribe","subscriptions":[{"id":3,"channelId":` + id + `}]}`)
				if got := client.next(); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
					t.Errorf("got %s, want %q", got, c.want)
				}
			})
		})
	}
}
