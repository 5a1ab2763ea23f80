package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
)

// Submit queues rollouts on the rig of cfg, waits for all their results and calls each with every result once, in the
// order of list. What the queue has already, of this run or an earlier one, is not run again. The error is hal.Differs
// where the queue has a result of another rollout under one of the keys.
func (q *Queue) Submit(ctx context.Context, cfg *configs.Config, build string, list []*Rollout,
	each func(*Result) error) error {
	at := map[string]int{}
	for i, r := range list {
		if j, twice := at[r.Key]; twice {
			return invalid("%s: got the key twice, rollouts %d and %d, want one of a key", r.Key, j+1, i+1)
		}
		at[r.Key] = i
	}
	rig, err := q.Store(ctx, cfg)
	if err != nil {
		return err
	}
	want := make([]string, len(list))
	for i, r := range list {
		if want[i], err = r.digest(rig); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch, err := q.results.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer watch.Stop()
	done, next := make([]*Result, len(list)), 0
	var published chan error // of one element; nil while nothing is being published
	defer func() {
		cancel()
		if published != nil {
			<-published
		}
	}()
	for next < len(list) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-published:
			if published = nil; err != nil {
				return err
			}
		case e, open := <-watch.Updates():
			if !open {
				return errors.New("queue: the watch of the results ended")
			}
			if e == nil { // these were all that there were
				published = make(chan error, 1)
				go q.publishMissing(ctx, rig, build, list, slices.Clone(done), published)
				continue
			}
			i, ours := at[e.Key()]
			if !ours || done[i] != nil {
				continue
			}
			r := &Result{}
			if err := json.Unmarshal(e.Value(), r); err != nil {
				return fmt.Errorf("queue: result %s: %w", e.Key(), err)
			}
			if r.Rollout != want[i] {
				return &hal.Error{Kind: hal.Differs, Op: "rollout " + r.Key,
					Err: fmt.Errorf("got the result of rollout %s, want %s: the key was used for another one",
						r.Rollout, want[i]),
					Try: "another key, or --name ANOTHER-QUEUE"}
			}
			done[i] = r
		}
		for ; next < len(list) && done[next] != nil; next++ {
			if err := each(done[next]); err != nil {
				return err
			}
			done[next].Observations = nil // handed on
		}
	}
	return nil
}

// publishMissing queues the rollouts without a result.
func (q *Queue) publishMissing(ctx context.Context, rig, build string, list []*Rollout, done []*Result,
	published chan<- error) {
	for i, r := range list {
		if done[i] != nil {
			continue
		}
		if err := q.publish(ctx, rig, build, r); err != nil {
			published <- err
			return
		}
	}
	published <- nil
}
