package hiwonderwire

import "github.com/halyard-robotics/halyard/servo"

// Broadcast is the ID that every servo listens to. Alone on a line, a servo answers reads under it.
const Broadcast = 0xFE

// LastID is the greatest ID of a servo.
const LastID = 0xFD

// maxLength bounds the length field: no command has more than four bytes of parameters.
const maxLength = 7

const MaxPacket = 3 + maxLength

// Packet is one frame, its checksum good. Params belongs to the parser until its next call.
type Packet struct {
	ID      byte
	Command byte
	Params  []byte // four bytes at the most
}

// AppendPacket appends k.
func AppendPacket(dst []byte, k *Packet) []byte {
	start := len(dst)
	dst = append(dst, 0x55, 0x55, k.ID, byte(len(k.Params)+3), k.Command)
	dst = append(dst, k.Params...)
	return append(dst, servo.Complement(dst[start+2:]))
}

// Parser extracts packets of either side from a stream of bytes: they have the same format. After a bad checksum it
// skips one byte and searches on inside the packet. It never grows.
type Parser struct{ servo.Framer }

// NewParser returns a parser.
func NewParser() *Parser {
	return &Parser{servo.NewFramer(MaxPacket,
		servo.Rules{First: servo.IsByte(0x55), Frame: frame, Check: servo.CheckComplement})}
}

func frame(h []byte) (int, bool) { return servo.FrameTwin(h, Broadcast, 3, maxLength, 3) }

// Next reads the next whole packet into k, false until one is complete.
func (p *Parser) Next(k *Packet) bool {
	packet := p.Frame()
	if packet == nil {
		return false
	}
	*k = Packet{ID: packet[2], Command: packet[4], Params: packet[5 : len(packet)-1]}
	return true
}

// The commands without registers, and the one that writes an offset.
const (
	MoveStart    = 11 // begin the motion stored by 7
	MoveStop     = 12 // stay where you are
	AdjustOffset = 17 // until power-off
	SaveOffset   = 18 // for good
)
