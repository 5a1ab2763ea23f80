package actuator

import (
	"math"
	"strings"
)

// Alarm is a set of complaints, the same bits as servo.Alarm.
type Alarm uint16

// The alarms.
const (
	AlarmVoltage  Alarm = 1 << iota // the supply is outside Spec.MinVolts..MaxVolts; goes when it is back
	AlarmHeat                       // latched
	AlarmOverload                   // latched
	AlarmShock
	AlarmEncoder
	AlarmRange
)

var alarmNames = [...]string{"voltage", "heat", "overload", "shock", "encoder", "range"}

// String names every alarm in a, "none" if absent.
func (a Alarm) String() string {
	var names []string
	for i, n := range alarmNames {
		if a&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// Ambient is the temperature of the room, °C.
const Ambient = 25.0

// The overload alarm: this share of the stall current without a pause for this long, s. ROBOTIS does not publish its
// rule; the e-Manual has only "persistent load that exceeds the maximum output".
const (
	overloadShare = 0.8
	overloadTime  = 1.0
)

// The thermal model, for a servo of 55 g (AX-12A); it scales with mass and surface. Winding and housing are two heat
// capacities; the values are estimates from the masses of copper and of the rest.
const (
	windingCapacity = 3.2  // J/K
	housingCapacity = 34.0 // J/K
	windingToCase   = 6.0  // K/W
	caseToAir       = 12.0 // K/W
	referenceMass   = 0.055
)

// FinishStep ends a step of dt seconds for the electrical side, after the shaft has moved: current, torque, heat, load
// on the supply and alarms.
func (s *Servo) FinishStep(dt float64) {
	volts := s.Volts()
	switch s.bridge {
	case open, dark:
		s.Current, s.Duty = 0, 0
	case voltage:
		s.Current = s.windingCurrent(volts)
	}
	s.Torque = s.Spec.Kt * s.Current
	if s.Supply != nil {
		s.Supply.draw(float64(s.Duty*s.Current) + s.Spec.Standby)
	}
	s.heat(dt)
	s.watch(dt, volts)
	s.Moving = math.Abs(s.Velocity) > movingThreshold/s.Spec.gear() || (s.Spec.Firmware != X && s.ProfileOngoing())
}

// heat lets the losses of the winding warm it, it the housing, and that the air.
func (s *Servo) heat(dt float64) {
	size := s.Spec.Mass / referenceMass
	in := float64(s.Current * s.Current * s.Spec.R)
	through := float64((s.winding - s.Temperature) / windingToCase * s.surface)
	out := float64((s.Temperature - Ambient) / caseToAir * s.surface)
	s.winding += float64((in - through) * dt / (windingCapacity * size))
	s.Temperature += float64((through - out) * dt / (housingCapacity * size))
}

// watch raises the alarms and switches torque off for those in Shutdown.
func (s *Servo) watch(dt, volts float64) {
	k := s.Spec
	s.Alarm &^= AlarmVoltage
	if volts < k.MinVolts || volts > k.MaxVolts {
		s.Alarm |= AlarmVoltage
	}
	if s.Temperature > k.MaxTemperature {
		s.Alarm |= AlarmHeat
	}
	if s.Enable && math.Abs(s.Current) >= overloadShare*k.NominalVolts/k.R {
		if s.strain += dt; s.strain >= overloadTime {
			s.Alarm |= AlarmOverload
		}
	} else {
		s.strain = 0
	}
	if s.Alarm&s.Shutdown != 0 {
		s.Enable, s.powered = false, false
	}
}

// ClearAlarm clears the alarms, like a reboot; alarms with an active cause return at the next step.
func (s *Servo) ClearAlarm() { s.Alarm, s.strain = 0, 0 }
