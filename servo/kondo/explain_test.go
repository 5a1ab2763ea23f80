package kondo

import (
	"slices"
	"testing"

	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// explained is frames and their packets in words; the bytes are those of Kondo's command reference.
var explained = []struct {
	frame string
	host  bool
	want  []string
}{
	{"81 3A 4C", true, []string{"move id 1: goal_position 7500"}},
	{"01 3A 4C", false, []string{"id 1: present_position 7500"}},
	{"82 00 00", true, []string{"torque off id 2"}},
	{"A1 01 C1 02 64", true, []string{"read id 1: stretch", "write id 1: speed 100"}},
	{"21 03 05", false, []string{"id 1: present_amps 5"}},
	{"41 03 3F", false, []string{"id 1: current_limit 63 written"}},
	{"FF 00 00 00", true, []string{"read the id"}},
	{"E5 01 01 01", true, []string{"set the id to 5"}},
	{"E5", false, []string{"id 5"}},
	{"A1 7F", true, []string{"read id 1: parameter 127"}},
	{"81 3A", true, nil},
}

func model(int) servo.Model { return catalogue[0] }

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
