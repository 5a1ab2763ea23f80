package twin

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

var servos = []string{"sts3215", "xl430-w250", "xm430-w350", "xl330-m288"}

// motion is slow reversals, sines and steps of 3 s each, in -1..1.
func motion(t float64) float64 {
	switch {
	case t < 3:
		return math.Asin(math.Sin(2*t)) / (math.Pi / 2)
	case t < 6:
		return 0.65*math.Sin(2*(t-3)) + 0.35*math.Sin(6*t)
	}
	return [...]float64{-0.9, 0.9, 0.3, -0.5}[int((t-6)/0.8)%4]
}

// plant records a joint that differs by c from the model of a servo, and by as much more as two healthy joints differ.
func plant(name string, seed uint64, c Change) (*identify.Run, *actuator.Spec) {
	r := rand.New(rand.NewPCG(seed, 5))
	spec, _ := actuator.Lookup(name)
	off := func(share float64) float64 { return 1 + share*(2*r.Float64()-1) }
	stall := spec.Kt * spec.NominalVolts / spec.R
	length := 0.1
	run := &identify.Run{Name: name, Motor: name, Mass: 0.25 * stall / 9.80665 / length, Length: length, Down: 0.7,
		Volts: spec.NominalVolts,
		P:     spec.Gains.P, I: spec.Gains.I, D: spec.Gains.D}
	goal := 0.0
	for i := range 900 {
		t := float64(i) * 0.01
		way := 0.2 + 0.8*motion(t) - goal
		goal += math.Copysign(math.Min(math.Abs(way), 0.5*spec.NoLoadSpeed*0.01), way)
		run.Samples = append(run.Samples, identify.Sample{Time: t, Goal: goal, Torque: true, Load: math.NaN(),
			Volts: math.NaN()})
	}
	like := *spec // the joint that is recorded
	like.Kt *= off(0.03)
	like.R *= off(0.03)
	like.Friction.Kb *= off(0.15)
	like.Friction.Kv *= off(0.15)
	bench := *run
	bench.Mass *= off(0.03)
	bench.Volts *= off(0.015)
	c.Zero += 0.008 * (2*r.Float64() - 1)
	c.Delay += 0.002 * r.Float64()
	var is trace
	c.play(&bench, &like, &is)
	tick, full := 2*math.Pi/spec.TicksPerTurn, spec.MaxDuty
	if spec.CurrentControl {
		full = spec.MaxCurrent
	}
	slow := 0.0
	for i := range run.Samples {
		s := &run.Samples[i]
		slow = 0.94*slow + 0.34*0.001*r.NormFloat64()
		s.Position = math.Round((is.position[i]+slow)/tick) * tick
		if c.StuckAt > 0 && s.Time > c.StuckAt {
			s.Position = run.Samples[i-1].Position
		}
		s.Load = is.effort[i] + 0.01*full*r.NormFloat64()
		s.Volts = math.Round((is.volts[i]+0.05*r.NormFloat64())*10) / 10
	}
	return run, spec
}

// causes draws a change by each cause, of the size that matters.
var causes = []struct {
	cause Cause
	draw  func(r *rand.Rand) Change
}{
	{None, func(*rand.Rand) Change { return Change{} }},
	{Zero, func(r *rand.Rand) Change { return Change{Zero: sign(r) * between(r, 0.15, 0.6)} }},
	{Reversed, func(*rand.Rand) Change { return Change{Reversed: true} }},
	{Gear, func(r *rand.Rand) Change { return Change{Gear: []float64{-0.4, -0.33, 0.5, 1}[r.IntN(4)]} }},
	{Play, func(r *rand.Rand) Change { return Change{Play: between(r, 0.04, 0.15)} }},
	{Load, func(r *rand.Rand) Change { return Change{Load: between(r, 0.4, 1.5)} }},
	{Load, func(r *rand.Rand) Change { return Change{Load: -between(r, 0.35, 0.6)} }},
	{Resistance, func(r *rand.Rand) Change { return Change{Resistance: between(r, 0.3, 0.8)} }},
	{Friction, func(r *rand.Rand) Change { return Change{Friction: between(r, 1, 3)} }},
	{Supply, func(r *rand.Rand) Change { return Change{Supply: between(r, 0.12, 0.4)} }},
	{Constant, func(r *rand.Rand) Change { return Change{Constant: between(r, 0.2, 0.5)} }},
	{Latency, func(r *rand.Rand) Change { return Change{Delay: between(r, 0.02, 0.1)} }},
	{Stuck, func(r *rand.Rand) Change { return Change{StuckAt: between(r, 1, 6)} }},
	{LooseHorn, func(r *rand.Rand) Change {
		return Change{Slip: sign(r) * between(r, 0.2, 0.5), SlipAt: between(r, 1.5, 7)}
	}},
}

