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

// maxHits bounds the hits that are pending for a client.
const maxHits = 64

// Hits holds the tags that a reader has found since the last report, with the newest sighting of each. So a tag that
// answers only once is reported once, even at a low report rate. Safe for concurrent use.
type Hits struct {
	mu   sync.Mutex
	list []Hit
}

// Put adds h, or replaces an earlier sighting of the same tag. Above 64 tags the oldest is dropped. The simulation or
// the driver of the reader calls Put after each reading. h.At is in the sensor's frame, in hal's axes, m.
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

// drain appends the pending hits to dst[:0] and clears them.
func (q *Hits) drain(dst []Hit) []Hit {
	q.mu.Lock()
	defer q.mu.Unlock()
	dst = append(dst[:0], q.list...)
	clear(q.list)
	q.list = q.list[:0]
	return dst
}

// BodyPart is a part of a victim's body that a victim sensor sees. At is in the sensor's frame, in hal's axes, m.
type BodyPart struct {
	Name string
	At   [3]float64
}

// Parts holds the body parts that a victim sensor sees now. Safe for concurrent use.
type Parts struct {
	mu   sync.Mutex
	list []BodyPart
}

// Set replaces the visible parts by n parts, at most 64.
func (p *Parts) Set(n int, part func(i int) BodyPart) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = p.list[:0]
	for i := range min(n, maxHits) {
		p.list = append(p.list, part(i))
	}
}

// append appends the visible parts to dst[:0].
func (p *Parts) append(dst []BodyPart) []BodyPart {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(dst[:0], p.list...)
}
