package emulator

import (
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Plug puts s, a servo of the bus, on its cable, or takes it off: without power it is silent and without torque, and what it
// had in RAM is lost.
func (b *Bus) Plug(s *Servo, in bool) {
	b.Lock()
	defer b.Unlock()
	for i, x := range b.servos {
		if x != s {
			continue
		}
		if b.Heal(wire.Unplugged, i); !in {
			b.Plant(wire.Fault{Kind: wire.Unplugged, Target: i})
		}
	}
}

// View calls f with every servo of the bus, measured now, while nothing else touches them.
func (b *Bus) View(f func(s *Servo)) {
	b.Lock()
	defer b.Unlock()
	for _, s := range b.servos {
		f(s)
	}
}

// EEPROM is what a servo keeps without power, by the names of its registers. Under the bus's lock.
func (s *Servo) EEPROM() map[string]int64 {
	kept := map[string]int64{}
	for i := range s.Table {
		r := &s.Table[i]
		if r.Access != servo.EEPROM {
			continue
		}
		from := s.Bytes
		if s.Flash != nil {
			from = s.Flash
		}
		kept[r.Name] = r.Decode(from[r.Addr:])
	}
	return kept
}

// Keep gives a servo the EEPROM that it had, before it is served. What its model does not have, or does not take, is left
// as it is.
func (s *Servo) Keep(kept map[string]int64) {
	for i := range s.Table {
		if r := &s.Table[i]; r.Access == servo.EEPROM {
			if v, ok := kept[r.Name]; ok {
				s.Preset(r.Name, v)
			}
		}
	}
	s.PowerOn(s.Now)
}
