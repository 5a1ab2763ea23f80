package cybergearwire

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/halyard-robotics/halyard/servo"
)

// Type is the type of a frame.
type Type byte

// The types.
const (
	DeviceID Type = 0
	Motion   Type = 1
	Report   Type = 2 // feedback
	Enable   Type = 3
	Stop     Type = 4
	ZeroSet  Type = 6
	SetID    Type = 7 // the new id in the upper byte of Extra
	Read     Type = 17
	Write    Type = 18
	Faulted  Type = 21
)

// The ids. Host is the id of this program; motors accept any host id.
const (
	LastID   = 127
	Host     = 0xFD
	AnswerID = 0xFE // target of the answer to DeviceID
)

// Message is a frame taken apart: its type, the 16 bits of its identifier that are the type's, its target and its
// bytes.
type Message struct {
	Type   Type
	Extra  uint16
	Target byte
	Data   [8]byte
}

// Frame is m as it goes over the bus.
func (m *Message) Frame() servo.CANFrame {
	id := uint32(m.Type)<<24 | uint32(m.Extra)<<8 | uint32(m.Target)
	return servo.CANFrame{ID: id, Extended: true, Len: 8, Data: m.Data}
}

// Parse reads a frame into m; false if it is not a frame of this protocol.
func (m *Message) Parse(f *servo.CANFrame) bool {
	if !f.Extended || f.Remote || f.Error || f.Len != 8 {
		return false
	}
	*m = Message{Type: Type(f.ID >> 24), Extra: uint16(f.ID >> 8), Target: byte(f.ID), Data: f.Data}
	return true
}

// To is an empty message of a type from this host to motor id.
func To(id byte, t Type) Message { return Message{Type: t, Extra: Host, Target: id} }

// Spans are the greatest values that the 16-bit words of a motor reach, either way.
type Spans struct {
	Angle, Speed, Torque float64 // rad, rad/s, N·m
	Kp, Kd               float64 // N·m/rad, N·m·s/rad; from 0
}

// Motions are the five values of a motion command: torque = Kp·(Angle - angle) + Kd·(Speed - speed) + Torque.
// Units are those of Spans.
type Motions struct{ Angle, Speed, Torque, Kp, Kd float64 }

// Message is g for motor id.
func (g *Motions) Message(id byte, s *Spans) Message {
	m := Message{Type: Motion, Extra: word(g.Torque, s.Torque), Target: id}
	be := binary.BigEndian
	be.PutUint16(m.Data[0:], word(g.Angle, s.Angle))
	be.PutUint16(m.Data[2:], word(g.Speed, s.Speed))
	be.PutUint16(m.Data[4:], word(2*g.Kp-s.Kp, s.Kp))
	be.PutUint16(m.Data[6:], word(2*g.Kd-s.Kd, s.Kd))
	return m
}

// Parse reads a motion command.
func (g *Motions) Parse(m *Message, s *Spans) {
	be := binary.BigEndian
	*g = Motions{
		Torque: value(m.Extra, s.Torque),
		Angle:  value(be.Uint16(m.Data[0:]), s.Angle), Speed: value(be.Uint16(m.Data[2:]), s.Speed),
		Kp: (value(be.Uint16(m.Data[4:]), s.Kp) + s.Kp) / 2, Kd: (value(be.Uint16(m.Data[6:]), s.Kd) + s.Kd) / 2,
	}
}

// word is v of -span..span as 16 bits, 0 in the middle; NaN is 0.
func word(v, span float64) uint16 {
	if math.IsNaN(v) {
		v = 0
	}
	return uint16(math.Round((min(max(v, -span), span) + span) / (2 * span) * 65535))
}

func value(w uint16, span float64) float64 { return float64(w)*2*span/65535 - span }

// State is the operating state of a motor.
type State byte

// The states.
const (
	Resting State = iota
	Calibrating
	Running
)

// Faults are the fault bits of feedback.
type Faults byte

// The faults.
const (
	UnderVoltage Faults = 1 << iota
	OverCurrent
	OverHeat
	EncoderFault
	HallFault
	NotCalibrated
)

// faultNames are their names in the manual of the CyberGear.
var FaultNames = servo.FaultTable{
	servo.Bit(uint64(UnderVoltage), "under-voltage fault", servo.AlarmVoltage, "check its supply: 16 to 28 V"),
	servo.Bit(uint64(OverCurrent), "over-current", servo.AlarmShock, ""),
	servo.Bit(uint64(OverHeat), "over-temperature", servo.AlarmHeat, "below 80 °C of the motor it takes torque again"),
	servo.Bit(uint64(EncoderFault), "magnetic encoding fault", servo.AlarmEncoder, ""),
	servo.Bit(uint64(HallFault), "HALL encoding failure", servo.AlarmEncoder, ""),
	servo.Bit(uint64(NotCalibrated), "not calibrated", servo.AlarmEncoder, "calibrate it with the maker's tool"),
}

