package identify

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Servo is one identified servo: the contents of a servo file.
type Servo struct {
	Model string        // model with the same registers, encoder and firmware
	Spec  actuator.Spec // with the identified motor, friction and gain
	Bench Bench         // of its recordings
	Date  time.Time     // of the fit; zero: unknown

	Prior        *Prior  // where the recordings do not show all
	Band         float64 // rad; share of the errors on recordings that a fit had not seen is within; 0: unknown
	Over         Reach   // what the recordings hold
	Intervals    []Interval
	NotSeparable []Inseparable
	Latency      Latency
	Play         Interval    // rad, between gear and load; Low is NaN where the recordings cannot measure it
	Candidates   []Candidate // the chosen one first, the others by their error on left-out runs
	Recordings   []Result
}

// Prior is what a fit took from the servo's data sheet, each known to a share of Error.
type Prior struct {
	Free, Stall float64 // rad/s, N·m, at the nominal voltage
	Error       float64
	Source      string
}

// Interval is a parameter with the bounds that hold the truth with 95 %, by its likelihood.
type Interval struct {
	Name             string
	Value, Low, High float64
}

// Inseparable are parameters that the recordings cannot separate.
type Inseparable struct {
	Parameters []string
	Reason     string
}

// Latency is the time from a sample's time stamp until its goal has an effect, s: negative where the recorder writes
// the goal before it reads, and reads for longer than the servo waits.
type Latency struct {
	Seconds, Low, High float64
	// by the servo's own drive register; else from the position, where a lag of the motor looks alike
	Register bool
}

// Candidate is one model that was tried.
type Candidate struct {
	Name       string // "M4 + droop"
	Parameters int
	Error      float64 // rad, mean absolute over the runs
	LeftOut    float64 // rad, of runs not used in the fit; NaN if none could be left out
}

// Result is how a servo follows one recording.
type Result struct {
	File        string
	Error, Most float64 // rad, mean and greatest absolute difference
	Inside      float64 // share of the samples within the band; NaN without a band
	Leaves      string  // in which respect the recording is beyond what the servo was identified over; ""
}

// Fit finds the servo model spec from runs. It calls progress, if not nil, after each step. A fit of twelve recordings
// of six seconds takes about a minute and a half of one core.
func Fit(runs []*Run, spec *actuator.Spec, progress func(string)) (*Servo, error) {
	if progress == nil {
		progress = func(string) {}
	}
	if err := usable(runs, spec); err != nil {
		return nil, err
	}
	start := *spec
	drive, measured := registers(runs, spec)
	if measured && math.Abs(drive.gain.value/spec.PositionGain-1) > tableGain {
		start.PositionGain = drive.gain.value
	}
	all := choose(runs, &start, progress)
	best := all[0]
	if g := best.withPlay(runs, &start); g != nil {
		best = g
	}
	s := &Servo{Model: spec.Name, Spec: best.spec, Bench: best.bench}
	s.Spec.Fit = fmt.Sprintf("identified on %d recordings, %s", len(runs), best.candidate)
	for _, f := range all {
		s.Candidates = append(s.Candidates, Candidate{f.String(), len(f.names), mean(f.mae), mean(f.leftOut)})
	}
	if sheetHelps(runs, &start) {
		s.Prior = &Prior{spec.NoLoadSpeed, spec.StallTorque, sheetError, spec.Source}
	}
	if len(best.unseen) > 0 {
		s.Band = quantile(best.unseen, bandShare)
	}
	for _, r := range runs {
		s.Over.widen(r.reach(&s.Spec, s.Bench))
	}
	s.Recordings = Check(s, runs)
	s.uncertain(best, runs, &start, drive, measured)
	return s, nil
}

// Summary is how well s follows recordings that it was and was not fitted to.
func (s *Servo) Summary() string {
	best := &s.Candidates[0]
	return fmt.Sprintf("%s: mean error %.2f degrees, on recordings that a fit had not seen %.2f; there %.0f %% of the "+
		"samples are within %.2f degrees", s.Spec.Fit, degrees(best.Error), degrees(best.LeftOut), 100*bandShare,
		degrees(s.Band))
}

// playError is how well play must be known to count as measured, rad; or to a fifth of itself.
const playError = 0.1 * math.Pi / 180

