package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/sim/model"
)

const (
	ClockPeriod = time.Millisecond
	// boundWake is field.md 4.6, target 4: at 1 kHz the 99th percentile of |wake-up - deadline| on a quiet core.
	boundWake = 50 * time.Microsecond
	// emptyShare is how many times longer the rig's loop is measured than the empty loop.
	emptyShare = 4
)

// Clock measures the real-time loop at 1 kHz with the humanoid's 21 joints on a stub body, first alone, then
// Concurrently with busy goroutines. The wake-up delay depends mostly on the machine: a hypervisor takes milliseconds
// from any program (dependencies.md 12). So the machine_ values measure an empty loop, under the same load, right
// before.
func Clock(ctx context.Context, size Size, emit func(Result)) error {
	span := size.Span()
	for _, c := range []struct {
		name string
		busy int
	}{
		{"alone", 0},
		{"beside 4 busy goroutines", 4},
	} {
		f, err := ClockCase(ctx, c.busy, span)
		if err != nil {
			return err
		}
		emit(Result{"clock", c.name, f})
	}
	return nil
}

// ClockCase measures for span, concurrently with a number of busy goroutines.
func ClockCase(ctx context.Context, busy int, span time.Duration) (_ Figures, err error) {
	defer must.Catch(&err)
	robot := must.Get(model.Load("a-series"))
	defer spin(busy)()
	var machine, rig hal.Stats
	must.Be(runClock(ctx, span/emptyShare, nil, &machine))
	must.Be(runClock(ctx, span, robot.Layout(), &rig))
	return clockFigures(&rig, &machine), nil
}

func clockFigures(rig, machine *hal.Stats) Figures {
	p99 := rig.Late.Quantile(0.99)
	return Figures{
		{"ticks", report.Number(rig.Ticks)},
		{"median_us", Micros(rig.Late.Quantile(0.5))},
		{"p99_us", Micros(p99)},
		{"p99_9_us", Micros(rig.Late.Quantile(0.999))},
		{"max_us", Micros(rig.Late.Max())},
		{"missed", report.Number(rig.Missed)},
		{"machine_p99_us", Micros(machine.Late.Quantile(0.99))},
		{"machine_max_us", Micros(machine.Late.Max())},
		{"machine_missed", report.Number(machine.Missed)}, // in a quarter of the time
		{"bound_p99_us", Micros(boundWake)},
		{"ratio", report.Number(float64(p99) / float64(boundWake))},
		{"work_p99_us", Micros(rig.Work.Quantile(0.99))},
	}
}

// runClock runs a real-time rig for span, with a stub body of layout l, empty where it is nil, and returns how it kept
// its time.
func runClock(ctx context.Context, span time.Duration, l *hal.Layout, stats *hal.Stats) (err error) {
	defer must.Catch(&err)
	rig := must.Get(hal.New(hal.Config{Name: "bench", Mode: hal.Realtime, Period: ClockPeriod}))
	if l == nil {
		l = &hal.Layout{}
	}
	// A body that is not simulated has the loop of a real one.
	must.Get(rig.Add(hal.AgentConfig{Name: "stub", Body: NewStubBody(l), BodyKind: hal.Emulated}))
	// The loop runs in this goroutine, as in "halyard serve".
	limited, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	must.Be(rig.Run(limited))
	rig.Stats(stats)
	return ctx.Err()
}

// spin starts n goroutines that compute without a pause, as a planner or a renderer in the same process. rest ends them
// and waits for them.
func spin(n int) (rest func()) {
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range n {
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	return func() {
		stop.Store(true)
		busy.Wait()
	}
}
