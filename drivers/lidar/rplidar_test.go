package lidar

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
)

// Requests and descriptors: hardware.md, section 5.3.
func TestRPLidarRequests(t *testing.T) {
	for _, c := range []struct {
		bytes   string
		command lidarwire.RPLidarCommand
		payload []byte
	}{
		{"A5 25", lidarwire.RPLidarStop, nil}, {"A5 50", lidarwire.RPLidarInfo, nil},
		{"A5 52", lidarwire.RPLidarHealth, nil},
		{"A5 59", lidarwire.RPLidarRate, nil},
		{"A5 20", lidarwire.RPLidarScan, nil},
		{"A5 82 05 00 00 00 00 00 22", lidarwire.RPLidarExpress, make([]byte, 5)},
		{"A5 F0 02 94 02 C1", lidarwire.RPLidarMotor, []byte{0x94, 0x02}},
		{"A5 F0 02 00 00 57", lidarwire.RPLidarMotor, []byte{0, 0}},
		{"A5 84 04 7C 00 00 00 59", lidarwire.RPLidarConf, []byte{0x7C, 0, 0, 0}},
	} {
		want := wire(t, c.bytes)
		if got := lidarwire.AppendRPLidar(nil, c.command, c.payload...); !bytes.Equal(got, want) {
			t.Errorf("%02X: encoded: got % X, want % X", byte(c.command), got, want)
		}
		got, payload, n := lidarwire.DecodeRPLidar(want)
		if got != c.command || !bytes.Equal(payload, c.payload) || n != len(want) {
			t.Errorf("%s: decoded: got %02X % X %d", c.bytes, byte(got), payload, n)
		}
		for k := range want {
			if _, _, n := lidarwire.DecodeRPLidar(want[:k]); n != 0 {
				t.Errorf("%s cut at %d: got %d", c.bytes, k, n)
			}
		}
	}
	for _, bad := range []string{"00", "A5 F0 02 00 00 58"} {
		if _, _, n := lidarwire.DecodeRPLidar(wire(t, bad)); n >= 0 {
			t.Errorf("%s: got %d", bad, n)
		}
	}
	for _, c := range []struct {
		bytes  string
		length int
		stream bool
		kind   byte
	}{
		{"A5 5A 14 00 00 00 04", 20, false, lidarwire.RpTypeInfo},
		{"A5 5A 03 00 00 00 06", 3, false, lidarwire.RpTypeHealth},
		{"A5 5A 04 00 00 00 15", 4, false, lidarwire.RpTypeRate}, {"A5 5A 05 00 00 40 81", 5, true, byte(RPLidarNodes)},
		{"A5 5A 54 00 00 40 82", 84, true, byte(RPLidarExpressed)},
	} {
		if got := lidarwire.AppendRPDescriptor(nil, c.length, c.stream, c.kind); !bytes.Equal(got, wire(t, c.bytes)) {
			t.Errorf("got % X, want %s", got, c.bytes)
		}
	}
}

// turnOf is nodes all around, 1° apart from a beginning on.
func turnOf(from, n int, mm float64) (b []byte) {
	for i := range n {
		node := lidarwire.RPNode{Angle: uint16((from + i) % 360 << 6), Range: uint16(mm * 4), Quality: 47,
			Start: (from+i)%360 == 0}
		b = node.Append(b)
	}
	return b
}

func TestRPNodes(t *testing.T) {
	// By the manual: quality 47, no start, 90°, 1000 mm.
	n := lidarwire.RPNode{Angle: 90 << 6, Range: 4000, Quality: 47}
	if got := n.Append(nil); !bytes.Equal(got, wire(t, "BE 01 2D A0 0F")) {
		t.Errorf("encoded: got % X", got)
	}
	good := turnOf(0, 400, 1000)
	for _, c := range []struct {
		name  string
		in    []byte
		least int
	}{
		{"whole", good, 395},
		{"behind garbage", append([]byte{0xA5, 0x5A, 1, 2, 3, 4, 5, 6, 7}, good...), 394},
		{"a byte lost", append(bytes.Clone(good[:502]), good[503:]...), 385},
		{"a byte more", append(append(bytes.Clone(good[:502]), 0x55), good[502:]...), 385},
		{"cut", good[3:], 390},
	} {
		for _, step := range []int{1, 7, len(c.in)} {
			p, got, wrong, last := lidarwire.NewRPNodeParser(), 0, 0, -1
			for rest := c.in; len(rest) > 0; {
				rest = rest[p.Feed(rest[:min(step, len(rest))]):]
				for n := (lidarwire.RPNode{}); p.Next(&n); {
					if got++; n.Range != 4000 || last >= 0 && !lidarwire.Follows(last, int(n.Angle)) {
						wrong++
					}
					last = int(n.Angle)
				}
			}
			if got < c.least || wrong > 0 {
				t.Errorf("%s by %d: got %d nodes, %d wrong, want %d", c.name, step, got, wrong, c.least)
			}
		}
	}
}

