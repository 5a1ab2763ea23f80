package calibration

import (
	"math"
	"strings"
	"testing"
)

// A servo with another zero offset than its file's is named, with the lines that were exchanged or the joint whose file
// would fit.
func TestMisfits(t *testing.T) {
	met := func(joint, bus string, id, file int, offset float64) Met {
		return Met{joint, bus, id, &Joint{Joint: joint, Method: ByManual,
			Servo: Servo{Model: "sts3215", ID: id, HomingOffset: file}}, offset}
	}
	nominal := met("n", "a", 9, 5, 7)
	nominal.File.Method = ByNominal
	for _, c := range []struct {
		name      string
		met       []Met
		n         int
		said, fix string
	}{
		{"right", []Met{met("hip", "a", 1, -12, -12), met("knee", "a", 2, 0, 0)}, 0, "", ""},
		{"nominal, and not read", []Met{nominal, met("hip", "a", 1, 5, math.NaN()), {Joint: "x", Offset: 3}}, 0, "",
			""},
		{"stale", []Met{met("hip", "a", 1, 100, -900)}, 1, "made with homing offset 100, the servo has -900",
			"measure hip"},
		{"two of a line", []Met{met("hip", "a", 1, 100, 7), met("knee", "a", 2, 7, 100)}, 2, "the file of knee",
			"swapped"},
		{"two lines", []Met{met("l1", "a", 1, 100, 7), met("l2", "a", 2, -3, 8), met("r1", "b", 1, 7, 100),
			met("r2", "b", 2, 8, -3)}, 4,
			"bus a has the servos of bus b", "buses.a.port and buses.b.port"},
		{"one of two lines", []Met{met("l1", "a", 1, 100, 7), met("l2", "a", 2, -3, -4), met("r1", "b", 1, 7, 100)}, 3,
			"the file of r1", "l1 and r1"},
		{"never homed", []Met{met("hip", "a", 1, 100, 0), met("knee", "a", 2, 0, 5)}, 2, "the servo has 0",
			"measure hip"},
	} {
		got := Misfits(c.met)
		if len(got) != c.n || c.n > 0 && (!strings.Contains(got[0].Found, c.said) ||
			!strings.Contains(got[0].Fix, c.fix)) {
			t.Errorf("%s: got %+v, want %d, %q, %q", c.name, got, c.n, c.said, c.fix)
		}
	}
}
