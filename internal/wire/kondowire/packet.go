package kondowire

import "github.com/halyard-robotics/halyard/servo"

// LastID is the greatest ID of a servo.
const LastID = 31

// Op is the kind of a command, the upper three bits of its first byte.
type Op byte

// The commands. The comment gives the bytes after the first one, of the command and of the reply.
const (
	Position Op = 0x80 // hh ll -> hh ll
	Read     Op = 0xA0 // sc    -> sc vv
	Write    Op = 0xC0 // sc vv -> sc vv
	ID       Op = 0xE0 // 00 00 00 or 01 01 01 -> nothing
)

// Packet is a command or an answer. Of ID and of a command to read fewer than two bytes are used.
type Packet struct {
	Op Op
	ID byte
	A  byte // high seven bits of a position; the parameter's number; operation of an ID command (0 read, 1 set)
	B  byte // low seven bits of a position; the parameter's value
}

// Value is the position of a packet.
func (k *Packet) Value() int { return int(k.A)<<7 | int(k.B) }

// At is a command that moves servo id to a position of 0..16383.
func At(id byte, position int) Packet {
	return Packet{Op: Position, ID: id, A: byte(position>>7) & 0x7F, B: byte(position) & 0x7F}
}

// Side is the sender of a Parser's packets: host or servo.
type Side uint8

// The sides.
const (
	FromServos Side = iota
	FromHost
)

// size is the length of a packet of a kind sent by side.
func Size(op Op, side Side) int {
	switch {
	case op == ID && side == FromHost:
		return 4
	case op == ID:
		return 1
	case op == Read && side == FromHost:
		return 2
	}
	return 3
}

// AppendPacket appends k as side sends it.
func AppendPacket(dst []byte, k *Packet, side Side) []byte {
	first := byte(k.Op) | k.ID&0x1F
	switch {
	case k.Op == ID && side == FromHost:
		return append(dst, first, k.A, k.A, k.A)
	case k.Op == ID:
		return append(dst, first)
	case side == FromServos:
		first &= 0x7F
	case k.Op == Read:
		return append(dst, first, k.A)
	}
	return append(dst, first, k.A, k.B)
}

const MaxPacket = 4

// Parser extracts packets from a stream of bytes. Bit 7 distinguishes commands from their data. Replies have no such
// bit: a stream that begins in the middle of one is misread until the line has been idle and Reset was called.
type Parser struct {
	servo.Framer
	side Side
}

// NewParser returns a parser of side's packets.
func NewParser(side Side) *Parser {
	p := &Parser{side: side}
	p.Framer = servo.NewFramer(MaxPacket, servo.Rules{First: p.first, Frame: p.frame, Check: check, Unchecked: true})
	return p
}

// opOf is the kind of a packet by its first byte. Answers to an ID keep their bit 7.
func (p *Parser) opOf(first byte) Op { return Op(first)&0xE0 | 0x80 }

func (p *Parser) first(b byte) bool {
	if p.side == FromHost {
		return b >= 0x80
	}
	return b < 0x60 || b >= 0xE0
}

func (p *Parser) frame(h []byte) (int, bool) {
	if len(h) == 0 {
		return 0, true
	}
	n := Size(p.opOf(h[0]), p.side)
	// A later byte with bit 7 begins another packet.
	for i := 1; i < min(n, len(h)); i++ {
		if h[i] >= 0x80 {
			return 0, false
		}
	}
	return n, true
}

// check compares the repeated bytes of an ID command; other packets have no checksum.
func check(packet []byte) bool {
	return len(packet) < 4 || packet[1] == packet[2] && packet[2] == packet[3]
}

// Next reads the next whole packet into k, false until one is complete.
func (p *Parser) Next(k *Packet) bool {
	packet := p.Frame()
	if packet == nil {
		return false
	}
	*k = Packet{Op: p.opOf(packet[0]), ID: packet[0] & 0x1F}
	if len(packet) > 1 {
		k.A = packet[1]
	}
	if len(packet) == 3 {
		k.B = packet[2]
	}
	return true
}

// The numbers of the parameters (sc).
const (
	Stretch = 1 // stiffness
	Speed   = 2
	Current = 3 // written: limit; read: present
	Heat    = 4 // written: limit; read: present. The lower, the hotter
)
