package chaos

import (
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
)

// sampled are robots that stand for the others: a config of each kind, and a model of each type of bus.
func sampled() []string {
	return append([]string{"so101", "lx16a-arm", "xm430-arm", "pendulum", "xl430-pendulum"}, Sample()...)
}

// TestNoViolation: random schedules break no invariant, and each invariant is exercised.
func TestNoViolation(t *testing.T) {
	n := haltest.Sample(70, 160)
	counts := Counts{}
	for _, name := range sampled() {
		for first, ideal := range map[int]bool{1: false, 1 + n/2: true} { // half of the seeds with each timing
			r, err := Open(name, ideal)
			if err != nil {
				t.Fatal(err)
			}
			err = r.Sweep(context.Background(), int64(first), n/2, 1, func(r *Result) {
				counts.Add(r.Exercised)
				if r.Violated != "" {
					t.Errorf("ideal %v: %s\n%s", ideal, r.Describe(), strings.Join(r.Script, "\n"))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	var all [numInvariants]uint64
	for _, c := range counts {
		for i, count := range c {
			all[i] += count
		}
	}
	for i, count := range all {
		if count == 0 {
			t.Errorf("%s: never exercised", Invariants[i].Name)
		}
	}
}

// TestEveryRobot: each config and each model of servo can be built, and lasts one schedule of each variant.
func TestEveryRobot(t *testing.T) {
	names, err := Configs()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range append(names, Generated()...) {
		r, err := Open(name, i%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range int64(len(r.variants)) {
			result, err := r.Seed(1 + seed)
			if err != nil {
				t.Fatal(err)
			}
			if result.Violated != "" {
				t.Errorf("%s\n%s", result.Describe(), strings.Join(result.Script, "\n"))
			}
		}
	}
	if _, err := Open("hobby-hexapod", false); err == nil {
		t.Error("a robot of pulses: got no error")
	}
	if _, err := Open("dynamixel2/none", false); err == nil {
		t.Error("a model that is not there: got no error")
	}
}

// TestRepeats: a seed gives the same result each time, with any load on the machine.
func TestRepeats(t *testing.T) {
	for i, name := range []string{"xm430-arm", "odrive-can/odrive-s1"} {
		r, err := Open(name, i == 0)
		if err != nil {
			t.Fatal(err)
		}
		var first []Result
		for workers := range 3 {
			var all []Result
			if err := r.Sweep(context.Background(), 7, 12, workers+1,
				func(r *Result) { all = append(all, *r) }); err != nil {
				t.Fatal(err)
			}
			if workers > 0 && !reflect.DeepEqual(all, first) {
				t.Errorf("%s, %d workers: got %+v, want %+v", name, workers+1, all, first)
			}
			first = all
		}
	}
}

// TestScript: what is printed can be run again.
func TestScript(t *testing.T) {
	r, err := Open("lx16a-arm", false)
	if err != nil {
		t.Fatal(err)
	}
	verbs := map[string]bool{}
	for seed := range int64(60) {
		schedule := r.Schedule(seed)
		var text strings.Builder
		for _, a := range schedule {
			verbs[a.Verb] = true
			text.WriteString(a.String() + "\n")
		}
		again, err := ParseAll("# a comment\n\n" + text.String())
		if err != nil || len(again) != len(schedule) {
			t.Fatalf("got %d actions, %v, want %d", len(again), err, len(schedule))
		}
		for i := range again {
			if again[i] != schedule[i] {
				t.Errorf("got %q, want %q", again[i], schedule[i])
			}
		}
	}
	if len(verbs) != 21 {
		t.Errorf("60 schedules: got %d verbs, want all 21", len(verbs))
	}
	for _, bad := range []string{"at 1", "at x stop", "at 1 fly", "at 1 command a 2 position", "at 1 late NaN",
		"now stop", "at 1 output odd", "at 1 id 2"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q: got no error", bad)
		}
	}
}

// TestNothing: a schedule without an action ends.
func TestNothing(t *testing.T) {
	r, err := Open("pendulum", false)
	if err != nil {
		t.Fatal(err)
	}
	if result, err := r.Run(1, nil); err != nil || result.Violated != "" {
		t.Errorf("got %+v, %v", result, err)
	}
}

// TestTowards: which steps of a goal are no motion away from the joint. The judge lets no others pass at more than the
// guard's speed.
func TestTowards(t *testing.T) {
	for _, c := range []struct {
		what            string
		to, from, joint float64
		want            bool
	}{
		{"drawn near a joint that rushes towards it", 1.217, 1.302, 1.016, true},
		{"to the joint", 0.5, 1.3, 0.5, true},
		{"a little behind it", 0.45, 1.3, 0.5, true},
		{"far behind it", 0.3, 1.3, 0.5, false},
		{"away from it", 1.4, 1.3, 0.5, false},
		{"to its other side", -0.3, 1.3, 0.5, false},
		{"it stays", 1.3, 1.3, 0.5, true},
	} {
		if got := towards(&hal.Actuator{}, c.to, c.from, c.joint, leapBound); got != c.want {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
	wheel := hal.Actuator{Wraps: true}
	if !towards(&wheel, 3.1, -2.9, 2.8, leapBound) || towards(&wheel, -2.9, 3.1, 2.8, leapBound) {
		t.Error("a wheel: the short way round is not seen")
	}
}

// TestOutput: the log's output fails and blocks as it is told, and a blocked writer is freed.
func TestOutput(t *testing.T) {
	var o output
	for _, c := range []struct {
		how  string
		want error
	}{{wellOutput, nil}, {fullOutput, errFull}, {closedOutput, errClosed}} {
		if o.set(c.how); c.want != write(&o) {
			t.Errorf("%s: got another error, want %v", c.how, c.want)
		}
	}
	o.set(blockedOutput)
	done := make(chan error)
	go func() { done <- write(&o) }()
	select {
	case <-done:
		t.Error("blocked: it was written")
	case <-time.After(10 * time.Millisecond):
	}
	o.free()
	if err := <-done; err != nil {
		t.Errorf("freed: got %v", err)
	}
}

func write(o *output) error {
	_, err := o.Write([]byte("x"))
	return err
}
