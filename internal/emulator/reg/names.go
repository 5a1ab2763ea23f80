// Package reg has the registers of an emulated servo: its control table, and the names that the emulator uses.
package reg

import (
	"slices"

	"github.com/halyard-robotics/halyard/servo"
)

// Name is a register that the emulator itself uses; all others are plain memory.
type Name uint8

// The order is that of registerNames. The code iterates over two ranges: the gains that a change of mode resets
// (VelocityI..Feedforward1) and the present values (PresentPWM..PresentTemperature).
const (
	// EEPROM of all models.
	Firmware Name = iota
	ID
	Baud
	ReturnDelay
	DriveMode
	OperatingMode
	ShadowID
	Protocol
	// EEPROM of the X series.
	HomingOffset
	MovingThreshold
	TemperatureLimit
	MaxVoltage
	MinVoltage
	PWMLimit
	CurrentLimit
	VelocityLimit
	MaxPosition
	MinPosition
	Startup
	Shutdown
	// EEPROM of the older models.
	CWLimit
	CCWLimit
	MaxTorque
	MultiTurnOffset
	Divider
	// RAM: switches and state.
	TorqueEnable
	StatusReturn
	Registered
	HardwareError
	// RAM: gains of X and MX, then of AX.
	VelocityI
	VelocityP
	PositionD
	PositionI
	PositionP
	Feedforward2
	Feedforward1
	CWMargin
	CCWMargin
	CWSlope
	CCWSlope
	Punch
	// RAM: goals.
	Watchdog
	GoalPWM
	GoalCurrent
	GoalVelocity
	GoalTorque
	TorqueMode
	GoalAcceleration
	ProfileAcceleration
	ProfileVelocity
	GoalPosition
	MovingSpeed
	TorqueLimit
	Lock
	// Measured values.
	RealtimeTick
	Moving
	MovingStatus
	PresentPWM
	PresentCurrent
	PresentLoad
	PresentVelocity
	PresentPosition
	VelocityTrajectory
	PositionTrajectory
	PresentVoltage
	PresentTemperature
	BackupReady
	// Of one vendor each.
	Phase
	UnloadCondition
	ProtectiveTorque
	ResponseLevel
	GoalTime
	RegisteredPosition
	RegisteredTime
	MotorMode
	AngleOffset
	Heat
	HeatLimit
	PresentAmps
	Stretch
	Speed
	Timeout
	Control
	ControllerState
	ErrorCode
	ErrorHistory
	HybridSave
	SafeStopTime
	BrakeDelay
	GoalUpdateDelay
	GearNumerator
	GearDenominator
	InPositionThreshold
	FollowingThreshold
	LimitThreshold
	ProfileTime
	ProfileRamp
	PWMOffset
	CurrentOffset
	VelocityOffset
	InverterLimit
	InverterTemperature
	numNames
)

// registerNames are the names of the vendors' tables; the same name means the same in every model.
var registerNames = [numNames]string{
	"firmware", "id", "baud_rate", "return_delay", "drive_mode", "operating_mode", "shadow_id", "protocol_type",
	"homing_offset", "moving_threshold", "temperature_limit", "max_voltage", "min_voltage", "pwm_limit",
	"current_limit", "velocity_limit", "max_position", "min_position", "startup", "shutdown", "cw_angle_limit",
	"ccw_angle_limit", "max_torque", "multi_turn_offset", "resolution_divider", "torque_enable", "status_return",
	"registered", "hardware_error", "velocity_i_gain", "velocity_p_gain", "position_d_gain", "position_i_gain",
	"position_p_gain", "feedforward_2nd_gain", "feedforward_1st_gain", "cw_compliance_margin", "ccw_compliance_margin",
	"cw_compliance_slope", "ccw_compliance_slope", "punch", "bus_watchdog", "goal_pwm", "goal_current", "goal_velocity",
	"goal_torque", "torque_mode", "goal_acceleration", "profile_acceleration", "profile_velocity", "goal_position",
	"moving_speed", "torque_limit", "lock", "realtime_tick", "moving", "moving_status", "present_pwm",
	"present_current", "present_load", "present_velocity", "present_position", "velocity_trajectory",
	"position_trajectory", "present_voltage", "present_temperature", "backup_ready", "phase", "unload_condition",
	"protective_torque", "response_level", "goal_time", "registered_position", "registered_time", "motor_mode",
	"angle_offset", "present_heat", "heat_limit", "present_amps", "stretch", "speed", "timeout", "control_mode",
	"controller_state", "error_code", "error_code_history_1", "hybrid_save", "safe_stop_time", "brake_delay",
	"goal_update_delay", "gear_numerator", "gear_denominator", "in_position_threshold", "following_error_threshold",
	"position_limit_threshold", "profile_time", "profile_acceleration_time", "pwm_offset", "current_offset",
	"velocity_offset", "inverter_temperature_limit", "present_inverter_temperature",
}

