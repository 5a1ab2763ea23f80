package feetech

import (
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/internal/wire/feetechwire"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// explained is frames and their packets in words. The frames with numbers are those of Feetech's protocol manual.
var explained = []struct {
	asked, frame string
	host         bool
	want         []string
}{
	{"", "FF FF 01 02 01 FB", true, []string{"ping id 1"}},
	{"FF FF 01 02 01 FB", "FF FF 01 02 00 FC", false, []string{"id 1: ok"}},
	{"", "FF FF 01 04 02 38 02 BE", true, []string{"read id 1: present_position"}},
	{"FF FF 01 04 02 38 02 BE", "FF FF 01 04 00 18 05 DD", false, []string{"id 1: present_position 1304"}},
	{"", "FF FF 01 04 00 18 05 DD", false, []string{"id 1: 18 05"}},
	{"", "FF FF FE 06 82 38 06 01 02 38", true, []string{"sync read ids 1 2: present_position .. present_load"}},
	{"", "FF FF 01 09 03 2A 00 08 00 00 E8 03 D5", true,
		[]string{"write id 1: goal_position 2048, goal_time 0, goal_velocity 1000"}},
	{"", "FF FF FE 0A 83 2A 02 01 00 08 02 01 08 34", true,
		[]string{"sync write id 1: goal_position 2048; id 2: goal_position 2049"}},
	{"", "FF FF FE 02 05 FA 00", true, []string{"action"}},
	{"", "FF FF 09 05 03 00 01 02 EB", true, []string{"write id 9: 0: 01 02"}}, // of no model
	{"", "FF FF 01 02 01 00", true, nil},                                       // a bad checksum
}

func models(id int) servo.Model {
	if id == 9 {
		return nil
	}
	return catalogue[slices.IndexFunc(catalogue, func(m *Model) bool { return m.Name == "sts3215" })]
}

func TestExplain(t *testing.T) {
	for _, c := range explained {
		if got := explain(servotest.Hex(t, c.asked), servotest.Hex(t, c.frame), c.host, models); !slices.Equal(got,
			c.want) {
			t.Errorf("%s after %q: got %q, want %q", c.frame, c.asked, got, c.want)
		}
	}
}

func FuzzExplain(f *testing.F) {
	for _, c := range explained {
		f.Add(servotest.Hex(f, c.asked), servotest.Hex(f, c.frame), c.host)
	}
	f.Fuzz(func(_ *testing.T, asked, frame []byte, host bool) { explain(asked, frame, host, models) })
}

// A write longer than the parser's buffer is explained to its end.
func TestExplainLongWrite(t *testing.T) {
	var frame []byte
	for id := range byte(5) {
		frame = feetechwire.AppendWrite(frame, id, 100, make([]byte, 200))
	}
	if got := explain(nil, frame, true, models); len(got) != 5 {
		t.Errorf("got %d texts, want 5: %q", len(got), got)
	}
}
