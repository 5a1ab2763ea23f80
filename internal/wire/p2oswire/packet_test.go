package p2oswire

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// commandCase is one command both ways. The bytes are those of hardware.md, section 4.
type commandCase struct {
	name    string
	bytes   string
	command Command
}

func commandCases() []commandCase {
	n := func(op Op, v int) Command { return Command{Op: op, Kind: Number, Int: v} }
	return []commandCase{
		{"sync 0", "FA FB 03 00 00 00", Command{Op: OpPulse}},
		{"sync 1", "FA FB 03 01 00 01", Command{Op: OpOpen}},
		{"sync 2", "FA FB 03 02 00 02", Command{Op: OpClose}},
		{"stop", "FA FB 03 1D 00 1D", Command{Op: OpStop}},
		{"e-stop", "FA FB 03 37 00 37", Command{Op: OpEStop}},
		{"enable", "FA FB 06 04 3B 01 00 05 3B", n(OpEnable, 1)},
		{"disable", "FA FB 06 04 3B 00 00 04 3B", n(OpEnable, 0)},
		{"sonar", "FA FB 06 1C 3B 01 00 1D 3B", n(OpSonar, 1)},
		{"vel 200", "FA FB 06 0B 3B C8 00 D3 3B", n(OpVel, 200)},
		{"vel -200", "FA FB 06 0B 1B C8 00 D3 1B", n(OpVel, -200)},
		{"rvel 30", "FA FB 06 15 3B 1E 00 33 3B", n(OpRVel, 30)},
		{"vel2 10 10", "FA FB 06 20 3B 0A 0A 2A 45", n(OpVel2, 0x0A0A)},
		{"vel2 R -5 L 5", "FA FB 06 20 3B FB 05 1B 40", n(OpVel2, 0x05FB)},
		{"seta 300", "FA FB 06 05 3B 2C 01 31 3C", n(OpSetA, 300)},
		{"encoder", "FA FB 06 13 3B 01 00 14 3B", n(OpEncoder, 1)},
		{"config", "FA FB 06 12 3B 01 00 13 3B", n(OpConfig, 1)},
		{"say", "FA FB 07 0F 2B 02 32 28 11 75", Command{Op: OpSay, Kind: Text, Text: "2("}},
	}
}

func wire(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCommands(t *testing.T) {
	for _, c := range commandCases() {
		want := wire(t, c.bytes)
		if got := c.command.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded: got % X, want % X", c.name, got, want)
		}
		p := NewParser()
		p.Feed(want)
		got, err := DecodeCommand(p.Data())
		if err != nil || got != c.command || p.Garbage+p.BadChecksum != 0 {
			t.Errorf("%s: decoded: got %+v %v, want %+v", c.name, got, err, c.command)
		}
	}
	// Player ends some commands with the kind of an argument that never comes.
	p := NewParser()
	p.Feed(wire(t, "FA FB 04 07 3B 07 3B"))
	if got, err := DecodeCommand(p.Data()); err != nil || got != (Command{Op: OpSetO}) {
		t.Errorf("Player's SETO: got %+v %v", got, err)
	}
	for _, bad := range []string{"", "0B3B", "0B3BC8", "0B3BC80001", "0B77C800", "0F2B05AA", "0F2B"} {
		if got, err := DecodeCommand(wire(t, bad)); err == nil && bad != "0B3B" {
			t.Errorf("%q: got %+v, want an error", bad, got)
		}
	}
}

