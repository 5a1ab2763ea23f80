package dynamixel

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/halyard-robotics/halyard/servo/servotest"
)

// packetCase is one packet on the wire with what it says; exactly one of in and st is set.
type packetCase struct {
	name string
	wire string
	in   *Instruction
	st   *Status
}

// cases1 are the vectors of the e-Manual's protocol 1.0 page and of DynamixelSDK.
func cases1() []packetCase {
	return []packetCase{
		{"ping", "FF FF 01 02 01 FB", &Instruction{ID: 1, Op: Ping}, nil},
		{"ping all", "FF FF FE 02 01 FE", &Instruction{ID: 0xFE, Op: Ping}, nil},
		{"ping answer", "FF FF 01 02 00 FC", nil, &Status{ID: 1}},
		{"read", "FF FF 01 04 02 2B 01 CC", &Instruction{ID: 1, Op: Read, Addr: 43, Size: 1}, nil},
		{"read answer", "FF FF 01 03 00 20 DB", nil, &Status{ID: 1, Data: []byte{0x20}}},
		{"read 8", "FF FF 01 04 02 24 08 CC", &Instruction{ID: 1, Op: Read, Addr: 36, Size: 8}, nil},
		{"write", "FF FF FE 04 03 03 01 F6", &Instruction{ID: 0xFE, Op: Write, Addr: 3, Data: []byte{1}}, nil},
		{"write 100 to 12", "FF FF 01 05 03 0C 64 AA DC",
			&Instruction{ID: 1, Op: Write, Addr: 12, Data: []byte{0x64, 0xAA}}, nil},
		{"write goal and speed", "FF FF 01 07 03 1E 00 02 00 01 D3",
			&Instruction{ID: 1, Op: Write, Addr: 30, Data: []byte{0, 2, 0, 1}}, nil},
		{"reg write", "FF FF 01 05 04 1E F4 01 E2", &Instruction{ID: 1, Op: RegWrite, Addr: 30, Data: []byte{0xF4, 1}},
			nil},
		{"action", "FF FF FE 02 05 FA", &Instruction{ID: 0xFE, Op: Action}, nil},
		{"factory reset", "FF FF 00 02 06 F7", &Instruction{ID: 0, Op: FactoryReset}, nil},
		{"reboot", "FF FF 01 02 08 F4", &Instruction{ID: 1, Op: Reboot}, nil},
		{"reset answer", "FF FF 00 02 00 FD", nil, &Status{ID: 0}},
		{"sync write", "FF FF FE 0E 83 1E 04 00 10 00 50 01 01 20 02 60 03 67",
			&Instruction{ID: 0xFE, Op: SyncWrite, Addr: 30, Blocks: []Block{
				{ID: 0, Data: []byte{0x10, 0, 0x50, 1}}, {ID: 1, Data: []byte{0x20, 2, 0x60, 3}}}}, nil},
		{"bulk read", "FF FF FE 09 92 00 02 01 1E 02 02 24 1D",
			&Instruction{ID: 0xFE, Op: BulkRead,
				Blocks: []Block{{ID: 1, Addr: 30, Size: 2}, {ID: 2, Addr: 36, Size: 2}}}, nil},
		{"bulk answer", "FF FF 01 04 00 00 80 7A", nil, &Status{ID: 1, Data: []byte{0, 0x80}}},
		{"bulk answer 2", "FF FF 02 04 00 00 80 79", nil, &Status{ID: 2, Data: []byte{0, 0x80}}},
		{"overload and heat", "FF FF 01 02 24 D8", nil, &Status{ID: 1, Error: 0x24}},
	}
}

