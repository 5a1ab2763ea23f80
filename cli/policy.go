package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/policy"
	"github.com/halyard-robotics/halyard/internal/policyconf"
)

func newPolicy(a *app) *cobra.Command {
	c := &cobra.Command{Use: "policy", Short: "check, run and rehearse learned policies",
		Long: "Checks, runs and rehearses learned policies: ONNX files (docs/policy.md)."}
	c.AddCommand(newPolicyCheck(a), newPolicyRun(a), newPolicyRehearse(a))
	return c
}

func newPolicyCheck(a *app) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:   "check FILE CONFIG",
		Short: "compare a policy with a robot",
		Long: "Reads an ONNX file and compares it with the robot of CONFIG: sizes, names, order, limits, rate. If " +
			"CONFIG " +
			"has a policy of that file,\nits terms count; otherwise those of the file's metadata. It opens no device. " +
			"What cannot work is an error (exit code 2).",
		Example:           "  halyard policy check walk.onnx robot.yaml",
		Args:              arguments("FILE CONFIG", "halyard policy check walk.onnx robot.yaml"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(_ *cobra.Command, args []string) error {
			f.brief = true
			c, err := f.load(a, args[1:])
			if err != nil {
				return err
			}
			net, err := policy.Load(args[0])
			if err != nil {
				return err
			}
			name, p := "", policyconf.Policy{File: args[0]}
			for _, n := range slices.Sorted(maps.Keys(c.Policies)) {
				if filepath.Base(c.Policies[n].File) == filepath.Base(args[0]) {
					name, p = n, c.Policies[n]
				}
			}
			if p.Agent == "" && len(c.Agents) == 1 {
				p.Agent = c.Agents[0].Name
			}
			planned, err := plan.Resolve(c, a.catalog())
			if err != nil {
				return err
			}
			agent := planned.Agent(p.Agent)
			if agent == nil {
				return &hal.Error{Kind: hal.Invalid, Op: "policy check", Err: fmt.Errorf(
					"got agents %s, want a policy of %s in the config that names its agent", agentNames(c), args[0])}
			}
			if p.Action.Mode == "" {
				p.Action.Mode = "position"
			}
			d, err := policy.NewDriver(name, net, p, agent.Layout, c.Clock.Period, 1, true)
			if err != nil {
				return err
			}
			for _, n := range d.Notes {
				a.note("%s", n)
			}
			return show(a, d.Check())
		},
	}
	f.add(c)
	return c
}

func agentNames(c *halyard.Config) string {
	var names []string
	for i := range c.Agents {
		names = append(names, c.Agents[i].Name)
	}
	return strings.Join(names, ", ")
}

// policyOf is the policy called name, or the only one.
func policyOf(c *halyard.Config, name string) (string, error) {
	names := slices.Sorted(maps.Keys(c.Policies))
	if name == "" && len(names) == 1 {
		return names[0], nil
	}
	if !slices.Contains(names, name) {
		return "", &hal.Error{Kind: hal.Invalid, Op: "policy", Try: "policies: {NAME: {file: FILE.onnx}} in the config",
			Err: fmt.Errorf("got %q, want a policy of %s: %s", name, c.Source, strings.Join(names, ", "))}
	}
	return name, nil
}

// policy loads the config of args and finds the policy that they name.
func (f *configFlags) policy(a *app, args []string) (c *halyard.Config, name string, err error) {
	f.brief = true
	if c, err = f.load(a, args[:1]); err != nil {
		return nil, "", err
	}
	name, err = policyOf(c, strings.Join(args[1:], ""))
	return c, name, err
}

func newPolicyRun(a *app) *cobra.Command {
	var f configFlags
	c := &cobra.Command{
		Use:   "run CONFIG [POLICY]",
		Short: "serve a robot that a policy drives",
		Long: "Serves CONFIG as halyard serve does; POLICY drives its agent, whenever it is armed. A real robot starts " +
			"disarmed: hang it up,\nthen halyard arm. Its goals pass from the present positions to the policy's within " +
			"ramp (2s). Space stops.",
		Example:           "  halyard policy run robot.yaml walk --body sim",
		Args:              arguments("CONFIG [POLICY]", "halyard policy run robot.yaml walk"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, name, err := f.policy(a, args)
			if err != nil {
				return err
			}
			for other, p := range c.Policies {
				p.Use = other == name || p.Use && p.Agent != c.Policies[name].Agent
				c.Policies[other] = p
			}
			a.note("%s", bodyLine(c))
			return a.serve(cmd.Context(), c)
		},
	}
	f.add(c)
	f.addListen(c)
	a.addDashboard(c)
	return c
}

