package vescwire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Command is the first byte of a payload (datatypes.h, COMM_PACKET_ID).
type Command byte

// The commands, with their data; f32 is a 32-bit float.
const (
	FWVersion       Command = 0  // -> major, minor, hardware's name, 0, ...
	GetValues       Command = 4  // -> every field of Values in its order
	SetDuty         Command = 5  // int32, 1e-5
	SetCurrent      Command = 6  // int32, mA; 0 lets the motor go
	SetCurrentBrake Command = 7  // int32, mA
	SetRPM          Command = 8  // int32, electrical turns a minute
	SetPos          Command = 9  // int32, 1e-6 degrees
	GetAppConf      Command = 17 // -> signature, id, uint32 timeout in ms, f32 brake current, ...
	Alive           Command = 30 // the active command continues
	ForwardCAN      Command = 34 // id, then a payload for that controller
	Selective       Command = 50 // mask -> mask, the fields of Values that it names
	PingCAN         Command = 62 // -> the ids behind the first controller
	GetMcConfTemp   Command = 91 // -> ten f32 of limits, motor poles, f32 gear ratio, f32 wheel diameter
)

// LastID is the greatest id of a controller.
const LastID = 253

// Field is one of the values that GetValues answers with; its number is its bit of a Selective mask.
type Field uint8

// The fields in their order, with the scale that they are sent at.
const (
	TempFET     Field = iota // °C, of the bridge
	TempMotor                // °C
	Current                  // A of the motor, negative where it brakes
	CurrentIn                // A of the supply
	CurrentD                 // A
	CurrentQ                 // A, the sign is the torque's
	Duty                     // -1..1
	ERPM                     // electrical turns a minute
	Volts                    // V of the supply
	AmpHours                 // A·h
	AmpHoursIn               // A·h, charged
	WattHours                // W·h
	WattHoursIn              // W·h, charged
	Tacho                    // sixths of electrical turns, signed, since it has power
	TachoAbs                 // the same without sign
	FaultCode                // Fault
	PosNow                   // degrees, of the encoder, 0..360
	ControllerID
	TempFETs // °C of three bridges: three values, of which the first is kept
	VoltsD   // V
	VoltsQ   // V
	Status   // bits: 0 timed out, 1 kill switch
	NumFields
)

// fields are the size of each, bytes, and its scale: value = integer / scale.
var Fields = [NumFields]struct {
	size  int
	Scale float64
}{
	TempFET: {2, 10}, TempMotor: {2, 10}, Current: {4, 100}, CurrentIn: {4, 100}, CurrentD: {4, 100},
	CurrentQ: {4, 100},
	Duty:     {2, 1000}, ERPM: {4, 1}, Volts: {2, 10}, AmpHours: {4, 1e4}, AmpHoursIn: {4, 1e4}, WattHours: {4, 1e4},
	WattHoursIn: {4, 1e4}, Tacho: {4, 1}, TachoAbs: {4, 1}, FaultCode: {1, 1}, PosNow: {4, 1e6}, ControllerID: {1, 1},
	TempFETs: {6, 10}, VoltsD: {4, 1000}, VoltsQ: {4, 1000}, Status: {1, 1},
}

// Mask is the mask of fields.
func Mask(list ...Field) (m uint32) {
	for _, f := range list {
		m |= 1 << f
	}
	return m
}

// size is how many bytes the fields of mask take.
func Size(mask uint32) (n int) {
	for f := range NumFields {
		if mask&(1<<f) != 0 {
			n += Fields[f].size
		}
	}
	return n
}

// Values are the measurements of a controller, NaN if not requested or not reported.
type Values [NumFields]float64

// Parse reads the payload of a reply to GetValues or Selective and returns its fields. A truncated payload is an error,
// except for GetValues, which has fewer fields in older firmware; bytes behind the known fields are ignored.
func (v *Values) Parse(payload []byte) (mask uint32, err error) {
	for f := range v {
		v[f] = math.NaN()
	}
	if len(payload) < 1 {
		return 0, fmt.Errorf("vesc: values: got nothing")
	}
	rest, command := payload[1:], Command(payload[0])
	want := uint32(1<<NumFields - 1)
	switch {
	case command == Selective && len(rest) >= 4:
		want = binary.BigEndian.Uint32(rest)
		rest = rest[4:]
	case command != GetValues:
		return 0, fmt.Errorf("vesc: values: command: got %d of %d bytes, want %d or %d", command, len(payload),
			GetValues, Selective)
	}
	for f := range NumFields {
		if want&(1<<f) == 0 {
			continue
		}
		k := Fields[f]
		if len(rest) < k.size {
			if command == GetValues && mask != 0 {
				return mask, nil
			}
			return mask, fmt.Errorf("vesc: values: field %d: got %d bytes, want %d", f, len(rest), k.size)
		}
		v[f] = float64(Integer(rest, k.size)) / k.Scale
		rest, mask = rest[k.size:], mask|1<<f
	}
	return mask, nil
}

// integer is the first whole number of a field of size bytes.
func Integer(p []byte, size int) int64 {
	switch size {
	case 1:
		return int64(p[0])
	case 4:
		return int64(int32(binary.BigEndian.Uint32(p)))
	}
	return int64(int16(binary.BigEndian.Uint16(p)))
}

// Append appends the fields of mask as an answer has them, without command and mask; NaN goes out as 0.
func (v *Values) Append(dst []byte, mask uint32) []byte {
	for f := range NumFields {
		if mask&(1<<f) == 0 {
			continue
		}
		k := Fields[f]
		n := scaled(v[f], k.Scale)
		switch k.size {
		case 1:
			dst = append(dst, byte(n))
		case 4:
			dst = binary.BigEndian.AppendUint32(dst, uint32(n))
		default:
			for range k.size / 2 {
				dst = binary.BigEndian.AppendUint16(dst, uint16(int16(min(max(n, math.MinInt16), math.MaxInt16))))
			}
		}
	}
	return dst
}

// scaled is v in whole parts of 1/scale within 32 bits, 0 where it is not known.
func scaled(v, scale float64) int32 {
	if math.IsNaN(v) {
		return 0
	}
	return int32(math.Round(min(max(v*scale, math.MinInt32), math.MaxInt32)))
}

// AppendSet appends the payload of SetDuty, SetCurrent, SetCurrentBrake, SetRPM or SetPos with v in its unit.
func AppendSet(dst []byte, c Command, v float64) []byte {
	return binary.BigEndian.AppendUint32(append(dst, byte(c)), uint32(scaled(v, setScales[c])))
}

// ParseSet reads such a payload, false if it is invalid.
func ParseSet(payload []byte) (c Command, v float64, ok bool) {
	if len(payload) != 5 {
		return 0, 0, false
	}
	c = Command(payload[0])
	scale := setScales[c]
	return c, float64(int32(binary.BigEndian.Uint32(payload[1:]))) / max(scale, 1), scale > 0
}

// setScales are the scales of the commands with a value, 0 of all others.
var setScales = [256]float64{SetDuty: 1e5, SetCurrent: 1e3, SetCurrentBrake: 1e3, SetRPM: 1, SetPos: 1e6}

// AppendSelective appends the payload that asks for the fields of mask.
func AppendSelective(dst []byte, mask uint32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, byte(Selective)), mask)
}
