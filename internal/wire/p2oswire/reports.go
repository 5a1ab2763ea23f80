package p2oswire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// EncoderReport is the wheels' counts since power-on; they wrap at 32 bits.
type EncoderReport struct{ Left, Right int32 }

// Append appends the report's data.
func (e *EncoderReport) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(append(dst, TypeEncoder), uint32(e.Left))
	return binary.LittleEndian.AppendUint32(dst, uint32(e.Right))
}

// Decode takes the report's data.
func (e *EncoderReport) Decode(data []byte) error {
	if len(data) < 9 || data[0] != TypeEncoder {
		return fmt.Errorf("base: encoders: got % X, want type 90 and 8 bytes", data)
	}
	e.Left, e.Right = int32(binary.LittleEndian.Uint32(data[1:])), int32(binary.LittleEndian.Uint32(data[5:]))
	return nil
}

// maxGyro bounds the readings of one gyro report: they come every 25 ms, the reports every 100.
const maxGyro = 16

// GyroReport holds the readings of the analog gyro since the last report.
type GyroReport struct {
	Count    int // of Readings
	Readings [maxGyro]GyroReading
}

// GyroReading is one: GyroStill where it does not move, less where it turns to the left, and the chip's temperature in
// counts.
type GyroReading struct {
	Rate    uint16 // counts of GyroScale
	Celsius byte
}

// Append appends the report's data.
func (g *GyroReport) Append(dst []byte) []byte {
	dst = append(dst, TypeGyro, byte(g.Count))
	for _, r := range g.Readings[:g.Count] {
		dst = append(binary.LittleEndian.AppendUint16(dst, r.Rate), r.Celsius)
	}
	return dst
}

// Decode takes the report's data.
func (g *GyroReport) Decode(data []byte) error {
	if len(data) < 2 || data[0] != TypeGyro || data[1] > maxGyro || len(data) < 2+3*int(data[1]) {
		return fmt.Errorf("base: gyro: got % X, want type 98, a count of at most %d and as many readings", data,
			maxGyro)
	}
	g.Count = int(data[1])
	for i := range g.Readings[:g.Count] {
		p := data[2+3*i:]
		g.Readings[i] = GyroReading{binary.LittleEndian.Uint16(p), p[2]}
	}
	return nil
}

// maxIO bounds each of the three lists of an IOReport.
const maxIO = 16

// IOReport is all inputs and outputs. The first four bytes of inputs are the digital inputs, the front bumpers, the
// rear bumpers and the infrared sensors.
type IOReport struct {
	Ins, Outs, Analogs int // how many there are of each below
	In, Out            [maxIO]byte
	Analog             [maxIO]uint16 // ten bits, 5 V
}

// Append appends the report's data.
func (r *IOReport) Append(dst []byte) []byte {
	dst = append(append(dst, TypeIO, byte(r.Ins)), r.In[:r.Ins]...)
	dst = append(append(dst, byte(r.Outs)), r.Out[:r.Outs]...)
	dst = append(dst, byte(r.Analogs))
	for _, v := range r.Analog[:r.Analogs] {
		dst = binary.LittleEndian.AppendUint16(dst, v)
	}
	return dst
}

// Decode decodes the report's data. After an error r is undefined.
func (r *IOReport) Decode(data []byte) error {
	whole := data
	bad := func() error { return fmt.Errorf("base: io: got % X, want type F0 and three lists that fit", whole) }
	if len(data) == 0 || data[0] != TypeIO {
		return bad()
	}
	*r, data = IOReport{}, data[1:]
	// A list is its length and so many values of size bytes.
	list := func(size int) []byte {
		if len(data) == 0 || data[0] > maxIO || len(data) < 1+size*int(data[0]) {
			return nil
		}
		v := data[1 : 1+size*int(data[0])]
		data = data[len(v)+1:]
		return v
	}
	in, out, analog := list(1), list(1), list(2)
	if in == nil || out == nil || analog == nil {
		return bad()
	}
	r.Ins, r.Outs, r.Analogs = copy(r.In[:], in), copy(r.Out[:], out), len(analog)/2
	for i := range r.Analog[:r.Analogs] {
		r.Analog[i] = binary.LittleEndian.Uint16(analog[2*i:])
	}
	return nil
}

// GripperReport is the gripper's state.
type GripperReport struct {
	Kind  byte // 0 = none, 1 = the user's, 2 = gripper, ...
	State byte // bit 0 open, 1 closed, 2 moving, 3 error, 4 up, 5 down, 6 lift moving, 7 lift error
	Grasp byte // how long it grasps yet, 0.1 s
}

// Append appends the report's data.
func (g *GripperReport) Append(dst []byte) []byte {
	return append(dst, TypeGripper, g.Kind, g.State, g.Grasp)
}

// Decode takes the report's data.
func (g *GripperReport) Decode(data []byte) error {
	if len(data) < 4 || data[0] != TypeGripper {
		return fmt.Errorf("base: gripper: got % X, want type E0 and 3 bytes", data)
	}
	*g = GripperReport{data[1], data[2], data[3]}
	return nil
}

