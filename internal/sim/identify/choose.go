package identify

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// candidate is one model of a servo: the friction model and the parameters fitted in addition to the motor's.
type candidate struct {
	friction int      // BAM's model, 1..6
	extra    string   // "droop", "Kq": effects of a strongly driven servo; "" neither
	names    []string // of the parameters
}

func (c *candidate) String() string {
	name := fmt.Sprintf("M%d", c.friction)
	if c.extra != "" {
		name += " + " + c.extra
	}
	return name
}

// frictions are the parameters of each friction model. The exponent Alpha stays 1: recordings do not separate it from
// Dqs.
var frictions = [...]string{
	1: "Kb Kv", 2: "Kb Kv Ks Dqs", 3: "Kb Kv Kl", 4: "Kb Kv Ks Kl Kls Dqs",
	5: "Kb Kv Ks Km Ke Kms Kes Dqs", 6: "Kb Kv Ks Km Ke Kms Kes Kmq Keq Dqs",
}

func newCandidate(friction int, extra, bench string) *candidate {
	return &candidate{friction, extra,
		strings.Fields("kt R armature " + frictions[friction] + " " + extra + " arm_offset goal_delay " + bench)}
}

// benchNames are the parameters that only some runs show: the delay of the torque where it changes, and the gain where
// the data sheet stands in for what they do not.
func benchNames(runs []*Run, believed bool) (names string) {
	if slices.ContainsFunc(runs, (*Run).switches) {
		names = "torque_delay"
	}
	if believed {
		names += " gain"
	}
	return names
}

// switches reports that the torque changes in r.
func (r *Run) switches() bool {
	return slices.ContainsFunc(r.Samples, func(s Sample) bool { return s.Torque != r.Samples[0].Torque })
}

// begin is the guess at which a search begins: the servo's own motor and a usual friction.
func (c *candidate) begin(spec *actuator.Spec, axes []axis) trial {
	t := trial{spec: *spec}
	t.spec.Droop, t.spec.Friction = 0, actuator.Friction{Model: c.friction, Dqs: 0.5, Alpha: 1}
	for i := range axes {
		if a := &axes[i]; !a.positive {
			a.set(&t, a.begin)
		}
	}
	return t
}

// load is the greatest torque of gravity in the runs, N·m: the scale of torque parameters.
func load(runs []*Run) float64 {
	most := 0.0
	for _, r := range runs {
		most = math.Max(most, (r.Mass+r.ArmMass/2)*actuator.StandardGravity*r.Length)
	}
	return most
}

// Rounds and simulations of the searches; chosen so that twelve recordings of six seconds take less than two minutes of
// one core for all models together.
const (
	explorePlays = 240
	coarseRounds = 7
	fineRounds   = 6
	foldRounds   = 5
)

// fitted is a candidate with its best trial.
type fitted struct {
	*candidate
	trial
	axes    []axis
	mae     []float64 // rad, of each run
	leftOut []float64 // rad, of each part that a fit had not seen, run by run and fold by fold
	unseen  []float64 // rad, of each sample of these parts
}

// search is the problem of fitting c to runs of the servo spec, as it begins.
func (c *candidate) search(runs []*Run, spec *actuator.Spec) *search {
	all := axes(c.names, load(runs))
	return &search{runs: runs, axes: all, step: coarse(runs), belief: c.newBelief(runs, spec, all)}
}

// fit searches the best trial of c from two starts: a usual servo, and the best of a simpler model or, where that is
// nil, the result of a global search.
func (c *candidate) fit(runs []*Run, spec *actuator.Spec, simpler *fitted) *fitted {
	s := c.search(runs, spec)
	s.width = 0.1
	begin := c.begin(spec, s.axes)
	starts := []trial{begin}
	if simpler != nil {
		starts = append(starts, c.extend(simpler, s.axes))
	} else {
		starts = append(starts, s.explore(begin, explorePlays, 1))
	}
	f := &fitted{candidate: c, axes: s.axes}
	best := math.Inf(1)
	for _, t := range starts {
		t = s.widths(t, coarseRounds, 0.1, 0.03)
		if cost := s.cost(&t, s.residuals(&t, nil)); cost < best {
			f.trial, best = t, cost
		}
	}
	f.trial = s.widths(f.trial, coarseRounds, narrow)
	s.step = fineStep
	f.trial = s.refine(f.trial, fineRounds)
	f.mae = errorsOf(runs, &f.trial)
	return f
}

// polishStarts is how many other models' trials the chosen model is refined from once more.
const polishStarts = 3

// polish searches a better trial of f from those of the others: with stick and slip the cost has many local minima.
func (f *fitted) polish(runs []*Run, spec *actuator.Spec, others []*fitted) {
	s := f.search(runs, spec)
	s.step, s.width = fineStep, narrow
	best := s.cost(&f.trial, s.residuals(&f.trial, nil))
	for _, o := range others {
		if o == f {
			continue
		}
		s.step = coarse(runs)
		t := s.widths(f.extend(o, f.axes), coarseRounds, 0.03, narrow)
		s.step = fineStep
		t = s.refine(t, fineRounds)
		if cost := s.cost(&t, s.residuals(&t, nil)); cost < best {
			f.trial, best = t, cost
		}
	}
	f.mae = errorsOf(runs, &f.trial)
}

// extend converts the trial of another model to one of c, with small values for parameters that the other model lacks.
func (c *candidate) extend(other *fitted, axes []axis) trial {
	const little = 0.2
	t := c.begin(&other.spec, axes)
	t.bench = other.bench
	for i := range axes {
		if a := &axes[i]; slices.Contains(other.names, a.name) {
			a.set(&t, a.get(&other.trial))
		} else if !a.positive {
			a.set(&t, little*a.begin)
		}
	}
	return t
}

