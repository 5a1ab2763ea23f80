package batch

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/plan"
)

// Most is the greatest number of copies.
const Most = 1 << 16

// Options are how a batch is made.
type Options struct {
	Copies int
	Seed   int64 // of copy 0; copy i has Seed + i; 0 = the config's
	// Actions and Observations name the columns; default: a goal a joint, and all outputs.
	Actions, Observations []string
}

// Batch is copies of a rig. Its methods are called from one goroutine at a time.
type Batch struct {
	copies                []*instance
	actions, observations []Channel

	workers int
	jobs    chan job
	done    chan struct{}
	next    atomic.Int64 // the first copy that no worker has taken
	block   int64        // how many are taken at a time
	closed  bool         // by Close

	// Of the present job.
	in, out []float64
	which   []bool
	seeds   []int64
}

// job is what all workers do next.
type job uint8

const (
	stepping job = iota
	resetting
)

// Open creates copies of the rig of p, in lock-step. Only simulated and emulated bodies can be copied; otherwise the
// error is hal.Invalid. Close ends them.
func Open(p *plan.Plan, o Options) (*Batch, error) {
	refuse := func(format string, args ...any) error {
		return &hal.Error{Kind: hal.Invalid, Op: "batch", Err: fmt.Errorf(format, args...)}
	}
	if o.Copies < 1 || o.Copies > Most {
		return nil, refuse("got %d copies, want 1..%d", o.Copies, Most)
	}
	if len(p.Agents) == 0 {
		return nil, refuse("got a config without an agent, want at least one agent")
	}
	for i := range p.Agents {
		if p.Agents[i].Config.Has(configs.Real) {
			return nil, refuse("got agent %s, which is real, want simulated or emulated ones: there is one of it",
				p.Agents[i].Config.Name)
		}
	}
	o.Seed = cmp.Or(o.Seed, p.Config.World.Seed)
	b := &Batch{workers: min(runtime.GOMAXPROCS(0), o.Copies), done: make(chan struct{})}
	b.jobs = make(chan job, b.workers)
	// A few blocks a worker, so that no worker waits long for another; copies of small robots are taken many at a time.
	b.block = max(1, int64(o.Copies/(4*b.workers)))
	for i := range o.Copies {
		c, err := newInstance(p, o.Seed+int64(i), &o, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, errors.Join(err, b.Close())
		}
		b.copies = append(b.copies, c)
	}
	b.actions, b.observations = b.copies[0].actions, b.copies[0].observations
	for range b.workers - 1 {
		go b.work()
	}
	return b, nil
}

// Copies is their number; Actions and Observations are the columns of the arrays.
func (b *Batch) Copies() int             { return len(b.copies) }
func (b *Batch) Actions() []Channel      { return b.actions }
func (b *Batch) Observations() []Channel { return b.observations }

// Step commands every copy, advances each by a period, and fills in the observations. actions has a row of
// len(Actions()) per copy, in SI units, NaN for no new command; observations likewise. It allocates nothing. The error
// joins those of copies that failed.
func (b *Batch) Step(actions, observations []float64) error {
	if err := b.sizes(len(actions), len(observations)); err != nil {
		return err
	}
	b.in, b.out = actions, observations
	return b.all(stepping)
}

// Reset resets the copies for which which is true (nil: all) to the initial state of their seeds (nil or 0: unchanged),
// draws the config's random parameters by them, and fills in the rows of those copies.
func (b *Batch) Reset(which []bool, seeds []int64, observations []float64) error {
	n := len(b.copies)
	if which != nil && len(which) != n || seeds != nil && len(seeds) != n {
		return &hal.Error{Kind: hal.Invalid, Op: "batch reset",
			Err: fmt.Errorf("got %d marks and %d seeds, want %d or none", len(which), len(seeds), n)}
	}
	if err := b.sizes(n*len(b.actions), len(observations)); err != nil {
		return err
	}
	b.which, b.seeds, b.out = which, seeds, observations
	return b.all(resetting)
}

func (b *Batch) sizes(actions, observations int) error {
	n := len(b.copies)
	if actions != n*len(b.actions) || observations != n*len(b.observations) {
		return &hal.Error{Kind: hal.Invalid, Op: "batch",
			Err: fmt.Errorf("got %d actions and room for %d observations, want %d times %d and %d",
				actions, observations, n, len(b.actions), len(b.observations))}
	}
	return nil
}

// all runs a job on all workers, including this goroutine, and waits for its end.
func (b *Batch) all(j job) (err error) {
	b.next.Store(0)
	for range b.workers - 1 {
		b.jobs <- j
	}
	b.do(j)
	for range b.workers - 1 {
		<-b.done
	}
	for _, c := range b.copies {
		if c.err != nil {
			err = errors.Join(err, c.err)
			c.err = nil
		}
	}
	return err
}

// work runs jobs until Close.
func (b *Batch) work() {
	for j := range b.jobs {
		b.do(j)
		b.done <- struct{}{}
	}
	b.done <- struct{}{}
}

// do runs a job on blocks of copies until none is left.
func (b *Batch) do(j job) {
	n, acts, obs := int64(len(b.copies)), len(b.actions), len(b.observations)
	for {
		first := b.next.Add(b.block) - b.block
		if first >= n {
			return
		}
		for i := first; i < min(first+b.block, n); i++ {
			c, out := b.copies[i], b.out[int(i)*obs:(int(i)+1)*obs]
			switch {
			case j == stepping:
				c.step(b.in[int(i)*acts:(int(i)+1)*acts], out)
			case b.which == nil || b.which[i]:
				if b.seeds != nil && b.seeds[i] != 0 {
					c.seed = b.seeds[i]
				}
				c.reset(out)
			}
		}
	}
}

// Close ends all copies. A second call has no effect.
func (b *Batch) Close() (err error) {
	if b.closed {
		return nil
	}
	b.closed = true
	started := b.actions != nil
	close(b.jobs)
	for range b.workers - 1 {
		if started {
			<-b.done
		}
	}
	for _, c := range b.copies {
		err = errors.Join(err, c.close())
	}
	b.copies = nil
	return err
}

// nothing is an input for which there is no command.
var nothing = math.NaN()
