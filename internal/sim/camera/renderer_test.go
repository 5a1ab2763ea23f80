package camera

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

var small = Camera{Name: "small", Width: 32, Height: 18, FieldOfView: 1.6, Mask: 1, Detects: true}

// TestNext checks a watch from open to close: no viewer gets an old picture, only requested pictures are rendered, and
// one picture serves all waiting viewers.
func TestNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := New(pool(0.05), 1, []Camera{small, small}, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if st.Watched() {
			t.Error("no viewers: got watched")
		}
		a, _ := st.Watch(0)
		b, _ := st.Watch(0)
		if !st.Watched() {
			t.Error("watched by two: got false")
		}
		got := make(chan *hal.Picture, 4)
		next := func(w hal.ImageStream, after uint64) {
			go func() {
				p, err := w.Next(t.Context(), after)
				if err != nil {
					t.Error(err)
				}
				got <- p
			}()
			synctest.Wait()
		}
		next(a, 0)
		next(b, 0)
		if len(got) > 0 {
			t.Error("before the first push: got a picture")
		}
		st.Push(time.Second, at(0, 0, -1, 0, 0))
		p, q := <-got, <-got
		if p != q || p.Sequence != 1 || p.Time != time.Second || p.Width != 32 || len(p.RGB) != 3*32*18 {
			t.Errorf("two viewers: got %d at %v and %d, want one picture, 1 at 1s", p.Sequence, p.Time, q.Sequence)
		}
		// The state is unchanged: the same picture again for a viewer that has not seen it, none for one that has.
		next(a, 0)
		if again := <-got; again != p {
			t.Error("of the same state: got another picture")
		} else {
			again.Release()
		}
		next(a, 1)
		if len(got) > 0 {
			t.Error("after the newest: got a picture")
		}
		for k := range 5 {
			st.Push(time.Duration(2+k)*time.Second, at(0, 0, -2, 0, 0))
		}
		r := <-got
		if r.Sequence != 2 || r.Time < 2*time.Second {
			t.Errorf("after five pushes: got %d at %v, want 2 of one of them", r.Sequence, r.Time)
		}
		synctest.Wait()
		before := slices.Clone(p.RGB)
		// A late request gets the newest state, not the newest picture.
		st.Push(9*time.Second, at(0, 0, -3, 0.5, 0))
		synctest.Wait()
		next(b, 0)
		if r := <-got; r.Time != 9*time.Second || r.Sequence != 3 {
			t.Errorf("asked after 9 s: got %d at %v, want 3 of then", r.Sequence, r.Time)
		}
		if !slices.Equal(before, p.RGB) {
			t.Error("a picture that is held has changed")
		}
		p.Release()
		q.Release()
		if st.eyes[1].sequence != 0 {
			t.Error("the other camera has rendered without a viewer")
		}
		a.Close()
		a.Close()
		b.Close()
		if st.Watched() {
			t.Error("all closed: got watched")
		}
		// From here on there is no Push, so the last snapshot is old.
		c, _ := st.Watch(0)
		next(c, 0)
		if len(got) > 0 {
			t.Error("watched again: got a picture of before")
		}
		st.Push(20*time.Second, at(0, 0, -1, 0, 0))
		if p := <-got; p.Time != 20*time.Second {
			t.Errorf("watched again: got one of %v, want 20s", p.Time)
		}
	})
}

// TestEnd: a Next that waits returns when its context, its watch or the studio ends, and Close leaves no goroutine.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := New(pool(0.05), 1, []Camera{small}, 3)
		if err != nil {
			t.Fatal(err)
		}
		errs := make(chan error, 3)
		ctx, cancel := context.WithCancel(t.Context())
		w, _ := st.Watch(0)
		x, _ := st.Watch(0)
		y, _ := st.Watch(0)
		for _, c := range []struct {
			w   hal.ImageStream
			ctx context.Context
		}{{w, ctx}, {x, t.Context()}, {y, t.Context()}} {
			go func() { _, err := c.w.Next(c.ctx, 0); errs <- err }()
		}
		synctest.Wait()
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got %v", err)
		}
		x.Close()
		if err := <-errs; !errors.Is(err, errGone) {
			t.Errorf("its watch closed: got %v", err)
		}
		st.Push(0, at(0, 0, -1, 0, 0))
		st.Close()
		st.Push(0, at(0, 0, -1, 0, 0))
		if err := <-errs; err != nil && !errors.Is(err, errGone) {
			t.Errorf("the studio closed: got %v", err)
		}
		if _, err := st.Watch(0); !errors.Is(err, errGone) {
			t.Errorf("watch after the end: got %v", err)
		}
		st.Close()
	}) // fails where a goroutine is left
	st := studio(t, pool(0.05), 1, small)
	var invalid *hal.Error
	if _, err := st.Watch(1); !errors.As(err, &invalid) || invalid.Kind != hal.Invalid {
		t.Errorf("camera 1 of 1: got %v, want invalid", err)
	}
}

// TestPool: released pictures are used again, held ones are not.
func TestPool(t *testing.T) {
	st := studio(t, pool(0.05), 2, small)
	seen := map[*byte]int{}
	for range 50 {
		p := shoot(t, st, 0, at(0, 0, -1, 0, 0))
		seen[&p.RGB[0]]++
		p.Release()
	}
	if len(seen) > 3 {
		t.Errorf("50 pictures, each released: got %d memories, want at most 3", len(seen))
	}
	held := map[*byte]bool{}
	for range 20 {
		p := shoot(t, st, 0, at(0, 0, -1, 0, 0))
		if held[&p.RGB[0]] {
			t.Fatal("a picture that is held was rendered into")
		}
		held[&p.RGB[0]] = true
		defer p.Release()
	}
}

// TestPush: the cycle's part allocates nothing, even while viewers pull.
func TestPush(t *testing.T) {
	st := studio(t, pool(0.05), 2, small, small)
	ctx, cancel := context.WithCancel(t.Context())
	var viewers sync.WaitGroup
	for i := range 4 {
		w, err := st.Watch(i % 2)
		if err != nil {
			t.Fatal(err)
		}
		viewers.Go(func() {
			var last uint64
			for {
				p, err := w.Next(ctx, last)
				if err != nil {
					return
				}
				if p.Sequence <= last || len(p.Detections) != 4 {
					t.Errorf("got picture %d with %d sights after %d", p.Sequence, len(p.Detections), last)
				}
				last = p.Sequence
				p.Release()
			}
		})
	}
	poses := at(0, 0, -1, 0, 0)
	for k := range 2000 {
		poses[0].Position[0] = float64(k) / 1000
		st.Push(time.Duration(k), poses)
	}
	cancel()
	viewers.Wait()
	if n := testing.AllocsPerRun(100, func() { st.Push(0, poses) }); n > 0 {
		t.Errorf("push: got %g allocations, want 0", n)
	}
}
