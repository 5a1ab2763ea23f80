package commission_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// brandCase is a line of servos of one vendor in memory, and what its servos are asked by.
type brandCase struct {
	kind, model string
	baud        int
}

// allTypes are the bus types that a scan asks for.
func allTypes() []string {
	all, _ := catalog.BuiltinBuses().Scanned("all")
	return all
}

func everyBrand() []brandCase {
	return []brandCase{
		{"dynamixel2", "xm430-w350", 1000000}, {"dynamixel1", "ax-12a", 1000000}, {"dynamixel1", "mx-28", 1000000},
		{"dynamixel2", "xl-320", 1000000}, {"feetech", "sts3215", 1000000}, {"feetech", "sts3032", 500000},
		{"feetech", "scs0009", 1000000}, {"hiwonder", "lx-16a", 115200}, {"kondo", "krs-2552", 115200},
	}
}

func (c brandCase) registers(t *testing.T, ids ...int) (*commission.Registers, *emulator.Bus) {
	t.Helper()
	bus := rigtest.BrandBus(t, c.kind, c.model, c.baud, ids...)
	f := commission.Finder{Buses: catalog.BuiltinBuses(), Line: bus.Line(), Port: "PORT", Bauds: catalog.UsualBauds(),
		Types: allTypes()}
	s, err := commission.MeetRegisters(t.Context(), &f, ids[0])
	if err != nil {
		t.Fatalf("%s: %v", c.model, err)
	}
	return s, bus
}

// A servo of every vendor is found without being told its vendor or its rate, and all its registers are read.
func TestRegistersOfEveryBrand(t *testing.T) {
	for _, c := range everyBrand() {
		t.Run(c.model, func(t *testing.T) {
			s, bus := c.registers(t, 3)
			if s.Model.Units().Name != c.model || s.Baud != c.baud || s.Type != c.kind {
				t.Fatalf("got %s at %d Bd, type %s", s.Model.Units().Name, s.Baud, s.Type)
			}
			rows, err := s.Rows(t.Context(), nil)
			if err != nil || len(rows) < 5 {
				t.Fatalf("got %d rows, %v", len(rows), err)
			}
			one := bus.Servos()[0]
			for _, r := range rows {
				if want, ok := one.Register(r.Name); c.kind != "kondo" && (!ok || r.Raw != want) &&
					r.Name != "realtime_tick" {
					t.Errorf("%s: got %d, want %d", r.Name, r.Raw, want)
				}
			}
			// One that is kept, written and read back; the lock is closed behind it.
			name, v := "return_delay", int64(17)
			switch c.kind {
			case "hiwonder":
				name, v = "temperature_limit", 70
			case "kondo":
				name, v = "stretch", 90
			}
			done, err := s.Change(t.Context(), []commission.Write{{Register: s.Model.Register(name), Value: v}}, false)
			if got, _ := one.Register(name); err != nil || len(done) != 1 || !done[0].Done || got != v {
				t.Errorf("%s: got %d, %+v, %v; want %d", name, got, done, err, v)
			}
			if lock, ok := one.Register("lock"); ok && c.kind == "feetech" && lock != 1 {
				t.Error("the lock is open")
			}
			// A dump can be read again, and what was changed is the difference.
			values, err := commission.ReadAll(t.Context(), s, s.Model, s.ID)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "servo.json")
			file := commission.RegisterFile{Model: c.model, Type: c.kind, ID: 3, Baud: c.baud, Registers: values}
			if err := file.Save(path); err != nil {
				t.Fatal(err)
			}
			if err := file.Save(path); err == nil {
				t.Error("written over a file that is there")
			}
			if rows, err := s.Differences(t.Context(), []string{path}); err != nil || len(rows) != 0 {
				t.Errorf("against its own dump: got %+v, %v", rows, err)
			}
			rowsOfDefaults, err := s.Differences(t.Context(), nil)
			if !slices.ContainsFunc(rowsOfDefaults,
				func(d commission.DifferenceRow) bool { return d.Name == name && d.Here == v }) || err != nil {
				t.Errorf("against the factory: got %+v, %v; want %s", rowsOfDefaults, err, name)
			}
		})
	}
}

