package feetech

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
	"github.com/halyard-robotics/halyard/servo"
)

// Series is a firmware series. Its lowest bit is the value of the servo's byte_order register.
type Series uint8

// The series.
const (
	STS Series = 0 // STS and SMS: low byte first
	SCS Series = 1 // high byte first
	HLS Series = 2 // low byte first, with a current loop; distinguished from STS by its firmware
)

// The values of operating_mode of STS; the first two are those of HLS, too.
const (
	modePosition = 0
	modeVelocity = 1
	modePWM      = 2
)

// Baud is one value of the baud_rate register.
type Baud struct {
	Code byte
	Rate int // bit/s
}

// bauds are the codes of Feetech's own headers, all series.
func bauds() []Baud {
	return []Baud{{0, 1000000}, {1, 500000}, {2, 250000}, {3, 128000}, {4, 115200}, {5, 76800}, {6, 57600}, {7, 38400}}
}

// Model is one servo model: its memory table and the meaning of its values. It is read-only.
type Model struct {
	Name      string
	Number    uint16 // model_number; 0 = not published, not checked
	Series    Series
	Registers []servo.Register
	RAMStart  uint16 // first address that a power loss clears

	TicksPerTurn       float64
	Centre             float64 // ticks
	MinTicks, MaxTicks float64

	NominalVolts float64 // supply voltage of the next three values
	MaxVelocity  float64 // without load, rad/s
	StallTorque  float64 // N·m
	StallCurrent float64 // A

	Modes [hal.NumModes]int // operating_mode of each mode of ours; -1 = not offered
}

// rated fills in what the data sheet says of m.
func (m *Model) rated() {
	s := sheet.Of(m.Name)
	m.NominalVolts, m.MaxVelocity, m.StallTorque, m.StallCurrent = s.Volts, s.RPM*rpm, s.Torque, s.Amps
}

// Register returns the register called name, or nil.
func (m *Model) Register(name string) *servo.Register { return servo.Named(m.Registers, name) }

// Rate returns the bit/s of a baud code, 0 for an unknown one.
func (m *Model) Rate(code byte) int {
	for _, b := range bauds() {
		if b.Code == code {
			return b.Rate
		}
	}
	return 0
}

// BaudCode returns the code for a rate.
func (m *Model) BaudCode(rate int) (byte, bool) {
	for _, b := range bauds() {
		if b.Rate == rate {
			return b.Code, true
		}
	}
	return 0, false
}

// faults are the bits of the error byte, of status and of unload_condition, as Feetech's SDK names them (ERRBIT_VOLTAGE
// ..).
var faults = servo.FaultTable{
	servo.Bit(0x01, "input voltage error", servo.AlarmVoltage, "bring its supply within min_voltage..max_voltage"),
	servo.Bit(0x02, "angle sensor error", servo.AlarmEncoder, ""),
	servo.Bit(0x04, "overheat error", servo.AlarmHeat, ""),
	servo.Bit(0x08, "over-current error", servo.AlarmShock, "look for what blocks the joint, or a short of its motor"),
	servo.Bit(0x20, "overload error", servo.AlarmOverload, ""),
}

// Alarms translates an error byte.
func Alarms(bits byte) servo.Alarm { return faults.Alarm(uint64(bits)) }

// AlarmByte is the error byte for the alarms a.
func AlarmByte(a servo.Alarm) byte { return byte(faults.Bits(a)) }

// Units returns the units and ranges of a chain's values of this model.
func (m *Model) Units() servo.Units {
	u := servo.Units{
		Name: m.Name, TicksPerTurn: m.TicksPerTurn, CentreTicks: m.Centre, MinTicks: m.MinTicks, MaxTicks: m.MaxTicks,
		MaxVelocity: m.MaxVelocity, TorqueConstant: m.StallTorque, NominalVolts: m.NominalVolts, MaxEffort: 1,
	}
	if m.Series == HLS {
		u.MaxEffort, u.Current, u.TorqueConstant = m.StallCurrent, true, m.StallTorque/m.StallCurrent
	}
	if s := sheet.Of(m.Name); s != nil {
		u.Gains = s.Units()
	}
	for i, code := range m.Modes {
		u.Modes[i] = code >= 0
	}
	return u
}

const rpm = 2 * math.Pi / 60 // rad/s

// catalogue is every known model: only read.
var catalogue = slices.Concat(stsModels(), hlsModels(), scsModels())

// Models returns every known model. The slice is the caller's, the models are not.
func Models() []*Model { return append([]*Model(nil), catalogue...) }

// ModelByName returns the model called name ("sts3215"), or nil.
func ModelByName(name string) *Model {
	return servo.Find(catalogue, func(m *Model) bool { return m.Name == name })
}

// modelByNumber returns the model with this model_number, or nil.
func modelByNumber(number uint16) *Model {
	return servo.Find(catalogue, func(m *Model) bool { return m.Number == number && number != 0 })
}
