package feetechwire

import (
	"fmt"

	"github.com/halyard-robotics/halyard/servo"
)

// Broadcast is the ID that every servo receives; no servo answers it.
const Broadcast = 0xFE

// LastID is the greatest ID of a servo.
const LastID = 0xFD

// maxLength bounds the length field, as Feetech's SDK does; it bounds every buffer of the package.
const MaxLength = 250

const MaxPacket = 4 + MaxLength

// Op is an instruction code. The comment gives the parameters.
type Op byte

// The instructions.
const (
	Ping      Op = 0x01 // none; none in the reply either
	Read      Op = 0x02 // addr len
	Write     Op = 0x03 // addr data..
	RegWrite  Op = 0x04 // as Write; waits for Action
	Action    Op = 0x05 // none
	Reset     Op = 0x0A // none; resets the memory table to factory defaults, except the ID
	Calibrate Op = 0x0B // none; the present position becomes the middle. Only some firmware
	SyncRead  Op = 0x82 // addr len id..; replies one after the other. Only STS and SMS
	SyncWrite Op = 0x83 // addr len {id data}..
)

var opNames = map[Op]string{
	Ping: "ping", Read: "read", Write: "write", RegWrite: "reg write", Action: "action", Reset: "reset",
	Calibrate: "calibrate", SyncRead: "sync read", SyncWrite: "sync write",
}

// String names the instruction.
func (o Op) String() string {
	if name, ok := opNames[o]; ok {
		return name
	}
	return fmt.Sprintf("instruction %02X", byte(o))
}

// Packet is one frame, its checksum good. Code is the instruction on the way out, the error byte on the way back.
// Params belongs to the parser until its next call.
type Packet struct {
	ID     byte
	Code   byte
	Params []byte
}

// AppendPacket appends k. The caller keeps Params within 248 bytes.
func AppendPacket(dst []byte, k *Packet) []byte {
	start := len(dst)
	dst = append(dst, 0xFF, 0xFF, k.ID, byte(len(k.Params)+2), k.Code)
	dst = append(dst, k.Params...)
	return append(dst, servo.Complement(dst[start+2:]))
}

// AppendRead appends a request for n bytes from addr.
func AppendRead(dst []byte, id, addr, n byte) []byte {
	p := [2]byte{addr, n}
	return AppendPacket(dst, &Packet{ID: id, Code: byte(Read), Params: p[:]})
}

// AppendWrite appends a write of data at addr.
func AppendWrite(dst []byte, id, addr byte, data []byte) []byte {
	start := len(dst)
	dst = append(dst, 0xFF, 0xFF, id, byte(len(data)+3), byte(Write), addr)
	dst = append(dst, data...)
	return append(dst, servo.Complement(dst[start+2:]))
}

// Group is a sync packet in the making: one address and size, then the servos one by one.
type Group struct {
	dst   []byte
	start int
}

// BeginGroup appends the beginning of a SyncRead or SyncWrite of size bytes at addr to dst.
func BeginGroup(dst []byte, op Op, addr, size byte) Group {
	return Group{append(dst, 0xFF, 0xFF, Broadcast, 0, byte(op), addr, size), len(dst)}
}

// Add appends one servo, with its data where they are written.
func (g *Group) Add(id byte, data []byte) { g.dst = append(append(g.dst, id), data...) }

// End fills in the length and appends the checksum.
func (g *Group) End() []byte {
	g.dst[g.start+3] = byte(len(g.dst) - g.start - 3)
	return append(g.dst, servo.Complement(g.dst[g.start+2:]))
}

// Side is the sender of a Parser's packets: host or servo.
type Side uint8

// The sides.
const (
	FromServos Side = iota
	FromHost
)

// Parser extracts packets from a stream of bytes. It frames by the length field, so headers inside data do no harm.
// After a bad checksum it skips one byte and searches on inside the packet. It never grows.
type Parser struct {
	servo.Framer
	side Side
}

// NewParser returns a parser of side's packets.
func NewParser(side Side) *Parser {
	p := &Parser{side: side}
	p.Framer = servo.NewFramer(MaxPacket,
		servo.Rules{First: servo.IsByte(0xFF), Frame: p.frame, Check: servo.CheckComplement})
	return p
}

func (p *Parser) frame(h []byte) (int, bool) {
	last := byte(Broadcast)
	if p.side == FromServos {
		last = LastID
		// Bits 6 and 7 of the error byte are never set.
		if len(h) > 4 && h[4] > 0x3F {
			return 0, false
		}
	}
	return servo.FrameTwin(h, last, 2, MaxLength, 4)
}

// Next reads the next whole packet into k, false until one is complete.
func (p *Parser) Next(k *Packet) bool {
	packet := p.Frame()
	if packet == nil {
		return false
	}
	*k = Packet{ID: packet[2], Code: packet[4], Params: packet[5 : len(packet)-1]}
	return true
}
