package base

import (
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/p2oswire"
)

// A robot with a laser reports a name with that laser behind it: the same base, whose units are the same. A name that
// differs otherwise is another robot.
func TestSubtypes(t *testing.T) {
	for _, c := range []struct {
		robot, reported string
		same            bool
	}{
		{"p3dx-sh", "p3dx-sh", true}, {"p3dx-sh", "P3DX-SH", true}, {"p3dx-sh", "p3dx-sh-lms1xx", true},
		{"p3dx-sh", "p3dx-sh-lms500", true},
		{"p3dx-sh-lms1xx", "p3dx-sh", true}, {"p3dx-sh-lms500", "p3dx-sh-lms1xx", true},
		{"p3at-sh", "p3at-sh-lms1xx", true},
		{"amigo-sh", "amigo-sh-tim3xx", true}, {"peoplebot-sh", "peoplebot-sh-lms1xx", true},
		{"powerbot-sh", "powerbot-sh-lms500", true},
		{"powerbot", "powerbot", true}, {"patrolbot-sh", "patrolbot-sh", true},
		{"p3dx", "p3dx-sh", false}, {"p3dx", "p3dx-sh-lms1xx", false}, {"p3dx-sh", "p3at-sh-lms1xx", false},
		{"p3dx-sh", "p3dx-sh-two", false},
		{"powerbot", "powerbot-sh", false}, {"p3dx-sh", "-lms1xx", false},
	} {
		robot, err := RobotOf(c.robot)
		if err != nil {
			t.Fatal(err)
		}
		b := Base{robot: robot, names: p2oswire.Names{Subclass: c.reported}}
		if got := b.sameRobot() == nil; got != c.same {
			t.Errorf("robot %s, reported %s: got taken %v, want %v", c.robot, c.reported, got, c.same)
		}
	}
	if _, err := RobotOf("p3dx-sh-two"); err == nil {
		t.Error("p3dx-sh-two: got a robot")
	}
	for _, r := range Robots() {
		if len(r.Sonar) > p2oswire.MaxEchoes || r.Bumpers > 7 || !(r.Distance > 0 && r.Radius > 0 && r.MaxTurn > 0) {
			t.Errorf("%s: got %+v", r.Name, r)
		}
	}
}
