package lidar

import (
	"encoding/binary"
	"math"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/servo"
)

// Samples in a capsule of each encoding, and the bytes of the capsule.
const (
	rpExpressSamples, rpExpressBytes = 32, 84
	rpUltraSamples, rpUltraBytes     = 96, 132
	rpDenseSamples, rpDenseBytes     = 40, 84
	rpUDenseSamples, rpUDenseBytes   = 64, 170
	rpMaxSamples                     = rpUltraSamples
	rpCapsuleHead                    = 4 // checksum in two nibbles behind sync nibbles A and 5, start angle
	// the same with the scanner's time, 4 bytes, and its status, 2, before the angle
	rpTimedHead = 10
)

// rpHead returns how long the head of a capsule is; it ends with the start angle.
func rpHead(e RPLidarEncoding) int {
	if e == RPLidarUltraDense {
		return rpTimedHead
	}
	return rpCapsuleHead
}

// rpStartOf is the start angle of a capsule, with the mark of a scan's first.
func rpStartOf(e RPLidarEncoding, p []byte) uint16 {
	return binary.LittleEndian.Uint16(p[rpHead(e)-2:])
}

// rpSizes are how many samples and bytes a capsule of each encoding has; 0 for an encoding without capsules.
var rpSizes = [256]struct{ samples, bytes int }{
	RPLidarExpressed:  {rpExpressSamples, rpExpressBytes},
	RPLidarUltra:      {rpUltraSamples, rpUltraBytes},
	RPLidarDense:      {rpDenseSamples, rpDenseBytes},
	RPLidarUltraDense: {rpUDenseSamples, rpUDenseBytes},
}

// RPCapsule is one packet of an express, ultra, dense or ultra-dense scan. Its samples are spaced evenly over Span from
// Start on, by the motor's angle. The true angle of a sample is smaller by an offset that depends on its range, because
// of the optics. An express capsule has that offset for each sample; for an ultra one the reader computes it.
type RPCapsule struct {
	Encoding RPLidarEncoding
	Start    uint16 // 1/64 °, turning to the right
	Span     int    // 1/64 °, up to the start of the next capsule; ignored by Append
	First    bool   // first capsule of a scan
	Ranges   [rpMaxSamples]uint16
	Shifts   [rpMaxSamples]uint8 // 1/8 °, of an express capsule, 0 to 63
	// mm, the first range of the capsule after it: an ultra capsule's last sample refers to it
	Next uint16
}

// Samples returns how many samples the capsule has.
func (c *RPCapsule) Samples() int { return rpSizes[c.Encoding].samples }

// Sample returns the angle of sample k, in 1/64 ° (it may be slightly outside one turn), and its range in mm, 0 for no
// echo. The arithmetic is that of SLAMTEC's SDK, to the bit.
func (c *RPCapsule) Sample(k int) (angle, mm int) {
	mm = int(c.Ranges[k])
	q16 := int(c.Start)<<10 + k*((c.Span<<10)/c.Samples())
	switch c.Encoding {
	case RPLidarExpressed:
		q16 -= int(c.Shifts[k]) << 13
	case RPLidarUltra:
		q16 -= RPLidarShift(mm)
	}
	return q16 >> 10, mm
}

// RPLidarShift returns the difference between the motor's angle and that of a sample of a range, mm, in 1/65536 °. The
// lens is 24.0 mm next to the laser: 8° - asin(24.0 mm/range); 7.5° below 50 mm and without an echo.
func RPLidarShift(mm int) int {
	const (
		far      = 9150  // 8 °, 1/65536 rad
		near     = 8578  // 7.5 °
		baseline = 98361 // 24.0139 mm, in 1/4096 mm
	)
	radians := near
	if mm >= 50 {
		k := baseline / (4 * mm)
		radians = far - k<<6 - k*k*k/98304
	}
	return int(float64(radians*180) / 3.14159265)
}

