package console

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress is one line that is redrawn in place: how much is done, and about how long the rest takes. It begins to show
// after two seconds. A nil Progress, where there is no terminal, shows nothing. Its methods may be called from any
// goroutine.
type Progress struct {
	out   io.Writer
	what  string
	total int // 0 = not known
	now   func() time.Time
	begun time.Time

	mu    sync.Mutex
	done  int
	drawn time.Time
	shown bool
}

const (
	progressAfter = 2 * time.Second
	progressEvery = 200 * time.Millisecond
)

// NewProgress shows on out, a terminal, how many of total are done ("schedules"); now is the clock, nil the wall's.
func NewProgress(out io.Writer, what string, total int, now func() time.Time) *Progress {
	if now == nil {
		now = time.Now
	}
	return &Progress{out: out, what: what, total: total, now: now, begun: now()}
}

// Add counts n more that are done.
func (p *Progress) Add(n int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	now := p.now()
	spent := now.Sub(p.begun)
	if spent < progressAfter || now.Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn, p.shown = now, true
	if p.total < p.done || p.done == 0 {
		fmt.Fprintf(p.out, "\r%d %s, %v\x1b[K", p.done, p.what, spent.Round(time.Second))
		return
	}
	left := time.Duration(float64(spent) / float64(p.done) * float64(p.total-p.done))
	fmt.Fprintf(p.out, "\r%3d%% of %d %s, about %v left\x1b[K", 100*p.done/p.total, p.total, p.what,
		left.Round(time.Second))
}

// Clear takes the line away, for another text in its place; the next Add may draw it again.
func (p *Progress) Clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
		p.shown, p.drawn = false, time.Time{}
	}
}
