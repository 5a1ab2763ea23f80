package rtps

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Options are a participant's. A zero value is the default.
type Options struct {
	Domain   uint32
	UserData string
	Lease    time.Duration // peers forget a participant that they do not hear for so long; 20 s
	Prefix   Prefix        // zero: random
	// Bounds of what peers may cost: participants, 64; endpoints of all of them, 4096; bytes of one sample, 16 MiB; of
	// all samples that are not complete or in order, 64 MiB.
	MaxPeers, MaxEndpoints, MaxSample, MaxMemory int
	// Contain is deferred in each goroutine: hal.Rig.Contain. nil: a panic ends the program.
	Contain func(what string)
}

const (
	maxEndpoints  = 256 // ours
	announceFirst = 100 * time.Millisecond
	announceEvery = 3 * time.Second
	firstCount    = 5 // announcements at once
)

// Stats counts what a participant has met.
type Stats struct {
	Peers, Endpoints       int    // now
	Malformed              uint64 // messages or discovery data
	Refused                uint64 // peers and endpoints past the bounds or at addresses that are not served
	Incompatible           uint64 // endpoints of the same topic with another type or quality of service
	Dropped                uint64 // samples and fragments past the bounds
	Resent, Lost, Received uint64 // samples: sent again; passed over by a reader of ours; delivered
}

// Participant is one participant of a domain. Its methods may be called from any goroutine.
type Participant struct {
	options            Options
	transport          Transport
	prefix             Prefix
	datagram, fragment int
	changed, wake      chan struct{}

	rx         sync.Mutex // one datagram at a time
	deliveries []delivery

	mu                 sync.Mutex
	peers              map[Prefix]*peer
	remote             map[GUID]*Endpoint
	writers            map[EntityID]*Writer
	readers            map[EntityID]*Reader
	inbound            map[GUID][]*inbound // by the peer's writer
	publications, subs *Writer
	alive              *Writer
	announced          int
	announceAt         time.Time
	aliveAt            time.Time
	keys               uint32
	memory             int
	out                []byte
	stats              Stats
	ended              bool
}

// peer is another participant.
type peer struct {
	prefix          Prefix
	vendor          [2]byte
	discovery, data netip.AddrPort
	lease           time.Duration
	seen            time.Time
}

// delivery is a sample on its way to a reader's function.
type delivery struct {
	to     *Reader
	sample Sample
}

// New returns a participant over t, which it owns. It is silent until Run.
func New(t Transport, o Options) (*Participant, error) {
	for _, d := range []struct {
		at    *int
		usual int
	}{{&o.MaxPeers, 64}, {&o.MaxEndpoints, 4096}, {&o.MaxSample, 16 << 20}, {&o.MaxMemory, 64 << 20}} {
		if *d.at == 0 {
			*d.at = d.usual
		}
	}
	o.Contain = orNothing(o.Contain)
	if o.Lease == 0 {
		o.Lease = 20 * time.Second
	}
	p := &Participant{options: o, transport: t, prefix: o.Prefix, changed: make(chan struct{}, 1),
		wake: make(chan struct{}, 1), peers: map[Prefix]*peer{}, remote: map[GUID]*Endpoint{},
		writers: map[EntityID]*Writer{}, readers: map[EntityID]*Reader{}, inbound: map[GUID][]*inbound{}}
	p.datagram, p.fragment = t.Sizes()
	if p.prefix == (Prefix{}) {
		if _, err := rand.Read(p.prefix[2:]); err != nil {
			return nil, fmt.Errorf("rtps: %w", err)
		}
		copy(p.prefix[:], vendor[:])
	}
	builtin := func(id EntityID, depth int) *Writer {
		w := &Writer{p: p, endpoint: Endpoint{GUID: GUID{p.prefix, id}, Reliable: true, Transient: true, Depth: depth},
			ring: make([]change, depth), readers: map[GUID]*outbound{}}
		p.writers[id] = w
		return w
	}
	p.publications = builtin(publicationWriter, maxEndpoints)
	p.subs = builtin(subscriptionWriter, maxEndpoints)
	p.alive = builtin(livelinessWriter, 1)
	for id, f := range map[EntityID]func(*Sample){
		publicationReader:  func(s *Sample) { p.onEndpoint(s, true) },
		subscriptionReader: func(s *Sample) { p.onEndpoint(s, false) },
		livelinessReader:   func(*Sample) {}, // any message of a peer renews its lease
	} {
		p.readers[id] = &Reader{p: p, endpoint: Endpoint{GUID: GUID{p.prefix, id}, Reliable: true, Transient: true},
			inner: f}
	}
	return p, nil
}

// orNothing is contain, or what does nothing.
func orNothing(contain func(string)) func(string) {
	if contain == nil {
		return func(string) {}
	}
	return contain
}

// UserData is what a peer's endpoint says of itself, "" if it is unknown.
func (p *Participant) UserData(g GUID) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.remote[g]; e != nil {
		return e.UserData
	}
	return ""
}

// Prefix is the participant's own.
func (p *Participant) Prefix() Prefix { return p.prefix }

// GUID is the participant's own.
func (p *Participant) GUID() GUID { return GUID{p.prefix, participantID} }

// Changed receives after peers or matches have changed.
func (p *Participant) Changed() <-chan struct{} { return p.changed }

// Alive reports whether a peer is known and within its lease.
func (p *Participant) Alive(peer Prefix) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peers[peer] != nil
}