// Memory is a control table with its bytes. Addresses and names are looked up once, in newMemory, since every
// transaction goes through here.
type Memory struct {
	Table  []servo.Register
	Bytes  []byte
	at     []int16                   // register that covers an address, -1 = none
	Named  [numNames]*servo.Register // nil = the model does not have it
	NameOf []Name                    // of each register of the model, numNames = not in this list
}

// newMemory lays out a table of zeros; the servo fills in the defaults.
func NewMemory(table []servo.Register) Memory {
	// The table ends where its last register does.
	size := uint16(0)
	for i := range table {
		size = max(size, table[i].Addr+table[i].Size)
	}
	t := Memory{Table: table, Bytes: make([]byte, size), at: slices.Repeat([]int16{-1}, int(size)),
		NameOf: make([]Name, len(table))}
	known := make(map[string]Name, numNames)
	for n, text := range registerNames {
		known[text] = Name(n)
	}
	// Most models lack some of the names: those stay nil.
	for i := range table {
		r := &table[i]
		t.NameOf[i] = numNames
		for a := r.Addr; a < r.Addr+r.Size; a++ {
			t.at[a] = int16(i)
		}
		if n, ok := known[r.Name]; ok {
			t.Named[n], t.NameOf[i] = r, n
		}
	}
	return t
}

// Find returns the register called name, or nil.
func (t *Memory) Find(name string) *servo.Register { return servo.Named(t.Table, name) }

// RegisterAt returns the register that covers addr and its name, or nil.
func (t *Memory) RegisterAt(addr int) (*servo.Register, Name) {
	if addr < 0 || addr >= len(t.at) || t.at[addr] < 0 {
		return nil, numNames
	}
	i := t.at[addr]
	return &t.Table[i], t.NameOf[i]
}

func (t *Memory) Has(n Name) bool { return t.Named[n] != nil }

// Get is the raw value of a register, 0 if absent.
func (t *Memory) Get(n Name) int64 {
	r := t.Named[n]
	if r == nil {
		return 0
	}
	return r.Decode(t.Bytes[r.Addr:])
}

// Set stores a raw value, clamped to the register's range; without effect if absent.
func (t *Memory) Set(n Name, v int64) {
	if r := t.Named[n]; r != nil {
		t.Store(r, min(max(v, r.Min), r.Max))
	}
}

// Store writes a raw value into its bytes; a value that does not fit is truncated.
func (t *Memory) Store(r *servo.Register, v int64) {
	r.Append(t.Bytes[:r.Addr:r.Addr+r.Size], v)
}

// SI is a register's value in its unit; SetSI stores one, rounded.
func (t *Memory) SI(n Name) float64 {
	if r := t.Named[n]; r != nil {
		return r.SI(t.Get(n))
	}
	return 0
}

// SetSI clips to the register's range, as a servo's own conversion saturates.
func (t *Memory) SetSI(n Name, v float64) {
	if r := t.Named[n]; r != nil {
		t.Store(r, r.Raw(v))
	}
}
