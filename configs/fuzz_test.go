package configs

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// FuzzParse: no document and no option panics, takes long, or gives a config that is not complete.
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
	for _, s := range []string{"0::", "{0", "*-0", ">\n>", "&{0", "0\n-", "? a\n: b", "a: !!x", "!", "&", "- - -", "a: b: c", "{a: {<<: *b}}"} {
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

// The dearest documents within the bounds end in seconds on a slow machine, not in minutes.
func TestBoundedTime(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, maxBytes/len(s)) }
	for name, doc := range map[string]string{
		"keys":      strings.Repeat("a:\n", maxTokens/2-10),
		"own keys":  "buses:\n" + numbered("  b%: {type: t, baud: 2, port: p%}\n", 2000),
		"unknown":   numbered("k%: 1\n", maxTokens/4),
		"joints":    "agents:\n - hardware:\n    joints:\n" + numbered("     j%: {bus: b, id: 1, model: m}\n", 2000),
		"brackets":  fill("["),
		"dashes":    fill("- "),
		"colons":    fill("a: "),
		"questions": fill("? "),
		"anchors":   fill("&a "),
		"tags":      fill("!a "),
		"quotes":    fill("\""),
		"lines":     fill("a\n"),
		"blanks":    fill(" "),
		"comments":  fill("#\n"),
		"indent":    stairs(),
	} {
		start := time.Now()
		if _, err := Parse([]byte(doc), "f.yaml", Options{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %v", name, took)
		} else {
			t.Logf("%-10s %v", name, took)
		}
	}
}

func numbered(line string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(line, "%", string(rune('a'+i%26))+strings.Repeat("x", i/26%26)+strings.Repeat("y", i/676)))
	}
	return b.String()
}

// stairs nests by indentation as deep as the size allows.
func stairs() string {
	var b strings.Builder
	for i := 0; b.Len()+i+3 < maxBytes; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
