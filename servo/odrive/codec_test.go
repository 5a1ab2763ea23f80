package odrive

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
)

// lineCases are lines of the protocol; the checksums are computed by another program.
func lineCases() []struct{ line, text string } {
	return []struct{ line, text string }{
		{"sc*16\n", "sc"},
		{"f 0*118\n", "f 0"},
		{"u 1*100\n", "u 1"},
		{"p 0 1.250000*88\n", "p 0 1.250000"},
		{"r vbus_voltage*125\n", "r vbus_voltage"},
	}
}

func TestLines(t *testing.T) {
	for _, c := range lineCases() {
		if got := string(AppendLine(nil, c.text)); got != c.line {
			t.Errorf("%s: got %q, want %q", c.text, got, c.line)
		}
		var l Lines
		// The line's end may be of two bytes, and empty lines are none.
		stream := []byte("\r\n" + c.line)
		for len(stream) > 0 && l.Line() == nil {
			stream = stream[l.Feed(stream):]
		}
		if got := string(l.Line()); got != c.text || l.BadChecksum+l.Garbage != 0 {
			t.Errorf("%q: got %q", c.line, got)
		}
	}
	// No checksum, a wrong one, none that is a number, too long, not printable; then a sound one.
	for _, bad := range []string{"1.5 2.5\r\n", "1.5 2.5*1\r\n", "22.5 0.1*\r\n", "sc*0016\n", "sc*x6\n",
		strings.Repeat("1", 300) + "*0\n", "1\x80.5*11\n"} {
		var l Lines
		got := parseLines(&l, []byte(bad+"sc*16\n"), 300)
		if got != "sc " || l.BadChecksum+l.Garbage == 0 {
			t.Errorf("%q: got %q, %d bad, %d garbage", bad, got, l.BadChecksum, l.Garbage)
		}
	}
	// Dropping the first digits of a damaged line must not make a sound one of the rest.
	whole := string(AppendLine(nil, "22.5 0.125"))
	var l Lines
	if got := parseLines(&l, []byte("9"+whole[1:]), 300); got != "" {
		t.Errorf("damaged: got %q", got)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		text string
		want []float64
	}{
		{"1.5 -0.25", []float64{1.5, -0.25}}, {"8", []float64{8}}, {"-12.345678", []float64{-12.345678}},
		{"0.", []float64{0}},
		{"inf -inf", []float64{math.Inf(1), math.Inf(-1)}}, {"nan", []float64{math.NaN()}},
	} {
		got := make([]float64, len(c.want))
		if !Numbers([]byte(c.text), got) || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: got %v, want %v", c.text, got, c.want)
		}
	}
	for _, bad := range []string{"", "1.5", "1 2 3", "invalid property", "1e3 1", "--1 1", ". 1", "1.2.3 1", "1  2",
		"12345678901234567890 1"} {
		if got := make([]float64, 2); Numbers([]byte(bad), got) {
			t.Errorf("%q: got %v", bad, got)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{AppendSet(nil, 'v', 1, -2.5), "v 1 -2.500000"},
		{AppendSet(nil, 'u', 0), "u 0"},
		{AppendRead(nil, AxisErrors, V05, 1), "r axis1.error"},
		{AppendRead(nil, AxisErrors, V06, 0), "r axis0.active_errors"},
		{AppendRead(nil, BusVolts, V06, 1), "r vbus_voltage"},
		{AppendRead(nil, IqMeasured, V05, 0), "r axis0.motor.current_control.Iq_measured"},
		{AppendWrite(nil, WatchdogTime, V06, 0, 0.5), "w axis0.config.watchdog_timeout 0.5"},
		{AppendWrite(nil, RequestedState, V05, 1, 8), "w axis1.requested_state 8"},
	} {
		if want := string(AppendLine(nil, c.want)); string(c.got) != want {
			t.Errorf("got %q, want %q", c.got, want)
		}
	}
}

func parseLines(l *Lines, stream []byte, size int) string {
	var all strings.Builder
	for len(stream) > 0 {
		piece := stream[:min(size, len(stream))]
		n := l.Feed(piece)
		if line := l.Line(); line != nil {
			fmt.Fprintf(&all, "%s ", line)
		}
		stream = stream[n:]
	}
	return all.String()
}

// FuzzLines checks on any stream: no panic, the same lines whether fed whole or byte by byte, and that what decodes
// encodes to bytes that are in the stream.
func FuzzLines(f *testing.F) {
	for _, c := range lineCases() {
		f.Add([]byte(c.line))
		f.Add([]byte("1.5*" + c.line))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		var a, b Lines
		whole, single := parseLines(&a, stream, len(stream)), parseLines(&b, stream, 1)
		if whole != single || a.BadChecksum != b.BadChecksum || a.Garbage != b.Garbage {
			t.Fatalf("whole %q %d %d; byte by byte %q %d %d", whole, a.BadChecksum, a.Garbage, single, b.BadChecksum,
				b.Garbage)
		}
		var l Lines
		for rest := stream; len(rest) > 0; {
			rest = rest[l.Feed(rest):]
			if line := l.Line(); line != nil && !bytes.Contains(stream, line) {
				t.Fatalf("%q is not in the stream", line)
			}
		}
		var v [2]float64
		Numbers(stream, v[:])
	})
}

