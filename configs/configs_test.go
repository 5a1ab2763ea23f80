package configs

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	goccy "github.com/goccy/go-yaml"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/yaml"
)

func mustLoad(t *testing.T, name string, o Options) *Config {
	t.Helper()
	c, err := Load(name, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEmbedded(t *testing.T) {
	if got, want := Names(), []string{"a-series", "demo", "hobby-hexapod", "koch", "lx16a-arm", "okon", "p2at",
		"pendulum",
		"rov", "so101", "teleop", "usarsim", "xl430-pendulum", "xm430-arm"}; !slices.Equal(got, want) {
		t.Fatalf("names: got %v, want %v", got, want)
	}
	if _, ok := Embedded("nothing"); ok {
		t.Error("an unknown name is embedded")
	}
	for _, name := range Names() {
		for _, body := range []BodyKind{"", Sim, Emulated, Real} {
			spawns := name == "usarsim" || name == "p2at"                // their controllers have a watch
			if name == "usarsim" && (body == Emulated || body == Real) { // its classes have no devices
				continue
			}
			t.Run(name+"/"+string(body), func(t *testing.T) {
				c := mustLoad(t, name, Options{Body: string(body)})
				if body == "" {
					body = Sim
				}
				mode, period, timeout := Lockstep, 10*time.Millisecond, 500*time.Millisecond
				switch name {
				case "okon", "rov": // their clients do not step, and their laws are made for 50 Hz
					mode, period = Realtime, 20*time.Millisecond
				case "hobby-hexapod", "lx16a-arm": // the pulse frequency, and the time for six answers on the line
					period = 20 * time.Millisecond
				}
				if body == Real || spawns || name == "teleop" {
					mode = Realtime
				}
				if name == "xl430-pendulum" { // Simloid's commands persist
					timeout = 2 * time.Second
				}
				if body == Sim {
					timeout = 0
				}
				if c.Name != name || c.Clock.Mode != mode || c.Clock.Period != period || len(c.Notes) > 0 {
					t.Errorf("got %q, %+v, notes %v; want mode %s", c.Name, c.Clock, c.Notes, mode)
				}
				for i, a := range c.Agents {
					if name == "teleop" && i == 1 && body == Sim { // its leader is emulated as it is
						continue
					}
					if a.Body != body || a.Guard.CommandTimeout != timeout || a.Hardware == nil {
						t.Errorf("%s: got %s, %v; want %s, %v", a.Name, a.Body, a.Guard.CommandTimeout, body, timeout)
					}
				}
				for bus, b := range c.Buses {
					if b.Type != "i2c" && b.Type != "gpio" && !strings.HasPrefix(b.Port, "/dev/serial/by-id/") {
						t.Errorf("bus %s: port %q: not a stable name", bus, b.Port)
					}
				}
			})
		}
	}
}

// A config that is written as YAML and read again is unchanged.
func TestRoundTrip(t *testing.T) {
	for _, name := range Names() {
		o := Options{Set: []string{"agents[0].hardware.joints.elbow={bus: x, id: 99, model: y, ground_truth: {zero: " +
			"2048, direction: -1, gear: 2}}", "buses.x.type=z",
			"agents[0].hardware.joints.tilt={bus: x, device: board, address: 0x40, channel: 0, frequency: 50}",
			"agents[0].hardware.sensors={imu: {bus: x, device: chip}}",
			"agents[0].hardware.cameras={front: {device: v4l2, width: 640}}",
			"agents[0].hardware.monitors={leak: {bus: x, device: chip, above: 2.5}}"}}
		if name == "usarsim" || name == "p2at" { // without agents at the start
			o = Options{}
		}
		first := mustLoad(t, name, o)
		data, err := goccy.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		data = regexp.MustCompile(`(?m)^ *id: 0\n`).ReplaceAll(data, nil) // boards have none; servos here have others
		again, err := Parse(data, name, Options{})
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, data)
		}
		first.document, first.data, first.options = nil, nil, Options{} // where it was read from is not part of it
		again.document, again.data, again.options = nil, nil, Options{}
		if len(first.Agents)+len(first.Buses) == 0 { // an empty value, written or omitted
			again.Agents, again.Buses = first.Agents, first.Buses
		}
		if !reflect.DeepEqual(first, again) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, again, first)
		}
	}
}

