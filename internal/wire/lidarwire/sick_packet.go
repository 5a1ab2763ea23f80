package lidarwire

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/servo"
)

const (
	sickHead  = 4 // 02 ADR LEN16
	SickFrame = sickHead + 2
	sickStart = 0x02
)

// SICKChecksum is the CRC of a telegram from its 02 on.
func SICKChecksum(p []byte) uint16 {
	var crc, last uint16
	for _, b := range p {
		// The polynomial is added when a bit is shifted out; two bytes at a time are added, each byte twice.
		crc = crc<<1 ^ uint16(int16(crc)>>15)&0x8005
		crc ^= uint16(b) | last<<8
		last = uint16(b)
	}
	return crc
}

// AppendSICK appends a telegram of body, which must have 1 to SICKMaxTelegram bytes, to or from address.
func AppendSICK(dst []byte, address byte, body []byte) []byte {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint16(append(dst, sickStart, address), uint16(len(body)))
	dst = append(dst, body...)
	return binary.LittleEndian.AppendUint16(dst, SICKChecksum(dst[at:]))
}

// SICKParser extracts telegrams from a stream of bytes. Its result does not depend on the sizes of the pieces fed.
type SICKParser struct{ servo.Framer }

// NewSICKParser returns a parser of telegrams of the scanner at address, 0x80 for the first, or to it, 0.
func NewSICKParser(address byte) *SICKParser {
	return &SICKParser{servo.NewFramer(SickFrame+SICKMaxTelegram, servo.Rules{
		First: servo.IsByte(sickStart),
		Frame: func(h []byte) (int, bool) {
			switch {
			case len(h) < 2:
				return 0, true
			case h[1] != address:
				return 0, false
			case len(h) < sickHead:
				return 0, true
			}
			n := int(binary.LittleEndian.Uint16(h[2:]))
			return SickFrame + n, n >= 1 && n <= SICKMaxTelegram
		},
		Check: func(p []byte) bool {
			n := len(p) - 2
			return SICKChecksum(p[:n]) == binary.LittleEndian.Uint16(p[n:])
		},
	})}
}

// Body is the body of the next whole telegram, nil until one is complete. It is the parser's until Feed or Reset.
func (p *SICKParser) Body() []byte {
	f := p.Frame()
	if f == nil {
		return nil
	}
	return f[sickHead : len(f)-2]
}

// Bits of the count of a scan (8007954, telegram B0).
const (
	sickCountMask = 0x03FF
	sickPartial   = 0x2000
	sickUnitShift = 14
)

// sickUnits are the units of a value, m, by the two bits of the unit.
var sickUnits = [...]float64{0.01, 0.001, 0.1}

// AppendSICKScan appends the body of a scan: values as they are, unit 0 (cm), 1 (mm) or 2 (dm), and the scanner's
// status.
func AppendSICKScan(dst []byte, values []uint16, unit byte, status byte) []byte {
	dst = append(dst, SICKRanges)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(values))|uint16(unit)<<sickUnitShift)
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint16(dst, v)
	}
	return append(dst, status)
}

// DecodeSICKScan decodes the ranges of a scan's body into dst, m, exactly len(dst) of them; each value has the given
// bits of range. It returns the scanner's status. After an error dst is undefined. SICKIndices is a setting of the
// scanner: the numbers that it puts before its status are skipped.
func DecodeSICKScan(body []byte, bits uint, dst []float64) (status byte, err error) {
	if len(body) < 4 || body[0] != SICKRanges {
		return 0, fmt.Errorf("scan: got %d bytes, want a telegram B0", len(body))
	}
	head := binary.LittleEndian.Uint16(body[1:])
	n, unit := int(head&sickCountMask), int(head>>sickUnitShift)
	switch {
	case n != len(dst) || len(body) < 4+2*n || len(body) > 6+2*n:
		return 0, fmt.Errorf("scan: got %d values in %d bytes, want %d values", n, len(body), len(dst))
	case head&sickPartial != 0:
		return 0, fmt.Errorf("scan: got a part of one, want a whole one")
	case unit >= len(sickUnits):
		return 0, fmt.Errorf("scan: got unit %d, want 0..2", unit)
	}
	scale, mask := sickUnits[unit], uint16(1)<<bits-1
	values := body[3 : 3+2*n]
	for i := range dst {
		v := binary.LittleEndian.Uint16(values[2*i:]) & mask
		switch dst[i] = float64(v) * scale; {
		case v == mask-SICKTooFar:
			dst[i] = math.Inf(1)
		case v > mask-SICKTooFar:
			dst[i] = math.NaN()
		}
	}
	return body[len(body)-1], nil
}
