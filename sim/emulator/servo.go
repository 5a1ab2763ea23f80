package emulator

import (
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
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

// Servo is one servo: a register file on top of a simulated actuator, whose commands it owns. A bus serves it; apart
// from the bus's goroutine only tests may touch it.
type Servo struct {
	memory      // the control table, with get and set by name
	kind        kind
	sheet       sheet
	model       *dynamixel.Model // nil in other vendors
	act         *actuator.Servo
	groundTruth GroundTruth
	turns       float64 // ticks, whole turns that the registers do not show
	boot        time.Duration
	booted      time.Duration // since when it has power
	heard       time.Duration // the last instruction that meant it
	now         time.Duration

	dark     bool           // without power
	deaf     bool           // did not understand the instruction at hand
	shut     bool           // 2.0: torque is off until a reboot
	alarm    actuator.Alarm // 2.0: latched until a reboot
	restarts uint32         // of the actuator, as last seen

	registered  []byte // what a reg write left: address, then data
	registerAt  uint16
	backup      []byte  // the control table as stored, nil = never
	pushed      float64 // Feetech: the way its goal lay when it was overloaded, as a sign
	flash       []byte  // Feetech: what the EEPROM holds, whatever its copy in RAM says
	motor       motor   // of motor controllers
	answer      []byte  // scratch of the answer being made
	sensed      reading // scratch of the measuring
	faults      faultView
	history     []reading // of Delayed, a ring
	historyNext int
}

// NewServo returns a Dynamixel servo of model m on act, fresh from the factory but for its ID, which must be 0..252.
// The servo owns act's commands and its backlash from now on; the scene moves it.
func NewServo(m *dynamixel.Model, id int, act *actuator.Servo, truth GroundTruth) *Servo {
	s := &Servo{model: m, kind: robotis{}, sheet: sheet{m.Name, m.RAMStart, m.TicksPerTurn, m.Centre, m.MinTicks, m.MaxTicks}}
	s.make(m.Registers, id, act, truth)
	s.registered = make([]byte, 0, len(s.bytes))
	s.set(rBackupReady, 0)
	return s
}

// make puts s together over a table and gives it power.
func (s *Servo) make(table []servo.Register, id int, act *actuator.Servo, truth GroundTruth) {
	s.memory, s.act, s.groundTruth = newMemory(table), act, truth.orNominal(s.sheet.centre)
	s.answer = make([]byte, 0, 1024)
	if truth.Backlash > 0 {
		act.Load.Backlash = truth.Backlash
	}
	for i := range table {
		s.store(&table[i], table[i].Default)
	}
	s.set(rID, int64(id))
	s.powerOn(0)
}

// Name is the servo's model's name.
func (s *Servo) Name() string { return s.sheet.name }

// Model is the servo's model, nil of other vendors than Dynamixel.
func (s *Servo) Model() *dynamixel.Model { return s.model }

// Actuator is the physics behind the registers.
func (s *Servo) Actuator() *actuator.Servo { return s.act }

// Register is the raw value of a register, measured now; false where the model has none of that name.
func (s *Servo) Register(name string) (int64, bool) {
	r := s.find(name)
	if r == nil {
		return 0, false
	}
	s.measure()
	return r.Decode(s.bytes[r.Addr:]), true
}

// Preset writes a register as it was set up before the servo came into the robot, past every rule but the register's
// own range; false where there is no such register or value.
func (s *Servo) Preset(name string, v int64) bool {
	r := s.find(name)
	if r == nil || v < r.Min || v > r.Max {
		return false
	}
	s.store(r, v)
	if r.Access == servo.EEPROM {
		s.kind.derive(s)
	}
	s.drive()
	return true
}

func (s *Servo) id() int   { return int(s.get(rID)) }
func (s *Servo) baud() int { return s.kind.baud(s) }

func (s *Servo) xl320() bool { return s.model.Protocol == 2 && !s.has(rHomingOffset) }

// protocol is what the servo speaks: an X may be told to speak 1.0.
func (s *Servo) protocol() int {
	if s.has(rProtocol) && s.get(rProtocol) == 1 {
		return 1
	}
	return s.model.Protocol
}

// meant reports whether an instruction to id is for s.
func (s *Servo) meant(id byte) bool {
	if int64(id) == s.get(rID) {
		return true
	}
	shadow := s.get(rShadowID)
	return s.has(rShadowID) && shadow < 253 && int64(id) == shadow
}

// returnDelay is the time between an instruction and its answer, by the register.
func (s *Servo) returnDelay() time.Duration {
	return time.Duration(s.get(rReturnDelay)) * 2 * time.Microsecond
}

// powerOn is what happens when power comes, and on a reboot: RAM at its defaults, torque off, turns forgotten.
func (s *Servo) powerOn(now time.Duration) {
	for i := range s.table {
		// What is read only in EEPROM (model, firmware) stays.
		if r := &s.table[i]; r.Addr >= s.sheet.ramStart && r.Access != servo.EEPROM {
			s.store(r, r.Default)
		}
	}
	s.booted, s.heard, s.now = now+s.boot, now, now
	// Nothing of before is known any more.
	s.dark, s.shut, s.alarm, s.restarts = false, false, 0, s.act.Restarts
	s.act.Enable = false
	s.act.ClearAlarm()
	s.kind.start(s)
	s.drive()
}

// start is a Dynamixel's own part of powerOn.
func (robotis) start(s *Servo) {
	s.oneTurn()
	s.limits()
	// What the servo was told to do at start: bit 0 torque on, bit 1 RAM from the backup.
	startup := s.get(rStartup)
	if startup&2 != 0 && s.backup != nil {
		s.restore(dynamixel.RAM)
	}
	if s.backup != nil {
		s.set(rBackupReady, 1)
	} else {
		s.set(rBackupReady, 0)
	}
	// The goal is where it stands, so that torque moves nothing.
	s.set(rGoalPosition, int64(s.present(s.shaft())))
	s.set(rTorqueEnable, startup&1)
}

// powerOff leaves the servo limp; its registers are lost when power comes back.
func (s *Servo) powerOff() {
	s.dark = true
	s.act.Enable = false
}

// derive follows a change of EEPROM from outside.
func (robotis) derive(s *Servo) {
	s.oneTurn()
	s.limits()
}

// limits sets the RAM registers that start from an EEPROM limit.
func (s *Servo) limits() {
	s.set(rTorqueLimit, s.get(rMaxTorque))
	s.set(rGoalPWM, s.get(rPWMLimit))
	s.set(rGoalCurrent, s.get(rCurrentLimit))
	s.act.Shutdown = s.shutdown()
}

// shutdown is the mask of alarms that cut the torque.
func (s *Servo) shutdown() actuator.Alarm {
	return actuator.Alarm(s.model.Alarms(byte(s.get(rShutdown)))) &^ actuator.AlarmRange
}

// changeMode is what writing operating_mode does beside: gains, profile and goals start afresh.
func (s *Servo) changeMode() {
	// Each mode has its own gains in the real servo; the factory's of the position mode stand for all here.
	for n := rVelocityI; n <= rFeedforward1; n++ {
		if r := s.named[n]; r != nil {
			s.store(r, r.Default)
		}
	}
	s.set(rProfileVelocity, 0)
	s.set(rProfileAcceleration, 0)
	s.set(rGoalVelocity, 0)
	s.limits()
	if s.get(rOperatingMode) == modePosition {
		s.oneTurn()
	}
	s.set(rGoalPosition, int64(s.present(s.shaft())))
}

// save stores the control table; restore brings the registers of one access back.
func (s *Servo) save() {
	s.backup = append(s.backup[:0], s.bytes...)
	s.set(rBackupReady, 1)
}

func (s *Servo) restore(access dynamixel.Access) {
	for i := range s.table {
		r := &s.table[i]
		if n := s.nameOf[i]; r.Access != access || n == rTorqueEnable || n == rWatchdog {
			continue
		}
		copy(s.bytes[r.Addr:r.Addr+r.Size], s.backup[r.Addr:])
	}
}

// factoryReset brings EEPROM back to what the factory wrote, but for what keep names, and reboots.
func (s *Servo) factoryReset(now time.Duration, keep ...name) {
	var kept [2]int64 // ID and baud rate at most
	for i, n := range keep {
		kept[i] = s.get(n)
	}
	for i := range s.table {
		if r := &s.table[i]; r.Access == dynamixel.EEPROM {
			s.store(r, r.Default)
		}
	}
	for i, n := range keep {
		s.set(n, kept[i])
	}
	s.powerOn(now)
}
