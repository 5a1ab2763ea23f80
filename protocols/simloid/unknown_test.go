package simloid

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/halyard-robotics/halyard/hal"
)

// TestUnknown is what a client sees of lost joints and sensors and of a robot that no command moves: the wire is C's
// %lf, which has a word for what is no number. It has none for the robot's state, which is in the log.
func TestUnknown(t *testing.T) {
	lost := errors.New("no reply")
	for _, c := range []struct {
		name string
		do   func(s *stage)
		want string // the numbers behind the time
		log  string
	}{
		{"all known", func(*stage) {}, "0.000000 0.000000 0.000000 0.000000 0.125000 0.000000 0.000000 0.500000", ""},
		{"a lost joint", func(s *stage) { s.body.Silent[0] = lost },
			"nan nan 0.000000 0.000000 0.125000 0.000000 0.000000 0.500000",
			`level=WARN msg="simloid: commands move nothing" client=pipe agent=robot why="command robot: no joint follows ` +
				`its goals: joint0: no reply (try: halyard reset)"`},
		{"lost sensors", func(s *stage) { s.body.lost = lost }, "0.000000 0.000000 nan nan nan nan nan nan", ""},
		{"disarmed", func(s *stage) { s.robot.Agent.Disarm() }, "0.000000 0.000000 0.000000",
			`why="command robot: disarmed (try: halyard arm)"`},
		{"stopped", func(s *stage) { s.rig.EmergencyStop("test") }, "0.000000 0.000000 0.000000",
			`why="command robot: the emergency stop is latched (try: halyard reset)"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, config{mode: hal.Lockstep, Options: Options{Exact: true}})
				s.receive("a")
				s.conn("a").Write([]byte("ACK\n"))
				s.receive("a")
				c.do(s)
				got := ""
				for range 20 { // 200 ms
					s.conn("a").Write([]byte("PA 0.1\nTA 0\nDONE\n"))
					got = s.receive("a")
				}
				if _, got, _ = strings.Cut(got, " "); !strings.HasPrefix(got, c.want) {
					t.Errorf("got %s, want %s...", got, c.want)
				}
				if n := strings.Count(s.log.String(), "commands move nothing"); c.log == "" && n != 0 ||
					c.log != "" && n != 1 || !strings.Contains(s.log.String(), c.log) {
					t.Errorf("log: got %s, want once %q", s.log, c.log)
				}
			})
		})
	}
	// the client's side
	status := Status{Position: make([]float64, 1), Velocity: make([]float64, 1)}
	if _, err := decodeStatus([]byte("0.01 nan 0.5\n"), &status); err != nil || !math.IsNaN(status.Position[0]) ||
		status.Velocity[0] != 0.5 {
		t.Errorf("got %+v, %v", status, err)
	}
}
