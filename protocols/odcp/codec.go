package odcp

import (
	"encoding/binary"
	"errors"
	"math"
)

// Command is the first byte of a datagram.
type Command byte

// The commands with their fields.
const (
	initCommunication    Command = 5   // C
	initCommunicationAck Command = 6   // S: 15, 1 int, for compatibility with earlier versions
	endCommunication     Command = 7   // C
	endCommunicationAck  Command = 8   // S
	setMotors            Command = 100 // C: angles int..., torques int...
	getMotors            Command = 150 // C
	motorSettings        Command = 151 // S: angles int...
)

// commands are the names of the document's appendix, without UDP_, which of them a server sends, and which end with a
// list of ints.
var commands = [256]struct {
	name         string
	server, ints bool
}{
	initCommunication:    {"INIT_COMMUNICATION", false, false},
	initCommunicationAck: {"INIT_COMMUNICATION_ACK", true, true},
	endCommunication:     {"END_COMMUNICATION", false, false},
	endCommunicationAck:  {"END_COMMUNICATION_ACK", true, false},
	setMotors:            {"COMMAND_SET_MOTORS", false, true},
	getMotors:            {"COMMAND_GET_MOTORS", false, false},
	motorSettings:        {"COMMAND_MOTOR_SETTINGS", true, true},
}

const (
	// MaxDatagram bounds received and sent datagrams, bytes: 500 motors.
	MaxDatagram = 4096
	// Greatest is the maximum angle and torque.
	Greatest = 1023
	// unknown is an angle that is not measured: outside the document's range, so that no pose is taken for one. Set, it
	// is no command.
	unknown = -1
)

// The errors of decode.
var (
	ErrTruncated = errors.New("odcp: datagram ends before its fields do")
	ErrOversized = errors.New("odcp: datagram is longer than MaxDatagram")
	ErrUnknown   = errors.New("odcp: unknown command")
)

// Datagram is any datagram of the protocol.
type Datagram struct {
	Command Command
	Values  []int32 // 6 100 151; keeps its memory from one decode to the next
}

// Append encodes d behind b.
func Append(b []byte, d *Datagram) []byte {
	b = append(b, byte(d.Command))
	for _, v := range d.Values {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// decode reads b into d. It reads the complete ints of a list; bytes after other commands are ignored.
func decode(b []byte, d *Datagram) error {
	switch {
	case len(b) == 0:
		return ErrTruncated
	case len(b) > MaxDatagram:
		return ErrOversized
	}
	d.Command, d.Values = Command(b[0]), d.Values[:0]
	if commands[d.Command].name == "" {
		return ErrUnknown
	}
	for b = b[1:]; commands[d.Command].ints && len(b) >= 4; b = b[4:] {
		d.Values = append(d.Values, int32(binary.LittleEndian.Uint32(b)))
	}
	return nil
}

// fraction is an angle or torque as 0..1, clamped.
func fraction(v int32) float64 { return float64(min(max(v, 0), Greatest)) / Greatest }

// fromFraction is the nearest angle or torque, clamped; unknown for NaN.
func fromFraction(f float64) int32 {
	if math.IsNaN(f) {
		return unknown
	}
	return int32(math.Floor(math.Min(1, math.Max(0, f))*Greatest + 0.5))
}

// Angle is the wire's form of a normalised angle of -1..1, Torque that of a normalised torque of 0..1; both are
// clamped.
func Angle(normalised float64) int32  { return fromFraction((normalised + 1) / 2) }
func Torque(normalised float64) int32 { return fromFraction(normalised) }

// NormalisedAngle is the inverse of Angle: -1..1.
func NormalisedAngle(v int32) float64 { return 2*fraction(v) - 1 }
