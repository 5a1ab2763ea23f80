package calibration

import (
	"math"
	"testing"
)

// For a robot with few joints at rest, or without a known rest pose, no drift is reported.
func TestDriftOfFew(t *testing.T) {
	lying := func(ticks ...float64) (list []Lying) {
		for _, v := range ticks {
			j := Nominal("joint", Servo{Model: "m", ID: 1},
				Model{TicksPerTurn: 4096, CentreTicks: 2048, MaxTicks: 4095})
			rest := 2000.0
			j.RestTicks = &rest
			list = append(list, Lying{j, v})
		}
		return list
	}
	nan := math.NaN()
	for _, c := range []struct {
		ticks   []float64
		drifted int
		resting bool
	}{
		{[]float64{2000, 2000, 2300}, 1, true},
		{[]float64{2000, 2000, 2030}, 0, true},
		{[]float64{2000, 2000, nan}, 0, true},
		{[]float64{2000, 2300}, 0, false},                   // which of the two is wrong?
		{[]float64{2000, 2000, 2300, 2300, 2400}, 0, false}, // another pose
		{[]float64{nan, nan}, 0, false},
		{nil, 0, false},
	} {
		drifted, resting := Drift(lying(c.ticks...))
		if len(drifted) != c.drifted || resting != c.resting {
			t.Errorf("%v: got %d drifted, resting %t, want %d, %t", c.ticks, len(drifted), resting, c.drifted,
				c.resting)
		}
	}
	unknown := lying(2000, 2000, 2300)
	unknown[2].Joint.RestTicks = nil
	if drifted, _ := Drift(unknown); len(drifted) > 0 {
		t.Errorf("without a rest pose: got %v", drifted)
	}
}
