package calibration

import (
	"fmt"
	"math"
	"slices"
)

// Met is a servo as it answered, and the calibration of its joint.
type Met struct {
	Joint, Bus string
	ID         int
	File       *Joint  // nil = none
	Offset     float64 // ticks, its own zero offset; NaN = not known
}

// misfit is a servo that its joint's calibration was not made with.
type misfit struct {
	Met
	Found, Fix string
}

// stale reports whether m's offset is another than that of its calibration: every angle would be off by the difference.
func (m *Met) stale() bool {
	return m.File != nil && m.File.Method != ByNominal && !math.IsNaN(m.Offset) &&
		float64(m.File.Servo.HomingOffset) != m.Offset
}

// suits reports whether m is the servo that another joint's calibration was made with. An offset of 0 is that of any
// servo that was never homed.
func (m *Met) suits(o *Met) bool {
	return o.File != nil && m.Offset != 0 && o.File.Servo.Model == m.File.Servo.Model &&
		float64(o.File.Servo.HomingOffset) == m.Offset
}

// Misfits lists the servos whose zero offset is not the one that their joint's calibration was made with, as after a
// calibration with another tool or an exchange of servos, and where two lines were exchanged, or another joint's file
// would fit, says so.
func Misfits(met []Met) (list []misfit) {
	for i := range met {
		m := &met[i]
		if !m.stale() {
			continue
		}
		x := misfit{Met: *m, Found: fmt.Sprintf("made with homing offset %d, the servo has %.0f",
			m.File.Servo.HomingOffset, m.Offset),
			Fix: "measure " + m.Joint + " and write its file: docs/calibration.md"}
		if k := slices.IndexFunc(met, func(
			o Met) bool {
			return o.Joint != m.Joint && m.suits(&o) && o.stale()
		}); k >= 0 {
			if o := &met[k]; o.Bus != m.Bus && exchanged(met, m.Bus, o.Bus) {
				x.Found += fmt.Sprintf(", which belongs to the other line: bus %s has the servos of bus %s", m.Bus,
					o.Bus)
				x.Fix = fmt.Sprintf("the lines are swapped: exchange the cables, or buses.%s.port and buses.%s.port",
					m.Bus, o.Bus)
			} else {
				x.Found += fmt.Sprintf("; the file of %s was made with that", o.Joint)
				x.Fix = fmt.Sprintf("see whether %s and %s are swapped; else %s", m.Joint, o.Joint, x.Fix)
			}
		}
		list = append(list, x)
	}
	return list
}

// exchanged reports whether every stale servo of each of two lines suits the file of the same id on the other.
func exchanged(met []Met, a, b string) bool {
	n := 0
	for i := range met {
		m := &met[i]
		if m.Bus != a && m.Bus != b || !m.stale() {
			continue
		}
		n++
		if !slices.ContainsFunc(met, func(o Met) bool {
			return o.Bus != m.Bus && (o.Bus == a || o.Bus == b) && o.ID == m.ID && m.suits(&o)
		}) {
			return false
		}
	}
	return n > 0
}
