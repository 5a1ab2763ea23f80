package p2oswire

import (
	"encoding/binary"
	"fmt"
)

// MaxEchoes bounds the sonars of one report; no base has more transducers.
const MaxEchoes = 32

// Report is the standard server information packet, in the base's own counts:
//
//	TYPE x(2) y(2) heading(2) left(2) right(2) battery stall+bumpers(2) control(2) flags(2) compass n n·{index range(2)}
//	gripper analog-port analog digital-in digital-out
//	ARCOS adds: battery×10(2) charge turn(2) fault(2) sideways(2) temperature charged
//
// Words are little-endian. Older firmware leaves out the end.
type Report struct {
	Moving     bool   // the base reports that it moves
	X, Y       uint16 // counts of Robot.Distance; they wrap, at 15 bits or above
	Heading    uint16 // 4096 a turn, wraps
	Left       int16  // wheels' speeds, counts of Robot.Speed
	Right      int16
	Battery    byte   // 0.1 V
	Stall      uint16 // bit 0: left wheel stalled, 1..7: rear bumpers; bit 8: right wheel, 9..15: front bumpers
	Control    int16
	Flags      uint16 // see the Flag constants
	Compass    byte   // 2°
	Count      int    // of Echoes
	Echoes     [MaxEchoes]EchoReading
	Grip       byte
	AnalogPort byte
	Analog     byte
	DigitalIn  byte // bits, as DigitalOut
	DigitalOut byte
	Extra      int    // number of received bytes of the following fields, 0 to 11
	Battery10  uint16 // 0.1 V
	Charge     byte   // state of charging
	Turn       int16  // 0.1 °/s
	Fault      uint16
	Sideways   int16
	Celsius    int8 // -127 = not known
	Charged    byte // %
}

// EchoReading is one sonar's newest range, in the robot's counts.
type EchoReading struct {
	Index byte   // of the transducer, from 0
	Range uint16 // counts of Robot.Range
}

// Flags of a report.
const (
	FlagMotors = 1 << 0 // motors are on
	FlagSonar  = 1 << 1 // the front ring is on; the next three bits are other rings
	FlagEStop  = 1 << 5
)

// Sizes of a report's parts.
const (
	reportHead  = 20
	reportTail  = 5
	reportExtra = 11
)

// Append appends the report's data, no packet yet.
func (r *Report) Append(dst []byte) []byte {
	le := binary.LittleEndian
	kind := byte(TypeStopped)
	if r.Moving {
		kind = TypeMoving
	}
	dst = append(dst, kind)
	for _, v := range [...]uint16{r.X, r.Y, r.Heading, uint16(r.Left), uint16(r.Right)} {
		dst = le.AppendUint16(dst, v)
	}
	dst = append(dst, r.Battery)
	for _, v := range [...]uint16{r.Stall, uint16(r.Control), r.Flags} {
		dst = le.AppendUint16(dst, v)
	}
	dst = append(dst, r.Compass, byte(r.Count))
	for _, e := range r.Echoes[:r.Count] {
		dst = le.AppendUint16(append(dst, e.Index), e.Range)
	}
	dst = append(dst, r.Grip, r.AnalogPort, r.Analog, r.DigitalIn, r.DigitalOut)
	end := len(dst)
	dst = append(le.AppendUint16(dst, r.Battery10), r.Charge)
	for _, v := range [...]uint16{uint16(r.Turn), r.Fault, uint16(r.Sideways)} {
		dst = le.AppendUint16(dst, v)
	}
	return append(dst, byte(r.Celsius), r.Charged)[:end+r.Extra]
}

// Decode decodes a report's data. Unknown bytes at the end, of newer firmware, are ignored. After an error r is
// undefined.
func (r *Report) Decode(data []byte) error {
	le := binary.LittleEndian
	if len(data) < reportHead || data[0] != TypeStopped && data[0] != TypeMoving {
		return fmt.Errorf("base: report: got %d bytes of type %#x, want %d or more of type 32 or 33", len(data),
			first(data), reportHead)
	}
	*r = Report{
		Moving: data[0] == TypeMoving, X: le.Uint16(data[1:]), Y: le.Uint16(data[3:]), Heading: le.Uint16(data[5:]),
		Left: int16(le.Uint16(data[7:])), Right: int16(le.Uint16(data[9:])), Battery: data[11],
		Stall:   le.Uint16(data[12:]),
		Control: int16(le.Uint16(data[14:])), Flags: le.Uint16(data[16:]), Compass: data[18], Count: int(data[19]),
	}
	rest := data[reportHead:]
	if r.Count > MaxEchoes || len(rest) < 3*r.Count+reportTail {
		return fmt.Errorf("base: report: got %d sonars in %d bytes, want at most %d that fit", r.Count, len(rest),
			MaxEchoes)
	}
	for i := range r.Echoes[:r.Count] {
		r.Echoes[i], rest = EchoReading{rest[0], le.Uint16(rest[1:])}, rest[3:]
	}
	r.Grip, r.AnalogPort, r.Analog, r.DigitalIn, r.DigitalOut = rest[0], rest[1], rest[2], rest[3], rest[4]
	rest = rest[reportTail:]
	// The rest padded to its full length: missing bytes are zero.
	var extra [reportExtra]byte
	r.Extra = copy(extra[:], rest)
	r.Battery10, r.Charge, r.Turn = le.Uint16(extra[0:]), extra[2], int16(le.Uint16(extra[3:]))
	r.Fault, r.Sideways, r.Celsius, r.Charged = le.Uint16(extra[5:]), int16(le.Uint16(extra[7:])), int8(extra[9]),
		extra[10]
	return nil
}

func first(data []byte) byte {
	if len(data) == 0 {
		return 0
	}
	return data[0]
}

// Volts is the battery's voltage, by the finer of the two values.
func (r *Report) Volts() float64 {
	if r.Extra >= 2 {
		return float64(r.Battery10) / 10
	}
	return float64(r.Battery) / 10
}

// Bumper reports whether segment i of the front or rear ring is pressed, i from 0: clockwise as seen from above, as
// ARIA has them, so that the first of the front ring is on the left and the first of the rear one on the right.
func (r *Report) Bumper(rear bool, i int) bool {
	if rear {
		return r.Stall>>(1+i)&1 != 0
	}
	return r.Stall>>(9+i)&1 != 0
}
