package moast

import (
	"math"
	"testing"
)

// TestReckoner: wheels that count a third too little of each turn, on a square of 2 m: with the measured heading it closes.
func TestReckoner(t *testing.T) {
	for _, k := range []struct {
		name     string
		measured bool
		most     float64
	}{{"measured", true, 0.01}, {"wheels alone", false, math.Inf(1)}} {
		var r reckoner
		var at [3]float64 // true
		var wheels [3]float64
		go1 := func(ds, turn float64) [3]float64 {
			at[2] += turn
			wheels[0] += ds * math.Cos(wheels[2]+turn/3)
			wheels[1] += ds * math.Sin(wheels[2]+turn/3)
			wheels[2] += turn * 2 / 3
			heading := math.NaN()
			if k.measured {
				heading = math.Remainder(at[2]+1, 2*math.Pi) // from another zero
			}
			return r.step(wheels, heading)
		}
		var got [3]float64
		go1(0, 0)
		for range 4 {
			for range 200 {
				got = go1(0.01, 0)
			}
			for range 90 {
				got = go1(0, math.Pi/180)
			}
		}
		if off := math.Hypot(got[0], got[1]); off > k.most || !k.measured && off < 0.5 {
			t.Errorf("%s: closed %.3f m off", k.name, off)
		}
	}
}
