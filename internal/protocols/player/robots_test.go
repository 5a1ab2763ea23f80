package player_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/internal/protocols/player"
	"github.com/halyard-robotics/halyard/internal/serve/servetest"
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

// TestRobots: robots of three kinds are Player robots, by what their layouts offer; the Pioneer drives.
func TestRobots(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pioneer.yaml")
	if err := os.WriteFile(file, []byte(pioneerConfig), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct{ config, devices string }{
		{file, "position2d:0 position3d:0 simulation:0 laser:0 ranger:0 sonar:0 ranger:1 bumper:0 power:0 ptz:0 " +
			"camera:0 actarray:0 dio:0 imu:0 rfid:0 fiducial:0 opaque:0"},
		{"so101", "actarray:0 limb:0 gripper:0 opaque:0"},
		{"rov", "position3d:0 simulation:0 power:0 camera:0 camera:1 imu:0 opaque:0"},
	} {
		t.Run(filepath.Base(k.config), func(t *testing.T) {
			c := served(t, k.config)
			var names []string
			devices, err := c.Devices()
			for _, d := range devices {
				names = append(names, d.String())
			}
			if got := strings.Join(names, " "); err != nil || got != k.devices {
				t.Errorf("got %s, %v, want %s", got, err, k.devices)
			}
			switch {
			case slices.Contains(names, "position2d:0"):
				drives(t, c)
				senses(t, c)
			case slices.Contains(names, "position3d:0"):
				dives(t, c)
			}
		})
	}
}

// served serves a config, simulated, until the test ends, and returns a client of it.
func served(t *testing.T, config string) *player.Client {
	t.Helper()
	cfg, err := halyard.Load(config, halyard.Set("servers", "[{protocol: player, listen: '127.0.0.1:0'}]"),
		halyard.Set("name", "player-robots"))
	if err != nil {
		t.Fatal(err)
	}
	_, servers := servetest.Serve(t, cfg, halyard.WithBody("sim"))
	conn, err := net.Dial("tcp", servers[0].Address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := player.NewClient(conn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// drives waits until the robot has driven 0.1 m ahead.
func drives(t *testing.T, c *player.Client) {
	t.Helper()
	if _, err := c.Open(player.Device{Interface: player.Position2D}); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if err := c.Drive(0.3, 0); err != nil {
			t.Fatal(err)
		}
		m, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := m.Position2D(); ok && at.X > 0.1 && at.X < 1 && at.Y < 0.05 {
			return
		}
	}
	t.Error("after 100 messages: got less than 0.1 m")
}

// await reads until enough says so.
func await(t *testing.T, c *player.Client, what string, enough func(m *player.Message) bool) {
	t.Helper()
	for range 2000 {
		m, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		if enough(&m) {
			return
		}
	}
	t.Errorf("%s: got nothing in 2000 messages", what)
}

// senses switches the headlight, and finds the tag and the victim where the arena has them.
func senses(t *testing.T, c *player.Client) {
	t.Helper()
	for _, i := range []player.Interface{player.DIO, player.RFID, player.Fiducial} {
		if _, err := c.Open(player.Device{Interface: i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Switch(1, 1); err != nil {
		t.Fatal(err)
	}
	await(t, c, "headlight", func(m *player.Message) bool { bits, ok := m.Bits(); return ok && bits == 1 })
	for _, k := range []struct {
		id string
		at [3]float64
	}{{"1", [3]float64{3.1, -1.9, -1.8}}, {"-1", [3]float64{1.2, -4.35, -1.82}},
		{"0", [3]float64{1.75, -4.35, -1.82}}} {
		if err := c.Place("p2at", k.at, [3]float64{}); err != nil {
			t.Fatal(err)
		}
		await(t, c, "tag or victim "+k.id, func(m *player.Message) bool {
			ids, ok := m.Tags()
			return ok && slices.Equal(ids, []string{k.id})
		})
	}
}

// dives waits until the vehicle has the speed that it is told.
func dives(t *testing.T, c *player.Client) {
	t.Helper()
	if _, err := c.Open(player.Device{Interface: player.Position3D}); err != nil {
		t.Fatal(err)
	}
	await(t, c, "speed ahead", func(m *player.Message) bool {
		if err := c.Fly([3]float64{0.2, 0, 0}, [3]float64{0, 0, 0.2}); err != nil {
			t.Fatal(err)
		}
		linear, angular, ok := m.Velocity3D()
		return ok && linear[0] > 0.15 && angular[2] > 0.15
	})
}
