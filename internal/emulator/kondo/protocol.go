package kondo

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/wire/kondowire"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// protocol is the ICS protocol.
type protocol struct {
	bus    *emulator.Bus
	servos []*device
	out    []byte // scratch of a reply
	parser *kondowire.Parser
	packet kondowire.Packet
}

// newProtocol makes a byte on b's wire eleven bits long, for the parity.
func newProtocol(b *emulator.Bus) *protocol {
	b.SetBits(11)
	return &protocol{bus: b, servos: emulator.Kinds[*device](b), out: make([]byte, 0, 2048),
		parser: kondowire.NewParser(kondowire.FromHost)}
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
		if !b.CanReceive(s.Servo, now) || k.Op != kondowire.ID && int64(k.ID) != s.Get(reg.ID) {
			continue
		}
		s.Received = now
		answer := k
		if !t.single(s, &answer) {
			continue
		}
		s.Drive()
		t.out = kondowire.AppendPacket(t.out[:0], &answer, kondowire.FromServos)
		sent := b.Transmit(s.Servo, t.out, now, s.Baud())
		if sent.Doubled { // the twin is elsewhere
			answer.A, answer.B = ^answer.A&0x7F, ^answer.B&0x7F
			t.out = kondowire.AppendPacket(t.out[:0], &answer, kondowire.FromServos)
			b.Put(t.out, sent.Start, s.Baud())
		}
	}
}

// single follows k and makes its answer of it, false if absent.
func (t *protocol) single(s *device, k *kondowire.Packet) bool {
	// The answer to everything is of now, before the command has done anything.
	s.Measure()
	switch k.Op {
	case kondowire.Position:
		if goal := k.Value(); goal == 0 {
			s.Set(reg.TorqueEnable, 0)
		} else {
			s.Set(reg.TorqueEnable, 1)
			s.Set(reg.GoalPosition, int64(min(max(float64(goal), s.Sheet.Low), s.Sheet.High)))
		}
		*k = kondowire.At(k.ID, int(s.Get(reg.PresentPosition)))
	case kondowire.Read:
		if k.A < kondowire.Stretch || k.A > kondowire.Heat {
			return false
		}
		// For the last two the measured value, not the limit that is written there.
		n := [...]reg.Name{reg.Stretch, reg.Speed, reg.PresentAmps, reg.Heat}[k.A-kondowire.Stretch]
		k.B = byte(s.Get(n))
	case kondowire.Write:
		r, n := s.RegisterAt(int(k.A))
		if r == nil || k.A < kondowire.Stretch || k.A > kondowire.Heat {
			return false
		}
		s.Set(n, int64(k.B))
		k.B = byte(s.Get(n))
	case kondowire.ID:
		if k.A == 1 {
			s.Set(reg.ID, int64(k.ID))
		}
		k.ID = byte(s.Get(reg.ID))
	}
	return true
}