// tableGain is how far a register may be from the gain of the servo's table before the table is taken to be wrong.
const tableGain = 0.03

// uncertain fills in the intervals, the latency, and the inseparable parameters.
func (s *Servo) uncertain(best *fitted, runs []*Run, start *actuator.Spec, drive registered, measured bool) {
	names := best.names
	if !measured && s.Prior == nil {
		names = append([]string{"gain"}, names...)
	}
	wide := &search{runs: runs, axes: axes(names, load(runs)), step: fineStep, width: narrow}
	s.NotSeparable = append(s.NotSeparable,
		Inseparable{[]string{"mass", "R"}, "a heavier load looks like a smaller R, " +
			"with all friction and the armature larger by as much: they hold for the mass that the recordings name"})
	lost := wide.inseparable(&best.trial)
	if lost != nil {
		why := "the drive does not saturate and no register shows it: " +
			"the recordings hold gain*kt/R and kt^2/R, not each for itself"
		if p := s.Prior; p != nil {
			why += fmt.Sprintf("; the data sheet's no-load speed of %s rad/s and stall torque of %s N m, each taken as "+
				"known to %.0f %%, decide", number(p.Free), number(p.Stall), 100*p.Error)
			lost = slices.Clone(lost)
		}
		s.NotSeparable = append(s.NotSeparable, Inseparable{lost, why})
	}
	s.Play = Interval{"play", best.bench.Play, math.NaN(), math.NaN()}
	at := best.search(runs, start)
	at.step, at.width = fineStep, narrow
	s.Latency = Latency{Seconds: best.bench.GoalDelay}
	for i, e := range at.intervals(&best.trial) {
		name := best.axes[i].name
		switch {
		case name == "play":
			if e.high-e.value <= math.Max(playError, 0.2*e.value) && e.low > 0 {
				s.Play = Interval{name, e.value, e.low, e.high}
			}
		case name == "goal_delay":
			// A motor's lag has the effect of latency: from only the position it is known to 5 ms.
			s.Latency.Low, s.Latency.High = math.Min(e.low, e.value-0.005), math.Max(e.high, e.value+0.005)
		case !math.IsNaN(e.low) && (s.Prior != nil || !slices.Contains(lost, name)):
			s.Intervals = append(s.Intervals, Interval{name, e.value, e.low, e.high})
		}
	}
	if measured {
		s.Intervals = append(s.Intervals, Interval{"gain", drive.gain.value, drive.gain.low, drive.gain.high})
		s.Latency = Latency{drive.delay.value, drive.delay.low, drive.delay.high, true}
	}
}

// Known is the servo model called name as the simulator has it.
func Known(name string) (*Servo, error) {
	spec, ok := actuator.Lookup(name)
	if !ok {
		err := fmt.Errorf("got %q, want one of %s", name, strings.Join(actuator.Names(), ", "))
		if meant := yaml.Meant(name, actuator.Names()); meant != "" {
			err = fmt.Errorf("got %q; %s", name, meant)
		}
		return nil, &hal.Error{Kind: hal.Invalid, Op: "find servo model", Err: err}
	}
	return &Servo{Model: name, Spec: *spec}, nil
}

// Check plays each run through the servo, and measures how far it is from the recording.
func Check(s *Servo, runs []*Run) []Result {
	all := make([]Result, len(runs))
	for i, r := range runs {
		all[i] = s.check(r)
	}
	return all
}

// check plays r through the servo.
func (s *Servo) check(r *Run) Result {
	positions := make([]float64, len(r.Samples))
	r.Play(&s.Spec, s.Bench, positions)
	c := Result{File: r.Name, Inside: math.NaN()}
	inside := 0.0
	for i, q := range positions {
		d := math.Abs(q - r.Samples[i].Position)
		c.Error += d / float64(len(positions))
		if c.Most = math.Max(c.Most, d); d <= s.Band {
			inside++
		}
	}
	if s.Band > 0 {
		c.Inside = inside / float64(len(positions))
		c.Leaves = s.Over.leaves(r.reach(&s.Spec, s.Bench))
	}
	return c
}

// Matches refuses runs of another servo than s.
func (s *Servo) Matches(runs []*Run) error {
	for _, r := range runs {
		if err := r.fits(&s.Spec); err != nil {
			return err
		}
	}
	return nil
}
