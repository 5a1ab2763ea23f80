package calibration

import (
	"math"
	"testing"
)

// square are the reckoned steps of a robot that drives a square of side m to the left (1) or to the right (-1), as its
// odometry has it.
func square(side float64, way float64) (steps [][2]float64) {
	for range 4 {
		for range 100 {
			steps = append(steps, [2]float64{side / 100, 0})
		}
		for range 50 {
			steps = append(steps, [2]float64{0, way * math.Pi / 100})
		}
	}
	return steps
}

// A planted correction is found from where a straight metre and two squares end, and is that of the formulas of UMBmark
// (Borenstein and Feng, 1996), which were made otherwise.
func TestFitOdometry(t *testing.T) {
	for _, truth := range []Odometry{{0.98, 1.015, 0.004}, {1.01, 0.99, -0.006}, {1, 1, 0}} {
		const side = 4.0
		walks := []Walk{{Steps: [][2]float64{{0.5, 0}, {0.5, 0}, {1, 0}}}, {Steps: square(side, -1)},
			{Steps: square(side, 1)}}
		for i := range walks {
			walks[i].X, walks[i].Y, _ = walks[i].End(truth)
		}
		got, before, after, err := FitOdometry(walks)
		if err != nil || math.Abs(got.Distance-truth.Distance) > 1e-6 || math.Abs(got.Turn-truth.Turn) > 1e-6 ||
			math.Abs(got.Curve-truth.Curve) > 1e-6 || after > 1e-6 || after > before {
			t.Errorf("got %+v, %g m after %g, %v, want %+v", got, after, before, err, truth)
		}
		// A distance between the wheels that is greater by 90/(90-alpha) turns less; sides bend by beta.
		cw, ccw := walks[1], walks[2]
		a := (cw.X + ccw.X) / (-4 * side * truth.Distance)
		b := (cw.X - ccw.X) / (-4 * side * truth.Distance)
		if turn := 1 - a/(math.Pi/2); math.Abs(turn-truth.Turn) > 0.003 {
			t.Errorf("UMBmark: got a turn of %.4f, want %.4f", turn, truth.Turn)
		}
		if curve := b / (side * truth.Distance); math.Abs(curve-truth.Curve) > 0.001 {
			t.Errorf("UMBmark: got a curve of %.4f rad/m, want %.4f", curve, truth.Curve)
		}
	}
	for name, walks := range map[string][]Walk{
		"none":    {{Steps: [][2]float64{{1, 0}}, X: 1}},
		"one way": {{Steps: [][2]float64{{1, 0}}, X: 1}, {Steps: square(2, 1)}},
		"another end": {{Steps: [][2]float64{{1, 0}}, X: 5}, {Steps: square(2, 1), X: 7},
			{Steps: square(2, -1), X: -9, Y: 3}},
	} {
		if o, _, _, err := FitOdometry(walks); err == nil {
			t.Errorf("%s: got %+v, want an error", name, o)
		}
	}
}