// The demo's humanoid is the a-series: the same servos at the same addresses.
func TestDemoHumanoid(t *testing.T) {
	demo, series := mustLoad(t, "demo", Options{}), mustLoad(t, "a-series", Options{})
	if got, want := demo.Agents[0].Hardware, series.Agents[0].Hardware; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	ids := map[int]bool{}
	for _, j := range series.Agents[0].Hardware.Joints {
		ids[j.ID] = true
	}
	if want := slices.Sorted(maps.Keys(ids)); len(want) != 21 || want[0] != 1 || want[20] != 21 {
		t.Errorf("ids: got %v, want 1..21", want)
	}
}

func TestLoadFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "robot.yaml")
	if err := os.WriteFile(path, []byte("name: r\nagents: [{name: a, model: m}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, path, Options{})
	if got, want := c.Resolve("calibration/a.yaml"), filepath.Join(dir, "calibration/a.yaml"); got != want {
		t.Errorf("resolve: got %q, want %q", got, want)
	}
	if got := c.Resolve("/dev/ttyUSB0"); got != "/dev/ttyUSB0" {
		t.Errorf("resolve: got %q, want it unchanged", got)
	}
	for _, name := range []string{"demoo", filepath.Join(dir, "none.yaml"), dir} {
		_, err := Load(name, Options{})
		if hal.KindOf(err) != hal.Invalid {
			t.Errorf("%s: got %v, want kind invalid", name, err)
		}
	}
	_, err := Load("demoo", Options{})
	if want := `config "demoo": no such file or directory; did you mean "demo"? (try: halyard configs)`; err == nil ||
		err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestFaultsKind(t *testing.T) {
	var fs Faults
	if fs.Err() != nil {
		t.Error("no faults are an error")
	}
	fs.Add(Fault{Source: "f", Kind: hal.Uncalibrated, Got: "a", Rule: "b"})
	if got := hal.KindOf(fs.Err()); got != hal.Uncalibrated {
		t.Errorf("got %v, want the kind all share", got)
	}
	fs.Add(Fault{Source: "f"})
	if got := hal.KindOf(fs.Err()); got != hal.Invalid {
		t.Errorf("got %v, want invalid for a mixture", got)
	}
	var as Faults
	if !errors.As(fs.Err(), &as) || len(as) != 2 {
		t.Errorf("got %v, want the faults back", as)
	}
	for range 2 * yaml.MaxFaults {
		fs.Add(Fault{Source: "f"})
	}
	if len(fs) != yaml.MaxFaults+1 || fs[yaml.MaxFaults].Got != "more than 200 faults" {
		t.Errorf("got %d faults, the last %v; want a bound", len(fs), fs[len(fs)-1])
	}
}

// A fault that cmd finds has the place of its key, or of the nearest above.
func TestFaultPlace(t *testing.T) {
	c, err := Parse([]byte("name: r\nagents:\n  - name: a\n    model: m\n"), "f.yaml",
		Options{Set: []string{"agents[0].body=sim"}})
	if err != nil {
		t.Fatal(err)
	}
	agent := Path("agents").Index(0)
	for path, want := range map[Path]string{
		agent.Key("model"):                  "f.yaml:4:12: agents[0].model: got x, want y; z",
		agent.Key("hardware").Key("joints"): "f.yaml:3:5: agents[0].hardware.joints: got x, want y; z",
		agent.Key("body"):                   "--set agents[0].body=sim: agents[0].body: got x, want y; z",
		Path("buses").Key("u"):              "f.yaml: buses.u: got x, want y; z",
	} {
		if got := c.Fault(path, "x", "y", "z").String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestReference(t *testing.T) {
	const file = "../docs/config.md"
	got := Reference()
	want, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Skip("no docs here")
	}
	if err != nil || got != string(want) {
		t.Errorf("%s differs from Reference(): write it again with HALYARD_WRITE=1 go test ./configs (%v)", file, err)
		if os.Getenv("HALYARD_WRITE") != "" {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Every key has a meaning and a default; the tables of the reference are well-formed.
func TestTags(t *testing.T) {
	var walk func(reflect.Type)
	walk = func(typ reflect.Type) {
		for _, f := range yaml.Fields(typ) {
			if !strings.HasSuffix(f.Tag.Get("doc"), ".") || strings.Contains(string(f.Tag), "| ") {
				t.Errorf("%s.%s: tag %q", typ.Name(), f.Name, f.Tag)
			}
			inner, _ := contained(f.Type)
			if inner != nil {
				walk(inner)
			} else if v := valueText(f); strings.HasSuffix(v, " tables") {
				t.Errorf("%s.%s: %q, but its items are no tables", typ.Name(), f.Name, v)
			}
		}
	}
	walk(reflect.TypeFor[Config]())
}
