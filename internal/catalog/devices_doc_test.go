package catalog_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/actuator"
)

// The page of examples: a fragment is what stands in a config for a device, and the table below it the words that may
// stand in the place of the fragment's own.
const examplesPage = "../../docs/devices.md"

// table is a table of YAML.
type table = map[string]any

// fragment is one example of the page: the buses and the hardware of one robot, or a whole config.
type fragment struct {
	name     string // its heading
	text     string
	instead  []string          // words that may stand for its own, and its own
	own      string            // the one of them that it has
	commands map[string]string // of a joint: the modes that the page gives it, by such a word
}

// fragments takes the page apart. A section with a fragment says the command that checks what it wires.
func fragments(t *testing.T) (list []fragment) {
	t.Helper()
	data, err := os.ReadFile(examplesPage)
	if err != nil {
		t.Fatal(err)
	}
	word := regexp.MustCompile("`([a-z0-9+-]+)`")
	for _, section := range regexp.MustCompile(`(?m)^##+ `).Split(string(data), -1)[1:] {
		name, _, _ := strings.Cut(section, "\n")
		parts := strings.Split(section, "```yaml\n")
		if len(parts) > 1 && !strings.Contains(section, "halyard scan ") &&
			!strings.Contains(section, "halyard doctor ") {
			t.Errorf("%s: says no command that checks it", name)
		}
		for _, part := range parts[1:] {
			text, after, closed := strings.Cut(part, "```\n")
			if !closed {
				t.Fatalf("%s: a fragment has no end", name)
			}
			f := fragment{name: name, text: text, commands: map[string]string{}}
			var header []string
			for row := range strings.Lines(after) {
				cells := strings.Split(strings.Trim(row, "| \n"), " | ")
				switch {
				case strings.HasPrefix(row, "| word |"):
					header = cells
				case !strings.HasPrefix(row, "|"):
					header = nil
				case header != nil:
					for _, w := range word.FindAllStringSubmatch(cells[0], -1) {
						if f.instead = append(f.instead, w[1]); header[1] == "commands" {
							f.commands[w[1]] = cells[1]
						}
					}
				}
			}
			list = append(list, f)
		}
	}
	if len(list) < 20 {
		t.Fatalf("%s: got %d fragments", examplesPage, len(list))
	}
	return list
}

// variants are the fragment itself, and what it becomes with each word of its table.
func (f *fragment) variants(t *testing.T) (list []fragment) {
	t.Helper()
	own := ""
	for _, w := range f.instead {
		if regexp.MustCompile(`(device|model|robot): ` + regexp.QuoteMeta(w) + `[,}]`).MatchString(f.text) {
			own = w
		}
	}
	f.own = own
	if list = []fragment{*f}; len(f.instead) > 0 && own == "" {
		t.Errorf("%s: the table below the fragment has no word of it: %v", f.name, f.instead)
	}
	for _, w := range f.instead {
		if w != own {
			swapped := *f
			swapped.name, swapped.own = f.name+" as "+w, w
			swapped.text = regexp.MustCompile(`((?:device|model|robot): )`+regexp.QuoteMeta(own)+
				`([,}])`).ReplaceAllString(f.text, "${1}"+w+"${2}")
			list = append(list, swapped)
		}
	}
	return list
}

// exampleRobots are the robots on which examples are tried, each with what its other joints are connected to. The one
// without a model is made for the example: a post with the joints that it names, and an imu.
func exampleRobots() []exampleRobot {
	pioneer := func(model, robot string) exampleRobot {
		return exampleRobot{model: model, scene: "hall", position: []float64{17, -3, -1.82},
			base: table{"bus": "frame_base", "device": "p2os", "robot": robot},
			bus:  table{"type": "dynamixel1", "port": "/dev/frame"}, on: "model", word: "ax-12a", number: "id"}
	}
	return []exampleRobot{
		pioneer("usarsim-pioneer", "p2at"), pioneer("usarsim-p2dx", "p2dx"), pioneer("usarsim-papagoose", "p2at"),
		{model: "okon", scene: "pool", position: []float64{0, 0, -1}, bus: table{"type": "i2c", "port": "/dev/frame"},
			on: "device", word: "pca9685", number: "channel"},
		{scene: "flat", position: []float64{0, 0, 0}, bus: table{"type": "dynamixel2", "port": "/dev/frame"},
			on: "model", word: "xl430-w250", number: "id"},
	}
}

