package hiwonder

import (
	"math"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/sheet"
	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
	"github.com/halyard-robotics/halyard/servo"
)

// Command is a pair of commands over one stretch of a servo's memory: its parameters are those bytes. The servo has no
// addresses on the wire; Addr is ours, by which a command finds its registers.
type Command struct {
	Name        string
	Write, Read byte // 0 = not available
	Addr, Size  uint16
}

// commands is every pair. Source: the protocol document, by number.
var commands = []Command{
	{"move", 1, 2, 18, 4},      // goal_position, goal_time
	{"move_wait", 7, 8, 22, 4}, // registered_position, registered_time; 11 starts it
	{"id", 13, 14, 0, 1},       // kept, as are the limits below
	{"offset", hiwonderwire.AdjustOffset, 19, 1, 1},
	{"position_limit", 20, 21, 2, 4}, // min_position, max_position
	{"voltage_limit", 22, 23, 6, 4},  // min_voltage, max_voltage
	{"temperature_limit", 24, 25, 10, 1},
	{"temperature", 0, 26, 26, 1},
	{"voltage", 0, 27, 27, 2},
	{"position", 0, 28, 29, 2},
	{"motor_mode", 29, 30, 13, 4}, // motor_mode, 0, goal_pwm
	{"load", 31, 32, 17, 1},       // torque_enable
	{"led", 33, 34, 11, 1},
	{"led_error", 35, 36, 12, 1},
}

// Commands returns every pair of commands. The slice is the caller's.
func Commands() []Command { return append([]Command(nil), commands...) }

// commandOf returns the command that covers register r.
func commandOf(r *servo.Register) *Command {
	for i := range commands {
		if c := &commands[i]; r.Addr >= c.Addr && r.Addr < c.Addr+c.Size {
			return c
		}
	}
	return nil
}

// Model is one servo model.
type Model struct {
	Name      string
	Registers []servo.Register

	TicksPerTurn       float64
	Centre             float64 // ticks
	MinTicks, MaxTicks float64

	NominalVolts float64 // supply voltage of the next two values
	MaxVelocity  float64 // without load, rad/s
	StallTorque  float64 // N·m
}

// Register returns the register called name, or nil.
func (m *Model) Register(name string) *servo.Register { return servo.Named(m.Registers, name) }

// Baud is the only rate.
const Baud = 115200

// BaudCode reports whether a rate is the servos'.
func (m *Model) BaudCode(rate int) (byte, bool) { return 0, rate == Baud }

// Units returns the units and ranges of a chain's values of this model.
func (m *Model) Units() servo.Units {
	u := servo.Units{
		Name: m.Name, TicksPerTurn: m.TicksPerTurn, CentreTicks: m.Centre, MinTicks: m.MinTicks, MaxTicks: m.MaxTicks,
		MaxVelocity: m.MaxVelocity, TorqueConstant: m.StallTorque, NominalVolts: m.NominalVolts, MaxEffort: 1,
	}
	u.Modes[hal.PositionMode], u.Modes[hal.DutyMode] = true, true
	return u
}

const ticksPerTurn = 1000 * 360. / 240

// rated is the data sheet.
var rated = sheet.Of("lx-16a")

// catalogue is every known model: only read. Source of the figures: Hiwonder's data sheet of the LX-16A at 7.4 V.
var catalogue = []*Model{{
	Name: "lx-16a", Registers: registers(), TicksPerTurn: ticksPerTurn, Centre: 500, MaxTicks: 1000,
	NominalVolts: rated.Volts, MaxVelocity: rated.RPM * 2 * math.Pi / 60, StallTorque: rated.Torque,
}}

// The faults that can be read; a stall only makes it flash. The names are those of Hiwonder's protocol sheet.
const (
	faultHeat  = 1
	faultVolts = 2
)

var faults = servo.FaultTable{
	servo.Bit(faultHeat, "over temperature", servo.AlarmHeat, "below temp_max_limit it takes torque again"),
	servo.Bit(faultVolts, "input voltage outside its limits", servo.AlarmVoltage,
		"bring its supply within min_voltage..max_voltage"),
	servo.Bit(4, "locked rotor", servo.AlarmOverload, ""),
}

// Models returns every known model. The slice is the caller's, the models are not.
func Models() []*Model { return append([]*Model(nil), catalogue...) }

// ModelByName returns the model called name ("lx-16a"), or nil.
func ModelByName(name string) *Model {
	return servo.Find(catalogue, func(m *Model) bool { return m.Name == name })
}

// registers is the memory behind the commands. Two registers of one command are written together.
func registers() []servo.Register {
	const ro, ram, keep, plain = servo.ReadOnly, servo.RAM, servo.EEPROM, servo.Unsigned
	number := servo.Measure{}
	tick := servo.Measure{Unit: "rad", Scale: 2 * math.Pi / ticksPerTurn, Zero: 500}
	offset := servo.Measure{Unit: "rad", Scale: 2 * math.Pi / ticksPerTurn}
	volt := servo.Measure{Unit: "V", Scale: 1e-3}
	second := servo.Measure{Unit: "s", Scale: 1e-3}
	celsius := servo.Measure{Unit: "°C", Scale: 1}
	duty := servo.Measure{Unit: "1", Scale: 1e-3}
	return []servo.Register{
		servo.Reg("id", 0, 1, keep, plain, 0, hiwonderwire.LastID, 1, number),
		// Present = actual + offset.
		servo.Reg("angle_offset", 1, 1, keep, servo.Signed, -125, 125, 0, offset),
		servo.Reg("min_position", 2, 2, keep, plain, 0, 1000, 0, tick),
		servo.Reg("max_position", 4, 2, keep, plain, 0, 1000, 1000, tick),
		servo.Reg("min_voltage", 6, 2, keep, plain, 4500, 12000, 4500, volt),
		servo.Reg("max_voltage", 8, 2, keep, plain, 4500, 12000, 12000, volt),
		servo.Reg("temperature_limit", 10, 1, keep, plain, 50, 100, 85, celsius),
		// 0 is lit.
		servo.Reg("led", 11, 1, ram, plain, 0, 1, 0, number),
		// Alarms that make it flash: 1 temperature, 2 voltage, 4 stall.
		servo.Reg("led_error", 12, 1, keep, plain, 0, 7, 7, number),
		servo.Reg("motor_mode", 13, 1, ram, plain, 0, 1, 0, number),
		servo.Reg("goal_pwm", 15, 2, ram, servo.Signed, -1000, 1000, 0, duty),
		servo.Reg("torque_enable", 17, 1, ram, plain, 0, 1, 0, number),
		servo.Reg("goal_position", 18, 2, ram, plain, 0, 1000, 500, tick),
		servo.Reg("goal_time", 20, 2, ram, plain, 0, 30000, 0, second),
		servo.Reg("registered_position", 22, 2, ram, plain, 0, 1000, 500, tick),
		servo.Reg("registered_time", 24, 2, ram, plain, 0, 30000, 0, second),
		servo.Reg("present_temperature", 26, 1, ro, plain, 0, 255, 25, celsius),
		servo.Reg("present_voltage", 27, 2, ro, plain, 0, 65535, 7400, volt),
		servo.Reg("present_position", 29, 2, ro, servo.Signed, -32768, 32767, 500, tick),
	}
}
