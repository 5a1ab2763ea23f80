package identify

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// plantedServos are four kinds: of three firmwares and control laws, from 0.4 to 6 N·m.
var plantedServos = []string{"xl330-m288", "sts3215", "mx-64", "xm430-w350"}

// planted is a servo whose parameters are known, on a bench, with recordings of it.
type planted struct {
	spec  *actuator.Spec // of the table: where a fit begins
	truth trial
	runs  []*Run
}

// errorKind is what a recording adds to the position: a standard deviation of 0.3 degrees, new in each sample, or
// lasting 170 ms as vibration and a drifting encoder do.
type errorKind string

const (
	white      errorKind = "white"
	correlated errorKind = "correlated"
)

// motions are goals as functions of time, rad, with the torque.
var motions = []struct {
	name string
	goal func(t float64) (float64, bool)
}{
	{"sin_sin", func(t float64) (float64, bool) {
		return math.Sin(1.5*t)*1.2 + 0.5*math.Sin(6*t)*math.Sin(2.5*t), true
	}},
	{"sweep", func(t float64) (float64, bool) { return math.Sin(1.6 * t * t), true }},
	{"drop", func(t float64) (float64, bool) { return -1.3 * (1 - math.Cos(math.Pi*math.Min(1, t/1.2))) / 2, t < 1.3 }},
	{"up", func(t float64) (float64, bool) { return 1.4 * (1 - math.Cos(math.Pi*math.Min(1, t/1.5))) / 2, true }},
}

// plant draws a servo of the model called name and records it: every motion with two gains, seconds long, about 100
// samples a second; staggered: 1 to 12 ms apart, so that reads come at all distances from the goals.
func plant(name string, seed uint64, seconds float64, errors errorKind, staggered bool, change func(*trial)) *planted {
	r := rand.New(rand.NewPCG(seed, 77))
	spec, _ := actuator.Lookup(name)
	p := &planted{spec: spec, truth: trial{spec: *spec}}
	k := &p.truth.spec
	k.Droop = 0
	off := func(share float64) float64 { return math.Exp(share * (2*r.Float64() - 1)) }
	k.Kt *= off(0.15)
	k.R *= off(0.2)
	k.Armature *= off(0.3)
	stall := k.Kt * spec.NominalVolts / k.R
	torque := 0.4 * stall // of the load
	k.Friction = actuator.Friction{Model: 3, Kb: 0.02 * stall * off(0.5), Kv: 0.01 * stall * off(0.5),
		Kl: 0.1 * off(0.5), Dqs: 0.5, Alpha: 1}
	p.truth.bench = Bench{ArmOffset: 0.03 * (2*r.Float64() - 1), GoalDelay: float64(2+r.IntN(7)) / 1000}
	if change != nil {
		change(&p.truth)
	}
	length := 0.12
	gap := func() int { return 8 + r.IntN(5) } // ms between samples, as a computer's scheduler has them
	if staggered {
		gap = func() int { return 1 + r.IntN(12) }
	}
	gain := 0.8 / (k.PositionGain * 0.35) // full drive at about 0.35 rad
	for _, m := range motions {
		for _, share := range []float64{0.5, 1.5} {
			run := &Run{
				Name: fmt.Sprintf("%s-%g", m.name, share), Motor: name, Trajectory: m.name,
				Mass: torque / 9.80665 / length, Length: length,
				Volts: spec.NominalVolts, P: math.Round(gain * share),
			}
			run.record(&p.truth, seconds, m.goal, gap)
			run.spoil(errors, r)
			p.runs = append(p.runs, run)
		}
	}
	return p
}

// record fills the samples from a servo of truth. It has a loop of its own: what it tests is not what makes its data.
func (r *Run) record(truth *trial, seconds float64, goal func(t float64) (float64, bool), gap func() int) {
	s := actuator.NewServo(&truth.spec)
	s.Load = actuator.Load{Mass: r.Mass, Length: r.Length, Down: -truth.bench.ArmOffset, Backlash: truth.bench.Play}
	s.Supply = actuator.NewSupply(r.Volts, 0)
	s.Gains.P, s.Gains.I, s.Gains.D, s.Shutdown = r.P, 0, 0, 0
	s.Reset(0)
	s.Mode = hal.PositionMode
	s.GoalPosition, s.Enable = goal(0)
	var due []int // ms of the samples
	for at := 0; at < int(seconds*1000); at += gap() {
		due = append(due, at)
	}
	goalDelay := int(math.Round(truth.bench.GoalDelay * 1000))
	torqueDelay := goalDelay + int(math.Round(truth.bench.TorqueDelay*1000))
	next, goals, torques := 0, 0, 0
	for ms := range int(seconds * 1000) {
		if next < len(due) && ms == due[next] {
			at := float64(ms) / 1000
			g, on := goal(at)
			load := math.Round(s.Duty * 885)
			if load < 0 {
				load += 65536
			}
			r.Samples = append(r.Samples, Sample{at, g, s.MeasuredPosition(), load, r.Volts, on})
			next++
		}
		for ; goals < len(due) && due[goals]+goalDelay <= ms; goals++ {
			s.GoalPosition, _ = goal(float64(due[goals]) / 1000)
		}
		for ; torques < len(due) && due[torques]+torqueDelay <= ms; torques++ {
			_, s.Enable = goal(float64(due[torques]) / 1000)
		}
		s.Step(0.001)
		s.Supply.FinishStep(0.001)
	}
}

