package dynamixel

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/halyard-robotics/halyard/servo/servotest"
)

// parseAll feeds stream in pieces of n bytes and returns every packet as text, and the parser.
func parseAll(protocol int, side Side, stream []byte, n int) ([]string, *Parser) {
	p := NewParser(protocol, side)
	var got []string
	var k Packet
	for len(stream) > 0 {
		piece := stream[:min(n, len(stream))]
		stream = stream[len(piece):]
		for len(piece) > 0 {
			piece = piece[p.Feed(piece):]
			for p.Next(&k) {
				got = append(got, fmt.Sprintf("%02X %02X % X", k.ID, k.Code, k.Params))
			}
		}
	}
	return got, p
}

func TestParserFindsPacketsInNoise(t *testing.T) {
	for _, c := range []struct {
		name     string
		protocol int
		side     Side
		stream   string
		want     []string
		garbage  uint64
		bad      uint64
	}{
		{"noise before", 1, FromServos, "00 FF 12 FF FF 01 02 00 FC", []string{"01 00 "}, 3, 0},
		{"extra FF before", 1, FromServos, "FF FF FF 01 02 00 FC", []string{"01 00 "}, 1, 0},
		{"header inside data", 1, FromServos, "FF FF 01 06 00 FF FF 01 02 F7", []string{"01 00 FF FF 01 02"}, 0, 0},
		{"true packet inside a bad one", 1, FromServos, "FF FF 01 08 00 FF FF 01 02 00 FC 00", []string{"01 00 "}, 6,
			1},
		{"impossible length", 1, FromServos, "FF FF 01 FB 00 FF FF 01 02 00 FC", []string{"01 00 "}, 5, 0},
		{"length below two", 1, FromServos, "FF FF 01 01 00 FF FF 01 02 00 FC", []string{"01 00 "}, 5, 0},
		{"error byte above 7F", 1, FromServos, "FF FF 01 02 80 7C FF FF 01 02 00 FC", []string{"01 00 "}, 6, 0},
		{"servos do not broadcast", 1, FromServos, "FF FF FE 02 01 FE FF FF 01 02 00 FC", []string{"01 00 "}, 6, 0},
		{"hosts do", 1, FromHost, "FF FF FE 02 01 FE", []string{"FE 01 "}, 0, 0},
		{"two in a row", 1, FromServos, "FF FF 01 02 00 FC FF FF 02 02 00 FB", []string{"01 00 ", "02 00 "}, 0, 0},
		{"noise before", 2, FromServos, "FF FF FD FF FF FD 00 01 04 00 55 00 A1 0C", []string{"01 55 00"}, 3, 0},
		{"bad crc", 2, FromServos, "FF FF FD 00 01 04 00 55 00 A1 0D FF FF FD 00 01 04 00 55 00 A1 0C",
			[]string{"01 55 00"}, 11, 1},
		{"reserved id", 2, FromServos, "FF FF FD 00 FD 04 00 55 00 A1 0C FF FF FD 00 01 04 00 55 00 A1 0C",
			[]string{"01 55 00"}, 11, 0},
		{"hostile length", 2, FromServos, "FF FF FD 00 01 FF FF 55 FF FF FD 00 01 04 00 55 00 A1 0C",
			[]string{"01 55 00"}, 8, 0},
		{"own echo", 2, FromServos, "FF FF FD 00 01 03 00 01 19 4E FF FF FD 00 01 04 00 55 00 A1 0C",
			[]string{"01 55 00"}, 10, 0},
		{"answers of others", 2, FromHost, "FF FF FD 00 01 04 00 55 00 A1 0C FF FF FD 00 01 03 00 01 19 4E",
			[]string{"01 01 "}, 11, 0},
		{"broken off", 2, FromServos, "FF FF FD 00 01 04 00 55", nil, 0, 0},
	} {
		for _, n := range []int{1, 3, 1000} {
			got, p := parseAll(c.protocol, c.side, servotest.Hex(t, c.stream), n)
			if fmt.Sprint(got) != fmt.Sprint(c.want) || p.Garbage != c.garbage || p.BadChecksum != c.bad {
				t.Errorf("protocol %d: %s: by %d: got %q, garbage %d, bad %d, want %q, %d, %d",
					c.protocol, c.name, n, got, p.Garbage, p.BadChecksum, c.want, c.garbage, c.bad)
			}
		}
	}
}

func TestParserKeepsItsBound(t *testing.T) {
	p := NewParser(2, FromServos)
	flood := bytes.Repeat([]byte{0xFF, 0xFF, 0xFD, 0, 1, 0, 4, 0x55}, 4000)
	var k Packet
	for at := 0; at < len(flood); {
		n := p.Feed(flood[at:])
		if n == 0 {
			t.Fatalf("feed at %d: got 0 bytes taken, want progress", at)
		}
		at += n
		for p.Next(&k) {
		}
	}
	if n := p.Feed(flood) + p.Buffered(); n > 4*maxPacket {
		t.Errorf("buffer: took %d bytes, want %d at most", n, 2*maxPacket)
	}
	p.Reset()
	if p.Buffered() != 0 {
		t.Errorf("buffered after reset: got %d, want 0", p.Buffered())
	}
}

