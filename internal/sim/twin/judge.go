package twin

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/sim/identify"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Cause is why a joint differs from its twin.
type Cause string

// The causes.
const (
	None       Cause = "none"
	Zero       Cause = "zero"         // its zero has shifted
	Reversed   Cause = "reversed"     // it turns the other way
	Gear       Cause = "gear"         // another gear
	Play       Cause = "play"         // between gear and output
	Load       Cause = "load"         // it carries more, or less
	Friction   Cause = "friction"     // more
	Supply     Cause = "supply"       // a weak one
	Constant   Cause = "torque"       // lost torque constant
	Resistance Cause = "resistance"   // of winding, connector or cable: more
	Latency    Cause = "latency"      // goals take effect late
	Stuck      Cause = "stuck_sensor" // the reported position stays
	LooseHorn  Cause = "loose_horn"   // the horn slipped on the way
	Unmodelled Cause = "unknown"      // it differs by an unknown cause
)

// hypothesis is one cause with the size that is searched.
type hypothesis struct {
	cause  Cause
	change func(c *Change, size, at float64)
	sizes  []float64 // where the search begins: the best of them is refined between its neighbours
	least  float64   // a size below it is no cause
	timed  bool      // it begins at some time
	words  func(size float64) string
}

func degrees(rad float64) float64 { return rad * 180 / math.Pi }

var hypotheses = []hypothesis{
	{Zero, func(c *Change, v, _ float64) { c.Zero += v }, []float64{-0.6, -0.3, -0.12, -0.04, 0.04, 0.12, 0.3, 0.6},
		0.02, false,
		func(v float64) string { return fmt.Sprintf("its zero has shifted by %.1f degrees", degrees(v)) }},
	{Reversed, func(c *Change, v, _ float64) { c.Reversed = true; c.Zero += v }, []float64{0}, 0, false,
		func(float64) string { return "it turns opposite to its calibration" }},
	{Gear, func(c *Change, v, _ float64) { c.Gear += v }, []float64{-0.5, -0.25, -0.1, 0.1, 0.25, 0.5, 1}, 0.05,
		false,
		func(v float64) string { return fmt.Sprintf("its gear is %.2f times the calibration's", 1+v) }},
	{Play, func(c *Change, v, _ float64) { c.Play += v }, []float64{0.01, 0.02, 0.04, 0.08, 0.15}, 0.012, false,
		func(v float64) string { return fmt.Sprintf("its gear has %.1f degrees of play", degrees(v)) }},
	{Load, func(c *Change, v, _ float64) { c.Load += v }, []float64{-0.6, -0.35, -0.15, 0.15, 0.3, 0.6, 1.2, 2}, 0.12,
		false,
		func(v float64) string { return fmt.Sprintf("it carries %.1f times the load", 1+v) }},
	{Friction, func(c *Change, v, _ float64) { c.Friction += v }, []float64{0.4, 0.8, 1.6, 3, 6}, 0.3, false,
		func(v float64) string { return fmt.Sprintf("its friction is %.1f times the model's", 1+v) }},
	{Supply, func(c *Change, v, _ float64) { c.Supply += v }, []float64{0.05, 0.1, 0.2, 0.3, 0.45}, 0.06, false,
		func(v float64) string { return fmt.Sprintf("its supply has %.0f %% less voltage", 100*v) }},
	{Constant, func(c *Change, v, _ float64) { c.Constant += v }, []float64{0.06, 0.12, 0.2, 0.3, 0.45}, 0.07,
		false,
		func(v float64) string {
			return fmt.Sprintf("its torque constant is %.0f %% smaller: magnets, or a winding", 100*v)
		}},
	{Resistance, func(c *Change, v, _ float64) { c.Resistance += v }, []float64{0.15, 0.3, 0.6, 1.2}, 0.12, false,
		func(v float64) string {
			return fmt.Sprintf("its resistance is %.0f %% higher: winding, connector or cable", 100*v)
		}},
	{Latency, func(c *Change, v, _ float64) { c.Delay += v }, []float64{0.008, 0.016, 0.03, 0.06, 0.1}, 0.006,
		false,
		func(v float64) string { return fmt.Sprintf("goals take effect %.0f ms late", 1000*v) }},
	{LooseHorn, func(c *Change, v, at float64) { c.Slip, c.SlipAt = v, at },
		[]float64{-0.5, -0.25, -0.1, 0.1, 0.25, 0.5}, 0.05, true,
		func(v float64) string { return fmt.Sprintf("its horn slipped by %.1f degrees on the way", degrees(v)) }},
}

