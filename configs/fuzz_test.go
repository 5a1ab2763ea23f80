package configs

import (
	"errors"
	"strings"
	"testing"
)

// FuzzParse: no document or option panics, takes long, or gives an incomplete config.
func FuzzParse(f *testing.F) {
	for _, c := range cases {
		if len(c.yaml) < 4096 {
			f.Add(c.yaml, strings.Join(c.o.Set, "\n"), c.o.Body, strings.Join(c.o.Listen, "\n"))
		}
	}
	for _, name := range Names() {
		data, _ := Embedded(name)
		f.Add(string(data), "clock.mode=realtime", "emulated", "osp=127.0.0.1:0")
	}
	for _, s := range []string{"0::", "{0", "*-0", ">\n>", "&{0", "0\n-", "? a\n: b", "a: !!x", "!", "&", "- - -",
		"a: b: c", "{a: {<<: *b}}"} {
		f.Add(s, s, "", s)
	}
	f.Fuzz(func(t *testing.T, yaml, sets, body, listens string) {
		o := Options{Body: body}
		if sets != "" {
			o.Set = strings.Split(sets, "\n")
		}
		if listens != "" {
			o.Listen = strings.Split(listens, "\n")
		}
		c, err := Parse([]byte(yaml), "f.yaml", o)
		if err != nil {
			var faults Faults
			if c != nil || !errors.As(err, &faults) || len(faults) == 0 || err.Error() == "" {
				t.Errorf("got %v, %v", c, err)
			}
			return
		}
		if c.Clock.Mode == "" || c.World.Substep <= 0 || c.Clock.Period%c.World.Substep != 0 {
			t.Errorf("got %+v, %+v", c.Clock, c.World)
		}
		for _, r := range c.Robots() {
			if r.Guard.CommandTimeout < 0 || r.Model == "" {
				t.Errorf("got %+v", r.Robot)
			}
		}
	})
}
