package chip

import (
	"fmt"
	"time"
)

// FaultKind is what goes wrong on an I2C bus or a serial line of this package.
type FaultKind uint8

// The kinds of fault.
const (
	Off        FaultKind = iota // no power: silent; its settings are lost when it comes back
	NoAck                       // does not acknowledge, now and then; its settings stay
	Flip                        // a bit of an answer is wrong
	Garbage                     // an answer is random
	BusHeldLow                  // the bus is held low: every transaction takes a second and fails
	Lost                        // a byte of an answer is missing (serial)
	Doubled                     // a byte of an answer comes twice (serial)
	Noise                       // bytes nobody sent come before an answer (serial)
	numFaults
)

func (k FaultKind) String() string {
	if k < numFaults {
		return [numFaults]string{"off", "deaf", "flip", "garbage", "hang", "lost", "doubled", "noise"}[k]
	}
	return fmt.Sprintf("fault(%d)", uint8(k))
}

// Everyone is the address of a fault that strikes the whole bus; no chip has it.
const Everyone = 0

// Fault is one thing that goes wrong for a while, in virtual time.
type Fault struct {
	Kind    FaultKind
	Address uint16        // or Everyone
	P       float64       // how likely it strikes each transaction; 0 = always
	For     time.Duration // from now on; 0 = for good
}

// planted is a fault at work.
type planted struct {
	Fault
	from time.Duration
}

func (p *planted) on(now time.Duration) bool {
	return now >= p.from && (p.For == 0 || now < p.from+p.For)
}

// Fault plants f, whose time begins now.
func (b *Bus) Fault(f Fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, &planted{f, b.edge})
	b.power(b.edge)
}

// ClearFaults ends all faults; what was without power boots.
func (b *Bus) ClearFaults() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
	b.power(b.edge)
}

// power takes the power of each device, or gives it back, as the faults at work at now say. Under the lock.
func (b *Bus) power(now time.Duration) {
	if len(b.faults) == 0 && len(b.dark) == 0 {
		return
	}
	for _, d := range b.devices {
		if off := b.faultAt(Off, d.Address(), now) != nil; off != b.dark[d] {
			d.Power(!off, now)
			if b.dark[d] = off; !off {
				delete(b.dark, d)
			}
		}
	}
}

// faultAt finds a fault of a kind that is at work, or nil. Under the lock.
func (b *Bus) faultAt(kind FaultKind, addr uint16, now time.Duration) *planted {
	for _, p := range b.faults {
		if p.Kind == kind && (p.Address == addr || p.Address == Everyone) && p.on(now) {
			return p
		}
	}
	return nil
}

// faultOccurs throws the dice of a fault. Under the lock.
func (b *Bus) faultOccurs(kind FaultKind, addr uint16, now time.Duration) bool {
	p := b.faultAt(kind, addr, now)
	return p != nil && (p.P == 0 || b.dice.Float64() < p.P)
}

// corrupt lets an answer go wrong on its way. Under the lock.
func (b *Bus) corrupt(addr uint16, r []byte, now time.Duration) {
	if len(r) == 0 || len(b.faults) == 0 {
		return
	}
	if b.faultOccurs(Flip, addr, now) {
		r[b.dice.IntN(len(r))] ^= 1 << b.dice.IntN(8)
	}
	if b.faultOccurs(Garbage, addr, now) {
		for i := range r {
			r[i] = byte(b.dice.Uint32())
		}
	}
}
