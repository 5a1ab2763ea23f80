package assembly_test

import (
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

const roverRig = `
name: rover
world: {scene: yellow}
buses:
  io: {type: gpio}
agents:
  - name: rover
    model: usarsim-p2dx
    pose: {position: [4.5, -1.9, -1.8], rotation: [0, 0, 1.5708]}
    parts: {f4: emulated, ecleft: emulated, ecright: emulated, front: emulated}
    guard: {command_timeout: none}
    hardware:
      sensors:
        f4: {bus: io, device: hc-sr04, lines: [23, 24], rate: 16}
        ecleft: {bus: io, device: encoder, lines: [5, 6], rate: 100}
        ecright: {bus: io, device: encoder, lines: [13, 19], rate: 100}
        front: {bus: io, device: bumper, lines: [17], rate: 100}
servers: []
`

// A simulated rover feels its way with emulated devices on GPIO lines: they tell what its own sensors would, in step
// with the cycle, and twice the same.
func TestLinesOfRover(t *testing.T) {
	path := rigtest.RigOf(t, roverRig, "")
	drive := func() []uint64 {
		s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
		l, rover := s.Agent.Layout(), s.Sys.Scene.Body("rover")
		truth := hal.NewFrame(rover.Layout())
		of := func(name string) (told, is float64) {
			return s.Agent.Measured(nil)[rigtest.SensorOf(t, l, name).First],
				truth.Measured[rigtest.SensorOf(t, rover.Layout(), name).First]
		}
		bits := s.Run(500 * time.Millisecond)
		for _, wheel := range []string{"left_wheel", "right_wheel"} {
			s.Inputs[l.Actuators[l.Actuator(wheel)].Goal[hal.VelocityMode]] = 6
		}
		far, _ := of("f4")
		touched := time.Duration(-1)
		for at := time.Duration(0); at < 6*time.Second && touched < 0; at += 10 * time.Millisecond {
			bits = append(bits, s.Run(10*time.Millisecond)...)
			if err := rover.Read(truth); err != nil {
				t.Fatal(err)
			}
			told, is := of("front")
			if told != is {
				t.Errorf("touch after %v: got %g, want %g", at, told, is)
			}
			if told == 1 {
				touched = at
			}
		}
		near, is := of("f4")
		if touched < 0 || far < 1 || math.Abs(near-is) > 0.1 || near > 0.5 {
			t.Errorf("touch after %v, sonar from %.3f to %.3f m, want %.3f", touched, far, near, is)
		}
		for _, wheel := range []string{"ecleft", "ecright"} {
			if told, is := of(wheel); told != math.Round(is) || is < 100 {
				t.Errorf("%s: got %g ticks, want %g", wheel, told, is)
			}
		}
		for i, st := range s.Agent.Status(nil) {
			if st.Err != nil {
				t.Errorf("device %d: %v", i, st.Err)
			}
		}
		return bits
	}
	if !slices.Equal(drive(), drive()) {
		t.Error("two drives differ")
	}
}

// What goes wrong with the rover's lines is reported for that sensor, and no other; it is recovered within a second of
// the end of it.
func TestLinesOfRoverFail(t *testing.T) {
	for _, c := range []struct {
		fault wire.Fault
		hurts string
	}{
		{wire.Fault{Kind: wire.OpenWire, Target: 24}, "f4"},
		{wire.Fault{Kind: wire.StuckHigh, Target: 24}, "f4"},
		{wire.Fault{Kind: wire.Dropped, Target: 24}, "f4"},
		{wire.Fault{Kind: wire.Dropped, Target: 5, P: 0.5}, "ecleft"},
		{wire.Fault{Kind: wire.Duplicated, Target: 17}, ""},
		{wire.Fault{Kind: wire.Unplugged}, "f4 ecleft ecright front"},
	} {
		s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, roverRig, ""), configs.Options{}))
		l := s.Agent.Layout()
		s.Inputs[l.Actuators[l.Actuator("left_wheel")].Goal[hal.VelocityMode]] = 6
		s.Run(500 * time.Millisecond)
		io := s.Sys.Emulation.Gpios["io"]
		ill := func() (names []string) {
			for _, name := range []string{"f4", "ecleft", "ecright", "front"} {
				if s.Device(name).Err != nil {
					names = append(names, name)
				}
			}
			return names
		}
		if got := ill(); got != nil {
			t.Fatalf("all well: got %v at fault", got)
		}
		io.Fault(c.fault)
		for range 100 {
			s.Run(10 * time.Millisecond)
			for _, name := range ill() {
				if !slices.Contains(strings.Fields(c.hurts), name) {
					t.Fatalf("%v: got %s at fault, want %q", c.fault.Kind, name, c.hurts)
				}
			}
		}
		for _, name := range strings.Fields(c.hurts) {
			if !slices.Contains(s.Events, "/rover/"+name+"/Fault") {
				t.Errorf("%v: no event of %s", c.fault.Kind, name)
			}
		}
		io.ClearFaults()
		s.Run(time.Second)
		if got := ill(); got != nil {
			t.Errorf("%v: got %v at fault a second after its end", c.fault.Kind, got)
		}
	}
}

