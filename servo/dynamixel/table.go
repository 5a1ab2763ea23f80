package dynamixel

import (
	"fmt"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
	"github.com/halyard-robotics/halyard/servo"
)

// A control table's entries, as every vendor with registers has them. EEPROM is refused while torque is on (2.0) or
// lock is set (1.0).
type (
	Access   = servo.Access
	Encoding = servo.Encoding
	Measure  = servo.Measure
	Register = servo.Register
)

// The kinds of access and the encodings of ROBOTIS' tables, all little-endian.
const (
	ReadOnly = servo.ReadOnly
	RAM      = servo.RAM
	EEPROM   = servo.EEPROM

	unsigned  = servo.Unsigned
	signed    = servo.Signed
	Magnitude = servo.Magnitude10 // set = clockwise
)

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

// Model is one servo model: its control table and the meaning of its values. It is read-only.
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

	NominalVolts float64 // supply voltage of the next three values
	MaxVelocity  float64 // without load, rad/s
	StallTorque  float64 // N·m
	StallCurrent float64 // A

	CurrentControl bool    // has goal_current and present_current
	CurrentUnit    float64 // A of one count, 0 = not measured
	MaxCurrent     float64 // the default current_limit, A; 0 if absent

	// Of the Y table, nil and 0 in others: the values of error_code, which takes the place of the alarm bits, and the
	// real gear.
	ErrorCodes []ErrorCode
	Gear       int64

	OperatingModes []byte // values of operating_mode; nil if the angle limits select the mode
	// operating_mode of each mode of ours, jointMode or wheelMode in 1.0; -1 = not offered
	Modes    [hal.NumModes]int
	Faults   servo.FaultTable     // meaning of the bits: error byte in 1.0, hardware_error and shutdown in 2.0
	FastRead bool                 // answers fast sync and fast bulk read
	BulkRead bool                 // answers bulk read
	index    map[string]*Register // filled with the table, then only read
}

// rated fills in what the data sheet says of m.
func (m *Model) rated() {
	s := sheet.Of(m.Name)
	m.NominalVolts, m.MaxVelocity, m.StallTorque, m.StallCurrent = s.Volts, s.RPM*rpm, s.Torque, s.Amps
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

// ErrorCode is what a value of error_code means, nil for no error; one that no source lists takes the torque, as far as
// is known.
func (m *Model) ErrorCode(code byte) *ErrorCode {
	for i := range m.ErrorCodes {
		if m.ErrorCodes[i].Code == code {
			return &m.ErrorCodes[i]
		}
	}
	if code == 0 || m.ErrorCodes == nil {
		return nil
	}
	return &ErrorCode{Code: code, Name: "unknown", Alarm: servo.AlarmShock}
}

// Alarms translates a 1.0 error byte, a 2.0 hardware_error or an error_code.
func (m *Model) Alarms(bits byte) servo.Alarm {
	if e := m.ErrorCode(bits); e != nil {
		return e.Alarm
	}
	return m.Faults.Alarm(uint64(bits))
}

// report is what the bits of a 1.0 error byte, a 2.0 hardware_error or an error_code say. Bits that concern the packet
// are left out.
func (m *Model) report(r *servo.Report, bits byte) {
	if m.ErrorCodes != nil {
		if e := m.ErrorCode(bits); e == nil {
			*r = servo.Report{}
		} else if fault := fmt.Sprintf("error code %d, %s", e.Code, e.Name); r.Fault != fault {
			*r = servo.Report{Alarm: e.Alarm, Fault: fault, Fix: e.Alarm.Fix()}
		}
		return
	}
	if m.Protocol == 1 {
		bits &= packetSound
	}
	r.Set(m.Faults, uint64(bits))
}

// Units returns the units and ranges of a chain's values of this model.
func (m *Model) Units() servo.Units {
	u := servo.Units{
		Name: m.Name, TicksPerTurn: m.TicksPerTurn, CentreTicks: m.Centre, MinTicks: m.MinTicks, MaxTicks: m.MaxTicks,
		MaxVelocity: m.MaxVelocity, TorqueConstant: m.StallTorque, NominalVolts: m.NominalVolts,
		MaxEffort: 1, Current: m.CurrentControl,
	}
	if m.CurrentControl {
		u.MaxEffort, u.TorqueConstant = m.MaxCurrent, m.StallTorque/m.StallCurrent
	}
	if s := sheet.Of(m.Name); s != nil {
		u.Gains = s.Units()
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
	for _, list := range [][]*Model{axModels(), mxModels(), xModels(), yModels(), xl320Models()} {
		all = append(all, list...)
	}
	for _, m := range all {
		m.rated()
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
	return servo.Find(catalogue, func(m *Model) bool { return m.Name == name })
}

// modelByNumber returns the model with this model_number, or nil.
func modelByNumber(number uint16, protocol int) *Model {
	return servo.Find(catalogue, func(m *Model) bool { return m.Number == number && m.Protocol == protocol })
}
