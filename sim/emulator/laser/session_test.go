package laser_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/wire/lidarwire"
	"github.com/halyard-robotics/halyard/sim/emulator/laser"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// talk sends a host's bytes to a board, and returns the board's output until it is idle.
func talk(b wire.Board, now *time.Duration, sent []byte) (reply []byte) {
	b.Receive(sent, *now)
	for until := *now + 20*time.Millisecond; b.Next() <= until; {
		*now = max(*now, b.Next())
		reply = b.Transmit(reply, *now)
	}
	*now += 20 * time.Millisecond
	return reply
}

// The sessions of hardware.md, section 5, byte by byte: the emulated scanners reply like real ones. A number in
// brackets in a reply is the number of further bytes.
func TestSICKSession(t *testing.T) {
	b := laser.NewSICK("LMS200;30106;V02.30", room)
	b.Power(true, 0)
	now := time.Second
	b.Transmit(nil, now) // its output at power-on
	for _, c := range []struct{ what, sent, reply string }{
		{"requests", "02 00 02 00 20 25 35 08", "06 02 80 03 00 A0 00 10 16 0A"},
		{"180 by 1", "02 00 05 00 3B B4 00 64 00 97 49", "06 02 80 07 00 BB 01 B4 00 64 00 10 5B 30"},
		{"type", "02 00 01 00 3A 1E 12", "06 02 80 16 00 BA 4C 4D 53 32 30 30 3B 33 30 31 30 36 3B [10]"},
		{"status", "02 00 01 00 31 15 12", "06 02 80 99 00 B1 56 30 32 2E 33 30 20 25 [146]"},
		{"settings", "02 00 01 00 74 50 12", "06 02 80 24 00 F4 [37]"},
		{"install", "02 00 0A 00 20 00 53 49 43 4B 5F 4C 4D 53 BE C5", "06 02 80 03 00 A0 00 10 16 0A"},
		{"requests again", "02 00 02 00 20 25 35 08", "06 02 80 03 00 A0 00 10 16 0A"},
		{"100 by 1/4", "02 00 05 00 3B 64 00 19 00 E7 72", "06 02 80 07 00 BB 01 64 00 19 00 10 [2]"},
		{"100 by 1", "02 00 05 00 3B 64 00 64 00 1D 0F", "06 02 80 07 00 BB 01 64 00 64 00 10 [2]"},
		{"one scan", "02 00 02 00 30 01 31 18", "06 02 80 CE 00 B0 65 00 [205]"},
		{"another address", "02 01 01 00 31 1B 16", ""},
		{"a wrong sum", "02 00 01 00 31 15 13", ""},
		{"a telegram that it does not know", "02 00 01 00 55 71 12", "15"},
		{"38400", "02 00 02 00 20 40 50 08", "06 02 80 03 00 A0 00 10 16 0A"},
	} {
		sent, err := hex.DecodeString(strings.ReplaceAll(c.sent, " ", ""))
		must(t, err)
		got, want := talk(b, &now, sent), c.reply
		if i := strings.Index(want, "["); i >= 0 {
			n := i / 3
			want = fmt.Sprintf("% X [%d]", got[:min(n, len(got))], len(got)-n)
		}
		if c.reply != want || !strings.Contains(c.reply, "[") && fmt.Sprintf("% X", got) != want {
			t.Errorf("%s: got % X, want %s", c.what, got, c.reply)
		}
	}
	if b.Baud() != 38400 {
		t.Errorf("got %d baud, want 38400 behind the answer", b.Baud())
	}
}

