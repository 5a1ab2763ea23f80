package identify

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

// registered is what the servo's own drive register shows of its firmware, without any model of motor and load.
type registered struct {
	gain   estimate // duty per rad and unit of P
	delay  estimate // s from a sample's time until its goal shows in the drive
	points int      // samples that it comes from
}

// estimate is a value with the interval that holds the truth with 95 %.
type estimate struct{ value, low, high float64 }

func around(value, deviation, factor float64) estimate {
	return estimate{value, value - factor*deviation, value + factor*deviation}
}

// leastPoints is how many samples below full drive a register must have to say anything.
const leastPoints = 200

// registers compares the drive that the servo reports with goal and position: below full drive
//
//	duty = gain·P·(goal(t - delay) - position(t + later)) + bias
//
// which is linear in gain, gain·delay, gain·later and bias. Later is the order in which the recorder reads. ok is false where
// the recordings do not have the register.
func registers(runs []*Run, spec *actuator.Spec) (found registered, ok bool) {
	const k = 4
	h, g := mat.NewSymDense(k, nil), mat.NewVecDense(k, nil)
	var rows [][k + 1]float64
	for _, r := range runs {
		for i := 2; i+2 < len(r.Samples); i++ {
			before, s, after := &r.Samples[i-1], &r.Samples[i], &r.Samples[i+1]
			duty := s.duty(spec)
			if !r.Samples[i-2].Torque || !r.Samples[i+2].Torque || math.IsNaN(duty) || math.Abs(duty) > 0.95 || r.P == 0 {
				continue
			}
			dt := after.Time - before.Time
			rows = append(rows, [k + 1]float64{
				r.P * (s.Goal - s.Position), -r.P * (after.Goal - before.Goal) / dt,
				-r.P * (after.Position - before.Position) / dt, 1, duty,
			})
		}
	}
	if len(rows) < leastPoints {
		return found, false
	}
	for _, x := range rows {
		for a := range k {
			for b := a; b < k; b++ {
				h.SetSym(a, b, h.At(a, b)+x[a]*x[b])
			}
			g.SetVec(a, g.AtVec(a)+x[a]*x[k])
		}
	}
	var c mat.Cholesky
	var at mat.VecDense
	var inverse mat.SymDense
	if !c.Factorize(h) || c.SolveVecTo(&at, g) != nil || c.InverseTo(&inverse) != nil || !(at.AtVec(0) > 0) {
		return found, false
	}
	sum := 0.0
	for _, x := range rows {
		e := x[k]
		for a := range k {
			e -= x[a] * at.AtVec(a)
		}
		sum += e * e
	}
	// Neighbouring samples share their error; a tenth of them is taken as independent.
	variance := sum / float64(len(rows)-k) * 10
	gain, lag := at.AtVec(0), at.AtVec(1)
	found.points = len(rows)
	found.gain = around(gain, math.Sqrt(variance*inverse.At(0, 0)), 1.96)
	found.delay = around(lag/gain, math.Sqrt(variance*inverse.At(1, 1))/gain, 1.96)
	return found, true
}
