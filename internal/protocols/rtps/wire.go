package rtps

import (
	"encoding/binary"
	"time"
)

// Prefix is a participant, as the first bytes of the ids of all its entities.
type Prefix [12]byte

// EntityID is an entity of a participant: a key of 3 bytes and its kind.
type EntityID uint32

// GUID is an entity.
type GUID struct {
	Prefix Prefix
	Entity EntityID
}

// Append appends g as it travels: 16 bytes.
func (g GUID) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint32(append(b, g.Prefix[:]...), uint32(g.Entity))
}

// GUIDOf reads 16 bytes.
func GUIDOf(b []byte) GUID { return GUID{Prefix(b[:12]), EntityID(binary.BigEndian.Uint32(b[12:16]))} }

// Identity is one sample: its writer and its number.
type Identity struct {
	Writer   GUID
	Sequence int64
}

// The entities that every participant has.
const (
	participantID      EntityID = 0x000001c1
	spdpWriter         EntityID = 0x000100c2
	spdpReader         EntityID = 0x000100c7
	publicationWriter  EntityID = 0x000003c2
	publicationReader  EntityID = 0x000003c7
	subscriptionWriter EntityID = 0x000004c2
	subscriptionReader EntityID = 0x000004c7
	livelinessWriter   EntityID = 0x000200c2
	livelinessReader   EntityID = 0x000200c7
)

const (
	kindPad       = 0x01
	kindAckNack   = 0x06
	kindHeartbeat = 0x07
	kindGap       = 0x08
	kindInfoTime  = 0x09
	kindInfoSrc   = 0x0c
	kindInfoDst   = 0x0e
	kindNackFrag  = 0x12
	kindFragBeat  = 0x13
	kindData      = 0x15
	kindDataFrag  = 0x16
)

const (
	headerSize = 20
	maxSet     = 256 // numbers of a set
)

// vendor is ours: not registered. Posing as another vendor brings shared memory or that vendor's own rules.
var vendor = [2]byte{0x01, 0xee}

// The builders append to b; all is little endian.

func appendHeader(b []byte, from Prefix) []byte {
	b = append(b, 'R', 'T', 'P', 'S', 2, 1, vendor[0], vendor[1])
	return append(b, from[:]...)
}

// beginSub appends a submessage's header; endSub fills in its length.
func beginSub(b []byte, kind, flags byte) []byte { return append(b, kind, flags|1, 0, 0) }

func endSub(b []byte, at int) []byte {
	for (len(b)-at)%4 != 0 {
		b = append(b, 0)
	}
	binary.LittleEndian.PutUint16(b[at+2:], uint16(len(b)-at-4))
	return b
}

func appendDst(b []byte, to Prefix) []byte {
	return append(append(b, kindInfoDst, 1, 12, 0), to[:]...)
}

func appendTime(b []byte, at time.Time) []byte {
	b = append(b, kindInfoTime, 1, 8, 0)
	return appendDuration(b, at.Unix(), int64(at.Nanosecond()))
}

// appendDuration appends seconds and the rest as a fraction of 2^-32 s.
func appendDuration(b []byte, seconds, nanoseconds int64) []byte {
	return appendUint32s(b, uint32(seconds), uint32(uint64(nanoseconds)<<32/uint64(time.Second)))
}

