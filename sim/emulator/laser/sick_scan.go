package laser

import (
	"encoding/binary"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// Modes that measure, in addition to those of whole scans (8007954, telegram 20). Values are counted from 1, from the
// scanner's right on.
const (
	sickMeans         = 0x26 // samples: the mean of so many scans
	sickSubrange      = 0x27 // first16 last16: a part of each scan
	sickMeansSubrange = 0x28 // samples first16 last16
	// each turn of the mirror by itself: it measures whole degrees, and 1/2 or 1/4 ° next to the last one
	sickPartial   = 0x2A
	sickRemission = 0x50 // first16 last16: each scan, and how bright a part of it is
)

// sickOrder holds the parameters of a stream.
type sickOrder struct {
	mode        byte
	samples     int // of a mean
	first, last int // of a part
	turn        int // of the mirror, within a scan
	count       int // scans summed up
	sums        []uint32
}

// measuringMode reads a mode that measures, and its settings; false if it is invalid, or they are wrong.
func (s *SICK) measuringMode(p []byte) (o sickOrder, ok bool) {
	o = sickOrder{mode: p[0], samples: 1, first: 1, last: s.count()}
	rest := p[1:]
	if p[0] == sickMeans || p[0] == sickMeansSubrange {
		if len(rest) < 1 || rest[0] < 2 || rest[0] > 250 {
			return o, false
		}
		o.samples, rest = int(rest[0]), rest[1:]
	}
	switch p[0] {
	case lidarwire.SICKStream, sickMeans, sickPartial:
	case sickSubrange, sickMeansSubrange, sickRemission:
		if len(rest) < 4 {
			return o, false
		}
		o.first, o.last, rest = int(binary.LittleEndian.Uint16(rest)), int(binary.LittleEndian.Uint16(rest[2:])),
			rest[4:]
	default:
		return o, false
	}
	return o, len(rest) == 0 && o.first >= 1 && o.first <= o.last && o.last <= s.count()
}

// count is how many values a scan has.
func (s *SICK) count() int { return 100*s.angle/s.resolution + 1 }

// period is how long the next telegram of a stream takes to be measured.
func (o *sickOrder) period(resolution int) time.Duration {
	if o.mode == sickPartial {
		return mirror
	}
	return mirror * time.Duration(100/resolution)
}

// next is the body of the due telegram; nil while a mean lacks some of its scans.
func (o *sickOrder) next(s *SICK) []byte {
	word := binary.LittleEndian.AppendUint16
	s.measure()
	if o.mode == lidarwire.SICKStream || o.mode == sickMeans {
		o.last = s.count() // the count may have been set since
	}
	values, unit := s.values, uint16(s.settings[lidarwire.SICKUnitByte])<<14
	part := values[o.first-1 : o.last]
	switch o.mode {
	case sickMeans, sickMeansSubrange:
		if part = o.mean(part, s.mask()); part == nil {
			return nil
		}
	case sickPartial:
		values, unit = o.partial(s, unit)
		part = values
	}
	var body []byte
	switch o.mode {
	case sickMeans:
		body = append(body, 0xB6, byte(o.samples))
	case sickSubrange:
		body = word(word(append(body, 0xB7), uint16(o.first)), uint16(o.last))
	case sickMeansSubrange:
		body = word(word(append(body, 0xBF, byte(o.samples)), uint16(o.first)), uint16(o.last))
	case sickRemission:
		body, part = append(body, 0xC4), values
	default:
		body = append(body, lidarwire.SICKRanges)
	}
	body = word(body, uint16(len(part))|unit)
	for _, v := range part {
		body = word(body, v)
	}
	if o.mode == sickRemission {
		body = word(word(word(body, uint16(o.last-o.first+1)), uint16(o.first)), uint16(o.last))
		for _, m := range s.ranges[o.first-1 : o.last] {
			light := 0.0 // without an echo
			if m >= 0 {
				light = min(255, 400/(m+1)) // decreases with the distance
			}
			body = append(body, byte(light))
		}
	}
	return s.indexed(append(body, 0x10))
}

// mean adds the values of a scan, and gives their mean when there are enough; codes of errors go over as they are.
func (o *sickOrder) mean(values []uint16, mask uint16) []uint16 {
	if o.count == 0 || len(o.sums) != len(values) {
		o.count = 0
		o.sums = make([]uint32, len(values))
	}
	for i, v := range values {
		switch {
		case v >= mask-lidarwire.SICKTooFar:
			o.sums[i] = uint32(v) * uint32(o.samples)
		case o.sums[i] < uint32(mask-lidarwire.SICKTooFar)*uint32(o.samples):
			o.sums[i] += uint32(v)
		}
	}
	if o.count++; o.count < o.samples {
		return nil
	}
	o.count = 0
	means := make([]uint16, len(values))
	for i, sum := range o.sums {
		means[i] = uint16(sum / uint32(o.samples))
	}
	return means
}

// partial is the values of the next turn of the mirror, and the bits with its number in the scan.
func (o *sickOrder) partial(s *SICK, unit uint16) (values []uint16, head uint16) {
	turns := 100 / s.resolution
	turn := o.turn % turns
	for i := turn; i < len(s.values); i += turns {
		values = append(values, s.values[i])
	}
	o.turn = (turn + 1) % turns
	return values, unit | 1<<13 | uint16(turn)<<11
}