type exampleRobot struct {
	model, scene string
	position     []float64
	base, bus    table
	on, word     string // what drives the joints that the example does not name, and by which key
	number       string // the key that tells them apart
}

// part is a table of a fragment, never nil.
func part(of table, key string) table {
	p, _ := of[key].(table)
	if p == nil {
		p = table{}
	}
	return p
}

// rig writes a config of the example into a folder: its buses and hardware on the first robot that has all that it
// names.
func (f *fragment) rig(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "rig.yaml")
	var whole table
	if err := yaml.Unmarshal([]byte(f.text), &whole); err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	if whole["agents"] == nil {
		for key := range whole {
			if key != "buses" && key != "hardware" {
				t.Fatalf("%s: got the key %s, want buses and hardware, or a whole config", f.name, key)
			}
		}
		whole = f.framed(t, dir, whole)
	}
	data, err := yaml.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// framed is the config of a rig with the fragment's hardware.
func (f *fragment) framed(t *testing.T, dir string, whole table) table {
	t.Helper()
	buses, hardware := part(whole, "buses"), part(whole, "hardware")
	joints := part(hardware, "joints")
	for _, r := range exampleRobots() {
		name := r.model
		if name == "" {
			name = "robot.yaml"
			if err := os.WriteFile(filepath.Join(dir, name), []byte(exampleArm(joints)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		agent := table{"name": "robot", "model": name, "body": "sim", "pose": table{"position": r.position}}
		rig := table{"name": "example", "world": table{"scene": r.scene, "seed": 1}, "agents": []any{agent},
			"servers": []any{}}
		bare, err := yaml.Marshal(rig)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "bare.yaml")
		if err := os.WriteFile(path, bare, 0o600); err != nil {
			t.Fatal(err)
		}
		l := rigtest.PlanOf(t, path, configs.Options{}).Agents[0].Layout
		if !r.has(l, hardware) {
			continue
		}
		// What drives the rest, so that the whole robot can be emulated.
		if _, named := hardware["base"]; r.base != nil && !named {
			buses["frame_base"], hardware["base"] = table{"type": "serial", "port": "/dev/frame-base"}, r.base
		}
		buses["frame"] = r.bus
		for i := range l.Actuators {
			a := &l.Actuators[i]
			if _, named := joints[a.Name]; named || strings.Contains(a.Name, "wheel") {
				continue
			}
			joints[a.Name] = table{"bus": "frame", r.on: r.word, r.number: i}
		}
		hardware["joints"], agent["hardware"], rig["buses"] = joints, hardware, buses
		return rig
	}
	t.Fatalf("%s: no robot of the test has all that it names", f.name)
	return nil
}

// has reports whether a robot of layout l has all parts that hardware names.
func (r *exampleRobot) has(l *hal.Layout, hardware table) bool {
	if hardware["base"] != nil && r.base == nil {
		return false
	}
	for name := range part(hardware, "joints") {
		if l.Actuator(name) == hal.None {
			return false
		}
	}
	for name, c := range part(hardware, "sensors") {
		device, _ := c.(table)["device"].(string)
		if i := catalog.SensorIndex(l, name); i < 0 || catalog.SensorKinds()[device] == nil {
			return false
		} else if _, fits := catalog.SensorKinds()[device].First[l.Sensors[i].Kind]; !fits {
			return false
		}
	}
	for name := range part(hardware, "cameras") {
		if !slices.ContainsFunc(l.Cameras, func(c hal.Camera) bool { return c.Name == name }) {
			return false
		}
	}
	return true
}

// exampleArm is a post with these joints, each with the motor that the example names, or a hobby servo where pulses
// drive it.
func exampleArm(joints table) string {
	names, volts := report.SortedKeys(joints), 12.0
	bodies, list := "", ""
	for i, name := range append(names, "idle") {
		servo := "xl430-w250"
		if c, ok := joints[name].(table); ok {
			if servo, ok = c["model"].(string); !ok {
				servo = "mg996r"
			}
			if spec, ok := actuator.Lookup(servo); ok {
				volts = spec.NominalVolts
			}
		} else {
			servo = ""
		}
		if servo == "" && len(names) > 0 {
			break
		} else if servo == "" {
			servo = "xl430-w250"
		}
		bodies += fmt.Sprintf("  - {name: %s, position_m: [0, 0.1, %.1f], mass_kg: 0.05, shapes: [{box: [0.05, "+
			"0.05, 0.05], collides: false}]}\n", name, 0.1*float64(i+1))
		modes := "position"
		if spec, ok := actuator.Lookup(servo); ok {
			modes = modesOf(spec.Modes)
		}
		list += fmt.Sprintf("  - {name: %s, servo: %s, modes: [%s], limits_deg: [-60, 60], parent: post, child: %s, "+
			"anchor_m: [0, 0, %.1f], axis: [0, 0, 1]}\n",
			name, servo, modes, name, 0.1*float64(i+1))
	}
	return fmt.Sprintf("name: arm\ntitle: what examples are tried on\nsupply: {volts: %g, ohms: 0.01}\nbase: "+
		"fixed\nbodies:\n"+
		"  - {name: post, position_m: [0, 0, 0.2], mass_kg: 5, shapes: [{box: [0.02, 0.02, 0.4], collides: "+
		"false}]}\n%sjoints:\n%s"+
		"sensors:\n  - {name: imu, kind: imu, body: post}\n", volts, bodies, list)
}

// modesOf are modes as the page and a robot file say them.
func modesOf(has [hal.NumModes]bool) string {
	var list []string
	for m := range has {
		if has[m] {
			list = append(list, hal.Mode(m).String())
		}
	}
	return strings.Join(list, ", ")
}

// Every example of the page resolves, is built emulated and runs a second in lock-step: what it names is well, and says
// what can be. Every word that a config may say for a device has one.
func TestDevicesDoc(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, f := range fragments(t) {
		for i, v := range f.variants(t) {
			t.Run(v.name, func(t *testing.T) {
				p := rigtest.PlanOf(t, v.rig(t), configs.Options{Body: "emulated"})
				for _, word := range wordsOf(p.Config) {
					shown[word] = true
				}
				d := time.Second
				if i > 0 {
					d = 400 * time.Millisecond
				}
				tryExample(t, p, d)
				v.realLacks(t, p)
				if said, ok := v.commands[v.own]; ok {
					var has [hal.NumModes]bool
					for _, a := range p.Agents[0].Layout.Actuators {
						for m := range has {
							has[m] = has[m] || a.Goal[m] != hal.None
						}
					}
					if got := modesOf(has); got != said {
						t.Errorf("it takes %s, and the page says %s", got, said)
					}
				}
			})
		}
	}
	for _, word := range deviceWords() {
		if !shown[word] {
			t.Errorf("%s: no example of %s", examplesPage, word)
		}
	}
}

// realLacks checks that the real robot lacks nothing but the files of calibration that the example names.
func (f *fragment) realLacks(t *testing.T, p *plan.Plan) {
	t.Helper()
	c, err := configs.Load(p.Config.Source, configs.Options{Body: "real"})
	if err == nil {
		_, err = plan.Resolve(c, builtin.Catalog())
	}
	var faults configs.Faults
	if err != nil && !errors.As(err, &faults) {
		t.Fatal(err)
	}
	for _, fault := range faults {
		keys := strings.Split(string(fault.Path), ".")
		if len(keys) < 2 || !strings.Contains(f.text, " "+keys[len(keys)-2]+":") && fault.Kind == hal.Uncalibrated {
			continue // what the example does not name
		}
		if fault.Kind != hal.Uncalibrated || !strings.HasPrefix(fault.Got, "calibration/") {
			t.Errorf("real: %v", fault)
		}
	}
}

// deviceWords are the words that a config may say for a device, each with what it is said of.
func deviceWords() (list []string) {
	for _, kind := range catalog.BuiltinBuses().Names() {
		t := catalog.BuiltinBuses().Of(kind)
		for _, model := range actuator.Names() {
			if t.Lookup(model) != nil {
				list = append(list, kind+" "+model)
			}
		}
	}
	list = append(list, report.SortedKeys(catalog.OutputKinds())...)
	for _, device := range report.SortedKeys(catalog.SensorKinds()) {
		for _, bus := range catalog.SensorKinds()[device].Buses {
			list = append(list, device+" on "+bus)
		}
	}
	for _, m := range lidar.HokuyoModels() {
		list = append(list, "hokuyo "+strings.ToLower(m.Name))
	}
	for _, r := range base.Robots() {
		list = append(list, "p2os "+r.Name)
	}
	list = append(list, report.SortedKeys(plan.BaseKinds())...)
	return append(list, plan.CameraDevice, "estop", "lights", "output_enable", "a scanner on "+catalog.TCPPrefix)
}

// wordsOf are those that a config says.
func wordsOf(c *configs.Config) (list []string) {
	h := c.Agents[0].Hardware
	for _, j := range h.Joints {
		if list = append(list, c.Buses[j.Bus].Type+" "+j.Model, j.Device); j.OutputEnable != nil {
			list = append(list, "output_enable")
		}
	}
	for _, sensors := range []map[string]configs.Sensor{h.Sensors, h.Monitors} {
		for _, s := range sensors {
			bus := c.Buses[s.Bus]
			if list = append(list, s.Device+" on "+bus.Type, s.Device+" "+s.Model); catalog.Networked(&bus) {
				list = append(list, "a scanner on "+catalog.TCPPrefix)
			}
		}
	}
	if h.Base != nil {
		list = append(list, h.Base.Device, h.Base.Device+" "+h.Base.Robot)
	}
	for _, camera := range h.Cameras {
		list = append(list, camera.Device)
	}
	if h.Estop != nil {
		list = append(list, "estop")
	}
	if len(h.Lights) > 0 {
		list = append(list, "lights")
	}
	return list
}

// tryExample builds p and lets d pass: joints go where they are told, and what measures tells what can be.
func tryExample(t *testing.T, p *plan.Plan, d time.Duration) {
	t.Helper()
	h := p.Config.Agents[0].Hardware
	s := rigtest.Step(t, p)
	l := s.Agent.Layout()
	s.Run(d / 2)
	goals := map[int]float64{}
	for i := range l.Actuators {
		a := &l.Actuators[i]
		switch at := s.Agent.Measured(nil)[max(0, a.Position)]; {
		case a.Goal[hal.PositionMode] != hal.None:
			goals[i] = at + 0.1
			s.Inputs[a.Goal[hal.PositionMode]] = goals[i]
		case a.Kind == hal.Thruster:
			s.Inputs[a.Goal[hal.DutyMode]] = 0.1
		case a.Goal[hal.VelocityMode] != hal.None:
			s.Inputs[a.Goal[hal.VelocityMode]] = 0.5
		}
	}
	s.Run(d / 2)
	values := s.Agent.Measured(nil)
	for name := range h.Joints {
		i := l.Actuator(name)
		// A board that has no new pulse is written every 100 ms, at the edge of a cycle.
		if st := s.Device(name); st.Err != nil || st.Time < d-150*time.Millisecond {
			t.Errorf("%s: %+v", name, st)
		}
		if goal, ok := goals[i]; ok && d >= time.Second && math.Abs(values[l.Actuators[i].Position]-goal) > 0.05 {
			t.Errorf("%s: at %.3f rad, want %.3f", name, values[l.Actuators[i].Position], goal)
		}
	}
	for name, c := range h.Sensors {
		if st := s.Device(name); st.Err != nil || st.Time < d-300*time.Millisecond {
			t.Errorf("%s: %+v", name, st)
		}
		of := rigtest.SensorOf(t, l, name)
		measured := values[of.First : of.First+of.Count]
		for k, v := range measured {
			if channel := l.Measured(of.First + k); !(v >= channel.Min && v <= channel.Max) &&
				(of.Kind != "range" || !math.IsNaN(v)) {
				t.Errorf("%s: got %s %g, want %g..%g", name, channel.Name, v, channel.Min, channel.Max)
				break
			}
		}
		sensible(t, name, c.Device, of.Kind, measured)
	}
	for _, q := range s.Sys.Plan.Sensors {
		if len(q.Uses) > 0 {
			continue
		}
		v := make([]float64, s.Sys.Pollers[q].Values())
		if age, err := s.Sys.Pollers[q].Latest(v, 0); err != nil || age < 0 || age > 300*time.Millisecond {
			t.Errorf("%s: %v old: %v", q.Name, age, err)
		}
		sensible(t, q.Name, q.Config.Device, "", v)
	}
	if h.Base != nil {
		for _, u := range p.Agents[0].Base.Serves {
			if st := s.Device(u.Sensor); st.Err != nil || st.Time < d-450*time.Millisecond {
				t.Errorf("%s: %+v", u.Sensor, st)
			}
		}
	}
	for i := range l.Cameras {
		if _, named := h.Cameras[l.Cameras[i].Name]; named {
			picture, err := s.Look(i, 0, 20*time.Second)
			if err != nil || picture.Width != l.Cameras[i].Width {
				t.Fatalf("%s: no picture of %d pixels: %v", l.Cameras[i].Name, l.Cameras[i].Width, err)
			}
			picture.Release()
		}
	}
	for _, event := range s.Events {
		name := strings.Split(event, "/")[2]
		_, joint := h.Joints[name]
		_, sensor := h.Sensors[name]
		_, monitor := h.Monitors[name]
		if joint || sensor || monitor {
			t.Errorf("got the event %s", event)
		}
	}
}

// sensible checks what a device measures of a robot that is at rest. Of a scanner a ray that nothing answers is not
// known.
func sensible(t *testing.T, name, device, kind string, v []float64) {
	t.Helper()
	good := true
	switch {
	case kind == "range" && len(v) > 1:
		known := slices.DeleteFunc(slices.Clone(v), math.IsNaN)
		good = len(known) > len(v)/2 && slices.Min(known) > 0.05 && slices.Min(known) < slices.Max(known) // a room
	case len(v) == 10:
		good = math.Abs(v[0]*v[0]+v[1]*v[1]+v[2]*v[2]+v[3]*v[3]-1) < 0.01 &&
			math.Abs(math.Hypot(math.Hypot(v[7], v[8]), v[9])-9.81) < 0.5
	case strings.HasPrefix(device, "bm"):
		good = v[0] > 9e4 && v[0] < 11e4 && v[1] > -20 && v[1] < 60
	case strings.HasPrefix(device, "ms5837"):
		good = v[0] > 5e3 && v[0] < 2e4 // a metre under water
	case device == "ina219":
		good = v[0] > 9 && v[0] < 26
	}
	if !good {
		t.Errorf("%s: %s cannot have measured %v", name, device, v)
	}
}
