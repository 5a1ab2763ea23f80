package foxglove

import (
	"encoding/binary"
	"fmt"
	"time"
)

// The opcodes of binary messages.
const (
	opMessageData         = 0x01 // both ways
	opTime                = 0x02 // server
	opServiceCallRequest  = 0x02 // client
	opServiceCallResponse = 0x03 // server
)

const maxEncoding = 64 // bytes of the name of an encoding

// appendMessageData appends a message of a subscription: 01 id:u32 time:u64 payload.
func appendMessageData(b []byte, id uint32, at time.Duration, payload []byte) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, opMessageData), id)
	return append(binary.LittleEndian.AppendUint64(b, uint64(max(at, 0))), payload...)
}

// appendTime appends the rig's time: 02 time:u64.
func appendTime(b []byte, at time.Duration) []byte {
	return binary.LittleEndian.AppendUint64(append(b, opTime), uint64(max(at, 0)))
}

// call is a service call or its response: service:u32 call:u32 length:u32 encoding payload.
type call struct {
	service, id uint32
	encoding    string
	payload     []byte
}

// append appends a call behind its opcode.
func (c *call) append(b []byte, op byte) []byte {
	b = binary.LittleEndian.AppendUint32(append(b, op), c.service)
	b = binary.LittleEndian.AppendUint32(b, c.id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.encoding)))
	return append(append(b, c.encoding...), c.payload...)
}

// clientMessage is a client's binary message: data of one of its channels, or a service call.
type clientMessage struct {
	channel uint32
	data    []byte
	call    *call
}

// decodeClient reads a client's binary message. It refers to b.
func decodeClient(b []byte) (m clientMessage, err error) {
	short := fmt.Errorf("binary message: got %d bytes, want more", len(b))
	if len(b) < 5 {
		return m, short
	}
	first := binary.LittleEndian.Uint32(b[1:])
	switch b[0] {
	case opMessageData:
		m.channel, m.data = first, b[5:]
		return m, nil
	case opServiceCallRequest:
		if len(b) < 13 {
			return m, short
		}
		n := binary.LittleEndian.Uint32(b[9:])
		if n > maxEncoding || int(n) > len(b)-13 {
			return m, fmt.Errorf("service call: encoding: got %d bytes, want at most %d and no more than there are", n,
				maxEncoding)
		}
		m.call = &call{first, binary.LittleEndian.Uint32(b[5:]), string(b[13 : 13+n]), b[13+n:]}
		return m, nil
	}
	return m, fmt.Errorf("binary message: opcode: got %d, want 1 or 2", b[0])
}
