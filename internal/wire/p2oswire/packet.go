package p2oswire

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/halyard-robotics/halyard/servo"
)

const (
	head1 = 0xFA
	head2 = 0xFB
	// maxPacket bounds a packet, as the manual does.
	MaxPacket = 200
	// maxData is the maximum length of the data, without header, count and checksum.
	maxData = MaxPacket - 5
)

// Checksum is that of a packet's data: big-endian pairs added, an odd last byte folded into the low one.
func Checksum(data []byte) uint16 {
	var c uint16
	for ; len(data) > 1; data = data[2:] {
		c += binary.BigEndian.Uint16(data)
	}
	if len(data) == 1 {
		c ^= uint16(data[0])
	}
	return c
}

// AppendPacket appends a packet of data, which must have 1 to 195 bytes.
func AppendPacket(dst, data []byte) []byte {
	dst = append(append(dst, head1, head2, byte(len(data)+2)), data...)
	return binary.BigEndian.AppendUint16(dst, Checksum(data))
}

// Command is one thing that a client asks for.
type Command struct {
	Op   Op
	Kind ArgKind
	Int  int    // of Number: -65535..65535
	Text string // of Text, at most 190 bytes
}

// ArgKind is the type of a command's argument.
type ArgKind uint8

// The kinds of argument.
const (
	NoArg ArgKind = iota
	Number
	Text
)

// Append appends the command as a packet.
func (c *Command) Append(dst []byte) []byte {
	data := [maxData]byte{byte(c.Op)}
	b := data[:1]
	switch c.Kind {
	case Number:
		kind, v := byte(argPositive), c.Int
		if v < 0 {
			kind, v = argNegative, -v
		}
		b = append(b, kind, byte(v), byte(v>>8))
	case Text:
		text := c.Text[:min(len(c.Text), maxData-3)]
		b = append(append(b, argText, byte(len(text))), text...)
	}
	return AppendPacket(dst, b)
}

// DecodeCommand is the inverse of Append, for a packet's data. A single kind byte after the operation counts as no
// argument, since Player sends SETO this way. It keeps no reference to data.
func DecodeCommand(data []byte) (Command, error) {
	bad := func(want string) (Command, error) {
		return Command{}, fmt.Errorf("base: command: got % X, want %s", data, want)
	}
	switch n := len(data); {
	case n == 0:
		return bad("an operation")
	case n == 1, n == 2 && data[1] == argPositive:
		return Command{Op: Op(data[0])}, nil
	}
	c := Command{Op: Op(data[0]), Kind: Number}
	switch data[1] {
	case argPositive, argNegative:
		if len(data) != 4 {
			return bad("a number of two bytes")
		}
		if c.Int = int(binary.LittleEndian.Uint16(data[2:])); data[1] == argNegative {
			c.Int = -c.Int
		}
	case argText:
		if len(data) < 3 || int(data[2]) != len(data)-3 {
			return bad("a text as long as its length field")
		}
		c.Kind, c.Text = Text, string(data[3:])
	default:
		return bad("3B, 1B or 2B")
	}
	return c, nil
}

// Parser extracts packets of either side from a stream of bytes. Its result does not depend on the sizes of the pieces
// fed.
type Parser struct {
	servo.Framer
	doubtful []byte // the last CONFIGpac with a wrong checksum
}

// NewParser returns an empty parser.
func NewParser() *Parser {
	p := &Parser{doubtful: make([]byte, 0, MaxPacket)}
	p.Framer = servo.NewFramer(MaxPacket, servo.Rules{
		First: servo.IsByte(head1),
		Frame: func(h []byte) (int, bool) {
			switch {
			case len(h) < 2:
				return 0, true
			case h[1] != head2:
				return 0, false
			case len(h) < 3:
				return 0, true
			}
			return 3 + int(h[2]), h[2] >= 3 && int(h[2]) <= MaxPacket-3
		},
		Check: p.check,
	})
	return p
}

// check reports whether a packet is valid. The firmware of several Pioneers always sends a wrong checksum in its
// CONFIGpac: it is accepted if it is received twice, byte for byte the same.
func (p *Parser) check(packet []byte) bool {
	n := len(packet) - 2
	if Checksum(packet[3:n]) == binary.BigEndian.Uint16(packet[n:]) {
		return true
	}
	if packet[3] != TypeConfig {
		return false
	}
	again := bytes.Equal(p.doubtful, packet)
	p.doubtful = append(p.doubtful[:0], packet...)
	return again
}

// Data is the data of the next whole packet, nil until one is complete. It is the parser's until Feed or Reset.
func (p *Parser) Data() []byte {
	f := p.Frame()
	if f == nil {
		return nil
	}
	return f[3 : len(f)-2]
}
