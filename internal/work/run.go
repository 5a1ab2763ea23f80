package work

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/internal/batch"
)

// Environment is a batch of one copy: halyard.Batch.
type Environment interface {
	Actions() []batch.Channel
	Observations() []batch.Channel
	Step(actions, observations []float64) error
	Reset(which []bool, seeds []int64, observations []float64) error
	Close() error
}

// Run makes a rollout in env. alive is called after each step; its error ends the run and is returned. What is wrong
// with the rollout on this rig, and an error of the rig itself, is in the result's Error: it would be the same
// anywhere.
func Run(env Environment, r *Rollout, alive func() error) (*Result, error) {
	columns := env.Observations()
	out := &Result{Key: r.Key, Seed: r.Seed, Columns: []string{}, Observations: []Row{}}
	for _, c := range columns {
		out.Columns = append(out.Columns, c.Name)
	}
	if err := r.fits(len(env.Actions()), len(columns)); err != nil {
		out.Error = err.Error()
		return out, nil
	}
	h, bytes := sha256.New(), make([]byte, 8*len(columns))
	actions, seen := make([]float64, len(env.Actions())), make([]float64, len(columns))
	take := func(keep bool) {
		for i, x := range seen {
			if x != x {
				x = math.NaN() // one of the many
			}
			binary.LittleEndian.PutUint64(bytes[8*i:], math.Float64bits(x))
		}
		h.Write(bytes)
		if keep {
			out.Observations = append(out.Observations, slices.Clone(seen))
		}
	}
	if r.Policy != nil {
		r.Policy.step.Reset()
	}
	err := env.Reset(nil, []int64{r.Seed}, seen)
	if err == nil {
		take(true)
	}
	for n := 0; n < r.Steps && err == nil; n++ {
		switch {
		case r.Policy != nil:
			r.Policy.act(seen, actions)
		case n < len(r.Actions):
			copy(actions, r.Actions[n])
		default:
			fill(actions, math.NaN())
		}
		if err = env.Step(actions, seen); err != nil {
			break
		}
		out.Steps = n + 1
		take(out.Steps%r.every() == 0 || out.Steps == r.Steps)
		if err := alive(); err != nil {
			return nil, err
		}
	}
	if err != nil {
		out.Error = err.Error()
	}
	out.Hash = hex.EncodeToString(h.Sum(nil)[:16])
	return out, nil
}

func fill(list []float64, x float64) {
	for i := range list {
		list[i] = x
	}
}

// fits reports what is wrong with r on a rig of so many columns.
func (r *Rollout) fits(actions, observations int) error {
	rows := 2 + r.Steps/r.every()
	switch {
	case rows*observations > maxSeen:
		return fmt.Errorf("result: got %d rows of %d observations, want at most %d numbers (try: a greater every, "+
			"fewer columns in observe)", rows, observations, maxSeen)
	case len(r.Actions) > 0 && len(r.Actions[0]) != actions:
		return fmt.Errorf("actions: got rows of %d values, want %d", len(r.Actions[0]), actions)
	case r.Policy != nil:
		return r.Policy.fits(observations, actions)
	}
	return nil
}