// A session of SCIP 2.0: single scans, the clock, the rate, what is wrong; and the way out of SCIP 1.1.
func TestSCIPSession(t *testing.T) {
	b := laser.NewHokuyo(model("URG-04LX"), 19200, room)
	b.Old = true
	b.Power(true, 0)
	now := time.Second
	for _, c := range []struct{ sent, reply string }{
		{"QT", "QT\nE\n\n"},
		{"SCIP2.0", "SCIP2.0\n0\n\n"},
		{"SCIP2.0", "SCIP2.0\n0Ee\n\n"},
		{"QT", "QT\n00P\n\n"},
		{"GD0044072501", "GD0044072501\n10Q\n\n"}, // the laser is off
		{"BM", "BM\n00P\n\n"},
		{"BM", "BM\n02R\n\n"},
		{"GS0384038501;once", "GS0384038501;once\n00P\n0"},
		{"GS0384038501;more than 16 chars", "GS0384038501;more than 16 chars\n0Gg\n\n"},
		{"GE0384038501", "GE0384038501\n0Ee\n\n"}, // of models from the UTM on
		{"CR05", "CR05\n00P\n\n"}, {"CR05", "CR05\n03S\n\n"}, {"CR11", "CR11\n02R\n\n"}, {"CR99", "CR99\n00P\n\n"},
		{"HS1", "HS1\n00P\n\n"}, {"HS1", "HS1\n02R\n\n"}, {"HS2", "HS2\n01Q\n\n"},
		{"GD0040072501", "GD0040072501\n05U\n\n"},
		{"GD00400725", "GD00400725\n0Dd\n\n"},
		{"MD0044072501", "MD0044072501\n0Dd\n\n"}, // without skip and count
		{"TM0", "TM0\n00P\n\n"},
		{"TM1", "TM1\n00P\n0"},
		{"VV", "VV\n0Ee\n\n"}, // not while its clock is set
		{"TM2", "TM2\n00P\n\n"},
		{"SS019200", "SS019200\n03S\n\n"},
		{"SS115201", "SS115201\n01Q\n\n"},
		{"RS", "RS\n00P\n\n"},
		{"II", "II\n00P\nMODL:URG-04LX;"},
		{"SS115200", "SS115200\n00P\n\n"},
	} {
		got := string(talk(b, &now, []byte(c.sent+"\n")))
		for range 6 { // a scan must be over first
			if got != "" {
				break
			}
			got = string(talk(b, &now, nil))
		}
		if whole := strings.HasSuffix(c.reply, "\n\n"); !strings.HasPrefix(got, c.reply) || whole && got != c.reply {
			t.Errorf("%s: got %q, want %q", c.sent, got, c.reply)
		}
	}
	if b.Baud() != 115200 {
		t.Errorf("got %d baud, want 115200 behind the answer", b.Baud())
	}
}

// The requests of ultra_simple at its start (hardware.md, section 5.3), and single replies.
func TestRPLidarSession(t *testing.T) {
	b := laser.NewRPLidar(lidar.RPLidarPWM, 115200, room)
	b.Power(true, 0)
	now := time.Second
	b.Transmit(nil, now)
	for _, c := range []struct{ sent, reply string }{
		{"A5 25", ""}, {"A5 25", ""}, {"A5 25", ""},
		{"A5 50", "A5 5A 14 00 00 00 04 18 1D 01 07 48 41 4C 59 41 52 44 2D 45 4D 55 4C 41 54 4F 52"},
		{"A5 52", "A5 5A 03 00 00 00 06 00 00 00"},
		{"A5 84 04 7C 00 00 00 59", "A5 5A 06 00 00 00 20 7C 00 00 00 03 00"},
		{"A5 84 06 71 00 00 00 01 00 57", "A5 5A 08 00 00 00 20 71 00 00 00 00 FA 00 00"},
		{"A5 84 06 74 00 00 00 01 00 52", "A5 5A 08 00 00 00 20 74 00 00 00 00 0C 00 00"},
		{"A5 84 06 75 00 00 00 01 00 53", "A5 5A 05 00 00 00 20 75 00 00 00 82"},
		{"A5 84 04 04 00 00 00 21", ""}, // a type that it does not know
		{"A5 A0 00 05", ""},             // a request that it does not know
		{"A5 59", "A5 5A 04 00 00 00 15 F4 01 FA 00"},
		{"A5 F0 02 94 02 C1", ""}, {"A5 F0 02 00 00 57", ""},
		{"A5 20", "A5 5A 05 00 00 40 81"}, // and the motor is stopped
		{"A5 25", ""},
		{"A5 82 05 00 00 00 00 00 22", "A5 5A 54 00 00 40 82"},
	} {
		sent, err := hex.DecodeString(strings.ReplaceAll(c.sent, " ", ""))
		must(t, err)
		if got := fmt.Sprintf("% X", talk(b, &now, sent)); got != c.reply {
			t.Errorf("%s: got %s, want %s", c.sent, got, c.reply)
		}
	}
}

// A scanner that starts in SCIP 1.1 is found at any rate, and again after a loss of power.
func TestOldHokuyo(t *testing.T) {
	b := laser.NewHokuyo(model("URG-04LX"), 19200, room)
	b.Old = true
	line := wire.NewLine("urg", 115200, 1, b)
	d := hokuyo("URG-04LX", 0, 0, 1, false)(t, line.Open)
	values := make([]float64, d.Geometry().Count)
	for range 2 {
		must(t, d.Open())
		must(t, d.Read(values))
		if v := values[340]; math.Abs(v-4.5) > 0.01 {
			t.Errorf("ahead: got %g, want 4.5", v)
		}
		line.Fault(wire.Fault{Kind: wire.PowerLoss, For: 10 * time.Millisecond})
		line.SleepUntil(line.Now() + 200*time.Millisecond)
	}
}

