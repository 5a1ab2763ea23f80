package emulator

import (
	"slices"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Plug connects s, a servo of the bus, or disconnects it: without power it does not reply and has no torque, and its
// RAM is lost.
func (b *Bus) Plug(s *Servo, in bool) {
	b.Lock()
	defer b.Unlock()
	i := slices.Index(b.servos, s)
	if b.Heal(wire.Unplugged, i); !in {
		b.Plant(wire.Fault{Kind: wire.Unplugged, Target: i})
	}
}

// View calls f with every servo of the bus, measured now, under the bus's lock.
func (b *Bus) View(f func(s *Servo)) {
	b.Lock()
	defer b.Unlock()
	for _, s := range b.servos {
		f(s)
	}
}

// EEPROM is the contents of a servo's EEPROM, by the names of its registers. Under the bus's lock.
func (s *Servo) EEPROM() map[string]int64 {
	kept, from := map[string]int64{}, s.Bytes
	if s.Flash != nil {
		from = s.Flash
	}
	for i := range s.Table {
		if r := &s.Table[i]; r.Access == servo.EEPROM {
			kept[r.Name] = r.Decode(from[r.Addr:])
		}
	}
	return kept
}

// Keep restores a servo's EEPROM, before it is served. Registers that its model lacks, and invalid values, are ignored.
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
