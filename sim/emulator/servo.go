package emulator

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// Servo is one servo: a register file on top of a simulated actuator, whose commands it owns. A bus serves it; apart
// from the bus's goroutine only tests may access it. A vendor's folder embeds it; most of the exported methods are for
// that.
type Servo struct {
	reg.Memory // the control table, with Get and Set by name
	Sheet      Sheet
	Act        *actuator.Servo
	Truth      GroundTruth
	// contents of the EEPROM, independent of its copy in RAM; nil if the model has no RAM copy
	Flash []byte
	Alarm actuator.Alarm // latched as by the vendor's firmware
	Reply []byte         // scratch of the reply being made

	Now      time.Duration
	Booted   time.Duration // since when it has power
	Received time.Duration // the last instruction for it
	Beat     time.Duration // when it transmits unasked
	Dark     bool          // without power

	kind        Kind
	boot        time.Duration
	restarts    uint32  // of the actuator, as last seen
	sensed      Reading // scratch of the measuring
	faults      faultView
	history     []Reading // of Delayed, a ring
	historyNext int
}

// Init puts s together over a table and gives it power. k is the vendor's servo around s. The servo owns act's commands
// and its backlash from now on; the scene moves it.
func (s *Servo) Init(k Kind, sheet Sheet, table []servo.Register, id int, act *actuator.Servo,
	truth GroundTruth) *Servo {
	s.kind, s.Sheet = k, sheet
	s.Memory, s.Act, s.Truth = reg.NewMemory(table), act, truth.orNominal(sheet.Centre)
	s.Reply = make([]byte, 0, 1024)
	if truth.Backlash > 0 {
		act.Load.Backlash = truth.Backlash
	}
	for i := range table {
		s.Store(&table[i], table[i].Default)
	}
	s.Set(reg.ID, int64(id))
	s.PowerOn(0)
	return s
}

// Name is the servo's model's name.
func (s *Servo) Name() string { return s.Sheet.Name }

// Actuator is the physics behind the registers.
func (s *Servo) Actuator() *actuator.Servo { return s.Act }

// Register is the raw value of a register, measured now; false if the model has no register of that name.
func (s *Servo) Register(name string) (int64, bool) {
	r := s.Find(name)
	if r == nil {
		return 0, false
	}
	s.Measure()
	return r.Decode(s.Bytes[r.Addr:]), true
}

// Preset writes a register as it was set up before the servo came into the robot, past every rule but the register's
// own range; false where there is no such register or value.
func (s *Servo) Preset(name string, v int64) bool {
	r := s.Find(name)
	if r == nil || v < r.Min || v > r.Max {
		return false
	}
	s.Store(r, v)
	if r.Access == servo.EEPROM {
		s.kind.Configured()
	}
	s.Drive()
	return true
}

func (s *Servo) id() int { return int(s.Get(reg.ID)) }

func (s *Servo) baud() int { return s.kind.Baud() }

// ReturnDelay is the time between an instruction and its answer, by the register.
func (s *Servo) ReturnDelay() time.Duration {
	return time.Duration(s.Get(reg.ReturnDelay)) * 2 * time.Microsecond
}

// PowerOn simulates power-on and a reboot: RAM at its defaults, torque off, multi-turn count cleared.
func (s *Servo) PowerOn(now time.Duration) {
	for i := range s.Table {
		// Read-only registers in EEPROM (model, firmware) stay.
		if r := &s.Table[i]; r.Addr >= s.Sheet.RAMStart && r.Access != servo.EEPROM {
			s.Store(r, r.Default)
		}
	}
	s.Booted, s.Received, s.Now = now+s.boot, now, now
	// Nothing of before is known any more.
	s.Dark, s.Alarm, s.restarts = false, 0, s.Act.Restarts
	s.Act.Enable = false
	s.Act.ClearAlarm()
	s.kind.Started()
	s.Drive()
}

// powerOff switches torque off; the RAM registers are reset at the next power-on.
func (s *Servo) powerOff() {
	s.Dark = true
	s.Act.Enable = false
}

// Recover reloads the EEPROM registers from their stored values.
func (s *Servo) Recover() {
	for i := range s.Table {
		if r := &s.Table[i]; r.Access == servo.EEPROM && s.Flash != nil {
			copy(s.Bytes[r.Addr:r.Addr+r.Size], s.Flash[r.Addr:])
		}
	}
}

// Drive hands everything that the registers command to the actuator. It runs after every write.
func (s *Servo) Drive() {
	a := s.Act
	if s.Dark {
		a.Enable = false
		return
	}
	s.kind.Actuate()
}

// update advances the servo's clock to now and handles events since the last call: a brown-out, an alarm, the watchdog.
func (s *Servo) update(now time.Duration) {
	s.Now = now
	a := s.Act
	if s.Dark {
		a.Enable = false
		return
	}
	if a.Restarts != s.restarts { // the supply dropped below the processor's minimum
		s.PowerOn(now)
	}
	// The limits are registers here; the actuator's own are the factory's.
	if s.Has(reg.TemperatureLimit) && a.Temperature > s.SI(reg.TemperatureLimit) {
		a.Alarm |= actuator.AlarmHeat
	}
	if s.Has(reg.MaxVoltage) {
		a.Alarm &^= actuator.AlarmVoltage
		if v := a.Volts(); v > s.SI(reg.MaxVoltage) || v < s.SI(reg.MinVoltage) {
			a.Alarm |= actuator.AlarmVoltage
		}
	}
	s.kind.Notice()
}
