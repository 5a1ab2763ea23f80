package twin

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// step of the simulation, s.
const step = 0.001

// Change is how a joint differs from its model. The zero Change is no difference.
type Change struct {
	Zero       float64 // rad; the joint is at its reported angle + Zero
	Reversed   bool    // it turns opposite to its calibration
	Gear       float64 // the true gear is 1 + Gear times the calibration's
	Play       float64 // rad, between gear and output, end to end
	Load       float64 // its load is 1 + Load times the model's
	Friction   float64 // likewise
	Supply     float64 // its supply has 1 - Supply times the voltage
	Constant   float64 // its torque constant is 1 - Constant times the model's
	Resistance float64 // its resistance is 1 + Resistance times the model's
	Delay      float64 // s, until a goal has an effect; may be below 0, where positions are stamped late
	Slip       float64 // rad; from SlipAt on the horn is turned by so much
	SlipAt     float64 // s, from the first sample
	StuckAt    float64 // s, from when on the reported position stays; 0 = never
}

// trace is the motion of a joint: position, effort (share of the full drive, or A) and volts at the time of each
// sample.
type trace struct{ position, effort, volts []float64 }

// play simulates a joint that differs by c with the goals of r. spec is the model's servo; into is reused.
func (c *Change) play(r *identify.Run, spec *actuator.Spec, into *trace) {
	k := *spec
	k.Kt *= 1 - c.Constant
	k.R *= 1 + c.Resistance
	grow(&k.Friction, 1+c.Friction)
	s := actuator.NewServo(&k)
	gear := 1 + c.Gear
	down, mass, more := c.down(r.Down), (r.Mass+r.ArmMass/2)*(1+c.Load), r.Inertia*(1+c.Load)
	whole := mass*r.Length*r.Length + more - r.ArmMass/6*r.Length*r.Length*(1+c.Load)
	// Gravity is an external torque, since a gear change changes its angle; the load itself is only an inertia.
	pull := mass * actuator.StandardGravity * r.Length
	s.Load = actuator.Load{Inertia: whole / (gear * gear), Backlash: c.Play}
	volts := r.Volts * (1 - c.Supply)
	s.Supply = actuator.NewSupply(volts, 0)
	s.Gains.P, s.Gains.I, s.Gains.D, s.Shutdown = r.P, r.I, r.D, 0
	first := &r.Samples[0]
	s.Reset(first.Position)
	s.GoalPosition, s.Mode, s.Enable = first.Goal, hal.PositionMode, first.Torque
	n := len(r.Samples)
	into.position, into.effort, into.volts = size(into.position, n), size(into.effort, n), size(into.volts, n)
	now, next, slip, push := 0.0, 0, 0.0, 0.0
	for i := range r.Samples {
		at := r.Samples[i].Time - first.Time
		if len(r.Loads) == n {
			l := &r.Loads[max(0, i-1)]
			pull, down, s.Load.Inertia = l.Pull*(1+c.Load), c.down(l.Down), l.Inertia*(1+c.Load)/(gear*gear)
			if push = l.Push * (1 + c.Load) / gear; c.Reversed {
				push = -push
			}
		}
		for now < at-1e-9 {
			for next < n && r.Samples[next].Time-first.Time+c.Delay <= now+1e-9 {
				s.GoalPosition, s.Enable = r.Samples[next].Goal, r.Samples[next].Torque
				next++
			}
			if c.Slip != 0 && now >= c.SlipAt {
				slip = c.Slip
			}
			s.External = -pull/gear*math.Sin((s.Position)/gear+slip-down) + push
			h := math.Min(step, at-now)
			s.Step(h)
			now += h
		}
		into.position[i], into.effort[i], into.volts[i] = s.Position, s.Duty, volts
		if spec.CurrentControl {
			into.effort[i] = s.Current
		}
		if c.StuckAt > 0 && at > c.StuckAt && i > 0 {
			into.position[i] = into.position[i-1]
		}
	}
}

// down is the reported position at which a load hangs that hangs at v by the calibration.
func (c *Change) down(v float64) float64 {
	if c.Reversed {
		v = -v
	}
	return v - c.Zero
}

func size(v []float64, n int) []float64 { return slices.Grow(v[:0], n)[:n] }

func grow(f *actuator.Friction, by float64) {
	for _, v := range []*float64{&f.Kb, &f.Ks, &f.Kv, &f.Kl, &f.Kls, &f.Kq, &f.Km, &f.Ke, &f.Kms, &f.Kes, &f.Kmq,
		&f.Keq} {
		*v *= by
	}
}
