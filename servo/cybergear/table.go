package cybergear

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/cybergearwire"
	"github.com/halyard-robotics/halyard/servo"
)

// Bitrate is the bus's as motors come, bit/s.
const Bitrate = 1_000_000

// TicksPerTurn is the number of ticks of a turn of the output in this package, equal to the encoder's of a rotor turn.
const TicksPerTurn = 16384

// Model is one model of motor; its values are the manual's, section 1.
type Model struct {
	Name      string
	Spans     cybergearwire.Spans
	Amps      float64          // A, peak
	PolePairs int              // of the rotor
	Gear      float64          // turns of the rotor a turn of the output
	Kt        float64          // N·m of the output a peak ampere
	Velocity  float64          // rad/s without load
	Volts     float64          // that Velocity is for
	Settings  []servo.Register // registers that a config may set
}

// BaudCode is false: all motors of a bus have its rate.
func (m *Model) BaudCode(int) (byte, bool) { return 0, false }

// Units returns the units and ranges of the chain's values.
func (m *Model) Units() servo.Units {
	return servo.Units{
		Name: m.Name, TicksPerTurn: TicksPerTurn, MinTicks: -ticks(m.Spans.Angle), MaxTicks: ticks(m.Spans.Angle),
		MaxVelocity: m.Velocity, TorqueConstant: m.Kt, MaxEffort: m.Spans.Torque / m.Kt, Current: true,
		NominalVolts: m.Volts,
		Modes:        [hal.NumModes]bool{hal.PositionMode: true, hal.VelocityMode: true, hal.TorqueMode: true},
	}
}

func ticks(rad float64) float64    { return rad * TicksPerTurn / (2 * math.Pi) }
func radians(tick float64) float64 { return tick * 2 * math.Pi / TicksPerTurn }

// timeoutUnit is the unit of CANTimeout, s.
const timeoutUnit = 50e-6

// usualTimeout is the default of CANTimeout: half a second.
const usualTimeout = 10000

// catalogue: 12 N·m, 23 A peak, 28 poles, 7.75:1, 0.87 N·m/Arms, 296 rpm without load at 24 V.
var catalogue = []*Model{{
	Name: "cybergear", Spans: cybergearwire.Spans{Angle: 12.5, Speed: 30, Torque: 12, Kp: 500, Kd: 5},
	Amps: 23, PolePairs: 14, Gear: 7.75, Kt: 0.87 / math.Sqrt2, Velocity: 296 * 2 * math.Pi / 60, Volts: 24,
	Settings: []servo.Register{servo.Reg("can_timeout", uint16(cybergearwire.CANTimeout)&0xFF, 4, servo.RAM,
		servo.Unsigned, 0,
		100000, usualTimeout,
		servo.Measure{Unit: "s", Scale: timeoutUnit})},
}}

// Models returns every known model. The slice is the caller's, the models are not.
func Models() []*Model { return append([]*Model(nil), catalogue...) }

// ModelByName returns the model called name ("cybergear"), or nil.
func ModelByName(name string) *Model {
	return servo.Find(catalogue, func(m *Model) bool { return m.Name == name })
}