// capsuleOf is a capsule of an encoding whose ranges it can hold.
func capsuleOf(e RPLidarEncoding, start uint16) RPCapsule {
	c := RPCapsule{Encoding: e, Start: start}
	for i := range c.Samples() {
		c.Ranges[i] = uint16(400 + 3*i)
		if c.Ranges[i] >= 512 || e == RPLidarUltraDense {
			c.Ranges[i] &^= 1 // an ultra capsule's scale is 2 mm from there on, an ultra-dense one's from 0
		}
		if e == RPLidarExpressed {
			c.Shifts[i] = uint8(32 + i)
		}
	}
	c.Ranges[5] = 0
	return c
}

// The ranges of an ultra-dense capsule, by the arithmetic of SLAMTEC's SDK.
func TestRPScaled(t *testing.T) {
	for _, c := range []struct {
		word uint32
		mm   uint16
	}{{0, 0}, {1 << 2, 2}, {0x3FF << 2, 2046}, {1<<2 | 1, 2049}, {0x7FF<<2 | 1, 8187}, {1<<2 | 2, 8191},
		{0xFFF<<2 | 2, 24567}, {1<<2 | 3, 24572}, {0x1FFF<<2 | 3, 65522}} {
		if got := unpackScaled(c.word | 0xFF<<15); c.word&3 == 3 && got != c.mm {
			t.Errorf("%05X with a quality: got %d mm, want %d", c.word, got, c.mm)
		}
		if got, back := unpackScaled(c.word), packScaled(c.mm); got != c.mm || back != c.word {
			t.Errorf("%05X: got %d mm and %05X, want %d", c.word, got, back, c.mm)
		}
	}
	if got := unpackScaled(packScaled(65535)); got != 65522 {
		t.Errorf("beyond: got %d mm", got)
	}
}

func TestRPCapsules(t *testing.T) {
	for _, e := range []RPLidarEncoding{RPLidarExpressed, RPLidarUltra, RPLidarDense, RPLidarUltraDense} {
		c := capsuleOf(e, 123<<6+5)
		second := capsuleOf(e, 130<<6)
		second.Span = 7 << 6
		c.First, c.Span = true, 7<<6-5
		if e == RPLidarUltra {
			c.Next, second.Next = second.Ranges[0], second.Ranges[0]
		}
		third := second
		third.Start = 137 << 6
		text := c.Append(nil)
		size := rpSizes[e].bytes
		if len(text) != size || text[0]>>4 != 0xA || text[1]>>4 != 5 || text[rpHead(e)-1]&0x80 == 0 {
			t.Fatalf("%02X: encoded: got % X", byte(e), text)
		}
		var got RPCapsule
		p := NewRPCapsuleParser(e)
		feed := func(b []byte) bool {
			for len(b) > 0 {
				b = b[p.Feed(b):]
			}
			return p.Next(&got)
		}
		if feed(text) {
			t.Errorf("%02X: one alone: got %+v", byte(e), got)
		}
		if !feed(second.Append(nil)) || got != c {
			t.Errorf("%02X: decoded: got %+v, want %+v", byte(e), got, c)
		}
		if !feed(third.Append(nil)) || got != second {
			t.Errorf("%02X: next: got %+v, want %+v", byte(e), got, second)
		}
		p.Feed([]byte{0xA1, 0x11, 7}) // the third ends with a gap: how far it reached is not known
		p.Next(&got)
		if feed(second.Append(nil)) {
			t.Errorf("%02X: before noise: got %+v", byte(e), got)
		}
		// Every single wrong bit is seen.
		for i := range text {
			for bit := range 8 {
				text[i] ^= 1 << bit
				q := NewRPCapsuleParser(e)
				q.Feed(text)
				q.Next(&got)
				q.Feed(second.Append(nil))
				if q.Next(&got) {
					t.Errorf("%02X: byte %d bit %d: a flip is not seen", byte(e), i, bit)
				}
				text[i] ^= 1 << bit
			}
		}
	}
}

