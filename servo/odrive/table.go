package odrive

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
	"github.com/halyard-robotics/halyard/servo"
)

// The usual rates, bit/s.
const (
	Baud    = 115200
	Bitrate = 250_000
)

// TicksPerTurn is the number of ticks of a turn in this package; the wire has turns.
const TicksPerTurn = 16384

// counted is the position range, ticks: beyond 1024 turns a 32-bit float cannot resolve one tick.
const counted = 1024 * TicksPerTurn

// watchdog is the time after which an axis that is not commanded stops.
const watchdog = 500 * time.Millisecond

// Model is a controller with the motor that it usually turns; their values bound goals and give the torque of a
// current.
type Model struct {
	Name      string
	Axes      int
	PolePairs int
	Amps      float64 // A, continuous
	Kt        float64 // N·m/A
	Velocity  float64 // rad/s without load at Volts
	Volts     float64
	Endpoints []servo.Register
}

// BaudCode is false: rates are set with odrivetool.
func (m *Model) BaudCode(int) (byte, bool) { return 0, false }

// Units returns the units and ranges of the chains' values.
func (m *Model) Units() servo.Units {
	return servo.Units{
		Name: m.Name, TicksPerTurn: TicksPerTurn, MinTicks: -counted, MaxTicks: counted,
		MaxVelocity: m.Velocity, TorqueConstant: m.Kt, MaxEffort: m.Amps, Current: true, NominalVolts: m.Volts,
		Modes: [hal.NumModes]bool{hal.PositionMode: true, hal.VelocityMode: true, hal.TorqueMode: true},
	}
}

// The names of the settings.
const (
	watchdogEndpoint = "watchdog_endpoint"
	enableEndpoint   = "enable_endpoint"
	limitEndpoint    = "limit_endpoint"
)

// endpoints are the numbers of axis0.config.watchdog_timeout, .enable_watchdog and .motor.current_soft_max in the
// flat_endpoints.json of the controller's firmware, by which the watchdog and the current limit can be set over CAN.
var endpoints = []servo.Register{
	servo.Reg(watchdogEndpoint, 0, 2, servo.RAM, servo.Unsigned, 0, math.MaxUint16, 0, servo.Measure{}),
	servo.Reg(enableEndpoint, 2, 2, servo.RAM, servo.Unsigned, 0, math.MaxUint16, 0, servo.Measure{}),
	servo.Reg(limitEndpoint, 4, 2, servo.RAM, servo.Unsigned, 0, math.MaxUint16, 0, servo.Measure{}),
}

// rpm is rad/s a turn a minute.
const rpm = 2 * math.Pi / 60

// catalogue: controllers by the shop's continuous current, v3.6 with a D5065 motor (270 rpm/V, 7 pole pairs), the
// others with an M8325s (100 rpm/V, 20 pole pairs). Kt = 8.27/KV, as their documentation has it.
var catalogue = []*Model{
	rated("odrive-v3", 2, 7, nil),
	rated("odrive-s1", 1, 20, endpoints),
	rated("odrive-pro", 1, 20, endpoints),
}

func rated(name string, axes, poles int, endpoints []servo.Register) *Model {
	s := sheet.Of(name)
	return &Model{name, axes, poles, s.Amps, s.Constant(), s.RPM * rpm, s.Volts, endpoints}
}

// Models returns every known model. The slice is the caller's, the models are not.
func Models() []*Model { return append([]*Model(nil), catalogue...) }

// modelOf is the model with a hardware's major version, by the vendor's product list; nil for another.
func modelOf(hardware float64) *Model {
	return ModelByName(map[float64]string{3: "odrive-v3", 4: "odrive-pro", 5: "odrive-s1"}[hardware])
}

// Hardware is the hardware's major version that the model reports.
func (m *Model) Hardware() int {
	for v := range 8 {
		if modelOf(float64(v)) == m {
			return v
		}
	}
	return 0
}

// ModelByName returns the model called name ("odrive-s1"), or nil.
func ModelByName(name string) *Model {
	return servo.Find(catalogue, func(m *Model) bool { return m.Name == name })
}

func turns(tick float64) float64 { return tick / TicksPerTurn }