func between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

func sign(r *rand.Rand) float64 {
	if r.IntN(2) == 0 {
		return -1
	}
	return 1
}

// The confusion matrix: what is planted against what is named.
func TestConfusion(t *testing.T) {
	seeds, _ := strconv.ParseUint(os.Getenv("HALYARD_SEEDS"), 10, 16)
	if seeds = max(1, seeds); os.Getenv("HALYARD_LONG") != "" {
		seeds = 50
	}
	every := 1
	if seeds == 1 {
		every = haltest.Sample(3, 1)
	}
	right, all := 0, 0
	for i, p := range causes {
		if only := os.Getenv("HALYARD_CAUSE"); only != "" && only != string(p.cause) ||
			only == "" && i%every != every-1 {
			continue
		}
		named := map[Cause]int{}
		for seed := range seeds {
			r := rand.New(rand.NewPCG(seed, 99))
			run, spec := plant(servos[seed%uint64(len(servos))], seed, p.draw(r))
			v := Judge([]*identify.Run{run}, spec, Noise{})
			if v.And != "" { // a second cause, of one that is planted
				v.Cause += "+" + v.And
			}
			if named[v.Cause]++; v.Cause != p.cause && seed < 4 {
				t.Logf("%s on %s: got %+v", p.cause, run.Name, v)
			}
		}
		var row []string
		for cause, n := range named {
			row = append(row, fmt.Sprintf("%s %d", cause, n))
		}
		t.Logf("%-13s %s", p.cause, strings.Join(row, ", "))
		right, all = right+named[p.cause], all+int(seeds)
		if share := float64(named[p.cause]) / float64(seeds); share < 0.8 {
			t.Errorf("%s: named in %.0f %% of the recordings, want 80 %%", p.cause, 100*share)
		}
	}
	t.Logf("%d of %d on the diagonal, %.1f %%", right, all, 100*float64(right)/float64(all))
	if float64(right) < 0.9*float64(all) {
		t.Errorf("got %d of %d, want 90 %%", right, all)
	}
}

// Zeros of 2 to 6 degrees: most are named, and what is not is no other servo's fault.
func TestSmallZeros(t *testing.T) {
	const seeds = 10
	named := 0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 99))
		change := Change{Zero: sign(r) * between(r, 0.035, 0.1)}
		run, spec := plant(servos[seed%uint64(len(servos))], seed, change)
		if v := Judge([]*identify.Run{run}, spec, Noise{}); v.Cause == Zero {
			named++
		} else {
			t.Logf("%.3f rad on %s: got %+v", change.Zero, run.Name, v)
		}
	}
	if named < 0.6*seeds {
		t.Errorf("named %d of %d, want 60 %%", named, seeds)
	}
}

// Two causes at once: both are named, or at least one of them, and never a third.
func TestTwoCauses(t *testing.T) {
	seeds, _ := strconv.ParseUint(os.Getenv("HALYARD_SEEDS"), 10, 16)
	seeds = max(1, seeds)
	pairs := []struct {
		a, b Cause
		c    Change
	}{
		{Zero, Friction, Change{Zero: 0.2, Friction: 1.5}}, {Load, Supply, Change{Load: 0.7, Supply: 0.25}},
		{Gear, Latency, Change{Gear: 0.5, Delay: 0.05}}, {Constant, Play, Change{Constant: 0.3, Play: 0.08}},
		{Friction, Supply, Change{Friction: 1.5, Supply: 0.25}}, {Zero, Load, Change{Zero: -0.25, Load: 0.8}},
		{Reversed, Friction, Change{Reversed: true, Friction: 1.5}}, {Latency, Load, Change{Delay: 0.05, Load: -0.5}},
	}
	both, one := 0, 0
	for i, p := range pairs {
		if i%haltest.Sample(4, 1) != 0 && seeds == 1 {
			continue
		}
		for seed := range seeds {
			run, spec := plant(servos[(seed+uint64(i))%uint64(len(servos))], seed, p.c)
			v := Judge([]*identify.Run{run}, spec, Noise{})
			is := func(c Cause) bool { return c == p.a || c == p.b }
			switch {
			case is(v.Cause) && is(v.And):
				both++
			case is(v.Cause) && v.And == "":
				one++
				t.Logf("%s and %s on %s: got %+v", p.a, p.b, run.Name, v)
			default:
				t.Logf("%s and %s on %s: MISNAMED %+v", p.a, p.b, run.Name, v)
				if seeds == 1 {
					t.Errorf("%s and %s on %s: got %+v", p.a, p.b, run.Name, v)
				}
			}
		}
	}
	t.Logf("both named %d, one of the two %d", both, one)
}
