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

// SICKCommand is the first byte of a telegram to the scanner. The comment gives its data; the reply's first byte is the
// command with bit 7 set, except for Mode (A0) and Scan (B0).
type SICKCommand byte

// The commands (8007954, table of telegrams).
const (
	SICKReset     SICKCommand = 0x10 // none; the scanner restarts, and sends SICKStarted at 9600 baud
	SICKMode      SICKCommand = 0x20 // mode, see below; answer: 0 = done, 1 = wrong password, 2 = fault
	SICKScan      SICKCommand = 0x30 // 01: one scan
	SICKStatus    SICKCommand = 0x31 // none; 152 bytes
	SICKType      SICKCommand = 0x3A // none; text "LMS200;30106;V02.30 "
	SICKVariant   SICKCommand = 0x3B // angle16 in °, resolution16 in 1/100 °; answer: 1 = done, then both
	SICKConfig    SICKCommand = 0x74 // none; 34 bytes
	SICKConfigure SICKCommand = 0x77 // 34 bytes, in the mode of installation; answer: 1 = done, then they
)

// First bytes of answers that are not the command's with bit 7.
const (
	SICKStarted   = 0x90 // after power-on; text of the type
	SICKModeReply = 0xA0
	SICKRanges    = 0xB0
	SICKReplyBit  = 0x80
)

// Modes of SICKMode.
const (
	SICKInstall = 0x00 // then the password: settings may be written
	SICKStream  = 0x24 // every scan is sent
	SICKRequest = 0x25 // scans are sent on request
)

// SICKPassword is the one that scanners are shipped with.
const SICKPassword = "SICK_LMS"

// Single bytes that the scanner sends outside telegrams, within 60 ms of a command.
const (
	SICKAck = 0x06
	SICKNak = 0x15
)

// Bytes of the settings.
const (
	SICKSettingsLen = 34 // bytes
	SICKAvailByte   = 4  // SICKIndices and other flags
	SICKModeByte    = 5  // of measuring, see SICKReach
	SICKUnitByte    = 6  // 0 = cm, 1 = mm
	// of SICKAvailByte: telegrams of values end with the number of the scan, that of the telegram, status
	SICKIndices     = 2
	SICKStatusLen   = 152
	SICKMaxTelegram = 812 // bytes of a telegram's body at most
	SickCentimetre  = 0
	SickMillimetre  = 1
)

// SICKReach is one mode of measuring: how many bits of a value are range. The rest are flags of fields.
type SICKReach struct {
	Metres float64 // in millimetres; in centimetres 80 m
	Mode   byte
	Bits   uint
}

// SICKReaches are the modes that measure only ranges.
func SICKReaches() []SICKReach { return []SICKReach{{8, 0, 13}, {16, 4, 14}, {32, 6, 15}} }

// Of a status byte: the severity, 0 (no error) to 4 (fatal).
const (
	SickLevel = 0x07
	SickError = 3
)

// The error codes of the greatest values, counted down from all bits set (8007954, "error codes").
const (
	SICKInvalid  = 0 // not valid
	SICKDazzled  = 1
	SICKOverflow = 2
	SICKNoise    = 4 // signal to noise too small
	SICKChannel1 = 5 // error reading channel 1
	SICKTooFar   = 8 // beyond the reach
)

// sickReach is the reach of metres; 0 = 8.
func SickReach(metres float64) (SICKReach, error) {
	for _, r := range SICKReaches() {
		if metres == r.Metres || metres == 0 {
			return r, nil
		}
	}
	return SICKReach{}, fmt.Errorf("reach: got %g m, want 8, 16 or 32", metres)
}