// Verdict is the result for a joint from a recording.
type Verdict struct {
	Cause     Cause
	Size      float64 // in the unit of its Change; NaN if it has no size
	Residual  float64 // rad, root mean square between the joint and its model
	Explained float64 // share of the difference that the cause explains, 0..1
	Words     string
	And       Cause   // the other of two causes that only together explain the difference; else ""
	AndSize   float64 // of it
	Second    Cause   // the next best, if it explains nearly as much; else ""
}

// Noise is the difference of a healthy joint. The zero Noise is a typical one.
type Noise struct {
	Position float64 // rad
	Effort   float64 // share of the greatest effort
	Volts    float64 // V
	Band     float64 // rad, root mean square; a joint that differs by more is never as its model
}

const (
	together = 0.15 // s for which errors last: samples within it count as one
	sure     = 25.0 // minimum log-likelihood ratio, times two, of a cause against none
	band     = 2.4  // times the noise of the position: the typical band
	weighed  = 0.25 // share of the difference that a named cause explains at least
	// rad; a greater error of the zero would be a reversed joint, for which only gravity gives the same result
	mostZero = 0.9
	tied     = 6.0  // below it two causes are alike
	rounds   = 4    // of a refinement
	closeBy  = 1.6  // times the best cost: up to there a cause may still be the best
	times    = 7    // places at which a slip is looked for
	aside    = 0.5  // s from either end, within which a slip is not looked for
	stuckFor = 0.8  // s without any change, while the goal moves
	quietest = 0.1  // square of the least noise, in units of the typical one's
	leaders  = 3    // single causes that a second one is looked for with, and pairs that are refined
	atLeast  = -0.9 // a load or a gear of less is none
)

// Judge compares the recordings of one joint with its model, and names the cause of the difference. runs need goals
// that move.
func Judge(runs []*identify.Run, spec *actuator.Spec, noise Noise) Verdict {
	return (&judge{runs: runs, spec: spec, noise: noise}).judge()
}

// JudgeRunning is Judge of a recording that began in motion, of a joint that had differed before: its model begins at
// rest, so that the first moment is not compared, and a horn that slips on the way is not why.
func JudgeRunning(run *identify.Run, spec *actuator.Spec, noise Noise) Verdict {
	return (&judge{runs: []*identify.Run{run}, spec: spec, noise: noise, running: true}).judge()
}

// begun is the time after which the model of a joint that began in motion has followed, s.
const begun = 0.4

func (j *judge) judge() Verdict {
	runs, spec, noise := j.runs, j.spec, j.noise
	noise.Position = cmp.Or(noise.Position, 0.3*math.Pi/180)
	noise.Effort = cmp.Or(noise.Effort, 0.03)
	noise.Volts = cmp.Or(noise.Volts, 0.3)
	if !spec.CurrentControl {
		noise.Effort *= spec.MaxDuty
	} else {
		noise.Effort *= spec.MaxCurrent
	}
	noise.Band = cmp.Or(noise.Band, band*noise.Position)
	j.noise = noise
	j.residuals(Change{})
	v := Verdict{Cause: None, Size: math.NaN(), Residual: j.off, Words: "it does as its model does"}
	for _, r := range runs {
		if at, is := stuck(r); is {
			v.Cause, v.Size, v.Explained, v.Words = Stuck, at, 1,
				fmt.Sprintf("its reported position stays from %.1f s on, while its goal moves", at)
			return v
		}
	}
	healthy := j.refine(found{})
	var all []found
	for i := range hypotheses {
		if hypotheses[i].timed && j.running {
			continue
		}
		f := j.search(&hypotheses[i], found{}, &healthy)
		// while the robot runs, the rough search must be enough: it takes half of the time, and found more of the
		// shifted zeros
		if !j.running {
			f = j.descend(f, false)
		}
		all = append(all, j.refine(f))
	}
	if !j.running && healthy.cost > j.expected()/2 {
		healthy, all = j.settle(healthy, all)
	}
	for i := range all {
		if f := &all[i].parts[0]; f.cause == Zero && math.Abs(f.size) > mostZero {
			all[i].cost = math.Inf(1)
		}
	}
	slices.SortStableFunc(all, byCost)
	j.quieter(&all[0])
	singles := slices.Clone(all)
	all = slices.DeleteFunc(all, func(f found) bool { return !j.beats(&f, &healthy) })
	if len(all) == 0 {
		return j.noSingle(v, &healthy, singles)
	}
	best := all[0]
	if !j.running {
		if pair, ok := j.pair(singles, &best); ok {
			return j.named(v, &pair, &healthy)
		}
	}
	if v = j.named(v, &best, &healthy); len(all) > 1 && all[1].cost-best.cost < tied {
		v.Second = all[1].parts[0].cause
	}
	return v
}

