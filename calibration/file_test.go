package calibration

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

const good = `# by hand
joint: left_elbow
servo:
  model: ax-12a
  id: 7
  firmware: 24
  adapter: /dev/serial/by-id/usb-FTDI
method: manual
date: 2026-11-21
direction: -1
zero_ticks: 511.5
ticks_per_turn: 1227.6
range_ticks: [100, 900]
table:
  - [100, 2.1]
  - [511.5, 0]
  - [900, -1.99]
torque: {constant: 1.5}
`

// Each case changes the good file; Parse returns exactly the listed faults, in any order.
var parseCases = []struct {
	name     string
	from, to string
	faults   []string
}{
	{name: "good"},
	{"minimal", "table:\n  - [100, 2.1]\n  - [511.5, 0]\n  - [900, -1.99]\ntorque: {constant: 1.5}\n", "", nil},
	{"unknown key", "direction:", "directoin:",
		[]string{`f:10:1: directoin: got an unknown key, want joint, servo, method`}},
	{"unknown inner key", "  id: 7", "  id: 7\n  baud: 3",
		[]string{"f:6:3: servo.baud: got an unknown key, want model, id, firmware, adapter or homing_offset"}},
	{"twice", "method: manual", "method: manual\nmethod: manual",
		[]string{"f:9:1: method: got the key a second time, want each key once; the first is in line 8"}},
	{"types", "id: 7", "id: [7]", []string{"f:5:3: servo.id: got a list, want 0..253"}},
	{"fraction", "id: 7", "id: 7.5", []string{"f:5:7: servo.id: got 7.5, want 0..253"}},
	{"quoted number", "direction: -1", `direction: "-1"`, []string{`f:10:12: direction: got "-1", want 1 or -1`}},
	{"null", "zero_ticks: 511.5", "zero_ticks:", []string{"f:11:1: zero_ticks: got nothing, want -1e9..1e9"}},
	{"not a number", "zero_ticks: 511.5", "zero_ticks: .nan",
		[]string{"f:11:13: zero_ticks: got .nan, want -1e9..1e9"}},
	{"not finite", "zero_ticks: 511.5", "zero_ticks: -.inf",
		[]string{"f:11:13: zero_ticks: got -.inf, want -1e9..1e9"}},
	{"huge", "id: 7", "id: 99999999999999999999", []string{"servo.id"}},
	{"turns into 7 in 32 bits", "id: 7", "id: 4294967303", []string{"servo.id: got 4294967303, want 0..253"}},
	{"firmware is a table", "firmware: 24", "firmware: {a: 1}",
		[]string{"servo.firmware: got a table, want a text of at most 256 bytes"}},
	{"a long name", "left_elbow", strings.Repeat("x", 257), []string{"joint: got \"xxx"}},
	{"date", "2026-11-21", "yesterday", []string{`f:9:7: date: got "yesterday", want a date like`}},
	{"year 0", "2026-11-21", "0000-11-21", []string{`date: got "0000-11-21"`}},
	{"method", "method: manual", "method: magic", []string{`f:8:9: method: got "magic", want nominal, manual`}},
	{"range", "[100, 900]", "[900, 100]", []string{"f:13:1: range_ticks: got 900..100, want a rising range"}},
	{"short range", "[100, 900]", "[900]", []string{"f:13:1: range_ticks: got 1, want a list of 2 numbers"}},
	{"table row", "- [511.5, 0]", "- [511.5, x]", []string{`f:16:13: table[1][1]: got "x", want`}},
	{"table against direction", "direction: -1", "direction: 1", []string{
		"f:16:5: table[1]: got 0 rad after 2.1, want radians that follow direction 1",
		"f:17:5: table[2]: got -1.99 rad after 0"}},
	{"table falls", "[511.5, 0]", "[50, 0]", []string{"table[1]: got tick 50 after 100, want rising"}},
	{"table and zero disagree", "zero_ticks: 511.5", "zero_ticks: 300", []string{
		"table: got 0 rad at tick 511.5, want it at zero_ticks 300"}},
	{"anchor", "id: 7", "id: &a 7", []string{"f:5:7: servo.id: got an anchor, want a plain value"}},
	{"list", good, "- 1\n- 2\n", []string{"f: got a list, want a table"}},
	{"two documents", "# by hand", "a: 1\n---\n",
		[]string{"f:1:1: a: got an unknown key", "f:2:1: got 2 documents, want one"}},
	{"empty", good, "", []string{"joint: got nothing", "servo: got nothing", "method: got nothing", "date: got nothing",
		"direction: got nothing",
		"zero_ticks: got nothing", "ticks_per_turn: got nothing", "range_ticks: got nothing"}},
	{"syntax", "id: 7", "id: [7", []string{"f:6:3: got a syntax error: "}},
	{"many faults", good, `joint: ""
servo: {id: 300, modell: x}
method: 3
date: 2026-13-01
version: 0
direction: 2
zero_ticks: much
gear: -1
range_ticks: [1, 1]
torque: {constant: -2}
`, []string{
		"f:1:8: joint: got \"\"", `f:2:18: servo.modell: got an unknown key`, "f:2:13: servo.id: got 300, want 0..253",
		"f:3:9: method: got 3",
		"f:4:7: date: got \"2026-13-01\"", "f:5:10: version: got 0", "f:6:12: direction: got 2, want 1 or -1",
		"f:7:13: zero_ticks: got \"much\"", "f:8:7: gear: got -1", "f: ticks_per_turn: got nothing",
		"f:9:1: range_ticks: got 1..1", "f:10:20: torque.constant: got -2",
	}},
}

