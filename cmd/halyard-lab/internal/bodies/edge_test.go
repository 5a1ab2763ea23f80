package bodies

import (
	"math"
	"testing"

	"github.com/halyard-robotics/halyard"
)

// edge is the greatest gain, 1/s, with which a controller that integrates its error still comes to rest.
func edge(t *testing.T, r *Robot, b Body) float64 {
	stable := func(gain float64) bool {
		sys, err := r.open(b, "")
		if err != nil {
			t.Fatal(err)
		}
		defer sys.Close()
		a := sys.Agents()[0]
		const joint = "gripper" // without play
		worst := [3]float64{}
		command := a.State(joint).Position
		goal := command + 0.05
		for k := range 600 {
			e := goal - a.State(joint).Position
			command += gain * e * r.Line.Period.Seconds()
			if err := a.Command(joint, halyard.Position(command)); err != nil {
				t.Fatal(err)
			}
			if err := sys.Step(); err != nil {
				t.Fatal(err)
			}
			worst[k/200] = max(worst[k/200], math.Abs(e))
		}
		return worst[2] < worst[1]/2 || worst[2] < 0.005
	}
	low, high := 1., 100.
	for high-low > 0.2 {
		if mid := (low + high) / 2; stable(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// TestEdge: a controller that is tuned at the edge is so on the simulated and on the emulated robot; the timing of real
// lines takes its share of the gain on both.
func TestEdge(t *testing.T) {
	r, err := NewRobot(t.TempDir(), lines[0], "")
	if err != nil {
		t.Fatal(err)
	}
	var edges [2][2]float64 // of sim and emulated, ideal and real timing
	for k, b := range bodies[:2] {
		for m, timing := range []string{"ideal", "real"} {
			b.timing = timing
			edges[k][m] = edge(t, r, b)
		}
	}
	t.Logf("edges: %.1f", edges)
	if sim, emulated := edges[0][1], edges[1][1]; math.Abs(sim/emulated-1) > 0.05 {
		t.Errorf("got edges of %.1f and %.1f 1/s, want them within a twentieth", sim, emulated)
	}
	for k, e := range edges {
		if e[1] > 0.95*e[0] {
			t.Errorf("%s: got edges of %.1f, want a lower one in real timing", bodies[k].Name, e)
		}
	}
}
