package commission_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	emuodrive "github.com/halyard-robotics/halyard/internal/emulator/odrive"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// motorCase is a line of motor controllers of one type in memory.
type motorCase struct {
	kind, model string
	baud        int
	ids         []int
}

func everyMotor() []motorCase {
	return []motorCase{
		{"vesc", "vesc-6", 115200, []int{3, 7}}, {"odrive", "odrive-v3", 115200, []int{0, 1}},
		{"odrive", "odrive-s1", 115200, []int{0}},
		{"odrive-can", "odrive-s1", 250000, []int{3, 7}}, {"odrive-can", "odrive-v3", 250000, []int{3, 7}},
		{"cybergear", "cybergear", 1000000, []int{3, 7}},
	}
}

// finder looks on the line; of CAN it knows the endpoints that the emulated nodes have.
func (c motorCase) finder(t *testing.T) (commission.Finder, *emulator.Bus) {
	t.Helper()
	bus := rigtest.BrandBus(t, c.kind, c.model, c.baud, c.ids...)
	said := map[int]map[string]int{3: {"watchdog_endpoint": emuodrive.WatchdogEndpoint,
		"enable_endpoint": emuodrive.EnableEndpoint}}
	return commission.Finder{Buses: catalog.BuiltinBuses(), Line: bus.Line(), Port: "PORT", Bauds: []int{c.baud},
		Types:  []string{c.kind},
		Duplex: true, Settings: said}, bus
}

func (c motorCase) registers(t *testing.T) (*commission.Registers, *emulator.Bus) {
	t.Helper()
	f, bus := c.finder(t)
	s, err := commission.MeetRegisters(t.Context(), &f, c.ids[0])
	if err != nil {
		t.Fatalf("%s: %v", c.kind, err)
	}
	return s, bus
}

