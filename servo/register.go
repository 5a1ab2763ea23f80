package servo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Access is whether a register can be written, and whether it survives a power loss.
type Access uint8

// The kinds of access.
const (
	ReadOnly Access = iota
	RAM             // lost with the power
	EEPROM          // kept; each vendor has its own way of guarding it
)

// Encoding is the sign representation and the byte order of a register.
type Encoding uint8

// The encodings. Some firmware uses sign and magnitude: the constant's value is the number of the sign bit, the
// magnitude is below it, and the bits above are unused.
const (
	Unsigned    Encoding = 0
	Signed      Encoding = 1 // two's complement
	Float       Encoding = 2 // 32 bits as IEEE 754 has them, in the measure's unit: raw values count its scale
	Magnitude10 Encoding = 10
	Magnitude11 Encoding = 11
	Magnitude15 Encoding = 15

	BigEndian Encoding = 0x80 // the high byte at the lower address; added to one of the others
)

// magnitude is the sign's bit of an encoding that has one.
func (e Encoding) magnitude() (bit uint, ok bool) {
	e &^= BigEndian
	return uint(e), e > Float
}

// Measure converts a raw value: SI value = (raw - Zero) * Scale, in Unit. Scale 0: a plain number.
type Measure struct {
	Unit  string  // "V", "rad/s", ..; "" if absent
	Scale float64 // units a count
	Zero  int64   // the raw value that means 0
}

// Register is one entry of a control table. Min and Max bound writes, as raw values after decoding. Default is the
// factory default; for RAM, the value at power-on.
type Register struct {
	Name       string // "present_position", the maker's words
	Addr, Size uint16 // bytes
	Access     Access
	Encoding   Encoding
	Min, Max   int64
	Default    int64
	Measure
	Unread bool // it can be written and not read
}

// Reg is a row of a control table: the fields of a Register in their order.
func Reg(name string, addr, size uint16, a Access, e Encoding, least, most, initial int64, m Measure) Register {
	return Register{name, addr, size, a, e, least, most, initial, m, false}
}

// Decode reads the register's value from its bytes, at least r.Size of them.
func (r *Register) Decode(p []byte) int64 {
	var v int64
	switch r.Size {
	case 1:
		v = int64(p[0])
	case 2:
		if v = int64(binary.LittleEndian.Uint16(p)); r.Encoding&BigEndian != 0 {
			v = int64(binary.BigEndian.Uint16(p))
		}
	default:
		if v = int64(binary.LittleEndian.Uint32(p)); r.Encoding&BigEndian != 0 {
			v = int64(binary.BigEndian.Uint32(p))
		}
	}
	if r.Encoding&^BigEndian == Float {
		return r.Round(float64(math.Float32frombits(uint32(v))))
	}
	if bit, ok := r.Encoding.magnitude(); ok {
		// Bits above the sign are not used; some firmware sets them.
		m := v & (1<<bit - 1)
		if v>>bit&1 == 1 {
			m = -m
		}
		return m
	}
	if r.Encoding&^BigEndian == Signed {
		// Up and down again spreads the sign.
		shift := 64 - 8*int(r.Size)
		return v << shift >> shift
	}
	return v
}

// Append appends v as the register's bytes; a v that does not fit is truncated, as by the servo.
func (r *Register) Append(dst []byte, v int64) []byte {
	if r.Encoding&^BigEndian == Float {
		v = int64(math.Float32bits(float32(r.SI(v))))
	}
	// Zero has two forms; the negative one is never written.
	if bit, ok := r.Encoding.magnitude(); ok && v < 0 {
		v = -v&(1<<bit-1) | 1<<bit
	}
	big := r.Encoding&BigEndian != 0
	switch {
	case r.Size == 1:
		return append(dst, byte(v))
	case r.Size == 2 && big:
		return binary.BigEndian.AppendUint16(dst, uint16(v))
	case r.Size == 2:
		return binary.LittleEndian.AppendUint16(dst, uint16(v))
	case big:
		return binary.BigEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(v))
}

// SI converts a raw value to the register's unit.
func (r *Register) SI(raw int64) float64 {
	if r.Scale == 0 {
		return float64(raw)
	}
	return float64(raw-r.Zero) * r.Scale
}

// widest bounds the raw value of a float; beyond it float64 cannot represent every integer.
const widest = 1 << 53

// Round returns the raw value nearest to v in the register's unit, regardless of its bounds; 0 for NaN.
func (r *Register) Round(v float64) int64 {
	if r.Scale != 0 {
		v = v/r.Scale + float64(r.Zero)
	}
	if math.IsNaN(v) {
		return 0
	}
	return int64(math.Round(min(max(v, -widest), widest)))
}

// Raw converts v in the register's unit to the nearest raw value within Min..Max. NaN gives Zero.
func (r *Register) Raw(v float64) int64 {
	if r.Scale != 0 {
		// Clipping comes before rounding, so that infinities are harmless.
		v = v/r.Scale + float64(r.Zero)
	}
	if math.IsNaN(v) {
		return r.Zero
	}
	return int64(math.Round(min(max(v, float64(r.Min)), float64(r.Max))))
}

// Setting reports that r is configuration kept in RAM: lost with the power and to be written again before torque.
// Goals, switches and lamps are no settings.
func (r *Register) Setting() bool {
	if r.Access != RAM {
		return false
	}
	switch r.Name {
	case "torque_enable", "led", "lock", "bus_watchdog", "goal_position", "goal_velocity", "goal_current", "goal_pwm",
		"goal_torque", "goal_time", "moving_speed", "torque_limit", "torque_mode", "current":
		return false
	}
	return r.Addr < 168 // beyond are indirect addresses and data, which depend on the user
}

// Setting is a raw value for a register, by its name.
type Setting struct {
	Register string // "return_delay"
	Value    int64  // as the register holds it, within its Min..Max
}

// Named returns the register of a table by its name, or nil. It searches linearly.
func Named(table []Register, name string) *Register {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// CheckWrite returns an error if v must not be written to r of a model: there is no such register (r is nil), it is
// read-only, v is out of its range; nil where it may.
func (r *Register) CheckWrite(model string, v int64) error {
	switch {
	case r == nil:
		return fmt.Errorf("%s has no such register", model)
	case r.Access == ReadOnly:
		return errors.New("it is read-only")
	case v < r.Min || v > r.Max:
		return fmt.Errorf("got %d, want %d..%d", v, r.Min, r.Max)
	}
	return nil
}

// checkSetting returns an error if x is not a valid setting of a model: an unknown name, or a value out of range.
func checkSetting(m Model, x Setting) error {
	r := m.Setting(x.Register)
	if r == nil {
		return fmt.Errorf("setting %s: not a setting of %s", x.Register, m.Units().Name)
	}
	if err := r.CheckWrite(m.Units().Name, x.Value); err != nil {
		return fmt.Errorf("setting %s: %w", x.Register, err)
	}
	return nil
}