// An A1's captured answers are those of the emulated one, all but the serial number.
func TestRPLidarAnswersAsCaptured(t *testing.T) {
	b := laser.NewRPLidar(lidar.RPLidarPWM, 115200, room)
	b.Power(true, 0)
	now := time.Second
	b.Transmit(nil, now)
	for _, line := range haltest.Capture(t, "rplidar_a1_info.txt") {
		asked, want, _ := strings.Cut(line, " > ")
		got := fmt.Sprintf("% X", talk(b, &now, haltest.Bytes(t, asked)))
		if asked == "A5 50" {
			got, want = got[:33], want[:33] // up to the serial number
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", asked, got, want)
		}
	}
}

// Intensities come behind the ranges; what is asked for scan by scan comes at the scanner's pace; a rate means nothing
// on TCP.
func TestSCIPScans(t *testing.T) {
	line := wire.NewLine("ust", 0, 1, laser.NewHokuyo(model("UST-10LX"), 0, room))
	port, err := line.Open()
	must(t, err)
	p := lidar.NewSCIPParser()
	var k lidar.SCIPBlock
	ask := func(command string) {
		t.Helper()
		_, err := port.Write([]byte(command + "\n"))
		must(t, err)
		var b [4096]byte
		for !p.Next(&k) {
			n, err := port.Read(b[:], time.Second)
			must(t, err)
			p.Feed(b[:n])
		}
		if string(k.Echo) != command {
			t.Fatalf("%s: got the echo %q", command, k.Echo)
		}
	}
	ask("SS115200")
	ask("BM")
	m := model("UST-10LX")
	for _, command := range []string{"GE0540054100", "ME0540054100001", "HD0540054100", "ND0540054100001"} {
		ask(command)
		if command[1] == 'E' && command[0] == 'M' || command[0] == 'N' {
			for !p.Next(&k) { // the scan behind the answer
				var b [4096]byte
				n, err := port.Read(b[:], time.Second)
				must(t, err)
				p.Feed(b[:n])
			}
			if !strings.HasPrefix(string(k.Echo), command[:13]) || string(k.Status) != lidarwire.SCIPData {
				t.Errorf("%s: got %q %q", command, k.Echo, k.Status)
			}
		}
		values := make([]float64, 2)
		if command[1] == 'E' {
			values = make([]float64, 4) // range, light, range, light
		}
		if _, err := k.Scan(3, &m, values); err != nil || math.Abs(values[0]-4.5) > 0.01 || command[1] == 'E' &&
			!(values[1] > 1) {
			t.Errorf("%s: got %v, %v", command, values, err)
		}
	}
	const scans = 8
	began := line.Now()
	for range scans {
		ask("GD0540054100;pace")
	}
	if took := line.Now() - began; took < (scans-1)*25*time.Millisecond || took > (scans+2)*25*time.Millisecond {
		t.Errorf("%d scans: took %v, want %d turns of 25 ms", scans, took, scans)
	}
}

