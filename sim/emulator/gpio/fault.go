package gpio

import (
	"fmt"
	"time"
)

// FaultKind is what goes wrong with a line, or the chip.
type FaultKind uint8

// The kinds of fault.
const (
	Bounce    FaultKind = iota // its contact comes back several times at each change, within 4 ms
	Cut                        // its wire is cut: what is connected to it is not heard and receives nothing; a resistor is at its end
	StuckLow                   // it is shorted to ground
	StuckHigh                  // to the supply
	Lost                       // edges are dropped by the kernel, as when its queue is full
	Unplugged                  // the whole chip is gone, as one on USB; it comes back without holders
	numFaults
)

func (k FaultKind) String() string {
	if k < numFaults {
		return [numFaults]string{"bounce", "cut", "stuck low", "stuck high", "lost", "unplugged"}[k]
	}
	return fmt.Sprintf("fault(%d)", uint8(k))
}

// AnyLine is the line of a fault that strikes all.
const AnyLine = -1

// Fault is one thing that goes wrong for a while, in virtual time.
type Fault struct {
	Kind FaultKind
	Line int           // offset, or AnyLine
	P    float64       // how likely it strikes each edge, of Lost; 0 = always
	For  time.Duration // from now on; 0 = for good
}

// planted is a fault at work.
type planted struct {
	Fault
	from time.Duration
}

// Fault plants f, whose time begins now.
func (c *Chip) Fault(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, &planted{f, c.edge})
	c.struck(f.Kind)
}

// ClearFaults ends all faults.
func (c *Chip) ClearFaults() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = nil
	c.struck(numFaults)
}

// struck lets a fault that begins or ends be seen. Under the lock.
func (c *Chip) struck(kind FaultKind) {
	if kind == Unplugged {
		for i := range c.lines {
			if r := c.lines[i].holder; r != nil {
				r.release()
			}
			c.lines[i].out = loose // it has no power
		}
		c.gone++
	}
	for i := range c.lines {
		c.refresh(i, c.edge)
	}
}

// age ends faults whose time is over. Under the lock.
func (c *Chip) age() {
	kept := c.faults[:0]
	for _, f := range c.faults {
		if f.For == 0 || c.edge < f.from+f.For {
			kept = append(kept, f)
		}
	}
	if over := len(kept) < len(c.faults); over {
		c.faults = kept
		c.struck(numFaults)
	}
}

// fault finds a fault of a kind that is at work on a line, or nil. Under the lock.
func (c *Chip) fault(kind FaultKind, line int, at time.Duration) *planted {
	for _, f := range c.faults {
		if f.Kind == kind && (f.Line == line || f.Line == AnyLine || kind == Unplugged) && (f.For == 0 || at < f.from+f.For) {
			return f
		}
	}
	return nil
}

// faultOccurs throws the dice of a fault. Under the lock.
func (c *Chip) faultOccurs(kind FaultKind, line int, at time.Duration) bool {
	f := c.fault(kind, line, at)
	return f != nil && (f.P == 0 || c.dice.Float64() < f.P)
}
