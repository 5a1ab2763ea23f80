package chaos

import (
	"reflect"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// brands are configs whose servos are of different vendors, lines and modes.
var brands = []string{"so101", "lx16a-arm", "xm430-arm", "pendulum"}

// TestNoViolation: random schedules break no invariant, and each invariant is judged.
func TestNoViolation(t *testing.T) {
	n := int64(40)
	if testing.Short() {
		n = 5
	}
	var exercised [numInvariants]uint64
	for _, name := range brands {
		for seed := range n {
			r, err := Seed(name, seed+1)
			if err != nil {
				t.Fatal(err)
			}
			if r.Violated != "" {
				t.Errorf("%s\n%s", r.Describe(), strings.Join(r.Script, "\n"))
			}
			for i, count := range r.Exercised {
				exercised[i] += count
			}
		}
	}
	for i, count := range exercised {
		if count == 0 && !testing.Short() {
			t.Errorf("%s: never judged", Invariants[i].Name)
		}
	}
}

// TestRepeats: a seed gives the same result each time.
func TestRepeats(t *testing.T) {
	var first Result
	for k := range 3 {
		r, err := Seed("xm430-arm", 7)
		if err != nil {
			t.Fatal(err)
		}
		if k > 0 && !reflect.DeepEqual(r, first) {
			t.Errorf("run %d: got %+v, want %+v", k, r, first)
		}
		first = r
	}
}

// TestScript: what is printed can be run again.
func TestScript(t *testing.T) {
	r, err := open("lx16a-arm", 3)
	if err != nil {
		t.Fatal(err)
	}
	schedule := generate(3, r)
	r.sys.Close()
	var text strings.Builder
	for _, a := range schedule {
		text.WriteString(a.String() + "\n")
	}
	again, err := ParseAll("# a comment\n\n" + text.String())
	if err != nil || len(again) != len(schedule) {
		t.Fatalf("got %d actions, %v, want %d", len(again), err, len(schedule))
	}
	for i := range again {
		if again[i].String() != schedule[i].String() {
			t.Errorf("got %q, want %q", again[i], schedule[i])
		}
	}
	for _, bad := range []string{"at 1", "at x stop", "at 1 fly", "at 1 command a 2 position", "at 1 late NaN", "now stop"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}

// TestBites: defects that are planted in the robot are found, and minimised to what shows them.
func TestBites(t *testing.T) {
	for _, c := range []struct {
		name, config string
		plant        func(*run)
		violated     string
		actions      int // at most
	}{
		{"a motor that no stop reaches", "xm430-arm", func(r *run) { r.joints[1].truth.Enable = true }, "unarmed torque", 3},
		{"a goal beyond the limits", "so101", func(r *run) {
			if s := r.joints[1].truth; s.Enable {
				s.GoalPosition = 3
			}
		}, "goal outside", 3},
		{"a goal that jumps", "so101", func(r *run) {
			if s := r.joints[1].truth; s.Enable && r.cycle%40 == 0 {
				s.GoalPosition *= -1
			}
		}, "goal step", 4},
		{"a drive that overspeeds", "xl430-pendulum", func(r *run) {
			if s := r.joints[0].truth; s.Enable && s.Mode == hal.PositionMode {
				s.Velocity = 9
			}
		}, "speed", 4},
		{"a stop that drops half", "so101", func(r *run) {
			if r.agent.JointState(0) == hal.Stopped && r.cycle%2 == 0 {
				r.joints[0].truth.Enable = true
			}
		}, "late stop", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range int64(60) {
				robot, err := open(c.config, seed+1)
				if err != nil {
					t.Fatal(err)
				}
				schedule := generate(seed+1, robot)
				robot.sys.Close()
				fails := func(s []Action) bool {
					r, err := execute(c.config, seed+1, s, c.plant)
					return err == nil && r.Violated == c.violated
				}
				if !fails(schedule) {
					continue
				}
				short := minimise(schedule, fails)
				t.Logf("seed %d: %d of %d actions: %v", seed+1, len(short), len(schedule), short)
				if len(short) > c.actions {
					t.Errorf("minimised to %d actions, want at most %d", len(short), c.actions)
				}
				return
			}
			t.Error("not found in 60 seeds")
		})
	}
}
