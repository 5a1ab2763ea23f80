package dynamixel

import "encoding/binary"

// crcTables are CRC-16 of polynomial 8005, initial value 0, most significant bit first, nothing reflected: [k] is of a
// byte with k zero bytes behind it.
var crcTables = makeCRCTables()

func makeCRCTables() (t [4][256]uint16) {
	for i := range t[0] {
		v := uint16(i) << 8
		for range 8 {
			carry := v&0x8000 != 0
			if v <<= 1; carry {
				v ^= 0x8005
			}
		}
		t[0][i] = v
	}
	for k := 1; k < len(t); k++ {
		for i, v := range t[k-1] {
			t[k][i] = v<<8 ^ t[0][v>>8]
		}
	}
	return t
}

// crc16 continues crc over p, four bytes at a time: byte by byte each step would wait for the previous one.
func crc16(crc uint16, p []byte) uint16 {
	t := &crcTables
	for ; len(p) >= 4; p = p[4:] {
		crc = t[3][byte(crc>>8)^p[0]] ^ t[2][byte(crc)^p[1]] ^ t[1][p[2]] ^ t[0][p[3]]
	}
	for _, b := range p {
		crc = crc<<8 ^ t[0][byte(crc>>8)^b]
	}
	return crc
}

// AppendInstruction2 appends in as a protocol 2.0 packet, stuffed. The caller keeps it within MaxLength2.
func AppendInstruction2(dst []byte, in *Instruction) []byte {
	le := binary.LittleEndian
	start := len(dst)
	// Length and CRC come last, over the stuffed bytes.
	dst = append(dst, 0xFF, 0xFF, 0xFD, 0, in.ID, 0, 0, byte(in.Op))
	switch in.Op {
	case Read:
		dst = le.AppendUint16(le.AppendUint16(dst, in.Addr), in.Size)
	case Write, RegWrite:
		dst = append(le.AppendUint16(dst, in.Addr), in.Data...)
	case SyncRead, FastSyncRead:
		dst = le.AppendUint16(le.AppendUint16(dst, in.Addr), in.Size)
		for i := range in.Blocks {
			dst = append(dst, in.Blocks[i].ID)
		}
	case SyncWrite:
		dst = le.AppendUint16(le.AppendUint16(dst, in.Addr), uint16(syncSize(in)))
		for i := range in.Blocks {
			dst = append(append(dst, in.Blocks[i].ID), in.Blocks[i].Data...)
		}
	case BulkRead, FastBulkRead:
		for i := range in.Blocks {
			b := &in.Blocks[i]
			dst = le.AppendUint16(le.AppendUint16(append(dst, b.ID), b.Addr), b.Size)
		}
	case BulkWrite:
		for i := range in.Blocks {
			b := &in.Blocks[i]
			dst = le.AppendUint16(le.AppendUint16(append(dst, b.ID), b.Addr), uint16(len(b.Data)))
			dst = append(dst, b.Data...)
		}
	default:
		dst = append(dst, in.Data...)
	}
	return seal2(dst, start)
}

// AppendStatus2 appends the answer of one servo, stuffed.
func AppendStatus2(dst []byte, s *Status) []byte {
	start := len(dst)
	dst = append(dst, 0xFF, 0xFF, 0xFD, 0, s.ID, 0, 0, statusOp, s.Error)
	dst = append(dst, s.Data...)
	return seal2(dst, start)
}

// seal2 stuffs the packet that begins at start, fills in its length and appends its CRC.
func seal2(dst []byte, start int) []byte {
	dst = stuff(dst, start+7)
	binary.LittleEndian.PutUint16(dst[start+5:], uint16(len(dst)-start-5))
	return binary.LittleEndian.AppendUint16(dst, crc16(0, dst[start:]))
}

