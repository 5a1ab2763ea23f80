package yaml_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/internal/yaml"
	"github.com/halyard-robotics/halyard/internal/yaml/yamltest"
)

// No document costs more than its bound, for any target type.
func TestHostile(t *testing.T) {
	yamltest.Refuses(t, func(b []byte) error {
		d, _ := yaml.Decode(b, "f", &thing{})
		return d.Err()
	})
}

// thing has a field of each kind.
type thing struct {
	Name   string             `yaml:"name" required:"true" form:"lower"`
	Free   string             `yaml:"free" form:"bare"`
	Way    string             `yaml:"way" default:"on" enum:"on|off"`
	Count  int                `yaml:"count" min:"0" max:"253"`
	Sign   int                `yaml:"sign" enum:"1|-1"`
	Mass   *float64           `yaml:"mass" above:"0" max:"10"`
	Force  float64            `yaml:"force" min:"0" max:"+Inf"`
	Flag   bool               `yaml:"flag"`
	At     [3]float64         `yaml:"at" min:"-1" max:"1"`
	Rows   []row              `yaml:"rows" count:"3"`
	Parts  []part             `yaml:"parts" unique:"name"`
	Table  map[string]float64 `yaml:"table"`
	Every  time.Duration      `yaml:"every" default:"10ms" min:"0s" max:"1s"`
	Date   time.Time          `yaml:"date"`
	More   more               `yaml:",inline"`
	Hidden int                `yaml:"-"`
}

type row struct{ Ticks, Radians float64 }

type part struct {
	Name string `yaml:"name"`
}

type more struct {
	Model string `yaml:"model" required:"with mass"`
}

// Each case is a document and the whole text of its faults; a document without faults is followed by what is read.
var cases = []struct{ name, text, want string }{
	{"least", "name: a", "{Name:a Free: Way:on Every:10ms}"},
	{"all", "name: a\nfree: 48\nway: off\ncount: 0x10\nsign: -1\nmass: 2\nmodel: m\nforce: .inf\nflag: true\nat: " +
		"[0, -3e-1, 1]\nrows: [[1, 2]]\nparts: [{name: p}, {name: q}]\n" +
		"table: {x: 1.5}\nevery: none\ndate: 2026-11-21\n", "{Name:a Free:48 Way:off Count:16 Sign:-1 Force:+Inf " +
		"Flag:true At:[0 -0.3 1] Rows:[{Ticks:1 Radians:2}] Parts:[{Name:p} {Name:q}] Table:map[x:1.5] " +
		"Date:2026-11-21 00:00:00 +0000 UTC More:{Model:m}}"},
	{"empty", "", "f: name: got nothing, want lower-case letters, digits, - and _"},
	{"list", "- 1", "f: got a list, want a table"},
	{"syntax", "name: [", "f:1:7: got a syntax error: sequence end token ']' not found, want YAML"},
	{"anchor and alias", "name: &a b\nway: *a",
		"f:1:7: name: got an anchor, want a plain value; write the value where it is used\n" +
			"f:2:6: way: got an alias, want a plain value; write the value itself"},
	{"merge, tag, documents", "name: !!str a\ntable: {<<: {b: 1}}\n---\nname: b",
		"f:1:7: name: got a tag \"!!str\", want a plain value; leave the tag out\n" +
			"f:2:9: table: got a merge key, want a plain key\nf:3:1: got 2 documents, want one"},
	{"unknown, twice", "nmae: a\ncount: 1\ncount: 2", "f:1:1: nmae: got an unknown key, want name, free, way, " +
		"count, sign, mass, force, flag, at, rows, parts, table, every, date or model; did you mean \"name\"?\n" +
		"f:3:1: count: got the key a second time, want each key once; the first is in line 2"},
	{"types", "name: 5\nway: no\ncount: 1.5\nsign: 2\nmass: 0\nforce: .nan\nflag: yes\nat: [0, 1]\nrows: 3\ntable: " +
		"{x: .inf}\nevery: 10\ndate: today\nmodel: m", strings.Join([]string{
		"f:1:7: name: got 5, want lower-case letters, digits, - and _; write it in quotes: \"5\"",
		"f:2:6: way: got \"no\", want on or off; did you mean \"on\"?", "f:3:8: count: got 1.5, want 0..253",
		"f:4:7: sign: got 2, want 1 or -1", "f:5:7: mass: got 0, want above 0, at most 10",
		"f:6:8: force: got .nan, want 0..+Inf", "f:7:7: flag: got \"yes\", want true or false",
		"f:8:1: at: got 2, want a list of 3 numbers", "f:9:7: rows: got 3, want a list",
		"f:10:12: table.x: got .inf, want a number",
		"f:11:8: every: got 10, want a time 0s..1s; write the unit: 10ms or 10s",
		"f:12:7: date: got \"today\", want a date like 2026-11-21 or 2026-11-21T14:03:00Z"}, "\n")},
	{"lists", "name: a\nat: [0, 2, x]\nrows: [[1], 3]\nparts: [{name: p}, {name: p}]",
		"f:2:9: at[1]: got 2, want -1..1\nf:2:12: at[2]: got \"x\", want -1..1\n" +
			"f:3:8: rows[0]: got 1, want a list of 2 numbers\nf:3:13: rows[1]: got 3, want a list of 2 " +
			"numbers\nf:4:27: " +
			"parts[1].name: got \"p\", want one of its own; parts[0].name has it too"},
	{"too many", "name: a\nrows: [[1, 2], [1, 2], [1, 2], [1, 2]]", "f:2:1: rows: got 4, want at most 3"},
	{"required with", "name: a\nmass: 1", "f: model: got nothing, want text"},
}

func TestDecode(t *testing.T) {
	for _, c := range cases {
		var into thing
		d, _ := yaml.Decode([]byte(c.text), "f", &into)
		got := fmt.Sprint(d.Err())
		if d.Err() == nil {
			into.Mass = nil
			got = strings.NewReplacer(" Count:0", "", " Sign:0", "", " Mass:<nil>", "", " Force:0", "", " Flag:false",
				"", " At:[0 0 0]", "", " Rows:[]", "", " Parts:[]", "",
				" Table:map[]", "", " Every:0s", "", " Date:0001-01-01 00:00:00 +0000 UTC", "", " More:{Model:}", "",
				" Hidden:0", "").Replace(fmt.Sprintf("%+v", into))
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// FuzzRead: no document panics, costs more than its bound or is refused without a reason.
func FuzzRead(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.text))
	}
	for _, text := range yamltest.Hostile() {
		f.Add([]byte(text[:min(len(text), 2000)]))
	}
	for _, s := range []string{"0::", "{0", "*-0", ">\n>", "&{0", "0\n-", "? a\n: b", "a: !!x", "!", "&", "- - -",
		"a: b: c", "{a: {<<: *b}}", "? :", "- - - {"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var into thing
		d, ok := yaml.Decode(b, "f", &into)
		if !ok && d.Err() == nil {
			t.Error("nothing to read, and no fault")
		}
		for _, fault := range d.Faults {
			if fault.Got == "" || fault.Line > 0 && fault.Column < 1 {
				t.Errorf("got %+v", fault)
			}
		}
	})
}
