package rtps

import (
	"net/netip"
	"time"
)

const (
	maxHeld     = 256 // samples of one writer that wait for an earlier one
	maxAssembly = 4   // samples of one writer whose fragments are not complete
	maxFragment = 65500
	greetEvery  = time.Second
	maxGreets   = 10
)

// Sample is a sample that a reader gets. Payload, CDR with its header, is valid during the call.
type Sample struct {
	Writer   GUID
	Sequence int64
	Payload  []byte
	Related  Identity // of a reply: the request that it answers
	Vendor   [2]byte  // of its participant
	ended    bool
}

// Reader receives samples of the writers that match it.
type Reader struct {
	p        *Participant
	endpoint Endpoint
	handle   func(*Sample)
	inner    func(*Sample) // of a builtin reader: called under mu
	matched  int
}

// GUID is the reader's own.
func (r *Reader) GUID() GUID { return r.endpoint.GUID }

// Matched reports whether any writer matches.
func (r *Reader) Matched() bool {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	return r.matched > 0
}

// held is a sample that waits for an earlier one. gap: it is not to come.
type held struct {
	sample Sample
	gap    bool
}

// inbound is a matched writer of a peer, for one reader.
type inbound struct {
	reader   *Reader
	endpoint *Endpoint
	at       netip.AddrPort
	reliable bool
	next     int64 // to be delivered
	waiting  map[int64]held
	parts    map[int64]*assembly
	count    uint32 // of our acknowledgements and requests
	beats    uint32 // of its last heartbeat
	heard    bool
	greets   int
	greetAt  time.Time
}

// assembly is a sample in fragments.
type assembly struct {
	b       []byte
	have    []bool
	missing int
	size    int
	related Identity
}

// match adds a peer's writer where it matches. Under mu.
func (r *Reader) match(e *Endpoint, now time.Time) {
	if at, ok := r.p.matches(&r.endpoint, e, false); ok {
		r.admit(e, at, now)
	}
}

// admit adds a peer's writer. Under mu.
func (r *Reader) admit(e *Endpoint, at netip.AddrPort, now time.Time) {
	in := &inbound{reader: r, endpoint: e, at: at, reliable: r.endpoint.Reliable && e.Reliable, next: 1,
		waiting: map[int64]held{}, parts: map[int64]*assembly{}}
	r.matched++
	r.p.inbound[e.GUID] = append(r.p.inbound[e.GUID], in)
	in.greet(now)
}

// greet asks a writer that was not heard yet for a heartbeat, and returns when to do it again.
func (in *inbound) greet(now time.Time) time.Time {
	if !in.reliable || in.heard || in.greets >= maxGreets {
		return time.Time{}
	}
	if !now.Before(in.greetAt) {
		in.greets++
		in.greetAt = now.Add(greetEvery)
		in.acknowledge(&set{base: 1}, false)
	}
	return in.greetAt
}

// drop frees what waits. Under mu.
func (in *inbound) drop() {
	in.reader.matched--
	for n := range in.waiting {
		in.release(n)
	}
	for n := range in.parts {
		in.discard(n)
	}
}

func (in *inbound) release(n int64) {
	in.reader.p.memory -= len(in.waiting[n].sample.Payload)
	delete(in.waiting, n)
}

func (in *inbound) discard(n int64) {
	if a := in.parts[n]; a != nil {
		in.reader.p.memory -= len(a.b)
		delete(in.parts, n)
	}
}

func (in *inbound) begin() []byte {
	p := in.reader.p
	return appendDst(appendHeader(p.out[:0], p.prefix), in.endpoint.GUID.Prefix)
}

func (in *inbound) send(b []byte) {
	in.reader.p.out = b
	in.reader.p.transport.Send(b, in.at)
}

func (in *inbound) acknowledge(s *set, final bool) {
	in.count++
	in.send(appendAckNack(in.begin(), in.reader.endpoint.GUID.Entity, in.endpoint.GUID.Entity, s, in.count, final))
}

