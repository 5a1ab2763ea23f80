package rtps

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"
)

// maxOfPeer bounds the endpoints of one participant.
const maxOfPeer = 2048

// pick returns the first address that the transport serves.
func (p *Participant) pick(all []netip.AddrPort) (netip.AddrPort, bool) {
	for _, at := range all { // loopback, where it is one of several, costs least
		if at.Addr().IsLoopback() && p.transport.Reachable(at) {
			return at, true
		}
	}
	i := slices.IndexFunc(all, p.transport.Reachable)
	if i < 0 {
		return netip.AddrPort{}, false
	}
	return all[i], true
}

// onParticipant reads a peer's SPDP. Under mu.
func (p *Participant) onParticipant(src Prefix, d *data) {
	if d.hasKey || d.ended {
		if endOf(d.payload, pidParticipant) == (GUID{src, participantID}) {
			p.remove(src)
		}
		return
	}
	a, err := parseAnnouncement(d.payload)
	if err != nil || a.guid.Prefix != src {
		p.stats.Malformed++
		return
	}
	if a.hasDomain && a.domain != p.options.Domain || a.tag != "" {
		return
	}
	discovery, ok := p.pick(a.discovery)
	at, ok2 := p.pick(a.data)
	if !ok2 {
		at = discovery
	}
	now := time.Now()
	q := p.peers[src]
	switch {
	case !ok, q == nil && len(p.peers) >= p.options.MaxPeers:
		p.stats.Refused++
		return
	case q != nil:
		q.seen, q.lease, q.discovery, q.data = now, a.lease, discovery, at
		return
	}
	q = &peer{prefix: src, vendor: a.vendor, discovery: discovery, data: at, lease: a.lease, seen: now}
	p.peers[src] = q
	c := change{sequence: 1, payload: p.announcement()}
	b := appendDst(appendHeader(p.out[:0], p.prefix), src)
	p.transport.Send(appendData(b, spdpReader, spdpWriter, &c), discovery)
	for _, id := range [...]EntityID{publicationWriter, subscriptionWriter, livelinessWriter} {
		w, r := p.writers[id], p.readers[id+5]
		w.admit(&Endpoint{GUID: GUID{src, id + 5}, Reliable: true, Transient: true}, discovery, now)
		r.admit(&Endpoint{GUID: GUID{src, id}, Reliable: true, Transient: true, Vendor: a.vendor}, discovery, now)
	}
	rouse(p.changed)
	rouse(p.wake)
}

// endOf reads the key of an instance that ended.
func endOf(payload []byte, key uint16) (g GUID) {
	list(payload, func(_ binary.ByteOrder, id uint16, v []byte) bool {
		if id == key && len(v) >= 16 {
			g = GUIDOf(v)
		}
		return true
	})
	return g
}

// onEndpoint reads a peer's SEDP. Under mu.
func (p *Participant) onEndpoint(s *Sample, writer bool) {
	q := p.peers[s.Writer.Prefix]
	if q == nil {
		return
	}
	if s.ended {
		if g := endOf(s.Payload, pidEndpoint); g.Prefix == q.prefix {
			p.forget(g)
			rouse(p.changed)
		}
		return
	}
	e, err := parseEndpoint(s.Payload, writer)
	if err != nil || e.GUID.Prefix != q.prefix || isReader(e.GUID.Entity) == writer {
		p.stats.Malformed++
		return
	}
	if e.Vendor = q.vendor; p.remote[e.GUID] != nil {
		return // what may change of it does not concern us
	}
	ofPeer := 0
	if len(p.remote) >= maxOfPeer {
		for g := range p.remote {
			if g.Prefix == q.prefix {
				ofPeer++
			}
		}
	}
	if len(p.remote) >= p.options.MaxEndpoints || ofPeer >= maxOfPeer {
		p.stats.Refused++
		return
	}
	p.remote[e.GUID] = e
	now := time.Now()
	if writer {
		for _, r := range p.readers {
			r.match(e, now)
		}
	} else {
		for _, w := range p.writers {
			w.match(e, now)
		}
	}
	rouse(p.changed)
	rouse(p.wake)
}

// matches reports whether two endpoints are of one topic and agree. at is where the peer's is reached. Under mu.
func (p *Participant) matches(ours, theirs *Endpoint, writer bool) (at netip.AddrPort, ok bool) {
	if ours.Topic != theirs.Topic || ours.Topic == "" {
		return at, false
	}
	why := ""
	switch {
	case ours.Type != theirs.Type:
		why = "type"
	case writer:
		why = incompatible(ours, theirs)
	default:
		why = incompatible(theirs, ours)
	}
	q := p.peers[theirs.GUID.Prefix]
	if why != "" || q == nil {
		p.stats.Incompatible++
		return at, false
	}
	if at, ok = p.pick(theirs.locators); !ok {
		at = q.data
	}
	return at, true
}

// remove forgets a peer and all that is its own. Under mu.
func (p *Participant) remove(src Prefix) {
	if p.peers[src] == nil {
		return
	}
	delete(p.peers, src)
	for g := range p.remote {
		if g.Prefix == src {
			p.forget(g)
		}
	}
	for _, id := range [...]EntityID{publicationWriter, subscriptionWriter, livelinessWriter} {
		p.forget(GUID{src, id})
		p.forget(GUID{src, id + 5})
	}
	rouse(p.changed)
}

// forget ends the matches of a peer's endpoint. Under mu.
func (p *Participant) forget(g GUID) {
	delete(p.remote, g)
	for _, w := range p.writers {
		if w.readers[g] != nil {
			delete(w.readers, g)
			w.retarget()
		}
	}
	for _, in := range p.inbound[g] {
		in.drop()
	}
	delete(p.inbound, g)
}
