package feetech

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/emulator/version"
	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// protocol is the protocol of Feetech servos. Decisions for behaviour that the sources do not specify:
//
//   - A write outside a register's range does not change that register; the error byte has no bit for it.
//   - A write to a read-only register has no effect. Addresses between and behind the registers read as 0.
//   - A servo that does not reply to a sync read blocks those after it; Timing.SkipSilent is for firmware that continues.
type protocol struct {
	bus    *emulator.Bus
	servos []*device
	out    []byte // scratch of a reply
	parser *feetechwire.Parser
	packet feetechwire.Packet
}

func newProtocol(b *emulator.Bus) *protocol {
	return &protocol{bus: b, servos: emulator.Kinds[*device](b), out: make([]byte, 0, 2048),
		parser: feetechwire.NewParser(feetechwire.FromHost)}
}

func (t *protocol) Reset() { t.parser.Reset() }

func (t *protocol) Parse(p []byte, start time.Duration) {
	t.bus.Feed(&t.parser.Framer, p, start, func() bool { return t.parser.Next(&t.packet) }, t.handle)
}

// handle executes the current packet, whose last byte ended at now, on the addressed servos and sends their replies.
func (t *protocol) handle(now time.Duration) {
	b, k := t.bus, &t.packet
	b.Update(now)
	// The receivers are determined first: execution may change IDs and rates.
	for _, s := range t.servos {
		if s.deaf = !b.CanReceive(s.Servo, now); !s.deaf {
			s.Received = now
		}
	}
	switch feetechwire.Op(k.Code) {
	case feetechwire.SyncRead:
		t.turns(k.Params, now)
	case feetechwire.SyncWrite:
		t.writes(k.Params)
	default:
		for _, s := range t.servos {
			if !s.deaf && (k.ID == feetechwire.Broadcast || s.meant(k.ID)) {
				t.single(s, now)
			}
		}
	}
}

// single lets one servo execute. It answers as it was when it was asked: old ID, old rate, old delay.
func (t *protocol) single(s *device, now time.Duration) {
	k := &t.packet
	id, start, baud, level := byte(s.Get(reg.ID)), now+s.ReturnDelay(), s.Baud(),
		s.Get(reg.ResponseLevel)
	s.Reply = s.Reply[:0]
	answers := level >= 1
	if k.ID != feetechwire.Broadcast && k.ID != id { // its second id: only writes, without a reply
		if answers = false; feetechwire.Op(k.Code) == feetechwire.Ping || feetechwire.Op(k.Code) == feetechwire.Read {
			return
		}
	}
	switch op, p := feetechwire.Op(k.Code), k.Params; {
	case op == feetechwire.Ping:
		if k.ID == feetechwire.Broadcast && t.bus.Quirk(version.NoBroadcastPing) {
			return
		}
		if k.ID == feetechwire.Broadcast { // one after the other, by their ids, as logs of real arms show
			start += time.Duration(id) * pingSlot(baud)
		}
		t.answer(s, id, start, baud)
		return
	// Reads are answered at every response level; all others only at level 1.
	case op == feetechwire.Read && len(p) == 2:
		s.Measure()
		s.Reply, answers = s.readThrough(s.Reply, int(p[0]), int(p[1])), true
	case op == feetechwire.Write && len(p) >= 2:
		s.write(int(p[0]), p[1:])
	// Data longer than the table can never be written.
	case op == feetechwire.RegWrite && len(p) >= 2 && len(p)-1 <= cap(s.registered):
		s.registerAt, s.registered = uint16(p[0]), append(s.registered[:0], p[1:]...)
		s.Set(reg.Registered, 1)
	case op == feetechwire.Action && s.Get(reg.Registered) == 1:
		s.Set(reg.Registered, 0)
		s.write(int(s.registerAt), s.registered)
	case op == feetechwire.Reset:
		s.factoryReset()
	case op == feetechwire.Calibrate:
		centre := s.Sheet.Centre
		if s.m.Series == feetech.HLS && len(p) == 2 { // the request has address and size
			centre = float64(uint16(p[0]) | uint16(p[1])<<8)
		}
		s.middle(centre)
	default:
		return // unknown instruction, or malformed parameters
	}
	if answers && k.ID != feetechwire.Broadcast {
		t.answer(s, id, start, baud)
	}
}

// pingSlot is how long each id has for its answer to a broadcast ping: its six bytes, and as much again.
func pingSlot(baud int) time.Duration { return servo.WireTime(2*6, 10, baud) }

// answer sends s.Reply with the servo's alarms. It returns the end time and whether the reply is whole.
func (t *protocol) answer(s *device, id byte, start time.Duration, baud int) (time.Duration, bool) {
	status := feetechwire.Packet{ID: id, Code: feetech.AlarmByte(servo.Alarm(s.Alarm)), Params: s.Reply}
	sent := t.bus.Answer(s.Servo, s.Reply, start, baud, func() []byte {
		t.out = feetechwire.AppendPacket(t.out[:0], &status)
		return t.out
	})
	return sent.End, sent.Whole
}