// deliver hands a sample on. Under mu; the function of the reader is called after it.
func (in *inbound) deliver(s Sample) {
	p := in.reader.p
	if in.reader.inner != nil {
		in.reader.inner(&s)
		return
	}
	if s.ended { // an instance that ends is no sample
		return
	}
	p.stats.Received++
	p.deliveries = append(p.deliveries, delivery{in.reader, s})
}

// take gets a complete sample. own: its payload may be kept.
func (in *inbound) take(s Sample, own bool) {
	n := s.Sequence
	switch {
	case n < in.next:
		return
	case !in.reliable:
		if in.next > 1 {
			in.reader.p.stats.Lost += uint64(n - in.next)
		}
		in.next = n + 1
		for old := range in.parts {
			if old < n {
				in.discard(old)
			}
		}
		in.deliver(s)
		return
	case n == in.next:
		in.next++
		in.deliver(s)
		in.drain()
		return
	}
	p := in.reader.p
	if _, have := in.waiting[n]; have {
		return
	}
	if len(in.waiting) >= maxHeld || n >= in.next+maxHeld || p.memory+len(s.Payload) > p.options.MaxMemory {
		p.stats.Dropped++ // it is asked for again
		return
	}
	if !own {
		s.Payload = append([]byte(nil), s.Payload...)
	}
	p.memory += len(s.Payload)
	in.waiting[n] = held{sample: s}
}

// drain delivers what waited for the sample before.
func (in *inbound) drain() {
	for {
		h, ok := in.waiting[in.next]
		if !ok {
			return
		}
		in.release(in.next)
		in.next++
		if !h.gap {
			in.deliver(h.sample)
		}
	}
}

// advance passes over what the writer no longer has, to n.
func (in *inbound) advance(n int64) {
	for in.next < n {
		h, ok := in.waiting[in.next]
		if ok && !h.gap {
			in.deliver(h.sample)
		} else if !ok && len(in.waiting) == 0 { // far: no need to count one by one
			in.reader.p.stats.Lost += uint64(n - in.next)
			in.next = n
			break
		}
		in.release(in.next)
		in.next++
	}
	for old := range in.parts {
		if old < in.next {
			in.discard(old)
		}
	}
	in.drain()
}

// fragments adds fragments of a sample.
func (in *inbound) fragments(d *data) bool {
	p := in.reader.p
	if d.size < 1 || d.size > maxFragment || d.count < 1 || d.first < 1 || d.total < 1 {
		return false
	}
	all := (d.total + d.size - 1) / d.size
	if d.first-1+d.count > all {
		return false
	}
	if d.sequence < in.next || in.reliable && d.sequence >= in.next+maxHeld {
		return true
	}
	if _, have := in.waiting[d.sequence]; have {
		return true
	}
	a := in.parts[d.sequence]
	if a == nil {
		if a = in.open(d, all); a == nil {
			p.stats.Dropped++
			return true
		}
	}
	if a.size != d.size || len(a.b) != d.total {
		return false
	}
	for i := range d.count {
		at := (d.first - 1 + i) * d.size
		n := min(d.size, d.total-at)
		if i*d.size+n > len(d.payload) {
			return false
		}
		if k := d.first - 1 + i; !a.have[k] {
			copy(a.b[at:at+n], d.payload[i*d.size:])
			a.have[k] = true
			a.missing--
		}
	}
	if a.missing == 0 {
		in.discard(d.sequence)
		in.take(Sample{Writer: in.endpoint.GUID, Sequence: d.sequence, Payload: a.b, Related: a.related,
			Vendor: in.endpoint.Vendor}, true)
	}
	return true
}

// open begins an assembly. It returns nil past the bounds.
func (in *inbound) open(d *data, all int) *assembly {
	p := in.reader.p
	if len(in.parts) >= maxAssembly { // a best effort reader wants the newest, a reliable one the oldest
		worst := d.sequence
		for n := range in.parts {
			if in.reliable && n > worst || !in.reliable && n < worst {
				worst = n
			}
		}
		if worst == d.sequence {
			return nil
		}
		in.discard(worst)
	}
	if d.total > p.options.MaxSample || p.memory+d.total > p.options.MaxMemory {
		return nil
	}
	a := &assembly{b: make([]byte, d.total), have: make([]bool, all), missing: all, size: d.size, related: d.related}
	p.memory += d.total
	in.parts[d.sequence] = a
	return a
}

