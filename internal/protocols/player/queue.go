package player

import (
	"errors"
	"slices"
	"sync"
)

const (
	maxQueue = 1024    // data messages that wait for a client, as in Player
	maxRules = 64      // of one client
	maxBytes = 4 << 20 // of answers and data that wait
)

var errDeaf = errors.New("player: the client does not read its answers")

// queue is the pending messages of one client.
type queue struct {
	mu       sync.Mutex
	answers  []queued // to requests: always sent
	data     []queued
	bytes    int
	pull     bool
	pulled   bool // in pull mode: the client has requested data
	pullSeq  uint32
	rules    []replaceRule
	overflow uint32 // data messages dropped since the last SYNCH
	wake     chan struct{}
}

type queued struct {
	header Header
	bytes  []byte // header and payload
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

func (q *queue) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// answer queues an answer. It fails where the client lets too many wait.
func (q *queue) answer(h Header, b []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.bytes+len(b) > maxBytes+maxAnswer {
		return errDeaf
	}
	q.answers, q.bytes = append(q.answers, queued{h, b}), q.bytes+len(b)
	q.rouse()
	return nil
}

// rule is the last rule for a data message; a new client accepts all.
func (q *queue) rule(h *Header) int32 {
	fits := func(want int32, got int) bool { return want == -1 || int(want) == got }
	for _, r := range slices.Backward(q.rules) {
		if fits(r.Interface, int(h.Device.Interface)) && fits(r.Index, int(h.Device.Index)) &&
			fits(r.Type, int(h.Type)) && fits(r.Subtype, int(h.Subtype)) {
			return r.Replace
		}
	}
	return ruleAccept
}

// put queues data by the client's rules; messages that do not fit are dropped and counted.
func (q *queue) put(h Header, b []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch q.rule(&h) {
	case ruleIgnore:
		return
	case ruleReplace:
		i := slices.IndexFunc(q.data, func(d queued) bool {
			return d.header.Device == h.Device && d.header.Type == h.Type && d.header.Subtype == h.Subtype
		})
		if i >= 0 {
			q.bytes -= len(q.data[i].bytes)
			q.data = slices.Delete(q.data, i, i+1)
		}
	}
	if len(q.data) >= maxQueue || q.bytes+len(b) > maxBytes {
		q.overflow++
		return
	}
	q.data, q.bytes = append(q.data, queued{h, b}), q.bytes+len(b)
	q.rouse()
}

// room reports whether data of a kind has a chance to be queued.
func (q *queue) room() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.data) < maxQueue && q.bytes < maxBytes || len(q.rules) > 0
}

// addRule adds a rule, the last of which counts.
func (q *queue) addRule(r replaceRule) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.rules) >= maxRules || r.Replace < ruleAccept || r.Replace > ruleIgnore {
		return false
	}
	q.rules = append(q.rules, r)
	return true
}

// mode sets push or pull.
func (q *queue) mode(pull bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pull, q.pulled = pull, false
	q.rouse()
}

// ask lets the data of pull mode go, and a SYNCH after it.
func (q *queue) ask(seq uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pulled, q.pullSeq = q.pull, seq
	q.rouse()
}

// take appends the messages that may be sent now to dst. synch reports that a SYNCH follows, with the count of dropped
// messages.
func (q *queue) take(dst []byte) (out []byte, synch bool, overflow uint32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	dst = q.drain(dst, &q.answers)
	if q.pull && !q.pulled || len(q.data) == 0 {
		return dst, false, 0
	}
	dst = q.drain(dst, &q.data)
	if synch = q.pulled; synch {
		overflow, q.overflow, q.pulled = q.overflow, 0, false
	}
	return dst, synch, overflow
}

// drain moves the messages of list to dst.
func (q *queue) drain(dst []byte, list *[]queued) []byte {
	for _, m := range *list {
		dst, q.bytes = append(dst, m.bytes...), q.bytes-len(m.bytes)
	}
	*list = (*list)[:0]
	return dst
}
