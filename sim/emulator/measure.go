package emulator

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
)

// Reading holds the readings of a servo's sensors at one time, in the shaft's direction.
type Reading struct {
	At                 time.Duration
	Shaft              float64 // ticks
	Velocity           float64 // rad/s of the shaft
	Amps, Duty         float64
	Volts, Temperature float64
	PathTicks          float64 // trajectory, Shaft ticks
	PathVelocity       float64 // rad/s of the shaft
	Moving, Ongoing    bool
}

// sense reads the actuator. The current is the one measured by the servo: the winding's, or the supply's on XL330.
func (s *Servo) sense() Reading {
	a, turn := s.Act, s.Truth.Direction
	r := Reading{
		At: s.Now, Shaft: s.Shaft(), Velocity: turn * s.Truth.Gear * a.Velocity, Amps: turn * a.Current,
		Duty: turn * a.Duty, Volts: a.Volts(), Temperature: a.Temperature,
		PathTicks:    s.zero() + s.TicksPerRadian()*a.TrajectoryPosition,
		PathVelocity: turn * s.Truth.Gear * a.TrajectoryVelocity, Moving: a.Moving, Ongoing: a.ProfileOngoing(),
	}
	if a.Spec.SupplyCurrent {
		r.Amps = math.Copysign(math.Abs(a.Duty*a.Current), r.Amps)
	}
	return r
}

// Measure updates every present register, or sets it to the value that a fault causes. It runs before every read, so a
// servo that is not read costs nothing.
func (s *Servo) Measure() {
	if s.faults.stuck {
		return
	}
	r := &s.sensed // scratch: it would not stay on the stack
	if *r = s.sense(); s.faults.age > 0 {
		*r = s.recall(s.Now - s.faults.age)
	}
	s.kind.Show(r)
	// Faults that falsify values are last: first a constant offset, then noise.
	if s.faults.wrong != 0 {
		s.Set(reg.PresentPosition, s.Get(reg.PresentPosition)+int64(s.faults.wrong))
	}
	if s.faults.garbage != nil {
		s.scramble(s.faults.garbage)
	}
}

// Flag is a register's switch.
func Flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// scramble fills the present registers with noise.
func (s *Servo) scramble(dice *rand.Rand) {
	for n := reg.PresentPWM; n <= reg.PresentTemperature; n++ {
		if r := s.Named[n]; r != nil {
			for i := range r.Size {
				s.Bytes[r.Addr+i] = byte(dice.Uint32())
			}
		}
	}
}

// historyLength bounds the memory of a servo whose values are delayed, readings.
const historyLength = 1024

// remember keeps a Reading for Delayed. The ring is made when the fault is planted and holds the last historyLength
// updates of the servo, at least one a period.
func (s *Servo) remember() {
	if s.faults.age <= 0 {
		return
	}
	if s.history == nil {
		s.history = make([]Reading, 0, historyLength)
	}
	if len(s.history) < cap(s.history) {
		s.history = append(s.history, s.sense())
		return
	}
	s.history[s.historyNext] = s.sense()
	s.historyNext = (s.historyNext + 1) % len(s.history)
}

// recall is the newest Reading that is at least as old as at, or the oldest there is. The ring is short enough to be
// searched: it is used only under faults.
func (s *Servo) recall(at time.Duration) Reading {
	// Nothing older is known right after planting.
	if len(s.history) == 0 {
		s.remember()
	}
	best := s.history[s.historyNext%len(s.history)]
	for i := range s.history {
		if r := &s.history[i]; r.At <= at && r.At > best.At {
			best = *r
		}
	}
	return best
}

// faultView is the effect of the active faults on one servo's values now.
type faultView struct {
	stuck   bool
	garbage *rand.Rand
	wrong   float64
	age     time.Duration
	slip    float64 // ticks by which the horn has turned
}
