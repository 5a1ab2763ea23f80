package calibrate

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/sim/twin"
)

// shared is a log that goroutines write.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shadowed lets an emulated arm with a twin follow random goals for so many seconds of simulated time, and returns what
// was logged, when the first alarm came, s, 0 for none, and the joints at the end. With first it ends at the first
// alarm.
func shadowed(t *testing.T, seconds int, seed uint64, first bool, set ...string) (log string, at float64,
	rows []ResidualRow) {
	t.Helper()
	return struckShadow(t, seconds, seed, first, "", "", set...)
}

// strikeAfter is when a fault is planted in a shadowed arm, s.
const strikeAfter = 5

// struckShadow is shadowed, with a fault of one joint's servo after strikeAfter.
func struckShadow(t *testing.T, seconds int, seed uint64, first bool, joint, fault string, set ...string) (log string,
	at float64, rows []ResidualRow) {
	t.Helper()
	cfg, err := configs.Load("so101", configs.Options{Body: "emulated", Set: append(set, "agents[0].shadow=true")})
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	var text shared
	w := WatchResiduals(sys.Rig(), cfg, builtin.Catalog(), slog.New(slog.NewTextHandler(&text, nil)))
	defer func() { rows, log = w.Close(), text.String() }()
	a, r := sys.Agent("so101"), rand.New(rand.NewPCG(seed, 1))
	for n := range seconds * 100 {
		if fault != "" && n == strikeAfter*100 {
			if err := a.Fault(joint, fault); err != nil {
				t.Fatal(err)
			}
		}
		if n%150 == 0 {
			for _, j := range a.Joints() {
				l := a.Layout().Actuators[a.Layout().Actuator(j)].Limits
				if err := a.Command(j, halyard.Position(0.25*(l.MinPosition+
					(l.MaxPosition-l.MinPosition)*r.Float64()))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := sys.Step(); err != nil {
			t.Fatal(err)
		}
		if at == 0 && strings.Contains(text.String(), "differs") {
			if at = float64(n) / 100; first {
				break
			}
		}
	}
	return "", at, nil
}

// A healthy arm is silent; one that differs is named.
func TestAlarmOfTheTwin(t *testing.T) {
	seconds := 60
	if os.Getenv("HALYARD_LONG") != "" {
		seconds = 3600
	}
	if log, _, _ := shadowed(t, seconds, 1, false); log != "" {
		t.Errorf("healthy for %d s: got %s", seconds, log)
	}
	for _, set := range []string{"elbow_flex.ground_truth.backlash=0.3", "elbow_flex.ground_truth.zero=2600",
		"elbow_flex.ground_truth.direction=-1"} {
		log, at, _ := shadowed(t, 20, 2, true, "agents[0].hardware.joints."+set)
		t.Logf("%s: alarm after %.1f s", set, at)
		if !strings.Contains(log, "joint=so101/elbow_flex") {
			t.Errorf("%s: got no alarm of elbow_flex in 20 s: %q", set, log)
		}
	}
}

// A joint of a running arm that differs from its twin is named with its cause and its evidence, at its place in the
// rows and in the log, while all joints follow random goals. HALYARD_LONG draws 30 of each cause.
func TestCauseOfTheTwin(t *testing.T) {
	seeds, _ := strconv.ParseUint(os.Getenv("HALYARD_SEEDS"), 10, 16)
	if seeds = max(1, seeds); os.Getenv("HALYARD_LONG") != "" {
		seeds = 30
	}
	for _, c := range []struct {
		want  twin.Cause
		least float64 // share that is named so; play shows where the load changes sides
		draw  func(r *rand.Rand) string
	}{
		{twin.Zero, 0.9, func(r *rand.Rand) string {
			return fmt.Sprintf("zero=%d", 2048+(200+r.IntN(190))*(1-2*r.IntN(2)))
		}},
		{twin.Reversed, 0.9, func(*rand.Rand) string { return "direction=-1" }},
		{twin.Play, 0.5, func(r *rand.Rand) string { return fmt.Sprintf("backlash=%.3f", 0.15+0.15*r.Float64()) }},
	} {
		if c.want == twin.Play && seeds == 1 {
			continue // each judging is a second or two
		}
		named := map[twin.Cause]int{}
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 96))
			joint := []string{"elbow_flex", "shoulder_lift"}[seed%2]
			log, at, rows := shadowed(t, 24, seed+2, false, "agents[0].hardware.joints."+joint+".ground_truth."+
				c.draw(r), "agents[0].pose.position=[0, 0, 1]")
			for _, row := range rows {
				if row.Joint != "so101/"+joint {
					continue
				}
				if named[row.Cause]++; row.Cause != c.want {
					t.Logf("%s, seed %d: alarm after %.1f s: got %+v", c.want, seed, at, row)
					continue
				}
				if !(row.Recent > 0 && row.Explained > 0.2) || math.IsNaN(float64(row.Since)) || row.Found == "" {
					t.Errorf("%s, seed %d: got no evidence: %+v", c.want, seed, row)
				}
				if !strings.Contains(log, "why a joint differs from its twin\" joint="+row.Joint+" cause="+
					string(c.want)) {
					t.Errorf("%s, seed %d: got %s, want the cause in the log", c.want, seed, log)
				}
			}
		}
		if t.Logf("%s: %v", c.want, named); float64(named[c.want]) < c.least*float64(seeds) {
			t.Errorf("%s: got %v, want it named in %.0f %%", c.want, named, 100*c.least)
		}
	}
}

