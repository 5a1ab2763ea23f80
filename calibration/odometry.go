package calibration

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Odometry is the correction of a wheeled robot's dead reckoning. The zero Odometry is no correction.
type Odometry struct {
	Distance float64 // true metres per metre of odometry: the size of the wheels
	Turn     float64 // true radians per radian of odometry: the distance between the wheels
	Curve    float64 // rad/m to the left that odometry does not see: one wheel is greater than the other
}

// Apply corrects one step: metres ahead, and radians to the left.
func (o Odometry) Apply(ahead, turn float64) (float64, float64) {
	if o == (Odometry{}) {
		return ahead, turn
	}
	ahead *= o.Distance
	return ahead, turn*o.Turn + o.Curve*ahead
}

// Walk is one walk of a wheeled robot: its steps by odometry, and where it was found at the end, in the frame of its
// beginning.
type Walk struct {
	Steps [][2]float64 // m ahead, rad to the left
	X, Y  float64      // m, measured with a rule: ahead and to the left
}

// End is where the steps lead, corrected by o, in the frame of the beginning: m ahead and to the left, rad.
func (w *Walk) End(o Odometry) (x, y, heading float64) {
	for _, s := range w.Steps {
		ahead, turn := o.Apply(s[0], s[1])
		sin, cos := math.Sincos(heading + turn/2)
		x, y, heading = x+ahead*cos, y+ahead*sin, heading+turn
	}
	return x, y, heading
}

// off is the root mean square distance of the measured ends from those by o, m.
func off(walks []Walk, o Odometry) float64 {
	sum := 0.0
	for i := range walks {
		x, y, _ := walks[i].End(o)
		sum += (x-walks[i].X)*(x-walks[i].X) + (y-walks[i].Y)*(y-walks[i].Y)
	}
	return math.Sqrt(sum / float64(len(walks)))
}

// FitOdometry finds the correction with which all walks end where they were measured, by least squares: a straight
// metre and a square each way round (Borenstein and Feng's UMBmark) separate its three numbers. before and after are
// the root mean square distances of the ends, m.
func FitOdometry(walks []Walk) (o Odometry, before, after float64, err error) {
	turned := [2]float64{} // rad to the right and to the left
	for i := range walks {
		_, _, h := walks[i].End(Odometry{1, 1, 0})
		turned[0], turned[1] = math.Max(turned[0], -h), math.Max(turned[1], h)
	}
	if turned[0] < 1.5*math.Pi || turned[1] < 1.5*math.Pi {
		return o, 0, 0, errors.New("got no square each way round, want both: only they separate the wheels' " +
			"distance from their difference")
	}
	o = Odometry{1, 1, 0}
	before = off(walks, o)
	at := func(d [3]float64) Odometry { return Odometry{o.Distance + d[0], o.Turn + d[1], o.Curve + d[2]} }
	for range 20 {
		j, r := mat.NewDense(2*len(walks), 3, nil), mat.NewVecDense(2*len(walks), nil)
		for i := range walks {
			x, y, _ := walks[i].End(o)
			r.SetVec(2*i, walks[i].X-x)
			r.SetVec(2*i+1, walks[i].Y-y)
			for k := range 3 {
				var d [3]float64
				d[k] = 1e-6
				dx, dy, _ := walks[i].End(at(d))
				j.Set(2*i, k, (dx-x)/d[k])
				j.Set(2*i+1, k, (dy-y)/d[k])
			}
		}
		var step mat.VecDense
		if err := step.SolveVec(j, r); err != nil {
			return o, before, before, errors.New(
				"got walks that look alike, want a straight one and a square each way round")
		}
		o = at([3]float64{step.AtVec(0), step.AtVec(1), step.AtVec(2)})
		if mat.Norm(&step, 2) < 1e-9 {
			break
		}
	}
	if !(o.Distance > 0.5 && o.Distance < 2 && o.Turn > 0.5 && o.Turn < 2 && math.Abs(o.Curve) < 1) {
		return o, before, before, errors.New(
			"got a correction by more than a factor of 2, want less: was each end measured from its own beginning?")
	}
	return o, before, off(walks, o), nil
}
