package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
)

// Benchmark measures one thing and emits a result for each case. It checks ctx between blocks of work.
type Benchmark struct {
	Name, About string
	Run         func(ctx context.Context, size Size, emit func(Result)) error
}

// Benchmarks are those of a robot's own computer, in the order in which "halyard bench" runs them.
func Benchmarks() []Benchmark {
	return []Benchmark{
		{"clock", "the real-time loop at 1 kHz", Clock},
		{"wire", "a chain of servos on emulated lines, in virtual time", Wire},
		{"stop", "from the cause of a stop to the last joint's acknowledgement", Stop},
	}
}

// Size is how much a benchmark measures. 0 means its own choice.
type Size struct {
	Steps int           // cycles or steps of each case
	Time  time.Duration // of each case that runs in real time
	// Supervisor is the command of a supervising process, of stop; nil = it is not measured.
	Supervisor []string
}

// StepsOr returns the requested number of steps, n by default.
func (s Size) StepsOr(n int) int { return cmp.Or(max(0, s.Steps), n) }

// Span returns the requested time, a minute by default.
func (s Size) Span() time.Duration { return cmp.Or(max(0, s.Time), time.Minute) }

// Result is one case of a benchmark. A ratio among the figures is the figure by its bound: above 1 is better for
// rates, worse for times.
type Result struct {
	Bench   string  `json:"bench"`
	Case    string  `json:"case"`
	Figures Figures `json:"figures"`
}

// Figure is one measured number; its name ends with its unit.
type Figure struct {
	Name  string
	Value report.Number
}

// Figures keep their order, in JSON too, where they are one object.
type Figures []Figure

func (f Figures) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range f {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(x.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(strconv.AppendQuote(b, x.Name), ':'), value...)
	}
	return append(b, '}'), nil
}

// Get is the figure called name; NaN if absent.
func (f Figures) Get(name string) float64 {
	for _, x := range f {
		if x.Name == name {
			return float64(x.Value)
		}
	}
	return math.NaN()
}

func (r Result) Cells() report.Cells {
	c := report.Cells{{"bench", r.Bench}, {"case", r.Case}}
	for _, f := range r.Figures {
		text := f.Value.String()
		// Four digits are enough of a ratio, but a rate of 53514 a second is not to read 5.351e+04.
		if v := math.Abs(float64(f.Value)); v >= 1000 {
			text = strconv.FormatFloat(float64(f.Value), 'f', 0, 64)
		}
		c = append(c, [2]any{f.Name, text})
	}
	return c
}

// Blocks is the number of blocks of a measurement. The result is that of the median block, so that another program that
// runs for a moment spoils only one block.
const Blocks = 20

// PerBlock is how many of n steps fall into a block, at least one.
func PerBlock(n int) int { return max(1, n/Blocks) }

// Alternate calls each of measured in Blocks blocks, each first in its turn, so that other load of the machine affects
// all of them. It returns the median of each one's rates, 1/s.
func Alternate(ctx context.Context, measured ...func() (rate float64, err error)) ([]float64, error) {
	medians, rates := make([]float64, len(measured)), make([][Blocks]float64, len(measured))
	for block := range Blocks {
		for turn := range measured {
			which := (turn + block) % len(measured)
			rate, err := measured[which]()
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, err
			}
			rates[which][block] = rate
		}
	}
	for i := range medians {
		medians[i] = Median(rates[i][:])
	}
	return medians, nil
}

// RateOf measures the rate of n calls of step, 1/s.
func RateOf(n int, step func() error) func() (float64, error) {
	return BlockRate(n, func() error { return Repeat(n, step) })
}

// BlockRate measures the rate of the n steps of a block, 1/s.
func BlockRate(n int, block func() error) func() (float64, error) {
	return func() (float64, error) {
		start := time.Now()
		err := block()
		return float64(n) / time.Since(start).Seconds(), err
	}
}

// Repeat calls step n times, or until it fails.
func Repeat(n int, step func() error) error {
	for range n {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Concurrently calls f of each i below n in a goroutine of its own.
func Concurrently(n int, f func(i int) error) error {
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Background is functions that run until it is closed.
type Background struct {
	stop    context.CancelFunc
	running sync.WaitGroup
	errs    []error
}

func InBackground(ctx context.Context, fs ...func(context.Context) error) *Background {
	b := &Background{errs: make([]error, len(fs))}
	ctx, b.stop = context.WithCancel(ctx)
	for i, f := range fs {
		b.running.Go(func() { b.errs[i] = f(ctx) })
	}
	return b
}

// Close ends the functions, waits for them and returns their errors.
func (b *Background) Close() error {
	b.stop()
	b.running.Wait()
	return errors.Join(b.errs...)
}

// BuildSystem opens the robots of c, without a log; change, where it is not nil, may change the plan.
func BuildSystem(c *configs.Config, change func(*plan.Plan)) (*assembly.System, error) {
	p, err := plan.Resolve(c, builtin.Catalog())
	if err != nil {
		return nil, err
	}
	if change != nil {
		change(p)
	}
	return assembly.Build(p, slog.New(slog.DiscardHandler))
}

// Micros is d in µs.
func Micros(d time.Duration) report.Number { return report.Number(d.Seconds() * 1e6) }

// Median returns the median of values, which it sorts; NaN for an empty list.
func Median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}
