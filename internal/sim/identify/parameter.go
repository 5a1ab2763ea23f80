package identify

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/sim/actuator"
)

// trial is one guess of all that a fit may change.
type trial struct {
	spec  actuator.Spec
	bench Bench
}

// parameter is one row of the table of fit parameters.
type parameter struct {
	name      string
	at        func(*trial) *float64
	low, high float64
	// how far a guess may be off: natural logarithm where positive only, else a number in the parameter's unit
	scale    float64
	positive bool    // never zero: searched on a logarithmic scale
	torque   float64 // power of the load's torque that scale is in units of
	begin    float64 // where a search begins, in scales; positive ones begin at the servo's own value
	bench    bool    // of the bench and the recorder, of which nothing is believed
}

// parameters in the order of the output.
var parameters = []parameter{
	{name: "kt", at: func(t *trial) *float64 { return &t.spec.Kt }, low: 1e-3, high: 100, scale: 0.3, positive: true},
	{name: "R", at: func(t *trial) *float64 { return &t.spec.R }, low: 1e-3, high: 1000, scale: 0.3, positive: true},
	{name: "armature", at: func(t *trial) *float64 { return &t.spec.Armature }, low: 1e-7, high: 10, scale: 0.5,
		positive: true},
	{name: "droop", at: func(t *trial) *float64 { return &t.spec.Droop }, high: 100, scale: 1, begin: 1},
	{name: "gain", at: func(t *trial) *float64 { return &t.spec.PositionGain }, low: 1e-5, high: 100, scale: 0.3,
		positive: true},
	{name: "Kb", at: func(t *trial) *float64 { return &t.spec.Friction.Kb }, high: 10, scale: 0.02, torque: 1,
		begin: 1},
	{name: "Ks", at: func(t *trial) *float64 { return &t.spec.Friction.Ks }, high: 10, scale: 0.02, torque: 1,
		begin: 1},
	{name: "Kv", at: func(t *trial) *float64 { return &t.spec.Friction.Kv }, high: 10, scale: 0.01, torque: 1,
		begin: 1},
	{name: "Kl", at: func(t *trial) *float64 { return &t.spec.Friction.Kl }, high: 1, scale: 0.1, begin: 1},
	{name: "Kls", at: func(t *trial) *float64 { return &t.spec.Friction.Kls }, high: 1, scale: 0.1, begin: 1},
	{name: "Kq", at: func(t *trial) *float64 { return &t.spec.Friction.Kq }, high: 100, scale: 0.1, torque: -1,
		begin: 1},
	{name: "Km", at: func(t *trial) *float64 { return &t.spec.Friction.Km }, high: 1, scale: 0.1, begin: 2},
	{name: "Ke", at: func(t *trial) *float64 { return &t.spec.Friction.Ke }, high: 1, scale: 0.1, begin: 0.5},
	{name: "Kms", at: func(t *trial) *float64 { return &t.spec.Friction.Kms }, high: 1, scale: 0.1, begin: 0.5},
	{name: "Kes", at: func(t *trial) *float64 { return &t.spec.Friction.Kes }, high: 1, scale: 0.1, begin: 0.5},
	{name: "Kmq", at: func(t *trial) *float64 { return &t.spec.Friction.Kmq }, high: 100, scale: 0.05, torque: -1,
		begin: 0.5},
	{name: "Keq", at: func(t *trial) *float64 { return &t.spec.Friction.Keq }, high: 100, scale: 0.05, torque: -1,
		begin: 0.5},
	{name: "Dqs", at: func(t *trial) *float64 { return &t.spec.Friction.Dqs }, low: 0.02, high: 20, scale: 0.7,
		positive: true},
	{name: "arm_offset", at: func(t *trial) *float64 { return &t.bench.ArmOffset }, low: -0.3, high: 0.3, scale: 0.02,
		bench: true},
	{name: "goal_delay", at: func(t *trial) *float64 { return &t.bench.GoalDelay }, low: -0.02, high: 0.2,
		scale: 0.003, bench: true},
	{name: "torque_delay", at: func(t *trial) *float64 { return &t.bench.TorqueDelay }, low: -0.1, high: 0.2,
		scale: 0.01, bench: true},
	{name: "play", at: func(t *trial) *float64 { return &t.bench.Play }, high: 0.2, scale: 0.01, begin: 1, bench: true},
}

// axis is a parameter as the searches see it: x moves by about 1.
type axis struct {
	*parameter
	unit float64 // of x
}

// axes are the parameters called names, for loads that pull with torque, N·m.
func axes(names []string, torque float64) []axis {
	var all []axis
	for i := range parameters {
		if p := &parameters[i]; slices.Contains(names, p.name) {
			all = append(all, axis{p, p.scale * math.Pow(torque, p.torque)})
		}
	}
	return all
}

func (a *axis) get(t *trial) float64 {
	v := *a.at(t)
	if a.positive {
		return math.Log(v) / a.unit
	}
	return v / a.unit
}

// set moves the parameter to x, or to the bound that is nearest, and returns where that is.
func (a *axis) set(t *trial, x float64) float64 {
	v := x * a.unit
	if a.positive {
		v = math.Exp(v)
	}
	*a.at(t) = math.Max(a.low, math.Min(a.high, v))
	return a.get(t)
}
