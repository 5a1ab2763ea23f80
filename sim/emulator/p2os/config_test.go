package p2os_test

import (
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/base"
)

// A base that always gets the checksum of its configuration wrong is understood, and one that never sends it is asked a
// few times.
func TestConfigOfOldFirmware(t *testing.T) {
	r := newRobot(t, "p3dx", 1, nil)
	r.board.WrongConfig = true
	must(t, r.base.Open())
	drive := func(d time.Duration) {
		for range d / period {
			must(t, r.base.Send())
			must(t, r.line.Advance(period))
			must(t, r.base.Receive())
		}
	}
	drive(10 * time.Second)
	if c := r.base.Config(); c.Class != "Pioneer" || r.board.Configs > 3 {
		t.Errorf("got %+v after %d requests, want it after 2 or 3", c, r.board.Configs)
	}
	mute := newRobot(t, "p3dx", 1, func(s *base.Settings) { s.Gyro, s.Encoders = false, false })
	mute.board.Mute = true
	must(t, mute.base.Open())
	r = mute
	drive(60 * time.Second)
	if c := r.base.Config(); c.Class != "" || r.board.Configs > 8 {
		t.Errorf("got %+v and %d requests, want none and a few", c, r.board.Configs)
	}
}
