package kondo

import (
	"math"
	"slices"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
	"github.com/halyard-robotics/halyard/internal/wire/kondowire"
	"github.com/halyard-robotics/halyard/servo"
)

// Model is one servo model.
type Model struct {
	Name      string
	Registers []servo.Register

	TicksPerTurn       float64
	Centre             float64 // ticks
	MinTicks, MaxTicks float64

	NominalVolts float64 // supply voltage of the next three values
	MaxVelocity  float64 // without load, rad/s
	StallTorque  float64 // N·m
	StallCurrent float64 // A
}

// Register returns the register called name, or nil.
func (m *Model) Register(name string) *servo.Register { return servo.Named(m.Registers, name) }

// Bauds are the rates, fastest first; which one a servo has is set with Kondo's own tool.
func Bauds() []int { return []int{1250000, 625000, 115200} }

// BaudCode reports whether a rate is one of ICS, and its place among them.
func (m *Model) BaudCode(rate int) (byte, bool) {
	i := slices.Index(Bauds(), rate)
	return byte(max(i, 0)), i >= 0
}

// Units returns the units and ranges of a chain's values of this model.
func (m *Model) Units() servo.Units {
	u := servo.Units{
		Name: m.Name, TicksPerTurn: m.TicksPerTurn, CentreTicks: m.Centre, MinTicks: m.MinTicks, MaxTicks: m.MaxTicks,
		MaxVelocity: m.MaxVelocity, TorqueConstant: m.StallTorque, NominalVolts: m.NominalVolts, MaxEffort: 1,
	}
	u.Modes[hal.PositionMode] = true
	return u
}

const ticksPerTurn = 8000 * 360. / 270 // 3500..11500 are 270 degrees

// ampere is the unit of the current, read as 0..63 forwards and 64 more backwards; not verified.
const ampere = 0.1

// rated is the data sheet.
var rated = sheet.Of("krs-2552")

// catalogue is every known model: only read. Source of the figures: Kondo's data sheet of the KRS-2552RHV at 11.1 V.
var catalogue = []*Model{{
	Name: "krs-2552", Registers: registers(), TicksPerTurn: ticksPerTurn, Centre: 7500, MinTicks: 3500, MaxTicks: 11500,
	NominalVolts: rated.Volts, MaxVelocity: rated.RPM * 2 * math.Pi / 60, StallTorque: rated.Torque,
	StallCurrent: rated.Amps,
}}

// Models returns every known model. The slice is the caller's, the models are not.
func Models() []*Model { return append([]*Model(nil), catalogue...) }

// ModelByName returns the model called name ("krs-2552"), or nil.
func ModelByName(name string) *Model {
	return servo.Find(catalogue, func(m *Model) bool { return m.Name == name })
}

// registers lists the values of a servo that can be written or read. The address of a setting is its parameter number;
// the others have no address on the wire, and get one here.
func registers() []servo.Register {
	const ro, ram, keep, plain = servo.ReadOnly, servo.RAM, servo.EEPROM, servo.Unsigned
	number := servo.Measure{}
	tick := servo.Measure{Unit: "rad", Scale: 2 * math.Pi / ticksPerTurn, Zero: 7500}
	all := []servo.Register{
		servo.Reg("id", 0, 1, keep, plain, 0, kondowire.LastID, 0, number),
		servo.Reg("stretch", kondowire.Stretch, 1, ram, plain, 1, 127, 60, number),
		servo.Reg("speed", kondowire.Speed, 1, ram, plain, 1, 127, 127, number),
		servo.Reg("current_limit", kondowire.Current, 1, ram, plain, 1, 63, 63,
			servo.Measure{Unit: "A", Scale: ampere}),
		servo.Reg("heat_limit", kondowire.Heat, 1, ram, plain, 1, 127, 30, number),
		servo.Reg("torque_enable", 8, 1, ram, plain, 0, 1, 0, number),
		servo.Reg("goal_position", 10, 2, ram, plain, 0, 16383, 0, tick),
		servo.Reg("present_position", 12, 2, ro, plain, 0, 16383, 7500, tick),
		servo.Reg("present_amps", 14, 1, ro, plain, 0, 127, 0, number),
		servo.Reg("present_heat", 15, 1, ro, plain, 1, 127, 90, number),
		servo.Reg("baud_rate", 16, 1, keep, plain, 0, 2, 0, number),
	}
	for i := range all {
		r := &all[i]
		r.Unread = r.Name != "id" && asked[r.Name] == 0
	}
	return all
}