// cases2 are the vectors of the e-Manual's protocol 2.0 page, and of DynamixelSDK where it gives none.
func cases2() []packetCase {
	fe := byte(0xFE)
	return []packetCase{
		{"ping", "FF FF FD 00 01 03 00 01 19 4E", &Instruction{ID: 1, Op: Ping}, nil},
		{"ping answer", "FF FF FD 00 01 07 00 55 00 06 04 26 65 5D", nil, &Status{ID: 1, Data: []byte{6, 4, 0x26}}},
		{"ping all", "FF FF FD 00 FE 03 00 01 31 42", &Instruction{ID: fe, Op: Ping}, nil},
		{"ping answer 2", "FF FF FD 00 02 07 00 55 00 06 04 26 6F 6D", nil, &Status{ID: 2, Data: []byte{6, 4, 0x26}}},
		{"read", "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15", &Instruction{ID: 1, Op: Read, Addr: 132, Size: 4}, nil},
		{"read answer", "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0", nil,
			&Status{ID: 1, Data: []byte{0xA6, 0, 0, 0}}},
		{"write", "FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89",
			&Instruction{ID: 1, Op: Write, Addr: 116, Data: []byte{0, 2, 0, 0}}, nil},
		{"write answer", "FF FF FD 00 01 04 00 55 00 A1 0C", nil, &Status{ID: 1}},
		{"write stuffed", "FF FF FD 00 01 0A 00 03 74 00 FF FF FD FD 00 21 E7",
			&Instruction{ID: 1, Op: Write, Addr: 116, Data: []byte{0xFF, 0xFF, 0xFD, 0}}, nil},
		{"reg write", "FF FF FD 00 01 09 00 04 68 00 C8 00 00 00 AE 8E",
			&Instruction{ID: 1, Op: RegWrite, Addr: 104, Data: []byte{0xC8, 0, 0, 0}}, nil},
		{"action", "FF FF FD 00 01 03 00 05 02 CE", &Instruction{ID: 1, Op: Action}, nil},
		{"factory reset", "FF FF FD 00 01 04 00 06 01 A1 E6", &Instruction{ID: 1, Op: FactoryReset, Data: []byte{1}},
			nil},
		{"reboot", "FF FF FD 00 01 03 00 08 2F 4E", &Instruction{ID: 1, Op: Reboot}, nil},
		{"clear", "FF FF FD 00 01 08 00 10 01 44 58 4C 22 B1 DC",
			&Instruction{ID: 1, Op: Clear, Data: []byte(ClearMultiTurn)}, nil},
		{"backup", "FF FF FD 00 01 08 00 20 01 43 54 52 4C 16 F5",
			&Instruction{ID: 1, Op: Backup, Data: []byte(BackupStore)}, nil},
		{"restore", "FF FF FD 00 01 08 00 20 02 43 54 52 4C 9E F5",
			&Instruction{ID: 1, Op: Backup, Data: []byte(BackupRestore)}, nil},
		{"sync read", "FF FF FD 00 FE 09 00 82 84 00 04 00 01 02 CE FA",
			&Instruction{ID: fe, Op: SyncRead, Addr: 132, Size: 4, Blocks: []Block{{ID: 1}, {ID: 2}}}, nil},
		{"sync answer 2", "FF FF FD 00 02 08 00 55 00 1F 08 00 00 BA BE", nil,
			&Status{ID: 2, Data: []byte{0x1F, 8, 0, 0}}},
		{"sync write", "FF FF FD 00 FE 11 00 83 74 00 04 00 01 96 00 00 00 02 AA 00 00 00 82 87",
			&Instruction{ID: fe, Op: SyncWrite, Addr: 116, Blocks: []Block{
				{ID: 1, Data: []byte{0x96, 0, 0, 0}}, {ID: 2, Data: []byte{0xAA, 0, 0, 0}}}}, nil},
		{"bulk read", "FF FF FD 00 FE 0D 00 92 01 90 00 02 00 02 92 00 01 00 1A 05",
			&Instruction{ID: fe, Op: BulkRead,
				Blocks: []Block{{ID: 1, Addr: 144, Size: 2}, {ID: 2, Addr: 146, Size: 1}}}, nil},
		{"bulk answer", "FF FF FD 00 01 06 00 55 00 77 00 C3 69", nil, &Status{ID: 1, Data: []byte{0x77, 0}}},
		{"bulk answer 2", "FF FF FD 00 02 05 00 55 00 24 8B A9", nil, &Status{ID: 2, Data: []byte{0x24}}},
		{"bulk write", "FF FF FD 00 FE 10 00 93 01 20 00 02 00 A0 00 02 1F 00 01 00 50 B7 68",
			&Instruction{ID: fe, Op: BulkWrite, Blocks: []Block{
				{ID: 1, Addr: 32, Data: []byte{0xA0, 0}}, {ID: 2, Addr: 31, Data: []byte{0x50}}}}, nil},
		{"fast sync read", "FF FF FD 00 FE 0A 00 8A 84 00 04 00 03 07 04 20 F2",
			&Instruction{ID: fe, Op: FastSyncRead, Addr: 132, Size: 4, Blocks: []Block{{ID: 3}, {ID: 7}, {ID: 4}}},
			nil},
		{"fast bulk read", "FF FF FD 00 FE 12 00 9A 03 84 00 04 00 07 90 00 02 00 04 92 00 01 00 56 63",
			&Instruction{ID: fe, Op: FastBulkRead, Blocks: []Block{
				{ID: 3, Addr: 132, Size: 4}, {ID: 7, Addr: 144, Size: 2}, {ID: 4, Addr: 146, Size: 1}}}, nil},
	}
}

