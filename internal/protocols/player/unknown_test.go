package player

import (
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// TestUnknown is what a client sees of lost joints and sensors, and of a robot that no command moves: NaN, a word of
// the interface, or no data.
func TestUnknown(t *testing.T) {
	nan := math.NaN()
	still := actuatorState{Acceleration: nan, Current: nan, State: 1}
	gone := actuatorState{Position: nan, Speed: nan, Acceleration: nan, Current: nan, State: 8}
	for _, c := range []struct {
		name   string
		lost   string
		disarm bool
		device Device
		want   payload // nil: no data
		log    string
	}{
		{"a lost wheel", "left", false, Device{Position2D, 0}, &position2Data{Velocity: pose2{X: nan, A: nan}}, ""},
		{"lost odometry", "odometry", false, Device{Position2D, 0}, nil, ""},
		{"disarmed wheels", "", true, Device{Position2D, 0}, &position2Data{Stall: 1}, "disarmed (try: halyard arm)"},
		{"a lost pose", "truth", false, Device{Position3D, 0}, nil, ""},
		{"a lost scanner", "scanner", false, Device{Laser, 0}, nil, ""},
		{"a lost scanner as a ranger", "scanner", false, Device{Ranger, 0}, nil, ""},
		{"a lost cone", "front", false, Device{Sonar, 0}, &floats{nan, 2.5}, ""},
		{"a lost contact is not open", "bump", false, Device{Bumper, 0}, &octets{255}, ""},
		{"a lost voltage", "supply", false, Device{Power, 0}, &powerData{Valid: 8, Volts: nan, Percent: 50, Joules: nan,
			Watts: nan}, ""},
		{"a lost pan", "pan", false, Device{PanTilt, 0},
			&ptzData{ptzCommand: ptzCommand{Pan: nan, Zoom: 1, PanSpeed: nan}}, ""},
		{"a lost joint", "pan", false, Device{ActArray, 0},
			&actArrayData{[]actuatorState{gone, still, still, still, still}, 1}, ""},
		{"disarmed joints", "", true, Device{ActArray, 0}, &actArrayData{make5(still), 0}, ""},
		{"a lost joint of the arm", "shoulder", false, Device{Limb, 0}, nil, ""},
		{"a lost gripper", "claw", false, Device{Gripping, 0}, &gripperData{State: 4}, ""},
		{"a lost imu", "imu", false, Device{IMU, 0}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				s := newStage(t, config{mode: hal.Realtime,
					options: Options{Log: slog.New(slog.NewTextHandler(&log, nil))}},
					nil)
				if c.lost != "" {
					s.rover.mu.Lock()
					s.rover.lost = map[string]bool{c.lost: true}
					s.rover.mu.Unlock()
				}
				if c.disarm {
					s.agent.Disarm()
				}
				time.Sleep(time.Second)
				client := s.dial(t)
				defer client.Close()
				open(t, client, c.device)
				if c.log != "" {
					client.Drive(1, 0)
				}
				if c.want == nil { // the next device's data comes alone
					open(t, client, Device{Opaque, 0})
					for range 5 {
						if m, err := client.Next(); err != nil || m.Device == c.device {
							t.Fatalf("got %v, %v, want no data", m.Device, err)
						}
					}
					return
				}
				got := reflect.New(reflect.TypeOf(c.want).Elem()).Interface().(payload)
				data(t, client, c.device, 1, got)
				if fmt.Sprintf("%.3g", got) != fmt.Sprintf("%.3g", c.want) {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				if synctest.Wait(); !strings.Contains(log.String(), c.log) {
					t.Errorf("log: got %s, want %q", log.String(), c.log)
				}
			})
		})
	}
}
