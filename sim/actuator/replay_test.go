package actuator

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
)

// A recording of a real servo on a pendulum bench (data/README.md).
type recording struct {
	Mass, Length, Kp, Vin float64
	Motor, Trajectory     string
	Entries               []struct {
		Timestamp    float64
		GoalPosition float64 `json:"goal_position"`
		Position     float64
		TorqueEnable bool `json:"torque_enable"`
	}
}

// recordings are the files that match pattern under the data folder next to the repository; the test is skipped where
// there are none.
func recordings(t testing.TB, pattern string) (files []string) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Skip("no go.mod above the working directory")
		}
		dir = parent
	}
	pattern = filepath.Join(dir, "..", "shared", "data", pattern)
	if files, _ = filepath.Glob(pattern); len(files) == 0 {
		t.Skipf("no recordings at %s", pattern)
	}
	return files
}

func load(t testing.TB, file string) *recording {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{}
	if err := json.Unmarshal(b, r); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return r
}

// replay gives the recorded goals to a servo of spec on the recorded pendulum, whose arm hangs offset from 0, and
// returns the mean absolute and the root mean square difference of its measured position from the recorded one,
// degrees.
func replay(r *recording, spec *Spec, offset float64) (mae, rms float64) {
	s := NewServo(spec)
	s.Load = Load{Mass: r.Mass, Length: r.Length, Down: -offset}
	s.Supply = NewSupply(r.Vin, 0)
	s.Gains.P = r.Kp
	s.Shutdown = 0 // 7.4 V is above the XL330's range
	s.Reset(r.Entries[0].Position)
	s.GoalPosition, s.Mode = r.Entries[0].GoalPosition, hal.PositionMode
	const dt = 0.001
	now := r.Entries[0].Timestamp
	for _, e := range r.Entries {
		for ; now < e.Timestamp; now += dt {
			s.Step(dt)
			s.Supply.FinishStep(dt)
		}
		d := (s.MeasuredPosition() - e.Position) / degree
		mae += math.Abs(d)
		rms += d * d
		s.GoalPosition, s.Enable = e.GoalPosition, e.TorqueEnable
	}
	n := float64(len(r.Entries))
	return mae / n, math.Sqrt(rms / n)
}

// bounds are mean absolute errors in degrees over all files, and of a free swing, somewhat above those measured when
// this was written. M5 is halyard identify's, the others BAM's own. The offsets, rad, were identified with the models.
var bounds = []struct {
	model                   int
	mean, most, swing, hang float64
}{{1, 5.2, 13, 5.5, 0.0309}, {3, 4.5, 13, 4, 0.0294}, {4, 4.8, 13, 2.4, 0.0281}, {6, 5.6, 15, 3.6, 0.0271},
	{5, 1.4, 3, 2.4, 0.0071}}

// The XL330's identified models against the real servo; the paper's own error is 1 to 3 degrees. BAM's models meet that
// where the servo does not come to the end of its drive (kp 100) and in the free swing. With kp 400 and 800 the real
// servo stands still for seconds at full duty below a third of its stall torque (kp800-up_and_down: at 0.88 rad, 0.37
// N·m): that takes a drive that weakens, and a friction that rises with the load, which halyard identify's M5 has.
func TestReplayXL330(t *testing.T) {
	files := recordings(t, "bam/xl330/*.json")
	base, _ := Lookup("xl330-m288")
	var total [7]float64
	var table strings.Builder
	fmt.Fprintf(&table, "%-26s", "mean absolute / rms, deg")
	for _, c := range bounds {
		fmt.Fprintf(&table, "%15s ", fmt.Sprintf("M%d", c.model))
	}
	fmt.Fprintln(&table)
	for _, f := range files {
		r := load(t, f)
		fmt.Fprintf(&table, "%-26s", strings.TrimSuffix(filepath.Base(f), ".json"))
		for _, c := range bounds {
			m := c.model
			spec, ok := base.WithFriction(m)
			if !ok {
				t.Fatalf("xl330-m288: no model M%d", m)
			}
			mae, rms := replay(r, spec, c.hang)
			fmt.Fprintf(&table, "   %5.2f / %5.2f", mae, rms)
			total[m] += mae
			if mae > c.most {
				t.Errorf("%s: M%d: got %.2f degrees, want at most %g", filepath.Base(f), m, mae, c.most)
			}
			if r.Kp == 100 && m > 1 && mae > 3 {
				t.Errorf("%s: M%d: got %.2f degrees, want at most 3", filepath.Base(f), m, mae)
			}
		}
		fmt.Fprintln(&table)
	}
	fmt.Fprintf(&table, "%-26s", "mean")
	for _, c := range bounds {
		total[c.model] /= float64(len(files))
		fmt.Fprintf(&table, "   %5.2f        ", total[c.model])
	}
	t.Logf("\n%s", table.String())
	for _, c := range bounds {
		if total[c.model] > c.mean {
			t.Errorf("M%d: got %.2f degrees on average, want at most %g", c.model, total[c.model], c.mean)
		}
	}
}

// The free swing alone: the torque goes off and the pendulum falls, from where the real one was.
func TestReplayFreeSwing(t *testing.T) {
	base, _ := Lookup("xl330-m288")
	for _, f := range recordings(t, "bam/xl330/*-lift_and_drop.json") {
		r := load(t, f)
		for i := range r.Entries {
			if !r.Entries[i].TorqueEnable {
				r.Entries = r.Entries[i-1:]
				break
			}
		}
		r.Entries[0].TorqueEnable = false
		for _, c := range bounds {
			spec, _ := base.WithFriction(c.model)
			mae, rms := replay(r, spec, c.hang)
			t.Logf("%-24s M%d: %5.2f / %5.2f degrees", filepath.Base(f), c.model, mae, rms)
			if mae > c.swing {
				t.Errorf("%s: M%d: got %.2f degrees, want at most %g", filepath.Base(f), c.model, mae, c.swing)
			}
		}
	}
}