// Append appends the capsule as the scanner sends it. An express capsule holds ranges of 14 bits, an ultra one rounds
// those above 0.5 m to 2, 4, 8 or 16 mm and leaves out those that are too far from their neighbours.
func (c *RPCapsule) Append(dst []byte) []byte {
	at := len(dst)
	start := c.Start
	if c.First {
		start |= 0x8000
	}
	dst = append(dst, 0, 0)
	if c.Encoding == RPLidarUltraDense {
		dst = append(dst, 0, 0, 0, 0, 0, 0) // no time, and a status of no fault
	}
	dst = binary.LittleEndian.AppendUint16(dst, start)
	switch c.Encoding {
	case RPLidarExpressed:
		for i := 0; i < rpExpressSamples; i += 2 {
			var low [2]byte
			for k := range low {
				shift := c.Shifts[i+k] & 0x3F
				dst = binary.LittleEndian.AppendUint16(dst, c.Ranges[i+k]<<2|uint16(shift>>4))
				low[k] = shift & 0x0F
			}
			dst = append(dst, low[0]|low[1]<<4)
		}
	case RPLidarDense:
		for _, mm := range c.Ranges[:rpDenseSamples] {
			dst = binary.LittleEndian.AppendUint16(dst, mm)
		}
	case RPLidarUltraDense:
		for i := 0; i < rpUDenseSamples; i += 2 {
			one, two := packScaled(c.Ranges[i]), packScaled(c.Ranges[i+1])
			dst = binary.LittleEndian.AppendUint16(dst, uint16(one))
			dst = binary.LittleEndian.AppendUint16(dst, uint16(two))
			dst = append(dst, byte(one>>16)|byte(two>>16)<<4)
		}
	case RPLidarUltra:
		for i := 0; i < rpUltraSamples; i += 3 {
			next := c.Next
			if i+3 < rpUltraSamples {
				next = c.Ranges[i+3]
			}
			dst = binary.LittleEndian.AppendUint32(dst, packTriple(c.Ranges[i:i+3], next))
		}
	}
	sum := lidarwire.RpXOR(dst[at+2:])
	dst[at], dst[at+1] = 0xA0|sum&0x0F, 0x50|sum>>4
	return dst
}

// decode takes a capsule that has been checked, and the one after it. It leaves Span to the caller.
func (c *RPCapsule) decode(p, after []byte) {
	start := rpStartOf(c.Encoding, p)
	c.Start, c.First, c.Next = start&0x7FFF, start&0x8000 != 0, 0
	body := p[rpHead(c.Encoding):]
	switch c.Encoding {
	case RPLidarExpressed:
		for i := range rpExpressSamples {
			pair := body[5*(i/2):]
			word := binary.LittleEndian.Uint16(pair[2*(i%2):])
			c.Ranges[i], c.Shifts[i] = word>>2, byte(word&3)<<4|pair[4]>>(4*(i%2))&0x0F
		}
	case RPLidarDense:
		for i := range rpDenseSamples {
			c.Ranges[i] = binary.LittleEndian.Uint16(body[2*i:])
		}
	case RPLidarUltraDense:
		for i := range rpUDenseSamples {
			pair := body[5*(i/2):]
			c.Ranges[i] = unpackScaled(uint32(binary.LittleEndian.Uint16(pair[2*(i%2):])) | uint32(
				pair[4]>>(4*(i%2))&0x0F)<<16)
		}
	case RPLidarUltra:
		next := binary.LittleEndian.Uint32(after[rpCapsuleHead:])
		major, _ := expand(next & 0xFFF)
		c.Next = uint16(major)
		for i := rpUltraSamples - 3; i >= 0; i -= 3 {
			word := binary.LittleEndian.Uint32(body[4*(i/3):])
			unpackTriple(word, next&0xFFF, c.Ranges[i:i+3])
			next = word
		}
	}
}

// A sample of an ultra-dense capsule has 20 bits: a scale in 2 bits, a range in 10 to 13 bits of 2 to 5 mm beyond the
// end of the previous scale, and the remaining bits of an 8 bit quality. The SDK averages neighbours within 2 mm; this
// decoder does not.
func scaled() [4]struct{ from, step, bits uint32 } {
	return [...]struct{ from, step, bits uint32 }{{0, 2, 10}, {2046, 3, 11}, {8187, 4, 12}, {24567, 5, 13}}
}

func unpackScaled(word uint32) (mm uint16) {
	s := scaled()[word&3]
	return uint16(min(s.from+s.step*(word>>2&(1<<s.bits-1)), math.MaxUint16))
}

func packScaled(mm uint16) uint32 {
	list := scaled()
	for i, s := range list {
		if steps := (uint32(mm) - s.from) / s.step; steps < 1<<s.bits || i == len(list)-1 {
			return uint32(i) | min(steps, 1<<s.bits-1)<<2
		}
	}
	return 0
}

// A triple of an ultra capsule has 32 bits: a range in 12 bits of variable scale, and two signed predictions of 10
// bits. The first prediction is relative to the triple's own range, or to the next triple's if it has none; the second
// to the next triple's. Each has the scale of its reference. -512 and 511 mean no echo.
const (
	predictNone = 0x1FF
	predictLeft = -0x200
)