// cross records a slow way back and forth through the position at which the arm hangs, where play shows.
func (p *planted) cross(seconds float64, errors errorKind, random *rand.Rand) {
	for _, rate := range []float64{1, 1.7} {
		run := *p.runs[0]
		run.Name, run.Trajectory, run.Samples = fmt.Sprintf("cross-%g", rate), "cross", nil
		run.record(&p.truth, seconds, func(t float64) (float64,
			bool) {
			return 0.25 * math.Sin(rate*2*math.Pi*t/seconds*2), true
		}, func() int { return 8 + random.IntN(5) })
		run.spoil(errors, random)
		p.runs = append(p.runs, &run)
	}
}

// spoil adds errors of 0.3 degrees to the positions.
func (r *Run) spoil(kind errorKind, random *rand.Rand) {
	const sigma, lasting = 0.3 * math.Pi / 180, 0.17
	keep := 0.0
	if kind == correlated {
		keep = math.Exp(-0.01 / lasting)
	}
	e := random.NormFloat64() * sigma
	for i := range r.Samples {
		e = keep*e + math.Sqrt(1-keep*keep)*sigma*random.NormFloat64()
		r.Samples[i].Position += e
	}
}

// recover fits p with its own friction model, from the servo's table, and returns the trial and its intervals by name.
func (p *planted) recover(names ...string) (trial, map[string]estimate) {
	c := newCandidate(3, "", benchNames(p.runs, false))
	c.names = append(c.names, names...)
	s := &search{runs: p.runs, axes: axes(c.names, load(p.runs)), step: fineStep}
	t := s.widths(c.begin(p.spec, s.axes), 8, 0.1, narrow)
	found := map[string]estimate{}
	for i, e := range s.intervals(&t) {
		found[s.axes[i].name] = e
	}
	return t, found
}

// coverage counts, by parameter, how often an interval held the truth.
type coverage struct {
	held, all map[string]int
	errors    map[string][]float64 // share of the truth; s and rad of what may be zero
}

func newCoverage() *coverage {
	return &coverage{map[string]int{}, map[string]int{}, map[string][]float64{}}
}

func (c *coverage) add(p *planted, found map[string]estimate) {
	for i := range parameters {
		a := &parameters[i]
		e, ok := found[a.name]
		if !ok || math.IsNaN(e.low) {
			continue
		}
		truth := *a.at(&p.truth)
		c.all[a.name]++
		if truth >= e.low && truth <= e.high {
			c.held[a.name]++
		}
		miss := e.value - truth
		if a.low >= 0 && a.name != "play" {
			miss /= truth
		}
		c.errors[a.name] = append(c.errors[a.name], miss)
	}
}

// total is the share of all intervals that held.
func (c *coverage) total() float64 {
	held, all := 0, 0
	for name := range c.all {
		held, all = held+c.held[name], all+c.all[name]
	}
	return float64(held) / float64(all)
}

// String is a table of the parameters: coverage, median and 95th percentile of the error.
func (c *coverage) String() string {
	var b strings.Builder
	for i := range parameters {
		name := parameters[i].name
		if n := c.all[name]; n > 0 {
			abs := make([]float64, n)
			for k, e := range c.errors[name] {
				abs[k] = math.Abs(e)
			}
			fmt.Fprintf(&b, "  %-10s held %5.1f %% of %d, error median %.3g, p95 %.3g\n", name,
				100*float64(c.held[name])/float64(n), n, quantile(abs, 0.5), quantile(abs, 0.95))
		}
	}
	return b.String()
}

