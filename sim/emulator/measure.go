package emulator

import (
	"math"
	"math/rand/v2"
	"time"
)

// reading is what a servo's sensors say at one time, in the shaft's sense of turning.
type reading struct {
	at                 time.Duration
	shaft              float64 // ticks
	velocity           float64 // rad/s of the shaft
	amps, duty         float64
	volts, temperature float64
	pathTicks          float64 // trajectory, shaft ticks
	pathVelocity       float64 // rad/s of the shaft
	moving, ongoing    bool
}

// sense reads the actuator. The current is what the servo itself measures: the winding's, or the supply's on XL330.
func (s *Servo) sense() reading {
	a, turn := s.act, s.groundTruth.Direction
	r := reading{
		at: s.now, shaft: s.shaft(), velocity: turn * s.groundTruth.Gear * a.Velocity, amps: turn * a.Current, duty: turn * a.Duty,
		volts: a.Volts(), temperature: a.Temperature,
		pathTicks:    s.groundTruth.ZeroTicks + s.ticksPerRadian()*a.TrajectoryPosition,
		pathVelocity: turn * s.groundTruth.Gear * a.TrajectoryVelocity,
		moving:       a.Moving, ongoing: a.ProfileOngoing(),
	}
	if a.Spec.SupplyCurrent {
		r.amps = math.Copysign(math.Abs(a.Duty*a.Current), r.amps)
	}
	return r
}

// measure brings every present register up to date, or to what a fault makes of it. It runs before every read: the
// registers of a servo that nobody reads cost nothing.
func (s *Servo) measure() {
	if s.faults.stuck {
		return
	}
	r := &s.sensed // scratch: it would not stay on the stack
	if *r = s.sense(); s.faults.age > 0 {
		*r = s.recall(s.now - s.faults.age)
	}
	s.kind.show(s, r)
	// What lies comes last: first off by a constant, then without any sense.
	if s.faults.wrong != 0 {
		s.set(rPresentPosition, s.get(rPresentPosition)+int64(s.faults.wrong))
	}
	if s.faults.garbage != nil {
		s.scramble(s.faults.garbage)
	}
}

// show writes r into the present registers, turned round where the drive mode says so. A model takes what it has
// registers for.
func (robotis) show(s *Servo, r *reading) {
	turn := s.sign()
	s.set(rPresentPosition, int64(math.Round(s.present(r.shaft))))
	s.setSI(rPresentVelocity, turn*r.velocity)
	s.setSI(rPresentPWM, turn*r.duty)
	s.setSI(rPresentLoad, turn*r.duty) // the servos infer it from their output; they do not measure it
	s.setSI(rPresentCurrent, turn*r.amps)
	s.setSI(rPresentVoltage, r.volts)
	s.setSI(rPresentTemperature, r.temperature)
	s.set(rRealtimeTick, int64((s.now-s.booted)/time.Millisecond)&0x7FFF)
	s.setSI(rVelocityTrajectory, turn*r.pathVelocity)
	s.set(rPositionTrajectory, int64(math.Round(s.present(r.pathTicks))))
	// X servos compare with their own threshold; the older ones report the profile.
	moving := r.moving
	if s.has(rMovingThreshold) {
		moving = math.Abs(r.velocity) > s.si(rMovingThreshold)
	}
	s.set(rMoving, flag(moving))
	if s.has(rMovingStatus) {
		s.set(rMovingStatus, s.movingStatus(r))
	}
	s.set(rHardwareError, int64(s.alarmBits()))
}

// movingStatus is bit 0 in position, bit 1 profile ongoing, bit 3 following error, bits 4 and 5 the profile's kind.
func (s *Servo) movingStatus(r *reading) int64 {
	const near = 20           // ticks; the e-Manual gives no figure
	v := flag(r.ongoing) << 1 // the trajectory, not the shaft
	off := math.Abs(float64(s.get(rGoalPosition)) - s.present(r.shaft))
	if !r.ongoing && off < near {
		v |= 1
	}
	// The shaft does not keep up with its trajectory.
	if math.Abs(r.pathTicks-r.shaft) > near {
		v |= 1 << 3
	}
	switch {
	case s.get(rProfileVelocity) == 0: // a step
	case s.get(rProfileAcceleration) == 0:
		v |= 1 << 4
	default:
		v |= 3 << 4
	}
	return v
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// scramble fills what is measured with noise.
func (s *Servo) scramble(dice *rand.Rand) {
	for n := rPresentPWM; n <= rPresentTemperature; n++ {
		if r := s.named[n]; r != nil {
			for i := range r.Size {
				s.bytes[r.Addr+i] = byte(dice.Uint32())
			}
		}
	}
}

// historyLength bounds the memory of a servo whose values are delayed, readings.
const historyLength = 1024

// remember keeps a reading for Delayed. The ring is made when the fault is planted and holds the last historyLength
// looks at the servo, at least one a period.
func (s *Servo) remember() {
	if s.faults.age <= 0 {
		return
	}
	if s.history == nil {
		s.history = make([]reading, 0, historyLength)
	}
	if len(s.history) < cap(s.history) {
		s.history = append(s.history, s.sense())
		return
	}
	s.history[s.historyNext] = s.sense()
	s.historyNext = (s.historyNext + 1) % len(s.history)
}

// recall is the newest reading that is at least as old as at, or the oldest there is. The ring is short enough to be
// looked through: it is for faults, not for every day.
func (s *Servo) recall(at time.Duration) reading {
	// Nothing older is known right after planting.
	if len(s.history) == 0 {
		s.remember()
	}
	best := s.history[s.historyNext%len(s.history)]
	for i := range s.history {
		if r := &s.history[i]; r.at <= at && r.at > best.at {
			best = *r
		}
	}
	return best
}

// faultView is what the faults at work make of one servo's values now.
type faultView struct {
	stuck   bool
	garbage *rand.Rand
	wrong   float64
	age     time.Duration
}
