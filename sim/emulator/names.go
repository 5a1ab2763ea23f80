package emulator

import "github.com/halyard-robotics/halyard/servo"

// name is a register that the emulator itself looks at; all others are plain memory.
type name uint8

// The order is that of registerNames. Two runs of it are walked through: the gains that a change of mode resets
// (rVelocityI..rFeedforward1) and what is measured (rPresentPWM..rPresentTemperature).
const (
	// EEPROM of all models.
	rFirmware name = iota
	rID
	rBaud
	rReturnDelay
	rDriveMode
	rOperatingMode
	rShadowID
	rProtocol
	// EEPROM of the X series.
	rHomingOffset
	rMovingThreshold
	rTemperatureLimit
	rMaxVoltage
	rMinVoltage
	rPWMLimit
	rCurrentLimit
	rVelocityLimit
	rMaxPosition
	rMinPosition
	rStartup
	rShutdown
	// EEPROM of AX, MX (1.0) and XL-320.
	rCWLimit
	rCCWLimit
	rMaxTorque
	rMultiTurnOffset
	rDivider
	// RAM: switches and state.
	rTorqueEnable
	rStatusReturn
	rRegistered
	rHardwareError
	// RAM: gains of X and MX, then of AX.
	rVelocityI
	rVelocityP
	rPositionD
	rPositionI
	rPositionP
	rFeedforward2
	rFeedforward1
	rCWMargin
	rCCWMargin
	rCWSlope
	rCCWSlope
	rPunch
	// RAM: goals.
	rWatchdog
	rGoalPWM
	rGoalCurrent
	rGoalVelocity
	rGoalTorque
	rTorqueMode
	rGoalAcceleration
	rProfileAcceleration
	rProfileVelocity
	rGoalPosition
	rMovingSpeed
	rTorqueLimit
	rLock
	// What is measured.
	rRealtimeTick
	rMoving
	rMovingStatus
	rPresentPWM
	rPresentCurrent
	rPresentLoad
	rPresentVelocity
	rPresentPosition
	rVelocityTrajectory
	rPositionTrajectory
	rPresentVoltage
	rPresentTemperature
	rBackupReady
	// Other vendors' own.
	rPhase
	rUnloadCondition
	rProtectiveTorque
	rResponseLevel
	rGoalTime
	rRegisteredPosition
	rRegisteredTime
	rMotorMode
	rAngleOffset
	rHeat
	rHeatLimit
	rPresentAmps
	rStretch
	rSpeed
	rTimeout
	rControl
	numNames
)

// registerNames are the names of the vendors' tables; the same name means the same in every model.
var registerNames = [numNames]string{
	"firmware",
	"id", "baud_rate", "return_delay", "drive_mode", "operating_mode", "shadow_id", "protocol_type", "homing_offset",
	"moving_threshold", "temperature_limit", "max_voltage", "min_voltage", "pwm_limit", "current_limit",
	"velocity_limit", "max_position", "min_position", "startup", "shutdown", "cw_angle_limit", "ccw_angle_limit",
	"max_torque", "multi_turn_offset", "resolution_divider", "torque_enable", "status_return", "registered",
	"hardware_error", "velocity_i_gain", "velocity_p_gain", "position_d_gain", "position_i_gain", "position_p_gain",
	"feedforward_2nd_gain", "feedforward_1st_gain", "cw_compliance_margin", "ccw_compliance_margin",
	"cw_compliance_slope", "ccw_compliance_slope", "punch", "bus_watchdog", "goal_pwm", "goal_current",
	"goal_velocity", "goal_torque", "torque_mode", "goal_acceleration", "profile_acceleration", "profile_velocity",
	"goal_position", "moving_speed", "torque_limit", "lock", "realtime_tick", "moving", "moving_status", "present_pwm",
	"present_current", "present_load", "present_velocity", "present_position", "velocity_trajectory",
	"position_trajectory", "present_voltage", "present_temperature", "backup_ready", "phase", "unload_condition", "protective_torque",
	"response_level", "goal_time", "registered_position", "registered_time", "motor_mode", "angle_offset",
	"present_heat", "heat_limit", "present_amps", "stretch", "speed", "timeout", "control_mode",
}

// isGoal tells the registers that a tripped bus watchdog locks.
func isGoal(n name) bool {
	return n == rGoalPWM || n == rGoalCurrent || n == rGoalVelocity || n == rGoalPosition || n == rGoalTorque
}

// memory is a control table with its bytes. Addresses and names are looked up once, in newMemory, since every
// transaction goes through here.
type memory struct {
	table  []servo.Register
	bytes  []byte
	at     []int16                   // register that covers an address, -1 = none
	named  [numNames]*servo.Register // nil = the model does not have it
	nameOf []name                    // of each register of the model, numNames = none of ours
}

// newMemory lays out a table of zeros; the servo fills in the defaults.
func newMemory(table []servo.Register) memory {
	// The table ends where its last register does.
	size := uint16(0)
	for i := range table {
		size = max(size, table[i].Addr+table[i].Size)
	}
	t := memory{table: table, bytes: make([]byte, size), at: make([]int16, size), nameOf: make([]name, len(table))}
	for i := range t.at {
		t.at[i] = -1
	}
	known := make(map[string]name, numNames)
	for n, text := range registerNames {
		known[text] = name(n)
	}
	// Most models lack some of the names: those stay nil.
	for i := range table {
		r := &table[i]
		t.nameOf[i] = numNames
		for a := r.Addr; a < r.Addr+r.Size; a++ {
			t.at[a] = int16(i)
		}
		if n, ok := known[r.Name]; ok {
			t.named[n], t.nameOf[i] = r, n
		}
	}
	return t
}

// find returns the register called name, or nil.
func (t *memory) find(name string) *servo.Register {
	for i := range t.table {
		if t.table[i].Name == name {
			return &t.table[i]
		}
	}
	return nil
}

// register returns what covers addr and its name, or nil.
func (t *memory) register(addr int) (*servo.Register, name) {
	if addr < 0 || addr >= len(t.at) || t.at[addr] < 0 {
		return nil, numNames
	}
	i := t.at[addr]
	return &t.table[i], t.nameOf[i]
}

func (t *memory) has(n name) bool { return t.named[n] != nil }

// get is the raw value of a register, 0 where there is none.
func (t *memory) get(n name) int64 {
	r := t.named[n]
	if r == nil {
		return 0
	}
	return r.Decode(t.bytes[r.Addr:])
}

// set stores a raw value, cut to what the register may hold; nothing where there is none.
func (t *memory) set(n name, v int64) {
	if r := t.named[n]; r != nil {
		t.store(r, min(max(v, r.Min), r.Max))
	}
}

// store writes a raw value into its bytes; what does not fit is cut off.
func (t *memory) store(r *servo.Register, v int64) {
	r.Append(t.bytes[:r.Addr:r.Addr+r.Size], v)
}

// si is a register's value in its unit; setSI stores one, rounded.
func (t *memory) si(n name) float64 {
	if r := t.named[n]; r != nil {
		return r.SI(t.get(n))
	}
	return 0
}

// setSI clips to the register's range, as a servo's own conversion saturates.
func (t *memory) setSI(n name, v float64) {
	if r := t.named[n]; r != nil {
		t.store(r, r.Raw(v))
	}
}
