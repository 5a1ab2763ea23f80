package dynamixel

import (
	"encoding/binary"

	"github.com/halyard-robotics/halyard/servo"
)

// Side is the sender of a Parser's packets: host or servo.
type Side uint8

// The sides.
const (
	FromServos Side = iota // status packets, read by a host
	FromHost               // instruction packets, read by a servo
)

// Parser extracts packets from a stream of bytes. It frames by the length field, so headers inside data do no harm.
// After a bad checksum it skips one byte and searches on inside the packet, so that a false header never hides a true
// one. It never grows: Feed accepts only the bytes that fit.
type Parser struct {
	servo.Framer
	protocol int
	side     Side
}

// NewParser returns a parser of protocol 1 or 2.
func NewParser(protocol int, side Side) *Parser {
	p := &Parser{protocol: protocol, side: side}
	p.Framer = servo.NewFramer(maxPacket, servo.Rules{First: servo.IsByte(0xFF), Frame: p.frame, Check: p.check})
	return p
}

// Next reads the next whole packet into k, false until one is complete.
func (p *Parser) Next(k *Packet) bool {
	packet := p.Frame()
	if packet != nil {
		p.split(packet, k)
	}
	return packet != nil
}

// frame returns the length of the packet that head begins, 0 if more bytes are needed, and false if head cannot begin a
// packet. The rules are DynamixelSDK's, with minimum lengths added.
func (p *Parser) frame(head []byte) (int, bool) {
	if p.protocol == 1 {
		return p.frame1(head)
	}
	return p.frame2(head)
}

func (p *Parser) frame1(h []byte) (int, bool) {
	last := byte(Broadcast)
	if p.side == FromServos {
		last--
	}
	// Bit 7 of the error byte is never set.
	if len(h) > 4 && h[4] > 0x7F && p.side == FromServos {
		return 0, false
	}
	return servo.FrameTwin(h, last, 2, maxLength1, 4)
}

func (p *Parser) frame2(h []byte) (int, bool) {
	// The fourth byte is reserved and zero.
	const head = "\xFF\xFF\xFD\x00"
	if n := min(len(h), 4); string(h[:n]) != head[:n] {
		return 0, false
	}
	if len(h) >= 5 && (h[4] == 0xFD || h[4] == 0xFF) {
		return 0, false
	}
	if len(h) < 7 {
		return 0, true
	}
	n := int(binary.LittleEndian.Uint16(h[5:]))
	// An instruction has at least its code and CRC, an answer an error byte too.
	least := 3
	if p.side == FromServos {
		least = 4
	}
	if n < least || n > MaxLength2 {
		return 0, false
	}
	if len(h) < 8 {
		return 0, true
	}
	// Servos see each other's answers on the line, and a host may receive its own echo: both are garbage to this side.
	return 7 + n, (h[7] == statusOp) == (p.side == FromServos)
}

func (p *Parser) check(packet []byte) bool {
	if p.protocol == 1 {
		return servo.CheckComplement(packet)
	}
	n := len(packet)
	return crc16(0, packet[:n-2]) == binary.LittleEndian.Uint16(packet[n-2:])
}

// split takes a checked packet apart. Only the common answer to a fast read is not stuffed.
func (p *Parser) split(packet []byte, k *Packet) {
	n := len(packet)
	if p.protocol == 1 {
		*k = Packet{ID: packet[2], Code: packet[4], Params: packet[5 : n-1]}
		return
	}
	body := packet[7 : n-2]
	if !(packet[4] == Broadcast && p.side == FromServos) {
		body = unstuff(body)
	}
	*k = Packet{ID: packet[4], Code: body[0], Params: body[1:]}
}
