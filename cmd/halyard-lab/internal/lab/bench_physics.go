package lab

import (
	"context"
	"errors"
	"fmt"
	"github.com/halyard-robotics/halyard/internal/bench"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/sim/peers"
	"github.com/halyard-robotics/halyard/sim/dynamics"
)

const (
	PhysicsChain, physicsQuad = "chain", "quad"

	physicsStep  = 0.001      // s, of all models in every engine
	PhysicsSteps = 10_000     // 10 s
	mostSteps    = 10_000_000 // of one case, and so many links:
	mostLinks    = 1000
)

// PhysicsCase is one model under one integrator.
type PhysicsCase struct {
	Model      string
	Links      int // of a chain; 0 of other models
	Integrator dynamics.Integrator
}

// String is the name of the case, "chain 10 euler".
func (c PhysicsCase) String() string {
	in := physicsIntegrators()[c.Integrator]
	if c.Model == PhysicsChain {
		return fmt.Sprintf("%s %d %s", c.Model, c.Links, in)
	}
	return c.Model + " " + in
}

// physicsIntegrators are the values of --integrator, their names in the order of their values.
func physicsIntegrators() []string { return []string{dynamics.Euler: "euler", dynamics.RK4: "rk4"} }

// physicsTable are the cases in which engines are compared.
func physicsTable() []PhysicsCase {
	var list []PhysicsCase
	for _, c := range []PhysicsCase{
		{Model: PhysicsChain, Links: 2}, {Model: PhysicsChain, Links: 10}, {Model: PhysicsChain, Links: 20},
		{Model: PhysicsChain, Links: 40}, {Model: physicsQuad}, {Model: "humanoid"}, {Model: "heap"},
	} {
		for in := range physicsIntegrators() {
			c.Integrator = dynamics.Integrator(in)
			list = append(list, c)
		}
	}
	return list
}

// PhysicsFlags narrow the table down: an empty model or integrator means all, links of nil for the table's.
type PhysicsFlags struct {
	Model, Integrator string
	Links             *int
}

// Given reports whether any flag was given.
func (f PhysicsFlags) Given() bool { return f.Model != "" || f.Integrator != "" || f.Links != nil }

// Cases returns the cases of the flags, with the given number of steps; the error reports a wrong flag.
func (f PhysicsFlags) Cases(steps int) ([]PhysicsCase, error) {
	// All faults of a command line are reported before the first benchmark runs, since benchmarks take minutes.
	refuse := func(format string, args ...any) ([]PhysicsCase, error) {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "bench physics", Err: fmt.Errorf(format, args...),
			Try: "halyard-lab bench physics --model chain --n 10 --integrator rk4"}
	}
	in := slices.Index(physicsIntegrators(), f.Integrator) // -1: both
	switch {
	case steps > mostSteps:
		return refuse("--steps: got %d, want at most %d", steps, mostSteps)
	case f.Model != "" && !slices.Contains(peers.Models(), f.Model):
		return refuse("--model: got %q, want one of %s", f.Model, strings.Join(peers.Models(), ", "))
	case f.Integrator != "" && in < 0:
		return refuse("--integrator: got %q, want euler or rk4", f.Integrator)
	case f.Links != nil && f.Model != PhysicsChain:
		return refuse("--n: got %d links without --model %s", *f.Links, PhysicsChain)
	case f.Links != nil && (*f.Links < 1 || *f.Links > mostLinks):
		return refuse("--n: got %d links, want 1 to %d", *f.Links, mostLinks)
	}
	var list []PhysicsCase
	for _, c := range physicsTable() {
		if f.Model != "" && c.Model != f.Model || in >= 0 && int(c.Integrator) != in {
			continue
		}
		if f.Links != nil {
			c.Links = *f.Links
		}
		if !slices.Contains(list, c) { // with a given length the table's chains are one case
			list = append(list, c)
		}
	}
	return list, nil
}

// benchPhysics runs the models of internal/sim/peers without a rig; the values for Bullet, DART, MuJoCo and ODE are in
// docs/figures.md. A run that diverges, as a long chain under Euler in joint coordinates, ends there: steps reports the
// step, and the other values are those until then.
func benchPhysics(ctx context.Context, list []PhysicsCase, size bench.Size, emit func(bench.Result)) error {
	if list == nil {
		list = physicsTable()
	}
	for _, c := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := PhysicsRun(c, size.StepsOr(PhysicsSteps))
		if err != nil {
			return fmt.Errorf("bench physics: %s: %w", c, err)
		}
		emit(bench.Result{Bench: "physics", Case: c.String(), Figures: f})
	}
	return nil
}