// The data of every packet that a base sends, both ways.
func reportCases() []struct {
	name, bytes string
	value       any
} {
	full := Report{Moving: true, X: 0x7FFF, Y: 2, Heading: 4095, Left: -100, Right: 250, Battery: 131, Stall: 0x0403,
		Control: -1,
		Flags:   FlagMotors | FlagSonar, Compass: 90, Count: 1, Grip: 3, AnalogPort: 1, Analog: 77, DigitalIn: 255,
		DigitalOut: 1,
		Extra:      11, Battery10: 131, Charge: 2, Turn: -450, Fault: 8, Sideways: 5, Celsius: 33, Charged: 88}
	full.Echoes[0] = EchoReading{15, 5000}
	old := Report{X: 100, Battery: 120, Count: 2, DigitalIn: 255}
	old.Echoes = [MaxEchoes]EchoReading{{0, 1000}, {1, 2000}}
	g := GyroReport{Count: 2}
	g.Readings = [maxGyro]GyroReading{{512, 30}, {500, 31}}
	io := IOReport{Ins: 4, Outs: 1, Analogs: 2}
	io.In, io.Out, io.Analog = [maxIO]byte{1, 2, 3, 4}, [maxIO]byte{9}, [maxIO]uint16{1023, 5}
	return []struct {
		name, bytes string
		value       any
	}{
		{"report", "32 6400 0000 0000 0000 0000 78 0000 0000 0000 00 02 00E803 01D007 00 00 00 FF 00", &old},
		{"ARCOS report", "33 FF7F 0200 FF0F 9CFF FA00 83 0304 FFFF 0300 5A 01 0F8813 03 01 4D FF 01 8300 02 3EFE " +
			"0800 0500 21 58", &full},
		{"encoders", "90 01000000 FEFFFFFF", &EncoderReport{1, -2}},
		{"gyro", "98 02 0002 1E F401 1F", &g},
		{"io", "F0 04 01020304 01 09 02 FF03 0500", &io},
		{"gripper", "E0 02 11 05", &GripperReport{2, 0x11, 5}},
		{"names", "02 4D79526F626F7400 50696F6E65657200 7032617400", &Names{"MyRobot", "Pioneer", "p2at"}},
		{"config", "20 5000 7000 3100 01 2C01 B004 2C01 D007 F401 4200 64 02 00 0100 0100 01 6E00 BA40 D007 00 C800 " +
			"C800 0000 0000" +
			"6400 E803 6400 6400 280014000000 2C01 2C01 28001E000000 05 05 00 28 01 01",
			&ConfigReport{Class: "P", Subclass: "p", Serial: "1",
				FourMotors: true, RotVelTop: 300, TransVelTop: 1200, RotAccTop: 300, TransAccTop: 2000, PWMMax: 500,
				Name: "B", Cycle: 100,
				HostBaud: 2, Gripper: 1, FrontSonar: 1, RearSonar: 1, LowBattery: 110, RevCount: 16570, Watchdog: 2000,
				StallVal:   200,
				StallCount: 200, RotVelMax: 100, TransVelMax: 1000, RotAcc: 100, RotDecel: 100,
				RotGains: [3]uint16{40, 20, 0},
				TransAcc: 300, TransDecel: 300, TransGains: [3]uint16{40, 30, 0}, FrontBumpers: 5, RearBumpers: 5,
				SonarCycle: 40,
				AutoBaud:   1, HasGyro: 1}},
	}
}

// codec is what every report has.
type codec interface {
	Append([]byte) []byte
	Decode([]byte) error
}

func TestReports(t *testing.T) {
	for _, c := range reportCases() {
		want := wire(t, c.bytes)
		if got := c.value.(codec).Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded: got % X, want % X", c.name, got, want)
		}
		got := reflect.New(reflect.TypeOf(c.value).Elem())
		// Decoded twice into the same, so that stale fields are caught.
		for range 2 {
			if err := got.Interface().(codec).Decode(want); err != nil || !reflect.DeepEqual(got.Interface(), c.value) {
				t.Errorf("%s: decoded: got %+v %v, want %+v", c.name, got, err, c.value)
			}
		}
		// What ends early is refused, or has zeros where firmware may know less.
		short := 0
		for n := range want {
			if err := got.Interface().(codec).Decode(want[:n]); err != nil {
				short++
			}
		}
		if short == 0 {
			t.Errorf("%s: no cut was refused", c.name)
		}
	}
}