func byCost(a, b found) int { return cmp.Compare(a.cost, b.cost) }

// beats reports that f explains clearly more than other does, by sizes that matter.
func (j *judge) beats(f, other *found) bool {
	for _, p := range f.parts[:f.n] {
		if p.least > 0 && math.Abs(p.size) < p.least {
			return false
		}
	}
	return other.cost-f.cost >= math.Max(sure*j.quiet, weighed*other.cost)
}

// quieter estimates the noise by the best found.
func (j *judge) quieter(best *found) {
	j.quiet = math.Max(quietest, math.Min(1, best.cost/j.expected()))
}

// remains is the root mean square between the joint and f, rad.
func (j *judge) remains(f *found) float64 {
	j.residuals(f.at(&moves{}))
	return j.off
}

// noSingle is the verdict where no single cause explains the difference.
func (j *judge) noSingle(v Verdict, healthy *found, singles []found) Verdict {
	rest := j.remains(healthy)
	if rest <= j.noise.Band {
		for i := range singles {
			if f := &singles[i]; f.parts[0].cause == Reversed && math.Abs(f.cost-healthy.cost) < tied {
				v.Words += "; so would a reversed joint, since this one hangs at its 0: tilt it to tell"
			}
		}
		return v
	}
	if !j.running {
		if pair, ok := j.pair(singles, healthy); ok {
			return j.named(v, &pair, healthy)
		}
	}
	best := &singles[0]
	share := math.Max(0, (healthy.cost-best.cost)/healthy.cost)
	v.Cause, v.Explained = Unmodelled, share
	v.Words = fmt.Sprintf("it differs from its model by %.1f degrees rms, and no single cause explains more than a "+
		"quarter "+
		"of it (the nearest: %s, %.0f %%): identify it again", degrees(rest), best.parts[0].cause, 100*share)
	return v
}

// named is the verdict that f is the cause.
func (j *judge) named(v Verdict, f, healthy *found) Verdict {
	first := &f.parts[0]
	v.Cause, v.Size, v.Words = first.cause, first.size, first.words(first.size)
	v.Explained = (healthy.cost - f.cost) / healthy.cost
	if f.n > 1 {
		and := &f.parts[1]
		v.And, v.AndSize = and.cause, and.size
		v.Words += ", and " + and.words(and.size)
	}
	if rest := j.remains(f); rest > j.noise.Band {
		v.Words += fmt.Sprintf("; %.1f degrees rms remain unexplained", degrees(rest))
	}
	return v
}

// pair finds two causes that together explain clearly more than single does; the one that explains more by itself is
// first.
func (j *judge) pair(singles []found, single *found) (found, bool) {
	var all []found
	for i := range singles[:min(leaders, len(singles))] {
		for k := range hypotheses {
			first := &singles[i]
			if other := hypotheses[k].cause; other == first.parts[0].cause ||
				// a reversed joint has a zero of its own
				other == Zero && first.parts[0].cause == Reversed || other == Reversed && first.parts[0].cause == Zero {
				continue
			}
			all = append(all, j.search(&hypotheses[k], *first, first))
		}
	}
	slices.SortStableFunc(all, byCost)
	all = all[:min(leaders, len(all))]
	for i := range all {
		all[i] = j.refine(j.descend(j.refine(all[i]), false))
	}
	slices.SortStableFunc(all, byCost)
	j.quieter(&all[0])
	return all[0], j.beats(&all[0], single)
}

