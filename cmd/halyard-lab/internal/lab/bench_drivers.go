package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/budget"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// BenchDrivers runs the shipped chain of every bus type, with health polled and watchdogs fed, over emulated lines
// without further delays: cycle_ms is the time by the line's own clock, bound_ms that of the bytes of the data sheets.
// cpu_us is the processor's time of only the driver. Then it measures PWM boards and I2C sensors, and the decoding of
// lasers and other streams, compared with copying memory. With all: every cell of the table of hardware.md, section 7.
func BenchDrivers(ctx context.Context, all bool, size bench.Size, emit func(bench.Result)) error {
	lines := linesOf(false)
	if all {
		lines = append(lines, TableLines()...)
	}
	for _, l := range lines {
		for _, n := range l.counts {
			f, err := l.Measure(ctx, n, size.StepsOr(400))
			if err != nil {
				return fmt.Errorf("bench: drivers: %s: %w", l.Name(n), err)
			}
			emit(bench.Result{Bench: "drivers", Case: l.Name(n), Figures: f})
		}
	}
	for _, run := range []func(context.Context, bench.Size, func(bench.Result)) error{benchOutputs, benchDecoders} {
		if err := run(ctx, size, emit); err != nil {
			return err
		}
	}
	return nil
}

// benchLine is a line of one model at one rate.
type benchLine struct {
	kind, model string
	how         string // what is special about it, for its name; may be empty
	baud        int
	delay       time.Duration // return delay of its servos
	timing      emulator.Timing
	counts      []int                     // of servos
	bound       func(n int) time.Duration // of a cycle
	first       int                       // id of the first servo
	settings    []servo.Setting
	config      servo.ChainConfig // what differs from the default
}

// Name is the case's: "MODEL, 1000000 baud, 6 servos".
func (l *benchLine) Name(n int) string {
	name := l.model
	if l.how != "" {
		name += ", " + l.how
	}
	unit, what := "baud", "servos"
	if t := catalog.BuiltinBuses().Of(l.kind); t.Duplex {
		if what = "motors"; n == 1 {
			what = "motor"
		}
		if t.Filters != nil {
			unit = "bit/s"
		}
	}
	name += fmt.Sprintf(", %d %s", l.baud, unit)
	if l.delay > 0 {
		name += fmt.Sprintf(", delay %d µs", l.delay.Microseconds())
	}
	return fmt.Sprintf("%s, %d %s", name, n, what)
}

// period is the one that a robot with this line would have: the shortest usual one that a cycle fits into.
func (l *benchLine) period(n int) time.Duration {
	for _, ms := range []time.Duration{1, 2, 5, 10, 20, 50, 100} {
		if p := ms * time.Millisecond; l.bound(n) < p*9/10 {
			return p
		}
	}
	return 200 * time.Millisecond
}

// Measure is the figures of n servos.
func (l *benchLine) Measure(ctx context.Context, n, cycles int) (_ bench.Figures, err error) {
	defer must.Catch(&err)
	b := must.Get(l.Open(n))
	defer b.chain.Close()
	for range 4*n + 60 { // until torque is on and all checks are done
		must.Get(b.Cycle())
	}
	timeouts := b.chain.Stats().Timeouts
	spent := time.Duration(0) // of the line's time
	for range cycles {
		_, err := b.Cycle()
		must.Be(errors.Join(err, ctx.Err()))
		spent += b.chain.Stats().Spent
	}
	took := spent.Seconds() / float64(cycles)
	var cpu, allocs [bench.Blocks]float64 // of a cycle
	block := bench.PerBlock(cycles)
	b.line.pieces = catalog.BuiltinBuses().Of(l.kind).Filters == nil // a CAN socket returns frame by frame
	for k := range cpu {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range block {
			busy, err := b.Cycle()
			must.Be(errors.Join(err, ctx.Err()))
			cpu[k] += 1e6 * busy.Seconds() / float64(block)
		}
		runtime.ReadMemStats(&after)
		allocs[k] = float64(after.Mallocs-before.Mallocs) / float64(block)
	}
	if lost := b.chain.Stats().Timeouts - timeouts; lost > 0 {
		return nil, fmt.Errorf("%d timeouts, want none", lost)
	}
	bound := l.bound(n).Seconds()
	return bench.Figures{
		{Name: "cycle_ms", Value: report.Number(1e3 * took)}, {Name: "bound_ms", Value: report.Number(1e3 * bound)},
		{Name: "ratio", Value: report.Number(bound / took)},
		{Name: "cpu_us", Value: report.Number(slices.Min(cpu[:]))}, // the block that lost the least to others
		// The runtime itself allocates now and then: the median block shows the allocations of the cycle.
		{Name: "allocs", Value: report.Number(bench.Median(allocs[:]))}, {Name: "bound_allocs", Value: 0},
	}, nil
}

