package dynamixel

import "github.com/halyard-robotics/halyard/servo"

// AppendInstruction1 appends in as a protocol 1.0 packet. Instructions that 1.0 does not have are encoded as a bare
// code with in.Data, which a servo answers with an instruction error. The caller keeps addresses, sizes and the whole
// packet within a byte (MaxLength1).
func AppendInstruction1(dst []byte, in *Instruction) []byte {
	start := len(dst)
	// The length is filled in by seal1, when it is known.
	dst = append(dst, 0xFF, 0xFF, in.ID, 0, byte(in.Op))
	switch in.Op {
	case Read:
		dst = append(dst, byte(in.Addr), byte(in.Size))
	case Write, RegWrite:
		dst = append(dst, byte(in.Addr))
		dst = append(dst, in.Data...)
	case SyncWrite:
		// One address and one size for all; then each servo's id and bytes.
		dst = append(dst, byte(in.Addr), byte(syncSize(in)))
		for i := range in.Blocks {
			dst = append(dst, in.Blocks[i].ID)
			dst = append(dst, in.Blocks[i].Data...)
		}
	case BulkRead:
		// The zero byte has no documented meaning.
		// Note the order: length, id, address; 2.0 has id, address, length.
		dst = append(dst, 0)
		for i := range in.Blocks {
			b := &in.Blocks[i]
			dst = append(dst, byte(b.Size), b.ID, byte(b.Addr))
		}
	default:
		dst = append(dst, in.Data...)
	}
	return seal1(dst, start)
}

// AppendStatus1 appends the answer of one servo.
func AppendStatus1(dst []byte, s *Status) []byte {
	start := len(dst)
	dst = append(dst, 0xFF, 0xFF, s.ID, 0, s.Error)
	dst = append(dst, s.Data...)
	return seal1(dst, start)
}

// seal1 fills in the length of the packet that begins at start and appends its checksum.
func seal1(dst []byte, start int) []byte {
	dst[start+3] = byte(len(dst) - start - 3)
	return append(dst, servo.Complement(dst[start+2:]))
}

// syncSize is the number of bytes a servo of a sync write, by its first block.
func syncSize(in *Instruction) int {
	if len(in.Blocks) == 0 {
		return int(in.Size)
	}
	return len(in.Blocks[0].Data)
}

// Instruction1 reads p as a protocol 1.0 instruction into in, whose Blocks are reused; Data stays p's memory.
func (p *Packet) Instruction1(in *Instruction) error {
	*in = Instruction{ID: p.ID, Op: Op(p.Code), Blocks: in.Blocks[:0]}
	a := p.Params
	switch {
	// 1.0's factory reset always resets all registers, so it has no option.
	case in.Op.isBare() || in.Op == FactoryReset:
		if len(a) > 0 {
			return errShape
		}
	case in.Op == Read:
		if len(a) != 2 {
			return errShort
		}
		in.Addr, in.Size = uint16(a[0]), uint16(a[1])
	case in.Op == Write || in.Op == RegWrite:
		if len(a) < 2 {
			return errShort
		}
		in.Addr, in.Data = uint16(a[0]), a[1:]
	case in.Op == SyncWrite:
		if len(a) < 2 {
			return errShort
		}
		in.Addr = uint16(a[0])
		return in.splitSyncWrite(int(a[1]), a[2:])
	case in.Op == BulkRead:
		if len(a) < 1 {
			return errShort
		}
		// The leading zero is not checked: servos do not either.
		if a = a[1:]; len(a)%3 != 0 {
			return errShape
		}
		for ; len(a) > 0; a = a[3:] {
			in.Blocks = append(in.Blocks, Block{Size: uint16(a[0]), ID: a[1], Addr: uint16(a[2])})
		}
	default:
		return errUnknown
	}
	return nil
}

// splitSyncWrite cuts a into blocks of one ID and size bytes.
func (in *Instruction) splitSyncWrite(size int, a []byte) error {
	// A size of zero would divide anything into anything.
	if size == 0 || len(a)%(size+1) != 0 {
		return errShape
	}
	for ; len(a) > 0; a = a[size+1:] {
		in.Blocks = append(in.Blocks, Block{ID: a[0], Data: a[1 : size+1]})
	}
	if len(in.Blocks) == 0 {
		return errShort
	}
	return nil
}

// Status1 reads p as a protocol 1.0 answer. Data stays p's memory.
func (p *Packet) Status1() Status { return Status{ID: p.ID, Error: p.Code, Data: p.Params} }
