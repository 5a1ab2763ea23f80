package halyard

import "github.com/halyard-robotics/halyard/internal/batch"

// Batch is copies of a config's rig that are stepped side by side on all cores: simulated and emulated bodies, in
// lock-step. Each is a whole rig with a seed of its own. Its methods are called from one goroutine at a time.
type Batch struct{ batch *batch.Batch }

// BatchOptions are how a batch is made. Copy i has the seed Seed + i; 0 means the config's world.seed. Actions and
// Observations name the columns of the arrays ("elbow/position"; "arm/elbow/position" where there are several agents);
// without them an action is one goal a joint, and an observation all outputs of all agents.
type BatchOptions = batch.Options

// BatchChannel is one column of the arrays: its name, unit and range.
type BatchChannel = batch.Channel

// OpenBatch opens copies of the rig of cfg, without its servers. The error is hal.Invalid for a real body, which cannot
// be copied.
func OpenBatch(cfg *Config, o BatchOptions, with ...Option) (*Batch, error) {
	own := newOptions(with)
	p, err := own.plan(cfg)
	if err != nil {
		return nil, err
	}
	b, err := batch.Open(p, o)
	if err != nil {
		return nil, err
	}
	return &Batch{b}, nil
}

// Copies is how many there are. Actions and Observations are the columns of the arrays.
func (b *Batch) Copies() int                  { return b.batch.Copies() }
func (b *Batch) Actions() []BatchChannel      { return b.batch.Actions() }
func (b *Batch) Observations() []BatchChannel { return b.batch.Observations() }

// Step commands every copy, advances it by one period, and fills in the observations. actions and observations have one
// row per copy, in SI units; NaN is no new command. It allocates nothing, and the results are the same on any number of
// cores.
func (b *Batch) Step(actions, observations []float64) error {
	return b.batch.Step(actions, observations)
}

// Reset resets the copies for which which is true (nil: all) to the start, with the given seeds (nil or 0: unchanged),
// and fills in their rows.
func (b *Batch) Reset(which []bool, seeds []int64, observations []float64) error {
	return b.batch.Reset(which, seeds, observations)
}

// Close ends all copies. A second call has no effect.
func (b *Batch) Close() error { return b.batch.Close() }
