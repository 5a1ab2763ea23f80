package vescwire

import (
	"fmt"

	"github.com/halyard-robotics/halyard/servo"
)

// Fault is the reason for which a controller stopped (datatypes.h, mc_fault_code).
type Fault byte

// faults are their names (FAULT_CODE_...), what they mean, the common alarms and what to do, by mc_interface.c and VESC
// Tool.
var faults = [...]struct {
	name, meaning string
	alarm         servo.Alarm
	fix           string
}{
	{"NONE", "none", 0, ""},
	{"OVER_VOLTAGE", "over voltage", servo.AlarmVoltage,
		"braking pumps the supply up: a battery, or less braking current"},
	{"UNDER_VOLTAGE", "under voltage", servo.AlarmVoltage, "check the supply and its cables under load"},
	{"DRV", "gate driver fault", servo.AlarmShock,
		"a short of the motor's wires or a damaged gate driver: VESC Tool, terminal: faults"},
	{"ABS_OVER_CURRENT", "over current, above the absolute maximum", servo.AlarmShock,
		"detect the motor again, lower its current, or raise the absolute maximum: VESC Tool, Motor Settings"},
	{"OVER_TEMP_FET", "over temperature of the bridge", servo.AlarmHeat, ""},
	{"OVER_TEMP_MOTOR", "over temperature of the motor", servo.AlarmHeat, ""},
	{"GATE_DRIVER_OVER_VOLTAGE", "gate driver over voltage", servo.AlarmVoltage, ""},
	{"GATE_DRIVER_UNDER_VOLTAGE", "gate driver under voltage", servo.AlarmVoltage, ""},
	{"MCU_UNDER_VOLTAGE", "processor under voltage", servo.AlarmVoltage,
		"its 3.3 V or 5 V is overloaded: unplug what it feeds"},
	{"BOOTING_FROM_WATCHDOG_RESET", "restarted by its watchdog", servo.AlarmShock, "update its firmware"},
	{"ENCODER_SPI", "encoder bus", servo.AlarmEncoder, ""},
	{"ENCODER_SINCOS_BELOW_MIN_AMPLITUDE", "encoder signal too small", servo.AlarmEncoder, ""},
	{"ENCODER_SINCOS_ABOVE_MAX_AMPLITUDE", "encoder signal too large", servo.AlarmEncoder, ""},
	{"FLASH_CORRUPTION", "flash corrupted", servo.AlarmShock, "write its firmware again: VESC Tool, Firmware"},
	{"HIGH_OFFSET_CURRENT_SENSOR_1", "current sensor 1 offset", servo.AlarmShock,
		"a damaged current sensor: it is for repair"},
	{"HIGH_OFFSET_CURRENT_SENSOR_2", "current sensor 2 offset", servo.AlarmShock,
		"a damaged current sensor: it is for repair"},
	{"HIGH_OFFSET_CURRENT_SENSOR_3", "current sensor 3 offset", servo.AlarmShock,
		"a damaged current sensor: it is for repair"},
	{"UNBALANCED_CURRENTS", "unbalanced currents", servo.AlarmShock, "check the motor's wires"},
	{"BRK", "brake input: the hardware's over-current protection", servo.AlarmShock,
		"check the motor's wires for a short"},
	{"RESOLVER_LOT", "resolver: loss of tracking", servo.AlarmEncoder, ""},
	{"RESOLVER_DOS", "resolver: degradation of signal", servo.AlarmEncoder, ""},
	{"RESOLVER_LOS", "resolver: loss of signal", servo.AlarmEncoder, ""},
	{"FLASH_CORRUPTION_APP_CFG", "app configuration corrupted in flash", servo.AlarmShock,
		"write its App Settings again: VESC Tool"},
	{"FLASH_CORRUPTION_MC_CFG", "motor configuration corrupted in flash", servo.AlarmShock,
		"write its Motor Settings again: VESC Tool"},
	{"ENCODER_NO_MAGNET", "encoder: no magnet", servo.AlarmEncoder,
		"check the magnet on the shaft and its distance to the encoder"},
	{"ENCODER_MAGNET_TOO_STRONG", "encoder: magnet too strong", servo.AlarmEncoder,
		"move the magnet away from the encoder"},
	{"PHASE_FILTER", "phase filter", servo.AlarmShock, "switch the phase filter off: VESC Tool, Motor Settings"},
	{"ENCODER_FAULT", "encoder fault", servo.AlarmEncoder, ""},
	{"LV_OUTPUT_FAULT", "low-voltage output", servo.AlarmVoltage, "unplug what its low-voltage output feeds"},
	{"ENCODER_SLIP", "encoder slips", servo.AlarmEncoder, "fasten the encoder on the shaft, then detect it again"},
	{"OVERSPEED", "over speed", servo.AlarmOverload, "command less, or look what turns the motor"},
	{"UNDERSPEED", "under speed", servo.AlarmOverload, "look what brakes the motor"},
	{"ABS_OVERSPEED", "over speed, above the absolute maximum", servo.AlarmOverload,
		"command less, or look what turns the motor"},
}

// String is the fault's meaning with its maker's name.
func (f Fault) String() string {
	switch {
	case f == 0:
		return "none"
	case int(f) < len(faults):
		return fmt.Sprintf("%s (FAULT_CODE_%s, %d)", faults[f].meaning, faults[f].name, byte(f))
	}
	return fmt.Sprintf("fault %d, which its maker's list of firmware 7.01 does not have", byte(f))
}

// Alarm converts the fault to the common alarms. An unknown one is of class electrical, since it stopped the motor.
func (f Fault) Alarm() servo.Alarm {
	if int(f) < len(faults) {
		return faults[f].alarm
	}
	return servo.AlarmShock
}

// report is the fault with what to do.
func (f Fault) Report() servo.Report {
	if f == 0 {
		return servo.Report{}
	}
	r := servo.Report{Alarm: f.Alarm(), Fault: f.String(), Fix: f.Alarm().Fix()}
	if int(f) < len(faults) && faults[f].fix != "" {
		r.Fix = faults[f].fix
	}
	return r
}
