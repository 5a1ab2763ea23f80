package servo

// Framer finds packets in a stream of bytes that may begin, end and be damaged anywhere. A vendor's parser embeds one
// and sets its rules. The result does not depend on how the stream is cut.
type Framer struct {
	Garbage     uint64 // bytes dropped
	BadChecksum uint64 // packets with a bad checksum

	rules Rules
	buf   []byte // fixed capacity; buf[at:] is unread
	at    int
}

// Rules are the format of a protocol's packets.
type Rules struct {
	// First reports whether a packet can begin with b.
	First func(b byte) bool
	// Frame returns the length of the packet that head begins with, 0 if more bytes are needed, and false if
	// head cannot begin a packet. Each byte is judged as soon as it is there.
	Frame func(head []byte) (n int, ok bool)
	// Check reports whether a whole packet is sound.
	Check func(packet []byte) bool
	// Unchecked: packets have no checksum, so received bytes that form no reply count as damaged.
	Unchecked bool
}

// NewFramer returns a framer for packets of at most longest bytes.
func NewFramer(longest int, r Rules) Framer {
	return Framer{rules: r, buf: make([]byte, 0, 2*longest)}
}

// Reset discards all buffered bytes; the counters stay.
func (p *Framer) Reset() { p.buf, p.at = p.buf[:0], 0 }

// Buffered is the number of bytes fed and not yet part of a packet or dropped.
func (p *Framer) Buffered() int { return len(p.buf) - p.at }

// Feed takes bytes of b and returns how many, all of them when b is no longer than a packet and Frame has been called
// until it returned nil. It ends the life of the last packet.
func (p *Framer) Feed(b []byte) int {
	// Bytes already parsed make room; a packet given out is overwritten here, which is why it lives until now only.
	if p.at > 0 {
		p.buf = p.buf[:copy(p.buf, p.buf[p.at:])]
		p.at = 0
	}
	n := min(len(b), cap(p.buf)-len(p.buf))
	p.buf = append(p.buf, b[:n]...)
	return n
}

// Frame returns the next whole packet, checked, nil until one is complete. It is the framer's until Feed or Reset.
func (p *Framer) Frame() []byte {
	for {
		head := p.buf[p.at:]
		i := 0
		for i < len(head) && !p.rules.First(head[i]) {
			i++
		}
		p.drop(i)
		head = head[i:]
		n, ok := p.rules.Frame(head)
		switch {
		case !ok:
			p.drop(1)
		// Wait for more. A false header with a long length delays the bytes behind it by at most one packet.
		case n == 0 || n > len(head):
			return nil
		case !p.rules.Check(head[:n]):
			p.BadChecksum++
			p.drop(1)
		default:
			p.at += n
			return head[:n]
		}
	}
}

func (p *Framer) drop(n int) {
	p.at += n
	p.Garbage += uint64(n)
}

// FrameTwin is the framing that several vendors share: the same byte twice, an id, and a length, to which extra bytes
// are added for that of the whole packet. Ids above lastID and lengths outside least..most begin no packet.
func FrameTwin(head []byte, lastID byte, least, most, extra int) (n int, ok bool) {
	switch {
	case len(head) < 2:
		return 0, true
	case head[1] != head[0]:
		return 0, false
	case len(head) < 3:
		return 0, true
	case head[2] > lastID:
		return 0, false
	case len(head) < 4:
		return 0, true
	case int(head[3]) < least || int(head[3]) > most:
		return 0, false
	}
	return extra + int(head[3]), true
}

// Complement is the checksum that several vendors share: the complement of the sum of p's bytes.
func Complement(p []byte) byte {
	var sum byte
	for _, b := range p {
		sum += b
	}
	return ^sum
}

// CheckComplement is a rule for packets that end with the Complement of all that is behind their first two bytes.
func CheckComplement(packet []byte) bool {
	n := len(packet) - 1
	return Complement(packet[2:n]) == packet[n]
}

// IsByte returns a rule for packets that all begin with want.
func IsByte(want byte) func(byte) bool { return func(b byte) bool { return b == want } }

// IDsIn reads the ids in the replies to Traits.Roll by a framer: next takes its next packet. sound: the replies have no
// other bytes.
func IDsIn(got []byte, f *Framer, next func() (id int, ok bool)) (ids []int, sound bool) {
	for len(got) > 0 {
		n := f.Feed(got)
		got = got[n:]
		for id, ok := next(); ok; id, ok = next() {
			ids = append(ids, id)
		}
		if n == 0 {
			break
		}
	}
	return ids, f.Garbage == 0 && f.BadChecksum == 0 && f.Buffered() == 0
}
