package dynamixel

import (
	"os"
	"time"

	"github.com/halyard-robotics/halyard/servo"
)

// fakeServo is a register file that answers like its model in everything that the chain checks.
type fakeServo struct {
	m      *Model
	id     byte
	regs   [1024]byte
	mute   bool      // receives but does not answer
	dead   bool      // no power
	noFast bool      // old firmware: does not take part in fast reads
	fixed  bool      // ignores EEPROM writes
	stuck  *Register // ignores writes to it
	hush   *Register // mute from a write to it on
	noWide bool      // refuses reads across the gaps of its table
	bad    int       // replies to corrupt
	twin   bool      // another servo has its id, and answers after it
	errors byte      // error byte of every answer
	lasts  bool      // the cause of its hardware_error lasts: a restart does not end it
}

func (s *fakeServo) get(name string) int64 { r := s.m.Register(name); return r.Decode(s.regs[r.Addr:]) }
func (s *fakeServo) set(name string, v int64) {
	r := s.m.Register(name)
	copy(s.regs[r.Addr:], r.Append(nil, v))
}

// power gives the servo power: RAM at its defaults, EEPROM as it was.
func (s *fakeServo) power() {
	s.dead = false
	for i := range s.m.Registers {
		if r := &s.m.Registers[i]; r.Access == RAM {
			s.set(r.Name, r.Default)
		}
	}
}

// fakeBus is a line with servos on it, in virtual time. A silent servo in a group read suppresses all replies after it,
// as on the real bus.
type fakeBus struct {
	servos  []*fakeServo
	rate    int
	now     time.Duration
	parser  *Parser
	proto   int
	pending []byte
	writes  []Instruction // every instruction since the last log call, Data and Blocks copied
	late    bool          // the adapter holds the next reply back until the request after it
	held    []byte        // by it
	logging bool
	gone    bool
	last    int // writes until the adapter goes, 0 = never
	closed  int
	in      Instruction
	parts   []Status
}

func newFakeBus(baud int, models ...string) *fakeBus {
	b := &fakeBus{rate: baud, logging: true}
	for i, name := range models {
		s := &fakeServo{m: ModelByName(name), id: byte(i + 1)}
		for k := range s.m.Registers {
			s.set(s.m.Registers[k].Name, s.m.Registers[k].Default)
		}
		s.set("id", int64(s.id))
		s.set("return_delay", 0)
		b.servos = append(b.servos, s)
		b.proto = s.m.Protocol
	}
	b.parser = NewParser(b.proto, FromHost)
	b.parts = make([]Status, 0, len(models))
	return b
}

func (b *fakeBus) Write(p []byte) (int, error) {
	if b.gone {
		return 0, servo.ErrDisconnected
	}
	if b.last--; b.last == 0 {
		b.gone = true
		return 0, servo.ErrDisconnected
	}
	b.now += servo.WireTime(len(p), bitsPerByte, b.rate)
	var k Packet
	for rest := p; len(rest) > 0; {
		rest = rest[b.parser.Feed(rest):]
		for b.parser.Next(&k) {
			if readIn(b.proto, &k, &b.in) == nil {
				b.carryOut(&b.in)
			}
		}
	}
	if b.late {
		b.held, b.pending, b.late = append(b.held, b.pending...), b.pending[:0], false
	} else if len(b.held) > 0 {
		b.held, b.pending = nil, append(b.held, b.pending...)
	}
	return len(p), nil
}

func (b *fakeBus) carryOut(in *Instruction) {
	if b.logging {
		b.writes = append(b.writes, cloneIn(in))
	}
	switch in.Op {
	case SyncWrite, BulkWrite:
		for _, k := range in.Blocks {
			if s := b.find(k.ID); s != nil && !s.dead {
				s.write(max(in.Addr, k.Addr), k.Data)
			}
		}
		return
	case FastSyncRead, FastBulkRead:
		b.fast(in)
		return
	case SyncRead, BulkRead:
		for _, k := range in.Blocks {
			s := b.find(k.ID)
			if s == nil || s.dead || s.mute {
				return
			}
			b.reply(s, s.data(in.Addr+k.Addr, in.Size+k.Size))
		}
		return
	}
	s := b.find(in.ID)
	if s == nil || s.dead {
		return
	}
	switch in.Op {
	case Ping:
		if b.proto == 2 {
			b.reply(s, []byte{byte(s.m.Number), byte(s.m.Number >> 8), 48})
		} else {
			b.reply(s, nil)
		}
	case Read:
		if level := s.get("status_return"); level > 0 {
			b.reply(s, s.data(in.Addr, in.Size))
		}
	case Write:
		s.write(in.Addr, in.Data)
		if s.get("status_return") == 2 {
			b.reply(s, nil)
		}
	case Clear:
		if s.get("torque_enable") == 0 {
			s.set("present_position", (s.get("present_position")%4096+4096)%4096)
		}
		b.reply(s, nil)
	case Reboot:
		s.power()
		if s.lasts {
			b.reply(s, nil)
			return
		}
		if s.m.ErrorCodes == nil {
			s.set("hardware_error", 0)
		}
		s.errors = 0
		b.reply(s, nil)
	}
}