func newPolicyRehearse(a *app) *cobra.Command {
	var f configFlags
	var keep []string
	var record string
	r := policy.Rehearsal{Workers: runtime.NumCPU()}
	c := &cobra.Command{
		Use:   "rehearse CONFIG [POLICY]",
		Short: "run a policy many times under disturbances",
		Long: "Runs POLICY on simulated or emulated copies of the robot, each with disturbances of its own: " +
			strings.Join(policy.Disturbances[:], ", ") + ".\nA run survives if the robot neither falls nor stops. It " +
			"prints which disturbances the runs did not survive, the worst first.\nThe same seeds give the same runs. " +
			"Exit code 8: not all survived.",
		Example:           "  halyard policy rehearse robot.yaml walk --runs 200 --body emulated --record worst.mcap",
		Args:              arguments("CONFIG [POLICY]", "halyard policy rehearse robot.yaml walk --runs 200"),
		ValidArgsFunction: completeConfigs,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, name, err := f.policy(a, args)
			if err != nil {
				return err
			}
			if r.Keep, err = keepOf(keep); err != nil {
				return err
			}
			worst, err := a.rehearse(cmd.Context(), c, name, r)
			if worst == nil || record == "" {
				return err
			}
			return errors.Join(a.recordRun(cmd.Context(), f, args[:1], name, r, worst.Seed, record), err)
		},
	}
	f.add(c)
	c.Flags().IntVar(&r.Runs, "runs", 100, "number of runs")
	c.Flags().Int64Var(&r.Seed, "seed", 1, "seed of the first run; the next have the next ones")
	c.Flags().Float64Var(&r.Seconds, "seconds", 10, "simulated time of a run, s")
	c.Flags().StringSliceVar(&r.Only, "only", nil, "disturbances, instead of all")
	c.Flags().StringSliceVar(&keep, "keep", nil,
		"CHANNEL=MIN..MAX: what must be measured in the last second, rad or m; angles modulo a turn")
	c.Flags().StringVar(&record, "record", "", "record the run that ended first as this file, for halyard replay")
	c.RegisterFlagCompletionFunc("only", words(policy.Disturbances[:]...))
	return c
}

func keepOf(list []string) (out []policy.Keep, err error) {
	for _, text := range list {
		name, span, _ := strings.Cut(text, "=")
		low, high, _ := strings.Cut(span, "..")
		k := policy.Keep{Channel: name}
		var err0, err1 error
		k.Min, err0 = strconv.ParseFloat(low, 64)
		k.Max, err1 = strconv.ParseFloat(high, 64)
		if err0 != nil || err1 != nil || !(k.Min < k.Max) {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "rehearse", Try: "--keep knee/position=-1..1",
				Err: fmt.Errorf("--keep: got %q, want CHANNEL=MIN..MAX", text)}
		}
		out = append(out, k)
	}
	return out, nil
}

