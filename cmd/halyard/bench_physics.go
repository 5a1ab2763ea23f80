package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/dynamics"
	"github.com/halyard-robotics/halyard/sim/dynamics/peers"
)

const (
	physicsChain, physicsQuad = "chain", "quad"

	physicsStep  = 0.001      // s, of all models in every engine
	physicsSteps = 10_000     // 10 s
	mostSteps    = 10_000_000 // of one case, and so many links:
	mostLinks    = 1000
)

// physicsCase is one model under one integrator.
type physicsCase struct {
	model      string
	links      int // of a chain; 0 of other models
	integrator dynamics.Integrator
}

// String is the name of the case, "chain 10 euler".
func (c physicsCase) String() string {
	in := physicsIntegrators()[c.integrator]
	if c.model == physicsChain {
		return fmt.Sprintf("%s %d %s", c.model, c.links, in)
	}
	return c.model + " " + in
}

// physicsIntegrators are the values of --integrator, their names in the order of their values.
func physicsIntegrators() []string { return []string{dynamics.Euler: "euler", dynamics.RK4: "rk4"} }

// physicsTable are the cases in which engines are compared.
func physicsTable() []physicsCase {
	var list []physicsCase
	for _, c := range []physicsCase{
		{model: physicsChain, links: 2}, {model: physicsChain, links: 10}, {model: physicsChain, links: 20},
		{model: physicsChain, links: 40}, {model: physicsQuad}, {model: "humanoid"}, {model: "heap"},
	} {
		for in := range physicsIntegrators() {
			c.integrator = dynamics.Integrator(in)
			list = append(list, c)
		}
	}
	return list
}

// physicsFlags narrow the table down: an empty model or integrator stands for all, links of nil for the table's.
type physicsFlags struct {
	model, integrator string
	links             *int
}

// given tells whether any flag was.
func (f physicsFlags) given() bool { return f.model != "" || f.integrator != "" || f.links != nil }

// cases are those that the flags ask for, of so many steps; the error tells what is wrong with a flag.
func (f physicsFlags) cases(steps int) ([]physicsCase, error) {
	// All that is wrong with a command line is told before the first benchmark runs, since they take a minute.
	refuse := func(format string, args ...any) ([]physicsCase, error) {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "bench physics", Err: fmt.Errorf(format, args...),
			Try: "halyard bench physics --model chain --n 10 --integrator rk4"}
	}
	in := slices.Index(physicsIntegrators(), f.integrator) // -1: both
	switch {
	case steps > mostSteps:
		return refuse("--steps: got %d, want at most %d", steps, mostSteps)
	case f.model != "" && !slices.Contains(peers.Models(), f.model):
		return refuse("--model: got %q, want one of %s", f.model, strings.Join(peers.Models(), ", "))
	case f.integrator != "" && in < 0:
		return refuse("--integrator: got %q, want euler or rk4", f.integrator)
	case f.links != nil && f.model != physicsChain:
		return refuse("--n: got %d links without --model %s", *f.links, physicsChain)
	case f.links != nil && (*f.links < 1 || *f.links > mostLinks):
		return refuse("--n: got %d links, want 1 to %d", *f.links, mostLinks)
	}
	var list []physicsCase
	for _, c := range physicsTable() {
		if f.model != "" && c.model != f.model || in >= 0 && int(c.integrator) != in {
			continue
		}
		if f.links != nil {
			c.links = *f.links
		}
		if !slices.Contains(list, c) { // the table's chains are one when their length is given
			list = append(list, c)
		}
	}
	return list, nil
}

// benchPhysics runs the models of sim/dynamics/peers, whose figures for Bullet, DART, MuJoCo and ODE are in
// docs/figures.md: alone, with nothing of a rig around. A run that diverges, as a long chain under Euler does in joint
// coordinates, ends there: steps tells when, and the other figures are those until then.
func benchPhysics(ctx context.Context, size benchSize, emit func(result)) error {
	list := size.physics
	if list == nil {
		list = physicsTable()
	}
	for _, c := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := physicsRun(c, size.stepsOr(physicsSteps))
		if err != nil {
			return fmt.Errorf("bench physics: %s: %w", c, err)
		}
		emit(result{"physics", c.String(), f})
	}
	return nil
}