// A joint and its model never agree wholly. These differences are no cause, as long as they are about as small as their
// spread; every hypothesis may have them.
var spreads = [...]struct {
	size, step float64
	add        func(c *Change, v float64)
}{
	{0.15, 0.05, func(c *Change, v float64) { c.Friction += v }},
	{0.03, 0.02, func(c *Change, v float64) { c.Constant += v }},
	{0.03, 0.03, func(c *Change, v float64) { c.Load += v }},
	{0.015, 0.01, func(c *Change, v float64) { c.Supply += v }},
	{0.006, 0.01, func(c *Change, v float64) { c.Zero += v }},
	{0.003, 0.002, func(c *Change, v float64) { c.Delay = math.Max(earliest, c.Delay+v) }},
}

// earliest is the least delay of a goal, s: positions are stamped when their cycle ends, goals are sent when it begins.
const earliest = -0.02

// part is one cause of a difference, with its size and its start time, s.
type part struct {
	*hypothesis
	size, when float64
}

// found is the best fit of no cause, one or two, with the small additional differences.
type found struct {
	parts [2]part
	n     int
	small [len(spreads)]float64
	cost  float64
}

// moves are steps of the sizes of a found and of its small differences.
type moves [2 + len(spreads)]float64

// at is the change with the differences moved by d.
func (f *found) at(d *moves) Change {
	var c Change
	for i := range f.parts[:f.n] {
		p := &f.parts[i]
		p.change(&c, p.size+d[i], p.when)
	}
	for i := range spreads {
		spreads[i].add(&c, f.small[i]+d[i+2])
	}
	return c
}

type judge struct {
	runs    []*identify.Run
	spec    *actuator.Spec
	noise   Noise
	running bool
	quiet   float64 // square of the noise of these recordings, in units of the typical one's; 1 at most
	trace   trace
	off     float64 // rad, root mean square of the position's differences in the last residuals
}

// residuals are all differences between the runs and a joint that differs by c, in units of the noise, of samples that
// count together as often as they are independent.
func (j *judge) residuals(c Change) (all []float64) {
	squares, samples := 0.0, 0
	for _, r := range j.runs {
		c.play(r, j.spec, &j.trace)
		n := len(r.Samples)
		weight := math.Sqrt(math.Min(1, (r.Samples[n-1].Time-r.Samples[0].Time)/float64(n)/together))
		for i := range r.Samples {
			s := &r.Samples[i]
			if j.running && s.Time-r.Samples[0].Time < begun {
				continue
			}
			d := s.Position - j.trace.position[i]
			squares, samples = squares+d*d, samples+1
			all = append(all, weight*bounded(d/j.noise.Position))
			if !math.IsNaN(s.Load) && s.Torque {
				all = append(all, weight*bounded((s.Load-j.trace.effort[i])/j.noise.Effort))
			}
			if !math.IsNaN(s.Volts) {
				all = append(all, weight*bounded((s.Volts-j.trace.volts[i])/j.noise.Volts))
			}
		}
	}
	j.off = math.Sqrt(squares / float64(max(1, samples)))
	return all
}

// bounded is x with a slower growing square beyond 4: one burst of errors is not a cause.
func bounded(x float64) float64 {
	if a := math.Abs(x); a > 4 {
		return math.Copysign(math.Sqrt(8*a-16), x)
	}
	return x
}

// cost is the sum of the squares of f's residuals, and of its small differences in units of their spread.
func (j *judge) cost(f *found) (sum float64) {
	if !j.possible(f) {
		return math.Inf(1)
	}
	for _, r := range j.residuals(f.at(&moves{})) {
		sum += r * r
	}
	for i, s := range spreads {
		sum += f.small[i] * f.small[i] / (s.size * s.size)
	}
	for i := range f.parts[:f.n] {
		if f.parts[i].timed { // one thing more that is fitted
			sum += tied
		}
	}
	return sum
}

// expected is the cost of a joint that differs only by noise.
func (j *judge) expected() (sum float64) {
	for _, r := range j.runs {
		n := len(r.Samples)
		per := 1.0
		if !math.IsNaN(r.Samples[0].Load) {
			per++
		}
		if !math.IsNaN(r.Samples[0].Volts) {
			per++
		}
		sum += per * math.Min(float64(n), (r.Samples[n-1].Time-r.Samples[0].Time)/together)
	}
	return sum
}