// Two servos of one line, compared: what they are is left out.
func TestRegistersDiffNeighbours(t *testing.T) {
	s, bus := brandCase{"feetech", "sts3215", 1000000}.registers(t, 3, 7)
	bus.Servos()[1].Preset("position_p_gain", 16)
	bus.Servos()[1].Preset("goal_position", 900) // no setting
	rows, err := s.Differences(t.Context(), []string{"7"})
	if err != nil || len(rows) != 1 || rows[0].Name != "position_p_gain" || rows[0].Here != 32 || rows[0].There != 16 ||
		rows[0].What != "id 7" {
		t.Errorf("got %+v, %v", rows, err)
	}
	if _, err := s.Differences(t.Context(), []string{"9"}); hal.KindOf(err) != hal.Timeout {
		t.Errorf("no servo: got %v", err)
	}
	// As a byte it is the servo itself, which differs in nothing from itself.
	if rows, err := s.Differences(t.Context(), []string{"259"}); hal.KindOf(err) != hal.Invalid ||
		!strings.Contains(err.Error(), "0..253") {
		t.Errorf("an invalid id: got %v, %v", rows, err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := (&commission.RegisterFile{Model: "lx-16a", Registers: map[string]int64{}}).Save(other); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Differences(t.Context(), []string{other}); err == nil ||
		!strings.Contains(err.Error(), "is of a lx-16a") {
		t.Errorf("another model's file: got %v", err)
	}
	// Of a file that says nothing, nothing would differ.
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := (&commission.RegisterFile{Model: "sts3215"}).Save(empty); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Differences(t.Context(), []string{empty}); hal.KindOf(err) != hal.Invalid ||
		!strings.Contains(err.Error(), "no registers") {
		t.Errorf("a file without registers: got %v", err)
	}
	if _, err := s.Differences(t.Context(), []string{empty + "x"}); err == nil ||
		!strings.Contains(err.Error(), "halyard registers dump") {
		t.Errorf("no file: got %v", err)
	}
}

// What cannot be set back is told, not passed over.
func TestRegistersRestoreTells(t *testing.T) {
	s, _ := brandCase{"feetech", "sts3215", 1000000}.registers(t, 3)
	file := filepath.Join(t.TempDir(), "servo.json")
	f := commission.RegisterFile{Model: "sts3215",
		Registers: map[string]int64{"id": 9, "max_voltage": 84, "temperature_limit": 9999}}
	if err := f.Save(file); err != nil {
		t.Fatal(err)
	}
	rows, err := s.Differences(t.Context(), []string{file})
	if err != nil {
		t.Fatal(err)
	}
	writes, left := s.Back(rows)
	if len(writes) != 1 || writes[0].Register.Name != "max_voltage" || len(left) != 1 ||
		!strings.Contains(left[0].Error(), "temperature_limit") {
		t.Errorf("got %+v, %v; want the voltage written and the temperature told", writes, left)
	}
}

// What must not be written by hand is refused, before anything is.
func TestRegistersRefuse(t *testing.T) {
	xm := brandCase{"dynamixel2", "xm430-w350", 1000000}
	for _, c := range []struct {
		of   brandCase
		text string
		kind hal.Kind
		say  string
	}{
		{xm, "id=3", hal.Unsafe, "halyard setup PORT --id 3"}, {xm, "baud_rate=1", hal.Unsafe, "setup"},
		{xm, "goal_position=100", hal.Unsafe, "guard"}, {xm, "torque_enable=1", hal.Unsafe, "guard"},
		{xm, "indirect_data_1=1", hal.Unsafe, "by its own name"}, // the torque, where indirect_address_1 is 64
		{xm, "status_return=0", hal.Unsafe, "no reads"}, {xm, "protocol_type=1", hal.Unsafe, "not be found"},
		{xm, "return_delay=255", hal.Invalid, "want 0..254"},
		{xm, "return_dealy=1", hal.Invalid, `did you mean "return_delay"`},
		{xm, "present_voltage=1", hal.Invalid, "read-only"}, {xm, "max_voltage=17V", hal.Invalid, "9.5..16 V"},
		{xm, "pwm_limit=101%", hal.Invalid, "0..100 %"}, {xm, "max_voltage=12A", hal.Invalid, "one in V"},
		{xm, "position_p_gain=3.5", hal.Invalid, "whole number"},
		{xm, "max_voltage=NaNV", hal.Invalid, "got NaNV"}, {xm, "return_delay", hal.Invalid, "NAME=VALUE"},
		{brandCase{"feetech", "sts3215", 1000000}, "lock=0", hal.Unsafe, "themselves"},
		{brandCase{"feetech", "sts3215", 1000000}, "torque_enable=128", hal.Unsafe, "guard"},
		{brandCase{"hiwonder", "lx-16a", 115200}, "motor_mode=1", hal.Unsafe, "guard"},
	} {
		s, _ := c.of.registers(t, 3)
		if _, err := s.Parse([]string{c.text}); hal.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s %s: got %v, want %v %q", c.of.model, c.text, err, c.kind, c.say)
		}
	}
	// Torque on: what is kept is refused by every vendor, and nothing has changed.
	for _, c := range everyBrand() {
		if c.kind == "kondo" { // ICS keeps nothing but the id
			continue
		}
		s, bus := c.registers(t, 3)
		bus.Servos()[0].Preset("torque_enable", 1)
		before, _ := bus.Servos()[0].Register("temperature_limit")
		writes, err := s.Parse([]string{"temperature_limit=66"})
		if err == nil {
			_, err = s.Change(t.Context(), writes, false)
		}
		after, _ := bus.Servos()[0].Register("temperature_limit")
		if hal.KindOf(err) != hal.Unsafe || after != before || !strings.Contains(err.Error(), "torque_enable=0") {
			t.Errorf("%s: got %v, %d; want refused, %d", c.model, err, after, before)
		}
	}
}

// Values with units are what they say, and nothing is cut to fit.
func TestRawOf(t *testing.T) {
	xm := dynamixel.ModelByName("xm430-w350")
	for text, want := range map[string]int64{
		"max_voltage 12.6V": 126, "max_voltage 126": 126, "temperature_limit 70C": 70, "temperature_limit 70°C": 70,
		"pwm_limit 50%":              443,
		"min_position -1.5707963rad": 1024, "return_delay 0.0001s": 50, "return_delay 0x10": 16, "pwm_limit 101%": -1,
		"temperature_limit 70K": -1,
		"max_voltage infV":      -1, "max_voltage V": -1, "id 3Bd": -1, "return_delay 1e9s": -1,
		"max_voltage -1e30V": -1,
	} {
		name, value, _ := strings.Cut(text, " ")
		got, err := commission.RawOf(xm.Register(name), value)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for raw, want := range map[int64]string{120: "12 V"} {
		if got := commission.Meaning(xm, xm.Register("present_voltage"), raw); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	sts := catalog.BuiltinBuses().Model("sts3215")
	for name, want := range map[string]string{"baud_rate": "1000000 Bd", "unload_condition": "none",
		"return_delay": "0s", "max_torque": "0 %", "id": "-",
		"present_position": "-3.142 rad (-180.0°)"} {
		if got := commission.Meaning(sts, sts.Register(name), 0); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// Where a later write fails, those before it are taken back.
func TestRegistersTakeBack(t *testing.T) {
	for _, c := range everyBrand()[:7] {
		s, bus := c.registers(t, 3)
		one := bus.Servos()[0]
		delay, _ := one.Register("return_delay")
		writes, err := s.Parse([]string{"return_delay=9", "temperature_limit=61"})
		if err != nil {
			t.Fatal(err)
		}
		s.Tool = &failing{s.Tool, "temperature_limit", 61}
		_, err = s.Change(t.Context(), writes, false)
		got, _ := one.Register("return_delay")
		heat, _ := one.Register("temperature_limit")
		if hal.KindOf(err) != hal.BusFault || got != delay || heat == 61 {
			t.Errorf("%s: got %v, return delay %d, limit %d; want a fault and all as before", c.model, err, got, heat)
		}
	}
}

// failing is a tool whose write of one value does not come through.
type failing struct {
	servo.Tool
	register string
	value    int64
}

func (f *failing) Write(id int, register string, v int64) error {
	if register == f.register && v == f.value {
		return servo.Fault("PORT", id, "write", servo.ErrCorrupt)
	}
	return f.Tool.Write(id, register, v)
}

// CONFIG:BUS is the bus's port at its rate.
func TestBusOf(t *testing.T) {
	here := filepath.Join(t.TempDir(), "a:b")
	if err := os.WriteFile(here, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target, port string
		baud         int
		say          string
	}{
		{"xm430-arm:arm", "/dev/serial/by-id/usb-FTDI_USB__-__Serial_Converter_FT4THVLA-if00-port0", 1000000, ""},
		{"/dev/serial/by-path/pci-0000:00-usb-0:1:1.0-port0", "/dev/serial/by-path/pci-0000:00-usb-0:1:1.0-port0", 0,
			""},
		{here, here, 0, ""},
		{"/dev/ttyUSB0", "/dev/ttyUSB0", 0, ""},
		{"xm430-arm:leg", "", 0, "want a line of servos of xm430-arm: arm"},
		{"no-such-config:arm", "", 0, "no-such-config"},
	} {
		port, bus, err := commission.BusOf(catalog.BuiltinBuses(), c.target)
		baud := 0
		if bus != nil {
			baud = bus.Baud
		}
		if c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)) || c.say == "" &&
			(err != nil || baud != c.baud || c.baud == 0 && port != c.port) {
			t.Errorf("%s: got %s at %s Bd, %v; want %s at %d, %q", c.target, port, strconv.Itoa(baud), err, c.port,
				c.baud, c.say)
		}
	}
}

// A register file is text that a user may have edited.
func FuzzRegisterFile(f *testing.F) {
	for _, text := range []string{
		`{"model":"sts3215","type":"feetech","id":1,"baud":1000000,"registers":{"id":1}}`, `{"model":"nothing"}`, `{}`,
		`[]`, ``,
		`{"model":"ax-12a","registers":{"nonsense":1}}`, `{"model":"ax-12a","more":1}`, `{"model":"ax-12a"}{}`,
		`{"model":"ax-12a","id":1e99}`,
		`{"model":"ax-12a","registers":{"id":1e400}}`, `{"model":"vesc","type":"vesc","registers":{"id":1}}`,
		`{"model":"odrive-s1","type":"odrive","registers":{"can_node_id":1}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := commission.ParseRegisters(catalog.BuiltinBuses(), data)
		if err != nil {
			return
		}
		m := file.ServoModel(catalog.BuiltinBuses())
		if m == nil {
			t.Fatalf("got model %q", file.Model)
		}
		for name := range file.Registers {
			if m.Register(name) == nil {
				t.Fatalf("got register %q of a %s", name, file.Model)
			}
		}
		var out strings.Builder
		if err := file.Encode(&out); err != nil {
			t.Fatal(err)
		}
		if again, err := commission.ParseRegisters(catalog.BuiltinBuses(), []byte(out.String())); err != nil ||
			again.Model != file.Model ||
			len(again.Registers) != len(file.Registers) {
			t.Fatalf("what was written cannot be read: %v", err)
		}
	})
}
