package dynamixel

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The values of operating_mode.
const (
	modeCurrent         = 0
	modeVelocity        = 1
	modePosition        = 3
	modeExtended        = 4
	modeCurrentPosition = 5
	modePWM             = 16
	modeWheel320        = 1 // XL-320's own
)

// device is a servo of protocol 1.0 or 2.0.
type device struct {
	*emulator.Servo
	model *dynamixel.Model
	turns float64 // ticks, whole turns that the registers do not show
	deaf  bool    // did not understand the instruction at hand
	shut  bool    // 2.0: torque is off until a reboot
	y     stateY

	registered []byte // data of a reg write
	registerAt uint16
	backup     []byte // the control table as stored, nil = never
}

// New returns a servo of model m on act, fresh from the factory but for its ID, which must be 0..252.
// The servo owns act's commands and its backlash from now on; the scene moves it. nil where m is another vendor's.
func New(m servo.Model, id int, act *actuator.Servo, truth emulator.GroundTruth) *emulator.Servo {
	model, ok := m.(*dynamixel.Model)
	if !ok {
		return nil
	}
	s := &device{Servo: new(emulator.Servo), model: model}
	s.Init(s, emulator.Sheet{Name: model.Name, RAMStart: model.RAMStart, Turn: model.TicksPerTurn, Centre: model.Centre,
		Low: model.MinTicks, High: model.MaxTicks},
		model.Registers, id, act, truth)
	s.registered = make([]byte, 0, len(s.Bytes))
	s.y.stored = append([]byte(nil), s.Bytes...)
	s.Set(reg.BackupReady, 0)
	return s.Servo
}

func (s *device) xl320() bool { return s.model.Protocol == 2 && !s.Has(reg.HomingOffset) }

// version is the protocol of the servo, 1 or 2: an X may be set to 1.0.
func (s *device) version() int {
	if s.Has(reg.Protocol) && s.Get(reg.Protocol) == 1 {
		return 1
	}
	return s.model.Protocol
}

// meant reports whether an instruction to id is for s.
func (s *device) meant(id byte) bool {
	if int64(id) == s.Get(reg.ID) {
		return true
	}
	shadow := s.Get(reg.ShadowID)
	return s.Has(reg.ShadowID) && shadow < 253 && int64(id) == shadow
}

// Started is a Dynamixel's own part of power-on.
func (s *device) Started() {
	s.shut = false
	if s.isY() {
		s.startY()
		return
	}
	s.oneTurn()
	s.limits()
	// Startup configuration: bit 0 torque on, bit 1 RAM from the backup.
	startup := s.Get(reg.Startup)
	if startup&2 != 0 && s.backup != nil {
		s.restore(dynamixel.RAM)
	}
	s.Set(reg.BackupReady, emulator.Flag(s.backup != nil))
	// The goal is the present position, so that torque-on causes no motion.
	s.Set(reg.GoalPosition, int64(s.present(s.Shaft())))
	s.Set(reg.TorqueEnable, startup&1)
}

// Configured follows a change of EEPROM from outside.
func (s *device) Configured() {
	s.oneTurn()
	s.limits()
}

// limits sets the RAM registers that start from an EEPROM limit.
func (s *device) limits() {
	if s.Act.Shutdown = s.shutdown(); s.isY() {
		return
	}
	s.Set(reg.TorqueLimit, s.Get(reg.MaxTorque))
	s.Set(reg.GoalPWM, s.Get(reg.PWMLimit))
	s.Set(reg.GoalCurrent, s.Get(reg.CurrentLimit))
}

// shutdown is the mask of alarms that cut the torque.
func (s *device) shutdown() actuator.Alarm {
	if s.isY() {
		return shutdownY
	}
	return actuator.Alarm(s.model.Alarms(byte(s.Get(reg.Shutdown)))) &^ actuator.AlarmRange
}

// changeMode is the side effect of writing operating_mode: it resets gains, profile and goals.
func (s *device) changeMode() {
	if s.isY() {
		s.startGoalsY()
		return
	}
	// A real servo has different default gains in each mode; here those of the position mode are used for all.
	for n := reg.VelocityI; n <= reg.Feedforward1; n++ {
		if r := s.Named[n]; r != nil {
			s.Store(r, r.Default)
		}
	}
	s.Set(reg.ProfileVelocity, 0)
	s.Set(reg.ProfileAcceleration, 0)
	s.Set(reg.GoalVelocity, 0)
	s.limits()
	if s.Get(reg.OperatingMode) == modePosition {
		s.oneTurn()
	}
	s.Set(reg.GoalPosition, int64(s.present(s.Shaft())))
}

// save stores the control table; restore brings the registers of one access back.
func (s *device) save() {
	s.backup = append(s.backup[:0], s.Bytes...)
	s.Set(reg.BackupReady, 1)
}

func (s *device) restore(access dynamixel.Access) {
	for i := range s.Table {
		r := &s.Table[i]
		if n := s.NameOf[i]; r.Access != access || n == reg.TorqueEnable || n == reg.Watchdog {
			continue
		}
		copy(s.Bytes[r.Addr:r.Addr+r.Size], s.backup[r.Addr:])
	}
}

// factoryReset restores the factory defaults of the EEPROM, except the registers in keep, and reboots.
func (s *device) factoryReset(now time.Duration, keep ...reg.Name) {
	var kept [2]int64 // ID and baud rate at most
	for i, n := range keep {
		kept[i] = s.Get(n)
	}
	for i := range s.Table {
		if r := &s.Table[i]; r.Access == dynamixel.EEPROM || s.isHybrid(r) {
			s.Store(r, r.Default)
		}
	}
	s.storeHybrid()
	for i, n := range keep {
		s.Set(n, kept[i])
	}
	s.PowerOn(now)
}
