package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/halyard-robotics/halyard/hal"
)

// benchmark measures one thing and emits a result for each case. It checks ctx between blocks of work.
type benchmark struct {
	name  string
	about string
	run   func(ctx context.Context, size benchSize, emit func(result)) error
}

// benchmarks are all benchmarks in the order in which "halyard bench" runs them.
func benchmarks() []benchmark {
	return []benchmark{
		{"cycle", "one cycle of the rig", benchCycle},
		{"clock", "the real-time loop at 1 kHz", benchClock},
		{"wire", "the Dynamixel chain on emulated lines, in virtual time", benchWire},
		{"osp", "steps a second over OSP", benchOSP},
		{"physics", "the multibody engine on the models that engines are compared by", benchPhysics},
		{"simloid", "cycles a second over Simloid's protocol", benchSimloid},
		{"okon", "an underwater robot, its protocol and its pictures", benchOkon},
		{"drivers", "each bus against its wire, each telegram against memory", benchDrivers},
		{"configs", "the robots with devices, emulated, at their own rate on the wall clock", benchConfigs},
		{"gamebots", "rescue robots in an arena, their rays and their protocol", benchGamebots},
	}
}

// benchSize is how much a benchmark measures. 0 stands for its own choice.
type benchSize struct {
	steps   int           // cycles or steps of each case
	time    time.Duration // of each case that runs in real time
	physics []physicsCase // of physics
	config  string        // of configs: the only one; "" = every embedded one with devices
	all     bool          // of drivers: the whole table
}

// stepsOr is the number of steps that was asked for, n where none was.
func (s benchSize) stepsOr(n int) int {
	if s.steps > 0 {
		return s.steps
	}
	return n
}

// result is one case of a benchmark. A ratio among the figures is the figure by its bound: above 1 is better for
// rates, worse for times.
type result struct {
	Bench   string  `json:"bench"`
	Case    string  `json:"case"`
	Figures figures `json:"figures"`
}

// figure is one measured number; its name ends with its unit.
type figure struct {
	name  string
	value number
}

// figures keep their order, in JSON too, where they are one object.
type figures []figure

// MarshalJSON implements json.Marshaler.
func (f figures) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, x := range f {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := json.Marshal(x.value)
		if err != nil {
			return nil, err
		}
		b = append(append(strconv.AppendQuote(b, x.name), ':'), value...)
	}
	return append(b, '}'), nil
}

// get is the figure called name; NaN where there is none.
func (f figures) get(name string) float64 {
	for _, x := range f {
		if x.name == name {
			return float64(x.value)
		}
	}
	return math.NaN()
}

// header and cells make a result a row of a table.
func (r result) header() []string {
	h := []string{"bench", "case"}
	for _, f := range r.Figures {
		h = append(h, f.name)
	}
	return h
}

func (r result) cells() []string {
	c := []string{r.Bench, r.Case}
	for _, f := range r.Figures {
		text := f.value.String()
		// Four digits are enough of a ratio, but a rate of 53514 a second is not to read 5.351e+04.
		if v := math.Abs(float64(f.value)); v >= 1000 {
			text = strconv.FormatFloat(float64(f.value), 'f', 0, 64)
		}
		c = append(c, text)
	}
	return c
}

