package emulator

import (
	"math"

	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// GroundTruth is how a servo is really mounted, which a calibration may or may not know. The zero GroundTruth is Nominal.
//
//	shaft ticks = ZeroTicks + Direction · Gear · TicksPerTurn/2π · joint angle
type GroundTruth struct {
	ZeroTicks float64 // what the encoder says at joint angle 0, ticks, before homing offset and drive mode
	Direction float64 // +1: the joint's angle rises with the ticks; -1: it falls
	Gear      float64 // turns of the servo's shaft a turn of the joint, above 0
	Backlash  float64 // rad of the joint, the whole dead zone between the servo and its load; 0 = the actuator's own
}

// Nominal is a servo mounted as its datasheet draws it: its centre is the joint's zero.
func Nominal(m *dynamixel.Model) GroundTruth {
	return GroundTruth{ZeroTicks: m.Centre, Direction: 1, Gear: 1}
}

// orNominal fills in what is not set.
func (t GroundTruth) orNominal(centre float64) GroundTruth {
	if t.Direction == 0 && t.Gear == 0 {
		return GroundTruth{ZeroTicks: centre, Direction: 1, Gear: 1, Backlash: t.Backlash}
	}
	t.Direction = math.Copysign(1, t.Direction)
	if !(t.Gear > 0) {
		t.Gear = 1
	}
	return t
}

// ticksPerRadian is signed: the slope of shaft ticks over the joint's angle.
func (s *Servo) ticksPerRadian() float64 {
	return s.groundTruth.Direction * s.groundTruth.Gear * s.sheet.turn / (2 * math.Pi)
}

// shaft is what the encoder says, ticks, before homing offset and drive mode. The actuator's own reading has the
// noise; where a gear or a dead sector stands between, the angle is rounded here.
func (s *Servo) shaft() float64 {
	k := s.ticksPerRadian()
	if !s.act.Spec.DeadSector && s.groundTruth.Gear == 1 {
		return math.Round(s.groundTruth.ZeroTicks + k*s.act.MeasuredPosition())
	}
	ticks := math.Round(s.groundTruth.ZeroTicks + k*s.act.Position)
	if !s.act.Spec.DeadSector {
		return ticks
	}
	// Behind the range lies the dead sector; the encoder says the nearer end.
	m := &s.sheet
	ticks -= math.Floor(ticks/m.turn) * m.turn
	if ticks > (m.high+m.turn)/2 {
		ticks = m.low
	}
	return math.Round(min(ticks, m.high))
}

// angle is the joint's angle at a shaft position, rad.
func (s *Servo) angle(ticks float64) float64 {
	return (ticks - s.groundTruth.ZeroTicks) / s.ticksPerRadian()
}

// reversed reports whether the drive mode turns the counting round (2.0).
func (s *Servo) reversed() bool {
	return s.model != nil && s.model.Protocol == 2 && s.get(rDriveMode)&1 != 0
}

// sign is -1 where the registers count against the shaft.
func (s *Servo) sign() float64 {
	if s.reversed() {
		return -1
	}
	return 1
}

// homing is the homing offset in force, ticks; the position mode takes no more than a quarter turn (e-Manual, "Homing
// Offset").
func (s *Servo) homing() float64 {
	h := float64(s.get(rHomingOffset))
	if s.get(rOperatingMode) == modePosition {
		h = min(max(h, -1024), 1024)
	}
	return h
}

// oneTurn forgets the turns that have been made: the register's position lies within one from now on. It happens at
// power-on, when the counting is turned round and on the clear instruction.
func (s *Servo) oneTurn() {
	s.turns = 0
	if !s.act.Spec.DeadSector {
		s.turns = math.Floor(s.sign()*s.shaft()/s.sheet.turn) * s.sheet.turn
	}
}

// present is the position that the registers show for a shaft position, ticks: turned round by the drive mode, without
// the turns forgotten, with the homing offset. shaftAt is its inverse.
func (s *Servo) present(shaft float64) float64 {
	shown := s.sign()*shaft - s.turns
	if s.model.Protocol == 1 && s.multiTurn() {
		shown = math.Round(shown/s.divider()) + float64(s.get(rMultiTurnOffset))
	}
	return shown + s.homing()
}

func (s *Servo) shaftAt(shown float64) float64 {
	shown -= s.homing()
	if s.model.Protocol == 1 && s.multiTurn() {
		shown = (shown - float64(s.get(rMultiTurnOffset))) * s.divider()
	}
	return s.sign() * (shown + s.turns)
}

// multiTurn and wheel are the modes that 1.0 servos choose by their angle limits (MX; AX has the wheel alone).
func (s *Servo) multiTurn() bool {
	last := int64(s.model.MaxTicks)
	return s.has(rMultiTurnOffset) && s.get(rCWLimit) == last && s.get(rCCWLimit) == last
}

func (s *Servo) wheel() bool {
	if s.model.Protocol == 2 {
		return s.xl320() && s.get(rOperatingMode) == modeWheel320
	}
	return s.get(rCWLimit) == 0 && s.get(rCCWLimit) == 0
}

func (s *Servo) divider() float64 { return float64(max(1, s.get(rDivider))) }