// physicsRun measures one case. peers runs it five times for the clock, and once more for all that a run shows, since
// looking would take longer than stepping. A case takes seconds, unless more is asked for, and is not broken off.
func physicsRun(c physicsCase, steps int) (figures, error) {
	f, err := peers.Run(c.model, c.links, c.integrator, steps)
	var diverged *dynamics.Diverged
	if err != nil && !errors.As(err, &diverged) {
		return nil, err
	}
	allocs, err := physicsAllocs(c, min(steps, max(1, f.Steps)))
	if err != nil {
		return nil, err
	}
	switch c.model {
	case physicsChain:
		return chainFigures(&f, allocs), nil
	case physicsQuad:
		return quadFigures(&f, allocs), nil
	}
	return contactFigures(&f, allocs), nil
}

// since is x of a run that got as far as a second, and no number of a shorter one.
func since(second int, f *peers.Figures, x float64) number {
	if float64(f.Steps)*physicsStep < float64(second)-physicsStep/2 {
		return number(math.NaN())
	}
	return number(x)
}

// chainFigures show how exact a run is: the drift of its energy as a share of M g L, L the length of the chain, how far
// a joint came apart, and where its tip was.
func chainFigures(f *peers.Figures, allocs float64) figures {
	return figures{
		{"steps_per_s", number(f.StepsPerSecond)},
		{"steps", number(f.Steps)},
		{"drift_end", number(f.DriftEnd)},
		{"drift_max", number(f.DriftMax)},
		{"joint_error_m", number(f.JointError)},
		{"tip_1s_x_m", since(1, f, f.Tip1[0])},
		{"tip_1s_z_m", since(1, f, f.Tip1[1])},
		{"tip_2s_x_m", since(2, f, f.Tip2[0])},
		{"tip_2s_z_m", since(2, f, f.Tip2[1])},
		{"allocs", number(allocs)},
	}
}

// quadFigures show whether contacts hold: the torso and the leg FL at the end, the torso's mean height in the second
// half, and how deep a foot was in the floor after the first second. Engines agree on all but where the feet slip to.
func quadFigures(f *peers.Figures, allocs float64) figures {
	return figures{
		{"steps_per_s", number(f.StepsPerSecond)},
		{"steps", number(f.Steps)},
		{"torso_x_m", number(f.Torso[0])},
		{"torso_y_m", number(f.Torso[1])},
		{"torso_z_m", number(f.Torso[2])},
		{"mean_height_m", number(f.MeanZ)},
		{"penetration_m", since(1, f, max(0, -f.Lowest))},
		{"roll_rad", number(f.Leg[0])},
		{"pitch_rad", number(f.Leg[1])},
		{"knee_rad", number(f.Leg[2])},
		{"allocs", number(allocs)},
	}
}

// contactFigures show whether the humanoid and the heap stand: their height, their contacts and how deep those are.
func contactFigures(f *peers.Figures, allocs float64) figures {
	return figures{
		{"steps_per_s", number(f.StepsPerSecond)},
		{"steps", number(f.Steps)},
		{"body0_2s_x_m", since(2, f, f.Pose2[0])},
		{"body0_2s_z_m", since(2, f, f.Pose2[2])},
		{"mean_height_m", number(f.MeanZ)},
		{"penetration_m", since(1, f, f.Deepest)},
		{"contacts", number(f.Contacts)},
		{"kinetic_j", number(f.Kinetic)},
		{"sweeps", number(f.Sweeps)},
		{"allocs", number(allocs)},
	}
}

// physicsAllocs returns the allocations of one of the first steps of a case: the median block, as the runtime's own
// few are in some. It is a run of its own, because the one for the clock shall do nothing else.
func physicsAllocs(c physicsCase, steps int) (float64, error) {
	s, err := peers.New(c.model, c.links, c.integrator)
	if err != nil {
		return 0, err
	}
	var before, after runtime.MemStats
	var blocks [benchBlocks]float64
	// A chain moves from the first step on, and the quad has landed after 0.15 s; nothing else comes later.
	n := perBlock(min(steps, 1000))
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
	return median(blocks[:]), nil
}
