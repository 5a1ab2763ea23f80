package odrivewire

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
