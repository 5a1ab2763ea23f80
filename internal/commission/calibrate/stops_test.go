package calibrate

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/calibration"
)

// The servos find the stops of an arm whose zeros, directions and gears are planted: never by more torque than is asked
// for, nor by a stall longer than 0.3 s. What an encoder cannot reach is left to the hand, as is a joint whose way is
// blocked.
func TestStops(t *testing.T) {
	dir := t.TempDir()
	lines := strings.SplitAfter(person("\n"), "\n")
	// The hand's sweep becomes the servos' search; the wrist's encoder ends within its travel.
	answers := strings.Join(lines[:4], "") + "stops nose\nstops shoulder_pan wrist_flex wrist_roll gripper\n" +
		strings.Repeat("\n", 5) +
		"hand shoulder_lift -100 shoulder_lift 100 elbow_flex -97 elbow_flex 97 wrist_flex -95 wrist_flex 95 " +
		"gripper -10 gripper 100\n\n" + strings.Join(lines[6:], "")
	g, out := guide(t, dir, answers, plantedOptions())
	if _, err := g.Run(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range planted {
		c, err := calibration.Load(filepath.Join(dir, p.joint+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		j := g.robot.Joint(p.joint)
		low, high := c.Radians(c.RangeTicks[0]), c.Radians(c.RangeTicks[1])
		if low > high {
			low, high = high, low
		}
		t.Logf("%s: %s, %.2f..%.2f degrees of %.2f..%.2f", p.joint, c.Method, low/degree, high/degree,
			j.Limits.MinPosition/degree, j.Limits.MaxPosition/degree)
		want := calibration.ByEndstops
		if slices.Contains([]string{"shoulder_lift", "elbow_flex", "wrist_flex", "gripper"}, p.joint) {
			want = calibration.ByManual
		}
		if c.Method != want || math.Abs(low-j.Limits.MinPosition) > 3*degree ||
			math.Abs(high-j.Limits.MaxPosition) > 3*degree {
			t.Errorf("%s: got %s, %.2f..%.2f degrees, want %s and the stops at %.2f..%.2f", p.joint, c.Method,
				low/degree, high/degree, want, j.Limits.MinPosition/degree, j.Limits.MaxPosition/degree)
		}
	}
	for _, want := range []string{`got joint "nose"`, "wrist_flex: no stop downward", "gripper: no stop upward"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %q", out, want)
		}
	}
}

// The search presses with a fifth of the servo's torque against a stop, for less than 0.3 s, and steps back.
func TestStopsPressLittle(t *testing.T) {
	g, out := guide(t, t.TempDir(), "", plantedOptions())
	if err := g.prepare(); err != nil {
		t.Fatal(err)
	}
	g.notes = progress{Joints: map[string]*measured{}}
	for _, p := range planted {
		zero := p.zero
		*g.notes.of(p.joint) = measured{Reference: &zero, Direction: p.direction}
	}
	ctx := context.Background()
	dir := t.TempDir()
	c, err := g.sessionConfig(func(j *Joint) string {
		path := filepath.Join(dir, j.Name+".yaml")
		if _, err := calibration.Save(path, g.wide(j)); err != nil {
			t.Fatal(err)
		}
		return path
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := g.arm(ctx, c, g.wide)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	defer m.end()
	j := g.robot.Joint("shoulder_pan")
	w := m.watched(j.Name)
	stall := w.by.Torque.Constant // N·m of the whole drive
	at, still, longest, most := math.NaN(), 0.0, 0.0, 0.0
	ticks, stop, err := g.press(ctx, m, newGravity(g.robot.plan, 9.81), j, 1, func(s halyard.JointState) {
		if most = math.Max(most, math.Abs(s.Torque)/stall); math.Abs(s.Position-at) > 0.1*degree/stopReach ||
			math.IsNaN(at) {
			at, still = s.Position, 0
		}
		still += m.period.Seconds()
		longest = math.Max(longest, still)
	})
	if err != nil || !stop {
		t.Fatalf("got stop %v and %v, want one", stop, err)
	}
	away := math.Abs(m.agent.State(j.Name).Position-w.by.Radians(ticks)) * stopReach / degree
	t.Logf("at tick %.0f; still for %.2f s, %.0f %% of the torque, %.1f degrees away now", ticks, longest, 100*most,
		away)
	if longest > 0.3 || most > 0.25 || away < 2 {
		t.Errorf("got %.2f s still with %.0f %% of the torque, and %.1f degrees away now, want at most 0.3 s, 25 "+
			"%%, and 2 degrees", longest, 100*most, away)
	}
}
