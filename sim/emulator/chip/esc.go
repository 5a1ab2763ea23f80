package chip

import "time"

// ESC is an emulated speed controller between a board's channel and a thruster. Like real ones it follows pulses after
// neutral for long enough, so that a thruster does not start at power-on. Without pulses it must be armed again.
type ESC struct {
	Neutral  float64       // µs
	DeadBand [2]float64    // µs: widths without effect
	Range    [2]float64    // µs: widths of full duty, backward and forward
	Reversed bool          // the thruster is mounted the other way round
	Arming   time.Duration // of neutral pulses before it follows

	armed bool
	quiet time.Duration // duration of neutral so far
}

// nearNeutral is the tolerance of neutral for an ESC without a dead band, ±µs.
const nearNeutral = 25

// Step simulates dt with pulses of the given width, 0 for none, and returns the duty of the thruster, -1..1.
func (e *ESC) Step(pulse, dt time.Duration) float64 {
	us := float64(pulse) / 1000
	away := us < min(e.DeadBand[0], e.Neutral-nearNeutral) || us > max(e.DeadBand[1], e.Neutral+nearNeutral)
	switch {
	case pulse <= 0:
		e.armed, e.quiet = false, 0
		return 0
	case !e.armed && away:
		e.quiet = 0
		return 0
	case !e.armed:
		e.quiet += dt
		e.armed = e.quiet >= e.Arming // it follows the next pulse
		return 0
	}
	duty := 0.0
	if us > e.DeadBand[1] {
		duty = min(1, (us-e.DeadBand[1])/(e.Range[1]-e.DeadBand[1]))
	} else if us < e.DeadBand[0] {
		duty = -min(1, (e.DeadBand[0]-us)/(e.DeadBand[0]-e.Range[0]))
	}
	if e.Reversed {
		return -duty
	}
	return duty
}