const fastAnswer = "FF FF FD 00 FE 19 00 55 00 03 A6 00 00 00 84 08 00 07 1F 08 00 00 16 CA 00 04 FF 03 00 00 D1 9E"

func fastParts() []Status {
	return []Status{{ID: 3, Data: []byte{0xA6, 0, 0, 0}}, {ID: 7, Data: []byte{0x1F, 8, 0, 0}},
		{ID: 4, Data: []byte{0xFF, 3, 0, 0}}}
}

func casesOf(protocol int) []packetCase {
	if protocol == 1 {
		return cases1()
	}
	return cases2()
}

func appendIn(protocol int, dst []byte, in *Instruction) []byte {
	if protocol == 1 {
		return AppendInstruction1(dst, in)
	}
	return AppendInstruction2(dst, in)
}

func appendSt(protocol int, dst []byte, st *Status) []byte {
	if protocol == 1 {
		return AppendStatus1(dst, st)
	}
	return AppendStatus2(dst, st)
}

func readIn(protocol int, k *Packet, in *Instruction) error {
	if protocol == 1 {
		return k.Instruction1(in)
	}
	return k.Instruction2(in)
}

func readSt(protocol int, k *Packet) (Status, bool) {
	if protocol == 1 {
		return k.Status1(), true
	}
	return k.Status2()
}

// same compares what was decoded with what was meant; nil and empty slices are alike.
func same(a, b *Instruction) bool {
	if a.ID != b.ID || a.Op != b.Op || a.Addr != b.Addr || a.Size != b.Size || !bytes.Equal(a.Data, b.Data) ||
		len(a.Blocks) != len(b.Blocks) {
		return false
	}
	for i := range a.Blocks {
		x, y := &a.Blocks[i], &b.Blocks[i]
		if x.ID != y.ID || x.Addr != y.Addr || x.Size != y.Size || !bytes.Equal(x.Data, y.Data) {
			return false
		}
	}
	return true
}