// Stats returns the counts.
func (p *Participant) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Peers, s.Endpoints = len(p.peers), len(p.remote)
	return s
}

// Run takes part until ctx ends, then says so to its peers and closes the transport.
func (p *Participant) Run(ctx context.Context) error {
	var serving sync.WaitGroup
	serving.Go(func() {
		defer p.options.Contain("rtps receiver")
		p.transport.Serve(p.handle)
	})
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-p.wake:
		case <-timer.C:
		}
		p.mu.Lock()
		next := p.tick(time.Now())
		p.mu.Unlock()
		timer.Reset(max(0, time.Until(next)))
	}
	p.mu.Lock()
	p.leave()
	p.ended = true
	p.mu.Unlock()
	p.transport.Close()
	serving.Wait()
	return ctx.Err()
}

// rouse makes Run look at what is due. Under mu.
func rouse(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// tick does what is due and returns when it is to be called again. Under mu.
func (p *Participant) tick(now time.Time) (next time.Time) {
	if !now.Before(p.announceAt) {
		p.announce()
		wait := min(announceEvery, p.options.Lease/4)
		if p.announced++; p.announced < firstCount {
			wait = announceFirst
		}
		p.announceAt = now.Add(wait)
	}
	if !now.Before(p.aliveAt) {
		p.aliveAt = now.Add(p.options.Lease / 3)
		if len(p.alive.readers) > 0 {
			b := append([]byte{0, 1, 0, 0}, p.prefix[:]...)
			p.alive.write(append(b, 0, 0, 0, 1, 0, 0, 0, 0), Identity{}, GUID{}, now) // automatic, no data
		}
	}
	next = p.announceAt
	if p.aliveAt.Before(next) {
		next = p.aliveAt
	}
	for _, q := range p.peers {
		end := q.seen.Add(q.lease)
		if !now.Before(end) {
			p.remove(q.prefix)
			continue
		}
		if end.Before(next) {
			next = end
		}
	}
	for _, w := range p.writers {
		if at := w.beat(now); !at.IsZero() && at.Before(next) {
			next = at
		}
	}
	for _, all := range p.inbound {
		for _, in := range all {
			if at := in.greet(now); !at.IsZero() && at.Before(next) {
				next = at
			}
		}
	}
	return next
}

// announce sends SPDP to where participants may be, and to those that are known. Under mu.
func (p *Participant) announce() {
	c := change{sequence: 1, payload: p.announcement()}
	b := appendData(appendHeader(p.out[:0], p.prefix), spdpReader, spdpWriter, &c)
	p.out = b
	all := p.transport.Announce()
	for _, at := range all {
		p.transport.Send(b, at)
	}
	for _, q := range p.peers {
		if !slices.Contains(all, q.discovery) {
			p.transport.Send(b, q.discovery)
		}
	}
}

// leave says that this participant ends. Under mu.
func (p *Participant) leave() {
	me := GUID{p.prefix, participantID}
	key := appendParameter([]byte{0, 3, 0, 0}, pidParticipant, me.Append(nil)...)
	c := change{sequence: 2, payload: appendParameter(key, pidSentinel), disposed: true, key: me}
	b := appendData(appendHeader(p.out[:0], p.prefix), spdpReader, spdpWriter, &c)
	for _, at := range p.transport.Announce() {
		p.transport.Send(b, at)
	}
	for _, q := range p.peers {
		p.transport.Send(b, q.discovery)
	}
}

// NewWriter adds a writer. Depth is the number of samples that it keeps.
func (p *Participant) NewWriter(e Endpoint) (*Writer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.number(&e, 3); err != nil {
		return nil, err
	}
	w := &Writer{p: p, endpoint: e, ring: make([]change, e.Depth), readers: map[GUID]*outbound{}}
	p.writers[e.GUID.Entity] = w
	p.publications.write(e.describe(), Identity{}, GUID{}, time.Now())
	for _, r := range p.remote {
		if isReader(r.GUID.Entity) {
			w.match(r, time.Now())
		}
	}
	return w, nil
}

// NewReader adds a reader. handle gets each sample, one at a time for all readers; it must not block, and keep nothing
// of the sample.
func (p *Participant) NewReader(e Endpoint, handle func(*Sample)) (*Reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.number(&e, 4); err != nil {
		return nil, err
	}
	r := &Reader{p: p, endpoint: e, handle: handle}
	p.readers[e.GUID.Entity] = r
	p.subs.write(e.describe(), Identity{}, GUID{}, time.Now())
	for _, w := range p.remote {
		if !isReader(w.GUID.Entity) {
			r.match(w, time.Now())
		}
	}
	return r, nil
}

// number gives an endpoint of ours its id. Under mu.
func (p *Participant) number(e *Endpoint, kind uint32) error {
	switch {
	case p.keys >= maxEndpoints:
		return fmt.Errorf("rtps: endpoint %s: got more than %d", e.Topic, maxEndpoints)
	case e.Topic == "" || e.Type == "" || len(e.Topic) >= maxName || len(e.Type) >= maxName:
		return fmt.Errorf("rtps: endpoint: got topic %.40q, type %.40q, want names below %d bytes", e.Topic, e.Type,
			maxName)
	}
	p.keys++
	e.GUID = GUID{p.prefix, EntityID(p.keys<<8 | kind)}
	e.Depth = max(1, e.Depth)
	e.deadline, e.alive = infinite, infinite
	return nil
}

func isReader(id EntityID) bool { return id&0x3f == 4 || id&0x3f == 7 }
