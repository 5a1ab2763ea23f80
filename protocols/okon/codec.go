package okon

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Type is the command of a packet.
type Type byte

// The types of the document.
const (
	SetMotors      Type = 0xA0 // Motors; without data requests them
	ArmMotors      Type = 0xA1 //
	DisarmMotors   Type = 0xA2 //
	SetControlMode Type = 0xA3 // a bare word; without data requests it
	SetAcro        Type = 0xA4 // Acro; without data requests it
	SetStable      Type = 0xA5 // Stable; without data requests it
	SetPID         Type = 0xA6 // PIDs; without data requests them
	GetSensors     Type = 0xB0 // Sensors
	GetDepth       Type = 0xB1 // JPEG in base64
	GetDepthBytes  Type = 0xB2 // JPEG
	GetVideoBytes  Type = 0xB3 // JPEG
	GetVideo       Type = 0xB4 // JPEG in base64
	SetSim         Type = 0xC0 // Simulation; without data requests it
	Ack            Type = 0xC1 // from the server: empty, an echo, or the answer to an Ack
	SetOrientation Type = 0xC3 // Orientation; without data requests it
	ResetSim       Type = 0xC4 // to all clients too
	Ping           Type = 0xC5 // any data; sent back unchanged
	GetCheckpoints Type = 0xC6 // list of Checkpoint
	HitNoGo        Type = 0xC7 // from the server: the zone's id
	HitFinish      Type = 0xC8 // from the server: the zone's id
	CheckAction    Type = 0xC9 // an id, answered by true or false; without data requests all ids
	failure        Type = 0xCA // from the server: Fault; the document's ERROR
	GetDetections  Type = 0xDE // list of Detection
	torpedo        Type = 0xE0 // of the last original; unanswered
	illegal        Type = 0xFF // ends the session
)

// legacyVideo is the original's only request on the video channel.
const legacyVideo Type = 0x69

var typeNames = [256]string{
	SetMotors: "SET_MTR", ArmMotors: "ARM_MTR", DisarmMotors: "DISARM_MTR", SetControlMode: "SET_CONTROL_MODE",
	SetAcro: "SET_ACRO", SetStable: "SET_STABLE", SetPID: "SET_PID", GetSensors: "GET_SENS", GetDepth: "GET_DEPTH",
	GetDepthBytes: "GET_DEPTH_BYTES", GetVideoBytes: "GET_VIDEO_BYTES", GetVideo: "GET_VIDEO", SetSim: "SET_SIM",
	Ack: "ACK", SetOrientation: "SET_ORIEN", ResetSim: "RST_SIM", Ping: "PING", GetCheckpoints: "GET_CPS",
	HitNoGo: "HIT_NGZ", HitFinish: "HIT_FZ", CheckAction: "CHK_AP", failure: "ERROR", GetDetections: "GET_DETE",
	torpedo: "TORPEDO",
}

func (t Type) String() string {
	if name := typeNames[t]; name != "" {
		return name
	}
	return fmt.Sprintf("0x%02X", byte(t))
}

// Flag is a set of bits.
type Flag byte

// The flags.
const (
	serverEcho Flag = 1   // requests an Ack after the answer
	DoNotLog   Flag = 2   // the packet is sent often
	test       Flag = 128 // in the answer to an Ack
)

// Bounds of the data of one packet, bytes.
const (
	maxRequest = 16 << 10 // to the server: the longest that means something is a SET_PID of 1 KiB
	maxPing    = 2 << 20  // of a PING to the server
	maxReply   = 16 << 20 // to a client: a picture
	headerSize = 6
)

// The errors of malformed packets. After either of them the start of the next packet is unknown.
var (
	errLength  = errors.New("okon: length out of bounds")
	errIllegal = errors.New("okon: illegal packet 0xFF")
)

// Packet is one packet. A decoded packet's Data is valid until the next packet is decoded.
type Packet struct {
	Type Type
	Flag Flag
	Data []byte
}

// Append appends the bytes of p.
func Append(dst []byte, p Packet) []byte {
	return append(appendHeader(dst, p.Type, p.Flag, len(p.Data)), p.Data...)
}

func appendHeader(dst []byte, t Type, f Flag, n int) []byte {
	return binary.LittleEndian.AppendUint32(append(dst, byte(t), byte(f)), uint32(n))
}

// decode reads a packet from the start of b, with at most limit bytes of data, or maxPing for a PING if that is more.
// It returns the number of bytes read; 0 means that the packet is incomplete. p.Data is a part of b.
func decode(b []byte, limit int, p *Packet) (int, error) {
	if len(b) > 0 && Type(b[0]) == illegal {
		return 0, errIllegal
	}
	if len(b) < headerSize {
		return 0, nil
	}
	n := int32(binary.LittleEndian.Uint32(b[2:]))
	p.Type, p.Flag, p.Data = Type(b[0]), Flag(b[1]), nil
	if p.Type == Ping {
		limit = max(limit, maxPing)
	}
	if n < 0 || int(n) > limit {
		return 0, fmt.Errorf("%v of %d bytes, want 0..%d: %w", p.Type, n, limit, errLength)
	}
	if size := headerSize + int(n); len(b) >= size {
		p.Data = b[headerSize:size]
		return size, nil
	}
	return 0, nil
}

// packets splits the bytes of a connection into packets. Its memory grows to the longest packet received, at most
// limit.
type packets struct {
	from       io.Reader
	limit      int
	buf        []byte
	start, end int    // of what is read and not returned
	prompt     func() // where not nil, called before waiting for more
}

// smallest is the buffer of a connection that sends only short packets, bytes.
const smallest = 2048

// buffered reads a packet that is here already, or false.
func (r *packets) buffered(p *Packet) (bool, error) {
	n, err := decode(r.buf[r.start:r.end], r.limit, p)
	r.start += n
	return n > 0, err
}

// next waits for a packet. After errLength p has the type and flag of the packet that is too long.
func (r *packets) next(p *Packet) error {
	for {
		if ok, err := r.buffered(p); ok || err != nil {
			return err
		}
		r.room()
		if r.prompt != nil {
			r.prompt()
		}
		n, err := r.from.Read(r.buf[r.end:])
		r.end += n
		if n == 0 && err != nil {
			return err
		}
	}
}

// room makes room for more of the packet that begins at start.
func (r *packets) room() {
	rest, want := r.buf[r.start:r.end], smallest
	if len(rest) >= headerSize {
		// up to the length in the header, but at most twice the received bytes: a header must not reserve memory
		whole := headerSize + int(binary.LittleEndian.Uint32(rest[2:]))
		want = max(want, min(whole, max(headerSize+maxRequest, 2*len(rest))))
	}
	if len(rest) == 0 && len(r.buf) > headerSize+maxRequest && r.limit == maxRequest {
		r.buf, r.start, r.end, rest = nil, 0, 0, nil // that of a long PING is not kept
	}
	if r.start+want > len(r.buf) {
		if want > len(r.buf) {
			r.buf = make([]byte, want)
		}
		r.start, r.end = 0, copy(r.buf, rest)
	}
}
