package simloidconf

import (
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/hal"
)

// Each line of a file overrides the original, and a fault names its line.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  func(c *Conf) // from the original
		notes int
		fault string
	}{
		{"", func(*Conf) {}, 0, ""},
		{"tcp_port 0 # any\nrobot 91\nscene 1\nstep_length 0.005\n", func(c *Conf) {
			c.Port, c.Robot, c.Scene, c.Step = 0, 91, 1, 5*time.Millisecond
		}, 0, ""},
		{"initial_gravity on\npidP 7\ninit_max_torque 1", func(c *Conf) { c.PID[0], c.MaxTorque = 7, 1 }, 0, ""},
		{"fps 25\nwhim 3\n", func(*Conf) {}, 1, ""},
		{"robot\n", nil, 0, `f:1: "robot": got "nothing", want a value`},
		{"\npidD nan\n", nil, 0, `f:2: "pidD": got "nan", want 0..1000`},
		{strings.Repeat("#", maxConf+1), nil, 0, "bytes, want at most"},
	} {
		got := Original()
		notes, err := Parse("f", []byte(c.text), &got)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) || hal.KindOf(err) != hal.Invalid {
				t.Errorf("%.40q: got %v, want %s", c.text, err, c.fault)
			}
			continue
		}
		want := Original()
		if c.want(&want); err != nil || got != want || len(notes) != c.notes {
			t.Errorf("%q: got %+v, %q, %v, want %+v", c.text, got, notes, err, want)
		}
	}
}

// FuzzParse: no text gives settings outside their bounds.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"tcp_port 8000\nrobot 31 #\n", "step_length 1e-4\npidD nan",
		"initial_gravity on\nscene 3", "robot", "\x00 \xff", "init_max_torque 0.5"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Original()
		Parse("f", data, &c)
		if c.Port < 0 || c.Port > 65535 || c.Robot < 0 || c.Scene < 0 || c.Step < 100*time.Microsecond ||
			c.Step > time.Second ||
			!(c.MaxTorque > 0 && c.MaxTorque <= 1) || c.Step%time.Microsecond != 0 {
			t.Errorf("got %+v", c)
		}
		for _, k := range c.PID {
			if !(k >= 0 && k <= 1000) {
				t.Errorf("got %+v", c)
			}
		}
	})
}
