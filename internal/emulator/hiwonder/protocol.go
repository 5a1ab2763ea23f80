package hiwonder

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/wire/hiwonderwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// protocol is the protocol of Hiwonder servos.
type protocol struct {
	bus      *emulator.Bus
	servos   []*device
	out      []byte // scratch of a reply
	parser   *hiwonderwire.Parser
	packet   hiwonderwire.Packet
	commands []hiwonder.Command
}

func newProtocol(b *emulator.Bus) *protocol {
	return &protocol{bus: b, servos: emulator.Kinds[*device](b), out: make([]byte, 0, 2048),
		parser: hiwonderwire.NewParser(), commands: hiwonder.Commands()}
}

func (t *protocol) Reset() { t.parser.Reset() }

func (t *protocol) Parse(p []byte, start time.Duration) {
	t.bus.Feed(&t.parser.Framer, p, start, func() bool { return t.parser.Next(&t.packet) }, t.handle)
}

// handle executes the current packet, whose last byte ended at now, on the addressed servos and sends their replies.
func (t *protocol) handle(now time.Duration) {
	b, k := t.bus, &t.packet
	b.Update(now)
	for _, s := range t.servos {
		if !b.CanReceive(s.Servo, now) || k.ID != hiwonderwire.Broadcast && int64(k.ID) != s.Get(reg.ID) {
			continue
		}
		s.Received = now
		t.single(s, now)
		s.Drive()
	}
}

func (t *protocol) single(s *device, now time.Duration) {
	k := &t.packet
	switch k.Command {
	case hiwonderwire.MoveStart:
		s.Set(reg.GoalPosition, s.Get(reg.RegisteredPosition))
		s.Set(reg.GoalTime, s.Get(reg.RegisteredTime))
		return
	case hiwonderwire.MoveStop:
		s.Set(reg.GoalPosition, int64(s.present(s.Shaft())))
		s.Set(reg.GoalTime, 0)
		return
	case hiwonderwire.SaveOffset:
		r := s.Named[reg.AngleOffset]
		copy(s.Flash[r.Addr:r.Addr+r.Size], s.Bytes[r.Addr:])
		return
	}
	// All others write or read bytes of the table.
	for i := range t.commands {
		c := &t.commands[i]
		switch {
		case c.Read == k.Command && len(k.Params) == 0:
			s.Measure()
			t.answer(s, c, now)
		case c.Write == k.Command && c.Write != 0 && len(k.Params) == int(c.Size):
			s.writeAll(c, k.Params)
		}
	}
}

// writeAll stores the registers of a command, all or none.
func (s *device) writeAll(c *hiwonder.Command, params []byte) {
	// The first pass checks all values, the second stores them.
	for pass := range 2 {
		for at := c.Addr; at < c.Addr+c.Size; at++ {
			r, n := s.RegisterAt(int(at))
			if r == nil || r.Addr != at {
				continue
			}
			v := r.Decode(params[at-c.Addr:])
			if pass == 0 && (v < r.Min || v > r.Max) {
				return
			}
			if pass == 0 {
				continue
			}
			s.Store(r, v)
			if n == reg.TorqueEnable {
				s.Act.ClearAlarm() // ends a protection after its cause is over; an assumption, not in any document
				s.Alarm = 0
			}
			// All that is kept is kept at once, but for the offset, which is saved by a command of its own.
			if r.Access == servo.EEPROM && n != reg.AngleOffset {
				copy(s.Flash[r.Addr:r.Addr+r.Size], s.Bytes[r.Addr:])
			}
		}
	}
}

// answer sends the bytes that a command reads.
func (t *protocol) answer(s *device, c *hiwonder.Command, now time.Duration) {
	s.Reply = append(s.Reply[:0], s.Bytes[c.Addr:c.Addr+c.Size]...)
	k := hiwonderwire.Packet{ID: byte(s.Get(reg.ID)), Command: c.Read, Params: s.Reply}
	t.bus.Answer(s.Servo, s.Reply, now, hiwonder.Baud, func() []byte {
		t.out = hiwonderwire.AppendPacket(t.out[:0], &k)
		return t.out
	})
}