// TestPlanted recovers planted servos. With HALYARD_LONG=1 it draws 250 of each kind, which takes hours of a core;
// HALYARD_SEEDS is another number, of which HALYARD_FROM is the first.
func TestPlanted(t *testing.T) {
	seeds, low, high := long(2, 250), 0.80, 1.0
	if n, _ := strconv.Atoi(os.Getenv("HALYARD_SEEDS")); n > 0 {
		seeds = n
	}
	if seeds > 25 {
		low, high = 0.93, 0.97
	}
	first, _ := strconv.Atoi(os.Getenv("HALYARD_FROM"))
	for _, kind := range []errorKind{white, correlated} {
		t.Run(string(kind), func(t *testing.T) {
			all := newCoverage()
			for _, name := range plantedServos {
				c := newCoverage()
				for seed := range seeds {
					p := plant(name, uint64(first+seed), 3, kind, false, nil)
					_, found := p.recover()
					c.add(p, found)
					all.add(p, found)
				}
				t.Logf("%s, %d seeds\n%s", name, seeds, c)
			}
			t.Logf("all kinds: intervals hold %.1f %%\n%s", 100*all.total(), all)
			if got := all.total(); got < low || got > high {
				t.Errorf("intervals hold %.1f %%, want %g..%g %%", 100*got, 100*low, 100*high)
			}
			for name, most := range map[string]float64{"kt": 0.05, "R": 0.08} {
				for _, e := range all.errors[name] {
					if math.Abs(e) > 2*most {
						t.Errorf("%s is off by %.1f %%, want at most %g %%", name, 100*e, 200*most)
					}
				}
			}
		})
	}
}

// long is a number of seeds: few, or with HALYARD_LONG many.
func long(few, many int) int {
	if os.Getenv("HALYARD_LONG") != "" {
		return many
	}
	return few
}

// The delay of a goal: to half a millisecond where the servo reports its drive, if reads come at all distances from the
// goals; to five from the position alone. The steps of planting are 1 ms.
func TestPlantedLatency(t *testing.T) {
	for _, kind := range []errorKind{white, correlated} {
		var register, position []float64
		held, n := 0, long(2, 100)
		for seed := range n {
			p := plant("xl330-m288", uint64(seed), 3, kind, true,
				func(t *trial) { t.bench.GoalDelay = float64(1+seed%15) / 1000 })
			truth := p.truth.bench.GoalDelay
			shown := truth + 0.0005 // the drive is computed in the step of 1 ms before it is read
			drive, ok := registers(p.runs, p.spec)
			if !ok {
				t.Fatalf("%s error, seed %d: no register", kind, seed)
			}
			register = append(register, math.Abs(drive.delay.value-shown))
			if shown >= drive.delay.low && shown <= drive.delay.high {
				held++
			}
			if math.Abs(drive.gain.value/p.truth.spec.PositionGain-1) > tableGain {
				t.Errorf("%s error, seed %d: gain off by %.2g", kind, seed,
					drive.gain.value/p.truth.spec.PositionGain-1)
			}
			_, found := p.recover()
			position = append(position, math.Abs(found["goal_delay"].value-truth))
		}
		t.Logf("%s error, %d seeds: by register median %.2f ms, greatest %.2f ms, interval held %d; by position "+
			"%.2f ms, %.2f ms", kind, n,
			1e3*quantile(register, 0.5), 1e3*quantile(register, 1), held, 1e3*quantile(position, 0.5),
			1e3*quantile(position, 1))
		if most := quantile(register, 0.95); most > 0.0005 {
			t.Errorf("%s error: by register: got %.2f ms at 95 %%, want at most 0.5", kind, 1e3*most)
		}
		if most := quantile(position, 1); most > 0.005 {
			t.Errorf("%s error: by position: got %.2f ms, want at most 5", kind, 1e3*most)
		}
	}
}

// Play: within 0.1 degrees or a fifth, if slow crossings show it; without play the result is zero.
func TestPlantedPlay(t *testing.T) {
	for _, kind := range []errorKind{white, correlated} {
		var misses []float64
		measured, n := 0, long(2, 100)
		for seed := range n {
			play := []float64{0, 0.5, 1, 2, 3}[(seed+2)%5] * math.Pi / 180
			p := plant("sts3215", uint64(seed), 3, kind, false, func(t *trial) { t.bench.Play = play })
			p.cross(6, kind, rand.New(rand.NewPCG(uint64(seed), 5)))
			_, found := p.recover("play")
			e := found["play"]
			within := math.Max(playError, 0.2*e.value)
			if !(e.low > 0) || e.high-e.value > within {
				continue // not measurable, and reported as that
			}
			measured++
			misses = append(misses, math.Abs(e.value-play)/math.Max(playError, 0.2*play))
		}
		if measured == 0 {
			t.Fatalf("%s error: no play was measurable", kind)
		}
		t.Logf("%s error: %d of %d measurable; error in units of what is allowed: median %.2f, p95 %.2f", kind,
			measured, n, quantile(misses, 0.5), quantile(misses, 0.95))
		if most := quantile(misses, 0.95); most > 1 {
			t.Errorf("%s error: play is off by %.2f of what is allowed", kind, most)
		}
	}
}
