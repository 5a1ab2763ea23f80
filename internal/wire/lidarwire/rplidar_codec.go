package lidarwire

import "encoding/binary"

// rpXOR is the checksum of requests and capsules.
func RpXOR(p []byte) (sum byte) {
	for _, b := range p {
		sum ^= b
	}
	return sum
}

// AppendRPLidar appends a request.
func AppendRPLidar(dst []byte, c RPLidarCommand, payload ...byte) []byte {
	at := len(dst)
	dst = append(dst, RpStart, byte(c))
	if c&0x80 == 0 {
		return dst
	}
	dst = append(append(dst, byte(len(payload))), payload...)
	return append(dst, RpXOR(dst[at:]))
}

// DecodeRPLidar decodes a request at the beginning of p. n is its length, 0 if it is not complete yet, and below 0 if p
// does not begin with one.
func DecodeRPLidar(p []byte) (c RPLidarCommand, payload []byte, n int) {
	switch {
	case len(p) == 0:
		return 0, nil, 0
	case p[0] != RpStart:
		return 0, nil, -1
	case len(p) < 2:
		return 0, nil, 0
	case p[1]&0x80 == 0:
		return RPLidarCommand(p[1]), nil, 2
	case len(p) < 3 || len(p) < 4+int(p[2]):
		return 0, nil, 0
	}
	n = 4 + int(p[2])
	if RpXOR(p[:n]) != 0 {
		return 0, nil, -1
	}
	return RPLidarCommand(p[1]), p[3 : n-1], n
}

// AppendRPDescriptor appends the descriptor of a reply with length bytes a packet.
func AppendRPDescriptor(dst []byte, length int, stream bool, kind byte) []byte {
	word := uint32(length)
	if stream {
		word |= RpStream << 30
	}
	return append(binary.LittleEndian.AppendUint32(append(dst, RpStart, RpReply), word), kind)
}

// RPNode is one sample: where it looked, turning to the right, and how far it saw.
type RPNode struct {
	Angle   uint16 // 1/64 °
	Range   uint16 // 1/4 mm; 0 = no echo
	Quality byte   // 0 to 63
	Start   bool   // the first of a turn
}

// Append appends the node as the standard scan sends it. It has no checksum.
func (n *RPNode) Append(dst []byte) []byte {
	s := byte(2)
	if n.Start {
		s = 1
	}
	dst = append(dst, n.Quality<<2|s)
	return binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(dst, n.Angle<<1|1), n.Range)
}

// decode decodes a node; false if its check bits are wrong, or its angle is out of range.
func (n *RPNode) Decode(p []byte) bool {
	angle := binary.LittleEndian.Uint16(p[1:])
	if (p[0]^p[0]>>1)&1 == 0 || angle&1 == 0 || angle>>1 >= TurnQ6+64 {
		return false
	}
	*n = RPNode{angle >> 1, binary.LittleEndian.Uint16(p[3:]), p[0] >> 2, p[0]&1 != 0}
	return true
}

// turnQ6 is a turn, in 1/64 °.
const TurnQ6 = 360 << 6

// ahead is how many nodes behind one must look like nodes for it to be believed: their bits of check are few.
const Ahead = 5

// From one node to the next the angle steps by at most widest, 1/64 °, and back by at most backward: nodes without a
// range carry angles up to 9° ahead of those that the optics compensate, and near objects are compensated otherwise
// than far ones.
const (
	widest   = 20 << 6
	backward = 10 << 6
)

// RPNodeParser finds nodes in a stream of the standard scan. Its result does not depend on how the stream is cut.
type RPNodeParser struct {
	Garbage uint64 // bytes dropped
	buf     []byte
	at      int
	last    int  // angle of the last node; below 0 = none
	Sure    bool // it and the nodes ahead of it all go on from one another
}

// NewRPNodeParser returns an empty parser.
func NewRPNodeParser() *RPNodeParser { return &RPNodeParser{buf: make([]byte, 0, 4096), last: -1} }

// Reset discards all buffered bytes.
func (p *RPNodeParser) Reset() { p.buf, p.at, p.last, p.Sure = p.buf[:0], 0, -1, false }

// Feed accepts bytes of b and returns their number.
func (p *RPNodeParser) Feed(b []byte) int {
	if p.at > 0 {
		p.buf = p.buf[:copy(p.buf, p.buf[p.at:])]
		p.at = 0
	}
	n := min(len(b), cap(p.buf)-len(p.buf))
	p.buf = append(p.buf, b[:n]...)
	return n
}

