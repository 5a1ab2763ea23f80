package dynamixel

import (
	"encoding/binary"
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// Access says who may write a register and what a power loss does to it.
type Access uint8

// The kinds of access.
const (
	ReadOnly Access = iota
	RAM             // lost with the power
	EEPROM          // kept; refused while torque is on (2.0) or lock is set (1.0)
)

// Encoding says how a register's bytes hold a sign.
type Encoding uint8

// The encodings.
const (
	Unsigned  Encoding = iota
	Signed             // two's complement
	Magnitude          // bit 10 is the sign, set = clockwise; bits 0..9 the magnitude
)

// Measure is what a raw value means: SI value = (raw - Zero) * Scale, in Unit. Scale 0: a plain number.
type Measure struct {
	Unit  string
	Scale float64
	Zero  int64
}

// Register is one entry of a control table. Min and Max bound what may be written, as raw values after decoding;
// Default is the factory's, and for RAM what stands there after power-up.
type Register struct {
	Name       string
	Addr, Size uint16
	Access     Access
	Encoding   Encoding
	Min, Max   int64
	Default    int64
	Measure
}

// Decode reads the register's value from its bytes, at least r.Size of them.
func (r *Register) Decode(p []byte) int64 {
	var v int64
	switch r.Size {
	case 1:
		v = int64(p[0])
	case 2:
		v = int64(binary.LittleEndian.Uint16(p))
	default:
		v = int64(binary.LittleEndian.Uint32(p))
	}
	switch {
	// Bits above 10 are not used; some firmware sets them.
	case r.Encoding == Magnitude && v&0x400 != 0:
		return -(v & 0x3FF)
	case r.Encoding == Magnitude:
		return v & 0x3FF
	case r.Encoding == Signed:
		// Up and down again spreads the sign.
		shift := 64 - 8*int(r.Size)
		return v << shift >> shift
	}
	return v
}

// Append appends v as the register's bytes; v outside of what they can hold is cut off as the servo would.
func (r *Register) Append(dst []byte, v int64) []byte {
	// Zero has two forms; the clockwise one is never written.
	if r.Encoding == Magnitude && v < 0 {
		v = -v&0x3FF | 0x400
	}
	switch r.Size {
	case 1:
		return append(dst, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(dst, uint16(v))
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

// Setting says that r is configuration kept in RAM: lost with the power and to be written again before torque.
// Goals, switches and lamps are no settings.
func (r *Register) Setting() bool {
	if r.Access != RAM {
		return false
	}
	switch r.Name {
	case "torque_enable", "led", "lock", "bus_watchdog", "goal_position", "goal_velocity", "goal_current", "goal_pwm",
		"goal_torque", "moving_speed", "torque_limit", "torque_mode", "current":
		return false
	}
	return r.Addr < 168 // beyond lie indirect addresses and data, which nobody but their owner knows
}

// Baud is one value of the baud rate register.
type Baud struct {
	Code byte
	Rate int // bit/s
}

// Indirect is a table of pointers and the window through which the registers they point at are read and written.
// Entry k of Count: the 2 byte pointer at Addr+2k, the byte at Data+k. Pointers may name Min..Max.
type Indirect struct {
	Addr, Data, Count uint16
	Min, Max          uint16
}

// Model is one servo model: its control table and what its values mean. Nobody writes to it.
type Model struct {
	Name      string // "xm430-w350"
	Number    uint16 // model_number
	Protocol  int    // 1 or 2
	Registers []Register
	RAMStart  uint16 // first address that a power loss clears
	Bauds     []Baud // the documented codes, fastest first
	Indirect  []Indirect

	TicksPerTurn       float64
	Centre             float64 // ticks
	MinTicks, MaxTicks float64 // of the position mode

	NominalVolts float64 // what the next three are for
	MaxVelocity  float64 // without load, rad/s
	StallTorque  float64 // N·m
	StallCurrent float64 // A

	CurrentControl bool    // has goal_current and present_current
	CurrentUnit    float64 // A of one count, 0 where none is measured
	MaxCurrent     float64 // the default current_limit, A; 0 where there is none

	OperatingModes []byte               // what operating_mode takes; nil where angle limits choose the mode
	Modes          [hal.NumModes]int    // operating_mode of each mode of ours, jointMode or wheelMode in 1.0; -1 = not offered
	AlarmBits      [8]servo.Alarm       // meaning of the bits: error byte in 1.0, hardware_error and shutdown in 2.0
	FastRead       bool                 // answers fast sync and fast bulk read
	BulkRead       bool                 // answers bulk read
	index          map[string]*Register // filled with the table, then only read
}

// Register returns the register called name, or nil.
func (m *Model) Register(name string) *Register { return m.index[name] }

// RegisterAt returns the register that covers the byte at addr, or nil.
func (m *Model) RegisterAt(addr uint16) *Register {
	for i := range m.Registers {
		if r := &m.Registers[i]; addr >= r.Addr && addr < r.Addr+r.Size {
			return r
		}
	}
	return nil
}

// Rate returns the bit/s of a baud code, 0 for an unknown one. Protocol 1.0 divides 2 Mbit/s by code+1 below 250.
func (m *Model) Rate(code byte) int {
	for _, b := range m.Bauds {
		if b.Code == code {
			return b.Rate
		}
	}
	// The divisor is the register: odd rates exist that no table lists.
	if m.Protocol == 1 && code < 250 {
		return 2000000 / (int(code) + 1)
	}
	return 0
}

// BaudCode returns the code for a rate, which may be off by 3 % as the hardware is.
func (m *Model) BaudCode(rate int) (byte, bool) {
	for _, b := range m.Bauds {
		// A UART samples in the middle of ten bits: half a bit in ten is 5 %, shared between both ends.
		if d := b.Rate - rate; d*100 <= 3*rate && d*100 >= -3*rate {
			return b.Code, true
		}
	}
	return 0, false
}

// Alarms translates a 1.0 error byte or a 2.0 hardware_error.
func (m *Model) Alarms(bits byte) servo.Alarm {
	var a servo.Alarm
	for i, alarm := range m.AlarmBits {
		if bits>>i&1 != 0 {
			a |= alarm
		}
	}
	return a
}

// Units returns what a chain's values of this model mean.
func (m *Model) Units() servo.Units {
	u := servo.Units{
		Name: m.Name, TicksPerTurn: m.TicksPerTurn, CentreTicks: m.Centre, MinTicks: m.MinTicks, MaxTicks: m.MaxTicks,
		MaxVelocity: m.MaxVelocity, StallTorque: m.StallTorque, NominalVolts: m.NominalVolts,
		MaxEffort: 1, Current: m.CurrentControl,
	}
	if m.CurrentControl {
		u.MaxEffort = m.MaxCurrent
	}
	for i, code := range m.Modes {
		u.Modes[i] = code >= 0
	}
	return u
}

// catalogue is every known model. It is built once and only read.
var catalogue = buildCatalogue()

func buildCatalogue() []*Model {
	var all []*Model
	for _, list := range [][]*Model{axModels(), mxModels(), xModels(), xl320Models()} {
		all = append(all, list...)
	}
	for _, m := range all {
		m.index = make(map[string]*Register, len(m.Registers))
		for i := range m.Registers {
			m.index[m.Registers[i].Name] = &m.Registers[i]
		}
	}
	return all
}

// Models returns every known model. The slice is the caller's, the models are not.
func Models() []*Model { return append([]*Model(nil), catalogue...) }

// ModelByName returns the model called name ("ax-12a"), or nil.
func ModelByName(name string) *Model {
	for _, m := range catalogue {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// ModelByNumber returns the model that says number in its model_number register, or nil.
func ModelByNumber(number uint16, protocol int) *Model {
	for _, m := range catalogue {
		if m.Number == number && m.Protocol == protocol {
			return m
		}
	}
	return nil
}
