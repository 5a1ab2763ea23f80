package identify

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// bench is a recording as BAM's recorder writes it, with n samples 10 ms apart of a sine.
func bench(n int, change func(top map[string]any, entries []map[string]any)) []byte {
	entries := make([]map[string]any, n)
	for i := range entries {
		at := float64(i) / 100
		entries[i] = map[string]any{
			"timestamp": at, "goal_position": math.Sin(at), "position": math.Sin(at - 0.05), "speed": 0.0,
			"load":        65500,
			"input_volts": 7.3, "temp": 30, "torque_enable": true,
		}
	}
	top := map[string]any{
		"mass": 0.49, "length": 0.1, "kp": 400, "vin": 7.4, "motor": "xl330", "trajectory": "sin", "arm-mass": 0.02,
		"entries": entries,
	}
	if change != nil {
		change(top, entries)
	}
	b, err := json.Marshal(top)
	if err != nil {
		panic(err)
	}
	return b
}

func TestRead(t *testing.T) {
	r, err := Read("sine.json", bench(300, nil))
	if err != nil {
		t.Fatal(err)
	}
	first := Sample{0, 0, math.Sin(-0.05), 65500, 7.3, true}
	if r.Mass != 0.49 || r.ArmMass != 0.02 || r.Length != 0.1 || r.P != 400 || r.Volts != 7.4 || r.Motor != "xl330" ||
		r.Trajectory != "sin" || len(r.Samples) != 300 || r.Samples[0] != first {
		t.Errorf("got %+v", *r)
	}
	k, _ := actuator.Lookup("xl330-m288")
	if d := first.Duty(k); math.Abs(d+36.0/885) > 1e-12 {
		t.Errorf("load 65500: got duty %g, want -36/885", d)
	}
	if err := r.fits(k); err != nil {
		t.Error(err)
	}
}

// hostile are recordings that are refused, each with words that no other has.
var hostile = []struct {
	name, want string
	data       []byte
}{
	{"empty", "empty file", nil},
	{"text", "got no JSON", []byte("time,goal,position\n0,1,2\n")},
	{"half written", "half written", bench(300, nil)[:20000]},
	{"cut inside a number", "half written", bench(300, nil)[:20011]},
	{"NaN", "got NaN, want a number", []byte(strings.Replace(string(bench(300, nil)), `"temp":30`, `"temp":NaN`, 1))},
	{"infinite", "got -Infinity, want a number",
		[]byte(strings.Replace(string(bench(300, nil)), `"temp":30`, `"temp":-Infinity`, 1))},
	{"too large a number", "entries.position: got a number",
		[]byte(strings.Replace(string(bench(300, nil)), `"position":`, `"position":1e999,"p":`, 1))},
	{"list", "got a JSON array", []byte("[1, 2]")},
	{"behind", "behind the recording", append(bench(300, nil), "{}"...)},
	{"LeRobot", "LeRobot calibration",
		[]byte(`{"shoulder_pan": {"id": 1, "drive_mode": 0, "homing_offset": 12, "range_min": 900, "range_max": 3200}}`)},
	{"parameters", "parameters of BAM",
		[]byte(`{"kt": 0.38, "R": 4.0, "armature": 0.0018, "model": "m1", "actuator": "xl330"}`)},
	{"other robot", `got an object of ["joints" "name"]`, []byte(`{"name": "so101", "joints": []}`)},
	{"no motor", "motor: got none", bench(300, func(top map[string]any, _ []map[string]any) { delete(top, "motor") })},
	{"no mass", "mass: got none", bench(300, func(top map[string]any, _ []map[string]any) { delete(top, "mass") })},
	{"mass 0", "mass: got 0", bench(300, func(top map[string]any, _ []map[string]any) { top["mass"] = 0 })},
	{"arm of -1 kg", "arm_mass: got -1",
		bench(300, func(top map[string]any, _ []map[string]any) { top["arm_mass"] = -1 })},
	{"text for mass", "mass: got a string",
		bench(300, func(top map[string]any, _ []map[string]any) { top["mass"] = "0.49" })},
	{"few", "entries: got 20", bench(20, nil)},
	{"short", "got 0.59 s", bench(60, nil)},
	{"hole", "entries[7].position: got none",
		bench(300, func(_ map[string]any, e []map[string]any) { delete(e[7], "position") })},
	{"null", "entries[8].goal_position: got none",
		bench(300, func(_ map[string]any, e []map[string]any) { e[8]["goal_position"] = nil })},
	{"no torque", "entries[9].torque_enable: got none",
		bench(300, func(_ map[string]any, e []map[string]any) { delete(e[9], "torque_enable") })},
	{"ticks for radians", "entries[3].position: got 2048",
		bench(300, func(_ map[string]any, e []map[string]any) { e[3]["position"] = 2048 })},
	{"time back", "want rising times",
		bench(300, func(_ map[string]any, e []map[string]any) { e[5]["timestamp"] = 0.03 })},
	{"gap", "entries[150].timestamp: got a gap of 0.51 s", bench(300, func(_ map[string]any, e []map[string]any) {
		for i := 150; i < 300; i++ {
			e[i]["timestamp"] = float64(i)/100 + 0.5
		}
	})},
	{"still", "no motion", bench(300, func(_ map[string]any, e []map[string]any) {
		for i := range e {
			e[i]["position"] = 0.4 + 0.001*float64(i%3)
		}
	})},
}

