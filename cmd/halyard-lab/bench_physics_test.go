package main

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/cmd/halyard-lab/internal/lab"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

// Which cases the flags ask for, or what they are refused with. Every refusal is exit 2 with nothing on stdout.
func TestPhysicsFlags(t *testing.T) {
	const all = "chain 2 euler, chain 2 rk4, chain 10 euler, chain 10 rk4, chain 20 euler, chain 20 rk4, " +
		"chain 40 euler, chain 40 rk4, quad euler, quad rk4, humanoid euler, humanoid rk4, heap euler, heap rk4"
	for _, c := range []struct{ args, cases, fault string }{
		{"", all, ""},
		{"--model chain", all[:strings.Index(all, ", quad")], ""},
		{"--model quad", "quad euler, quad rk4", ""},
		{"--integrator rk4", "chain 2 rk4, chain 10 rk4, chain 20 rk4, chain 40 rk4, quad rk4, humanoid rk4, heap rk4",
			""},
		{"--model chain --n 10", "chain 10 euler, chain 10 rk4", ""},
		{"--model chain --n 1 --integrator euler", "chain 1 euler", ""},
		{"--model quad --integrator rk4", "quad rk4", ""},

		{"--model hexapod", "", `--model: got "hexapod", want one of chain, quad, humanoid, heap`},
		{"--model Chain", "", `--model: got "Chain"`},
		{"--integrator RK45", "", `--integrator: got "RK45", want euler or rk4`},
		{"--n 10", "", "--n: got 10 links without --model chain"},
		{"--model quad --n 3", "", "--n: got 3 links without --model chain"},
		{"--model chain --n 0", "", "--n: got 0 links, want 1 to 1000"},
		{"--model chain --n -4", "", "--n: got -4 links"},
		{"--model chain --n 1001", "", "--n: got 1001 links"},
		{"--model chain --n NaN", "", "NaN"},
		{"--model chain --n 2.5", "", "2.5"},
		{"--model chain --n 99999999999999999999", "", "out of range"},
		{"--steps NaN", "", "NaN"},
		{"--steps -1", "", "-1 steps"},
		{"--steps 10000001", "", "--steps: got 10000001, want at most 10000000"},
		{"--model", "", "argument"},
	} {
		args := append([]string{"bench", "physics", "-o", "jsonl"}, strings.Fields(c.args)...)
		if c.fault == "" {
			args = append(args, "--steps", "3")
		}
		code, out, errText := runApp(t, args...)
		if c.fault != "" {
			if code != 2 || out != "" || !strings.Contains(errText, strings.ReplaceAll(c.fault, `"`, `\"`)) {
				t.Errorf("%s: got exit %d, %q and %q, want 2, nothing and %q", c.args, code, out, errText, c.fault)
			}
			continue
		}
		var got []string
		for _, r := range physicsLines(t, out) {
			got = append(got, r.Case)
		}
		if code != 0 || strings.Join(got, ", ") != c.cases {
			t.Errorf("%s: got exit %d, %v, want 0, %s", c.args, code, got, c.cases)
		}
	}
	// They are of physics, and of nothing else.
	for _, args := range [][]string{
		{"bench", "cycle", "--model", "quad"}, {"bench", "osp", "--n", "10"}, {"bench", "wire", "--integrator", "rk4"},
		{"bench", "--model", "hexapod"}, {"bench", "--steps", "10000001"},
	} {
		if code, out, _ := runApp(t, args...); code != 2 || out != "" {
			t.Errorf("%v: got exit %d and %q, want 2 and nothing", args, code, out)
		}
	}
}

// physicsLine is a line of output; a figure that a run does not have is null.
type physicsLine struct {
	Bench, Case string
	Figures     map[string]*float64
}

// near reports whether a figure is there and within so much of want.
func (l physicsLine) near(name string, want, within float64) bool {
	x := l.Figures[name]
	return x != nil && math.Abs(*x-want) <= within
}

func physicsLines(t *testing.T, out string) (list []physicsLine) {
	t.Helper()
	for line := range strings.Lines(out) {
		var r physicsLine
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if r.Bench != "physics" {
			t.Errorf("got bench %q, want physics", r.Bench)
		}
		list = append(list, r)
	}
	return list
}

