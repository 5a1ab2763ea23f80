package chaos

import (
	"context"
	"fmt"
	"runtime"
	"sync"
)

// Bounds of what a sweep may leave behind.
const leftBytes = 64 << 20

// Sweep runs n schedules of r, from the seed first on, on workers goroutines, and hands their results to each in the
// order of their seeds. Afterwards it judges what they left behind: that result has the seed 0.
func (r *Robot) Sweep(ctx context.Context, first int64, n, workers int, each func(*Result)) error {
	before := leftNow()
	results, errs := make([]Result, 16*workers), make([]error, 16*workers)
	for done := 0; done < n && ctx.Err() == nil; {
		batch := min(n-done, len(results))
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				for i := w; i < batch; i += workers {
					results[i], errs[i] = r.Seed(first + int64(done+i))
				}
			})
		}
		all.Wait()
		for i := range batch {
			if errs[i] != nil {
				return errs[i]
			}
			each(&results[i])
		}
		done += batch
	}
	clear(results)
	after, left := leftNow(), Result{Config: r.name, Exercised: Counts{}}
	for _, l := range r.shapes[0].lines {
		left.Exercised.Add(Counts{l.kind: &[numInvariants]uint64{memory: 1}})
	}
	if after.goroutines > before.goroutines || after.bytes > before.bytes+leftBytes {
		left.Violated = Invariants[memory].Name
		left.What = fmt.Sprintf("after %d schedules: %d goroutines and %d bytes, before: %d and %d", n,
			after.goroutines, after.bytes, before.goroutines, before.bytes)
	}
	each(&left)
	return ctx.Err()
}

// left is what a process uses.
type left struct {
	goroutines int
	bytes      uint64
}

// leftNow is what the process uses now. Goroutines that are about to end may do so.
func leftNow() left {
	least := runtime.NumGoroutine()
	for range 1000 {
		runtime.Gosched()
		least = min(least, runtime.NumGoroutine())
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return left{min(least, runtime.NumGoroutine()), m.HeapAlloc}
}
