package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

const pioneerConfig = `
name: pioneer
clock: {mode: realtime, period: 10ms}
world: {scene: yellow, seed: 1}
agents:
  - {name: p2at, model: usarsim-pioneer, body: sim, pose: {position: [4.5, -1.9, -1.8]}}
servers:
  - {protocol: player, listen: "127.0.0.1:0"}
`

// TestRosbridge: robots of three kinds are ROS robots, by what their layouts offer; one reads all of their topics.
func TestRosbridge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pioneer.yaml")
	if err := os.WriteFile(file, []byte(pioneerConfig), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct{ config, topics string }{
		{file, "/joint_states /tf /odom /range/f1 /range/f2 /range/f3 /range/f4 /range/f5 /range/f6 /range/f7 " +
			"/range/f8 /range/r1 /range/r2 /range/r3 /range/r4 /range/r5 /range/r6 /range/r7 /range/r8 /scan " +
			"/imu/data /camera/compressed /diagnostics /clock /joint_commands /cmd_vel"},
		{"so101", "/joint_states /tf /diagnostics /clock /joint_commands"},
		{"rov", "/joint_states /tf /odom /imu/data /pressure/pressure /battery_state /camera/compressed " +
			"/camera/depth/compressed /diagnostics /clock " +
			"/joint_commands"},
	} {
		r := start(t, "serve", k.config, "--body", "sim", "--set",
			"servers=[{protocol: rosbridge, listen: '127.0.0.1:0'}]")
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		conn, _, err := websocket.Dial(ctx, "ws://"+r.Servers[0].Address, nil)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetReadLimit(1 << 24)
		read := func() (m struct {
			Topic  string
			Values struct{ Topics []string }
		}) {
			_, b, err := conn.Read(ctx)
			if err == nil {
				err = json.Unmarshal(b, &m)
			}
			if err != nil {
				t.Fatalf("%s: %v", k.config, err)
			}
			return m
		}
		send := func(text string) { conn.Write(ctx, websocket.MessageText, []byte(text)) }
		send(`{"op":"call_service","service":"/rosapi/topics"}`)
		names := read().Values.Topics
		if got := strings.Join(names, " "); got != k.topics {
			t.Errorf("%s: got %s, want %s", k.config, got, k.topics)
		}
		left := map[string]bool{}
		for _, name := range names {
			if name != "/joint_commands" && name != "/cmd_vel" {
				left[name] = true
				send(`{"op":"subscribe","topic":"` + name + `"}`)
			}
		}
		for len(left) > 0 {
			name := read().Topic
			delete(left, name)
			send(`{"op":"unsubscribe","topic":"` + name + `"}`)
		}
		conn.CloseNow()
		cancel()
		r.interrupt(t)
	}
}
