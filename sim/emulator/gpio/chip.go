package gpio

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/gpiochip"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Config describes a chip.
type Config struct {
	Name  string   // of its node: gpiochip0
	Label string   // of its driver
	Lines []string // their names; "" = none
	Seed  int64    // of the faults' dice
	// Keeps: outputs keep their level after their holder closed them; most chips release them.
	Keeps bool
}

// Chip is a GPIO chip in memory. It is a hal.World: Advance moves its clock along with the scene's. All methods may be
// called from any goroutine; the inputs of its parts are written between cycles.
type Chip struct {
	config Config

	wire.Medium
	lines  []line
	parts  []Part
	nodes  map[int32]*request
	handed int32
	dead   bool // it is unplugged, and its holders were notified
}

// pull is a resistor on a line, or its driver.
type pull uint8

const (
	loose pull = iota
	low
	high
)

func pulled(up bool) pull {
	if up {
		return high
	}
	return low
}

// line is one line of the chip.
type line struct {
	board   pull // a resistor on the board
	part    pull // output of the connected part after the last change
	out     pull // our own, where it is an output
	level   bool // on the wire
	shown   bool // after the kernel's debouncing
	due     time.Duration
	settles bool // at due the kernel sees the present level
	coming  []change
	holder  *request
	flags   gpiochip.Flags
	quiet   time.Duration // of debouncing
	seq     uint32
}

// change is a new state of a line by a part, and its time.
type change struct {
	at time.Duration
	to pull
}

// Part is something on the chip's lines. Its methods are called under the chip's lock.
type Part interface {
	// advance simulates the part from the last cycle's edge to the next.
	advance(c *Chip, from, to time.Duration)
	// setLevel receives the new level of an output.
	setLevel(c *Chip, line int, level bool, at time.Duration)
}

// New returns a chip without parts.
func New(config Config) *Chip {
	c := &Chip{config: config, lines: make([]line, len(config.Lines)), nodes: map[int32]*request{}}
	c.Medium = wire.NewMedium(config.Name, config.Seed, 0x6910, nil, c.notice)
	return c
}

// Attach puts parts on lines.
func (c *Chip) Attach(parts ...Part) {
	c.Lock()
	defer c.Unlock()
	for _, p := range parts {
		c.parts = append(c.parts, p)
		p.advance(c, c.EdgeTime(), c.EdgeTime())
	}
	c.flushAll()
}

// Resistor adds a resistor on the board that pulls a line up or down while it is not driven.
func (c *Chip) Resistor(line int, up bool) {
	c.Lock()
	defer c.Unlock()
	c.lines[line].board = pulled(up)
	c.refresh(line, c.EdgeTime())
}

// Level is the level of a line at the cycle's edge.
func (c *Chip) Level(line int) bool {
	c.Lock()
	defer c.Unlock()
	return c.lines[line].level
}

// Held is the consumer name of a line in use, "" if it is free.
func (c *Chip) Held(line int) string {
	c.Lock()
	defer c.Unlock()
	if h := c.lines[line].holder; h != nil {
		return h.asked.Consumer
	}
	return ""
}

// Advance lets a period of dt pass. The kernel records edges even if they are not read.
func (c *Chip) Advance(dt time.Duration) error {
	c.Lock()
	defer c.Unlock()
	from := c.EdgeTime()
	c.Step(dt)
	for _, p := range c.parts {
		p.advance(c, from, c.EdgeTime())
	}
	c.flushAll()
	return nil
}

func (c *Chip) flushAll() {
	for i := range c.lines {
		switch r := c.lines[i].holder; {
		case r == nil:
			c.flush(i, c.EdgeTime())
		case int(r.asked.Offsets[0]) == i: // its lines together, in the order of time
			r.flush(c.EdgeTime())
		}
	}
}