// ConfigReport is the configuration of the base.
type ConfigReport struct {
	Class, Subclass, Serial string
	FourMotors              bool
	RotVelTop               uint16 // °/s
	TransVelTop             uint16 // mm/s
	RotAccTop               uint16 // °/s²
	TransAccTop             uint16 // mm/s²
	PWMMax                  uint16 // of 500
	Name                    string
	Cycle                   byte   // of reports, ms
	HostBaud, AuxBaud       byte   // as OpHostBaud has them
	Gripper, FrontSonar     uint16 // 1 = it has one
	RearSonar               byte
	LowBattery              uint16 // 0.1 V
	RevCount                uint16 // see OpRevCount
	Watchdog                uint16 // ms
	LongReports             byte   // "P2MPACS": 1 = in SERAUX too
	// PWM at which a wheel at rest counts as stalled, and for how long, as in the manual
	StallVal, StallCount   uint16
	JoyVel, JoyRotVel      uint16    // mm/s, °/s
	RotVelMax, TransVelMax uint16    // °/s, mm/s, as set now
	RotAcc, RotDecel       uint16    // °/s²
	RotGains               [3]uint16 // KP KV KI
	TransAcc, TransDecel   uint16    // mm/s²
	TransGains             [3]uint16 // KP KV KI
	FrontBumpers           byte      // segments
	RearBumpers            byte      // segments
	Charger                byte      // its kind; 0 = none
	SonarCycle             byte      // ms a transducer
	AutoBaud               byte      // 1 = the serial port changes its rate by itself
	HasGyro                byte      // 1 = it has
}

// text is one string up to its zero byte.
const maxText = 40

var errConfig = errors.New("base: config: want three names, 20 bytes and more after them, and a name")

// words are the config's numbers in the order of the packet, after the strings before them.
func (c *ConfigReport) words(second bool) []any {
	if !second {
		return []any{&c.FourMotors, &c.RotVelTop, &c.TransVelTop, &c.RotAccTop, &c.TransAccTop, &c.PWMMax}
	}
	return []any{&c.Cycle, &c.HostBaud, &c.AuxBaud, &c.Gripper, &c.FrontSonar, &c.RearSonar, &c.LowBattery, &c.RevCount,
		&c.Watchdog, &c.LongReports, &c.StallVal, &c.StallCount, &c.JoyVel, &c.JoyRotVel, &c.RotVelMax, &c.TransVelMax,
		&c.RotAcc, &c.RotDecel, &c.RotGains, &c.TransAcc, &c.TransDecel, &c.TransGains, &c.FrontBumpers, &c.RearBumpers,
		&c.Charger, &c.SonarCycle, &c.AutoBaud, &c.HasGyro}
}

// Append appends the report's data.
func (c *ConfigReport) Append(dst []byte) []byte {
	dst = append(dst, TypeConfig)
	for _, s := range [...]string{c.Class, c.Subclass, c.Serial} {
		dst = append(append(dst, s...), 0)
	}
	for _, v := range c.words(false) {
		dst, _ = binary.Append(dst, binary.LittleEndian, v)
	}
	dst = append(append(dst, c.Name...), 0)
	for _, v := range c.words(true) {
		dst, _ = binary.Append(dst, binary.LittleEndian, v)
	}
	return dst
}

// Decode decodes the report's data. Fields missing in older firmware are zero. After an error c is undefined.
func (c *ConfigReport) Decode(data []byte) error {
	if len(data) == 0 || data[0] != TypeConfig {
		return errConfig
	}
	*c, data = ConfigReport{}, data[1:]
	text := func(s *string) bool {
		n := bytes.IndexByte(data[:min(len(data), maxText)], 0)
		if n < 0 {
			return false
		}
		*s, data = string(data[:n]), data[n+1:]
		return true
	}
	word := func(v any) bool {
		n, err := binary.Decode(data, binary.LittleEndian, v)
		data = data[n:]
		return err == nil
	}
	for _, s := range [...]*string{&c.Class, &c.Subclass, &c.Serial} {
		if !text(s) {
			return errConfig
		}
	}
	for _, v := range c.words(false) {
		if !word(v) {
			return errConfig
		}
	}
	if !text(&c.Name) {
		return errConfig
	}
	for _, v := range c.words(true) {
		if !word(v) {
			return nil
		}
	}
	return nil
}

// Names is the answer to SYNC2.
type Names struct{ Name, Class, Subclass string }

// Append appends the answer's data.
func (n *Names) Append(dst []byte) []byte {
	dst = append(dst, byte(OpClose))
	for _, s := range [...]string{n.Name, n.Class, n.Subclass} {
		dst = append(append(dst, s...), 0)
	}
	return dst
}

// Decode takes the answer's data. The last zero may be missing.
func (n *Names) Decode(data []byte) error {
	parts := bytes.SplitN(data, []byte{0}, 4)
	if len(data) < 2 || data[0] != byte(OpClose) || len(parts) < 3 {
		return fmt.Errorf("base: names: got % X, want 02 and three names", data)
	}
	*n = Names{string(parts[0][1:]), string(parts[1]), string(parts[2])}
	return nil
}
