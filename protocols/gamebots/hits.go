package gamebots

import (
	"slices"
	"sync"
)

// Hit is a tag that a reader has in reach.
type Hit struct {
	Tag   int    // which one: unique in the world
	ID    string // as on the wire: "3", or a victim's "None", "Jim" or "FalsePositive"
	State string // of a victim: "None", "unconscious"
	At    [3]float64
}

// maxHits bounds what waits for a client.
const maxHits = 64

// Hits are what a reader has found since they were last told: of each tag the newest sight. So a tag that answers once
// alone is told once, however seldom the client is told. Both ends may be on any goroutine.
type Hits struct {
	mu   sync.Mutex
	list []Hit
}

// Put adds h, or puts it in the place of an earlier sight of the same tag. The oldest of more than 64 is forgotten.
// Whoever simulates or drives the reader calls it each time that the reader has read. At is in the sensor's frame, m,
// in hal's axes.
func (q *Hits) Put(h Hit) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.list {
		if q.list[i].Tag == h.Tag {
			q.list[i] = h
			return
		}
	}
	if len(q.list) == maxHits {
		q.list = slices.Delete(q.list, 0, 1)
	}
	q.list = append(q.list, h)
}

// drain appends what was put since the last time to dst[:0], and forgets it.
func (q *Hits) drain(dst []Hit) []Hit {
	q.mu.Lock()
	defer q.mu.Unlock()
	dst = append(dst[:0], q.list...)
	clear(q.list)
	q.list = q.list[:0]
	return dst
}

// BodyPart is a part of a victim's body that a victim sensor sees. At is in the sensor's frame, m, in hal's axes.
type BodyPart struct {
	Name string
	At   [3]float64
}

// Parts are what a victim sensor sees now. Both ends may be on any goroutine.
type Parts struct {
	mu   sync.Mutex
	list []BodyPart
}

// Set makes n parts, of 64 at most, what is seen.
func (p *Parts) Set(n int, part func(i int) BodyPart) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = p.list[:0]
	for i := range min(n, maxHits) {
		p.list = append(p.list, part(i))
	}
}

// append appends what is seen to dst[:0].
func (p *Parts) append(dst []BodyPart) []BodyPart {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(dst[:0], p.list...)
}
