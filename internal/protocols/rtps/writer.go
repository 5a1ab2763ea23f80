package rtps

import (
	"net/netip"
	"slices"
	"time"
)

const (
	beatFirst = 20 * time.Millisecond // after a sample that is not acknowledged
	beatLast  = 2 * time.Second
	// maxResend bounds the bytes that one request has sent again, so that a small message does not cause a flood.
	maxResend = 1 << 20
	overhead  = 256 // of a datagram and its submessages, bytes
)

// change is a sample of a writer.
type change struct {
	sequence int64
	payload  []byte
	at       time.Time
	related  Identity
	to       GUID // the only reader of it; zero: all
	disposed bool
	key      GUID
}

// Writer sends samples to the readers that match it.
type Writer struct {
	p        *Participant
	endpoint Endpoint
	// Under the participant's mu:
	ring    []change // of sequence n at n modulo its length
	last    int64
	readers map[GUID]*outbound
	targets []target
	count   uint32 // of heartbeats
	beatAt  time.Time
	wait    time.Duration
}

// outbound is a matched reader of a peer.
type outbound struct {
	endpoint *Endpoint
	at       netip.AddrPort
	start    int64 // its first sample
	acked    int64
	count    uint32 // of its last acknowledgement
	counted  bool
	nack     uint32 // of its last request of fragments
}

// target is a place to send to: one participant, and its reader if there is only one.
type target struct {
	prefix Prefix
	at     netip.AddrPort
	reader EntityID
}

// GUID is the writer's own.
func (w *Writer) GUID() GUID { return w.endpoint.GUID }

// Readers returns the peers' readers that match.
func (w *Writer) Readers() (all []*Endpoint) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	for _, r := range w.readers {
		all = append(all, r.endpoint)
	}
	return all
}

// Matched reports whether any reader matches.
func (w *Writer) Matched() bool {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	return len(w.readers) > 0
}

// Write sends a payload, CDR with its header, to all matched readers and keeps it. It does not wait for them.
func (w *Writer) Write(payload []byte) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	w.write(payload, Identity{}, GUID{}, time.Now())
}

// Reply sends a payload to one reader, as the answer to a request where related is not zero.
func (w *Writer) Reply(payload []byte, to GUID, related Identity) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	w.write(payload, related, to, time.Now())
}

// write is Write. Under mu.
func (w *Writer) write(payload []byte, related Identity, to GUID, now time.Time) {
	w.last++
	c := &w.ring[int(w.last)%len(w.ring)]
	*c = change{sequence: w.last, payload: append(c.payload[:0], payload...), at: now, related: related, to: to}
	if w.p.ended {
		return
	}
	for i := range w.targets {
		t := &w.targets[i]
		switch {
		case to == GUID{}:
			w.send(c, t, t.reader)
		case to.Prefix == t.prefix:
			w.send(c, t, to.Entity)
		case w.endpoint.Reliable:
			b := w.begin(t, now)
			b = appendGap(b, t.reader, w.endpoint.GUID.Entity, c.sequence, c.sequence+1)
			w.finish(w.appendBeat(b, t.reader, false), t)
		}
	}
	if w.endpoint.Reliable && len(w.targets) > 0 {
		w.wait = beatFirst
		if at := now.Add(w.wait); w.beatAt.IsZero() || at.Before(w.beatAt) {
			w.beatAt = at
			rouse(w.p.wake)
		}
	}
}

// first is the oldest sample that is kept; last+1 without one.
func (w *Writer) first() int64 { return max(1, w.last-int64(len(w.ring))+1) }

// at returns a kept sample.
func (w *Writer) at(n int64) *change {
	if n < w.first() || n > w.last {
		return nil
	}
	return &w.ring[int(n)%len(w.ring)]
}

// begin starts a datagram to t in the participant's buffer; finish sends it.
func (w *Writer) begin(t *target, at time.Time) []byte {
	return appendTime(appendDst(appendHeader(w.p.out[:0], w.p.prefix), t.prefix), at)
}

func (w *Writer) finish(b []byte, t *target) {
	w.p.out = b
	w.p.transport.Send(b, t.at)
}

