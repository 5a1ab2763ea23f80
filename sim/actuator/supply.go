package actuator

import "math"

// Supply is a power supply that servos share: an ideal source behind a resistance (source, cables, connectors), with
// the capacitors of the servos on it. Its owner calls FinishStep once a step, after all servos.
type Supply struct {
	Volts      float64 // V without load; set it at any time
	Resistance float64 // Ω

	terminal, drawn float64
}

// settling is the time constant of the servos' capacitors behind the cables, s. The value is an estimate; it also
// keeps the loop of duty, current and sag stable.
const settling = 0.005

// NewSupply returns a supply at volts without load.
func NewSupply(volts, resistance float64) *Supply {
	s := &Supply{Volts: volts, Resistance: resistance}
	s.Reset()
	return s
}

// Reset returns to the voltage without load.
func (s *Supply) Reset() { s.terminal, s.drawn = s.Volts, 0 }

// Terminal is the voltage that the servos get, V.
func (s *Supply) Terminal() float64 { return s.terminal }

// draw takes amps for this step; a braking servo gives some back.
func (s *Supply) draw(amps float64) { s.drawn += amps }

// FinishStep ends a step of dt seconds: the voltage follows the current that was drawn in it.
func (s *Supply) FinishStep(dt float64) {
	target := math.Max(0, s.Volts-float64(s.Resistance*s.drawn))
	s.terminal += float64((target - s.terminal) * math.Min(1, dt/settling))
	s.drawn = 0
}