func TestPacketsBothWays(t *testing.T) {
	for _, protocol := range []int{1, 2} {
		var in Instruction // reused, so that stale fields show
		for _, c := range casesOf(protocol) {
			want := servotest.Hex(t, c.wire)
			side, got := FromServos, []byte{0xAA}
			if c.in != nil {
				side, got = FromHost, appendIn(protocol, got, c.in)
			} else {
				got = appendSt(protocol, got, c.st)
			}
			if !bytes.Equal(got[1:], want) || got[0] != 0xAA {
				t.Errorf("protocol %d: %s: encode: got % X, want % X", protocol, c.name, got[1:], want)
			}
			p := NewParser(protocol, side)
			p.Feed(want)
			var k Packet
			if !p.Next(&k) || p.Garbage != 0 || p.Buffered() != 0 {
				t.Errorf("protocol %d: %s: parse: got nothing, want a packet (garbage %d)", protocol, c.name, p.Garbage)
				continue
			}
			if c.in != nil {
				if err := readIn(protocol, &k, &in); err != nil || !same(&in, c.in) {
					t.Errorf("protocol %d: %s: decode: got %+v, %v, want %+v", protocol, c.name, in, err, *c.in)
				}
				continue
			}
			st, ok := readSt(protocol, &k)
			if !ok || st.ID != c.st.ID || st.Error != c.st.Error || !bytes.Equal(st.Data, c.st.Data) {
				t.Errorf("protocol %d: %s: decode: got %+v, want %+v", protocol, c.name, st, *c.st)
			}
		}
	}
}

func TestCRC(t *testing.T) {
	if got := crc16(0, []byte("123456789")); got != 0xFEE8 {
		t.Errorf("crc of 123456789: got %04X, want FEE8", got)
	}
	want := []uint16{0x0000, 0x8005, 0x800F, 0x000A, 0x801B, 0x001E, 0x0014, 0x8011}
	if !reflect.DeepEqual(crcTables[0][:8], want) || crcTables[0][255] != 0x0202 {
		t.Errorf("crc table: got %04X.. %04X, want %04X.. 0202", crcTables[0][:8], crcTables[0][255], want)
	}
	if got := crc16(0, servotest.Hex(t, "FF FF FD 00 2A 03 00 01")); got != 0xD216 {
		t.Errorf("crc of rustypot's ping: got %04X, want D216", got)
	}
}

func TestStuffing(t *testing.T) {
	for _, c := range []struct{ plain, stuffed string }{
		{"FF FF FD", "FF FF FD FD"},
		{"FF FF FD FD", "FF FF FD FD FD"},
		{"FF FF FF FD 00", "FF FF FF FD FD 00"},
		{"FF FF FD FF FF FD", "FF FF FD FD FF FF FD FD"},
		{"FF FD FF FF FD 01", "FF FD FF FF FD FD 01"},
		{"FF FF", "FF FF"},
	} {
		got := stuff(servotest.Hex(t, "01 02"+c.plain), 2)
		if !bytes.Equal(got[2:], servotest.Hex(t, c.stuffed)) {
			t.Errorf("stuff %s: got % X, want %s", c.plain, got[2:], c.stuffed)
		}
		if back := unstuff(servotest.Hex(t, c.stuffed)); !bytes.Equal(back, servotest.Hex(t, c.plain)) {
			t.Errorf("unstuff %s: got % X, want %s", c.stuffed, back, c.plain)
		}
	}
}

func TestFastAnswer(t *testing.T) {
	want := servotest.Hex(t, fastAnswer)
	if got := AppendFastStatus(nil, fastParts()); !bytes.Equal(got, want) {
		t.Errorf("encode: got % X, want % X", got, want)
	}
	p := NewParser(2, FromServos)
	p.Feed(want)
	var k Packet
	if !p.Next(&k) || k.ID != Broadcast || len(k.Params) != 3*8-2 {
		t.Errorf("parse: got %+v, want one packet of 22 parameters", k)
	}
	// However it is cut off, what stands before the cut is found; noise before the header does no harm.
	noisy := append([]byte{0, 0xFF, 0xFF}, want...)
	for n := range len(noisy) + 1 {
		var f FastParts
		wantParts := max(0, n-3-8) / 8
		got := 0
		if f.Start(noisy[:n], 25) {
			for {
				st, ok := f.Next(4)
				if !ok {
					break
				}
				if w := fastParts()[got]; st.ID != w.ID || !bytes.Equal(st.Data, w.Data) {
					t.Fatalf("part %d of %d bytes: got %+v, want %+v", got, n, st, w)
				}
				got++
			}
		}
		if got != wantParts || f.Broken() {
			t.Errorf("%d bytes: got %d parts (broken %v), want %d", n, got, f.Broken(), wantParts)
		}
	}
	// A wrong bit in the second part leaves the first alone.
	want[18] ^= 4
	var f FastParts
	f.Start(want, 25)
	_, first := f.Next(4)
	_, second := f.Next(4)
	_, third := f.Next(4)
	if !first || second || third || !f.Broken() {
		t.Errorf("broken second part: got %v %v %v, want true false false", first, second, third)
	}
}