// An ultra capsule's scale: ranges come back within the step that their size has, and what is too far from its
// neighbours is left out.
func TestUltraScale(t *testing.T) {
	for mm := uint32(0); mm < 28000; mm += 7 {
		code := compress(mm)
		decoded, level := expand(code)
		if code > 0xFFF || decoded > mm || mm-decoded >= 1<<level {
			t.Fatalf("%d mm: got code %d, which decodes to %d", mm, code, decoded)
		}
	}
	var got [3]uint16
	unpackTriple(packTriple([]uint16{1000, 1010, 9000}, 1000), 1000, got[:])
	for _, c := range []struct{ in, want [3]uint16 }{
		{[3]uint16{1000, 1010, 990}, [3]uint16{1000, 1010, 990}},
		{[3]uint16{1000, 9000, 990}, [3]uint16{1000, 0, 990}},
		{[3]uint16{0, 1010, 990}, [3]uint16{0, 1010, 990}},
		{[3]uint16{0, 0, 0}, [3]uint16{0, 0, 0}},
	} {
		if unpackTriple(packTriple(c.in[:], 1000), compress(1000), got[:]); got != c.want {
			t.Errorf("%v: got %v, want %v", c.in, got, c.want)
		}
	}
}

// Rays go from behind over the right, and samples turn the other way.
func TestTurn(t *testing.T) {
	turn := newTurn(8)
	for lap := range 3 {
		for _, s := range []struct {
			degrees int
			metres  float64
		}{{0, 1}, {45, 2}, {90, 3}, {91, 2.5}, {135, 4}, {180, 5}, {270, 7}} { // 315° has no sample, 225° neither
			ended := turn.add(s.degrees<<6, s.metres, time.Duration(lap)*100*time.Millisecond)
			// ten degrees on, nothing of the last one comes any more
			if want := lap == 2 && s.degrees == 45; ended != want {
				t.Errorf("lap %d at %d: ended %v", lap, s.degrees, ended)
			}
		}
	}
	if got := fmt.Sprint(turn.was); got != "[5 4 2.5 2 1 NaN 7 NaN]" {
		t.Errorf("got %s", got)
	}
	turn.add(0, 1, time.Minute)
	if ended := turn.add(45<<6, 1, time.Minute); ended {
		t.Error("a turn of a minute: got it")
	}
}

// Around 0 degrees a sample without a range runs ahead, and a near object lags: neither costs the turn a ray.
func TestTurnOverZero(t *testing.T) {
	turn := newTurn(360)
	lap := func(k int) (ended bool) {
		for at := range 360 {
			now := time.Duration(360*k+at) * time.Millisecond / 4
			switch {
			case at == 352: // 8.5 degrees ahead: over zero
				ended = turn.add((at*128+1088)/2, 0, now) || ended
			case at >= 1 && at <= 3: // a post at arm's length
				ended = turn.add((at-6)<<6, 0.2, now) || ended
			default:
				ended = turn.add(at<<6, 2, now) || ended
			}
		}
		return ended
	}
	lap(0)
	lap(1)
	if !lap(2) || !lap(3) {
		t.Fatal("no turn ended")
	}
	for ray, v := range turn.was {
		angle := (540 - ray) % 360 // to the right
		if math.IsNaN(v) && angle != 352 && (angle < 1 || angle > 3) {
			t.Errorf("nothing at %d degrees", angle)
		}
	}
	// In an open field turns end too.
	open, ends := newTurn(36), 0
	for at := range 5 * 360 {
		if open.add(at%360<<6, 0, time.Duration(at)*time.Millisecond/4) {
			ends++
		}
	}
	if ends != 3 {
		t.Errorf("without any range: got %d turns, want 3", ends)
	}
}