func (w *Writer) appendBeat(b []byte, reader EntityID, final bool) []byte {
	w.count++
	return appendHeartbeat(b, reader, w.endpoint.GUID.Entity, w.first(), w.last, w.count, final)
}

// send sends a change to t, of several datagrams where it is long, with a heartbeat.
func (w *Writer) send(c *change, t *target, reader EntityID) {
	id := w.endpoint.GUID.Entity
	b := w.begin(t, c.at)
	if len(c.payload)+overhead <= w.p.datagram {
		b = appendData(b, reader, id, c)
		if w.endpoint.Reliable {
			b = w.appendBeat(b, t.reader, false)
		}
		w.finish(b, t)
		return
	}
	w.sendFragments(c, t, reader, 0, w.fragments(c))
	if w.endpoint.Reliable {
		w.finish(w.appendBeat(w.begin(t, c.at), t.reader, false), t)
	}
}

// fragments is how many a change has.
func (w *Writer) fragments(c *change) int { return (len(c.payload) + w.p.fragment - 1) / w.p.fragment }

// sendFragments sends fragments from first to before end.
func (w *Writer) sendFragments(c *change, t *target, reader EntityID, first, end int) {
	each := max(1, (w.p.datagram-overhead)/w.p.fragment)
	for ; first < end; first += each {
		n := min(each, end-first)
		w.finish(appendFragments(w.begin(t, c.at), reader, w.endpoint.GUID.Entity, c, first, n, w.p.fragment), t)
	}
}

// beat sends a heartbeat to who has not acknowledged all, where it is due, and returns when the next one is; the zero
// time if none is. Under mu.
func (w *Writer) beat(now time.Time) time.Time {
	if w.beatAt.IsZero() || now.Before(w.beatAt) {
		return w.beatAt
	}
	behind := false
	for i := range w.targets {
		t := &w.targets[i]
		for g, r := range w.readers {
			if g.Prefix == t.prefix && r.at == t.at && r.endpoint.Reliable && r.acked < w.last {
				w.finish(w.appendBeat(w.begin(t, now), t.reader, false), t)
				behind = true
				break
			}
		}
	}
	if !behind {
		w.beatAt = time.Time{}
		return w.beatAt
	}
	w.wait = min(2*max(w.wait, beatFirst), beatLast)
	w.beatAt = now.Add(w.wait)
	return w.beatAt
}

// match adds a peer's reader where it matches. Under mu.
func (w *Writer) match(e *Endpoint, now time.Time) {
	if at, ok := w.p.matches(&w.endpoint, e, true); ok {
		w.admit(e, at, now)
	}
}

// admit adds a peer's reader. Under mu.
func (w *Writer) admit(e *Endpoint, at netip.AddrPort, now time.Time) {
	r := &outbound{endpoint: e, at: at, start: w.last + 1, acked: w.last}
	if w.endpoint.Transient && e.Transient {
		r.start, r.acked = 1, 0
	}
	w.readers[e.GUID] = r
	w.retarget()
	if !w.endpoint.Reliable || !e.Reliable {
		return
	}
	t := &target{e.GUID.Prefix, at, e.GUID.Entity}
	b := w.begin(t, now)
	if r.start > w.first() { // it starts late
		b = appendGap(b, t.reader, w.endpoint.GUID.Entity, w.first(), r.start)
	}
	w.finish(w.appendBeat(b, t.reader, false), t)
	w.wait, w.beatAt = beatFirst, now.Add(beatFirst)
}

// retarget lists where to send to. Under mu.
func (w *Writer) retarget() {
	w.targets = w.targets[:0]
	for g, r := range w.readers {
		i := slices.IndexFunc(w.targets, func(t target) bool { return t.prefix == g.Prefix && t.at == r.at })
		if i < 0 {
			w.targets = append(w.targets, target{g.Prefix, r.at, g.Entity})
			continue
		}
		w.targets[i].reader = 0 // all of its readers
	}
}