// Of every type: all that it has is read, what is kept is written, saved in a file, compared and set back.
func TestRegistersOfMotors(t *testing.T) {
	for _, c := range everyMotor() {
		t.Run(c.kind+" "+c.model, func(t *testing.T) {
			s, bus := c.registers(t)
			rows, err := s.Rows(t.Context(), nil)
			if want := map[string]int{"vesc": 25, "odrive": 25, "odrive-can": 8, "cybergear": 20}[c.kind]; err != nil ||
				len(rows) < want-1 {
				t.Fatalf("got %d rows, %v; want %d", len(rows), err, want)
			}
			volts := rows[slices.IndexFunc(rows,
				func(r commission.RegisterRow) bool { return r.Name == "present_voltage" })]
			if spec := volts.Value; volts.Unit != "V" || spec < 20 || spec > 60 {
				t.Errorf("got %+v", volts)
			}
			path := filepath.Join(t.TempDir(), "motor.json")
			values, err := commission.ReadAll(t.Context(), s, s.Model, s.ID)
			if err != nil {
				t.Fatal(err)
			}
			if err := (&commission.RegisterFile{Model: s.Model.Units().Name, Type: c.kind, ID: s.ID, Baud: s.Baud,
				Registers: values}).Save(path); err != nil {
				t.Fatal(err)
			}
			text, name := map[string]string{"odrive": "max_velocity=7.5", "odrive-can": "watchdog_timeout=0.7s",
				"cybergear": "max_velocity=7.5rad/s"}[c.kind], ""
			if name, _, _ = strings.Cut(text, "="); c.model == "odrive-v3" && c.kind == "odrive-can" {
				text = ""
			}
			writes, err := s.Parse([]string{text})
			if text == "" {
				if c.kind == "vesc" && (hal.KindOf(err) != hal.Invalid || !strings.Contains(err.Error(), "VESC Tool")) {
					t.Errorf("got %v, want VESC Tool", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Change(t.Context(), writes, false); err != nil {
				t.Fatal(err)
			}
			if c.kind == "odrive" { // which was told to save
				bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: wire.All, P: 1})
				bus.ClearFaults()
			}
			if rows, err := s.Differences(t.Context(), []string{path}); err != nil || len(rows) != 1 ||
				rows[0].Name != name {
				t.Errorf("against its dump: got %+v, %v; want %s", rows, err, name)
			}
			if c.model != "odrive-s1" || c.kind != "odrive" {
				if rows, err := s.Differences(t.Context(),
					[]string{map[bool]string{true: "1", false: "7"}[c.kind == "odrive"]}); err != nil &&
					c.kind != "odrive-can" || len(rows) > 1 {
					t.Errorf("against a neighbour: got %+v, %v", rows, err)
				}
			}
			if _, err := s.Differences(t.Context(), nil); (err == nil) != (c.kind == "cybergear") {
				t.Errorf("against the factory: got %v", err)
			}
			rows2, err := s.Differences(t.Context(), []string{path})
			if err != nil {
				t.Fatal(err)
			}
			back, left := s.Back(rows2)
			if _, err := s.Change(t.Context(), back, false); err != nil || len(left) > 0 {
				t.Errorf("back: got %v, %v", err, left)
			}
			if rows, err := s.Differences(t.Context(), []string{path}); err != nil || len(rows) != 0 {
				t.Errorf("set back: got %+v, %v", rows, err)
			}
		})
	}
}

// What moves a motor, or loses it, is refused as of any servo.
func TestRegistersOfMotorsRefuse(t *testing.T) {
	gear, drive := motorCase{"cybergear", "cybergear", 1000000, []int{3}},
		motorCase{"odrive", "odrive-s1", 115200, []int{0}}
	for _, c := range []struct {
		of   motorCase
		text string
		kind hal.Kind
		say  string
	}{
		{gear, "id=4", hal.Unsafe, "halyard setup PORT --id 3"}, {gear, "goal_position=1rad", hal.Unsafe, "guard"},
		{gear, "goal_velocity=1", hal.Unsafe, "guard"},
		{gear, "goal_current=1A", hal.Unsafe, "guard"}, {gear, "torque_enable=1", hal.Unsafe, "guard"},
		{gear, "present_voltage=12V", hal.Invalid, "read-only"},
		{gear, "max_torque=13", hal.Invalid, "0..12 N·m"},
		{gear, "max_torq=3", hal.Invalid, `did you mean "max_torque"`},
		{gear, "max_torque=NaN", hal.Invalid, "got NaN"},
		{drive, "state=8", hal.Invalid, "read-only"}, {drive, "torque_enable=1", hal.Unsafe, "guard"},
		{drive, "can_baud_rate=500000", hal.Invalid, "read-only"},
		{drive, "can_node_id=63", hal.Invalid, "0..62"}, {drive, "watchdog_enable=2", hal.Invalid, "0..1"},
		{drive, "max_velocity=fast", hal.Invalid, "one in rad/s"},
	} {
		s, _ := c.of.registers(t)
		if _, err := s.Parse([]string{c.text}); hal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s %s: got %v, want %v %q", c.of.model, c.text, err, c.kind, c.say)
		}
	}
	// Under torque an ODrive keeps nothing, and says what to do; its 0 is taken.
	s, bus := drive.registers(t)
	bus.Servos()[0].Preset("torque_enable", 1)
	writes, err := s.Parse([]string{"max_velocity=7"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Change(t.Context(), writes, false); hal.KindOf(err) != hal.Unsafe ||
		!strings.Contains(err.Error(), "torque_enable=0") {
		t.Errorf("under torque: got %v", err)
	}
	if rows, err := s.Rows(t.Context(), []string{"errors"}); err != nil || rows[0].Meaning != "none" {
		t.Errorf("errors: got %+v, %v", rows, err)
	}
	for raw, want := range map[int64]string{0: "none", 1 << 24: "WATCHDOG_TIMER_EXPIRED (0x1000000)",
		1<<24 | 0x200: "DC_BUS_UNDER_VOLTAGE, WATCHDOG_TIMER_EXPIRED (0x1000200): voltage"} {
		if got := commission.Meaning(s.Model, s.Model.Register("errors"), raw); got != want {
			t.Errorf("errors %#x: got %q, want %q", raw, got, want)
		}
	}
	off := []commission.Write{{Register: s.Model.Register("torque_enable"), Value: 0}}
	if _, err := s.Change(t.Context(), off, false); err != nil {
		t.Error(err)
	}
	// What CAN does not reach is told with what does.
	can, _ := motorCase{"odrive-can", "odrive-s1", 250000, []int{7}}.registers(t)
	writes, err = can.Parse([]string{"watchdog_timeout=1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := can.Write(7, "watchdog_timeout", 1000); hal.KindOf(err) != hal.Invalid ||
		!strings.Contains(err.Error(), "endpoints") || len(writes) != 1 {
		t.Errorf("no endpoints: got %v", err)
	}
}

// A number that a float register is given is in its unit.
func TestRawOfFloats(t *testing.T) {
	gear := catalog.BuiltinBuses().Model("cybergear")
	for text, want := range map[string]int64{
		"max_velocity 2": 2000, "max_velocity 2rad/s": 2000, "max_velocity 0x10": -1, "position_p_gain 30": 300000,
		"position_p_gain 30.5": 305000,
		"can_timeout 10000":    10000, "can_timeout 0.5s": 10000, "operating_mode 1": 1, "operating_mode 1.5": -1,
		"max_velocity 31": -1, "current_filter inf": -1,
	} {
		name, value, _ := strings.Cut(text, " ")
		if got, err := commission.RawOf(gear.Register(name), value); (err != nil) != (want < 0) ||
			err == nil && got != want {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
	}
	if got := commission.Meaning(gear, gear.Register("position_p_gain"), 300000); got != "30" {
		t.Errorf("got %q", got)
	}
	r := gear.Register("max_velocity")
	for _, v := range []int64{0, 1, 2000, 30000, -30000} {
		if got := r.Decode(r.Append(nil, v)); got != v {
			t.Errorf("%d: got %d", v, got)
		}
	}
	if got := r.Decode([]byte{0, 0, 0xC0, 0x7F}); got != 0 || r.Encoding != servo.Float { // no number
		t.Errorf("NaN: got %d", got)
	}
}

func TestSetupOfMotors(t *testing.T) {
	gear := motorCase{"cybergear", "cybergear", 1000000, []int{3, 7}}
	for _, c := range []struct {
		name   string
		of     motorCase
		change func(*commission.Setup)
		want   string // id of all, or a part of the error
		node   string // of an ODrive
	}{
		{"id", gear, func(s *commission.Setup) { s.NewID = 9 }, "9 7", ""},
		{"taken", gear, func(s *commission.Setup) { s.NewID = 7 }, "id 7 is taken", ""},
		{"too great", gear, func(s *commission.Setup) { s.NewID = 128 }, "0..127", ""},
		{"a rate", gear, func(s *commission.Setup) { s.NewBaud = 500000 }, "does not support", ""},
		{"no servo", gear, func(s *commission.Setup) { s.ID, s.NewID = 5, 9 }, "no servo answers", ""},
		{"dry", gear, func(s *commission.Setup) { s.NewID, s.Dry = 9, true }, "3 7", ""},
		{"a setting", gear, func(s *commission.Setup) { s.NewID, s.Set = 9, []string{"max_torque=5000"} }, "9 7", ""},
		{"a goal", gear, func(s *commission.Setup) { s.Set = []string{"goal_velocity=5000"} }, "guard", ""},
		{"node of an axis", motorCase{"odrive", "odrive-v3", 115200, []int{0, 1}},
			func(s *commission.Setup) { s.ID, s.NewID = 1, 9 }, "0 1", "9"},
		{"node", motorCase{"odrive", "odrive-s1", 115200, []int{0}}, func(s *commission.Setup) { s.ID, s.NewID = 0, 5 },
			"0", "5"},
		{"node too great", motorCase{"odrive", "odrive-s1", 115200, []int{0}},
			func(s *commission.Setup) { s.ID, s.NewID = 0, 63 }, "0..62", ""},
		{"node over CAN", motorCase{"odrive-can", "odrive-s1", 250000, []int{3}},
			func(s *commission.Setup) { s.NewID = 5 }, "odrv0.axis0.config.can.node_id = 5", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, bus := c.of.finder(t)
			s := &commission.Setup{Finder: f, ID: 3, NewID: -1, Note: func(string, ...any) {}}
			c.change(s)
			err := s.Check(s.NewID >= 0)
			if err == nil {
				_, err = s.Start(t.Context())
			}
			got := ""
			for i, one := range bus.Servos() {
				id, _ := one.Register("id")
				got += strings.Repeat(" ", min(i, 1)) + commission.Place{Baud: 1, ID: int(id)}.String()
			}
			got = strings.ReplaceAll(got, "@1", "")
			if err != nil {
				got = err.Error()
			}
			if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if c.node != "" { // which survives the power
				bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: wire.All, P: 1})
				bus.ClearFaults()
				m, err := commission.MeetRegisters(t.Context(), &f, s.ID)
				if err != nil {
					t.Fatal(err)
				}
				if rows, err := m.Rows(t.Context(), []string{"can_node_id"}); err != nil ||
					report.Texts(rows[0].Cells())[1] != c.node {
					t.Errorf("got %+v, %v; want %s", rows, err, c.node)
				}
			}
		})
	}
}

// A motor whose change breaks off has its old id.
func TestSetupOfMotorsRestores(t *testing.T) {
	f, bus := motorCase{"cybergear", "cybergear", 1000000, []int{3}}.finder(t)
	s := &commission.Setup{Finder: f, ID: 3, NewID: 9, Note: func(string, ...any) {},
		Writes: []servo.Setting{{Register: "max_torque", Value: 5000}}}
	s.Line = &rigtest.Watched{Line: s.Line, Before: func(p []byte) {
		if p[3]&0x1F == 7 { // type 7 becomes a type that no motor receives
			p[0] = 0x44
		}
	}}
	if _, err := s.Start(t.Context()); err == nil {
		t.Error("got no error")
	}
	m, err := commission.MeetRegisters(t.Context(), &f, 3)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := m.Rows(t.Context(), []string{"max_torque"}); err != nil || rows[0].Raw != 12000 {
		t.Errorf("got %+v, %v, want 12 N·m as before", rows, err)
	}
	if id, _ := bus.Servos()[0].Register("id"); id != 3 {
		t.Errorf("got id %d", id)
	}
}

// What a config says of the nodes of a bus is known to the tools, whether they are an agent's or a class's.
func TestSaidOn(t *testing.T) {
	c, err := configs.Parse([]byte(`name: carts
buses:
  can: {type: odrive-can, port: can0}
  other: {type: odrive-can, port: can1}
agents:
  - {name: one, model: so101, hardware: {joints: {elbow_flex: {bus: can, id: 1, model: odrive-s1, registers: {watchdog_endpoint: 200}}}}}
classes:
  Cart: {model: so101, hardware: {joints: {elbow_flex: {bus: can, id: 2, model: odrive-s1, registers: {watchdog_endpoint: 300}},
    gripper: {bus: other, id: 3, model: odrive-s1, registers: {watchdog_endpoint: 400}}}}}
`), "carts.yaml", configs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]map[string]int{1: {"watchdog_endpoint": 200}, 2: {"watchdog_endpoint": 300}}
	if got := commission.SettingsOn(c, "can"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
