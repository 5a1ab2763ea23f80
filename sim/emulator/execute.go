package emulator

import (
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
	"time"

	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// execute hands one instruction, whose last byte ended at now, to the servos that it is for and sends their answers.
func (b *Bus) execute(protocol int, in *dynamixel.Instruction, unsound bool, now time.Duration) {
	// Who hears it is settled first: obeying may change IDs and rates.
	b.update(now)
	for _, s := range b.servos {
		s.deaf = s.protocol() != protocol || !b.canReceive(s, now)
		if !s.deaf && (in.ID == dynamixel.Broadcast || s.meant(in.ID)) {
			s.heard = now
		}
	}
	// What cannot be read is refused by the one it is for, and by nobody where it is for all.
	switch {
	case unsound && in.ID == dynamixel.Broadcast:
	case unsound:
		b.single(in, true, now)
	case in.Op == dynamixel.Ping && in.ID == dynamixel.Broadcast && protocol == 2:
		b.roll(in, now)
	case in.Op == dynamixel.SyncRead || in.Op == dynamixel.BulkRead:
		b.turns(in, now)
	case in.Op == dynamixel.FastSyncRead || in.Op == dynamixel.FastBulkRead:
		b.fast(in, now)
	case in.Op == dynamixel.SyncWrite || in.Op == dynamixel.BulkWrite:
		b.writes(in)
	default:
		b.single(in, false, now)
	}
}

// single is every instruction to one servo, or to all at once: those that answer do so without regard for others.
func (b *Bus) single(in *dynamixel.Instruction, unsound bool, now time.Duration) {
	for _, s := range b.servos {
		if s.deaf || in.ID != dynamixel.Broadcast && !s.meant(in.ID) {
			continue
		}
		// The answer goes out as the servo was when it was asked: old ID, old rate, old delay. A shadow ID is obeyed
		// but not answered for.
		id, start, baud, protocol := s.get(rID), now+s.returnDelay(), s.baud(), s.protocol()
		st, answers := s.execute(in, unsound)
		st.ID = byte(id)
		answers = answers && (in.ID == dynamixel.Broadcast || int64(in.ID) == id)
		// Reboots and resets wait until the answer has left.
		end := now
		if answers {
			end, _ = b.reply(s, protocol, &st, start, baud)
		}
		if !unsound {
			s.finish(in, end)
		}
	}
}

// roll is the broadcast ping of 2.0: one after another in the order of IDs.
func (b *Bus) roll(in *dynamixel.Instruction, now time.Duration) {
	for id := range int64(253) {
		at := now // two with one ID start together
		for _, s := range b.servos {
			if s.deaf || s.get(rID) != id {
				continue
			}
			if st, answers := s.execute(in, false); answers {
				end, _ := b.reply(s, 2, &st, at+s.returnDelay(), s.baud())
				now = max(now, end)
			}
		}
	}
}

// turns is a sync or bulk read: each servo of the list answers when the one before it has.
func (b *Bus) turns(in *dynamixel.Instruction, now time.Duration) {
	for i := range in.Blocks {
		addr, size := part(in, i)
		whole, end := false, now
		for _, s := range b.servos {
			if s.deaf || s.get(rID) != int64(in.Blocks[i].ID) || !s.knows(in.Op) {
				continue
			}
			if st, answers := s.readFor(addr, size); answers {
				e, ok := b.reply(s, s.protocol(), &st, now+s.returnDelay(), s.baud())
				whole, end = whole || ok, max(end, e)
			}
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

// part is what servo i of a sync or bulk read is asked for.
func part(in *dynamixel.Instruction, i int) (addr, size int) {
	if in.Op == dynamixel.SyncRead || in.Op == dynamixel.FastSyncRead {
		return int(in.Addr), int(in.Size)
	}
	return int(in.Blocks[i].Addr), int(in.Blocks[i].Size)
}

// fastFirmware is the first firmware of X servos that takes part in fast reads; older ones are silent.
const fastFirmware = 45

// knows reports whether the model takes part in an instruction of many.
func (s *Servo) knows(op dynamixel.Op) bool {
	switch op {
	case dynamixel.BulkRead: // AX-12A does not
		return s.model.BulkRead
	case dynamixel.FastSyncRead, dynamixel.FastBulkRead:
		return s.model.FastRead && s.get(rFirmware) >= fastFirmware
	}
	return true
}

// fast is a fast read: one packet, to which each servo adds its part as soon as the one before it has. The first one
// sends the length of the whole, so that one missing leaves the packet short.
func (b *Bus) fast(in *dynamixel.Instruction, now time.Duration) {
	f := fastAnswer{start: now, baud: b.host}
	length := 1
	for i := range in.Blocks {
		_, n := part(in, i)
		length += 4 + n
	}
	if length > maxFast {
		return
	}
	// The whole is encoded as if everybody were there, so that each CRC covers what it would; then it is cut.
	b.parts, b.data, b.bad = b.parts[:0], b.data[:0], b.bad[:0]
	for i := range in.Blocks {
		b.addPart(&f, in, i, now)
	}
	if f.size == 0 {
		return // the one that would send the header is silent
	}
	b.packet = dynamixel.AppendFastStatus(b.packet[:0], b.parts)
	for _, at := range b.bad {
		b.packet[at] ^= 0xFF
	}
	b.path.Put(b.packet[:f.size], f.start, f.baud)
}

// maxFast bounds the length of a common answer, bytes; no receiver takes longer ones.
const maxFast = 4 * dynamixel.MaxLength2

// fastAnswer is a common answer in the making.
type fastAnswer struct {
	start  time.Duration
	baud   int
	size   int  // bytes that really go out
	silent bool // somebody did not add his part: nobody after him does
}

// addPart adds what servo i of the list says, or zeros that nobody will see.
func (b *Bus) addPart(f *fastAnswer, in *dynamixel.Instruction, i int, now time.Duration) {
	addr, n := part(in, i)
	st := dynamixel.Status{ID: in.Blocks[i].ID}
	from, present := len(b.data), 0
	for _, s := range b.servos {
		if f.silent || s.deaf || s.get(rID) != int64(st.ID) || !s.knows(in.Op) {
			continue
		}
		got, answers := s.readFor(addr, n)
		if !answers || len(got.Data) != n {
			continue // a part of another length would break the packet
		}
		if present++; present > 1 {
			b.bad = append(b.bad, f.size-1) // two at once
			continue
		}
		st.Error = got.Error
		b.data = append(b.data, got.Data...)
		b.sendPart(f, s, n, now)
	}
	if present == 0 { // zeros stand in for what will be cut off
		f.silent = true
		b.data = append(b.data, make([]byte, n)...)
	}
	st.Data = b.data[from : from+n]
	b.parts = append(b.parts, st)
}

// sendPart accounts for one servo's part of n bytes of data and for its faults.
func (b *Bus) sendPart(f *fastAnswer, s *Servo, n int, now time.Duration) {
	// The first part brings the header and the only delay.
	if f.size == 0 {
		f.start, f.baud, f.size = now+s.returnDelay()+b.timing.Reply, s.baud(), 8
	}
	f.size += 4 + n
	if p := b.faultOccurs(wire.Delayed, s, now); p != nil {
		f.start += p.Delay
	}
	if b.faultOccurs(wire.CRC, s, now) != nil || b.faultOccurs(wire.DuplicateID, s, now) != nil {
		b.bad = append(b.bad, f.size-1)
	}
	// Cut within its data and CRC.
	if b.faultOccurs(wire.Truncated, s, now) != nil {
		f.size -= 2 + n/2
		f.silent = true
	}
}

// writes is a sync or bulk write. Nobody answers, not even to say that he refuses.
func (b *Bus) writes(in *dynamixel.Instruction) {
	for i := range in.Blocks {
		x := &in.Blocks[i]
		addr := in.Addr
		if in.Op == dynamixel.BulkWrite {
			addr = x.Addr
		}
		for _, s := range b.servos {
			if !s.deaf && s.meant(x.ID) {
				s.write(int(addr), x.Data)
			}
		}
	}
}

// reply sends the answer of s, which is ready to leave at start, with what its faults make of it. It returns when the
// last byte ends, and whether the next servo of a list takes it for an answer.
func (b *Bus) reply(s *Servo, protocol int, st *dynamixel.Status, start time.Duration, baud int) (time.Duration, bool) {
	b.packet = appendStatus(b.packet[:0], protocol, st)
	sent := b.transmit(s, b.packet, start, baud)
	if sent.doubled {
		// The twin answers something else at the same time; its low bits win.
		b.data = b.data[:0]
		for _, c := range st.Data {
			b.data = append(b.data, ^c)
		}
		twin := dynamixel.Status{ID: st.ID, Error: st.Error, Data: b.data}
		b.packet = appendStatus(b.packet[:0], protocol, &twin)
		b.path.Put(b.packet, sent.start, baud)
	}
	return sent.end, sent.whole
}

// sent is what became of an answer.
type sent struct {
	start, end time.Duration // of its bytes
	whole      bool          // it was not cut short
	doubled    bool          // a servo with the same ID answers at the same time: the vendor knows what
}

// transmit puts a whole answer of s on the wire, which is ready to leave at start, with what its faults make of it.
func (b *Bus) transmit(s *Servo, packet []byte, start time.Duration, baud int) sent {
	// The order matters to the dice: each fault throws its own, once an answer.
	start += b.timing.Reply
	if p := b.faultOccurs(wire.Delayed, s, b.Time()); p != nil {
		start += p.Delay
	}
	n, whole := len(packet), true
	// The last byte of a packet is of its checksum, where it has one.
	if b.faultOccurs(wire.CRC, s, b.Time()) != nil {
		packet[n-1] ^= 0xFF
	}
	// At least one byte goes out, and never all.
	if p := b.faultOccurs(wire.Truncated, s, b.Time()); p != nil {
		n, whole = 1+p.Dice.IntN(n-1), false
	}
	end := b.path.Put(packet[:n], start, baud)
	return sent{start, end, whole, b.faultOccurs(wire.DuplicateID, s, b.Time()) != nil}
}

// appendStatus encodes an answer in the protocol that it was asked in.
func appendStatus(dst []byte, protocol int, st *dynamixel.Status) []byte {
	if protocol == 1 {
		return dynamixel.AppendStatus1(dst, st)
	}
	return dynamixel.AppendStatus2(dst, st)
}
