package player

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// TestSixtyDays: the times of messages are exact when the clock is past 2^31 and 2^32 ms.
func TestSixtyDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, config{mode: hal.Realtime, period: time.Hour}, nil)
		time.Sleep(60*24*time.Hour + time.Minute)
		c := s.dial(t)
		defer c.Close()
		var devices []Device
		var err error
		if devices, err = c.Devices(); err != nil || len(devices) == 0 {
			t.Fatalf("devices: got %v, %v", devices, err)
		}
		p := &simulationPose3{}
		if err := c.request(Device{Simulation, 0}, 3, &simulationPose3{}, p); err != nil {
			t.Fatal(err)
		}
		if hours := p.Time / 3600; hours != float64(int(hours)) || hours < 60*24-1 || p.Time*1000 < 1<<32 {
			t.Errorf("simulation time: got %f s, want 60 days in whole hours", p.Time)
		}
		open(t, c, Device{Position2D, 0})
		m, err := c.Next()
		if err != nil || m.Time != p.Time {
			t.Errorf("time of a message: got %f s, %v, want %f", m.Time, err, p.Time)
		}
	})
}