// turns is a sync read: one servo after another, each waiting for the answer of the one before.
func (t *protocol) turns(p []byte, now time.Duration) {
	if len(p) < 3 {
		return
	}
	b := t.bus
	for _, id := range p[2:] {
		whole, end := false, now
		for _, s := range t.servos {
			if s.m.Series == feetech.SCS || s.deaf || s.Get(reg.ID) != int64(id) {
				continue
			}
			s.Measure()
			s.Reply = s.readThrough(s.Reply[:0], int(p[0]), int(p[1]))
			e, ok := t.answer(s, id, now+s.ReturnDelay(), s.Baud())
			whole, end = whole || ok, max(end, e)
		}
		// Those further down the list wait for a whole answer.
		if now = end; !whole {
			if b.Timing().SkipSilent == 0 {
				return
			}
			now += b.Timing().SkipSilent
		}
	}
}

// writes is a sync write. No servo answers.
func (t *protocol) writes(p []byte) {
	if len(p) < 2 || p[1] == 0 || (len(p)-2)%(int(p[1])+1) != 0 {
		return
	}
	size := int(p[1]) + 1 // with the id in front
	for q := p[2:]; len(q) > 0; q = q[size:] {
		for _, s := range t.servos {
			if !s.deaf && s.meant(q[0]) {
				s.write(int(p[0]), q[1:size])
			}
		}
	}
}

// meant reports whether an instruction to id is for s, as its id or as its second one.
func (s *device) meant(id byte) bool {
	v := int64(id)
	return v == s.Get(reg.ID) || s.Has(reg.ShadowID) && v == s.Get(reg.ShadowID) && v < feetechwire.LastID
}

// readThrough appends n bytes from addr on; addresses without a register read as 0.
func (s *device) readThrough(dst []byte, addr, n int) []byte {
	for a := addr; a < addr+n; a++ {
		if a < len(s.Bytes) {
			dst = append(dst, s.Bytes[a])
		} else {
			dst = append(dst, 0)
		}
	}
	return dst
}

// write stores data register by register, with all that follows from each.
func (s *device) write(addr int, data []byte) {
	// Register by register, like the firmware: a write to the lock affects the registers after it.
	for i := 0; i < len(data); {
		r, n := s.RegisterAt(addr + i)
		if r == nil || int(r.Addr) != addr+i || i+int(r.Size) > len(data) {
			i++ // a gap, or part of a register
			continue
		}
		if v := r.Decode(data[i:]); r.Access != servo.ReadOnly && v >= r.Min && v <= r.Max {
			s.setRegister(r, n, v)
		}
		i += int(r.Size)
	}
	s.Drive()
}

// setRegister sets one register. With the lock open, EEPROM stores it; else only its copy in RAM changes.
func (s *device) setRegister(r *servo.Register, n reg.Name, v int64) {
	if n == reg.TorqueEnable {
		switch {
		case v == stsMiddle: // HLS: beyond its range
			s.middle(s.Sheet.Centre)
			return
		case v == 0: // switching off ends a shutdown
			s.shut = false
			s.clearAlarm()
		case v != 1 && (v != hlsDamp || s.m.Series != feetech.HLS) || s.shut:
			return
		}
	}
	if n == reg.GoalPosition && s.pushed*(float64(v)-s.present(s.Shaft())) < 0 {
		s.clearAlarm()
	}
	s.Store(r, v)
	// A goal switches torque on. This is inferred from the maker's examples, which never enable it; no data sheet
	// states it.
	if n == reg.GoalPosition && s.Get(reg.OperatingMode) == stsPosition && !s.shut {
		s.Set(reg.TorqueEnable, 1)
	}
	if r.Access == servo.EEPROM && s.Get(reg.Lock) == 0 {
		copy(s.Flash[r.Addr:r.Addr+r.Size], s.Bytes[r.Addr:])
	}
	if n == reg.UnloadCondition {
		s.Act.Shutdown = s.shutdownOf(byte(v))
	}
}

// middle makes the present position read as centre, 0..4095, by the homing offset, which is stored in EEPROM.
func (s *device) middle(centre float64) {
	r := s.Named[reg.HomingOffset]
	if r == nil || centre > s.Sheet.High {
		return
	}
	// The offset is taken within the shaft's present turn. Set itself clips an offset of half a turn, which is one tick
	// more than eleven bits hold.
	s.Set(reg.HomingOffset, int64(math.Round(math.Remainder(s.Shaft()-centre, s.Sheet.Turn))))
	copy(s.Flash[r.Addr:r.Addr+r.Size], s.Bytes[r.Addr:])
	s.Set(reg.GoalPosition, int64(centre))
}

// factoryReset restores the factory defaults of the EEPROM, except the ID.
func (s *device) factoryReset() {
	id := s.Get(reg.ID)
	for i := range s.Table {
		if r := &s.Table[i]; r.Access == servo.EEPROM {
			s.Store(r, r.Default)
		}
	}
	s.Set(reg.ID, id)
	s.Configured()
	s.Drive()
}