// onAckNack does what a reader asks for. Under mu.
func (p *Participant) onAckNack(src Prefix, s *submessage) bool {
	if len(s.body) < 24 {
		return false
	}
	w := p.writers[s.entity(4)]
	reader := GUID{src, s.entity(0)}
	asked, rest, ok := s.set(s.sequence(8), 16)
	if !ok || len(rest) < 4 || asked.base < 0 {
		return false
	}
	if w == nil || w.readers[reader] == nil {
		return true
	}
	r, count := w.readers[reader], s.order.Uint32(rest)
	if r.counted && int32(count-r.count) <= 0 {
		return true
	}
	r.count, r.counted = count, true
	if base := min(asked.base, w.last+1); base-1 > r.acked {
		r.acked = base - 1
	}
	if r.acked >= w.last && s.flags&2 != 0 {
		return true
	}
	t := &target{src, r.at, reader.Entity}
	b := w.resend(r, t, &asked)
	w.finish(w.appendBeat(b, t.reader, r.acked >= w.last), t)
	if r.acked < w.last && w.beatAt.IsZero() {
		w.wait, w.beatAt = beatFirst, time.Now().Add(beatFirst)
		rouse(p.wake)
	}
	return true
}

// resend sends what is asked for again, and a GAP for what is gone or not for r. It returns the datagram that it has
// begun and not sent.
func (w *Writer) resend(r *outbound, t *target, asked *set) []byte {
	id, sent := w.endpoint.GUID.Entity, 0
	now := time.Now()
	b := w.begin(t, now)
	for i := uint32(0); i < asked.n && sent < maxResend; i++ {
		n := asked.base + int64(i)
		if !asked.has(i) || n > w.last || n < 1 {
			continue
		}
		c := w.at(n)
		if len(b)+overhead > w.p.datagram {
			w.finish(b, t)
			b = w.begin(t, now)
		}
		if c == nil || n < r.start || c.to != (GUID{}) && c.to != r.endpoint.GUID {
			b = appendGap(b, t.reader, id, n, n+1)
			continue
		}
		w.p.stats.Resent++
		sent += len(c.payload)
		if len(c.payload)+overhead > w.p.datagram {
			w.finish(b, t)
			w.sendFragments(c, t, t.reader, 0, min(w.fragments(c), maxResend/w.p.fragment))
			b = w.begin(t, now)
			continue
		}
		if len(b)+len(c.payload)+overhead > w.p.datagram {
			w.finish(b, t)
			b = w.begin(t, now)
		}
		b = appendData(b, t.reader, id, c)
	}
	return b
}

// onNackFrag sends fragments again. Under mu.
func (p *Participant) onNackFrag(src Prefix, s *submessage) bool {
	if len(s.body) < 28 {
		return false
	}
	w := p.writers[s.entity(4)]
	reader := GUID{src, s.entity(0)}
	asked, rest, ok := s.set(int64(s.order.Uint32(s.body[16:])), 20)
	if !ok || len(rest) < 4 || asked.base < 1 {
		return false
	}
	if w == nil || w.readers[reader] == nil {
		return true
	}
	r, count := w.readers[reader], s.order.Uint32(rest)
	if int32(count-r.nack) <= 0 {
		return true
	}
	r.nack = count
	t := &target{src, r.at, reader.Entity}
	c := w.at(s.sequence(8))
	if c == nil || c.sequence < r.start || c.to != (GUID{}) && c.to != reader {
		n := s.sequence(8)
		b := appendGap(w.begin(t, time.Now()), t.reader, w.endpoint.GUID.Entity, n, n+1)
		w.finish(w.appendBeat(b, t.reader, false), t)
		return true
	}
	all := w.fragments(c)
	for i, sent := uint32(0), 0; i < asked.n && sent < maxResend; i++ {
		n := int(asked.base) + int(i) - 1
		if !asked.has(i) || n >= all {
			continue
		}
		end := n + 1
		for ; i+1 < asked.n && asked.has(i+1) && end < all; i++ {
			end++
		}
		w.sendFragments(c, t, t.reader, n, end)
		sent += (end - n) * p.fragment
	}
	p.stats.Resent++
	w.finish(w.appendBeat(w.begin(t, time.Now()), t.reader, false), t)
	return true
}
