package vesc

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
	"github.com/halyard-robotics/halyard/servo"
)

// Baud is the factory default rate of the serial port, bit/s.
const Baud = 115200

// TicksPerTurn is the number of ticks of one turn of the motor in this package. The wire has degrees and electrical
// turns; encoders of such drives have 14 bits.
const TicksPerTurn = 16384

// Model is a controller with the motor that it usually turns. The motor's values bound goals and give the torque of a
// current where no calibration does; the controller's own limits hold in any case.
type Model struct {
	Name      string
	Encoder   bool    // it measures the angle within a turn: there is a position mode
	PolePairs int     // default, if the controller does not report it
	Amps      float64 // continuous motor current, A
	Kt        float64 // N·m/A
	Velocity  float64 // rad/s without load at Volts
	Volts     float64
}

// BaudCode is false: the rate is set with VESC Tool.
func (m *Model) BaudCode(int) (byte, bool) { return 0, false }

// Units returns the units and ranges of the chain's values.
func (m *Model) Units() servo.Units {
	u := servo.Units{
		Name: m.Name, TicksPerTurn: TicksPerTurn, MaxVelocity: m.Velocity, TorqueConstant: m.Kt,
		MaxEffort: m.Amps,
		Current:   true, NominalVolts: m.Volts,
		Modes: [hal.NumModes]bool{hal.PositionMode: m.Encoder, hal.VelocityMode: true, hal.TorqueMode: true,
			hal.DutyMode: true},
	}
	// An encoder reports where within a turn; a tachometer counts on.
	u.CentreTicks, u.MaxTicks = TicksPerTurn/2, TicksPerTurn-1
	if !m.Encoder {
		u.CentreTicks, u.MinTicks, u.MaxTicks = 0, -counted, counted
	}
	return u
}

// counted is how far a tachometer is followed, ticks: 31 bits of sixths of electrical turns are farther with any motor.
const counted = 1e9

// rpm is rad/s a turn a minute.
const rpm = 2 * math.Pi / 60

// catalogue: controllers by their continuous current (Trampa and vedder.se, product pages), with a 6374 motor of 190
// rpm/V (7 pole pairs; Kt = 60/(2π·190) = 0.0503 N·m/A). "-hall" has no encoder: Hall sensors, or none at all.
var catalogue = []*Model{
	rated("vesc-4", true),
	rated("vesc-4-hall", false),
	rated("vesc-6", true),
	rated("vesc-6-hall", false),
	rated("vesc-75", true),
	rated("vesc-75-hall", false),
}

func rated(name string, encoder bool) *Model {
	s := sheet.Of(name)
	return &Model{name, encoder, 7, s.Amps, s.Constant(), s.RPM * rpm, s.Volts}
}

// Models returns every known model. The slice is the caller's, the models are not.
func Models() []*Model { return append([]*Model(nil), catalogue...) }

// ModelByName returns the model called name ("vesc-6"), or nil.
func ModelByName(name string) *Model {
	return servo.Find(catalogue, func(m *Model) bool { return m.Name == name })
}