// canCases are frames as candump writes them, after the documentation's table of messages.
func canCases() []struct {
	text  string
	frame servo.CANFrame
} {
	return []struct {
		text  string
		frame servo.CANFrame
	}{
		{"001#0000000008000000", HeartbeatMessage{State: ClosedLoop}.Frame(0)},
		{"067#08000000", Words(3, SetState, uint32(ClosedLoop))},
		{"06B#0300000001000000", Words(3, SetControl, uint32(PositionControl), Passthrough)},
		{"06C#0000A03F00000000", Position(3, 1.25)},
		{"06D#000020C000000000", Floats(3, InputVel, -2.5, 0)},
		{"06E#0000003F", Floats(3, InputTorque, 0.5)},
		{"06F#000020410000A041", Floats(3, SetLimits, 10, 20)},
		{"069#R", Ask(3, Estimates)},
		{"062#", Frame(3, Estop)},
		{"064#01C800000000003F", SDO{Write: true, Endpoint: 200, Value: math.Float32bits(0.5)}.Frame(3, RxSDO)},
		{"7C5#00C9000001000000", SDO{Endpoint: 201, Value: 1}.Frame(62, TxSDO)},
	}
}

func TestCANFrames(t *testing.T) {
	for _, c := range canCases() {
		if got := c.frame.String(); got != c.text {
			t.Errorf("got %s, want %s", got, c.text)
		}
	}
	node, c, ok := Split(&servo.CANFrame{ID: 62<<5 | 0x17})
	if node != 62 || c != GetBus || !ok {
		t.Errorf("split: got %d %d %v", node, c, ok)
	}
	if _, _, ok := Split(&servo.CANFrame{ID: 1, Extended: true}); ok {
		t.Error("extended: got a node")
	}
	f := SDO{Write: true, Endpoint: 0x1234, Value: 0xCAFE}.Frame(1, RxSDO)
	if s, ok := ParseSDO(&f); !ok || s != (SDO{true, 0x1234, 0xCAFE}) {
		t.Errorf("sdo: got %+v %v", s, ok)
	}
	f = HeartbeatMessage{Errors: 0x100, State: Idle}.Frame(9)
	if b, ok := ParseBeat(&f); !ok || b != (HeartbeatMessage{0x100, Idle}) {
		t.Errorf("beat: got %+v %v", b, ok)
	}
	f.Len = 4
	if _, ok := ParseBeat(&f); ok {
		t.Error("short beat: taken")
	}
}

func FuzzCAN(f *testing.F) {
	for _, c := range canCases() {
		f.Add(servo.AppendCAN(nil, &c.frame))
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		var frame servo.CANFrame
		if servo.ParseCAN(p, &frame) != nil {
			return
		}
		b := &canProtocol{devices: make([]device, 1), chain: &servo.GenericChain{Devices: make([]servo.Device, 1)}}
		b.devices[0].cfg = &servo.ServoConfig{ID: byte(frame.ID >> 5)}
		if _, c, ok := Split(&frame); ok && c != Heartbeat {
			b.handleFrame(&frame)
		}
		if v := b.chain.Devices[0].State; math.IsNaN(v.Position+v.Velocity+v.Effort+v.Voltage+v.Temperature) ||
			math.IsInf(v.Position, 0) {
			t.Fatalf("%v: got %+v", &frame, v)
		}
		ParseBeat(&frame)
		ParseSDO(&frame)
	})
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		e    Errors
		d    Dialect
		want servo.Alarm
	}{
		{0, V06, 0}, {watchdog06, V06, 0}, {estop06, V06, 0}, {watchdog05 | estop05, V05, 0},
		{0x200, V06, servo.AlarmVoltage}, {0x2, V05, servo.AlarmVoltage}, {0x4000, V06, servo.AlarmHeat},
		{0x40000, V05, servo.AlarmHeat},
		{0x400_0000, V06, servo.AlarmEncoder}, {0x100, V05, servo.AlarmEncoder}, {0x8000_0000, V06, servo.AlarmShock},
		{0x8000_0000, V05, servo.AlarmShock},
		{0x1000, V06, servo.AlarmOverload}, {0x20, V06, servo.AlarmShock}, {0x20, V05, servo.AlarmShock},
	} {
		if got := c.e.Alarm(c.d); got != c.want {
			t.Errorf("%#x in 0.%d: got %v, want %v", uint32(c.e), c.d, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	for _, m := range Models() {
		if u := m.Units(); ModelByName(m.Name) != m || u.MaxVelocity <= 0 || u.StallTorque <= 0 ||
			u.MinTicks >= u.MaxTicks {
			t.Errorf("%s: got %+v", m.Name, u)
		}
		if _, ok := m.BaudCode(115200); ok {
			t.Errorf("%s: got a code of a rate", m.Name)
		}
	}
	if ModelByName("odrive") != nil || servo.FindModel(CANDriver(), "odrive-v3").Setting(watchdogEndpoint) != nil ||
		servo.FindModel(CANDriver(), "odrive-s1").Setting(enableEndpoint) == nil {
		t.Error("found what is not there, or not what is")
	}
}
