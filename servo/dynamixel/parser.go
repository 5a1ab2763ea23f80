package dynamixel

import (
	"bytes"
	"encoding/binary"
)

// Side is who sends what a Parser reads.
type Side uint8

// The sides.
const (
	FromServos Side = iota // status packets, read by a host
	FromHost               // instruction packets, read by a servo
)

// Parser cuts packets out of a stream of bytes. It frames by the length field, so that headers inside data do no harm;
// a packet with a bad checksum costs one byte and the search goes on inside it, so that a false header never hides a
// true one. It never grows: Feed takes only what fits.
type Parser struct {
	Garbage     uint64 // bytes dropped
	BadChecksum uint64 // headers whose packet did not check

	protocol int
	side     Side
	buf      []byte // fixed capacity; buf[at:] is unread
	at       int
}

// NewParser returns a parser of protocol 1 or 2.
func NewParser(protocol int, side Side) *Parser {
	return &Parser{protocol: protocol, side: side, buf: make([]byte, 0, 2*maxPacket)}
}

// Reset forgets what has been fed; the counters stay.
func (p *Parser) Reset() { p.buf, p.at = p.buf[:0], 0 }

// Buffered is the number of bytes fed and not yet part of a packet or dropped.
func (p *Parser) Buffered() int { return len(p.buf) - p.at }

// Feed takes bytes of b and returns how many, all of them when b is no longer than a packet and Next has been called
// until it returned false. It ends the life of the last Packet.
func (p *Parser) Feed(b []byte) int {
	// Bytes already parsed make room; a packet given out is overwritten here, which is why it lives until now only.
	if p.at > 0 {
		p.buf = p.buf[:copy(p.buf, p.buf[p.at:])]
		p.at = 0
	}
	n := min(len(b), cap(p.buf)-len(p.buf))
	p.buf = append(p.buf, b[:n]...)
	return n
}

// Next reads the next whole packet into k, false when there is none yet.
func (p *Parser) Next(k *Packet) bool {
	for {
		// No header can begin before the next FF.
		i := bytes.IndexByte(p.buf[p.at:], 0xFF)
		if i < 0 {
			i = len(p.buf) - p.at
		}
		p.drop(i)
		head := p.buf[p.at:]
		n, ok := p.frame(head)
		switch {
		case !ok:
			p.drop(1)
			continue
		// Wait for more. A false header with a long length delays what is behind it by that many bytes, at most a packet.
		case n == 0 || n > len(head):
			return false
		case !p.check(head[:n]):
			p.BadChecksum++
			p.drop(1)
			continue
		}
		p.at += n
		p.split(head[:n], k)
		return true
	}
}

func (p *Parser) drop(n int) {
	p.at += n
	p.Garbage += uint64(n)
}

// frame returns the length of the packet that head begins with, 0 when too little has come to tell, and false when
// head cannot begin a packet. The rules are DynamixelSDK's, with the least lengths added.
func (p *Parser) frame(head []byte) (int, bool) {
	if p.protocol == 1 {
		return p.frame1(head)
	}
	return p.frame2(head)
}

func (p *Parser) frame1(h []byte) (int, bool) {
	switch {
	// Each byte is judged as soon as it is there, so that the result does not depend on how the stream is cut.
	case len(h) < 2:
		return 0, true
	case h[1] != 0xFF:
		return 0, false
	case len(h) < 3:
		return 0, true
	case h[2] > Broadcast || h[2] == Broadcast && p.side == FromServos:
		return 0, false
	case len(h) < 4:
		return 0, true
	case h[3] < 2 || h[3] > MaxLength1:
		return 0, false
	case len(h) < 5:
		return 0, true
	case h[4] > 0x7F && p.side == FromServos: // bit 7 of the error byte is never set
		return 0, false
	}
	return 4 + int(h[3]), true
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
	// Servos see each other's answers on the line, and a host may hear its own echo: both are garbage to this side.
	return 7 + n, (h[7] == statusOp) == (p.side == FromServos)
}

func (p *Parser) check(packet []byte) bool {
	n := len(packet)
	if p.protocol == 1 {
		return checksum1(packet[2:n-1]) == packet[n-1]
	}
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
