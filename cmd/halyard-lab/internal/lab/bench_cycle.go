package lab

import (
	"context"
	"runtime"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim"
	"github.com/halyard-robotics/halyard/sim/model"
)

const (
	benchPeriod = 10 * time.Millisecond // of lock-step rigs, as the embedded configs have it
	// BoundCycle bounds the time of one cycle with 21 joints and a stub body: 1/200 of a 1 kHz period, and a tenth of
	// the limit of field.md 4.6 (target 3) for the whole layer above the buses.
	BoundCycle = 5 * time.Microsecond
)

// benchCycle measures one cycle of the rig, from a controller's inputs to its observer: guard, body, world. The
// humanoid's 21 joints on a stub body give the cost of the rig. On the simulated body the physics is measured
// separately, and the rest must keep the same bound. In lock-step the cycle runs in the caller's goroutine, so no call
// here waits.
func benchCycle(ctx context.Context, size bench.Size, emit func(bench.Result)) (err error) {
	defer must.Catch(&err)
	steps := size.StepsOr(20_000)
	humanoid := must.Get(model.Load("a-series"))
	pendulum := must.Get(model.Load("pendulum"))
	for _, c := range []struct {
		name  string
		robot *model.Robot
		stub  bool
	}{
		{"21 joints, stub body", humanoid, true},
		{"a-series, sim", humanoid, false},
		{"pendulum, sim", pendulum, false},
	} {
		s := must.Get(NewStepper(c.robot, c.stub))
		f := must.Get(s.Measure(ctx, steps))
		emit(bench.Result{Bench: "cycle", Case: c.name, Figures: f})
	}
	return nil
}

// Stepper is a lock-step rig with one agent and one controller.
type Stepper struct {
	rig     *hal.Rig
	party   *hal.Session
	lease   *hal.Lease
	Physics timedWorld
	poses   [][]float64 // the inputs of successive steps, again and again
	next    int
	Seen    float64
}

func NewStepper(robot *model.Robot, stub bool) (_ *Stepper, err error) {
	defer must.Catch(&err)
	s := &Stepper{poses: benchPoses(robot.Layout())}
	rig := must.Get(hal.New(hal.Config{Name: "bench", Period: benchPeriod}))
	s.rig = rig
	agent := hal.AgentConfig{Name: robot.Name, Body: bench.NewStubBody(robot.Layout())}
	if !stub {
		scene := sim.NewScene(sim.SceneConfig{Substep: sim.Need([]*model.Robot{robot})}) // as a config's
		agent.Body = must.Get(scene.Add(robot.Name, robot, hal.Pose{}))
		s.Physics.World = scene
		agent.World = &s.Physics
	}
	a := must.Get(rig.Add(agent))
	s.party = rig.NewSession("bench", s)
	// The lease stops the rig's own time; from here on only step lets it pass.
	s.lease, err = s.party.Acquire(a)
	return s, err
}

// Cycle is hal.Observer: it reads the result as a protocol's session would.
func (s *Stepper) Cycle(*hal.Cycle) {
	if s.lease != nil && s.lease.Stepped() {
		for _, v := range s.lease.Frame().Measured {
			s.Seen += v
		}
	}
}

// Step is one cycle with the next pose as the controller's inputs.
func (s *Stepper) Step() error {
	s.next = (s.next + 1) % len(s.poses)
	return s.party.Step(s.lease, s.poses[s.next])
}

// Measure returns the figures of steps cycles.
func (s *Stepper) Measure(ctx context.Context, steps int) (_ bench.Figures, err error) {
	defer must.Catch(&err)
	n := bench.PerBlock(steps)
	var before, after runtime.MemStats
	var cycle, physics, allocs [bench.Blocks]float64
	// The first cycle sizes buffers: it may allocate and is not counted.
	must.Be(s.Step())
	for b := range bench.Blocks {
		must.Be(ctx.Err())
		runtime.ReadMemStats(&before)
		s.Physics.Spent = 0
		start := time.Now()
		must.Be(bench.Repeat(n, s.Step))
		cycle[b] = float64(time.Since(start)) / float64(n)
		physics[b] = float64(s.Physics.Spent) / float64(n)
		runtime.ReadMemStats(&after) // of the whole process: the runtime's own few are in some block
		allocs[b] = float64(after.Mallocs-before.Mallocs) / float64(n)
	}
	ns, inPhysics := bench.Median(cycle[:]), bench.Median(physics[:])
	rig := ns - inPhysics
	return bench.Figures{
		{Name: "ns", Value: report.Number(ns)},
		{Name: "physics_ns", Value: report.Number(inPhysics)},
		{Name: "physics_share", Value: report.Number(inPhysics / ns)},
		{Name: "rig_ns", Value: report.Number(rig)}, // the rest; with physics it includes two readings of the clock
		{Name: "bound_ns", Value: report.Number(BoundCycle)},
		{Name: "ratio", Value: report.Number(rig / float64(BoundCycle))},
		{Name: "allocs", Value: report.Number(bench.Median(allocs[:]))},
		{Name: "bound_allocs", Value: 0},
	}, nil
}

// benchPoses returns a slow triangle of every joint's position about its default, with an amplitude of a sixteenth of
// its range. Goals must change: a rig or a servo may do less for constant goals. It stays within limits, so that the
// guard does not clamp.
func benchPoses(l *hal.Layout) [][]float64 {
	poses := make([][]float64, 64)
	for k := range poses {
		poses[k] = hal.NewFrame(l).Inputs // all NaN: no command
		share := float64(min(k, len(poses)-k))/float64(len(poses)) - 0.25
		for i := range l.Actuators {
			if a := &l.Actuators[i]; a.Goal[hal.PositionMode] != hal.None {
				poses[k][a.Goal[hal.PositionMode]] = a.Default + share/8*(a.Limits.MaxPosition-a.Limits.MinPosition)
			}
		}
	}
	return poses
}

// timedWorld measures the time of its world, at the cost of two readings of the clock per cycle.
type timedWorld struct {
	hal.World
	Spent time.Duration
}

func (w *timedWorld) Advance(dt time.Duration) error {
	start := time.Now()
	err := w.World.Advance(dt)
	w.Spent += time.Since(start)
	return err
}