// stuff inserts one FD after every FF FF FD at or after from, in place and from the back so that each byte moves once.
func stuff(dst []byte, from int) []byte {
	// Count first: nearly no packet needs stuffing.
	n := 0
	for i := from + 2; i < len(dst); i++ {
		if dst[i] == 0xFD && dst[i-1] == 0xFF && dst[i-2] == 0xFF {
			n++
		}
	}
	if n == 0 {
		return dst
	}
	// Then move from the back: to is always ahead of src, so no byte is overwritten before it was read. They meet after
	// the last insertion.
	src := len(dst) - 1
	for range n {
		dst = append(dst, 0)
	}
	for to := len(dst) - 1; to > src; src, to = src-1, to-1 {
		if dst[src] == 0xFD && dst[src-1] == 0xFF && dst[src-2] == 0xFF {
			dst[to] = 0xFD
			to--
		}
		dst[to] = dst[src]
	}
	return dst
}

// unstuff removes the FD after every FF FF FD of p, in place. A missing one is forgiven, as by DynamixelSDK.
func unstuff(p []byte) []byte {
	to := 0
	for i := 0; i < len(p); i++ {
		p[to] = p[i]
		to++
		// Compare the last three output bytes, not those before i: the removed FD must not count for the next match.
		if p[i] == 0xFD && to >= 3 && p[to-2] == 0xFF && p[to-3] == 0xFF && i+1 < len(p) && p[i+1] == 0xFD {
			i++
		}
	}
	return p[:to]
}

// Instruction2 reads p as a protocol 2.0 instruction into in, whose Blocks are reused; Data stays p's memory.
func (p *Packet) Instruction2(in *Instruction) error {
	*in = Instruction{ID: p.ID, Op: Op(p.Code), Blocks: in.Blocks[:0]}
	// Sizes are checked before anything is read: a packet with a good CRC may still be nonsense.
	le, a := binary.LittleEndian, p.Params
	switch {
	case in.Op.isBare():
		if len(a) > 0 {
			return errShape
		}
	case in.Op.takesOption():
		if len(a) == 0 {
			return errShort
		}
		in.Data = a
	case in.Op == BulkRead || in.Op == FastBulkRead:
		if len(a) == 0 || len(a)%5 != 0 {
			return errShape
		}
		for ; len(a) > 0; a = a[5:] {
			in.Blocks = append(in.Blocks, Block{ID: a[0], Addr: le.Uint16(a[1:]), Size: le.Uint16(a[3:])})
		}
	case in.Op == BulkWrite:
		return in.splitBulkWrite(a)
	case in.Op == Write || in.Op == RegWrite:
		if len(a) < 3 {
			return errShort
		}
		in.Addr, in.Data = le.Uint16(a), a[2:]
	case in.Op == Read || in.Op.isSync():
		if len(a) < 4 {
			return errShort
		}
		in.Addr, in.Size, a = le.Uint16(a), le.Uint16(a[2:]), a[4:]
		switch {
		case in.Op == SyncWrite:
			// Decoded blocks have their own data; an additional size would be redundant.
			size := int(in.Size)
			in.Size = 0
			return in.splitSyncWrite(size, a)
		case in.Op == Read && len(a) > 0:
			return errShape
		case in.Op != Read && len(a) == 0:
			return errShort
		}
		for _, id := range a {
			in.Blocks = append(in.Blocks, Block{ID: id})
		}
	default:
		return errUnknown
	}
	return nil
}

// splitBulkWrite cuts a into {id addr size data} blocks.
func (in *Instruction) splitBulkWrite(a []byte) error {
	for len(a) > 0 {
		if len(a) < 5 {
			return errShape
		}
		// The size is the sender's word: it may point past the end.
		n := 5 + int(binary.LittleEndian.Uint16(a[3:]))
		if n == 5 || n > len(a) {
			return errShape
		}
		b := Block{ID: a[0], Addr: binary.LittleEndian.Uint16(a[1:]), Data: a[5:n]}
		in.Blocks = append(in.Blocks, b)
		a = a[n:]
	}
	if len(in.Blocks) == 0 {
		return errShort
	}
	return nil
}

// Status2 reads p as a protocol 2.0 answer; false when it is too short to be one. Data stays p's memory.
func (p *Packet) Status2() (Status, bool) {
	if p.Code != statusOp || len(p.Params) < 1 {
		return Status{}, false
	}
	return Status{ID: p.ID, Error: p.Params[0], Data: p.Params[1:]}, true
}