func TestCodecAllocatesNothing(t *testing.T) {
	in := cases2()[23].in
	st := &Status{ID: 3, Data: []byte{1, 2, 3, 4}}
	buf := make([]byte, 0, 256)
	p := NewParser(2, FromServos)
	var k Packet
	if n := testing.AllocsPerRun(100, func() {
		buf = AppendInstruction2(buf[:0], in)
		buf = AppendStatus2(buf[:0], st)
		p.Feed(buf)
		if !p.Next(&k) {
			t.Fatal("no packet")
		}
	}); n != 0 {
		t.Errorf("allocations: got %g, want 0", n)
	}
}

func FuzzParser1(f *testing.F) { fuzzParser(f, 1) }
func FuzzParser2(f *testing.F) { fuzzParser(f, 2) }

// fuzzParser checks on any stream: no panic, a bounded buffer, the same packets whether fed whole or byte by byte, and
// that what decodes encodes to a packet that decodes to the same.
func fuzzParser(f *testing.F, protocol int) {
	for _, c := range casesOf(protocol) {
		f.Add(servotest.Hex(f, c.wire))
		f.Add(append([]byte{0xFF, 0xFF, 0xFD}, servotest.Hex(f, c.wire)[1:]...))
	}
	f.Add(servotest.Hex(f, fastAnswer))
	f.Fuzz(func(t *testing.T, stream []byte) {
		for _, side := range []Side{FromServos, FromHost} {
			whole, a := parseAll(protocol, side, stream, len(stream))
			single, b := parseAll(protocol, side, stream, 1)
			if fmt.Sprint(whole) != fmt.Sprint(single) || a.Garbage != b.Garbage || a.BadChecksum != b.BadChecksum {
				t.Fatalf("whole %q, garbage %d; byte by byte %q, garbage %d", whole, a.Garbage, single, b.Garbage)
			}
			roundTrip(t, protocol, side, stream)
		}
	})
}

// roundTrip decodes every packet of stream, encodes what it says and decodes that.
func roundTrip(t *testing.T, protocol int, side Side, stream []byte) {
	p, q := NewParser(protocol, side), NewParser(protocol, side)
	var k, k2 Packet
	for len(stream) > 0 {
		stream = stream[p.Feed(stream):]
		for p.Next(&k) {
			var again []byte
			var in, in2 Instruction
			var st Status
			if side == FromHost {
				if readIn(protocol, &k, &in) != nil {
					continue
				}
				again = appendIn(protocol, nil, &in)
			} else {
				var ok bool
				if st, ok = readSt(protocol, &k); !ok || st.ID == Broadcast {
					continue // a fast answer has its own encoder
				}
				again = appendSt(protocol, nil, &st)
			}
			if len(again) > 7+MaxLength2 || protocol == 2 && len(again)-7 > MaxLength2 {
				continue // unstuffed input may need more room once stuffed
			}
			q.Reset()
			q.Feed(again)
			if !q.Next(&k2) {
				t.Fatalf("% X: encoded as % X: not a packet", k.Params, again)
			}
			if side == FromHost {
				if err := readIn(protocol, &k2, &in2); err != nil || !same(&in, &in2) {
					t.Fatalf("got %+v, %v, want %+v", in2, err, in)
				}
			} else if st2, ok := readSt(protocol, &k2); !ok || st2.ID != st.ID || st2.Error != st.Error ||
				!bytes.Equal(st2.Data, st.Data) {
				t.Fatalf("got %+v, want %+v", st2, st)
			}
		}
	}
}

// FuzzFastParts checks on any bytes: no panic, only parts whose CRC is right, and the same parts whether the answer is
// there at once or grows byte by byte.
func FuzzFastParts(f *testing.F) {
	whole := servotest.Hex(f, fastAnswer)
	f.Add(whole, uint16(25), byte(4))
	f.Add(whole[:19], uint16(25), byte(4))
	f.Add(append([]byte{0xFF, 0xFF, 0xFD}, whole...), uint16(25), byte(4))
	f.Fuzz(func(t *testing.T, received []byte, length uint16, size byte) {
		var atOnce, grown FastParts
		var want, got []string
		if atOnce.Start(received, int(length)) {
			for {
				st, ok := atOnce.Next(int(size))
				if !ok {
					break
				}
				want = append(want, fmt.Sprintf("%+v", st))
			}
		}
		started := false
		for n := range len(received) + 1 {
			if !started {
				if started = grown.Start(received[:n], int(length)); !started {
					continue
				}
			}
			grown.Grow(received[:n])
			for {
				st, ok := grown.Next(int(size))
				if !ok {
					break
				}
				got = append(got, fmt.Sprintf("%+v", st))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || atOnce.Broken() != grown.Broken() {
			t.Fatalf("grown: got %q, want %q", got, want)
		}
		// What was accepted is what a chain of such servos would have sent.
		if len(want) > 0 && len(want)*(4+int(size))+1 == int(length) {
			var parts []Status
			atOnce.Start(received, int(length))
			for st, ok := atOnce.Next(int(size)); ok; st, ok = atOnce.Next(int(size)) {
				parts = append(parts, st)
			}
			if again := AppendFastStatus(nil, parts); !bytes.Contains(received, again) {
				t.Fatalf("encoded again: got % X, not in % X", again, received)
			}
		}
	})
}
