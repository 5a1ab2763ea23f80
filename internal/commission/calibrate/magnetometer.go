package calibrate

import (
	"context"
	"math"

	"github.com/halyard-robotics/halyard/calibration"
)

// How long a magnetometer is turned at a time, s, how many samples are kept, and by which share of the field they may
// spread about the ellipsoid: more is iron or a current that did not turn with the chip.
const (
	turnSeconds   = 30.0
	maxTurned     = 60000
	maxFieldError = 0.1
)

// magnetometer prompts for rotations in all directions, at the place of use, and writes hard and soft iron into made.
func (g *Guide) magnetometer(ctx context.Context, made *calibration.Inertial, gravity float64, read chipReader) error {
	g.printf("\n== 4: magnetometer")
	g.printf("Leave the sensor where it is mounted, with all switched on that is on at work, and keep away from " +
		"steel that stands still.")
	var seen []turned
	for {
		word, err := g.choose(ctx, "Enter, then turn the robot slowly to every side for 30 s, upside down too; skip "+
			"leaves its magnetometer as it is", "", "skip")
		if err != nil || word == "skip" {
			return err
		}
		if _, err := read(turnSeconds, func(t turned) { seen = append(seen, t) }); err != nil {
			return err
		}
		seen = seen[max(0, len(seen)-maxTurned):]
		points := make([][3]float64, len(seen))
		for i := range seen {
			points[i] = seen[i].field
		}
		fit, residual, err := calibration.FitField(points)
		if err != nil {
			g.printf("  %v", err) // earlier readings are kept
			continue
		}
		next := *made
		next.Magnetometer = fit
		if err := next.Validate(); err != nil {
			g.printf("  %v", err)
			continue
		}
		before, dipBefore, _ := fieldSpread(made, seen, gravity)
		after, dipAfter, field := fieldSpread(&next, seen, gravity)
		if residual > maxFieldError*field {
			g.printf("  the field spreads by %.0f %% about an ellipsoid: steel or a current near it did not turn "+
				"with it. Again, from the beginning", 100*residual/field)
			seen = seen[:0]
			continue
		}
		made.Magnetometer = fit
		g.printf("  hard iron %.1f %.1f %.1f uT; field %.1f uT, residual %.2f", 1e6*fit.Offset[0], 1e6*fit.Offset[1],
			1e6*fit.Offset[2], 1e6*field, 1e6*residual)
		g.printf("  over these turns the field's strength spread by %.1f %%, does by %.1f %% now; its angle to "+
			"gravity by %.1f degrees, by %.1f now",
			100*before, 100*after, dipBefore/degree, dipAfter/degree)
		return nil
	}
}

// fieldSpread is the standard deviation of the field's strength, as a share of its mean, and of its angle to gravity,
// rad, which a right calibration keeps the same in every attitude; and that mean, T. Samples in which more than gravity
// pulls have no angle.
func fieldSpread(c *calibration.Inertial, seen []turned, gravity float64) (strength, angle, mean float64) {
	var sizes, angles stats
	for i := range seen {
		_, a, f := c.Corrected([3]float64{}, seen[i].pull, seen[i].field)
		size, pull, along := 0.0, 0.0, 0.0
		for k := range f {
			size, pull, along = size+f[k]*f[k], pull+a[k]*a[k], along+a[k]*f[k]
		}
		size, pull = math.Sqrt(size), math.Sqrt(pull)
		sizes.add(size)
		if size > 0 && math.Abs(pull-gravity) < 0.05*gravity {
			angles.add(math.Acos(math.Max(-1, math.Min(1, along/size/pull))))
		}
	}
	return sizes.deviation() / sizes.mean(), angles.deviation(), sizes.mean()
}

// stats is a running mean and standard deviation.
type stats struct{ n, sum, squares float64 }

func (s *stats) add(v float64) { s.n, s.sum, s.squares = s.n+1, s.sum+v, s.squares+v*v }

func (s *stats) mean() float64 { return s.sum / math.Max(1, s.n) }

func (s *stats) deviation() float64 {
	m := s.mean()
	return math.Sqrt(math.Max(0, s.squares/math.Max(1, s.n)-m*m))
}
