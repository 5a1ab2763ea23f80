package identify

import (
	"fmt"
	"math"
	"slices"
)

// Motion is a motion to record in addition: what it would separate, and how.
type Motion struct {
	Name, Separates, How string
}

// Shares of what a servo can do from which recordings show it.
const (
	drivenWell = 0.8  // of the greatest duty
	fastWell   = 0.5  // of the speed without load
	loadedWell = 0.15 // of the stall torque
	wideError  = 0.5  // rad of error at which a drive should be at its limit
	looseAngle = 15.0 // degrees about the hanging position, in which play shows
)

// Plan lists the motions that would separate what the recordings of s left unseparated, the most useful first.
func (s *Servo) Plan() (all []Motion) {
	o, k := &s.Over, &s.Spec
	add := func(is bool, name, separates, how string, args ...any) {
		if is {
			all = append(all, Motion{name, separates, fmt.Sprintf(how, args...)})
		}
	}
	most := math.Max(o.P[1], 1)
	high := math.Ceil(math.Max(k.MaxDuty/(k.PositionGain*wideError), 1.5*most))
	add(s.Prior != nil || o.Drive < drivenWell*k.MaxDuty, "saturated", "gain, kt and R; droop",
		"steps of 60 degrees with a position gain of %.0f: the drive is then at its limit from %.0f degrees of "+
			"error on; "+
			"%.0f %% was reached", high, degrees(k.MaxDuty/(k.PositionGain*high)), 100*o.Drive)
	add(!o.Off, "torque off", "viscous friction from back-EMF; the delay of the torque",
		"lift by 60 degrees or more, then torque off for 2 s: hold nothing under the arm that it may hit")
	free := k.Free()
	add(o.Speed < fastWell*free, "faster", "inertia, back-EMF and viscous friction",
		"sines and a chirp up to %.1f rad/s, half of the speed without load; %.1f was reached", fastWell*free, o.Speed)
	stall := k.Stall()
	add(o.Load < loadedWell*stall, "loaded", "friction under load (Kl, Km, Ke); the mass",
		"slow raising and holding with a load of %.2f N m or more (%.2f kg at 0.1 m); %.2f was reached",
		2*loadedWell*stall,
		2*loadedWell*stall/0.981, o.Load)
	add(math.IsNaN(s.Play.Low), "hanging", "play", "slow crossings of the hanging position, %.0f degrees either way",
		looseAngle)
	add(o.P[0] == o.P[1], "another gain", "how well the model predicts a gain that it has not seen",
		"each motion again with a position gain of %.0f", math.Round(most/2))
	return all
}

// Judged is how well a model predicts recordings that neither its fit nor its choice has seen.
type Judged struct {
	LeftOut      string // "kp 400", "sin_sin"
	Model        string
	Own, Unseen  float64 // rad, mean absolute error on the others and on those left out
	Inside       float64 // share of their samples within the band
	Runs, Others int
}

// Judge leaves out all runs of each gain, then all of each motion, fits and chooses the model by the others, and
// measures it on those left out. It takes as many times as long as Fit.
func Judge(runs []*Run, servo *Servo, progress func(string)) (all []Judged, err error) {
	spec := servo.Spec
	for _, key := range []func(*Run) string{
		func(r *Run) string { return fmt.Sprintf("kp %g", r.P) },
		func(r *Run) string { return r.Trajectory },
	} {
		var names []string
		for _, r := range runs {
			if !slices.Contains(names, key(r)) {
				names = append(names, key(r))
			}
		}
		for _, name := range names {
			out := slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return key(r) != name })
			in := slices.DeleteFunc(slices.Clone(runs), func(r *Run) bool { return key(r) == name })
			if len(names) < 2 || len(in) == 0 {
				continue
			}
			if progress != nil {
				progress("without " + name)
			}
			s, err := Fit(in, &spec, progress)
			if err != nil {
				return all, err
			}
			j := Judged{LeftOut: name, Model: s.Candidates[0].Name, Own: s.Candidates[0].Error, Runs: len(out),
				Others: len(in)}
			for _, c := range Check(s, out) {
				j.Unseen += c.Error / float64(len(out))
				j.Inside += c.Inside / float64(len(out))
			}
			all = append(all, j)
		}
	}
	return all, nil
}
