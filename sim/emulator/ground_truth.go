package emulator

import "math"

// GroundTruth is how a servo is really mounted, which a calibration may or may not know. The zero GroundTruth is
// Nominal.
//
//	shaft ticks = ZeroTicks + Direction · Gear · TicksPerTurn/2π · joint angle
type GroundTruth struct {
	ZeroTicks float64 // the encoder's reading at joint angle 0, ticks, before homing offset and drive mode
	Direction float64 // +1: the joint's angle rises with the ticks; -1: it falls
	Gear      float64 // turns of the servo's shaft a turn of the joint, above 0
	Backlash  float64 // rad of the joint, the whole dead zone between the servo and its load; 0 = the actuator's own
}

// orNominal fills in the default of unset values.
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

// TicksPerRadian is signed: the slope of shaft ticks over the joint's angle.
func (s *Servo) TicksPerRadian() float64 {
	return s.Truth.Direction * s.Truth.Gear * s.Sheet.Turn / (2 * math.Pi)
}

// zero is the encoder's reading at joint angle 0 now, ticks.
func (s *Servo) zero() float64 { return s.Truth.ZeroTicks + s.faults.slip }

// Shaft is the encoder's reading, ticks, before homing offset and drive mode. The actuator's own reading has the noise;
// with a gear or a dead sector the angle is rounded here.
func (s *Servo) Shaft() float64 {
	k := s.TicksPerRadian()
	if !s.Act.Spec.DeadSector && s.Truth.Gear == 1 {
		return math.Round(s.zero() + k*s.Act.MeasuredPosition())
	}
	ticks := math.Round(s.zero() + k*s.Act.Position)
	if !s.Act.Spec.DeadSector {
		return ticks
	}
	// Behind the range is the dead sector; the encoder reads the nearer end.
	m := &s.Sheet
	ticks -= math.Floor(ticks/m.Turn) * m.Turn
	if ticks > (m.High+m.Turn)/2 {
		ticks = m.Low
	}
	return math.Round(min(ticks, m.High))
}

// Angle is the joint's angle at a shaft position, rad.
func (s *Servo) Angle(ticks float64) float64 {
	return (ticks - s.zero()) / s.TicksPerRadian()
}
