package hal

import (
	"math/bits"
	"time"
)

// Histogram counts durations in logarithmic buckets, 32 a power of two (3 % wide), without allocating.
// The zero Histogram is ready. It is not safe for two goroutines.
type Histogram struct {
	counts [64 * 32]uint64
	n      uint64
	max    time.Duration
}

// Add counts d; a negative one counts as its magnitude.
func (h *Histogram) Add(d time.Duration) {
	if d < 0 {
		d = -d
	}
	h.counts[bucket(uint64(d))]++
	h.n++
	h.max = max(h.max, d)
}

// Join adds all that o has counted.
func (h *Histogram) Join(o *Histogram) {
	for i, c := range o.counts {
		h.counts[i] += c
	}
	h.n += o.n
	h.max = max(h.max, o.max)
}

// bucket keeps the leading bit and the five after it.
func bucket(ns uint64) int {
	if ns < 32 {
		return int(ns)
	}
	e := bits.Len64(ns) - 6
	return (e+1)*32 + int(ns>>e)&31
}

// Count is how many durations were added.
func (h *Histogram) Count() uint64 { return h.n }

// Max is the longest duration added, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile is the duration that the share q (0..1) of all does not exceed, rounded up to its bucket's end.
func (h *Histogram) Quantile(q float64) time.Duration {
	want := uint64(q * float64(h.n))
	var seen uint64
	for i, c := range h.counts {
		if seen += c; seen > want || (seen == h.n && seen > 0) {
			if i < 32 {
				return time.Duration(i)
			}
			e := i/32 - 1
			return min(h.max, time.Duration((uint64(32+i%32)+1)<<e-1))
		}
	}
	return h.max
}
