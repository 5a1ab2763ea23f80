package servo

import "time"

// Presence is whether a servo answers, and when it is asked again where it does not.
type Presence struct {
	Answered bool   // in this cycle
	Garbled  bool   // the last miss was a bad answer, not silence
	Lost     bool   // it missed LostAfter times in a row
	Misses   int    // in a row
	Ask      uint64 // cycle at which to ask a lost one
}

// How trouble with reading a servo is spread over cycles.
const (
	LostAfter = 3  // misses in a row until a servo is lost, once its last reply is lostAge old
	lostPause = 50 // cycles between two questions to a lost servo
	badPause  = 10 // the same, to one that has answered badly: it is there
)

// lostAge is how old the last reply of a lost servo is at least: an adapter holds one back for 16 ms, which is many
// cycles of a fast line, and a busy host reads it later.
const lostAge = 20 * time.Millisecond

// Miss counts a missing reply in cycle, at now, and sets the errors of m. It reports whether there was no reply at all.
func (p *Presence) Miss(m *DeviceState, cycle uint64, now time.Duration) (silence bool) {
	p.Misses++
	silence = !p.Garbled
	if m.State.Err = m.NoReply; p.Garbled {
		m.State.Err = m.Corrupt
	}
	// A servo that answers badly is there; one that does not answer may not be.
	if p.Lost || p.Misses >= LostAfter && silence && (m.State.Time < 0 || now-m.State.Time >= lostAge) {
		m.State.Err = m.Unasked
		if p.Lost, p.Ask = true, cycle+lostPause; !silence {
			p.Ask = cycle + badPause
		}
		m.Torque, m.State.Torque = Unknown, false
	}
	p.Garbled = false
	return silence
}

// clearLimit bounds the number of clears of a joint's alarm: an alarm that keeps returning has a cause.
type clearLimit struct {
	times [MaxClears]time.Duration
	n     int
}

// An alarm is cleared at most MaxClears times in ClearWindow of the line's clock.
const (
	MaxClears   = 3
	ClearWindow = 5 * time.Minute
)

// Allow notes a clearing at now; false where there have been too many.
func (c *clearLimit) Allow(now time.Duration) bool {
	// Old ones fall out of the window.
	for c.n > 0 && now-c.times[0] >= ClearWindow {
		c.n = copy(c.times[:], c.times[1:c.n])
	}
	if c.n == MaxClears {
		return false
	}
	c.times[c.n] = now
	c.n++
	return true
}
