package gpio

import (
	"errors"
	"os"
	"sync"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
)

// Properties of an HC-SR04, from its data sheet and hardware.md section 6.
const (
	hcsr04Trigger = 10 * time.Microsecond // the shortest trigger
	hcsr04Begin   = 20 * time.Millisecond // time limit of the rise of the echo line; usually 0.5 ms after the trigger
	hcsr04Silence = 60 * time.Millisecond // time limit of its fall: 38 ms without an echo
	// hcsr04Shortest is the shortest pulse that can be an echo: sound goes 2 cm and back in 117 µs.
	hcsr04Shortest = 100 * time.Microsecond
	hcsr04Clone    = 250 * time.Millisecond // of clones that hold it for 200 ms then

	// HCSR04Cycle is the time between two triggers, so that no echo of the one before is received.
	HCSR04Cycle = 60 * time.Millisecond
	// hcsr04MinRange and hcsr04MaxRange are its range, m.
	hcsr04MinRange = 0.02
	hcsr04MaxRange = 4.0
)

// HCSR04Config reports where a sonar is.
type HCSR04Config struct {
	Celsius float64 // of the air
	Range   float64 // the reading without an echo, m; 0 = hcsr04MaxRange
	Turn    *Turn   // shared with sensors that would receive its sound; nil = none
}

// Turn lets sonars that receive each other sound one after the other: of n each has a look every n times 60 ms. The
// zero Turn is ready. It takes no account of which of them really do.
type Turn struct {
	mu   sync.Mutex
	next time.Duration // when the next may sound
}

// HCSR04 is an HC-SR04 ultrasonic sensor: one value, the distance of the nearest object in its cone of 15 degrees, m;
// without an echo its greatest range. It is a drivers.Sensor. Its echo line is 5 V: most chips need a divider.
//
// The width of the echo is computed from the kernel's time stamps of its edges. A Read takes up to 60 ms, and begins at
// the earliest 60 ms after the previous one.
type HCSR04 struct {
	lines  lines
	config HCSR04Config
	take   func(*gpiochip.Event)
	rose   time.Duration // of this echo; < 0 = not yet
	fell   time.Duration
	glitch bool // a pulse too short for an echo came
}

// The sonar's lines by their places in a request.
const (
	trigger = 1 << iota
	echo
)

// NewHCSR04 returns the sonar at two lines, trigger and echo. It does no I/O.
func NewHCSR04(p Pins, c HCSR04Config) *HCSR04 {
	if c.Range <= 0 || c.Range > hcsr04MaxRange {
		c.Range = hcsr04MaxRange
	}
	if c.Turn == nil {
		c.Turn = &Turn{}
	}
	s := &HCSR04{lines: lines{pins: &p, op: "hc-sr04"}, config: c}
	s.take = func(e *gpiochip.Event) {
		switch {
		case e.Rising && s.rose < 0:
			s.rose = e.At
		case !e.Rising && s.rose >= 0 && s.fell < 0 && e.At-s.rose < hcsr04Shortest:
			s.rose, s.glitch = -1, true
		case !e.Rising && s.rose >= 0 && s.fell < 0:
			s.fell = e.At
		}
	}
	return s
}

// speedOfSound in air at a temperature, m/s.
func speedOfSound(celsius float64) float64 { return 331.3 + 0.606*celsius }

// Open asks for the lines, the trigger at rest.
func (s *HCSR04) Open() error {
	s.rest() // in vain where the chip is gone, which is why it is opened again
	out, none := gpiochip.Output, uint64(0)
	return s.lines.open(gpiochip.Input|gpiochip.EdgeRising|gpiochip.EdgeFalling, 0,
		gpiochip.Attribute{Flags: &out, Mask: trigger},
		gpiochip.Attribute{Values: &none, Mask: trigger})
}

// Read triggers it, in its turn, and waits for the echo.
func (s *HCSR04) Read(values []float64) error {
	if s.lines.node == nil {
		return s.lines.fault(os.ErrClosed)
	}
	turn := s.config.Turn
	turn.mu.Lock()
	defer turn.mu.Unlock()
	node := s.lines.node
	node.SleepUntil(turn.next)
	if err := s.ready(); err != nil {
		return err
	}
	if err := s.lines.set(trigger, trigger); err != nil {
		return err
	}
	node.SleepUntil(node.Now() + hcsr04Trigger)
	if err := s.lines.set(0, trigger); err != nil {
		return err
	}
	begin := node.Now()
	turn.next = begin + HCSR04Cycle
	for s.glitch = false; ; {
		if err := s.listen(begin+hcsr04Begin, &s.rose); err != nil {
			return err
		}
		if s.rose < 0 {
			break
		}
		if err := s.listen(s.rose+hcsr04Silence, &s.fell); err != nil {
			return err
		}
		if s.rose >= 0 { // it was no glitch
			break
		}
	}
	switch {
	case s.rose >= 0:
	case s.glitch:
		return s.lines.faultf(hal.BusFault, "echo: got a pulse of less than %v, want an echo: interference on its "+
			"line, or something nearer than 2 cm", hcsr04Shortest)
	default:
		return s.lines.faultf(hal.Timeout, "no answer to a trigger: is it wired, and has it 5 V?")
	}
	if len(values) > 0 {
		values[0] = s.distance()
	}
	return nil
}

// ready waits for the echo line to be idle, and discards earlier edges. Clones keep it active for long without an echo.
func (s *HCSR04) ready() error {
	s.rose, s.fell = -1, -1
	defer func() { s.rose, s.fell = -1, -1 }()
	for until := s.lines.node.Now() + hcsr04Clone; ; {
		if _, err := s.lines.each(0, s.take); err != nil {
			return err
		}
		bits, err := s.lines.values()
		switch {
		case err != nil:
			return err
		case bits&echo == 0:
			return nil
		case s.lines.node.Now() >= until:
			return s.lines.faultf(hal.Timeout, "its echo line stays high: is it wired, and has it 5 V?")
		}
		if _, err := s.lines.each(until-s.lines.node.Now(), s.take); err != nil {
			return err
		}
	}
}

// listen handles edges until what is set, or until the timeout.
func (s *HCSR04) listen(until time.Duration, what *time.Duration) error {
	for began := s.rose; *what < 0; {
		if s.rose < 0 && began >= 0 {
			return nil // what began was a glitch
		}
		left := until - s.lines.node.Now()
		if left <= 0 {
			return nil
		}
		lost, err := s.lines.each(left, s.take)
		switch {
		case err != nil:
			return err
		case lost > 0:
			return s.lines.faultf(hal.BusFault, "%d edges of its echo were missed", lost)
		}
	}
	return nil
}

// distance converts the time of an echo, there and back.
func (s *HCSR04) distance() float64 {
	width := s.fell - s.rose
	if s.fell < 0 || width >= hcsr04Silence/2 { // 38 ms, or for as long as a clone likes
		return s.config.Range
	}
	return min(s.config.Range, max(hcsr04MinRange, width.Seconds()*speedOfSound(s.config.Celsius)/2))
}

// rest ends a trigger.
func (s *HCSR04) rest() error {
	if s.lines.node == nil {
		return nil
	}
	return s.lines.set(0, trigger)
}

// Close gives the lines back, the trigger at rest.
func (s *HCSR04) Close() error { return errors.Join(unlessGone(s.rest()), s.lines.Close()) }
