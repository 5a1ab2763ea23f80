package odrive

import (
	"math"
	"strconv"

	"github.com/halyard-robotics/halyard/internal/wire/odrivewire"
	"github.com/halyard-robotics/halyard/servo"
)

// parameter is one value of an axis and its controller that tools read and write: a property of the ASCII protocol,
// under the name common to all servos. Its wire value times factor is in the register's unit.
type parameter struct {
	servo.Register
	v05, v06 string // properties, as in Property; "" = not in this firmware
	factor   float64
}

// parameters are those relevant before a robot runs: limits, gains, the watchdog, the node, measurements, errors. The
// controller stores them only on a save command. Names and units: docs.odriverobotics.com, ODrive reference of 0.5.6
// and of 0.6. The ranges are reasonable values; the firmware checks few.
func parameters() []parameter {
	const ro, ram, keep = servo.ReadOnly, servo.RAM, servo.EEPROM
	const maxInt, turn = math.MaxInt32, 2 * math.Pi
	row := func(name string, a servo.Access, low, high, initial int64, m servo.Measure, factor float64, v05,
		v06 string) parameter {
		return parameter{servo.Reg(name, 0, 4, a, servo.Float, low, high, initial, m), v05, v06, factor}
	}
	whole := func(name string, a servo.Access, high, initial int64, v05, v06 string) parameter {
		return parameter{servo.Reg(name, 0, 4, a, servo.Unsigned, 0, high, initial, servo.Measure{}), v05, v06, 1}
	}
	milli := func(unit string) servo.Measure { return servo.Measure{Unit: unit, Scale: 1e-3} }
	micro := func(unit string) servo.Measure { return servo.Measure{Unit: unit, Scale: 1e-6} }
	same := func(list ...parameter) []parameter {
		for i := range list {
			if list[i].Addr = uint16(i); list[i].v06 == "" {
				list[i].v06 = list[i].v05
			}
		}
		return list
	}
	return same(
		whole("firmware_minor", ro, 255, 6, "fw_version_minor", ""),
		row("present_voltage", ro, 0, maxInt, 24000, milli("V"), 1, "vbus_voltage", ""),
		row("supply_current", ro, -maxInt, maxInt, 0, milli("A"), 1, "ibus", ""),
		row("min_voltage", keep, 0, 60000, 10500, milli("V"), 1, "config.dc_bus_undervoltage_trip_level", ""),
		row("max_voltage", keep, 0, 60000, 56000, milli("V"), 1, "config.dc_bus_overvoltage_trip_level", ""),
		row("max_supply_current", keep, 0, 1000000, 20000, milli("A"), 1, "config.dc_max_positive_current", ""),
		row("max_regen_current", keep, -1000000, 0, -10, milli("A"), 1, "config.dc_max_negative_current", ""),
		whole("can_baud_rate", ro, 1000000, Bitrate, "can.config.baud_rate", ""),
		whole("can_node_id", keep, odrivewire.LastNode, 0, ".config.can.node_id", ""),
		whole("torque_enable", ram, 1, 0, ".current_state", ""), // 1 in closed loop; its 0 asks for idle
		whole("state", ro, 255, int64(odrivewire.Idle), ".current_state", ""),
		whole("errors", ro, math.MaxUint32, 0, ".error", ".active_errors"),
		row("present_position", ro, -maxInt, maxInt, 0, micro("rad"), turn, ".encoder.pos_estimate", ".pos_estimate"),
		row("present_velocity", ro, -maxInt, maxInt, 0, milli("rad/s"), turn, ".encoder.vel_estimate", ".vel_estimate"),
		row("present_current", ro, -maxInt, maxInt, 0, milli("A"), 1, ".motor.current_control.Iq_measured",
			".motor.foc.Iq_measured"),
		row("present_temperature", ro, -maxInt, maxInt, 25000, milli("°C"), 1, ".motor.fet_thermistor.temperature", ""),
		row("max_current", keep, 0, 200000, 10000, milli("A"), 1, ".motor.config.current_lim",
			".config.motor.current_soft_max"),
		row("max_velocity", keep, 0, 10000000, 12566, milli("rad/s"), turn, ".controller.config.vel_limit", ""),
		row("position_p_gain", keep, 0, maxInt, 20000000, micro("1/s"), 1, ".controller.config.pos_gain", ""),
		row("velocity_p_gain", keep, 0, maxInt, 26526, micro("N·m·s/rad"), 1/turn, ".controller.config.vel_gain", ""),
		row("velocity_i_gain", keep, 0, maxInt, 53052, micro("N·m/rad"), 1/turn,
			".controller.config.vel_integrator_gain", ""),
		row("watchdog_timeout", keep, 0, 60000, 500, milli("s"), 1, ".config.watchdog_timeout", ""),
		whole("watchdog_enable", keep, 1, 0, ".config.enable_watchdog", ""),
		whole("pole_pairs", keep, 100, 7, ".motor.config.pole_pairs", ".config.motor.pole_pairs"),
		row("torque_constant", keep, 0, 100000000, 40000, micro("N·m/A"), 1, ".motor.config.torque_constant",
			".config.motor.torque_constant"),
	)
}

// Parameters are the registers of an axis on a serial line, as tools know them. The slice is the caller's.
func Parameters() []servo.Register {
	var list []servo.Register
	for _, p := range parameters() {
		list = append(list, p.Register)
	}
	return list
}

// Path is the property of a register of Parameters in a dialect, and the factor from its value to the register's unit;
// "" if the dialect lacks it.
func Path(r *servo.Register, d odrivewire.Dialect, axis int) (path string, factor float64) {
	all := parameters()
	if int(r.Addr) >= len(all) {
		return "", 0
	}
	p := &all[r.Addr]
	name := p.v05
	if d == odrivewire.V06 {
		name = p.v06
	}
	if name != "" && name[0] == '.' {
		name = "axis" + strconv.Itoa(axis) + name
	}
	return name, p.factor
}