func TestHostile(t *testing.T) {
	for _, c := range hostile {
		r, err := Read(c.name+".json", c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.name+".json") ||
			hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
		if r != nil && err == nil {
			t.Errorf("%s: got a run", c.name)
		}
		for _, other := range hostile {
			if other.name != c.name && other.want != c.want && err != nil && strings.Contains(err.Error(), other.want) {
				t.Errorf("%s: has the message of %s: %v", c.name, other.name, err)
			}
		}
	}
}

// What is good by itself and of another servo.
func TestOtherServo(t *testing.T) {
	for _, c := range []struct {
		name, servo, want string
		change            func(top map[string]any, entries []map[string]any)
	}{
		{"name", "sts3250", `got a recording of "xl330", want one of sts3250`, nil},
		{"supply", "xl330-m288", "vin: got 12 V", func(top map[string]any, _ []map[string]any) { top["vin"] = 12 }},
		{"register", "xl330-m288", "entries[4].load: got 1000",
			func(_ map[string]any, e []map[string]any) { e[4]["load"] = 1000 }},
		{"encoder", "xl330-m288", "steps of 1/1228 turn, as of ax-12a", func(_ map[string]any, e []map[string]any) {
			const tick = 300 * math.Pi / 180 / 1023
			for i := range e {
				e[i]["position"] = math.Round(e[i]["position"].(float64)/tick) * tick
			}
		}},
		{"same family", "xl330-m077", "", nil},
		{"other motor", "mx-64-2", "",
			func(top map[string]any, _ []map[string]any) { top["motor"], top["vin"] = "mx64", 15 }},
		{"by its full name", "sts3250", "",
			func(top map[string]any, _ []map[string]any) { top["motor"], top["vin"] = "STS3250", 12 }},
	} {
		r, err := Read("a.json", bench(300, c.change))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		k, _ := actuator.Lookup(c.servo)
		switch err := r.fits(k); {
		case c.want == "" && err != nil:
			t.Errorf("%s: got %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}

// Files, folders and repeats.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), bench(300, nil), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := Load([]string{filepath.Join(dir, "1.json"), dir, dir + "/./2.json"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range runs {
		names = append(names, filepath.Base(r.Name))
	}
	if want := []string{"1.json", "0.json", "2.json"}; !reflect.DeepEqual(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	for _, c := range []struct {
		path []string
		want string
	}{
		{nil, "got no recordings"}, {[]string{t.TempDir()}, "folder without recordings"},
		{[]string{filepath.Join(dir, "9.json")}, "no such file"},
	} {
		if _, err := Load(c.path); err == nil || !strings.Contains(err.Error(), c.want) ||
			hal.KindOf(err) != hal.Invalid {
			t.Errorf("%v: got %v, want %q", c.path, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range hostile {
		f.Add(c.data)
	}
	f.Add(bench(120, nil))
	k, _ := actuator.Lookup("xl330-m288")
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read("fuzz.json", data)
		if err != nil {
			if hal.KindOf(err) != hal.Invalid {
				t.Errorf("got kind %v of %v", hal.KindOf(err), err)
			}
			return
		}
		if r.fits(k) != nil || len(r.Samples) > 2000 || r.Samples[len(r.Samples)-1].Time-r.Samples[0].Time > 100 {
			return
		}
		// What is taken can be played, and gives numbers.
		positions := make([]float64, len(r.Samples))
		r.Play(k, Bench{}, positions)
		for i, q := range positions {
			if math.IsNaN(q) || math.IsInf(q, 0) {
				t.Fatalf("sample %d: got %g", i, q)
			}
		}
	})
}

// A list of too many items is refused before it is held: 10 MB of {} would be 600 MB.
func TestTooManyEntries(t *testing.T) {
	for _, item := range []string{"{}", "null", `{"motor":"\"]"}`} {
		data := []byte(`{"motor":"m","entries":[` + strings.Repeat(item+",", maxSamples) + item + "]}")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read("f", data)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 10<<20 || err == nil ||
			!strings.Contains(err.Error(), "entries: got 1048577, want 50..1048576") {
			t.Errorf("%s: allocated %d MB, %v", item, got>>20, err)
		}
	}
}