// drive lets a part's end of a line change at a time. Under the lock.
func (c *Chip) drive(i int, to pull, at time.Duration) {
	l := &c.lines[i]
	if last := len(l.coming) - 1; last < 0 && l.part == to || last >= 0 && l.coming[last].to == to {
		return
	}
	// Pending changes stay: a contact that still bounces changes after them.
	if last := len(l.coming) - 1; last >= 0 {
		at = max(at, l.coming[last].at)
	}
	// A bouncing contact reopens a few times, at decreasing intervals.
	if f := c.Find(wire.Duplicated, i, at); f != nil {
		was := l.part
		if last := len(l.coming) - 1; last >= 0 {
			was = l.coming[last].to
		}
		for gap := 2 * time.Millisecond; gap > 50*time.Microsecond; gap /= 2 {
			gap -= time.Duration(f.Dice.Int64N(int64(gap) / 4))
			l.coming = append(l.coming, change{at, to}, change{at + gap/2, was})
			at += gap
		}
	}
	l.coming = append(l.coming, change{at, to})
}

// flush applies the pending changes of a line until a time. Under the lock.
func (c *Chip) flush(i int, until time.Duration) {
	l := &c.lines[i]
	for {
		at, ok := l.next()
		if !ok || at > until {
			return
		}
		if l.settles && l.due == at {
			l.settles = false
			c.show(i, l.level, at)
			continue
		}
		l.part = l.coming[0].to
		l.coming = l.coming[:copy(l.coming, l.coming[1:])]
		c.refresh(i, at)
	}
}

// next is the time of the next change of the line.
func (l *line) next() (at time.Duration, ok bool) {
	if len(l.coming) > 0 {
		at, ok = l.coming[0].at, true
	}
	if l.settles && (!ok || l.due <= at) {
		at, ok = l.due, true
	}
	return at, ok
}

// refresh brings the wire to the level that it has at a time. Under the lock.
func (c *Chip) refresh(i int, at time.Duration) {
	l := &c.lines[i]
	level := c.level(i, at)
	if level == l.level {
		return
	}
	l.level = level
	switch {
	case l.quiet == 0:
		c.show(i, level, at)
	case level == l.shown:
		l.settles = false
	default:
		l.settles, l.due = true, at+l.quiet
	}
	if l.out != loose {
		for _, p := range c.parts {
			p.setLevel(c, i, level, at)
		}
	}
}

// level works out the level of a line.
func (c *Chip) level(i int, at time.Duration) bool {
	l := &c.lines[i]
	inside := loose
	switch {
	case l.holder == nil:
	case l.flags&gpiochip.PullUp != 0:
		inside = high
	case l.flags&gpiochip.PullDown != 0:
		inside = low
	}
	part, out := l.part, l.out
	if c.Find(wire.OpenWire, i, at) != nil {
		part, out = loose, loose
	}
	switch {
	case c.Find(wire.StuckLow, i, at) != nil:
		return false
	case c.Find(wire.StuckHigh, i, at) != nil:
		return true
	}
	for _, p := range [...]pull{out, part, inside, l.board} {
		if p != loose {
			return p == high
		}
	}
	return false
}

// show gives the kernel a new level of line i; the line's holder gets an event if it requested this edge.
func (c *Chip) show(i int, level bool, at time.Duration) {
	l := &c.lines[i]
	if l.shown == level {
		return
	}
	if l.shown = level; l.holder == nil || l.out != loose {
		return
	}
	active, wanted := level != (l.flags&gpiochip.ActiveLow != 0), gpiochip.EdgeFalling
	if active {
		wanted = gpiochip.EdgeRising
	}
	if l.flags&wanted == 0 {
		return
	}
	l.seq++
	l.holder.queueEvent(gpiochip.Event{At: at, Line: uint32(i), Rising: active, LineSeq: l.seq},
		c.Occurs(wire.Dropped, i, at) != nil)
}

// Fault plants f, whose time begins now. Its target is a line's offset, or wire.All. Duplicated makes contacts bounce
// several times at each change, within 4 ms. OpenWire leaves only the resistors of the board on a line. Unplugged
// affects the whole chip.
func (c *Chip) Fault(f wire.Fault) {
	c.Lock()
	defer c.Unlock()
	if f.Kind == wire.Unplugged {
		f.Target = wire.All
	}
	c.Plant(f)
}

// notice lets a fault that begins or ends be seen: a chip that is gone has neither holders nor power. Under the lock.
func (c *Chip) notice(now time.Duration) {
	if gone := c.IsGone(); gone != c.dead {
		c.dead = gone
		for i := range c.lines {
			if r := c.lines[i].holder; r != nil && gone {
				r.release()
			}
			if gone {
				c.lines[i].out = loose
			}
		}
	}
	for i := range c.lines {
		c.refresh(i, now)
	}
}
