package identify

import (
	"fmt"
	"math"
	"strings"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

// bandShare is the share of errors that a band holds.
const bandShare = 0.95

// Reach is what recordings hold of a servo's possible states.
type Reach struct {
	Speed float64    // rad/s, that few samples exceed
	Load  float64    // N·m, the greatest torque of gravity
	Drive float64    // the greatest duty of the position control, 0..1
	P     [2]float64 // least and greatest position gain
	Volts [2]float64 // V
	Off   bool       // the torque was off for a while
}

// Beyond these shares of what was identified a recording leaves it.
const (
	beyond      = 1.15
	beyondVolts = 1.05
	fewSamples  = 0.995 // share of the samples that are not faster than Speed
	speedOver   = 0.03  // s over which a speed is measured: encoder ticks are no speed
	offFor      = 0.1   // s
)

// reach is what r holds.
func (r *Run) reach(spec *actuator.Spec, b Bench) Reach {
	v := Reach{P: [2]float64{r.P, r.P}, Volts: [2]float64{r.Volts, r.Volts}}
	var speeds []float64
	back, off := 0, 0.0
	for i := range r.Samples {
		s := &r.Samples[i]
		for s.Time-r.Samples[back].Time > speedOver && back < i-1 {
			back++
		}
		if back < i {
			speeds = append(speeds, math.Abs((s.Position-r.Samples[back].Position)/(s.Time-r.Samples[back].Time)))
		}
		pull := (r.Mass + r.ArmMass/2) * actuator.StandardGravity * r.Length
		v.Load = math.Max(v.Load, math.Abs(pull*math.Sin(s.Position-r.Down+b.ArmOffset)))
		if s.Torque {
			v.Drive = math.Max(v.Drive, math.Min(1, math.Abs(spec.PositionGain*r.P*(s.Goal-s.Position))))
		} else if i > 0 {
			off += s.Time - r.Samples[i-1].Time
		}
	}
	v.Speed, v.Off = quantile(speeds, fewSamples), off > offFor
	return v
}

// widen makes o hold what v holds too.
func (o *Reach) widen(v Reach) {
	if o.P == [2]float64{} {
		*o = v
		return
	}
	o.Speed, o.Load, o.Drive = math.Max(o.Speed, v.Speed), math.Max(o.Load, v.Load), math.Max(o.Drive, v.Drive)
	o.P = [2]float64{math.Min(o.P[0], v.P[0]), math.Max(o.P[1], v.P[1])}
	o.Volts = [2]float64{math.Min(o.Volts[0], v.Volts[0]), math.Max(o.Volts[1], v.Volts[1])}
	o.Off = o.Off || v.Off
}

// leaves is in which respects v is beyond o; "" where it is within.
func (o *Reach) leaves(v Reach) string {
	var all []string
	add := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	add(v.Speed > beyond*o.Speed, "faster than %.2g rad/s", o.Speed)
	add(v.Load > beyond*o.Load, "loaded with more than %.2g N m", o.Load)
	add(v.Drive > beyond*o.Drive, "driven with more than %.0f %%", 100*o.Drive)
	add(v.P[0] < o.P[0]/beyond, "a position gain below %g", o.P[0])
	add(v.P[1] > o.P[1]*beyond, "a position gain above %g", o.P[1])
	add(v.Volts[0] < o.Volts[0]/beyondVolts, "a supply below %.3g V", o.Volts[0])
	add(v.Volts[1] > o.Volts[1]*beyondVolts, "a supply above %.3g V", o.Volts[1])
	add(v.Off && !o.Off, "with its torque off")
	if len(all) == 0 {
		return ""
	}
	return "this recording leaves what was identified: " + strings.Join(all, ", ")
}