func (a *app) rehearse(ctx context.Context, c *halyard.Config, name string, r policy.Rehearsal) (*policy.Run, error) {
	refuse := func(format string, args ...any) (*policy.Run, error) {
		return nil, &hal.Error{Kind: hal.Invalid, Op: "rehearse", Err: fmt.Errorf(format, args...)}
	}
	for _, o := range r.Only {
		if !slices.Contains(policy.Disturbances[:], o) {
			return refuse("--only: got %q, want a disturbance: %s", o, strings.Join(policy.Disturbances[:], ", "))
		}
	}
	if r.Runs < 1 || r.Runs > 1_000_000 || !(r.Seconds >= 0.1 && r.Seconds <= 3600) || r.Seed < 1 {
		return refuse("got %d runs of %g s from seed %d, want 1..1000000 runs of 0.1..3600 s from 1 on", r.Runs,
			r.Seconds,
			r.Seed)
	}
	for i := range c.Agents {
		if c.Agents[i].Has(configs.Real) {
			return nil, &hal.Error{Kind: hal.Invalid, Op: "rehearse", Try: "--body emulated",
				Err: fmt.Errorf("got agent %s, which is real, want simulated or emulated ones", c.Agents[i].Name)}
		}
	}
	r.Open = func(seed int64) (*policy.Stage, error) { return a.stage(c, name, seed, "") }
	bar := a.progress("rehearse", r.Runs)
	done := make(chan struct{}, r.Runs)
	r.Done = func() { done <- struct{}{} }
	counted := make(chan struct{})
	go func() {
		defer close(counted)
		for range done {
			bar.Add(1)
		}
	}()
	runs, err := policy.Rehearse(ctx, r)
	close(done)
	<-counted
	if err != nil {
		return nil, err
	}
	if err := show(a, policy.Ranks(runs, r.Only)); err != nil {
		return nil, err
	}
	survived := 0
	for i := range runs {
		if runs[i].Fault == "" {
			survived++
		}
	}
	a.note("survived: %d of %d runs of %g s", survived, len(runs), r.Seconds)
	worst := policy.Worst(runs)
	if worst == nil {
		return nil, nil
	}
	a.note("worst: seed %d, %s after %.2f s", worst.Seed, worst.Fault, worst.Lasted)
	return worst, &hal.Error{Kind: hal.Differs, Op: "rehearse", Err: fmt.Errorf(
		"got %d of %d runs that survived, want all", survived, len(runs))}
}

// recordRun makes the run of a seed again and records it. The recording's config has the seed, so that it replays.
func (a *app) recordRun(ctx context.Context, f configFlags, args []string, name string, r policy.Rehearsal, seed int64,
	file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	f.set = append(slices.Clone(f.set), fmt.Sprintf("world.seed=%d", seed), "clock.mode=lockstep", "record.file="+file)
	c, err := f.load(a, args)
	if err != nil {
		return err
	}
	r.Open = func(seed int64) (*policy.Stage, error) { return a.stage(c, name, seed, file) }
	if _, err := r.One(ctx, seed); err != nil {
		return err
	}
	a.note("recorded: halyard replay %s", file)
	return nil
}

// stage opens the robot of c for one run.
func (a *app) stage(c *halyard.Config, name string, seed int64, record string) (*policy.Stage, error) {
	own, p := *c, c.Policies[name]
	own.World.Seed, own.Clock.Mode, own.Servers, own.Record.File = seed, configs.Lockstep, nil, record
	own.Agents = slices.Clone(c.Agents)
	for i := range own.Agents {
		own.Agents[i].Guard.Armed = true // no body is real
	}
	own.Policies = nil
	s, err := halyard.Open(&own, a.options(slog.New(slog.DiscardHandler))...)
	if err != nil {
		return nil, err
	}
	st := &policy.Stage{Rig: s.Rig(), Agent: s.Rig().Agent(p.Agent), Close: s.Close}
	net, err := policy.Load(c.Resolve(p.File))
	if err == nil {
		st.Driver, err = policy.NewDriver(name, net, p, st.Agent.Layout(), c.Clock.Period, seed, true)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if planned, err := plan.Resolve(&own, a.catalog()); err == nil {
		st.Push = pusher(st, planned.Agent(p.Agent), c.World.Gravity)
	}
	return st, nil
}

// pusher pushes the root of a simulated robot to its left; nil: it has none that moves.
func pusher(st *policy.Stage, agent *plan.AgentPlan, gravity float64) func(float64) error {
	world, can := st.Agent.World().(hal.Pusher)
	if !can || agent == nil || agent.Robot == nil || len(agent.Robot.Bodies) == 0 {
		return nil
	}
	mass := 0.0
	for i := range agent.Robot.Bodies {
		mass += agent.Robot.Bodies[i].Mass
	}
	return func(share float64) (err error) {
		st.Rig.BetweenCycles(func() {
			err = world.Push(st.Agent.Name(), agent.Robot.Bodies[0].Name, [3]float64{0, share * mass * gravity, 0})
		})
		return err
	}
}
