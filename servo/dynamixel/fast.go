package dynamixel

import (
	"bytes"
	"encoding/binary"
)

// AppendFastStatus appends the common answer to a fast read as it leaves the wire when every servo of parts is alive.
// Each Status holds one servo's ID, error byte and data.
func AppendFastStatus(dst []byte, parts []Status) []byte {
	// The header has the length of all parts; the first servo computes it from the request.
	start, length := len(dst), 1
	for i := range parts {
		length += 4 + len(parts[i].Data)
	}
	dst = appendFastHeader(dst, length)
	// Each servo appends behind the one before it, and its CRC covers all that has passed.
	for i := range parts {
		dst = append(append(dst, parts[i].Error, parts[i].ID), parts[i].Data...)
		dst = binary.LittleEndian.AppendUint16(dst, crc16(0, dst[start:]))
	}
	return dst
}

// appendFastHeader appends the header of a fast reply, which the first servo sends before its part.
func appendFastHeader(dst []byte, length int) []byte {
	return append(dst, 0xFF, 0xFF, 0xFD, 0, Broadcast, byte(length), byte(length>>8), statusOp)
}

// FastParts decodes a fast reply while it is received. A servo that does not reply truncates it; the parts before are
// valid by their CRCs. The zero value is finished; call Start for every reply.
type FastParts struct {
	raw    []byte // from the first FF
	first  int    // start of the reply in the received bytes
	at     int    // next byte not yet given out
	crc    uint16 // over raw[:at]
	broken bool   // a CRC was wrong: later parts are not reliable
}

// Start looks in received for the header of an answer with parts of length bytes in all (the LEN field) and reports
// whether it is there. It keeps received until the next Start or Grow.
func (f *FastParts) Start(received []byte, length int) bool {
	var room [8]byte
	i := bytes.Index(received, appendFastHeader(room[:0], length))
	if i < 0 {
		*f = FastParts{}
		return false
	}
	*f = FastParts{raw: received[i:], first: i, at: 8, crc: crc16(0, received[i:i+8])}
	return true
}

// Grow passes the received bytes, longer than at Start; Next continues at its position.
func (f *FastParts) Grow(received []byte) { f.raw = received[f.first:] }

// Next returns the next servo's part, which must have size bytes of data. It returns false at the end of the received
// bytes, and permanently after a wrong CRC; Broken distinguishes the two.
func (f *FastParts) Next(size int) (Status, bool) {
	// Error byte, id, data, CRC.
	n := 4 + size
	if f.broken || len(f.raw)-f.at < n {
		return Status{}, false
	}
	p := f.raw[f.at : f.at+n]
	f.crc = crc16(f.crc, p[:n-2])
	if binary.LittleEndian.Uint16(p[n-2:]) != f.crc {
		f.broken = true
		return Status{}, false
	}
	// The next part's CRC covers this one's too.
	f.crc = crc16(f.crc, p[n-2:])
	f.at += n
	return Status{ID: p[1], Error: p[0], Data: p[2 : n-2]}, true
}

// Broken reports whether a part's CRC was wrong.
func (f *FastParts) Broken() bool { return f.broken }