// Next gives the next node that is followed by as many as make it believed; false until one is complete.
func (p *RPNodeParser) Next(n *RPNode) bool {
	for len(p.buf)-p.at >= RpNode*(1+Ahead) {
		// Where all of them were sound, one of those ahead is new.
		p.Sure = p.Sure && p.goesOn(p.buf[p.at:])
		if p.Sure && n.Decode(p.buf[p.at:]) || p.row(n) {
			p.at += RpNode
			p.last = int(n.Angle)
			return true
		}
		p.at++
		p.Garbage++
	}
	return false
}

// goesOn reports whether the last of the nodes behind the first of head continues the one before it, which is valid.
func (p *RPNodeParser) goesOn(head []byte) bool {
	var before, last RPNode
	return before.Decode(head[RpNode*(Ahead-1):]) && last.Decode(head[RpNode*Ahead:]) &&
		Follows(int(before.Angle), int(last.Angle))
}

// row reports whether consecutive nodes with plausible angles begin here, and returns the first.
func (p *RPNodeParser) row(n *RPNode) bool {
	head := p.buf[p.at:]
	if !n.Decode(head) {
		return false
	}
	from := int(n.Angle)
	if p.last >= 0 && !Follows(p.last, from) && p.run(head, p.last) {
		p.Sure = false
		return false // only this one is wrong: the next ones continue the last
	}
	return p.run(head, from)
}

// run reports whether the nodes behind the first of head go on from an angle.
func (p *RPNodeParser) run(head []byte, from int) bool {
	wrong := 0
	for i := 1; i <= Ahead; i++ {
		var next RPNode
		if !next.Decode(head[RpNode*i:]) {
			return false
		}
		// One may be off without the first being so.
		if Follows(from, int(next.Angle)) {
			from = int(next.Angle)
		} else if wrong++; wrong > 1 {
			return false
		}
	}
	p.Sure = wrong == 0
	return true
}

// follows reports whether an angle is a little beyond another, or as far before it as optics make it.
func Follows(a, b int) bool {
	step := b - a
	if step < -TurnQ6/2 {
		step += TurnQ6
	}
	if step > TurnQ6/2 {
		step -= TurnQ6
	}
	return step >= -backward && step <= widest
}

// RPLidarCommand is a request: A5, the command and, where its bit 7 is set, a length, so many bytes and the XOR of all
// before.
type RPLidarCommand byte

// The commands (LR001, table "Available requests"). The comment gives payload and answer.
const (
	RPLidarStop      RPLidarCommand = 0x25 // no answer; 1 ms of quiet after it
	RPLidarReset     RPLidarCommand = 0x40 // no reply; it boots, and reports that as text
	RPLidarScan      RPLidarCommand = 0x20 // nodes without end
	RPLidarForceScan RPLidarCommand = 0x21 // the same, whether or not the motor turns
	RPLidarExpress   RPLidarCommand = 0x82 // mode, 4 zeros; capsules without end
	RPLidarInfo      RPLidarCommand = 0x50 // model, firmware minor, major, hardware, 16 bytes of serial number
	RPLidarHealth    RPLidarCommand = 0x52 // status, code16
	RPLidarRate      RPLidarCommand = 0x59 // µs a sample, standard and express, 16 bits each
	RPLidarConf      RPLidarCommand = 0x84 // type32 [mode16]; type32 and a value
	RPLidarUnlisted  RPLidarCommand = 0x79 // 15 bytes of type 0x14, which no document names; an A1 answers it
	RPLidarMotor     RPLidarCommand = 0xF0 // pwm16, 0 to 1023; no answer
	RPLidarBoard     RPLidarCommand = 0xFF // 4 zeros; bit 0: the motor can be driven by RPLidarMotor
)

// Types of answers, the last byte of a descriptor.
const (
	RpTypeInfo   = 0x04
	RpTypeHealth = 0x06
	RpTypeRate   = 0x15
	RpTypeConf   = 0x20
	rpTypeBoard  = 0xFF
)

// Fixed bytes of packets.
const (
	RpStart      = 0xA5
	RpReply      = 0x5A
	RpDescriptor = 7   // bytes: A5 5A, length of 30 bits and mode of 2, type
	RpRequest    = 260 // bytes that a request has at the most
	RpNode       = 5
	RpStream     = 1 // mode: without end
)

// RPLidarUsualPWM is the PWM for ten turns a second of an A2.
const RPLidarUsualPWM = 660

// The keys of RPLidarConf. For values of a mode the request has its number.
const (
	RPConfModes       = 0x70 // how many modes, 16 bits
	RPConfSample      = 0x71 // of a mode: 1/256 µs a sample, 32 bits
	RPConfDistance    = 0x74 // of a mode: 1/256 m, the greatest, 32 bits
	RPConfEncoding    = 0x75 // of a mode: its RPLidarEncoding
	RPConfTypicalMode = 0x7C // the mode that its maker advises, 16 bits
	RPConfName        = 0x7F // of a mode: text up to a zero
)
