package bodies

import (
	"math"
	"testing"
	"time"
)

// TestSameNumbers: in lock-step, where nothing depends on the machine, each door shows the same motion on the simulated
// and the emulated robot, the same resets and the same words.
func TestSameNumbers(t *testing.T) {
	for _, d := range Doors() {
		if d.wall {
			continue // its client goes by the wall clock
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			var runs [2]*Run
			for k, b := range bodies[:2] {
				r, err := Play(t.Context(), &d, b, lines[0], Options{Motion: 3 * time.Second, LockstepResets: 100})
				if err != nil {
					t.Fatalf("%s: %v", b.Name, err)
				}
				runs[k] = r
			}
			row := Compare(runs[1], runs[0], "")
			if !(row.Position <= 0.003) || !(math.Abs(float64(row.Shift)) <= 2) || d.torque && !(row.Torque <= 0.05) {
				t.Errorf("got %g rad, torques %g, shift %g ms, want at most 0.003, 0.05, 2", row.Position, row.Torque,
					row.Shift)
			}
			for _, r := range runs {
				if d.resets && (r.Resets.Done != 100 || r.Resets.Out != 0 || r.Resets.Differs != 0) {
					t.Errorf("%s: got resets %+v, want all equal", r.Body, r.Resets)
				}
			}
			if len(runs[0].Told) != len(runs[1].Told) || len(runs[0].Told) > 0 && runs[0].Told[0] != runs[1].Told[0] ||
				runs[0].Ends != runs[1].Ends {
				t.Errorf("got told %q and %q, ends %q and %q, want the same", runs[0].Told, runs[1].Told, runs[0].Ends,
					runs[1].Ends)
			}
		})
	}
}

// TestPlanIsKept: on slow lines and behind slow adapters an emulated robot has new values as often as the plan says.
func TestPlanIsKept(t *testing.T) {
	rows, err := CompareLines(t.Context(), Options{Bodies: []string{"lock-step"}, Motion: 4 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(lines) {
		t.Errorf("got %d lines, want %d", len(rows), len(lines))
	}
	for _, r := range rows {
		if !(math.Abs(float64(r.Off)) <= 0.1) {
			t.Errorf("%s: got values every %g ms, planned %g, want within a tenth", r.Line, r.Every, r.Planned)
		}
	}
}

// TestShift: a track that is a known time behind another, and otherwise equal, is found so.
func TestShift(t *testing.T) {
	track := func(behind float64) *Track {
		r := &Track{}
		for k := range 400 {
			at := float64(k) * 0.01
			row := make([]float64, len(joints))
			for i := range row {
				row[i] = math.Sin(2*(at-behind) + float64(i))
			}
			r.Time, r.Position, r.Torque = append(r.Time, at), append(r.Position, row), append(r.Torque, row)
		}
		return r
	}
	for _, want := range []float64{0, 0.007, 0.042, -0.02} {
		a, b := track(want), track(0)
		got := shiftOf(a, b, positions, positions)
		if d, _ := rms(a, b, positions, got); math.Abs(got-want) > 1e-4 || d > 1e-3 {
			t.Errorf("got %g s and a difference of %g, want %g and 0", got, d, want)
		}
	}
}

// TestRealOnTerminal: the servos are served on a terminal that opens as a real robot's.
func TestRealOnTerminal(t *testing.T) {
	r, err := NewRobot(t.TempDir(), lines[0], "")
	if err != nil {
		t.Fatal(err)
	}
	port, end, err := Here(t.Context(), r.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	for trial := 1; ; trial++ { // a busy machine answers late
		sys, err := r.open(bodies[3], port)
		if err == nil {
			sys.Close()
			return
		}
		if trial == 20 {
			t.Fatal(err)
		}
	}
}
