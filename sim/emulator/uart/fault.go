package uart

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// FaultKind is what goes wrong on a line. It strikes what is said in one go: a telegram, mostly, either way.
type FaultKind uint8

// The kinds of fault.
const (
	Off      FaultKind = iota // no power: silent; what is not kept is lost when it comes back
	NoReply                   // nothing gets through
	Unplug                    // the adapter is gone
	Flip                      // a bit is wrong
	Lost                      // a byte is missing
	Doubled                   // a byte comes twice
	Short                     // the end is missing
	Late                      // it comes later, by Delay
	Noise                     // bytes nobody sent come before it
	Stranger                  // what another device says, Bytes, comes before it
	Echo                      // the host hears itself
	NumFaults
)

func (k FaultKind) String() string {
	if k < NumFaults {
		return [NumFaults]string{"off", "deaf", "unplug", "flip", "lost", "doubled", "short", "late", "noise",
			"stranger", "echo"}[k]
	}
	return fmt.Sprintf("fault(%d)", uint8(k))
}

// Fault is one thing that goes wrong for a while.
type Fault struct {
	Kind  FaultKind
	P     float64       // how likely it strikes each time; 0 = always
	For   time.Duration // from now on; 0 = for good
	Delay time.Duration // of Late
	Bytes []byte        // of Stranger
}

// wild is the faults at work and their dice.
type wild struct {
	dice   *rand.Rand
	faults []planted
	dark   bool // Off is at work
	gone   bool // Unplug is
}

type planted struct {
	Fault
	from, to time.Duration
}

// Fault plants f, whose time begins now.
func (l *Line) Fault(f Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := planted{f, l.own, Never}
	if f.For > 0 {
		p.to = l.own + f.For
	}
	l.wild.faults = append(l.wild.faults, p)
	l.suffer(l.own)
}

// ClearFaults ends all faults.
func (l *Line) ClearFaults() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wild.faults = nil
	l.suffer(l.own)
}

// suffer takes the power and pulls the plug as the faults at work at now say, and gives both back.
func (l *Line) suffer(now time.Duration) {
	if w := &l.wild; len(w.faults) > 0 || w.dark || w.gone {
		if off := w.at(Off, now); off != w.dark {
			w.dark = off
			l.board.Power(!off, now)
		}
		if gone := w.at(Unplug, now); gone != w.gone {
			if w.gone = gone; gone {
				l.plug++
			}
		}
	}
}

// find is a fault of a kind that is at work, or nil.
func (w *wild) find(kind FaultKind, now time.Duration) *planted {
	for i := range w.faults {
		if p := &w.faults[i]; p.Kind == kind && now >= p.from && now < p.to {
			return p
		}
	}
	return nil
}

func (w *wild) at(kind FaultKind, now time.Duration) bool { return w.find(kind, now) != nil }

// faultOccurs throws the dice of a fault.
func (w *wild) faultOccurs(kind FaultKind, now time.Duration) bool {
	p := w.find(kind, now)
	return p != nil && (p.P == 0 || w.dice.Float64() < p.P)
}

// next is when a fault begins or ends next after now.
func (w *wild) next(now time.Duration) time.Duration {
	at := Never
	for i := range w.faults {
		if p := &w.faults[i]; p.to > now {
			at = min(at, p.to)
		}
	}
	return at
}

// corrupt lets b go wrong on its way.
func (w *wild) corrupt(b []byte, now time.Duration) (said []byte, late time.Duration) {
	if len(b) == 0 || len(w.faults) == 0 {
		return b, 0
	}
	i := w.dice.IntN(len(b))
	if w.faultOccurs(Flip, now) {
		b[i] ^= 1 << w.dice.IntN(8)
	}
	if w.faultOccurs(Lost, now) {
		b = append(b[:i], b[i+1:]...)
	}
	if w.faultOccurs(Doubled, now) && i < len(b) {
		b = append(b[:i+1], b[i:]...)
	}
	if w.faultOccurs(Short, now) {
		b = b[:min(i, len(b))]
	}
	if w.faultOccurs(Noise, now) {
		noise := make([]byte, 1+w.dice.IntN(8), 8+len(b))
		w.scramble(noise)
		b = append(noise, b...)
	}
	if w.faultOccurs(Stranger, now) {
		b = append(append([]byte(nil), w.find(Stranger, now).Bytes...), b...)
	}
	if w.faultOccurs(Late, now) {
		late = w.find(Late, now).Delay
	}
	return b, late
}

// scramble makes other bytes of b.
func (w *wild) scramble(b []byte) {
	for i := range b {
		b[i] = byte(w.dice.Uint32())
	}
}