// benchBus is a line under measurement.
type benchBus struct {
	run    *budget.Running
	bus    *emulator.Bus
	line   *clocked
	chain  servo.LineChain
	period time.Duration
}

// Open makes n emulated servos and the chain that drives them.
func (l *benchLine) Open(n int) (*benchBus, error) {
	t := catalog.BuiltinBuses().Of(l.kind)
	model := t.Lookup(l.model)
	spec, ok := actuator.Lookup(l.model)
	if model == nil || !ok {
		return nil, errors.New("no such model")
	}
	b := &benchBus{period: l.period(n)}
	all := budget.Line{Type: t, Baud: l.baud, Timing: l.timing, ReturnDelay: l.delay, Chain: l.config}
	all.Chain.Name, all.Chain.Period = "bench", b.period
	for i := range n {
		all.Chain.Servos = append(all.Chain.Servos,
			servo.ServoConfig{ID: byte(l.first + i), Model: model, Settings: l.settings})
		all.Motors = append(all.Motors, spec)
	}
	r, err := all.Open(func(line servo.Line) servo.Line { b.line = &clocked{Line: line}; return b.line })
	if err != nil {
		return nil, err
	}
	b.run, b.chain, b.bus = r, r.Chain, r.Bus
	return b, nil
}

// Cycle is one cycle with goals that change each time, as a moving robot's do. busy is the processor's time of the
// driver.
func (b *benchBus) Cycle() (busy time.Duration, err error) {
	began := time.Now()
	b.line.spent = 0
	err = b.run.Exchange()
	busy = time.Since(began) - b.line.spent
	return busy, errors.Join(err, b.bus.Advance(b.period))
}

// clocked is a line that measures the processor's time of its own calls.
type clocked struct {
	servo.Line
	spent  time.Duration
	pieces bool // what comes is handed on in pieces, as adapters do, and not byte by byte
}

func (l *clocked) Write(p []byte) (int, error) {
	defer l.since(time.Now())
	return l.Line.Write(p)
}

func (l *clocked) Read(p []byte, timeout time.Duration) (int, error) {
	defer l.since(time.Now())
	n, err := l.Line.Read(p, timeout)
	for l.pieces && err == nil && n < min(len(p), bench.TapePiece) {
		more, late := l.Line.Read(p[n:], 2*servo.WireTime(1, 11, l.Line.Baud()))
		if n += more; late != nil {
			break
		}
	}
	return n, err
}

func (l *clocked) since(began time.Time) { l.spent += time.Since(began) }

// usualCounts are the chains of hardware.md's table.
func usualCounts() []int { return []int{6, 12, 18, 20} }

// TableLines are the long list of lines: all cells of hardware.md's table, and its rows below it. Their health is not
// read, so that the figures are the cells.
func TableLines() []benchLine { return linesOf(true) }

// linesOf are the lines that the drivers are measured by, each chain as shipped but for its config.
func linesOf(long bool) (all []benchLine) {
	for _, kind := range catalog.BuiltinBuses().Names() {
		for _, b := range catalog.BuiltinBuses().Of(kind).Benchmarks {
			if b.Long != long {
				continue
			}
			l := benchLine{kind: kind, model: b.Model, how: b.Name, counts: b.Counts, first: int(b.First),
				config: b.Config, settings: b.Settings}
			if l.counts == nil {
				l.counts = usualCounts()
			}
			if b.FTDI > 0 {
				l.timing = emulator.FTDI(b.FTDI)
			}
			delays := b.Delays
			if delays == nil {
				delays = []time.Duration{0}
			}
			for _, delay := range delays {
				for _, baud := range b.Bauds {
					l := l
					l.baud, l.delay = baud, delay
					l.bound = func(n int) time.Duration { return b.Bound(n, baud, delay) }
					all = append(all, l)
				}
			}
		}
	}
	return all
}
