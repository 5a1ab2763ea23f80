package rtps

import (
	"net/netip"
	"time"
)

// handle takes a datagram: state under mu, then the readers' functions.
func (p *Participant) handle(b []byte, _ netip.AddrPort) {
	p.rx.Lock()
	defer p.rx.Unlock()
	func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.receive(b) {
			p.stats.Malformed++
		}
	}()
	for i := range p.deliveries {
		d := &p.deliveries[i]
		d.to.handle(&d.sample)
		*d = delivery{}
	}
	p.deliveries = p.deliveries[:0]
}

// receive reads one message. It reports false where a part of it is malformed. Under mu.
func (p *Participant) receive(b []byte) bool {
	if len(b) < headerSize || string(b[:4]) != "RTPS" || b[4] != 2 || p.ended {
		return p.ended
	}
	src := Prefix(b[8:20])
	if src == p.prefix {
		return true // our own multicast
	}
	ours := true
	for b = b[headerSize:]; len(b) > 0; {
		s, rest, ok := nextSub(b)
		if !ok {
			return false
		}
		b = rest
		switch s.kind {
		case kindInfoDst:
			if len(s.body) < 12 {
				return false
			}
			to := Prefix(s.body)
			ours = to == p.prefix || to == Prefix{}
		case kindInfoSrc:
			if len(s.body) < 20 {
				return false
			}
			if src = Prefix(s.body[8:20]); src == p.prefix {
				return true
			}
		default:
			if ours && !p.entitySub(src, &s) {
				return false
			}
		}
	}
	return true
}

// entitySub handles a submessage from or to an entity.
func (p *Participant) entitySub(src Prefix, s *submessage) bool {
	if q := p.peers[src]; q != nil {
		q.seen = time.Now()
	}
	switch s.kind {
	case kindData, kindDataFrag:
		d, ok := s.data()
		if !ok {
			return false
		}
		if d.writer == spdpWriter && s.kind == kindData {
			p.onParticipant(src, &d)
			return true
		}
		return p.onData(src, s, &d)
	case kindHeartbeat:
		return p.onHeartbeat(src, s)
	case kindAckNack:
		return p.onAckNack(src, s)
	case kindGap:
		return p.onGap(src, s)
	case kindNackFrag:
		return p.onNackFrag(src, s)
	case kindFragBeat:
		return p.onFragBeat(src, s)
	}
	return true // INFO_TS, PAD, a vendor's own, a later version's
}

// onData gives a sample, or fragments of one, to the readers that match its writer.
func (p *Participant) onData(src Prefix, s *submessage, d *data) bool {
	ok := true
	writer := GUID{src, d.writer}
	for _, in := range p.inbound[writer] {
		if d.reader != 0 && d.reader != in.reader.endpoint.GUID.Entity {
			continue
		}
		if s.kind == kindDataFrag {
			ok = in.fragments(d) && ok
			continue
		}
		sample := Sample{Writer: writer, Sequence: d.sequence, Payload: d.payload, Related: d.related,
			Vendor: in.endpoint.Vendor, ended: d.hasKey || d.ended}
		in.take(sample, false)
	}
	return ok
}
