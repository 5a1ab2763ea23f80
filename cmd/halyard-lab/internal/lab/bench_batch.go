package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"runtime"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/batch"
	"github.com/halyard-robotics/halyard/internal/bench"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/must"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	protocol "github.com/halyard-robotics/halyard/protocols/batch"
)

// batchRobots are the configs whose copies are stepped, and the default number of steps of a copy in a case.
var batchRobots = []struct {
	name  string
	steps int
}{{"pendulum", 200_000}, {"so101", 20_000}, {"a-series", 5_000}}

// benchBatch steps copies of rigs with moving goals: in this process on one core and on two, and over a TCP connection
// on loopback on all. share is the processor's time of a copy alone on one core by that of a copy in the batch. A case
// with more copies than steps is left out.
func benchBatch(ctx context.Context, size bench.Size, emit func(bench.Result)) error {
	for _, robot := range batchRobots {
		steps, single := size.StepsOr(robot.steps), math.NaN()
		for _, c := range []struct {
			copies, cores int
			by            string
		}{{1, 1, ""}, {64, 1, ""}, {1024, 1, ""}, {64, 2, ""}, {1024, 2, ""}, {64, 2, ", socket"}} {
			if c.copies > steps {
				continue
			}
			f, err := batchCase(ctx, robot.name, c.copies, c.cores, steps, c.by != "", &single)
			if err != nil {
				return fmt.Errorf("bench batch: %w", err)
			}
			emit(bench.Result{Bench: "batch", Case: fmt.Sprintf("%s x %d, %d core%s%s", robot.name, c.copies, c.cores,
				"s"[:c.cores-1], c.by), Figures: f})
		}
	}
	return nil
}

// batchCase measures the given total of steps over all copies; single is the processor's time of a step of a single
// copy, s.
func batchCase(ctx context.Context, robot string, copies, cores, steps int, socket bool,
	single *float64) (f bench.Figures, err error) {
	defer must.Catch(&err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	cfg := must.Get(configs.Load(robot, configs.Options{}))
	p := must.Get(plan.Resolve(cfg, builtin.Catalog()))
	b := must.Get(batch.Open(p, batch.Options{Copies: copies}))
	columns, seen := len(b.Actions()), make([]float64, copies*len(b.Observations()))
	step, end := b.Step, b.Close
	if socket {
		if step, end, err = overSocket(ctx, b); err != nil {
			return nil, err
		}
	}
	defer func() { err = errors.Join(err, end()) }()
	actions := make([]float64, copies*columns)
	n := max(1, steps/copies/bench.Blocks)
	var wall, computed, allocs [bench.Blocks]float64
	var before, after runtime.MemStats
	count := 0
	for k := range bench.Blocks + 1 { // the first is not counted: it sizes buffers
		must.Be(ctx.Err())
		runtime.ReadMemStats(&before)
		start, cpu := time.Now(), cpuTime()
		for range n {
			for i := range actions {
				actions[i] = 0.3 * math.Sin(0.05*float64(count)+float64(i))
			}
			count++
			must.Be(step(actions, seen))
		}
		if k == 0 {
			continue
		}
		wall[k-1] = time.Since(start).Seconds() / float64(n*copies)
		computed[k-1] = (cpuTime() - cpu).Seconds() / float64(n*copies)
		runtime.ReadMemStats(&after)
		allocs[k-1] = float64(after.Mallocs-before.Mallocs) / float64(n)
	}
	cost := bench.Median(computed[:])
	if math.IsNaN(*single) {
		*single = cost
	}
	return bench.Figures{
		{Name: "steps_per_s", Value: report.Number(1 / bench.Median(wall[:]))},
		{Name: "cpu_us", Value: report.Number(cost * 1e6)},
		{Name: "share", Value: report.Number(*single / cost)},
		{Name: "bytes", Value: report.Number(8 * (len(actions) + len(seen)) / copies)},
		{Name: "allocs", Value: report.Number(bench.Median(allocs[:]))},
	}, nil
}

// overSocket serves b, which it owns from here on, to a client of its own over loopback.
func overSocket(ctx context.Context, b *batch.Batch) (step func(actions, seen []float64) error, end func() error,
	err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	names := func(list []batch.Channel) (columns []protocol.Column) {
		for _, c := range list {
			columns = append(columns, protocol.Column(c))
		}
		return columns
	}
	server := protocol.NewServer(ln, func(*protocol.Hello) (protocol.Environment, *protocol.Spaces, error) {
		return servedBatch{b}, &protocol.Spaces{Copies: b.Copies(), Actions: names(b.Actions()),
			Observations: names(b.Observations())}, nil
	}, protocol.Options{})
	serving := bench.InBackground(ctx, server.Serve)
	conn, err := net.Dial("tcp", server.Address().String())
	if err != nil {
		return nil, nil, errors.Join(err, serving.Close(), b.Close())
	}
	client, err := protocol.NewClient(conn, &protocol.Hello{Copies: b.Copies()})
	if err != nil {
		return nil, nil, errors.Join(err, serving.Close(), b.Close())
	}
	return client.Step, func() error { return errors.Join(client.Close(), serving.Close(), b.Close()) }, nil
}

// servedBatch is a batch as a session's environment, which outlives the session.
type servedBatch struct{ b *batch.Batch }

func (s servedBatch) Step(_ context.Context, actions, seen []float64) error {
	return s.b.Step(actions, seen)
}
func (s servedBatch) Reset(_ context.Context, which []bool, seeds []int64, seen []float64) error {
	return s.b.Reset(which, seeds, seen)
}
func (s servedBatch) Close() error { return nil }
