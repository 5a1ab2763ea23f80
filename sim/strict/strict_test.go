package strict

import (
	"errors"
	"strings"
	"testing"
)

type file struct {
	Name string `yaml:"name"`
	Size int    `yaml:"size"`
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, text, fault string
		ok                bool
		want              file
	}{
		{"whole", "name: a\nsize: 2", "", true, file{"a", 2}},
		{"unknown key, the rest is read", "name: a\ncolour: red\nsize: 2", "unknown field", true, file{"a", 2}},
		{"empty", "", "empty file", false, file{}},
		{"long", strings.Repeat("#", 101), "at most 100", false, file{}},
		{"anchor", "name: &a b", "no anchor", false, file{}},
		{"deep", "name: " + strings.Repeat("[", 20) + strings.Repeat("]", 20), "deep", false, file{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got file
			fault, ok := Read([]byte(c.text), 100, &got)
			if ok != c.ok || got != c.want || (fault == nil) != (c.fault == "") || fault != nil && !strings.Contains(fault.Error(), c.fault) {
				t.Errorf("got %+v, %t, %v, want %+v, %t, %q", got, ok, fault, c.want, c.ok, c.fault)
			}
			if errors.Is(fault, ErrEmpty) != (c.text == "") {
				t.Errorf("got %v", fault)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"name: a\nsize: 2", "name: [", "a: &b {c: *b}", "? :", "- - - {"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got file
		Read(b, 1<<16, &got)
	})
}
