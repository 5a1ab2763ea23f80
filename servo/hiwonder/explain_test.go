package hiwonder

import (
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// explained is frames and their packets in words. The first reply is of a real LX-16A, the commands are those of the
// protocol document.
var explained = []struct {
	frame string
	host  bool
	want  []string
}{
	{"55 55 01 05 1C EC 01 F0", false, []string{"id 1: present_position 492"}},
	{"55 55 01 03 1C DF", true, []string{"read id 1: present_position"}},
	{"55 55 01 07 01 F4 01 E8 03 16 55 55 02 04 1F 01 D9", true,
		[]string{"write id 1: goal_position 500, goal_time 1000", "write id 2: torque_enable 1"}},
	{"55 55 01 07 1D 01 00 F4 01 E4", true, []string{"write id 1: motor_mode 1, 14: 00, goal_pwm 500"}},
	{"55 55 01 03 0C EF", true, []string{"move_stop id 1"}},
	{"55 55 09 05 1C EC 01 E8", false, []string{"id 9: 29: ec 01"}}, // of no model
	{"55 55 01 05 1C EC 01 00", false, nil},                         // a bad checksum
}

func model(id int) servo.Model {
	if id == 9 {
		return nil
	}
	return catalogue[0]
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
