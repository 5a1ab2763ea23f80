package autopilot

import (
	"fmt"
	"math"
)

// Gains are the parameters of a PID. The output is Gain·(P·e + I·∫e dt + D·de/dt) within ±Limit.
type Gains struct {
	P, I, D   float64
	WindupCap float64 // the greatest |∫e dt|, 0 or more
	Gain      float64
	Limit     float64 // of the output, 0 or more
}

// MaxParameter bounds every gain and target, so that no computation with them overflows.
const MaxParameter = 1e6

// check reports the first gain that is not finite, beyond MaxParameter, or below 0 where that has no meaning.
func (g *Gains) check(name string) error {
	for _, v := range []struct {
		name       string
		value, min float64
	}{
		{"p", g.P, -MaxParameter}, {"i", g.I, -MaxParameter}, {"d", g.D, -MaxParameter},
		{"windupCap", g.WindupCap, 0}, {"gain", g.Gain, -MaxParameter}, {"limit", g.Limit, 0},
	} {
		if !(v.value >= v.min && v.value <= MaxParameter) {
			return fmt.Errorf("%s.%s: got %g, want %g..%g", name, v.name, v.value, v.min, MaxParameter)
		}
	}
	return nil
}

// pid is a running PID. Its first step after a reset has no derivative: there is no error before it to compare with.
type pid struct {
	integral, last float64
	running        bool
}

// step is the output for error, which has lasted dt seconds. An error that is not known gives 0 and starts again.
func (p *pid) step(g *Gains, e, dt float64) float64 {
	if math.IsNaN(e) || !(dt > 0) {
		*p = pid{}
		return 0
	}
	e = clamp(e, MaxParameter)
	p.integral = clamp(p.integral+float64(e*dt), g.WindupCap)
	slope := 0.0
	if p.running {
		slope = (e - p.last) / dt
	}
	p.last, p.running = e, true
	sum := float64(g.P*e) + float64(g.I*p.integral) + float64(g.D*slope)
	return clamp(float64(sum*g.Gain), g.Limit)
}

// clamp is v within ±limit.
func clamp(v, limit float64) float64 { return math.Max(-limit, math.Min(limit, v)) }

// Tuning is all PIDs of a law: those of the stable mode and the depth hold, and those of the acro mode.
type Tuning struct {
	Roll, Pitch, Yaw, Depth         Gains
	RollSpeed, PitchSpeed, YawSpeed Gains
}

// OkonTuning is the original's, except for the integrals of the acro mode: 5 with a cap of 0.1 in place of 0.1 and 1.
// That mode never worked there (see the package's comment), and with 0.1 the water's drag keeps the rates a third below
// their targets for a minute. A turn at w rad/s against the righting moment lags by the slope of that moment, as a
// share of a thruster, over the integral's gain: an eighth of 0.2 rad/s with 1, a fortieth with 5. Cap times gain
// equals the limit, so the integral cannot exceed the output.
func OkonTuning() Tuning {
	of := func(p, i, d float64) Gains { return Gains{P: p, I: i, D: d, WindupCap: 1, Gain: 1, Limit: 0.5} }
	rate := Gains{P: 1, I: 5, D: 0.05, WindupCap: 0.1, Gain: 1, Limit: 0.5}
	return Tuning{
		Roll: of(0.4, 0, 0.03), Pitch: of(0.7, 0, 0.1), Yaw: of(0.3, 0, 0.04), Depth: of(10, 0, 4),
		RollSpeed: rate, PitchSpeed: rate, YawSpeed: rate,
	}
}

// Check reports the first gain that cannot be, by its name in Okon's protocol: "rollSpeed.limit".
func (t *Tuning) Check() error {
	for _, v := range []struct {
		name  string
		gains *Gains
	}{
		{"roll", &t.Roll}, {"pitch", &t.Pitch}, {"yaw", &t.Yaw}, {"depth", &t.Depth},
		{"rollSpeed", &t.RollSpeed}, {"pitchSpeed", &t.PitchSpeed}, {"yawSpeed", &t.YawSpeed},
	} {
		if err := v.gains.check(v.name); err != nil {
			return err
		}
	}
	return nil
}
