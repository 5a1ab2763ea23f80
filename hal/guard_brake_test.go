package hal

import (
	"math"
	"testing"
	"time"
)

// brakedPlant is a motor whose client has left it at speed, behind a line with dead time.
type brakedPlant struct {
	mode    Mode
	top     float64 // rad/s
	dead    int     // cycles from a position to the torque that answers it
	inertia float64 // s from rest to its top speed at the whole torque
	load    float64 // share of the whole torque that pushes to the upper limit
	ends    float64 // s after which the load is gone; 0 = never
	period  time.Duration
}

// brakedRest is what a plant did: how fast it was driven on after a second, and how fast it was after two, in rad/s;
// and where it is at the end and was farthest out.
type brakedRest struct{ driven, speed, at, out float64 }

func (p brakedPlant) run() (r brakedRest) {
	const tick, full, stop, parts = 2 * math.Pi / 4096, 4.1, 1.3, 10
	a := &Actuator{Limits: Limits{MinPosition: -1, MaxPosition: 1, MaxVelocity: p.top, MaxTorque: full}}
	g := &guard{rate: 1 / p.period.Seconds(), seconds: p.period.Seconds()}
	j, way, unit := &guardJoint{mode: p.mode}, make([]float64, p.dead), full
	if p.mode == DutyMode {
		unit = 1
	}
	position, speed, dt := 0.5, 0.6*p.top, g.seconds/parts
	j.sight.at = position
	for k := range int(4 * time.Second / p.period) {
		now, load := time.Duration(k)*p.period, p.load
		if p.ends > 0 && now.Seconds() > p.ends {
			load = 0
		}
		seen := math.Round(position/tick) * tick
		j.sight.speed, j.sight.at = (seen-j.sight.at)*g.rate, seen
		way = append(way, g.outward(a, j, 0)/unit)
		for range parts {
			pull := way[0] + load
			if p.mode == DutyMode {
				pull -= speed / p.top
			}
			speed += pull * p.top / p.inertia * dt
			if position += speed * dt; math.Abs(position) > stop {
				position, speed = math.Copysign(stop, position), 0
			}
		}
		if now > time.Second && way[0]*speed > 0 {
			r.driven = max(r.driven, math.Abs(speed))
		}
		if now > 2*time.Second {
			r.speed = max(r.speed, math.Abs(speed))
		}
		r.out, way = max(r.out, math.Abs(position)), way[1:]
	}
	r.at = position
	return r
}

// TestBrakeWithDeadTime: a motor in torque or duty mode whose client left it at speed is not driven on a second later,
// and rests at its limit with a load, whether it is light or heavy and however old its readings are, up to four cycles.
func TestBrakeWithDeadTime(t *testing.T) {
	const nominal = 4.8 / 130 // s, of an arm of XM430
	for _, mode := range []Mode{TorqueMode, DutyMode} {
		for dead := 1; dead <= 4; dead++ {
			for _, times := range []float64{0.25, 0.5, 1, 2, 4} {
				for _, load := range []float64{0, 0.03, 0.07, 0.14, 0.25} {
					p := brakedPlant{mode: mode, top: 4.8, dead: dead, inertia: times * nominal, load: load,
						period: 10 * time.Millisecond}
					r := p.run()
					if r.driven > 0.25 {
						t.Errorf("%+v: driven on at %.2f rad/s, want at most 0.25", p, r.driven)
					}
					if load > 0 && r.speed > 0.3 {
						t.Errorf("%+v: %.2f rad/s after 2 s, want it at rest", p, r.speed)
					}
				}
			}
		}
	}
	// a fast motor without a gear
	fast := brakedPlant{mode: DutyMode, top: 200, dead: 2, inertia: 0.02, period: 20 * time.Millisecond}
	if r := fast.run(); r.driven > 2 || r.speed > 2 {
		t.Errorf("%+v: %+v, want it at rest", fast, r)
	}
}

// TestBrakeLearnsLoad: an arm that a seventh of its torque holds rests near its limit; when the load is gone the brake
// does not drive it for long.
func TestBrakeLearnsLoad(t *testing.T) {
	p := brakedPlant{mode: TorqueMode, top: 4.8, dead: 2, inertia: 0.074, load: 0.14, period: 10 * time.Millisecond}
	if r := p.run(); r.speed > 0.3 || r.at < 0.95 || r.at > 1.2 {
		t.Errorf("%+v: %+v, want it at rest near 1", p, r)
	}
	if p.ends = 2; p.run().driven > 0.25+0.14*4.8/0.074*0.04 { // what a dead time makes of the step
		t.Errorf("%+v: %+v, want it not driven", p, p.run())
	}
}