// The causes cost a cycle no allocation, even while a joint differs.
func TestCausesAllocateNothing(t *testing.T) {
	cfg, err := configs.Load("so101", configs.Options{Body: "emulated", Set: []string{"agents[0].shadow=true"}})
	if err != nil {
		t.Fatal(err)
	}
	sys, err := halyard.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	w := WatchResiduals(sys.Rig(), cfg, builtin.Catalog(), slog.New(slog.DiscardHandler))
	defer w.Close()
	for range 10 {
		if err := sys.Step(); err != nil {
			t.Fatal(err)
		}
	}
	w.joints[2].differs.Store(math.Float64bits(w.joints[2].clock))
	w.Cycle(nil)
	if n := testing.AllocsPerRun(500, func() { w.Cycle(nil) }); n > 0 {
		t.Errorf("got %g allocations a cycle", n)
	}
	if w.causes[0].fill.n < 500 {
		t.Errorf("got %d rows recorded, want 500", w.causes[0].fill.n)
	}
}

// A difference that grows evenly from 0.01 rad to 0.02 rad in an hour has that trend, one that stays has none.
func TestTrendOfTheTwin(t *testing.T) {
	for _, growth := range []float64{0.01, 0} {
		var j residual
		for range 36000 {
			j.clock += 0.1
			e := 0.01 + growth*j.clock/3600
			j.n++
			j.squares += e * e
			j.moment += e * e * j.clock
		}
		if got := j.trend(); math.Abs(got-growth) > 0.0005 {
			t.Errorf("got a trend of %.4f rad/h, want %.4f", got, growth)
		}
	}
}

// How long a change takes until its alarm, over random goals and sizes, on two joints: of what is mounted otherwise
// from the start, of a fault from when it comes. HALYARD_LONG draws 30 of each, HALYARD_SEEDS as many as it says.
func TestTimeToAlarm(t *testing.T) {
	seeds, _ := strconv.Atoi(os.Getenv("HALYARD_SEEDS"))
	if os.Getenv("HALYARD_LONG") != "" {
		seeds = 30
	}
	mounted := func(text string, args ...any) (string, string) { return fmt.Sprintf(text, args...), "" }
	fault := func(text string, args ...any) (string, string) { return "", fmt.Sprintf(text, args...) }
	for _, c := range []struct {
		name string
		draw func(r *rand.Rand) (set, fault string)
		most float64 // s, of the median; the size and the goals decide what shows at all
	}{
		{"zero, 9 to 34 degrees", func(r *rand.Rand) (string, string) {
			return mounted("zero=%.0f", 2048+either(r, float64(100+r.IntN(290))))
		}, 2},
		{"reversed", func(*rand.Rand) (string, string) { return mounted("direction=-1") }, 2},
		{"gear of 0.6 to 2", func(r *rand.Rand) (string, string) {
			return mounted("gear=%g", []float64{0.6, 0.67, 1.5, 2}[r.IntN(4)])
		}, 10},
		{"play, 6 to 17 degrees", func(r *rand.Rand) (string,
			string) {
			return mounted("backlash=%.3f", between(r, 0.1, 0.3))
		}, 30},
		{"latency, 40 to 100 ms", func(r *rand.Rand) (string,
			string) {
			return fault("stale by=%.0fms", between(r, 40, 100))
		}, 10},
		{"stuck sensor", func(*rand.Rand) (string, string) { return fault("stuck") }, 10},
		{"loose horn, 11 to 29 degrees", func(r *rand.Rand) (string, string) {
			return fault("slipped by=%.0f", either(r, between(r, 0.2, 0.5))*4096/(2*math.Pi))
		}, 60},
	} {
		var times []float64
		for seed := range uint64(max(1, seeds)) {
			r := rand.New(rand.NewPCG(seed, 97))
			joint := []string{"shoulder_lift", "elbow_flex"}[seed%2]
			set, fault := c.draw(r)
			var more []string
			if set != "" {
				more = append(more, "agents[0].hardware.joints."+joint+".ground_truth."+set)
			}
			log, at, _ := struckShadow(t, 60+strikeAfter, seed, true, joint, fault, more...)
			if at == 0 {
				at = math.Inf(1)
			} else if !strings.Contains(log, "so101/") {
				t.Errorf("%s, seed %d: got %q, want a joint", c.name, seed, log)
			}
			if fault != "" {
				at -= strikeAfter
			}
			if at > 60 {
				at = math.Inf(1)
			}
			if at < 0 {
				t.Errorf("%s, seed %d: got an alarm %.1f s before the fault: %s", c.name, seed, -at, log)
			}
			times = append(times, at)
		}
		slices.Sort(times)
		late := 0
		for _, at := range times {
			if at > 60 {
				late++
			}
		}
		t.Logf("%-28s median %.1f s, 95 %% within %.1f s, %d of %d not within 60 s", c.name, times[len(times)/2],
			times[(len(times)*95+99)/100-1], late, len(times))
		if times[len(times)/2] > c.most {
			t.Errorf("%s: got a median of %.1f s, want at most %g", c.name, times[len(times)/2], c.most)
		}
	}
}