// The whole packets of hardware.md.
func TestKnownPackets(t *testing.T) {
	old := reportCases()[0].value.(*Report)
	for _, c := range []struct {
		name  string
		bytes string
		value codec
	}{
		{"names", "FA FB 18 02 4D 79 52 6F 62 6F 74 00 50 69 6F 6E 65 65 72 00 70 32 61 74 00 3E DC",
			&Names{"MyRobot", "Pioneer", "p2at"}},
		{"report", "FA FB 21 32 64 00 00 00 00 00 00 00 00 00 78 00 00 00 00 00 00 00 02 00 E8 03 01 D0 07 00 00 00 " +
			"FF 00 07 CD", old},
	} {
		if got := AppendPacket(nil, c.value.Append(nil)); !bytes.Equal(got, wire(t, c.bytes)) {
			t.Errorf("%s: got % X, want %s", c.name, got, c.bytes)
		}
	}
	r := old
	if v := r.Volts(); v != 12 {
		t.Errorf("battery: got %g V, want 12", v)
	}
}

func TestBumperBits(t *testing.T) {
	r := Report{Stall: 1<<1 | 1<<9 | 1<<13}
	for _, c := range []struct {
		rear bool
		i    int
		want bool
	}{{true, 0, true}, {true, 1, false}, {false, 0, true}, {false, 4, true}, {false, 3, false}} {
		if got := r.Bumper(c.rear, c.i); got != c.want {
			t.Errorf("rear %v, segment %d: got %v, want %v", c.rear, c.i, got, c.want)
		}
	}
}

// Garbage, cut packets and wrong sums cost themselves alone, however the stream is cut.
func TestParserResyncs(t *testing.T) {
	good := AppendPacket(nil, []byte{0x0B, 0x3B, 0xC8, 0})
	bad := bytes.Clone(good)
	bad[5]++
	stream := bytes.Join([][]byte{{1, 2, 0xFA, 3}, good, bad, good[:5], good, {0xFA, 0xFB, 0xFF}, good,
		{0xFA, 0xFA, 0xFB, 2}, good}, nil)
	for _, step := range []int{1, 3, len(stream)} {
		p, n := NewParser(), 0
		r := iotest.HalfReader(bytes.NewReader(stream))
		buf := make([]byte, step)
		for {
			k, err := r.Read(buf)
			for piece := buf[:k]; len(piece) > 0; {
				piece = piece[p.Feed(piece):]
				for d := p.Data(); d != nil; d = p.Data() {
					if n++; !bytes.Equal(d, good[3:7]) {
						t.Errorf("got % X", d)
					}
				}
			}
			if err != nil {
				break
			}
		}
		if n != 4 || p.BadChecksum == 0 || p.Garbage == 0 {
			t.Errorf("step %d: got %d packets, %d bad, %d garbage", step, n, p.BadChecksum, p.Garbage)
		}
	}
}

// Any input: no panic, bounded memory, and decoded packets encode to the same bytes.
func FuzzParser(f *testing.F) {
	for _, c := range commandCases() {
		f.Add(wire(f, c.bytes))
	}
	for _, c := range reportCases() {
		f.Add(AppendPacket(nil, wire(f, c.bytes)))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		p, one := NewParser(), NewParser()
		var got, cut [][]byte
		for rest := in; len(rest) > 0; {
			rest = rest[p.Feed(rest):]
			for d := p.Data(); d != nil; d = p.Data() {
				got = append(got, bytes.Clone(d))
			}
		}
		for i := range in {
			one.Feed(in[i : i+1])
			for d := one.Data(); d != nil; d = one.Data() {
				cut = append(cut, bytes.Clone(d))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(cut) {
			t.Fatalf("whole: % X, cut: % X", got, cut)
		}
		for _, d := range got {
			if c, err := DecodeCommand(d); err == nil && c.Kind != NoArg && len(d) < maxData {
				back := NewParser()
				back.Feed(c.Append(nil))
				if again, err := DecodeCommand(back.Data()); err != nil || again != c {
					t.Fatalf("command %+v: got back %+v %v", c, again, err)
				}
			}
			for _, v := range []codec{&Report{}, &EncoderReport{}, &GyroReport{}, &IOReport{}, &GripperReport{},
				&ConfigReport{}, &Names{}} {
				if v.Decode(d) == nil {
					again := reflect.New(reflect.TypeOf(v).Elem()).Interface().(codec)
					if _, isNames := v.(*Names); !isNames && (again.Decode(v.Append(nil)) != nil ||
						!reflect.DeepEqual(again, v)) {
						t.Fatalf("%T %+v: got back %+v", v, v, again)
					}
				}
			}
		}
	})
}
