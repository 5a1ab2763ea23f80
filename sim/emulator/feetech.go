package emulator

import (
	"math"
	"time"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
)

// feetechProtocol is what Feetech servos understand. Decisions where the sources are silent:
//
//   - A write that leaves a register's range leaves that register as it was; the error byte has no bit for it.
//   - A write to a read-only register does nothing. What lies between and behind the registers reads as 0.
//   - A silent servo in a sync read silences those after it; Timing.SkipSilent is for firmware that goes on.
type feetechProtocol struct {
	bus    *Bus
	parser *feetech.Parser
	packet feetech.Packet
	twin   []byte
}

func newFeetechProtocol(b *Bus) *feetechProtocol {
	return &feetechProtocol{bus: b, parser: feetech.NewParser(feetech.FromHost), twin: make([]byte, 0, 256)}
}

func (t *feetechProtocol) reset() { t.parser.Reset() }

func (t *feetechProtocol) parse(p []byte, start time.Duration) {
	t.bus.feed(&t.parser.Framer, p, start, func() bool { return t.parser.Next(&t.packet) }, t.handle)
}

// handle hands the packet at hand, whose last byte ended at now, to the servos that it is for and sends their answers.
func (t *feetechProtocol) handle(now time.Duration) {
	b, k := t.bus, &t.packet
	b.update(now)
	// Who hears it is settled first: obeying may change IDs and rates.
	for _, s := range b.servos {
		if s.deaf = !b.canReceive(s, now); !s.deaf {
			s.heard = now
		}
	}
	switch feetech.Op(k.Code) {
	case feetech.SyncRead:
		t.turns(k.Params, now)
	case feetech.SyncWrite:
		t.writes(k.Params)
	default:
		for _, s := range b.servos {
			if !s.deaf && (k.ID == feetech.Broadcast || int64(k.ID) == s.get(rID)) {
				t.single(s, now)
			}
		}
	}
}

// single lets one servo obey. It answers as it was when it was asked: old ID, old rate, old delay.
func (t *feetechProtocol) single(s *Servo, now time.Duration) {
	k := &t.packet
	id, start, baud, level := byte(s.get(rID)), now+s.returnDelay(), s.baud(), s.get(rResponseLevel)
	s.answer = s.answer[:0]
	answers := level >= 1
	switch op, p := feetech.Op(k.Code), k.Params; {
	case op == feetech.Ping:
		if k.ID == feetech.Broadcast { // one after the other, by their ids, as logs of real arms show
			start += time.Duration(id) * pingSlot(baud)
		}
		t.answer(s, id, start, baud)
		return
	// Reads are answered at every level; the rest at level 1 alone.
	case op == feetech.Read && len(p) == 2:
		s.measure()
		s.answer, answers = s.readThrough(s.answer, int(p[0]), int(p[1])), true
	case op == feetech.Write && len(p) >= 2:
		s.writeFeetech(int(p[0]), p[1:])
	// What is longer than the table could never be written.
	case op == feetech.RegWrite && len(p) >= 2 && len(p)-1 <= cap(s.registered):
		s.registerAt, s.registered = uint16(p[0]), append(s.registered[:0], p[1:]...)
		s.set(rRegistered, 1)
	case op == feetech.Action && s.get(rRegistered) == 1:
		s.set(rRegistered, 0)
		s.writeFeetech(int(s.registerAt), s.registered)
	case op == feetech.Reset:
		s.resetFeetech()
	case op == feetech.Calibrate:
		s.middle()
	default:
		return // what nobody knows, or nobody can read
	}
	if answers && k.ID != feetech.Broadcast {
		t.answer(s, id, start, baud)
	}
}

// pingSlot is how long each id has for its answer to a broadcast ping: its six bytes, and as much again.
func pingSlot(baud int) time.Duration { return servo.WireTime(2*6, 10, baud) }

// answer sends s.answer with the servo's alarms, and reports when it ends and whether it is whole.
func (t *feetechProtocol) answer(s *Servo, id byte, start time.Duration, baud int) (time.Duration, bool) {
	b := t.bus
	status := feetech.Packet{ID: id, Code: feetech.AlarmByte(servo.Alarm(s.alarm)), Params: s.answer}
	b.packet = feetech.AppendPacket(b.packet[:0], &status)
	sent := b.transmit(s, b.packet, start, baud)
	if sent.doubled {
		for i := range s.answer { // the twin measures something else
			s.answer[i] = ^s.answer[i]
		}
		t.twin = feetech.AppendPacket(t.twin[:0], &status)
		b.path.Put(t.twin, sent.start, baud)
	}
	return sent.end, sent.whole
}