func appendUint32s(b []byte, values ...uint32) []byte {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func appendEntity(b []byte, id EntityID) []byte { return binary.BigEndian.AppendUint32(b, uint32(id)) }

func appendSequence(b []byte, n int64) []byte { return appendUint32s(b, uint32(n>>32), uint32(n)) }

// appendInline appends the inline QoS of a change: a request that it answers, or that its instance has ended.
func appendInline(b []byte, c *change) []byte {
	if c.disposed {
		b = append(b, 0x70, 0, 16, 0)
		b = c.key.Append(b)
		b = append(b, 0x71, 0, 4, 0, 0, 0, 0, 3)
	}
	if c.related != (Identity{}) { // by the number of newer readers, and by that of older ones
		for _, id := range [...]uint16{pidRelated, pidRelatedOld} {
			b = binary.LittleEndian.AppendUint16(b, id)
			b = append(b, 24, 0)
			b = appendSequence(c.related.Writer.Append(b), c.related.Sequence)
		}
	}
	return append(b, pidSentinel, 0, 0, 0)
}

// appendData appends a whole change.
func appendData(b []byte, reader, writer EntityID, c *change) []byte {
	at, flags := len(b), byte(4)
	if c.disposed {
		flags = 8
	}
	inline := c.disposed || c.related != (Identity{})
	if inline {
		flags |= 2
	}
	b = append(beginSub(b, kindData, flags), 0, 0, 16, 0)
	b = appendSequence(appendEntity(appendEntity(b, reader), writer), c.sequence)
	if inline {
		b = appendInline(b, c)
	}
	return endSub(append(b, c.payload...), at)
}

// appendFragments appends count fragments of a change, from first (from 0), each of size bytes but the sample's last.
func appendFragments(b []byte, reader, writer EntityID, c *change, first, count, size int) []byte {
	at, flags := len(b), byte(0)
	if c.related != (Identity{}) {
		flags = 2
	}
	b = append(beginSub(b, kindDataFrag, flags), 0, 0, 28, 0)
	b = appendSequence(appendEntity(appendEntity(b, reader), writer), c.sequence)
	b = appendUint32s(b, uint32(first+1), uint32(count)|uint32(size)<<16, uint32(len(c.payload)))
	if flags != 0 {
		b = appendInline(b, c)
	}
	return endSub(append(b, c.payload[first*size:min(len(c.payload), (first+count)*size)]...), at)
}

func appendHeartbeat(b []byte, reader, writer EntityID, first, last int64, count uint32, final bool) []byte {
	flags := byte(0)
	if final {
		flags = 2
	}
	at := len(b)
	b = appendEntity(appendEntity(beginSub(b, kindHeartbeat, flags), reader), writer)
	return endSub(appendUint32s(appendSequence(appendSequence(b, first), last), count), at)
}

// set is numbers from base on: bit i of the set is base+i.
type set struct {
	base int64
	n    uint32
	bits [maxSet / 32]uint32
}

func (s *set) add(n int64) {
	i := uint32(n - s.base)
	s.bits[i/32] |= 1 << (31 - i%32)
	s.n = max(s.n, i+1)
}

func (s *set) has(i uint32) bool { return i < s.n && s.bits[i/32]&(1<<(31-i%32)) != 0 }

func appendBits(b []byte, s *set) []byte {
	b = appendUint32s(b, s.n)
	return appendUint32s(b, s.bits[:(s.n+31)/32]...)
}

func appendAckNack(b []byte, reader, writer EntityID, s *set, count uint32, final bool) []byte {
	flags := byte(0)
	if final {
		flags = 2
	}
	at := len(b)
	b = appendEntity(appendEntity(beginSub(b, kindAckNack, flags), reader), writer)
	return endSub(appendUint32s(appendBits(appendSequence(b, s.base), s), count), at)
}

// appendGap says that the numbers from first to before end are not sent.
func appendGap(b []byte, reader, writer EntityID, first, end int64) []byte {
	at := len(b)
	b = appendEntity(appendEntity(beginSub(b, kindGap, 0), reader), writer)
	return endSub(appendUint32s(appendSequence(appendSequence(b, first), end), 0), at)
}

func appendNackFrag(b []byte, reader, writer EntityID, sequence int64, s *set, count uint32) []byte {
	at := len(b)
	b = appendEntity(appendEntity(beginSub(b, kindNackFrag, 0), reader), writer)
	b = appendUint32s(appendSequence(b, sequence), uint32(s.base))
	return endSub(appendUint32s(appendBits(b, s), count), at)
}

// submessage is one of a message as it arrived.
type submessage struct {
	kind, flags byte
	order       binary.ByteOrder
	body        []byte
}

// nextSub returns the first submessage of b and what follows. ok is false if it is malformed.
func nextSub(b []byte) (s submessage, rest []byte, ok bool) {
	if len(b) < 4 {
		return s, nil, false
	}
	s = submessage{b[0], b[1], binary.LittleEndian, nil}
	if s.flags&1 == 0 {
		s.order = binary.BigEndian
	}
	n := int(s.order.Uint16(b[2:]))
	if n == 0 && s.kind != kindPad && s.kind != kindInfoTime { // to the end of the message
		n = len(b) - 4
	}
	if n > len(b)-4 {
		return s, nil, false
	}
	s.body = b[4 : 4+n]
	return s, b[4+n:], true
}

func (s *submessage) entity(at int) EntityID { return EntityID(binary.BigEndian.Uint32(s.body[at:])) }

func (s *submessage) sequence(at int) int64 {
	return int64(int32(s.order.Uint32(s.body[at:])))<<32 | int64(s.order.Uint32(s.body[at+4:]))
}

// set reads a set whose base ends before at, and returns what follows.
func (s *submessage) set(base int64, at int) (r set, rest []byte, ok bool) {
	if len(s.body) < at+4 {
		return r, nil, false
	}
	r.base, r.n = base, s.order.Uint32(s.body[at:])
	if r.n > maxSet || len(s.body) < at+4+int(r.n+31)/32*4 {
		return r, nil, false
	}
	at += 4
	for i := range int(r.n+31) / 32 {
		r.bits[i] = s.order.Uint32(s.body[at:])
		at += 4
	}
	return r, s.body[at:], true
}

// data is a DATA or DATA_FRAG submessage.
type data struct {
	reader, writer EntityID
	sequence       int64
	payload        []byte
	hasKey         bool // payload is the key of an instance that ended
	ended          bool
	related        Identity
	// of fragments:
	first, count, size, total int
}

// data reads a DATA or DATA_FRAG submessage.
func (s *submessage) data() (d data, ok bool) {
	least, offset := 20, 4
	if s.kind == kindDataFrag {
		least = 32
	}
	if len(s.body) < least {
		return d, false
	}
	d.reader, d.writer, d.sequence = s.entity(4), s.entity(8), s.sequence(12)
	if s.kind == kindDataFrag {
		d.first, d.count = int(s.order.Uint32(s.body[20:])), int(s.order.Uint16(s.body[24:]))
		d.size, d.total = int(s.order.Uint16(s.body[26:])), int(s.order.Uint32(s.body[28:]))
		d.hasKey = s.flags&4 != 0
	} else {
		d.hasKey = s.flags&8 != 0
	}
	at := offset + int(s.order.Uint16(s.body[2:]))
	if at < least || at > len(s.body) || d.sequence < 1 {
		return d, false
	}
	rest := s.body[at:]
	if s.flags&2 != 0 {
		if rest, ok = d.inline(rest, s.order); !ok {
			return d, false
		}
	}
	if s.kind == kindDataFrag || s.flags&(4|8) != 0 {
		d.payload = rest
	}
	return d, true
}

// inline reads inline QoS and returns what follows it.
func (d *data) inline(b []byte, order binary.ByteOrder) (rest []byte, ok bool) {
	return eachParameter(b, order, func(id uint16, v []byte) bool {
		switch {
		case (id == pidRelated || id == pidRelatedOld) && len(v) >= 24:
			d.related = Identity{GUIDOf(v),
				int64(int32(order.Uint32(v[16:])))<<32 | int64(order.Uint32(v[20:]))}
		case id == pidStatus && len(v) >= 4: // big endian always
			d.ended = v[3]&3 != 0
		}
		return true
	})
}
