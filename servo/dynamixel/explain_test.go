package dynamixel

import (
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// explained is frames and their packets in words. The frames are examples of the protocols' pages on
// emanual.robotis.com.
var explained = []struct {
	protocol     int
	asked, frame string
	host         bool
	want         []string
}{
	{1, "", "FF FF 01 04 02 2B 01 CC", true, []string{"read id 1: present_temperature"}},
	{1, "FF FF 01 04 02 2B 01 CC", "FF FF 01 03 00 20 DB", false, []string{"id 1: present_temperature 32"}},
	{1, "", "FF FF FE 04 03 03 01 F6", true, []string{"write: 3: 01"}}, // to all, of any model
	{1, "", "FF FF FE 09 92 00 02 01 1E 02 02 24 1D", true,
		[]string{"bulk read id 1: goal_position; id 2: present_position"}},
	{1, "FF FF FE 09 92 00 02 01 1E 02 02 24 1D", "FF FF 01 04 00 80 02 78 FF FF 02 04 20 00 01 D8", false,
		[]string{"id 1: goal_position 640", "id 2: error 20 present_position 256"}},
	{2, "", "FF FF FD 00 01 03 00 01 19 4E", true, []string{"ping id 1"}},
	{2, "", "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15", true, []string{"read id 1: present_position"}},
	{2, "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15", "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0", false,
		[]string{"id 1: present_position 166"}},
	{2, "", "FF FF FD 00 01 09 00 03 74 00 00 02 00 00 CA 89", true, []string{"write id 1: goal_position 512"}},
	{2, "", "FF FF FD 00 FE 09 00 82 84 00 04 00 01 02 CE FA", true, []string{"sync read ids 1 2: present_position"}},
	{2, "", "FF FF FD 00 FE 11 00 83 74 00 04 00 01 96 00 00 00 02 AA 00 00 00 82 87", true,
		[]string{"sync write id 1: goal_position 150; id 2: goal_position 170"}},
	{2, "", "FF FF FD 00 01 03 00 01 19 00", true, nil},
}

func modelOf(protocol int) func(int) servo.Model {
	name := map[int]string{1: "ax-12a", 2: "xm430-w350"}[protocol]
	m := catalogue[slices.IndexFunc(catalogue, func(m *Model) bool { return m.Name == name && m.Protocol == protocol })]
	return func(id int) servo.Model {
		if id == Broadcast {
			return nil
		}
		return m
	}
}

func TestExplain(t *testing.T) {
	for _, c := range explained {
		if got := explain(c.protocol)(servotest.Hex(t, c.asked), servotest.Hex(t, c.frame), c.host,
			modelOf(c.protocol)); !slices.Equal(got, c.want) {
			t.Errorf("%s after %q: got %q, want %q", c.frame, c.asked, got, c.want)
		}
	}
	// A common answer of two servos to a fast read.
	asked := AppendInstruction2(nil, &Instruction{ID: Broadcast, Op: FastSyncRead, Addr: 132, Size: 4,
		Blocks: []Block{{ID: 3}, {ID: 7}}})
	answer := AppendFastStatus(nil,
		[]Status{{ID: 3, Data: []byte{1, 0, 0, 0}}, {ID: 7, Error: 0x80, Data: []byte{2, 0, 0, 0}}})
	if got, want := explain(2)(asked, answer, false, modelOf(2)),
		"id 3: present_position 1; id 7: error 80 present_position 2"; len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzExplain(f *testing.F) {
	for _, c := range explained {
		f.Add(c.protocol, servotest.Hex(f, c.asked), servotest.Hex(f, c.frame), c.host)
	}
	f.Fuzz(func(_ *testing.T, protocol int, asked, frame []byte, host bool) {
		protocol = 1 + protocol&1
		explain(protocol)(asked, frame, host, modelOf(protocol))
	})
}
