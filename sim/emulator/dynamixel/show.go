package dynamixel

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Show writes r into the model's present registers, with signs reversed by the drive mode.
func (s *device) Show(r *emulator.Reading) {
	turn := s.sign()
	s.Set(emulator.RegPresentPosition, int64(math.Round(s.present(r.Shaft))))
	s.SetSI(emulator.RegPresentVelocity, turn*r.Velocity)
	s.SetSI(emulator.RegPresentPWM, turn*r.Duty)
	s.SetSI(emulator.RegPresentLoad, turn*r.Duty) // the servos infer it from their output; they do not measure it
	s.SetSI(emulator.RegPresentCurrent, turn*r.Amps)
	s.SetSI(emulator.RegPresentVoltage, r.Volts)
	s.SetSI(emulator.RegPresentTemperature, r.Temperature)
	s.Set(emulator.RegRealtimeTick, int64((s.Now-s.Booted)/time.Millisecond)&0x7FFF)
	s.SetSI(emulator.RegVelocityTrajectory, turn*r.PathVelocity)
	s.Set(emulator.RegPositionTrajectory, int64(math.Round(s.present(r.PathTicks))))
	// X servos compare with their own threshold; the older ones report the profile.
	moving := r.Moving
	if s.Has(emulator.RegMovingThreshold) {
		moving = math.Abs(r.Velocity) > s.SI(emulator.RegMovingThreshold)
	}
	s.Set(emulator.RegMoving, emulator.Flag(moving))
	if s.isY() {
		s.showY(r, turn)
	} else if s.Has(emulator.RegMovingStatus) {
		s.Set(emulator.RegMovingStatus, s.movingStatus(r))
	}
	s.Set(emulator.RegHardwareError, int64(s.alarmBits()))
}

// movingStatus is bit 0 in position, bit 1 profile ongoing, bit 3 following error, bits 4 and 5 the profile's kind.
func (s *device) movingStatus(r *emulator.Reading) int64 {
	const near = 20                    // ticks; the e-Manual gives no value
	v := emulator.Flag(r.Ongoing) << 1 // the trajectory, not the shaft
	off := math.Abs(float64(s.Get(emulator.RegGoalPosition)) - s.present(r.Shaft))
	if !r.Ongoing && off < near {
		v |= 1
	}
	// The shaft does not keep up with its trajectory.
	if math.Abs(r.PathTicks-r.Shaft) > near {
		v |= 1 << 3
	}
	switch {
	case s.Get(emulator.RegProfileVelocity) == 0: // a step
	case s.Get(emulator.RegProfileAcceleration) == 0:
		v |= 1 << 4
	default:
		v |= 3 << 4
	}
	return v
}