// turns is a sync read: one servo after another, each waiting for the answer of the one before.
func (t *feetechProtocol) turns(p []byte, now time.Duration) {
	if len(p) < 3 {
		return
	}
	b := t.bus
	for _, id := range p[2:] {
		whole, end := false, now
		for _, s := range b.servos {
			if k, ok := s.kind.(feetechKind); !ok || k.m.Series != feetech.STS || s.deaf || s.get(rID) != int64(id) {
				continue
			}
			s.measure()
			s.answer = s.readThrough(s.answer[:0], int(p[0]), int(p[1]))
			e, ok := t.answer(s, id, now+s.returnDelay(), s.baud())
			whole, end = whole || ok, max(end, e)
		}
		// Those further down the list wait for a whole answer.
		if now = end; !whole {
			if b.timing.SkipSilent == 0 {
				return
			}
			now += b.timing.SkipSilent
		}
	}
}

// writes is a sync write. Nobody answers.
func (t *feetechProtocol) writes(p []byte) {
	if len(p) < 2 || p[1] == 0 || (len(p)-2)%(int(p[1])+1) != 0 {
		return
	}
	size := int(p[1]) + 1 // with the id in front
	for q := p[2:]; len(q) > 0; q = q[size:] {
		for _, s := range t.bus.servos {
			if !s.deaf && s.get(rID) == int64(q[0]) {
				s.writeFeetech(int(p[0]), q[1:size])
			}
		}
	}
}

// readThrough appends n bytes from addr on as they are; what is no register reads as 0.
func (s *Servo) readThrough(dst []byte, addr, n int) []byte {
	for a := addr; a < addr+n; a++ {
		if a < len(s.bytes) {
			dst = append(dst, s.bytes[a])
		} else {
			dst = append(dst, 0)
		}
	}
	return dst
}

// writeFeetech stores data register by register, with all that follows from each.
func (s *Servo) writeFeetech(addr int, data []byte) {
	// One after the other, as the firmware does: the lock before what it guards makes a difference.
	for i := 0; i < len(data); {
		r, n := s.register(addr + i)
		if r == nil || int(r.Addr) != addr+i || i+int(r.Size) > len(data) {
			i++ // a gap, or part of a register
			continue
		}
		if v := r.Decode(data[i:]); r.Access != servo.ReadOnly && v >= r.Min && v <= r.Max {
			s.setFeetech(r, n, v)
		}
		i += int(r.Size)
	}
	s.drive()
}

// setFeetech sets one register. EEPROM keeps it where the lock is open; else its copy in RAM alone changes.
func (s *Servo) setFeetech(r *servo.Register, n name, v int64) {
	if n == rTorqueEnable {
		switch {
		case v == stsMiddle:
			s.middle()
			return
		case v == 0: // switching off is what ends a shutdown
			s.shut = false
			s.relieve()
		case v != 1 || s.shut:
			return
		}
	}
	if n == rGoalPosition && s.pushed*(float64(v)-s.kind.(feetechKind).present(s, s.shaft())) < 0 {
		s.relieve()
	}
	s.store(r, v)
	if r.Access == servo.EEPROM && s.get(rLock) == 0 {
		copy(s.flash[r.Addr:r.Addr+r.Size], s.bytes[r.Addr:])
	}
	if n == rUnloadCondition {
		s.act.Shutdown = shutdownOf(byte(v))
	}
}

// middle makes the present place 2048 by the offset, which stays.
func (s *Servo) middle() {
	r := s.named[rHomingOffset]
	if r == nil {
		return
	}
	// In whatever turn it stands; set cuts half a turn itself, a tick more than eleven bits hold.
	s.set(rHomingOffset, int64(math.Round(math.Remainder(s.shaft()-s.sheet.centre, s.sheet.turn))))
	copy(s.flash[r.Addr:r.Addr+r.Size], s.bytes[r.Addr:])
	s.set(rGoalPosition, int64(s.sheet.centre))
}

// resetFeetech brings the EEPROM back to what the factory wrote, but for the ID.
func (s *Servo) resetFeetech() {
	id := s.get(rID)
	for i := range s.table {
		if r := &s.table[i]; r.Access == servo.EEPROM {
			s.store(r, r.Default)
		}
	}
	s.set(rID, id)
	s.kind.derive(s)
	s.drive()
}
