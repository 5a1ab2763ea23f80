package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Stage is a robot in lock-step on which one run is made.
type Stage struct {
	Rig    *hal.Rig
	Agent  *hal.Agent
	Driver *Driver
	Push   func(share float64) error // at the base, sideways, by a share of the weight, for the next step; nil = none
	Close  func() error
}

// Keep is a measured channel that must be between Min and Max in the last second of a run; of a joint that wraps,
// modulo a turn.
type Keep struct {
	Channel  string
	Min, Max float64
}

// Rehearsal is how often, how long, and under what a policy runs.
type Rehearsal struct {
	Runs    int
	Seed    int64 // of the first run
	Seconds float64
	Workers int
	Only    []string // disturbances; nil = all
	Keep    []Keep
	Open    func(seed int64) (*Stage, error)
	Done    func() // after each run
}

// Run is how one run ended.
type Run struct {
	Seed    int64                      `json:"seed"`
	Lasted  float64                    `json:"lasted_s"`
	Fault   string                     `json:"fault,omitempty"` // "" = survived
	Amounts [len(Disturbances)]float64 `json:"amounts"`
}

// Rank is how much one disturbance has to do with the end of runs.
type Rank struct {
	Disturbance string  `json:"disturbance"`
	Weak        float64 `json:"survived_weak"`   // share of the runs with less than half of it
	Strong      float64 `json:"survived_strong"` // with more
	Runs        int     `json:"runs"`
}

func (r Rank) Cells() report.Cells {
	share := func(x float64) string {
		if x != x {
			return "-"
		}
		return fmt.Sprintf("%.0f %%", 100*x)
	}
	return report.Cells{{"disturbance", r.Disturbance}, {"survived, weak", share(r.Weak)},
		{"survived, strong", share(r.Strong)}, {"kills", share(r.Weak - r.Strong)}}
}

// Rehearse makes the runs on all workers; the same seeds give the same runs. An error of the rehearsal itself ends it.
func Rehearse(ctx context.Context, r Rehearsal) ([]Run, error) {
	runs := make([]Run, r.Runs)
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make([]error, max(1, r.Workers))
	for w := range errs {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= len(runs) {
					return
				}
				if runs[i], errs[w] = r.One(ctx, r.Seed+int64(i)); errs[w] != nil {
					next.Store(int64(len(runs)))
					return
				}
				if r.Done != nil {
					r.Done()
				}
			}
		})
	}
	all.Wait()
	return runs, errors.Join(append(errs, ctx.Err())...)
}

// silence observes nothing: the run reads what is measured itself.
type silence struct{}

func (silence) Cycle(*hal.Cycle) {}

// One makes the run of a seed.
func (r *Rehearsal) One(ctx context.Context, seed int64) (run Run, err error) {
	s, err := r.Open(seed)
	if err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	trial := NewTrial(seed, r.Only)
	run = Run{Seed: seed, Amounts: trial.Amounts}
	d := s.Driver
	d.Try(trial)
	session := s.Rig.NewSession("rehearsal", silence{})
	defer session.Close()
	lease, err := session.Acquire(s.Agent)
	if err != nil {
		return run, err
	}
	keep, err := r.channels(s.Agent.Layout())
	if err != nil {
		return run, err
	}
	up := term{PolicyTerm: d.Config.Observations[0]}
	up.Term, up.Sensors = "projected_gravity", nil
	upright := d.source(&up) == nil
	gravity, inputs := make([]float64, 3), make([]float64, len(s.Agent.Layout().Inputs))
	var measured []float64
	var status []hal.Status
	cycle := s.Rig.Period().Seconds()
	cycles, pushed := int(r.Seconds/cycle), int(r.Seconds/cycle/2)
	for n := range cycles {
		if run.Lasted = float64(n) * cycle; ctx.Err() != nil {
			return run, ctx.Err()
		}
		var goals []float64
		if n > 0 && (n-1)%d.every == 0 {
			if fault := d.Act(measured, status, inputs); fault == nil {
				goals = inputs
			}
		}
		if s.Push != nil && n >= pushed && float64(n-pushed)*cycle < 0.1 {
			if err := s.Push(0.2 * trial.Amounts[7]); err != nil {
				return run, err
			}
		}
		if err := session.Step(lease, goals); err != nil {
			return run, err
		}
		measured, status = s.Agent.Measured(measured), s.Agent.Status(status)
		if upright {
			if up.fill(gravity, measured); gravity[2] > -0.5 {
				run.Fault = "fell: tilt above 60°"
			}
		}
		if s.Rig.Latched() {
			run.Fault = "stopped"
		}
		for k, i := range keep {
			if x := measured[i]; float64(cycles-n)*cycle <= 1 && !r.Keep[k].holds(x) {
				run.Fault = fmt.Sprintf("%s: got %.3g, want %g..%g", r.Keep[k].Channel, x, r.Keep[k].Min, r.Keep[k].Max)
			}
		}
		if run.Fault != "" {
			return run, nil
		}
	}
	run.Lasted = r.Seconds
	return run, nil
}

func (k *Keep) holds(x float64) bool {
	const turn = 2 * math.Pi
	return x >= k.Min && x <= k.Max || x+turn >= k.Min && x+turn <= k.Max || x-turn >= k.Min && x-turn <= k.Max
}

// channels are the places of what is to be kept.
func (r *Rehearsal) channels(l *hal.Layout) (list []int, err error) {
	for _, k := range r.Keep {
		at := hal.None
		for i := range len(l.Outputs) + len(l.Infos) {
			if l.Measured(i).Name == k.Channel {
				at = i
			}
		}
		if at == hal.None {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "rehearse", Try: "halyard list CONFIG",
				Err: fmt.Errorf("--keep: got channel %.60q, want a measured one", k.Channel)}
		}
		list = append(list, at)
	}
	return list, nil
}

// Ranks orders the disturbances by how many more runs survived where they were weak than where they were strong.
func Ranks(runs []Run, only []string) (list []Rank) {
	for i, name := range Disturbances {
		if only != nil && !slices.Contains(only, name) {
			continue
		}
		var survived, all [2]float64
		for _, r := range runs {
			half := 0
			if r.Amounts[i] >= 0.5 {
				half = 1
			}
			if all[half]++; r.Fault == "" {
				survived[half]++
			}
		}
		list = append(list, Rank{name, survived[0] / all[0], survived[1] / all[1], len(runs)})
	}
	slices.SortStableFunc(list, func(a, b Rank) int { return cmp.Compare(b.Weak-b.Strong, a.Weak-a.Strong) })
	return list
}

// Worst is the run that ended first; nil: all survived.
func Worst(runs []Run) *Run {
	var worst *Run
	for i := range runs {
		if r := &runs[i]; r.Fault != "" && (worst == nil || r.Lasted < worst.Lasted) {
			worst = r
		}
	}
	return worst
}
