package dynamixel

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// Show writes r into the model's present registers, with signs reversed by the drive mode.
func (s *device) Show(r *emulator.Reading) {
	turn := s.sign()
	s.Set(reg.PresentPosition, int64(math.Round(s.present(r.Shaft))))
	s.SetSI(reg.PresentVelocity, turn*r.Velocity)
	s.SetSI(reg.PresentPWM, turn*r.Duty)
	s.SetSI(reg.PresentLoad, turn*r.Duty) // the servos infer it from their output; they do not measure it
	s.SetSI(reg.PresentCurrent, turn*r.Amps)
	s.SetSI(reg.PresentVoltage, r.Volts)
	s.SetSI(reg.PresentTemperature, r.Temperature)
	s.Set(reg.RealtimeTick, int64((s.Now-s.Booted)/time.Millisecond)&0x7FFF)
	s.SetSI(reg.VelocityTrajectory, turn*r.PathVelocity)
	s.Set(reg.PositionTrajectory, int64(math.Round(s.present(r.PathTicks))))
	// X servos compare with their own threshold; the older ones report the profile.
	moving := r.Moving
	if s.Has(reg.MovingThreshold) {
		moving = math.Abs(r.Velocity) > s.SI(reg.MovingThreshold)
	}
	s.Set(reg.Moving, emulator.Flag(moving))
	if s.isY() {
		s.showY(r, turn)
	} else if s.Has(reg.MovingStatus) {
		s.Set(reg.MovingStatus, s.movingStatus(r))
	}
	s.Set(reg.HardwareError, int64(s.alarmBits()))
}

// movingStatus is bit 0 in position, bit 1 profile ongoing, bit 3 following error, bits 4 and 5 the profile's kind.
func (s *device) movingStatus(r *emulator.Reading) int64 {
	const near = 20                    // ticks; the e-Manual gives no value
	v := emulator.Flag(r.Ongoing) << 1 // the trajectory, not the shaft
	off := math.Abs(float64(s.Get(reg.GoalPosition)) - s.present(r.Shaft))
	if !r.Ongoing && off < near {
		v |= 1
	}
	// The shaft does not keep up with its trajectory.
	if math.Abs(r.PathTicks-r.Shaft) > near {
		v |= 1 << 3
	}
	switch {
	case s.Get(reg.ProfileVelocity) == 0: // a step
	case s.Get(reg.ProfileAcceleration) == 0:
		v |= 1 << 4
	default:
		v |= 3 << 4
	}
	return v
}