// The config of docs/gpio.md is one that runs, emulated, and its light is a value.
func TestDocumentedLines(t *testing.T) {
	text, err := os.ReadFile("../../docs/gpio.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rig, _ := strings.Cut(string(text), "```yaml\n")
	rig, _, _ = strings.Cut(rig, "```")
	path := rigtest.RigOf(t, "name: rover\nservers: []\n"+rig, "", ": real", ": emulated")
	s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
	s.Run(300 * time.Millisecond)
	for _, name := range []string{"front", "f4", "ecleft", "ecright"} {
		if d := s.Device(name); d.Err != nil || d.Time <= 0 {
			t.Errorf("%s: got %v at %v", name, d.Err, d.Time)
		}
	}
	values, io := s.Sys.Rig.Values(), s.Sys.Emulation.Gpios["io"]
	ids := values.Find(regexp.MustCompile("/rover/headlight"))
	if len(ids) != 1 {
		t.Fatalf("got %d values of the light, want 1", len(ids))
	}
	for _, on := range []bool{true, false, true} {
		if err := values.Set(ids[0], hal.Value{Kind: hal.BoolValue, Bool: on}); err != nil {
			t.Fatal(err)
		}
		s.Run(20 * time.Millisecond)
		if io.Level(27) != on || s.Sys.Light("rover", "headlight").Lit() != on {
			t.Errorf("switched %v: got %v", on, io.Level(27))
		}
	}
	// One that is not switched does not count as lit.
	io.Fault(wire.Fault{Kind: wire.Unplugged})
	if err := values.Set(ids[0], hal.Value{Kind: hal.BoolValue, Bool: true}); hal.KindOf(err) != hal.Absent ||
		s.Sys.Light("rover", "headlight").Lit() || io.Level(27) {
		t.Errorf("without its chip: got %v, lit %v", err, s.Sys.Light("rover", "headlight").Lit())
	}
	io.ClearFaults()
	if err := values.Set(ids[0], hal.Value{Kind: hal.BoolValue, Bool: true}); err != nil ||
		!s.Sys.Light("rover", "headlight").Lit() || !io.Level(27) {
		t.Errorf("with it again: got %v", err)
	}
	if s.Sys.Light("rover", "lamp") != nil {
		t.Error("a light that there is not: got one")
	}
}

// A PIR on a line sees the hand that moves in the arena, and not the wall on the other side.
func TestPIRInArena(t *testing.T) {
	const rig = `
name: goose
world: {scene: yellow}
buses:
  io: {type: gpio}
agents:
  - name: goose
    model: usarsim-papagoose
    pose: {position: [10, -1.9, -1.8], rotation: [0, 0, 0.41]}
    parts: {motion: emulated}
    hardware: {sensors: {motion: {bus: io, device: pir, lines: [22]}}}
servers: []
`
	for _, output := range []string{"", ", active_low: true"} {
		for pose, want := range map[string]float64{"0.41": 1, "-2.73": 0} {
			s := rigtest.Step(t, rigtest.PlanOf(t,
				rigtest.RigOf(t, rig, "", "0.41", pose, "lines: [22]", "lines: [22]"+output),
				configs.Options{}))
			s.Run(500 * time.Millisecond)
			if got := s.Agent.Measured(nil)[rigtest.SensorOf(t, s.Agent.Layout(), "motion").First]; got != want ||
				s.Device("motion").Err != nil {
				t.Errorf("heading %s%s: got %g, %v; want %g", pose, output, got, s.Device("motion").Err, want)
			}
		}
	}
}

// However a bumper is wired, at rest it reads 0 and touched 1; a PIR's output may be either level. The emulated device
// has the resistor that the chip is not asked for.
func TestWirings(t *testing.T) {
	for _, wiring := range []string{"", ", active_low: false", ", bias: none", ", bias: none, active_low: false",
		", bias: down, active_low: false", ", bias: down, active_low: true"} {
		path := rigtest.RigOf(t, roverRig, "", "device: bumper, lines: [17]", "device: bumper, lines: [17]"+wiring)
		s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
		l := s.Agent.Layout()
		s.Run(300 * time.Millisecond)
		front := rigtest.SensorOf(t, l, "front").First
		rest := s.Agent.Measured(nil)[front]
		for _, wheel := range []string{"left_wheel", "right_wheel"} {
			s.Inputs[l.Actuators[l.Actuator(wheel)].Goal[hal.VelocityMode]] = 6
		}
		touched := 0.0
		for at := time.Duration(0); at < 6*time.Second && touched == 0; at += 10 * time.Millisecond {
			s.Run(10 * time.Millisecond)
			touched = s.Agent.Measured(nil)[front]
		}
		if rest != 0 || touched != 1 {
			t.Errorf("bumper%s: got %g at rest and %g at the wall", wiring, rest, touched)
		}
	}
}

// An encoder counts from its last zero, and its lost readings are what they were.
func TestCounted(t *testing.T) {
	told := &said{value: 7}
	c := &catalog.Counted{Source: told}
	dst := []float64{math.NaN()}
	for _, step := range []struct {
		value float64
		zero  bool
		want  float64
	}{{7, false, 7}, {9, true, 9}, {9, false, 0}, {4, false, -5}, {math.NaN(), false, -5}, {4, true, -5},
		{5, false, 1}} {
		told.value = step.value
		if _, err := c.Latest(dst, 0); err != nil || dst[0] != step.want {
			t.Errorf("%+v: got %g, %v", step, dst[0], err)
		}
		if step.zero {
			c.Zero()
		}
	}
}

// said is a source that says what it is told to.
type said struct{ value float64 }

func (s *said) Values() int { return 2 }

func (s *said) Latest(dst []float64, _ int) (time.Duration, error) {
	dst[0] = s.value
	return 0, nil
}

// The headlight of a robot in the scene is as the line that its emulated one is connected to.
func TestHeadlightShines(t *testing.T) {
	rig := strings.NewReplacer("usarsim-p2dx", "usarsim-atrvjr",
		"parts: {f4: emulated, ecleft: emulated, ecright: emulated, front: emulated}", "parts: {s1: emulated}",
		"        f4:", "        s1:",
		"        ecleft: {bus: io, device: encoder, lines: [5, 6], rate: 100}\n", "",
		"        ecright: {bus: io, device: encoder, lines: [13, 19], rate: 100}\n", "",
		"        front: {bus: io, device: bumper, lines: [17], rate: 100}\n",
		"      lights: {headlight: {bus: io, line: 5, active_low: true}}\n").Replace(roverRig)
	s := rigtest.Step(t, rigtest.PlanOf(t, rigtest.RigOf(t, rig, ""), configs.Options{}))
	for _, on := range []bool{false, true, false} {
		if err := s.Sys.Light("rover", "headlight").Switch(on); err != nil {
			t.Fatal(err)
		}
		s.Run(20 * time.Millisecond)
		if got := s.Sys.Scene.Body("rover").Lit(); got != on {
			t.Errorf("switched %v: got %v", on, got)
		}
	}
}