// scales is the variable scale, coarsest first: codes from code on mean ranges from mm on, in steps of 1<<level mm.
func scales() [5]struct{ code, mm, level uint32 } {
	return [...]struct{ code, mm, level uint32 }{{3328, 1 << 14, 4}, {1792, 1 << 12, 3}, {1280, 1 << 11, 2},
		{512, 1 << 9, 1}, {0, 0, 0}}
}

// expand returns the range of a code, mm, and its scale.
func expand(code uint32) (mm, level uint32) {
	for _, s := range scales() {
		if code >= s.code {
			return s.mm + (code-s.code)<<s.level, s.level
		}
	}
	return 0, 0
}

// compress returns the code of a range.
func compress(mm uint32) uint32 {
	for _, s := range scales() {
		if mm >= s.mm {
			return min(s.code+(mm-s.mm)>>s.level, 0xFFF)
		}
	}
	return 0
}

// bases returns the reference ranges of the two predictions of a triple, and their scales.
func bases(own, next uint32) (one, two int, levelOne, levelTwo uint32) {
	a, levelA := expand(own)
	b, levelB := expand(next)
	if a == 0 && b != 0 {
		a, levelA = b, levelB
	}
	return int(a), int(b), levelA, levelB
}

// unpackTriple takes the ranges of a triple, of which next is the code of the one after it.
func unpackTriple(word, next uint32, mm []uint16) {
	major, _ := expand(word & 0xFFF)
	mm[0] = uint16(major)
	one, two, levelOne, levelTwo := bases(word&0xFFF, next)
	mm[1] = predicted(int32(word<<10)>>22, one, levelOne)
	mm[2] = predicted(int32(word)>>22, two, levelTwo)
}

func predicted(steps int32, base int, level uint32) uint16 {
	if steps == predictNone || steps == predictLeft {
		return 0
	}
	return uint16(min(max(base+int(steps)<<level, 0), math.MaxUint16))
}

// packTriple packs the ranges of a triple, of which next is the first range of the one after it.
func packTriple(mm []uint16, next uint16) uint32 {
	own, after := compress(uint32(mm[0])), compress(uint32(next))
	one, two, levelOne, levelTwo := bases(own, after)
	return own | predict(int(mm[1]), one, levelOne)<<12 | predict(int(mm[2]), two, levelTwo)<<22
}

func predict(mm, base int, level uint32) uint32 {
	steps := (mm - base) >> level
	if mm == 0 || steps <= predictLeft || steps >= predictNone {
		steps = predictLeft
	}
	return uint32(steps) & 0x3FF
}

// rpCapsuleParser finds the capsules of one encoding in a stream. A capsule is complete when the one after it has come:
// that one's start is where it ends.
type rpCapsuleParser struct {
	servo.Framer
	encoding RPLidarEncoding
	lost     uint64 // bytes lost as of the last capsule
	held     []byte // the last capsule; empty = no capsule waits for its successor
	previous []byte // the one that Next gave last
}

// NewRPCapsuleParser returns an empty parser for an encoding with capsules.
func NewRPCapsuleParser(e RPLidarEncoding) *rpCapsuleParser {
	n := rpSizes[e].bytes
	return &rpCapsuleParser{encoding: e, held: make([]byte, 0, n), previous: make([]byte, 0, n),
		Framer: servo.NewFramer(n, servo.Rules{
			First: func(b byte) bool { return b>>4 == 0xA },
			Frame: func(h []byte) (int, bool) { return n, len(h) < 2 || h[1]>>4 == 0x5 },
			Check: func(p []byte) bool { return lidarwire.RpXOR(p[2:]) == p[0]&0x0F|p[1]<<4 },
		})}
}

// Reset discards all buffered bytes.
func (p *rpCapsuleParser) Reset() {
	p.Framer.Reset()
	p.held = p.held[:0]
}

// Next gives the next capsule that another one followed without a gap; false until one is complete. One that came
// before a gap, or before the first of a scan, is left out: how far it reached is not known.
func (p *rpCapsuleParser) Next(c *RPCapsule) bool {
	for f := p.Frame(); f != nil; f = p.Frame() {
		start := rpStartOf(p.encoding, f)
		whole := len(p.held) > 0 && p.Garbage == p.lost && start&0x8000 == 0
		if whole {
			c.Encoding = p.encoding
			c.decode(p.held, f)
			c.Span = (int(start) - int(c.Start) + lidarwire.TurnQ6) % lidarwire.TurnQ6
		}
		p.previous, p.held = p.held, append(p.previous[:0], f...)
		p.lost = p.Garbage
		if whole {
			return true
		}
	}
	return false
}