func TestBadParameters(t *testing.T) {
	for _, c := range []struct {
		protocol int
		name     string
		k        Packet
		want     error
	}{
		{1, "ping with data", Packet{Code: byte(Ping), Params: []byte{1}}, errShape},
		{1, "short read", Packet{Code: byte(Read), Params: []byte{1}}, errShort},
		{1, "write nothing", Packet{Code: byte(Write), Params: []byte{1}}, errShort},
		{1, "sync write of no size", Packet{Code: byte(SyncWrite), Params: []byte{30, 0, 1, 2}}, errShape},
		{1, "uneven sync write", Packet{Code: byte(SyncWrite), Params: []byte{30, 2, 1, 2}}, errShape},
		{1, "sync write without ids", Packet{Code: byte(SyncWrite), Params: []byte{30, 2}}, errShort},
		{1, "empty bulk read", Packet{Code: byte(BulkRead)}, errShort},
		{1, "uneven bulk read", Packet{Code: byte(BulkRead), Params: []byte{0, 1}}, errShape},
		{1, "sync read", Packet{Code: byte(SyncRead), Params: []byte{0, 1}}, errUnknown},
		{2, "factory reset of nothing", Packet{Code: byte(FactoryReset)}, errShort},
		{2, "short read", Packet{Code: byte(Read), Params: []byte{1, 0, 1}}, errShort},
		{2, "long read", Packet{Code: byte(Read), Params: []byte{1, 0, 1, 0, 9}}, errShape},
		{2, "sync read without ids", Packet{Code: byte(SyncRead), Params: []byte{1, 0, 1, 0}}, errShort},
		{2, "bulk read without ids", Packet{Code: byte(BulkRead)}, errShape},
		{2, "bulk write overrun", Packet{Code: byte(BulkWrite), Params: []byte{1, 0, 0, 9, 0, 1}}, errShape},
		{2, "bulk write of nothing", Packet{Code: byte(BulkWrite), Params: []byte{1, 0, 0, 0, 0}}, errShape},
		{2, "bulk write without ids", Packet{Code: byte(BulkWrite)}, errShort},
		{2, "no such code", Packet{Code: 0x77}, errUnknown},
	} {
		var in Instruction
		if err := readIn(c.protocol, &c.k, &in); err != c.want {
			t.Errorf("protocol %d: %s: got %v, want %v", c.protocol, c.name, err, c.want)
		}
	}
	if _, ok := (&Packet{Code: statusOp}).Status2(); ok {
		t.Errorf("status without an error byte: got true, want false")
	}
}

// The CRC over four bytes at a time equals the CRC byte by byte, for any length and any point of continuation.
func TestCRCInSteps(t *testing.T) {
	p := make([]byte, 23)
	for i := range p {
		p[i] = byte(i*73 + 11)
	}
	var want uint16
	for n := range p {
		for cut := range n + 1 {
			if got := crc16(crc16(0, p[:cut]), p[cut:n]); got != want {
				t.Errorf("%d bytes cut at %d: got %04X, want %04X", n, cut, got, want)
			}
		}
		want = want<<8 ^ crcTables[0][byte(want>>8)^p[n]]
	}
}
