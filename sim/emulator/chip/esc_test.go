package chip_test

import (
	"math"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// An ESC obeys after a second of neutral and not before, is linear beyond its dead band, and forgets without pulses.
func TestESC(t *testing.T) {
	e := &chip.ESC{Neutral: 1500, DeadBand: [2]float64{1472, 1528}, Range: [2]float64{1100, 1900}, Arming: time.Second}
	const cycle = 100 * time.Millisecond
	for _, step := range []struct {
		what   string
		cycles int
		micros int
		want   float64
	}{
		{"full ahead at once", 20, 1900, 0},
		{"neutral, too short", 9, 1500, 0},
		{"impatient", 1, 1900, 0},
		{"neutral", 10, 1505, 0},
		{"full ahead", 1, 1900, 1},
		{"beyond", 1, 2100, 1},
		{"half astern", 1, 1286, -0.5},
		{"in the dead band", 1, 1475, 0},
		{"full astern", 1, 1100, -1},
		{"no pulses", 1, 0, 0},
		{"full ahead again", 1, 1900, 0},
	} {
		got := math.NaN()
		for range step.cycles {
			got = e.Step(time.Duration(step.micros)*time.Microsecond, cycle)
		}
		if math.Abs(got-step.want) > 1e-12 {
			t.Errorf("%s: got duty %v, want %v", step.what, got, step.want)
		}
	}
	e = &chip.ESC{Neutral: 1500, DeadBand: [2]float64{1500, 1500}, Range: [2]float64{1000, 2000}, Reversed: true}
	if got := e.Step(1750*time.Microsecond, cycle); got != 0 {
		t.Errorf("not armed: got %v", got)
	}
	e.Step(1498*time.Microsecond, cycle)
	if got := e.Step(1750*time.Microsecond, cycle); got != -0.5 {
		t.Errorf("mounted the other way round: got %v, want -0.5", got)
	}
}