func (s *fakeServo) write(addr uint16, data []byte) {
	if r := s.m.RegisterAt(addr); r == nil || r.Access == EEPROM && (s.fixed || s.get("torque_enable") != 0) {
		return
	}
	var was int64
	if s.stuck != nil {
		was = s.get(s.stuck.Name)
	}
	copy(s.regs[addr:], data)
	s.mute = s.mute || s.hush != nil && addr == s.hush.Addr
	if s.stuck != nil {
		s.set(s.stuck.Name, was)
	}
}

func (s *fakeServo) data(addr, size uint16) []byte {
	if s.noWide && addr == s.m.Register("torque_enable").Addr && size > 4 {
		return nil
	}
	return s.regs[addr : addr+size]
}

func (b *fakeBus) reply(s *fakeServo, data []byte) {
	if s.mute {
		return
	}
	b.pending = appendSt(b.proto, b.pending, &Status{ID: s.id, Error: s.errors, Data: data})
	if s.twin {
		b.pending = appendSt(b.proto, b.pending, &Status{ID: s.id, Error: s.errors, Data: data})
	}
	if s.bad > 0 {
		s.bad--
		b.pending[len(b.pending)-1] ^= 1
	}
}

func (b *fakeBus) fast(in *Instruction) {
	b.parts = b.parts[:0]
	for _, k := range in.Blocks {
		s := b.find(k.ID)
		if s == nil {
			b.parts = append(b.parts, Status{ID: k.ID, Data: make([]byte, in.Size+k.Size)})
			continue
		}
		b.parts = append(b.parts, Status{ID: k.ID, Error: s.errors, Data: s.data(in.Addr+k.Addr, in.Size+k.Size)})
	}
	at := len(b.pending)
	b.pending = AppendFastStatus(b.pending, b.parts)
	at += 8
	for i, k := range in.Blocks {
		s := b.find(k.ID)
		if s == nil || s.dead || s.mute || s.noFast || s.noWide && len(b.parts[i].Data) == 0 {
			if i == 0 {
				at -= 8
			}
			b.pending = b.pending[:at]
			return
		}
		at += 4 + len(b.parts[i].Data)
		if s.bad > 0 {
			s.bad--
			b.pending[at-1] ^= 1
		}
	}
}

func (b *fakeBus) find(id byte) *fakeServo {
	for _, s := range b.servos {
		if s.id == id {
			return s
		}
	}
	return nil
}

func (b *fakeBus) Read(p []byte, timeout time.Duration) (int, error) {
	if b.gone {
		return 0, servo.ErrDisconnected
	}
	if len(b.pending) == 0 {
		b.now += timeout
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, b.pending)
	b.now += servo.WireTime(n, bitsPerByte, b.rate)
	b.pending = b.pending[:copy(b.pending, b.pending[n:])]
	return n, nil
}

func (b *fakeBus) Discard() error {
	if b.gone {
		return servo.ErrDisconnected
	}
	b.pending = b.pending[:0]
	return nil
}
func (b *fakeBus) Now() time.Duration     { return b.now }
func (b *fakeBus) Baud() int              { return b.rate }
func (b *fakeBus) SetBaud(baud int) error { b.rate = baud; return nil }
func (b *fakeBus) Close() error           { b.closed++; return nil }

func cloneIn(in *Instruction) Instruction {
	c := *in
	c.Data = append([]byte(nil), in.Data...)
	c.Blocks = make([]Block, len(in.Blocks))
	for i, k := range in.Blocks {
		c.Blocks[i] = k
		c.Blocks[i].Data = append([]byte(nil), k.Data...)
	}
	return c
}

// ops returns the instructions since the last call, as their names.
func (b *fakeBus) ops() []Op {
	var ops []Op
	for i := range b.writes {
		ops = append(ops, b.writes[i].Op)
	}
	b.writes = b.writes[:0]
	return ops
}
