package dynamixel

import (
	"fmt"
	"strings"

	"github.com/halyard-robotics/halyard/servo"
)

// explain is servo.Traits.Explain of a protocol.
func explain(protocol int) func(asked, data []byte, host bool, model func(id int) servo.Model) []string {
	return func(asked, data []byte, host bool, model func(id int) servo.Model) []string {
		if !host {
			return explainReplies(protocol, lastRead(protocol, asked), data, model)
		}
		p := NewParser(protocol, FromHost)
		var k Packet
		return servo.ExplainPackets(data, p.Feed, func() bool { return p.Next(&k) }, func() string {
			in, err := k.instruction(protocol)
			if err != nil {
				return fmt.Sprintf("%v id %d: %v", in.Op, in.ID, err)
			}
			return explainInstruction(in, model)
		})
	}
}

// instruction reads p as an instruction of a protocol.
func (p *Packet) instruction(protocol int) (in *Instruction, err error) {
	in = &Instruction{}
	if protocol == 1 {
		return in, p.Instruction1(in)
	}
	return in, p.Instruction2(in)
}

// lastRead is the last instruction in asked that has data in its replies; nil if asked has no such instruction.
func lastRead(protocol int, asked []byte) (last *Instruction) {
	p := NewParser(protocol, FromHost)
	var k Packet
	for range servo.Packets(asked, p.Feed, func() bool { return p.Next(&k) }) {
		switch in, err := k.instruction(protocol); in.Op {
		case Read, SyncRead, FastSyncRead, BulkRead, FastBulkRead:
			if err == nil {
				last = in
			}
		}
	}
	return last
}

func explainInstruction(in *Instruction, model func(id int) servo.Model) string {
	text := in.Op.String()
	if in.ID != Broadcast {
		text += fmt.Sprintf(" id %d", in.ID)
	}
	m := model(int(in.ID))
	var ids []byte
	var each []string
	for i := range in.Blocks {
		b := &in.Blocks[i]
		ids = append(ids, b.ID)
		addr, of := int(b.Addr), model(int(b.ID))
		if in.Op == SyncWrite {
			addr = int(in.Addr)
		}
		if b.Data != nil {
			each = append(each, fmt.Sprintf("id %d: %s", b.ID, servo.Fields(of, addr, b.Data)))
		} else {
			each = append(each, fmt.Sprintf("id %d: %s", b.ID, servo.FieldNames(of, addr, int(b.Size))))
		}
	}
	switch in.Op {
	case Read:
		return text + ": " + servo.FieldNames(m, int(in.Addr), int(in.Size))
	case Write, RegWrite:
		return text + ": " + servo.Fields(m, int(in.Addr), in.Data)
	case SyncRead, FastSyncRead:
		if len(ids) > 0 {
			m = model(int(ids[0]))
		}
		return fmt.Sprintf("%s ids %s: %s", text, servo.JoinIDs(ids), servo.FieldNames(m, int(in.Addr), int(in.Size)))
	case SyncWrite, BulkRead, FastBulkRead, BulkWrite:
		return text + " " + strings.Join(each, "; ")
	}
	if len(in.Data) > 0 {
		text += fmt.Sprintf(": % x", in.Data)
	}
	return text
}

func explainReplies(protocol int, read *Instruction, data []byte, model func(id int) servo.Model) []string {
	// asked is where the data of a reply of id begins, and how many bytes.
	asked := func(id byte) (addr, size int) {
		if read == nil {
			return -1, 0
		}
		if read.Op == BulkRead || read.Op == FastBulkRead {
			for i := range read.Blocks {
				if read.Blocks[i].ID == id {
					return int(read.Blocks[i].Addr), int(read.Blocks[i].Size)
				}
			}
			return -1, 0
		}
		return int(read.Addr), int(read.Size)
	}
	reply := func(s *Status) string {
		text := fmt.Sprintf("id %d:", s.ID)
		if s.Error != 0 {
			text += fmt.Sprintf(" error %02x", s.Error)
		}
		switch addr, _ := asked(s.ID); {
		case len(s.Data) == 0:
			return text + " ok"
		case addr < 0:
			return text + fmt.Sprintf(" % x", s.Data)
		default:
			return text + " " + servo.Fields(model(int(s.ID)), addr, s.Data)
		}
	}
	p := NewParser(protocol, FromServos)
	var k Packet
	return servo.ExplainPackets(data, p.Feed, func() bool { return p.Next(&k) }, func() string {
		s, ok := k.Status1(), true
		if protocol == 2 {
			s, ok = k.Status2()
		}
		switch {
		case !ok:
			return fmt.Sprintf("id %d: % x", k.ID, k.Params)
		case s.ID != Broadcast || protocol == 1:
			return reply(&s)
		}
		// A fast answer: each part has its error byte, id, data and CRC; the last CRC is the packet's own.
		var parts []string
		for rest := k.Params; len(rest) > 2; {
			_, size := asked(rest[1])
			if size == 0 || len(rest) < 2+size {
				break
			}
			parts = append(parts, reply(&Status{ID: rest[1], Error: rest[0], Data: rest[2 : 2+size]}))
			rest = rest[min(len(rest), 4+size):]
		}
		return strings.Join(parts, "; ")
	})
}