// newBench makes the sub-command. It judges nothing: whether a figure is good enough is for the tests and CI to say,
// on machines that they know.
func newBench(a *app) *cobra.Command {
	var steps int
	var seconds float64
	var physics physicsFlags
	var links int
	var only string
	var all bool
	var names []string
	long := "Measures this machine, each figure beside its bound, and leaves judging to whoever reads it:\n"
	for _, b := range benchmarks() {
		names = append(names, b.name)
		long += fmt.Sprintf("\n  %-7s %s", b.name, b.about)
	}
	c := &cobra.Command{
		Use:       "bench [NAME]",
		Short:     "how fast it is here, beside what is possible",
		Long:      long,
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			if steps < 0 || !(seconds > 0 && seconds <= 86400) {
				return &hal.Error{Kind: hal.Invalid, Op: "bench",
					Err: fmt.Errorf("got %d steps and %g seconds, want no less than 0 and above 0, at most 86400", steps, seconds)}
			}
			if len(args) > 0 && !slices.Contains(names, args[0]) {
				return &hal.Error{Kind: hal.Invalid, Op: "bench",
					Err: fmt.Errorf("got %q, want one of %s", args[0], strings.Join(names, ", ")), Try: "halyard bench"}
			}
			which := names // all of them, in their order
			if len(args) > 0 {
				which = args
			}
			if cmd.Flags().Changed("n") {
				physics.links = &links
			}
			if physics.given() && !slices.Contains(which, "physics") {
				return &hal.Error{Kind: hal.Invalid, Op: "bench " + args[0],
					Err: fmt.Errorf("got --model, --n or --integrator, which are of physics"), Try: "halyard bench physics"}
			}
			if only != "" && !slices.Contains(which, "configs") {
				return &hal.Error{Kind: hal.Invalid, Op: "bench " + args[0], Err: fmt.Errorf("got --config, which is of configs"),
					Try: "halyard bench configs --config " + only}
			}
			if all && !slices.Contains(which, "drivers") {
				return &hal.Error{Kind: hal.Invalid, Op: "bench " + args[0], Err: fmt.Errorf("got --all, which is of drivers"),
					Try: "halyard bench drivers --all"}
			}
			size := benchSize{steps: steps, config: only, all: all, time: time.Duration(seconds * float64(time.Second))}
			if slices.Contains(which, "physics") {
				var err error
				if size.physics, err = physics.cases(steps); err != nil {
					return err
				}
			}
			return a.bench(cmd.Context(), which, size)
		},
	}
	c.Flags().IntVar(&steps, "steps", 0, "cycles or steps of each case; 0 is each benchmark's own choice")
	c.Flags().Float64Var(&seconds, "seconds", 60, "how long each case of clock, of okon's control loop, of gamebots' robots and of configs runs")
	c.Flags().StringVar(&only, "config", "", "of configs: the one to run, embedded or a file; all embedded ones where it is not given")
	c.Flags().BoolVar(&all, "all", false, "of drivers: every way to read, rate, length and return delay of Dynamixel and Feetech buses, 600 cells more")
	c.Flags().StringVar(&physics.model, "model", "", "of physics: chain, quad, humanoid or heap; all where it is not given")
	c.Flags().IntVar(&links, "n", 0, "links of the chain of physics; 2, 10, 20 and 40 where it is not given")
	c.Flags().StringVar(&physics.integrator, "integrator", "", "of physics: euler or rk4; both where it is not given")
	return c
}

// bench runs the named benchmarks, one after another: side by side they would disturb each other. What a benchmark
// has measured is shown when it ends, since some take minutes; one JSON object has to wait for all.
func (a *app) bench(ctx context.Context, names []string, size benchSize) error {
	var all []result
	for _, b := range benchmarks() {
		if !slices.Contains(names, b.name) {
			continue
		}
		a.note("bench %s: %s", b.name, b.about)
		var done []result
		if err := b.run(ctx, size, func(r result) { done = append(done, r) }); err != nil {
			return err
		}
		if a.format == "json" {
			all = append(all, done...)
			continue
		}
		if err := a.showResults(done); err != nil {
			return err
		}
	}
	if a.format == "json" {
		return show(a, all)
	}
	return nil
}

// showResults shows one table for each run of results with the same figures, since the names of figures are the heads
// of its columns; JSON lines come out one after another all the same.
func (a *app) showResults(list []result) error {
	for len(list) > 0 {
		n := 1
		for n < len(list) && slices.Equal(list[n].header(), list[0].header()) {
			n++
		}
		if err := show(a, list[:n]); err != nil {
			return err
		}
		if list = list[n:]; a.format == "table" {
			fmt.Fprintln(a.out)
		}
	}
	return nil
}

// benchBlocks is into how many blocks a measurement is cut. What is reported is the median block, so that something
// else that runs for a moment spoils one block and not the figure.
const benchBlocks = 20

// perBlock is how many of n steps fall into a block, at least one.
func perBlock(n int) int { return max(1, n/benchBlocks) }

// median of values, which it sorts; NaN of none.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}
