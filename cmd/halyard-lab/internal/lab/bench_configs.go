package lab

import (
	"context"
	"github.com/halyard-robotics/halyard/internal/bench"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
)

// benchConfigs runs the given config, or every embedded one with devices, for a minute on the wall clock, emulated and
// with all joints moving: the shipped drivers, the emulated devices and the physics in one process, at the config's own
// rate. cycle is the work of a cycle, from the wake-up to the end of the observers. late_ and missed depend mainly on
// the machine, as in the clock benchmark.
func benchConfigs(ctx context.Context, config string, size bench.Size, emit func(bench.Result)) error {
	span := size.Span()
	names := configs.Names()
	if config != "" {
		names = []string{config}
	}
	for _, name := range names {
		c, err := configs.Load(name, configs.Options{})
		if err == nil && config == "" &&
			!slices.ContainsFunc(c.Robots(), func(r configs.Placed) bool { return r.Hardware != nil }) {
			continue
		}
		if err == nil {
			c, err = configs.Load(name, configs.Options{Body: "emulated",
				Set: []string{"clock.mode=realtime", "servers=[]"}})
		}
		if err != nil {
			return err
		}
		f, err := configCase(ctx, c, span)
		if err != nil {
			return err
		}
		emit(bench.Result{Bench: "configs", Case: name, Figures: f})
	}
	return nil
}

func configCase(ctx context.Context, c *configs.Config, span time.Duration) (bench.Figures, error) {
	p, err := plan.Resolve(c, builtin.Catalog())
	if err == nil {
		p, err = p.Stationed()
	}
	if err != nil {
		return nil, err
	}
	sys, err := assembly.Build(p, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	defer sys.Close()
	limited, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var movers []*mover
	var moving sync.WaitGroup
	for _, a := range sys.Rig.Agents() {
		m := &mover{agent: a, period: c.Clock.Period, inputs: hal.NewFrame(a.Layout()).Inputs}
		movers = append(movers, m)
		moving.Go(func() { m.Run(limited) })
	}
	err = sys.Rig.Run(limited)
	moving.Wait()
	if err != nil {
		return nil, err
	}
	var s hal.Stats
	sys.Rig.Stats(&s)
	faults := 0
	for _, m := range movers {
		faults += m.faults
	}
	ms := func(d time.Duration) report.Number { return report.Number(d.Seconds() * 1e3) }
	p99 := s.Work.Quantile(0.99)
	return bench.Figures{
		{Name: "period_ms", Value: ms(c.Clock.Period)}, {Name: "cycles", Value: report.Number(s.Ticks)},
		{Name: "missed", Value: report.Number(s.Missed)},
		{Name: "late_p99_ms", Value: ms(s.Late.Quantile(0.99))},
		{Name: "cycle_median_ms", Value: ms(s.Work.Quantile(0.5))}, {Name: "cycle_p99_ms", Value: ms(p99)},
		{Name: "cycle_max_ms", Value: ms(s.Work.Max())},
		{Name: "ratio", Value: report.Number(float64(p99) / float64(c.Clock.Period))},
		{Name: "line_overruns", Value: report.Number(s.LineOverruns)},
		{Name: "device_faults", Value: report.Number(faults)},
	}, ctx.Err()
}

// mover is a controller that lets a robot's joints sway: each period another goal, as a controller's are.
type mover struct {
	agent  *hal.Agent
	inputs []float64
	status []hal.Status
	period time.Duration
	faults int // periods with a faulty device, after the first seconds
}

// allWell is how long the devices of a robot may take to start: an ESC arms in three seconds.
const allWell = 5 * time.Second

// Run commands until ctx ends.
func (m *mover) Run(ctx context.Context) {
	clock := hal.WallClock()
	l := m.agent.Layout()
	for t := m.period; ctx.Err() == nil; t += m.period {
		clock.SleepUntil(t)
		swing := math.Sin(t.Seconds())
		for i := range l.Actuators {
			a := &l.Actuators[i]
			if at := a.Goal[hal.PositionMode]; at != hal.None {
				m.inputs[at] = a.Default + 0.1*swing*(a.Limits.MaxPosition-a.Limits.MinPosition)
			} else if at := a.Goal[hal.DutyMode]; at != hal.None {
				m.inputs[at] = 0.2 * swing
			} else if at := a.Goal[hal.VelocityMode]; at != hal.None {
				m.inputs[at] = 0.2 * swing * a.Limits.MaxVelocity
			}
		}
		if m.agent.Override(m.inputs) != nil {
			m.faults++
		}
		if m.status = m.agent.Status(m.status); t > allWell &&
			slices.ContainsFunc(m.status, func(s hal.Status) bool { return s.Err != nil }) {
			m.faults++
		}
	}
}