// What every engine agrees on stands in the lines (physics.md, section 3), and no step allocates.
func TestPhysicsFigures(t *testing.T) {
	for _, c := range []struct {
		args   string
		form   string // how the line begins
		within map[string][2]float64
	}{
		{"--model chain --n 2 --integrator rk4 --steps 2000",
			`{"bench":"physics","case":"chain 2 rk4","figures":{"steps_per_s":`,
			map[string][2]float64{
				"steps": {2000, 0}, "drift_end": {0, 1e-7}, "drift_max": {0, 1e-7}, "joint_error_m": {0, 1e-13},
				"tip_1s_x_m": {0.284594, 1e-6}, "tip_1s_z_m": {-0.110744, 1e-6},
				"tip_2s_x_m": {-0.029708, 1e-6}, "tip_2s_z_m": {-0.013596, 1e-6}, "allocs": {0, 0},
			}},
		{"--model chain --n 10 --integrator euler --steps 1000",
			`{"bench":"physics","case":"chain 10 euler","figures":{"steps_per_s":`,
			map[string][2]float64{"steps": {1000, 0}, "tip_1s_x_m": {-1.782014, 2e-6}, "tip_1s_z_m": {-0.894434, 2e-6},
				"allocs": {0, 0}}},
		{"--model quad --integrator euler --steps 3000",
			`{"bench":"physics","case":"quad euler","figures":{"steps_per_s":`,
			map[string][2]float64{
				"torso_z_m": {0.28, 0.03}, "mean_height_m": {0.275, 0.004}, "penetration_m": {1.25e-3, 1.25e-3},
				"roll_rad": {0, 1e-3}, "pitch_rad": {0.53, 0.2}, "knee_rad": {-0.95, 0.4}, "torso_y_m": {0, 0.02},
				"allocs": {0, 0},
			}},
		{"--model humanoid --integrator euler --steps 2000",
			`{"bench":"physics","case":"humanoid euler","figures":{"steps_per_s":`,
			map[string][2]float64{
				"mean_height_m": {0.7083, 1e-3}, "penetration_m": {2e-4, 2e-4}, "contacts": {8, 0.1},
				"body0_2s_z_m": {0.7068, 1e-3}, "allocs": {0, 0},
			}},
	} {
		code, out, errText := runApp(t,
			append([]string{"bench", "physics", "-o", "jsonl"}, strings.Fields(c.args)...)...)
		list := physicsLines(t, out)
		if code != 0 || len(list) != 1 || !strings.HasPrefix(out, c.form) {
			t.Fatalf("%s: got exit %d, %s, %s", c.args, code, out, errText)
		}
		for name, want := range c.within {
			if !list[0].near(name, want[0], want[1]) {
				t.Errorf("%s: got %s, want %s %g within %g", c.args, out, name, want[0], want[1])
			}
		}
		if rate := list[0].Figures["steps_per_s"]; rate == nil || *rate <= 0 {
			t.Errorf("%s: got %s, want a rate", c.args, out)
		}
	}
}

// What a run is too short for is no number, not 0.
func TestPhysicsShortRuns(t *testing.T) {
	for steps, want := range map[string][]string{
		"999":  {"tip_1s_x_m", "tip_1s_z_m", "tip_2s_x_m", "tip_2s_z_m"},
		"1999": {"tip_2s_x_m", "tip_2s_z_m"},
		"2000": nil,
	} {
		_, out, _ := runApp(t, "bench", "physics", "--model", "chain", "--n", "1", "--integrator", "euler", "--steps",
			steps, "-o", "jsonl")
		for _, r := range physicsLines(t, out) {
			for name, x := range r.Figures {
				if (x == nil) != slices.Contains(want, name) {
					t.Errorf("%s steps: %s: got %v", steps, name, x)
				}
			}
		}
	}
	_, out, _ := runApp(t, "bench", "physics", "--model", "quad", "--integrator", "euler", "--steps", "20")
	if !strings.Contains(out, "PENETRATION_M") || !strings.Contains(out, "  -  ") {
		t.Errorf("20 steps of the quad: got\n%swant a penetration of -", out)
	}
}

// A run that diverges is a result, with the steps it went, and no failure.
func TestPhysicsDiverges(t *testing.T) {
	f, err := lab.PhysicsRun(lab.PhysicsCase{Model: lab.PhysicsChain, Links: 40, Integrator: dynamics.Euler},
		lab.PhysicsSteps)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Get("steps"); got < 2000 || got >= lab.PhysicsSteps || math.IsNaN(f.Get("drift_max")) ||
		f.Get("steps_per_s") <= 0 {
		t.Errorf("chain 40 euler: got %v, want an end before %d steps and figures until then", f, lab.PhysicsSteps)
	}
}
