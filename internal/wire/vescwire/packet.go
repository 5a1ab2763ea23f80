package vescwire

import (
	"encoding/binary"

	"github.com/halyard-robotics/halyard/servo"
)

// MaxPayload is the maximum length of a payload, bytes.
const MaxPayload = 512

const (
	MaxPacket = MaxPayload + 6
	shortMark = 2
	longMark  = 3
	endMark   = 3
	shortMax  = 255
)

// AppendPacket appends payload as a packet. It must have 1..MaxPayload bytes.
func AppendPacket(dst, payload []byte) []byte {
	if n := len(payload); n <= shortMax {
		dst = append(dst, shortMark, byte(n))
	} else {
		dst = append(dst, longMark, byte(n>>8), byte(n))
	}
	dst = append(dst, payload...)
	return append(binary.BigEndian.AppendUint16(dst, checksum(payload)), endMark)
}

// checksum is CRC-16/XMODEM.
func checksum(p []byte) uint16 {
	var crc uint16
	for _, b := range p {
		crc ^= uint16(b) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// Parser extracts packets of either side from a stream of bytes: they have the same format. After a bad checksum it
// skips one byte and searches on inside the packet. It never grows.
type Parser struct{ servo.Framer }

// NewParser returns a parser.
func NewParser() *Parser {
	return &Parser{servo.NewFramer(MaxPacket, servo.Rules{First: isStart, Frame: frame, Check: check})}
}

func isStart(b byte) bool { return b == shortMark || b == longMark }

// frame checks a header. A long packet whose payload fits into a short one is refused: it would only delay what
// follows.
func frame(h []byte) (int, bool) {
	switch {
	case len(h) < 2:
		return 0, true
	case h[0] == shortMark:
		return int(h[1]) + 5, h[1] > 0
	case h[1] > MaxPayload>>8:
		return 0, false
	case len(h) < 3:
		return 0, true
	}
	n := int(h[1])<<8 | int(h[2])
	return n + 6, n > shortMax && n <= MaxPayload
}

func check(packet []byte) bool {
	n := len(packet)
	payload := Body(packet)
	return packet[n-1] == endMark && binary.BigEndian.Uint16(packet[n-3:]) == checksum(payload)
}

func Body(packet []byte) []byte {
	if packet[0] == shortMark {
		return packet[2 : len(packet)-3]
	}
	return packet[3 : len(packet)-3]
}

// Next returns the payload of the next whole packet, nil until one is complete. It is the parser's until Feed or Reset.
func (p *Parser) Next() []byte {
	packet := p.Frame()
	if packet == nil {
		return nil
	}
	return Body(packet)
}