// The file in the package comment is valid and has the documented values.
func TestParseDocumented(t *testing.T) {
	j, err := Parse([]byte(`
joint: left_elbow
servo: {model: xm430-w350, id: 7, firmware: "48", adapter: /dev/serial/by-id/usb-FTDI_..., homing_offset: 0}
method: manual                  # nominal, manual, endstops, import, identified
date: 2026-11-21T14:03:00Z
version: 3
direction: -1
zero_ticks: 2051
ticks_per_turn: 4096
gear: 1
range_ticks: [820, 3190]
table: [[820, 1.89], [2051, 0], [3190, -1.75]]
torque: {constant: 1.78, offset: 0.02}
`), "f")
	if err != nil || j.Version != 3 || j.Servo.Firmware != "48" || len(j.Table) != 3 {
		t.Errorf("got %+v, %v", j, err)
	}
}

func list(err error) (texts []string) {
	var faults yaml.Faults
	errors.As(err, &faults)
	for _, f := range faults {
		texts = append(texts, f.String())
	}
	return texts
}

func TestParse(t *testing.T) {
	for _, c := range parseCases {
		t.Run(c.name, func(t *testing.T) {
			j, err := Parse([]byte(strings.Replace(good, c.from, c.to, 1)), "f")
			got := list(err)
			if (j == nil) != (len(c.faults) > 0) || len(got) != len(c.faults) {
				t.Fatalf("got %d faults, want %d:\n%v", len(got), len(c.faults), err)
			}
			for _, want := range c.faults {
				if !slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, want) }) {
					t.Errorf("want a fault %q, got:\n%v", want, err)
				}
			}
			if j != nil {
				again, err := Parse(j.Encode(), "f")
				if err != nil || !reflect.DeepEqual(again, j) {
					t.Errorf("encoded and read: got %+v, %v, want %+v", again, err, j)
				}
			}
		})
	}
	j, _ := Parse([]byte(good), "f")
	if j.Servo.Firmware != "24" || j.Gear != 1 || j.Version != 1 || j.Direction != -1 || len(j.Table) != 3 ||
		j.Table[2] != (Point{900, -1.99}) || j.Torque.Constant != 1.5 || j.Date.Format("2006-01-02") != "2026-11-21" {
		t.Errorf("got %+v", j)
	}
}

