package dynamixel

import (
	"math"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
)

// reversed reports whether the drive mode turns the counting round (2.0).
func (s *device) reversed() bool {
	return s.model != nil && s.model.Protocol == 2 && s.Get(reg.DriveMode)&1 != 0
}

// sign is -1 where the registers count against the shaft.
func (s *device) sign() float64 {
	if s.reversed() {
		return -1
	}
	return 1
}

// homing is the homing offset in force, ticks; the position mode takes no more than a quarter turn (e-Manual, "Homing
// Offset").
func (s *device) homing() float64 {
	h := float64(s.Get(reg.HomingOffset))
	if s.Get(reg.OperatingMode) == modePosition && !s.isY() {
		h = min(max(h, -1024), 1024)
	}
	return h
}

// oneTurn forgets the turns that have been made: the register's position lies within one from now on. It happens at
// power-on, when the counting is turned round and on the clear instruction. The Y table's turns are counted on a
// battery.
func (s *device) oneTurn() {
	if s.isY() {
		return
	}
	s.turns = 0
	if !s.Act.Spec.DeadSector {
		s.turns = math.Floor(s.sign()*s.Shaft()/s.Sheet.Turn) * s.Sheet.Turn
	}
}

// present is the position that the registers show for a shaft position, ticks: turned round by the drive mode, without
// the turns forgotten, with the homing offset. shaftAt is its inverse.
func (s *device) present(shaft float64) float64 {
	shown := s.sign()*shaft - s.turns
	if s.isY() {
		shown *= s.gearY()
	}
	if s.model.Protocol == 1 && s.multiTurn() {
		shown = math.Round(shown/s.divider()) + float64(s.Get(reg.MultiTurnOffset))
	}
	return shown + s.homing()
}

func (s *device) shaftAt(shown float64) float64 {
	shown -= s.homing()
	if s.model.Protocol == 1 && s.multiTurn() {
		shown = (shown - float64(s.Get(reg.MultiTurnOffset))) * s.divider()
	}
	if s.isY() {
		shown /= s.gearY()
	}
	return s.sign() * (shown + s.turns)
}

// multiTurn and wheel are the modes that 1.0 servos select by their angle limits (MX; AX has only the wheel mode).
func (s *device) multiTurn() bool {
	last := int64(s.model.MaxTicks)
	return s.Has(reg.MultiTurnOffset) && s.Get(reg.CWLimit) == last && s.Get(reg.CCWLimit) == last
}

func (s *device) wheel() bool {
	if s.model.Protocol == 2 {
		return s.xl320() && s.Get(reg.OperatingMode) == modeWheel320
	}
	return s.Get(reg.CWLimit) == 0 && s.Get(reg.CCWLimit) == 0
}

func (s *device) divider() float64 { return float64(max(1, s.Get(reg.Divider))) }