// PhysicsRun measures one case. peers runs it five times for the time, and once more for the other values, since
// recording them takes longer than stepping. A case takes seconds by default, and cannot be interrupted.
func PhysicsRun(c PhysicsCase, steps int) (bench.Figures, error) {
	f, err := peers.Run(c.Model, c.Links, c.Integrator, steps)
	var diverged *dynamics.Diverged
	if err != nil && !errors.As(err, &diverged) {
		return nil, err
	}
	allocs, err := physicsAllocs(c, min(steps, max(1, f.Steps)))
	if err != nil {
		return nil, err
	}
	switch c.Model {
	case PhysicsChain:
		return chainFigures(&f, allocs), nil
	case physicsQuad:
		return quadFigures(&f, allocs), nil
	}
	return contactFigures(&f, allocs), nil
}

// since is x of a run that got as far as a second, and no number of a shorter one.
func since(second int, f *peers.Figures, x float64) report.Number {
	if float64(f.Steps)*physicsStep < float64(second)-physicsStep/2 {
		return report.Number(math.NaN())
	}
	return report.Number(x)
}

// chainFigures show how exact a run is: the drift of its energy as a share of M g L, L the length of the chain, how far
// a joint came apart, and where its tip was.
func chainFigures(f *peers.Figures, allocs float64) bench.Figures {
	return bench.Figures{
		{Name: "steps_per_s", Value: report.Number(f.StepsPerSecond)},
		{Name: "steps", Value: report.Number(f.Steps)},
		{Name: "drift_end", Value: report.Number(f.DriftEnd)},
		{Name: "drift_max", Value: report.Number(f.DriftMax)},
		{Name: "joint_error_m", Value: report.Number(f.JointError)},
		{Name: "tip_1s_x_m", Value: since(1, f, f.Tip1[0])},
		{Name: "tip_1s_z_m", Value: since(1, f, f.Tip1[1])},
		{Name: "tip_2s_x_m", Value: since(2, f, f.Tip2[0])},
		{Name: "tip_2s_z_m", Value: since(2, f, f.Tip2[1])},
		{Name: "allocs", Value: report.Number(allocs)},
	}
}

// quadFigures show whether contacts hold: the torso and the leg FL at the end, the torso's mean height in the second
// half, and how deep a foot was in the floor after the first second. Engines agree on all but where the feet slip to.
func quadFigures(f *peers.Figures, allocs float64) bench.Figures {
	return bench.Figures{
		{Name: "steps_per_s", Value: report.Number(f.StepsPerSecond)},
		{Name: "steps", Value: report.Number(f.Steps)},
		{Name: "torso_x_m", Value: report.Number(f.Torso[0])},
		{Name: "torso_y_m", Value: report.Number(f.Torso[1])},
		{Name: "torso_z_m", Value: report.Number(f.Torso[2])},
		{Name: "mean_height_m", Value: report.Number(f.MeanZ)},
		{Name: "penetration_m", Value: since(1, f, max(0, -f.Lowest))},
		{Name: "roll_rad", Value: report.Number(f.Leg[0])},
		{Name: "pitch_rad", Value: report.Number(f.Leg[1])},
		{Name: "knee_rad", Value: report.Number(f.Leg[2])},
		{Name: "allocs", Value: report.Number(allocs)},
	}
}

// contactFigures returns the heights, the number of contacts and the penetration of the humanoid and the heap.
func contactFigures(f *peers.Figures, allocs float64) bench.Figures {
	return bench.Figures{
		{Name: "steps_per_s", Value: report.Number(f.StepsPerSecond)},
		{Name: "steps", Value: report.Number(f.Steps)},
		{Name: "body0_2s_x_m", Value: since(2, f, f.Pose2[0])},
		{Name: "body0_2s_z_m", Value: since(2, f, f.Pose2[2])},
		{Name: "mean_height_m", Value: report.Number(f.MeanZ)},
		{Name: "penetration_m", Value: since(1, f, f.Deepest)},
		{Name: "contacts", Value: report.Number(f.Contacts)},
		{Name: "kinetic_j", Value: report.Number(f.Kinetic)},
		{Name: "sweeps", Value: report.Number(f.Sweeps)},
		{Name: "allocs", Value: report.Number(allocs)},
	}
}

// physicsAllocs returns the allocations of one of the first steps of a case: the median block, as some blocks have the
// runtime's own. It is a separate run, because the timed run must not be disturbed.
func physicsAllocs(c PhysicsCase, steps int) (float64, error) {
	s, err := peers.New(c.Model, c.Links, c.Integrator)
	if err != nil {
		return 0, err
	}
	var before, after runtime.MemStats
	var blocks [bench.Blocks]float64
	// A chain moves from the first step on, and the quad has landed after 0.15 s; no further phase follows.
	n := bench.PerBlock(min(steps, 1000))
	for b := range blocks {
		runtime.ReadMemStats(&before)
		for range n {
			if err := s.Step(physicsStep); err != nil {
				s.Reset() // it diverged: the next block is from the start again
			}
		}
		runtime.ReadMemStats(&after)
		blocks[b] = float64(after.Mallocs-before.Mallocs) / float64(n)
	}
	return bench.Median(blocks[:]), nil
}