// The modes of sicktoolbox's examples: means, parts of scans, turns of the mirror, and how bright what is seen is.
func TestSICKModes(t *testing.T) {
	b := laser.NewSICK("LMS200;30106;V02.30", room)
	b.Power(true, 0)
	now := time.Second
	b.Transmit(nil, now)
	p := lidarwire.NewSICKParser(lidarwire.SICKReplyBit)
	say := func(body ...byte) {
		t.Helper()
		p.Feed(talk(b, &now, lidarwire.AppendSICK(nil, 0, body)))
		if got := p.Body(); len(got) < 2 || got[0] != lidarwire.SICKModeReply && got[0] != 0xBB ||
			(got[1] == 0) == (got[0] == 0xBB) {
			t.Fatalf("% X: got % X", body, got)
		}
		for p.Body() != nil { // scans behind the answer
		}
	}
	next := func() []byte {
		t.Helper()
		for {
			now = max(now, b.Next())
			p.Feed(b.Transmit(nil, now))
			if body := p.Body(); body != nil {
				return bytes.Clone(body)
			}
		}
	}
	word := func(body []byte, at int) int { return int(body[at]) | int(body[at+1])<<8 }
	say(0x3B, 180, 0, 50, 0) // 361 values
	say(0x20, 0x24)
	whole := next()
	values := whole[3 : 3+2*361]
	say(0x20, 0x26, 10)
	next()
	began := now
	if body := next(); body[0] != 0xB6 || body[1] != 10 || word(body, 2)&0x3FF != 361 ||
		!bytes.Equal(body[4:4+2*361], values) {
		t.Errorf("means: got % X", body[:8])
	}
	if took := now - began; took < 10*26*time.Millisecond {
		t.Errorf("a mean of ten: came after %v", took)
	}
	say(0x20, 0x27, 100, 0, 109, 0)
	if body := next(); body[0] != 0xB7 || word(body, 1) != 100 || word(body, 3) != 109 || word(body, 5)&0x3FF != 10 ||
		!bytes.Equal(body[7:27], values[2*99:2*109]) || len(body) != 28 {
		t.Errorf("subrange: got % X", body)
	}
	say(0x20, 0x28, 5, 1, 0, 3, 0)
	if body := next(); body[0] != 0xBF || body[1] != 5 || word(body, 2) != 1 || word(body, 4) != 3 ||
		word(body, 6)&0x3FF != 3 || !bytes.Equal(body[8:14], values[:6]) {
		t.Errorf("means of a subrange: got % X", body)
	}
	say(0x20, 0x50, 181, 0, 181, 0)
	if body := next(); body[0] != 0xC4 || word(body, 1)&0x3FF != 361 || !bytes.Equal(body[3:725], values) ||
		word(body, 725) != 1 || word(body, 727) != 181 || body[731] == 0 || len(body) != 733 {
		t.Errorf("remission: got % X behind %d bytes", body[725:], len(body))
	}
	say(0x20, 0x2A)
	seen := map[int]int{}
	for range 4 {
		body := next()
		if head := word(body, 1); head&0x2000 != 0 {
			turn := head >> 11 & 3
			seen[turn] = head & 0x3FF
			if got := word(body, 3); got != word(values, 2*turn) {
				t.Errorf("turn %d: begins with %d, want %d", turn, got, word(values, 2*turn))
			}
		}
	}
	if len(seen) != 2 || seen[0] != 181 || seen[1] != 180 {
		t.Errorf("turns: got %v, want 181 and 180 values", seen)
	}
	// Set to send indices, it numbers scans and telegrams in all modes.
	say(0x20, 0x25)
	p.Feed(talk(b, &now, lidarwire.AppendSICK(nil, 0,
		append([]byte{0x20, lidarwire.SICKInstall}, lidarwire.SICKPassword...))))
	for p.Body() != nil {
	}
	p.Feed(talk(b, &now, lidarwire.AppendSICK(nil, 0, []byte{byte(lidarwire.SICKConfig)})))
	settings := bytes.Clone(p.Body()[1 : 1+lidarwire.SICKSettingsLen])
	settings[lidarwire.SICKAvailByte] |= lidarwire.SICKIndices
	p.Feed(talk(b, &now, lidarwire.AppendSICK(nil, 0, append([]byte{byte(lidarwire.SICKConfigure)}, settings...))))
	if body := next(); body[0] != byte(lidarwire.SICKConfigure)|lidarwire.SICKReplyBit || body[1] != 1 {
		t.Fatalf("set: got % X", body)
	}
	say(0x20, 0x24)
	first, second := next(), next()
	if n := 3 + 2*361; len(first) != n+3 || !bytes.Equal(first[3:n], values) || second[n] != first[n]+1 ||
		second[n+1] != first[n+1]+1 || second[n+2] != 0x10 {
		t.Errorf("indices: got % X and then % X", first[725:], second[725:])
	}
	if _, err := lidarwire.DecodeSICKScan(second, 13, make([]float64, 361)); err != nil {
		t.Error(err)
	}
	for _, bad := range [][]byte{{0x26}, {0x26, 1}, {0x27, 1, 0}, {0x27, 0, 0, 5, 0}, {0x27, 5, 0, 4, 0},
		{0x50, 1, 0, 200, 200}, {0x24, 1}} {
		p.Feed(talk(b, &now, lidarwire.AppendSICK(nil, 0, append([]byte{0x20}, bad...))))
		for body := p.Body(); ; body = p.Body() {
			if body == nil {
				t.Fatalf("% X: no answer", bad)
			}
			if body[0] == lidarwire.SICKModeReply {
				if body[1] == 0 {
					t.Errorf("% X: taken", bad)
				}
				break
			}
		}
	}
}