func TestSaveKeepsVersions(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "left_elbow.yaml")
	if _, err := Load(path); hal.KindOf(err) != hal.Uncalibrated || !strings.Contains(err.Error(), "halyard doctor") {
		t.Errorf("missing: got %v", err)
	}
	j := sample(1, 1, true)
	for want := 1; want <= 3; want++ {
		j.ZeroTicks = 2048 + float64(want)/10
		kept, err := Save(path, j)
		if err != nil || j.Version != want || (kept == "") != (want == 1) {
			t.Fatalf("save %d: got version %d, kept %q, %v", want, j.Version, kept, err)
		}
		if got, err := Load(path); err != nil || !reflect.DeepEqual(got, j) {
			t.Fatalf("load %d: got %+v, %v", want, got, err)
		}
	}
	// The first version is whole: method, date, servo.
	first, err := Load(filepath.Join(dir, "left_elbow.v1.yaml"))
	if err != nil || first.Version != 1 || first.ZeroTicks != 2048.1 || first.Servo != j.Servo ||
		!first.Date.Equal(j.Date) {
		t.Errorf("first: got %+v, %v", first, err)
	}
	// A rollback saves an old version as a new one; no version is lost.
	if kept, err := Save(path, first); err != nil || first.Version != 4 || filepath.Base(kept) != "left_elbow.v3.yaml" {
		t.Errorf("rollback: got version %d, kept %s, %v", first.Version, kept, err)
	}
	// A corrupt file, or one that was edited without a new version number, is kept unchanged.
	os.WriteFile(path, []byte("nonsense"), 0o644)
	if kept, err := Save(path, j); err != nil || filepath.Base(kept) != "left_elbow.v4.yaml" || j.Version != 5 {
		t.Errorf("spoilt: got version %d, kept %s, %v", j.Version, kept, err)
	}
	edited := bytes.Replace(j.Encode(), []byte("version: 5"), []byte("version: 2"), 1)
	os.WriteFile(path, edited, 0o644)
	kept, err := Save(path, j)
	if err != nil || filepath.Base(kept) != "left_elbow.v5.yaml" || j.Version != 6 || !same(kept, edited) {
		t.Errorf("edited: got version %d, kept %s, %v", j.Version, kept, err)
	}
	stray := filepath.Join(dir, "left_elbow.v0.yaml") // not a name that Save writes
	os.WriteFile(stray, nil, 0o644)
	versions, err := Versions(path)
	os.Remove(stray)
	if len(versions) != 5 || filepath.Base(versions[4]) != "left_elbow.v5.yaml" || err != nil {
		t.Errorf("versions: got %v, %v", versions, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 6 {
		t.Errorf("left behind: %v", entries)
	}
	// An invalid calibration changes no file.
	bad := *j
	bad.Direction = 0
	if _, err := Save(path, &bad); hal.KindOf(err) != hal.Invalid || bad.Version != 6 {
		t.Errorf("bad: got %v, version %d", err, bad.Version)
	}
	if _, err := Save(filepath.Join(dir, "none", "x.yaml"), j); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: got %v", err)
	}
	os.WriteFile(path, []byte("joint: 1"), 0o644)
	if _, err := Load(path); hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), path) {
		t.Errorf("invalid: got %v", err)
	}
}

// A calibration that Parse accepts is valid and survives Encode and Parse.
func FuzzParse(f *testing.F) {
	for _, c := range parseCases {
		f.Add([]byte(strings.Replace(good, c.from, c.to, 1)))
	}
	f.Add(sample(-1, 353.5, true).Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := Parse(data, "f")
		if err != nil {
			if j != nil || len(list(err)) == 0 || err.Error() == "" {
				t.Fatalf("got %+v with %v", j, err)
			}
			return
		}
		if err := j.Validate(); err != nil {
			t.Fatalf("accepted: %v", err)
		}
		text := j.Encode()
		again, err := Parse(text, "f")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !bytes.Equal(again.Encode(), text) {
			t.Fatalf("got %s, want %s", again.Encode(), text)
		}
		q := j.Radians(j.ZeroTicks)
		if q != q {
			t.Fatal("not a number")
		}
	})
}