// Alarm converts f to the common alarms.
func (f Faults) Alarm() servo.Alarm { return FaultNames.Alarm(uint64(f)) }

// Feedback is the reply of a motor to most commands.
type Feedback struct {
	ID                   byte
	State                State
	Faults               Faults
	Angle, Speed, Torque float64 // rad, rad/s, N·m
	Celsius              float64 // °C
}

// Message is b to host.
func (b *Feedback) Message(host byte, s *Spans) Message {
	m := Message{Type: Report, Extra: uint16(b.State)<<14 | uint16(b.Faults&0x3F)<<8 | uint16(b.ID), Target: host}
	be := binary.BigEndian
	be.PutUint16(m.Data[0:], word(b.Angle, s.Angle))
	be.PutUint16(m.Data[2:], word(b.Speed, s.Speed))
	be.PutUint16(m.Data[4:], word(b.Torque, s.Torque))
	be.PutUint16(m.Data[6:], uint16(int16(math.Round(b.Celsius*10))))
	return m
}

// Parse reads feedback.
func (b *Feedback) Parse(m *Message, s *Spans) {
	be := binary.BigEndian
	*b = Feedback{
		ID: byte(m.Extra), State: State(m.Extra >> 14), Faults: Faults(m.Extra>>8) & 0x3F,
		Angle: value(be.Uint16(m.Data[0:]), s.Angle), Speed: value(be.Uint16(m.Data[2:]), s.Speed),
		Torque: value(be.Uint16(m.Data[4:]), s.Torque), Celsius: float64(int16(be.Uint16(m.Data[6:]))) / 10,
	}
}

// Index names a parameter.
type Index uint16

// The parameters that a motor's frames read and write.
const (
	RunMode     Index = 0x7005 // byte: Operating..InCurrent
	IqRef       Index = 0x7006 // A
	SpeedRef    Index = 0x700A // rad/s
	LimitTorque Index = 0x700B // N·m
	CurrentP    Index = 0x7010
	CurrentI    Index = 0x7011
	AngleRef    Index = 0x7016 // rad
	LimitSpeed  Index = 0x7017 // rad/s, of the position mode
	MechAngle   Index = 0x7019 // rad, read only from here to Turns
	IqNow       Index = 0x701A // A
	MechSpeed   Index = 0x701B // rad/s
	BusVolts    Index = 0x701C // V
	Turns       Index = 0x701D // int16, of the rotor
	AngleP      Index = 0x701E
	SpeedP      Index = 0x701F
	SpeedI      Index = 0x7020
	CANTimeout  Index = 0x200C // whole number of 50 µs; 0 = never

	CurrentFilter Index = 0x7014 // 0..1
	LimitCurrent  Index = 0x7018 // A, of the speed and the position mode
)

// whole reports whether the parameter is an integer, not a float.
func (i Index) whole() bool { return i == RunMode || i == CANTimeout || i == Turns }

// The values of RunMode.
const (
	Operating = iota
	InPosition
	InSpeed
	InCurrent
)

// Ask is the question for a parameter of motor id.
func Ask(id byte, i Index) Message {
	m := To(id, Read)
	binary.LittleEndian.PutUint16(m.Data[:], uint16(i))
	return m
}

// Set writes v to a parameter of motor id.
func Set(id byte, i Index, v float64) Message {
	m := Ask(id, i)
	m.Type = Write
	m.put(i, v)
	return m
}

func (m *Message) put(i Index, v float64) {
	if i.whole() {
		binary.LittleEndian.PutUint32(m.Data[4:], uint32(int64(v)))
		return
	}
	binary.LittleEndian.PutUint32(m.Data[4:], math.Float32bits(float32(v)))
}

// Answer is the answer of motor id to Ask from host.
func Answer(id, host byte, i Index, v float64) Message {
	m := Ask(host, i)
	m.Extra = uint16(id)
	m.put(i, v)
	return m
}

// Parameter reads a parameter's message, a question, an answer or a writing.
func (m *Message) Parameter() (Index, float64) {
	i := Index(binary.LittleEndian.Uint16(m.Data[:]))
	raw := binary.LittleEndian.Uint32(m.Data[4:])
	switch {
	case i == RunMode:
		return i, float64(byte(raw))
	case i == Turns:
		return i, float64(int16(raw))
	case i.whole():
		return i, float64(raw)
	}
	return i, float64(math.Float32frombits(raw))
}

// sender is the id of the motor that sent a reply; false if m is not a reply.
func (m *Message) Sender() (byte, bool) {
	switch m.Type {
	case Report, Read, Faulted:
		return byte(m.Extra), m.Target == Host
	case DeviceID:
		return byte(m.Extra), m.Target == AnswerID
	}
	return 0, false
}

func (m *Message) String() string {
	return fmt.Sprintf("type %d, %04X, to %d, % X", m.Type, m.Extra, m.Target, m.Data)
}