// onHeartbeat answers a writer with what is missing. Under mu.
func (p *Participant) onHeartbeat(src Prefix, s *submessage) bool {
	if len(s.body) < 28 {
		return false
	}
	first, last, count := s.sequence(8), s.sequence(16), s.order.Uint32(s.body[24:])
	if first < 1 || last < 0 || last < first-1 {
		return false
	}
	for _, in := range p.inbound[GUID{src, s.entity(4)}] {
		if id := s.entity(0); id != 0 && id != in.reader.endpoint.GUID.Entity || !in.reliable {
			continue
		}
		if in.heard && int32(count-in.beats) <= 0 {
			continue
		}
		in.heard, in.beats = true, count
		if first > in.next {
			in.advance(first)
		}
		missing := set{base: in.next}
		asked := 0
		for n := in.next; n <= last && n < in.next+maxSet; n++ {
			if _, have := in.waiting[n]; have {
				continue
			}
			if in.parts[n] != nil {
				asked++
				continue
			}
			missing.add(n)
		}
		complete := missing.n == 0 && asked == 0
		if !complete || s.flags&2 == 0 {
			in.acknowledge(&missing, complete)
		}
		for n, a := range in.parts {
			if n <= last {
				in.request(n, a, len(a.have))
			}
		}
	}
	return true
}

// request asks for missing fragments up to the end-th.
func (in *inbound) request(n int64, a *assembly, end int) {
	var missing set
	for k := 0; k < min(end, len(a.have)); k++ {
		if a.have[k] {
			continue
		}
		if missing.base == 0 {
			missing.base = int64(k + 1)
		}
		if int64(k+1) >= missing.base+maxSet {
			break
		}
		missing.add(int64(k + 1))
	}
	if missing.n > 0 {
		in.count++
		in.send(appendNackFrag(in.begin(), in.reader.endpoint.GUID.Entity, in.endpoint.GUID.Entity, n, &missing,
			in.count))
	}
}

// onFragBeat answers a heartbeat of fragments. Under mu.
func (p *Participant) onFragBeat(src Prefix, s *submessage) bool {
	if len(s.body) < 24 {
		return false
	}
	for _, in := range p.inbound[GUID{src, s.entity(4)}] {
		if a := in.parts[s.sequence(8)]; a != nil && in.reliable {
			in.request(s.sequence(8), a, int(s.order.Uint32(s.body[16:])))
		}
	}
	return true
}

// onGap passes over what is not for us. Under mu.
func (p *Participant) onGap(src Prefix, s *submessage) bool {
	if len(s.body) < 28 {
		return false
	}
	start := s.sequence(8)
	gone, _, ok := s.set(s.sequence(16), 24)
	if !ok || start < 1 || gone.base < start {
		return false
	}
	for _, in := range p.inbound[GUID{src, s.entity(4)}] {
		if id := s.entity(0); id != 0 && id != in.reader.endpoint.GUID.Entity || !in.reliable {
			continue
		}
		in.heard = true
		if start <= in.next && gone.base > in.next {
			lost := p.stats.Lost // what is not for us is not lost
			in.advance(gone.base)
			p.stats.Lost = lost
		}
		skip := func(n int64) {
			if _, have := in.waiting[n]; !have && n >= in.next && n < in.next+maxHeld {
				in.discard(n)
				in.waiting[n] = held{gap: true}
			}
		}
		for n := max(start, in.next); n < min(gone.base, in.next+maxHeld); n++ {
			skip(n)
		}
		for i := range gone.n {
			if gone.has(i) {
				skip(gone.base + int64(i))
			}
		}
		in.drain()
	}
	return true
}
