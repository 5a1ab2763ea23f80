package actuator

import "math"

// profile is a motion to a goal at rest: three stretches of constant acceleration, planned once and evaluated in
// closed form, so that its timing does not depend on the step.
type profile struct {
	goal           float64
	velocity, acc  float64 // the limits it was planned with
	timed, planned bool
	from, start    float64    // rad and rad/s at its beginning
	at             float64    // s since then
	span           [3]float64 // s, of speeding up, cruising, braking
	rate           [3]float64 // rad/s²
}

// plan begins a motion from position q at velocity v. With timed, velocity and acc are times: of the whole motion and
// of each of its ramps, s; else limits in rad/s and rad/s², 0 = none. Without a velocity the goal applies at once
// (e-Manual, "Profile Velocity").
func (p *profile) plan(goal, velocity, acc float64, timed bool, q, v float64) {
	*p = profile{goal: goal, velocity: velocity, acc: acc, timed: timed, planned: true, from: q, start: v}
	d := goal - q
	switch {
	case !(velocity > 0):
		p.from, p.start = goal, 0
	case timed:
		ramp := math.Min(math.Max(acc, 0), velocity/2)
		cruise := (d - float64(v*ramp/2)) / (velocity - ramp)
		p.span = [3]float64{ramp, velocity - float64(2*ramp), ramp}
		if ramp > 0 {
			p.rate = [3]float64{(cruise - v) / ramp, 0, -cruise / ramp}
		} else {
			p.start = cruise
		}
	case !(acc > 0):
		p.start = math.Copysign(velocity, d)
		p.span[1] = math.Abs(d) / velocity
	default:
		p.trapezoid(d, velocity, acc, v)
	}
}

// trapezoid plans for a distance d with limits of speed and acceleration, from velocity v.
func (p *profile) trapezoid(d, velocity, acc, v float64) {
	// Along the way is where the goal lies from the place at which braking at once would end.
	way := math.Copysign(1, d-float64(v*math.Abs(v))/(2*acc))
	d, v = float64(d*way), float64(v*way)
	peak := math.Sqrt(math.Max(0, float64(acc*d)+float64(v*v/2)))
	peak = math.Min(peak, velocity)
	first := math.Copysign(acc, peak-v)
	p.span[0] = (peak - v) / first
	p.span[2] = peak / acc
	covered := float64((v+peak)*p.span[0]/2) + float64(peak*p.span[2]/2)
	if peak > 0 {
		p.span[1] = math.Max(0, (d-covered)/peak)
	}
	p.rate = [3]float64{first * way, 0, -acc * way}
}

// done reports whether the motion has come to its end.
func (p *profile) done() bool { return !(p.at < p.span[0]+p.span[1]+p.span[2]) }

// advance lets dt pass and returns position, velocity and acceleration.
func (p *profile) advance(dt float64) (q, v, a float64) {
	p.at += dt
	if p.done() {
		return p.goal, 0, 0
	}
	q, v = p.from, p.start
	rest := p.at
	for i, span := range p.span {
		t := math.Min(rest, span)
		a = p.rate[i]
		q += float64(v*t) + float64(a*t*t/2)
		v += float64(a * t)
		if rest -= span; rest < 0 {
			break
		}
	}
	return q, v, a
}
