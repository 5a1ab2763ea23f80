package hydro

import "github.com/halyard-robotics/halyard/internal/sim/exact"

// Curve is thrust over the pulse that a speed controller gets. Pulses between the pieces are the dead band.
type Curve struct {
	Neutral, Span float64 // µs: an input u asks for Neutral + Span u
	Pieces        []Piece // by rising pulses, none over another
}

// Piece is a part of a curve: a polynomial in the pulse.
type Piece struct {
	From, To float64    // µs; the end nearer to neutral does not belong to it
	Newtons  [3]float64 // c0 + c1 p + c2 p²
}

// Pulse is the pulse width of an input, clamped to -1..1, µs. NaN gives neutral.
func (c *Curve) Pulse(u float64) float64 {
	if u != u {
		return c.Neutral
	}
	return c.Neutral + float64(c.Span*max(-1, min(1, u)))
}

// Force is the steady thrust at a pulse, N, at the nominal supply. Beyond the ends of the curve it stays that of the
// end.
func (c *Curve) Force(pulse float64) float64 {
	// Full throttle is full throttle, however much more is asked for.
	n := len(c.Pieces)
	pulse = max(c.Pieces[0].From, min(c.Pieces[n-1].To, pulse))
	for i := range c.Pieces {
		// The dead band has its ends: of a piece, the end nearer to neutral is out.
		p := &c.Pieces[i]
		if pulse < c.Neutral && pulse >= p.From && pulse < p.To || pulse > c.Neutral && pulse > p.From &&
			pulse <= p.To {
			return p.Newtons[0] + float64(pulse*(p.Newtons[1]+float64(pulse*p.Newtons[2])))
		}
	}
	return 0
}

// scale is the factor of the supply voltage on thrust.
func (s *Supply) scale(volts float64) float64 {
	switch {
	case s.Exponent == 0:
		return 1
	case !(volts > 0):
		return 0
	}
	return exact.Pow(volts/s.Volts, s.Exponent)
}
