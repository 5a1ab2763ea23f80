package vesc

import (
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/vescwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// explained is frames and their packets in words. The firmware's version, the text and the request are of a real
// controller.
var explained = []struct {
	frame string
	host  bool
	want  []string
}{
	{"02 01 04 40 84 03", true, []string{"get_values"}},
	{"02 1e 00 05 01 0a 4d 49 54 20 54 45 53 54 20 56 32 00 41 00 52 00 01 51 33 32 36 36 32 39 01 00 25 d4 03", false,
		[]string{"fw_version 5.1, \"\\nMIT TEST V2\""}},
	{"02 0e 15 20 43 41 4e 20 49 44 3a 20 20 31 0a 0d 2c 7e 03", false, []string{"print \"CAN ID:  1\""}},
	{"02 01 04 40 84 00", true, nil}, // a bad end
}

func model(int) servo.Model { return nil }

func TestExplainPayloads(t *testing.T) {
	for _, c := range []struct {
		payload []byte
		host    bool
		want    string
	}{
		{vescwire.AppendSet(nil, vescwire.SetDuty, 0.25), true, "set_duty 0.25"},
		{vescwire.AppendSet(nil, vescwire.SetCurrentBrake, 1.5), true, "set_current_brake 1.5 A"},
		{append([]byte{byte(vescwire.ForwardCAN), 7}, vescwire.AppendSet(nil, vescwire.SetRPM, 900)...), true,
			"to id 7: set_rpm 900 electrical turns/min"},
		{vescwire.AppendSelective(nil, vescwire.Mask(vescwire.ERPM, vescwire.Volts)), true,
			"get_values_selective: erpm, volts"},
		{(&vescwire.Values{vescwire.Volts: 24.5, vescwire.ERPM: -90}).Append(vescwire.AppendSelective(nil,
			vescwire.Mask(vescwire.ERPM, vescwire.Volts)), vescwire.Mask(vescwire.ERPM, vescwire.Volts)), false,
			"get_values_selective: erpm -90, volts 24.5"},
		{[]byte{200, 1}, true, "command 200: 01"},
		{[]byte{byte(vescwire.Selective), 1}, false, "get_values_selective: 01"},
	} {
		got := explain(nil, vescwire.AppendPacket(nil, c.payload), c.host, model)
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("% x: got %q, want %q", c.payload, got, c.want)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range explained {
		if got := explain(nil, servotest.Hex(t, c.frame), c.host, model); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.frame, got, c.want)
		}
	}
}

func FuzzExplain(f *testing.F) {
	for _, c := range explained {
		f.Add(servotest.Hex(f, c.frame), c.host)
	}
	f.Fuzz(func(_ *testing.T, frame []byte, host bool) { explain(nil, frame, host, model) })
}