func TestAgree(t *testing.T) {
	nan := math.NaN()
	whole := []float64{1, 1, 6, 1, 1, nan, 4, 4, 1}
	agree(whole, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})
	if got := fmt.Sprint(whole); got != "[1 1 NaN 1 1 NaN 4 4 1]" {
		t.Errorf("got %s", got)
	}
	whole = []float64{1, 1, 6, 1, 1, 1}
	agree(whole, []float64{1, 1, 6, 1, 1, 1}) // a post that was there before
	if whole[2] != 6 {
		t.Errorf("a post: got %v", whole)
	}
}

func TestNewRPLidar(t *testing.T) {
	for _, s := range []RPLidarSettings{{Rays: 7}, {Rays: 4000}, {PWM: 1024}, {PWM: -1}, {Drive: 3}} {
		s.Line = noLine
		if d, err := NewRPLidar(s); err == nil {
			t.Errorf("%+v: got %+v, want an error", s, d)
		}
	}
}

// What the parser remembers of the nodes ahead saves it a look at them, and changes nothing: not with any byte damaged,
// doubled or lost.
func TestRPNodesRemembered(t *testing.T) {
	dice := rand.New(rand.NewPCG(7, 3))
	for range 300 {
		var p []byte
		for k := range 3 {
			p = append(p, turnOf(90*k, 90, 1234)...)
		}
		for range dice.IntN(12) {
			switch at := dice.IntN(len(p)); dice.IntN(3) {
			case 0:
				p[at] = byte(dice.Uint32())
			case 1:
				p = append(p[:at], p[at+1:]...)
			default:
				p = append(p[:at+1], p[at:]...)
			}
		}
		nodes := func(forget bool) (list []lidarwire.RPNode, garbage uint64) {
			f := lidarwire.NewRPNodeParser()
			f.Feed(p)
			for n := (lidarwire.RPNode{}); f.Next(&n); {
				list = append(list, n)
				f.Sure = f.Sure && !forget
			}
			return list, f.Garbage
		}
		got, lost := nodes(false)
		want, wantLost := nodes(true)
		if !slices.Equal(got, want) || lost != wantLost {
			t.Fatalf("% X: got %v and %d bytes lost, want %v and %d", p, got, lost, want, wantLost)
		}
	}
}

func FuzzRPLidar(f *testing.F) {
	f.Add(turnOf(0, 20, 1000))
	for _, e := range []RPLidarEncoding{RPLidarExpressed, RPLidarUltra, RPLidarDense, RPLidarUltraDense} {
		c := capsuleOf(e, 640)
		f.Add(c.Append(c.Append(nil)))
	}
	f.Add(lidarwire.AppendRPLidar(nil, lidarwire.RPLidarExpress, 0, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, in []byte) {
		lidarwire.DecodeRPLidar(in)
		nodes, turn := lidarwire.NewRPNodeParser(), newTurn(36)
		for rest := in; len(rest) > 0; {
			k := nodes.Feed(rest)
			for n := (lidarwire.RPNode{}); nodes.Next(&n); {
				turn.add(int(n.Angle), float64(n.Range)/4000, 0)
			}
			rest = rest[k:]
		}
		for _, e := range []RPLidarEncoding{RPLidarExpressed, RPLidarUltra, RPLidarDense, RPLidarUltraDense} {
			d := &RPLidar{turn: newTurn(36), scan: make([]float64, 36)}
			capsules := NewRPCapsuleParser(e)
			for rest := in; len(rest) > 0; {
				rest = rest[capsules.Feed(rest):]
				for capsules.Next(&d.capsule) {
					d.spread(0)
					back := d.capsule.Append(nil)
					if e == RPLidarUltraDense { // its time, its status and the qualities are not kept
						again := RPCapsule{Encoding: e}
						if again.decode(back, nil); again.Ranges != d.capsule.Ranges {
							t.Fatalf("got back %v, want %v", again.Ranges, d.capsule.Ranges)
						}
					} else if e != RPLidarUltra && !bytes.Contains(in, back) {
						t.Fatalf("got back % X", back)
					}
				}
			}
		}
		agree(turn.was, turn.older)
	})
}
