package dynamixel

import (
	"time"

	"github.com/halyard-robotics/halyard/internal/emulator/reg"
	"github.com/halyard-robotics/halyard/internal/emulator/version"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// execute executes one instruction, whose last byte ended at now, on the addressed servos and sends their replies.
func (t *protocol) execute(protocol int, in *dynamixel.Instruction, unsound bool, now time.Duration) {
	// The receivers are determined first: the execution may change IDs and rates.
	t.bus.Update(now)
	for _, s := range t.servos {
		s.deaf = s.version() != protocol || !t.bus.CanReceive(s.Servo, now)
		if !s.deaf && (in.ID == dynamixel.Broadcast || s.meant(in.ID)) {
			s.Received = now
		}
	}
	// The addressed servo answers malformed parameters with an error; on a broadcast no servo answers.
	switch {
	case unsound && in.ID == dynamixel.Broadcast:
	case unsound:
		t.single(in, true, now)
	case in.Op == dynamixel.Ping && in.ID == dynamixel.Broadcast && t.bus.Quirk(version.NoBroadcastPing):
	case in.Op == dynamixel.Ping && in.ID == dynamixel.Broadcast && protocol == 2:
		t.roll(in, now)
	case in.Op == dynamixel.SyncRead || in.Op == dynamixel.BulkRead:
		t.turns(in, now)
	case in.Op == dynamixel.FastSyncRead || in.Op == dynamixel.FastBulkRead:
		t.fast(in, now)
	case in.Op == dynamixel.SyncWrite || in.Op == dynamixel.BulkWrite:
		t.writes(in)
	default:
		t.single(in, false, now)
	}
}

// single is every instruction to one servo, or to all at once: those that answer do so without regard for others.
func (t *protocol) single(in *dynamixel.Instruction, unsound bool, now time.Duration) {
	for _, s := range t.servos {
		if s.deaf || in.ID != dynamixel.Broadcast && !s.meant(in.ID) {
			continue
		}
		// The answer goes out as the servo was when it was asked: old ID, old rate, old delay. A shadow ID is executed
		// but not answered for.
		id, start, baud, protocol := s.Get(reg.ID), now+s.ReturnDelay(), s.Baud(), s.version()
		st, answers := s.execute(in, unsound)
		st.ID = byte(id)
		answers = answers && (in.ID == dynamixel.Broadcast || int64(in.ID) == id)
		// Reboots and resets wait until the answer has left.
		end := now
		if answers {
			end, _ = t.reply(s, protocol, &st, start, baud)
		}
		if !unsound {
			s.finish(in, end)
		}
	}
}

// roll is the broadcast ping of 2.0: one after another in the order of IDs.
func (t *protocol) roll(in *dynamixel.Instruction, now time.Duration) {
	for id := range int64(253) {
		at := now // two with one ID start together
		for _, s := range t.servos {
			if s.deaf || s.Get(reg.ID) != id {
				continue
			}
			if st, answers := s.execute(in, false); answers {
				end, _ := t.reply(s, 2, &st, at+s.ReturnDelay(), s.Baud())
				now = max(now, end)
			}
		}
	}
}

// turns is a sync or bulk read: each servo of the list answers when the one before it has.
func (t *protocol) turns(in *dynamixel.Instruction, now time.Duration) {
	for i := range in.Blocks {
		addr, size := part(in, i)
		whole, end := false, now
		for _, s := range t.servos {
			if s.deaf || s.Get(reg.ID) != int64(in.Blocks[i].ID) || !s.supports(in.Op) {
				continue
			}
			if st, answers := s.readFor(addr, size); answers {
				e, ok := t.reply(s, s.version(), &st, now+s.ReturnDelay(), s.Baud())
				whole, end = whole || ok, max(end, e)
			}
		}
		// Those further down the list wait for a whole answer.
		if now = end; !whole {
			if t.bus.Timing().SkipSilent == 0 {
				return
			}
			now += t.bus.Timing().SkipSilent
		}
	}
}

// part is the register range requested of servo i in a sync or bulk read.
func part(in *dynamixel.Instruction, i int) (addr, size int) {
	if in.Op == dynamixel.SyncRead || in.Op == dynamixel.FastSyncRead {
		return int(in.Addr), int(in.Size)
	}
	return int(in.Blocks[i].Addr), int(in.Blocks[i].Size)
}

// fastFirmware is the first firmware of X servos that takes part in fast reads; older ones are silent.
const fastFirmware = 45

// supports reports whether the model takes part in an instruction of many.
func (s *device) supports(op dynamixel.Op) bool {
	switch op {
	case dynamixel.BulkRead: // AX-12A does not
		return s.model.BulkRead
	case dynamixel.FastSyncRead, dynamixel.FastBulkRead:
		return s.model.FastRead && s.Get(reg.Firmware) >= fastFirmware
	}
	return true
}

// fast is a fast read: one packet, to which each servo adds its part directly after the previous one. The first servo
// sends the length of the whole packet, so a missing servo makes it too short.
func (t *protocol) fast(in *dynamixel.Instruction, now time.Duration) {
	f := fastAnswer{start: now, baud: t.bus.Host()}
	length := 1
	for i := range in.Blocks {
		_, n := part(in, i)
		length += 4 + n
	}
	if length > maxFast {
		return
	}
	// The packet is encoded as if all servos replied, so that each CRC covers the right bytes; then it is truncated.
	t.parts, t.data, t.bad = t.parts[:0], t.data[:0], t.bad[:0]
	for i := range in.Blocks {
		t.addPart(&f, in, i, now)
	}
	if f.size == 0 {
		return // the first servo, which sends the header, does not reply
	}
	t.out = dynamixel.AppendFastStatus(t.out[:0], t.parts)
	for _, at := range t.bad {
		t.out[at] ^= 0xFF
	}
	t.bus.Put(t.out[:f.size], f.start, f.baud)
}

// maxFast bounds the length of a common answer, bytes; no receiver takes longer ones.
const maxFast = 4 * dynamixel.MaxLength2

// fastAnswer is a common answer in the making.
type fastAnswer struct {
	start  time.Duration
	baud   int
	size   int  // bytes that really go out
	silent bool // a servo did not add its part: those after it do not either
}

// addPart adds the reply of servo i of the list, or zeros that are cut off before sending.
func (t *protocol) addPart(f *fastAnswer, in *dynamixel.Instruction, i int, now time.Duration) {
	addr, n := part(in, i)
	st := dynamixel.Status{ID: in.Blocks[i].ID}
	from, present := len(t.data), 0
	for _, s := range t.servos {
		if f.silent || s.deaf || s.Get(reg.ID) != int64(st.ID) || !s.supports(in.Op) {
			continue
		}
		got, answers := s.readFor(addr, n)
		if !answers || len(got.Data) != n {
			continue // a part of another length would break the packet
		}
		if present++; present > 1 {
			t.bad = append(t.bad, f.size-1) // two at once
			continue
		}
		st.Error = got.Error
		t.data = append(t.data, got.Data...)
		t.sendPart(f, s, n, now)
	}
	if present == 0 { // zeros in place of the part, which is cut off later
		f.silent = true
		t.data = append(t.data, make([]byte, n)...)
	}
	st.Data = t.data[from : from+n]
	t.parts = append(t.parts, st)
}

// sendPart accounts for one servo's part of n bytes of data and for its faults.
func (t *protocol) sendPart(f *fastAnswer, s *device, n int, now time.Duration) {
	// The first part brings the header and the only delay.
	if f.size == 0 {
		f.start, f.baud, f.size = now+s.ReturnDelay()+t.bus.Timing().Reply, s.Baud(), 8
	}
	f.size += 4 + n
	if p := t.bus.FaultOccurs(wire.Delayed, s.Servo, now); p != nil {
		f.start += p.Delay
	}
	if t.bus.FaultOccurs(wire.CRC, s.Servo, now) != nil || t.bus.FaultOccurs(wire.DuplicateID, s.Servo, now) != nil {
		t.bad = append(t.bad, f.size-1)
	}
	// Cut within its data and CRC.
	if t.bus.FaultOccurs(wire.Truncated, s.Servo, now) != nil {
		f.size -= 2 + n/2
		f.silent = true
	}
}

// writes is a sync or bulk write. No servo answers, not even with an error.
func (t *protocol) writes(in *dynamixel.Instruction) {
	for i := range in.Blocks {
		x := &in.Blocks[i]
		addr := in.Addr
		if in.Op == dynamixel.BulkWrite {
			addr = x.Addr
		}
		for _, s := range t.servos {
			if !s.deaf && s.meant(x.ID) {
				s.write(int(addr), x.Data)
			}
		}
	}
}

// reply sends the reply of s, ready to send at start, with the effects of its faults. It returns the time when the last
// byte ends, and whether the next servo of a list accepts it as a reply.
func (t *protocol) reply(s *device, protocol int, st *dynamixel.Status, start time.Duration, baud int) (time.Duration,
	bool) {
	sent := t.bus.Answer(s.Servo, st.Data, start, baud, func() []byte {
		if protocol == 1 {
			t.out = dynamixel.AppendStatus1(t.out[:0], st)
		} else {
			t.out = dynamixel.AppendStatus2(t.out[:0], st)
		}
		return t.out
	})
	return sent.End, sent.Whole
}
