package doctor

import (
	"fmt"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/hal"
)

// Settings left by earlier use, as in second-hand servos. None of them is seen until the robot moves.

// settings checks the EEPROM except the id and the rate.
func (s *ServoCheck) settings() {
	s.Check("settings")
	if v, ok := s.Read("drive_mode"); ok {
		c := s.plan.Calibration
		switch {
		case v&1 != 0 && (c == nil || c.Method == calibration.ByNominal):
			s.warn("settings", "its drive_mode turns it the other way round", s.setFix("drive_mode", v&^1))
		case v&4 != 0:
			s.warn("settings", "its drive_mode takes profiles for times, not for speeds", s.setFix("drive_mode", v&^4))
		}
	}
	if v, ok := s.Read("shadow_id"); ok && v <= 252 {
		s.warn("settings", fmt.Sprintf("it also executes packets for id %d: its shadow_id", v),
			s.setFix("shadow_id", s.model.Register("shadow_id").Max))
	}
	for _, name := range []string{"shutdown", "unload_condition"} {
		if v, ok := s.Read(name); ok && v == 0 {
			s.warn("settings", "its "+name+" is 0: no overload and no heat takes its torque, and it burns",
				s.setFix(name, s.model.Register(name).Default))
		}
	}
	const manyTurns = 1 << 4 // angle feedback of more than one turn
	if v, ok := s.Read("phase"); ok && v&manyTurns != 0 {
		found := "its phase has bit 4, multi-turn angle feedback: positions may leave one turn, and be off by turns"
		if n := s.model.Units().TicksPerTurn; s.position < 0 || s.position >= n {
			found += fmt.Sprintf("; it is at tick %.0f now", s.position)
		}
		s.fail("settings", hal.Unsafe, found, s.setFix("phase", v&^manyTurns)+"; then calibrate "+s.joint+" again")
	}
	s.fenced()
}

// fenced checks that the servo's own limits do not keep the joint from where its robot's let it go: a goal beyond them
// is refused, or cut, without a word. The fix never widens them: another tool may have set them, LeRobot stores its
// calibration there, and a wider one would be lost with it. The range of the joint's own calibration is narrowed
// instead.
func (s *ServoCheck) fenced() {
	clockwise, okWheel := s.Read("cw_angle_limit")
	counter, okCounter := s.Read("ccw_angle_limit")
	if okWheel && okCounter && clockwise == 0 && counter == 0 && !s.wheel {
		s.warn("settings", "its angle limits are 0 and 0: it is in wheel mode",
			s.setFix("ccw_angle_limit", s.model.Register("ccw_angle_limit").Default)+"; halyard serve does so too")
	}
	low, okLow := s.Read("min_position")
	high, okHigh := s.Read("max_position")
	lowest, highest := s.model.Register("min_position"), s.model.Register("max_position")
	if !okLow || !okHigh || low == lowest.Default && high == highest.Default {
		return
	}
	u, c := s.model.Units(), s.plan.Calibration
	if low >= high { // no range: to keep it would keep the joint from everything, or from nothing
		s.warn("settings", fmt.Sprintf("its own limits are %d and %d: no limit, as for a wheel or many turns", low,
			high),
			s.setFix("min_position", lowest.Default)+fmt.Sprintf(" max_position=%d", highest.Default))
		return
	}
	if c == nil {
		c = &calibration.Joint{Direction: 1, ZeroTicks: u.CentreTicks, TicksPerTurn: u.TicksPerTurn, Gear: 1}
	}
	for _, at := range s.limits {
		t := c.Ticks(at)
		if s.plan.Calibration != nil { // no goal leaves its range
			t = min(max(t, c.RangeTicks[0]), c.RangeTicks[1])
		}
		if t < float64(low) || t > float64(high) {
			s.warn("settings", fmt.Sprintf("its own limits, ticks %d..%d, end before the joint's of %.2f..%.2f rad",
				low, high, s.limits[0], s.limits[1]),
				fmt.Sprintf("keep them: another tool's calibration may be in them (LeRobot's is); set range_ticks: "+
					"[%d, %d] in the joint's calibration", low, high))
			return
		}
	}
}
