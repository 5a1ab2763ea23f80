package kondo

import (
	"time"

	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// protocol is the ICS protocol.
type protocol struct {
	bus    *emulator.Bus
	servos []*device
	out    []byte // scratch of a reply
	parser *kondo.Parser
	packet kondo.Packet
}

// newProtocol makes a byte on b's wire eleven bits long, for the parity.
func newProtocol(b *emulator.Bus) *protocol {
	b.SetBits(11)
	return &protocol{bus: b, servos: emulator.Kinds[*device](b), out: make([]byte, 0, 2048),
		parser: kondo.NewParser(kondo.FromHost)}
}

func (t *protocol) Reset() { t.parser.Reset() }

func (t *protocol) Parse(p []byte, start time.Duration) {
	t.bus.Feed(&t.parser.Framer, p, start, func() bool { return t.parser.Next(&t.packet) }, t.handle)
}

// handle executes the current packet, whose last byte ended at now, on the addressed servos and sends their replies. An
// ID command addresses all servos, regardless of the ID in it; they reply at the same time.
func (t *protocol) handle(now time.Duration) {
	b, k := t.bus, t.packet
	b.Update(now)
	for _, s := range t.servos {
		if !b.CanReceive(s.Servo, now) || k.Op != kondo.ID && int64(k.ID) != s.Get(emulator.RegID) {
			continue
		}
		s.Received = now
		answer := k
		if !t.single(s, &answer) {
			continue
		}
		s.Drive()
		t.out = kondo.AppendPacket(t.out[:0], &answer, kondo.FromServos)
		sent := b.Transmit(s.Servo, t.out, now, s.Baud())
		if sent.Doubled { // the twin is elsewhere
			answer.A, answer.B = ^answer.A&0x7F, ^answer.B&0x7F
			t.out = kondo.AppendPacket(t.out[:0], &answer, kondo.FromServos)
			b.Put(t.out, sent.Start, s.Baud())
		}
	}
}

// single follows k and makes its answer of it, false if absent.
func (t *protocol) single(s *device, k *kondo.Packet) bool {
	// The answer to everything is of now, before the command has done anything.
	s.Measure()
	switch k.Op {
	case kondo.Position:
		if goal := k.Value(); goal == 0 {
			s.Set(emulator.RegTorqueEnable, 0)
		} else {
			s.Set(emulator.RegTorqueEnable, 1)
			s.Set(emulator.RegGoalPosition, int64(min(max(float64(goal), s.Sheet.Low), s.Sheet.High)))
		}
		*k = kondo.At(k.ID, int(s.Get(emulator.RegPresentPosition)))
	case kondo.Read:
		if k.A < kondo.Stretch || k.A > kondo.Heat {
			return false
		}
		// For the last two the measured value, not the limit that is written there.
		n := [...]emulator.Name{emulator.RegStretch, emulator.RegSpeed, emulator.RegPresentAmps,
			emulator.RegHeat}[k.A-kondo.Stretch]
		k.B = byte(s.Get(n))
	case kondo.Write:
		r, n := s.RegisterAt(int(k.A))
		if r == nil || k.A < kondo.Stretch || k.A > kondo.Heat {
			return false
		}
		s.Set(n, int64(k.B))
		k.B = byte(s.Get(n))
	case kondo.ID:
		if k.A == 1 {
			s.Set(emulator.RegID, int64(k.ID))
		}
		k.ID = byte(s.Get(emulator.RegID))
	}
	return true
}
