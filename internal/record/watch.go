package record

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	watchTime   = 3 * time.Second // how long a line is watched after the last call of Frames
	watchFrames = 24
	watchBytes  = 512 // of a frame
)

// Frame is a run of bytes on a line in one direction.
type Frame struct {
	Out  bool   // from the host
	Size int    // bytes
	Data []byte // the first of them
}

// frames holds the newest frames of a line while a client reads them.
type frames struct {
	until atomic.Int64 // Unix time, ns

	mu    sync.Mutex
	count int // so far
	ring  [watchFrames]struct {
		out  bool
		size int
		data [watchBytes]byte
	}
}

// Frames returns the newest frames of the line called name, oldest first. The first call starts the watch, which ends
// watchTime after the last call. The first call returns none.
func (t *Taps) Frames(name string) (list []Frame) {
	for _, l := range t.all() {
		if l.bus != name {
			continue
		}
		f := &l.frames
		now := time.Now().UnixNano()
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.until.Swap(now+int64(watchTime)) < now {
			f.count = 0 // what was there is old
		}
		for i := max(0, f.count-watchFrames); i < f.count; i++ {
			r := &f.ring[i%watchFrames]
			list = append(list, Frame{r.out, r.size, append([]byte(nil), r.data[:min(r.size, watchBytes)]...)})
		}
	}
	return list
}

// keep adds data to the frame under way, or begins one.
func (f *frames) keep(out bool, data []byte) {
	if until := f.until.Load(); until != 0 && len(data) > 0 && time.Now().UnixNano() <= until {
		f.add(out, data)
	}
}

func (f *frames) add(out bool, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &f.ring[(f.count+watchFrames-1)%watchFrames]
	if f.count == 0 || r.out != out {
		r = &f.ring[f.count%watchFrames]
		r.out, r.size = out, 0
		f.count++
	}
	if r.size < watchBytes {
		copy(r.data[r.size:], data)
	}
	r.size += len(data)
}
