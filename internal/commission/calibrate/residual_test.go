package calibrate

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
)

// shadowed lets an emulated arm with a twin follow random goals for so many seconds of simulated time, and returns what was logged
// and when the first alarm came, s; 0 for none. With first it ends there.
func shadowed(t *testing.T, seconds int, seed uint64, first bool, set ...string) (log string, at float64) {
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
	var text bytes.Buffer
	w := WatchResiduals(sys.Rig(), cfg, slog.New(slog.NewTextHandler(&text, nil)))
	defer w.Close()
	a, r := sys.Agent("so101"), rand.New(rand.NewPCG(seed, 1))
	for n := range seconds * 100 {
		if n%150 == 0 {
			for _, j := range a.Joints() {
				l := a.Layout().Actuators[a.Layout().Actuator(j)].Limits
				if err := a.Command(j, halyard.Position(0.25*(l.MinPosition+(l.MaxPosition-l.MinPosition)*r.Float64()))); err != nil {
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
	return text.String(), at
}

// A healthy arm is silent; one that differs is named.
func TestAlarmOfTheTwin(t *testing.T) {
	seconds := 60
	if os.Getenv("HALYARD_LONG") != "" {
		seconds = 3600
	}
	if log, _ := shadowed(t, seconds, 1, false); log != "" {
		t.Errorf("healthy for %d s: got %s", seconds, log)
	}
	for _, set := range []string{"elbow_flex.ground_truth.backlash=0.3", "elbow_flex.ground_truth.zero=2600", "elbow_flex.ground_truth.direction=-1"} {
		log, at := shadowed(t, 20, 2, false, "agents[0].hardware.joints."+set)
		t.Logf("%s: alarm after %.1f s", set, at)
		if !strings.Contains(log, "joint=so101/elbow_flex") {
			t.Errorf("%s: got no alarm of elbow_flex in 20 s: %q", set, log)
		}
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

// How long a change takes until its alarm, over random goals and sizes, on two joints. HALYARD_LONG draws 30 of each.
func TestTimeToAlarm(t *testing.T) {
	seeds := 1
	if os.Getenv("HALYARD_LONG") != "" {
		seeds = 30
	}
	for _, c := range []struct {
		name string
		draw func(r *rand.Rand) string
	}{
		{"zero, 9 to 34 degrees", func(r *rand.Rand) string {
			return fmt.Sprintf("zero=%d", 2048+(100+r.IntN(290))*(1-2*r.IntN(2)))
		}},
		{"reversed", func(*rand.Rand) string { return "direction=-1" }},
		{"play, 6 to 17 degrees", func(r *rand.Rand) string { return fmt.Sprintf("backlash=%.3f", 0.1+0.2*r.Float64()) }},
	} {
		var times []float64
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(seed, 97))
			joint := []string{"shoulder_lift", "elbow_flex"}[seed%2]
			log, at := shadowed(t, 60, seed, true, "agents[0].hardware.joints."+joint+".ground_truth."+c.draw(r))
			if at == 0 {
				at = math.Inf(1)
			} else if !strings.Contains(log, "so101/") {
				t.Errorf("%s, seed %d: got %q, want a joint", c.name, seed, log)
			}
			times = append(times, at)
		}
		slices.Sort(times)
		late := 0
		for _, at := range times {
			if math.IsInf(at, 1) {
				late++
			}
		}
		t.Logf("%-22s median %.1f s, 95 %% within %.1f s, %d of %d not within 60 s", c.name, times[len(times)/2], times[(len(times)*95+99)/100-1], late, len(times))
		if times[len(times)/2] > 30 {
			t.Errorf("%s: got a median of %.1f s, want at most 30", c.name, times[len(times)/2])
		}
	}
}
