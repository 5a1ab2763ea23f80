package gpio

import (
	"cmp"
	"math"
	"time"
)

// unaffected is of a part that no output of the chip drives.
type unaffected struct{}

func (unaffected) setLevel(*Chip, int, bool, time.Duration) {}

// Switch is a contact between a line and ground, or the supply: a bumper's, a button's.
type Switch struct {
	unaffected
	Line     int
	ToSupply bool
	Closed   bool
}

func (s *Switch) advance(c *Chip, _, to time.Duration) {
	end := loose
	if s.Closed {
		end = pulled(s.ToSupply)
	}
	c.drive(s.Line, end, to)
}

// Encoder is a quadrature encoder that turns to Count within the next period, at an even pace; four steps a slot.
type Encoder struct {
	unaffected
	A, B  int
	Count int64
	at    int64
}

// maxSteps bounds the steps of an encoder in one period; the rest follows in the next.
const maxSteps = 1 << 14

func (e *Encoder) advance(c *Chip, from, to time.Duration) {
	n := min(max(e.Count-e.at, -maxSteps), maxSteps)
	step, total := int64(1), n
	if n < 0 {
		step, total = -1, -n
	}
	for k := range total {
		e.at += step
		e.put(c, from+time.Duration(float64(to-from)*float64(k+1)/float64(total)))
	}
	e.put(c, to) // at the first call its lines are driven even at rest
}

// put drives the lines: A leads where the count rises, 00 10 11 01.
func (e *Encoder) put(c *Chip, at time.Duration) {
	phase := e.at & 3
	c.drive(e.A, pulled(phase == 1 || phase == 2), at)
	c.drive(e.B, pulled(phase >= 2), at)
}

// PIR is an HC-SR501 that is warm: high for Hold after the last motion, then deaf for 2.5 s.
type PIR struct {
	unaffected
	Line  int
	Low   bool // its output is low while it sees something, as behind a transistor
	Moves bool
	Hold  time.Duration // 0 = 2.5 s, the shortest
	until time.Duration // high
	deaf  time.Duration
	on    bool
}

const pirLockOut = 2500 * time.Millisecond

func (p *PIR) advance(c *Chip, _, to time.Duration) {
	hold := cmp.Or(p.Hold, pirLockOut)
	if p.Moves && to >= p.deaf {
		p.on, p.until = true, to+hold
	}
	if p.on && to >= p.until {
		p.on, p.deaf = false, p.until+pirLockOut
	}
	c.drive(p.Line, pulled(p.on != p.Low), to)
}

// Sonar is an HC-SR04: at the end of a trigger it sends, and its echo line is high for as long as the sound is under
// way.
type Sonar struct {
	Trigger, Echo int
	Distance      float64 // m; beyond Range, or NaN: no echo
	Range         float64 // m; 0 = 4
	Celsius       float64 // of the air
	Silence       time.Duration
	Glitch        time.Duration // a pulse of interference on the echo line before each echo
	rose, busy    time.Duration
	high          bool
}

const (
	sonarLag     = 460 * time.Microsecond // 8 periods of 40 kHz, and its own time
	sonarTrigger = 10 * time.Microsecond  // the shortest that it takes
	sonarSilence = 38 * time.Millisecond
)

func (s *Sonar) advance(c *Chip, _, to time.Duration) {
	if s.busy == 0 {
		c.drive(s.Echo, low, to) // its output is never loose
	}
}

func (s *Sonar) setLevel(c *Chip, line int, level bool, at time.Duration) {
	if line != s.Trigger || level == s.high {
		return
	}
	if s.high = level; level {
		s.rose = at
		return
	}
	if at-s.rose < sonarTrigger || at < s.busy {
		return
	}
	width := cmp.Or(s.Silence, sonarSilence)
	limit := cmp.Or(s.Range, 4)
	if s.Distance <= limit { // false for NaN
		sound := 331.3 + float64(0.606*s.Celsius)
		width = time.Duration(math.Round(2 * max(0, s.Distance) / sound * 1e9))
	}
	if s.Glitch > 0 {
		c.drive(s.Echo, high, at+sonarLag/2)
		c.drive(s.Echo, low, at+sonarLag/2+s.Glitch)
	}
	c.drive(s.Echo, high, at+sonarLag)
	c.drive(s.Echo, low, at+sonarLag+width)
	s.busy = at + sonarLag + width
}