// errorsOf are the mean absolute errors of t, rad, run by run.
func errorsOf(runs []*Run, t *trial) []float64 {
	all := make([]float64, len(runs))
	for i, r := range runs {
		all[i], _ = r.errors(&t.spec, t.bench)
	}
	return all
}

// errors are the mean and the greatest absolute difference, rad, of the servo spec from the recording.
func (r *Run) errors(spec *actuator.Spec, b Bench) (mean, most float64) {
	positions := make([]float64, len(r.Samples))
	r.Play(spec, b, positions)
	for i, q := range positions {
		d := math.Abs(q - r.Samples[i].Position)
		mean += d
		most = math.Max(most, d)
	}
	return mean / float64(len(positions)), most
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}

// choose fits the models and returns them with the best first: the one with the best prediction of runs not used in its
// fit. Effects of a strong drive are decided with the friction model M3, then the friction model with those.
func choose(runs []*Run, spec *actuator.Spec, progress func(string)) []*fitted {
	var all []*fitted
	steps := 6
	if saturates(runs, spec) {
		steps = 7
	}
	bench := benchNames(runs, sheetHelps(runs, spec))
	try := func(friction int, extra string, simpler *fitted) *fitted {
		c := newCandidate(friction, extra, bench)
		f := c.fit(runs, spec, simpler)
		f.validate(runs, spec)
		all = append(all, f)
		progress(fmt.Sprintf("%s %-11s %5.2f deg, left out %5.2f deg", bar(len(all), steps), c, degrees(mean(f.mae)),
			degrees(mean(f.leftOut))))
		return f
	}
	plain := try(1, "", nil)
	best := try(3, "", plain)
	if saturates(runs, spec) {
		base := best
		for _, extra := range []string{"droop", "Kq"} {
			if f := try(3, extra, base); f.score() < best.score() {
				best = f
			}
		}
	}
	extra, simpler := best.extra, best
	if extra == "" { // M1 and M2 have no load term, which a strongly driven servo needs
		try(2, extra, plain)
	}
	for _, friction := range []int{4, 5, 6} {
		simpler = try(friction, extra, simpler)
	}
	slices.SortStableFunc(all, func(a, b *fitted) int { return cmp.Compare(a.score(), b.score()) })
	pick := simplest(all)
	best = all[pick]
	best.polish(runs, spec, all[:min(polishStarts, len(all))])
	return slices.Insert(slices.Delete(all, pick, pick+1), 0, best)
}

// bar is a progress bar.
func bar(done, all int) string {
	done = min(done, all)
	return "[" + strings.Repeat("=", 2*done) + strings.Repeat(" ", 2*(all-done)) + "]"
}

// withPlay is f with play between gear and load, where that predicts clearly better; nil where the recordings do not
// show any.
func (f *fitted) withPlay(runs []*Run, spec *actuator.Spec) *fitted {
	c := &candidate{f.friction, f.extra, append(slices.Clone(f.names), "play")}
	s := c.search(runs, spec)
	g := &fitted{candidate: c, axes: s.axes, trial: f.trial}
	g.bench.Play = beginPlay
	g.trial = s.widths(g.trial, coarseRounds, 0.03, narrow)
	s.step = fineStep
	g.trial = s.refine(g.trial, fineRounds)
	if g.bench.Play == 0 {
		return nil
	}
	g.validate(runs, spec)
	if !clearlyWorse(f, g) {
		return nil
	}
	g.mae = errorsOf(runs, &g.trial)
	return g
}

// beginPlay is the play at which a search begins, rad.
const beginPlay = 0.01

// saturates reports that the runs drive the servo near its limits, where droop and a load's square show.
func saturates(runs []*Run, spec *actuator.Spec) bool {
	const nearly = 0.8
	for _, r := range runs {
		for i := range r.Samples {
			if s := &r.Samples[i]; s.Torque &&
				math.Abs(spec.PositionGain*r.P*(s.Goal-s.Position)) > nearly*spec.MaxDuty {
				return true
			}
		}
	}
	return false
}

// simplest is the index of the model to use: the one with the fewest parameters of those that are not clearly worse
// than the first, which predicts best.
func simplest(all []*fitted) int {
	pick := 0
	for i, f := range all {
		if len(f.names) < len(all[pick].names) && !clearlyWorse(f, all[0]) {
			pick = i
		}
	}
	return pick
}

func degrees(radians float64) float64 { return radians * 180 / math.Pi }

// usable refuses sets of runs that no fit can use.
func usable(runs []*Run, spec *actuator.Spec) error {
	if spec.PositionGain == 0 {
		return &hal.Error{Kind: hal.Invalid, Op: "identify " + spec.Name,
			Err: fmt.Errorf("got a servo without a position gain, want a servo with P, I and D")}
	}
	driven := false
	for _, r := range runs {
		if err := r.fits(spec); err != nil {
			return err
		}
		first := &r.Samples[0]
		driven = driven || slices.ContainsFunc(r.Samples, func(s Sample) bool {
			return s.Torque && math.Abs(s.Goal-first.Goal) > minMotion
		})
	}
	if !driven {
		return &hal.Error{Kind: hal.Invalid, Op: "identify " + spec.Name, Try: "see docs/identify.md",
			Err: fmt.Errorf("got no recording in which a goal moves with the torque on, want at least one")}
	}
	return nil
}
