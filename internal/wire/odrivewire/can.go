package odrivewire

import (
	"math"

	"github.com/halyard-robotics/halyard/servo"
)

// Command is the type of a CAN frame, the low five bits of its id.
type Command byte

// The commands, with their data. f32 is a 32-bit float.
const (
	GetVersion     Command = 0x00 // 0.6: protocol, hardware 3, firmware 3, unreleased
	Heartbeat      Command = 0x01 // errors, state, ...; every 100 ms
	Estop          Command = 0x02
	GetErrors      Command = 0x03 // 0.6: active, disarm reason
	RxSDO          Command = 0x04 // 0.6: opcode, endpoint (2), 0, value: to the axis
	TxSDO          Command = 0x05 // 0.6: 0, endpoint (2), 0, value: its answer to a reading
	SetState       Command = 0x07 // uint32 State
	Estimates      Command = 0x09 // f32 turns, f32 turns/s
	SetControl     Command = 0x0B // uint32 Control, uint32 input mode
	InputPos       Command = 0x0C // f32 turns, int16 0.001 turns/s, int16 0.001 N·m
	InputVel       Command = 0x0D // f32 turns/s, f32 N·m
	InputTorque    Command = 0x0E // f32 N·m
	SetLimits      Command = 0x0F // f32 turns/s, f32 A
	GetIq          Command = 0x14 // f32 A asked for, f32 A measured
	GetTemperature Command = 0x15 // 0.6: f32 °C bridge, f32 °C motor
	Reboot         Command = 0x16
	GetBus         Command = 0x17 // f32 V, f32 A
	ClearErrors    Command = 0x18
	GetTorques     Command = 0x1C // 0.6: f32 N·m asked for, f32 N·m estimated
)

// LastNode is the greatest node that a robot uses: 63 is of those without an address yet.
const LastNode = 62

// Frame is the empty frame of a command to or from a node.
func Frame(node byte, c Command) servo.CANFrame {
	return servo.CANFrame{ID: uint32(node)<<5 | uint32(c&0x1F)}
}

// Ask is the frame that asks a node for c.
func Ask(node byte, c Command) servo.CANFrame {
	f := Frame(node, c)
	f.Remote = true
	return f
}

// Split returns the node and command of a frame; false if it is not a CANSimple frame.
func Split(f *servo.CANFrame) (node byte, c Command, ok bool) {
	return byte(f.ID >> 5), Command(f.ID & 0x1F), !f.Extended && !f.Error && f.ID <= servo.MaxCAN
}

// Floats is the frame of a command that carries one or two floats.
func Floats(node byte, c Command, values ...float64) servo.CANFrame {
	f := Frame(node, c)
	for i, v := range values {
		f.SetFloat(4*i, v)
	}
	return f
}

// Words is the frame of a command that carries one or two words.
func Words(node byte, c Command, values ...uint32) servo.CANFrame {
	f := Frame(node, c)
	for i, v := range values {
		f.SetWord(4*i, v)
	}
	return f
}

// Position is an InputPos frame: turns, and no feed-forward.
func Position(node byte, turns float64) servo.CANFrame {
	f := Floats(node, InputPos, turns)
	f.Len = 8
	return f
}

// HeartbeatMessage is a heartbeat.
type HeartbeatMessage struct {
	Errors Errors
	State  State
}

// ParseBeat reads a heartbeat; false where the frame is too short.
func ParseBeat(f *servo.CANFrame) (HeartbeatMessage, bool) {
	return HeartbeatMessage{Errors(f.Word(0)), State(f.Data[4])}, f.Len >= 5
}

// Frame is the heartbeat of a node.
func (b HeartbeatMessage) Frame(node byte) servo.CANFrame {
	return Words(node, Heartbeat, uint32(b.Errors), uint32(b.State))
}

// SDO reads or writes the value of an endpoint, whose number depends on the firmware (flat_endpoints.json).
type SDO struct {
	Write    bool
	Endpoint uint16
	Value    uint32
}

// Frame is s to (RxSDO) or from (TxSDO) a node.
func (s SDO) Frame(node byte, c Command) servo.CANFrame {
	f := Frame(node, c)
	if f.Len = 8; s.Write {
		f.Data[0] = 1
	}
	f.Data[1], f.Data[2] = byte(s.Endpoint), byte(s.Endpoint>>8)
	f.SetWord(4, s.Value)
	return f
}

// ParseSDO reads one; false where the frame is too short. Values may have 1 to 4 bytes.
func ParseSDO(f *servo.CANFrame) (SDO, bool) {
	s := SDO{Write: f.Data[0] == 1, Endpoint: uint16(f.Data[1]) | uint16(f.Data[2])<<8}
	for i := byte(4); i < min(f.Len, 8); i++ {
		s.Value |= uint32(f.Data[i]) << (8 * (i - 4))
	}
	return s, f.Len >= 5 || !s.Write && f.Len >= 3
}

// floatWord is v as an SDO carries a float.
func FloatWord(v float64) uint32 { return math.Float32bits(float32(v)) }
