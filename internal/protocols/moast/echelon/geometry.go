package echelon

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/protocols/moast"
)

// place is a pose in the plane: m, m, rad clockwise from above.
type place struct{ x, y, yaw float64 }

// wrap is an angle within -π..π.
func wrap(a float64) float64 { return math.Remainder(a, 2*math.Pi) }

// of is the point (x, y) of p's frame in the frame that p is given in.
func (p place) of(x, y float64) (float64, float64) {
	sin, cos := math.Sincos(p.yaw)
	return p.x + cos*x - sin*y, p.y + sin*x + cos*y
}

// from is the pose q, given in the frame that p is given in, in p's frame.
func (p place) from(q place) place {
	sin, cos := math.Sincos(p.yaw)
	dx, dy := q.x-p.x, q.y-p.y
	return place{cos*dx + sin*dy, cos*dy - sin*dx, wrap(q.yaw - p.yaw)}
}

// distance is between two points, m.
func distance(ax, ay, bx, by float64) float64 { return math.Hypot(bx-ax, by-ay) }

// placeOf is a pose in the plane.
func placeOf(t moast.Cartesian, r moast.RPY) place { return place{t.X, t.Y, r.Y} }

// goal is a waypoint in the plane.
type goal struct {
	x, y, near, speed float64
	heading           float64 // NaN = any
}

// follow turns arcs and lines into waypoints from where the vehicle is, near enough to stay within each one's annular
// tolerance.
func follow(at place, arcs []moast.ArcSegment) (goals []goal) {
	const least, most = 0.02, 0.5 // m, of a tolerance
	x, y := at.x, at.y
	for _, a := range arcs {
		tolerance := math.Max(least, math.Min(most, a.AnnularTolerance/2))
		steps := 1
		radius := distance(x, y, a.Center.X, a.Center.Y)
		begin := math.Atan2(y-a.Center.Y, x-a.Center.X)
		turn := a.Theta
		if a.Normal.Z < 0 {
			turn = -turn
		}
		if a.IsArc != 0 && radius > tolerance {
			// a chord of angle d leaves its arc by radius·(1 - cos d/2)
			d := 2 * math.Acos(1-math.Min(1, tolerance/2/radius))
			steps = int(math.Min(500, math.Ceil(math.Abs(turn)/d)))
		}
		for i := 1; i < steps; i++ {
			angle := begin + turn*float64(i)/float64(steps)
			goals = append(goals, goal{a.Center.X + radius*math.Cos(angle), a.Center.Y + radius*math.Sin(angle),
				tolerance, a.Speed, math.NaN()})
		}
		goals = append(goals, goal{a.End.X, a.End.Y, tolerance, a.Speed, math.NaN()})
		x, y = a.End.X, a.End.Y
	}
	return goals
}

// ramp moves v towards want by at most rate in dt; a rate of 0 is no limit.
func ramp(v, want, rate, dt float64) float64 {
	if rate <= 0 {
		return want
	}
	return v + math.Max(-rate*dt, math.Min(rate*dt, want-v))
}

func clamp(v, limit float64) float64 { return math.Max(-limit, math.Min(limit, v)) }
