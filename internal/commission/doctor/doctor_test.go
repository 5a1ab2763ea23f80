package doctor_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/catalog"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
)

// patientOf is a robot to be examined as it is.
func patientOf(t *testing.T, config, body string) *doctor.TestRobot {
	t.Helper()
	exam, err := doctor.NewExamination(rigtest.PlanOf(t, config, configs.Options{Body: "emulated"}), body, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &doctor.TestRobot{Config: config, Dir: t.TempDir(), Exam: exam}
}

// The matrix: each fault planted alone is named by its own check, with its fix and its exit code, and nothing else
// complains; a sound robot gives no finding.
func TestDoctorMatrix(t *testing.T) {
	t.Parallel()
	planted, sound := map[string]bool{}, 0
	for i, l := range doctor.FaultCases() {
		t.Run(fmt.Sprint(i, " ", l.Name, " ", l.Config), func(t *testing.T) {
			row, err := l.Row(t.Context(), t.TempDir())
			if errors.Is(err, doctor.ErrNothingEmulated) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !row.OK {
				t.Error(row.Wrong)
			}
			if l.Check == "" {
				sound++
			} else if row.Fix == "" {
				t.Error("no fix")
			} else {
				planted[l.Check+l.Found] = true
			}
		})
	}
	if len(planted) < 60 || sound < 8 {
		t.Errorf("got %d kinds of fault and %d sound robots, want 60 and 8", len(planted), sound)
	}
}

// A line of the matrix is not ok where the finding is another, one too many, or none.
func TestMatrixJudges(t *testing.T) {
	is := doctor.Finding{Check: "baud", State: doctor.StateFail, Found: "answers at 57600 Bd", Fix: "halyard setup"}
	id := 3
	of3 := is
	of3.ID = &id
	fault := &hal.Error{Kind: hal.BusFault}
	l := doctor.FaultCase{Check: "baud", State: doctor.StateFail, Id: 3, Kind: hal.BusFault, Found: "57600",
		Fix: "setup"}
	for _, c := range []struct {
		bad     []doctor.Finding
		verdict error
		change  func(*doctor.FaultCase)
		want    string
	}{
		{[]doctor.Finding{of3}, fault, func(*doctor.FaultCase) {}, ""},
		{nil, nil, func(*doctor.FaultCase) {}, "got 0 findings"},
		{[]doctor.Finding{of3, of3}, fault, func(*doctor.FaultCase) {}, "got 2 findings"},
		{[]doctor.Finding{of3, of3}, fault, func(l *doctor.FaultCase) { l.Id = doctor.AnyID }, ""},
		{[]doctor.Finding{is}, fault, func(*doctor.FaultCase) {}, "want fail baud of id 3"},
		{[]doctor.Finding{of3}, fault, func(l *doctor.FaultCase) { l.Check = "id" }, "want fail id"},
		{[]doctor.Finding{of3}, fault, func(l *doctor.FaultCase) { l.Found = "9600" }, `want "9600"`},
		{[]doctor.Finding{of3}, fault, func(l *doctor.FaultCase) { l.Fix = "cable" }, `fix "cable"`},
		{[]doctor.Finding{of3}, nil, func(*doctor.FaultCase) {}, "got exit 1, want 5"},
		{[]doctor.Finding{of3}, nil, func(l *doctor.FaultCase) { *l = doctor.FaultCase{} }, "nothing is wrong"},
		{nil, nil, func(l *doctor.FaultCase) { *l = doctor.FaultCase{} }, ""},
	} {
		one := l
		c.change(&one)
		if got := one.Judge(c.bad, c.verdict); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func texts(list []doctor.Finding) []string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprint(report.Texts(f.Cells())))
	}
	return out
}

// Real joints without a calibration are refused, with the exit code of that.
func TestDoctorUncalibrated(t *testing.T) {
	p := patientOf(t, "xm430-arm", "")
	if err := doctor.OnMachine(nil)(p); err != nil {
		t.Fatal(err)
	}
	if err := p.Exam.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	fails := 0
	for _, f := range p.Exam.Found {
		if f.State == doctor.StateFail && f.Check == "calibration" && strings.Contains(f.Found, "no calibration file") {
			fails++
		}
	}
	if err := p.Exam.Verdict(false); fails != 6 || hal.KindOf(err) != hal.Uncalibrated {
		t.Errorf("got %d findings, %v, want 6 and not calibrated", fails, err)
	}
}

// The worst finding gives the exit code.
func TestDoctorVerdict(t *testing.T) {
	for _, c := range []struct {
		kinds  []hal.Kind
		warn   bool
		strict bool
		want   hal.Kind
	}{
		{nil, false, true, hal.Unexpected},
		{nil, true, false, hal.Unexpected},
		{nil, true, true, hal.Differs},
		{[]hal.Kind{hal.Uncalibrated, hal.BusFault, hal.Absent, hal.Busy}, true, true, hal.Absent},
		{[]hal.Kind{hal.Invalid, hal.Uncalibrated, hal.BusFault}, false, false, hal.BusFault},
		{[]hal.Kind{hal.Uncalibrated}, false, false, hal.Uncalibrated},
		{[]hal.Kind{hal.Invalid}, false, false, hal.Invalid},
	} {
		d := &doctor.Examination{Note: func(string, ...any) {}}
		for _, k := range c.kinds {
			d.Found = append(d.Found, doctor.Finding{State: doctor.StateFail, Kind: k})
		}
		if c.warn {
			d.Found = append(d.Found, doctor.Finding{State: doctor.StateWarn})
		}
		err := d.Verdict(c.strict)
		if (err == nil) != (c.want == hal.Unexpected) || err != nil && hal.KindOf(err) != c.want {
			t.Errorf("%v: got %v, want %v", c.kinds, err, c.want)
		}
	}
}

// The prediction of a cycle is the time that the driver's bytes take, and what is proposed does help.
func TestBusLoad(t *testing.T) {
	xm := dynamixel.ModelByName("xm430-w350")
	line := doctor.TrialLine{Kind: catalog.BuiltinBuses().Of("dynamixel2"), Baud: 1000000}
	for range 20 {
		line.Servos = append(line.Servos, xm)
	}
	cycle, err := line.Cycle()
	// 14+N(4+1) to write, 14+N to ask, 8+N(4+10) to answer, and every fifth cycle one long answer.
	bare := time.Duration(14+20*5+14+20+8+20*14) * 10 * time.Microsecond
	if err != nil || cycle < bare || cycle > bare*12/10 {
		t.Errorf("20 servos: got %v, %v, want %v and some", cycle, err, bare)
	}
	for _, c := range []struct {
		name   string
		change func(*doctor.TrialLine)
	}{
		{"4000000 Bd", func(o *doctor.TrialLine) { o.Baud = 4000000 }},
		{"two buses", func(o *doctor.TrialLine) { o.Servos = o.Servos[:10] }},
	} {
		other := line
		c.change(&other)
		d, err := other.Cycle()
		advice := fmt.Sprintf("%s: %.0f %%", c.name, 100*float64(d)/float64(cycle))
		if err != nil || d > cycle*6/10 || !strings.Contains(line.Relief(cycle), advice) {
			t.Errorf("%s: got %v of %v, %v; %s", c.name, d, cycle, err, line.Relief(cycle))
		}
	}
	late := line
	late.Delay, late.Timing.Latency = 500*time.Microsecond, 16*time.Millisecond
	if advice := late.Relief(cycle); !strings.HasPrefix(advice, "latency timer 1ms: ") ||
		!strings.Contains(advice, "return delay 0: ") {
		t.Errorf("got %s", advice)
	}
	if _, err := (&doctor.TrialLine{Kind: catalog.BuiltinBuses().Of("dynamixel2"), Baud: 1000000}).Cycle(); err != nil {
		t.Errorf("an empty bus: %v", err)
	}
}

// Two true servos on one id: their answers lie over each other, equal where both say the same, or follow each other.
func TestDoctorTwins(t *testing.T) {
	for _, delay := range []int64{0, 250} {
		p := patientOf(t, "xm430-arm", "emulated")
		twin, err := p.Servo(4)
		if err != nil {
			t.Fatal(err)
		}
		twin.Actuator().Reset(0.5)
		twin.Preset("id", 3)
		twin.Preset("return_delay", delay)
		if err := p.Exam.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := texts(p.Exam.Found[:3]); !strings.HasPrefix(got[0], "[fail id arm 3 elbow two servos") ||
			!strings.HasPrefix(got[1], "[fail servo arm 4 ") || !strings.HasPrefix(got[2], "[ok ") {
			t.Errorf("return delay %d: got %q", delay, got)
		}
	}
}

// Two VESCs behind a third have one CAN id.
func TestDoctorTwinsBehindTheFirst(t *testing.T) {
	path, err := doctor.WriteTrio(t.TempDir(), "vesc", "vesc-6", 1000000, 48)
	if err != nil {
		t.Fatal(err)
	}
	p := patientOf(t, path, "emulated")
	last, err := p.Servo(3)
	if err != nil || !last.Preset("id", 2) {
		t.Fatal(err)
	}
	if err := p.Exam.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := texts(p.Exam.Found); !strings.HasPrefix(got[0], "[fail id line 2 b two devices have id 2 ") {
		t.Errorf("got %q", got)
	}
}

// A controller's own current limit is shown beside that of the config's model.
func TestDoctorShowsBothLimits(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "rig.yaml")
	for name, text := range map[string]string{"robot.yaml": `name: one
title: a joint
supply: {volts: 24, ohms: 0.02}
joints:
  - {name: hip, path: /hip, servo: odrive-v3, limits_deg: [-90, 90], default_deg: 0,
     load: {inertia_kgm2: 0.002, mass_kg: 0.05, length_m: 0.1, source: a test}}
`, "rig.yaml": `name: one
buses:
  drive: {type: odrive, port: /dev/ttyUSB0, baud: 115200, firmware: "0.5.2"}
agents:
  - name: one
    model: robot.yaml
    hardware: {joints: {hip: {bus: drive, id: 0, model: odrive-v3}}}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := patientOf(t, path, "emulated")
	if err := p.Exam.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := texts(p.Exam.Found); !strings.Contains(got[0], "its own limit is ") ||
		!strings.Contains(got[0], "that of a odrive-v3 60 A: the lower holds") {
		t.Errorf("got %q", got)
	}
}

// A denial that is seen beforehand is not tried.
func TestDoctorUsable(t *testing.T) {
	b := &doctor.BusCheck{Examination: &doctor.Examination{Root: t.TempDir()}, Name: "arm"}
	if b.Usable(&serial.Port{Device: "/dev/ttyUSB0", Denied: `you are not in group "dialout"`}) {
		t.Error("a port that may not be opened is usable")
	}
	if f := b.Found[0]; f.Check != "access" || f.Kind != hal.Busy || !strings.Contains(f.Fix, "usermod -aG dialout") {
		t.Errorf("got %+v", f)
	}
}

// A real bus runs at what the device tree says, not at what the config has for an emulated one.
func TestDoctorHertz(t *testing.T) {
	const node = "sys/class/i2c-adapter/i2c-1/of_node/clock-frequency"
	bus := configs.Bus{Port: "/dev/i2c-1", Frequency: 400_000}
	for _, c := range []struct {
		text string
		body configs.BodyKind
		want int
	}{
		{"\x00\x01\x86\xA0", configs.Real, 100_000}, {"\x00\x01\x86\xA0", configs.Emulated, 400_000},
		{"100000\n", configs.Real, 400_000},
		{"\x00\x00\x00\x00", configs.Real, 400_000}, {"gone", configs.Real, 400_000},
	} {
		x := doctor.DeviceCheck{Examination: &doctor.Examination{Root: rigtest.Machine(t,
			map[string]string{node: c.text})}}
		if got := x.Hertz(&bus, c.body); got != c.want {
			t.Errorf("%q, %s: got %d, want %d", c.text, c.body, got, c.want)
		}
	}
}

// What is no device file is not looked for among them.
func TestDoctorReachable(t *testing.T) {
	root := rigtest.Machine(t, map[string]string{"dev/i2c-1": "", "dev/pts/3": ""})
	for _, c := range []struct {
		kind, port string
		want       bool
	}{
		{"odrive-can", "can0", true}, {catalog.SerialBus, "tcp://192.168.0.10:10940", true}, {"feetech", "d/arm", true},
		{"feetech", "/dev/pts/3", true},
		{"feetech", "/dev/ttyUSB9", false}, {catalog.I2CBus, "/dev/i2c-1", true}, {catalog.I2CBus, "/dev/i2c-2", false},
		{"feetech", doctor.AdapterName, true},
	} {
		b := &doctor.BusCheck{Examination: &doctor.Examination{Root: root}, Name: "arm",
			Config: configs.Bus{Type: c.kind, Port: c.port, Baud: 1000000}}
		if got := b.Reachable(); got != c.want || (len(b.Found) == 0) != c.want {
			t.Errorf("%s %s: got %v, %v; want %v", c.kind, c.port, got, texts(b.Found), c.want)
		}
	}
}

// A calibration that was made at another adapter is another arm's, or two plugs are swapped: with equal ids and models
// nothing else tells. Names that change with the plugging order tell nothing.
func TestDoctorOtherAdapter(t *testing.T) {
	const by = "/dev/serial/by-id/"
	for _, c := range []struct {
		kind          configs.BodyKind
		port, adapter string
		want          bool
	}{
		{configs.Real, by + "usb-left", "usb-right", true}, {configs.Real, by + "usb-left", by + "usb-right", true},
		{configs.Real, by + "usb-left", "usb-left", false}, {configs.Real, by + "usb-left", by + "usb-left", false},
		{configs.Real, by + "usb-left", "", false}, {configs.Real, "/dev/ttyUSB0", "usb-right", false},
		{configs.Emulated, by + "usb-left", "usb-right", false},
	} {
		s := &doctor.ServoCheck{BusCheck: &doctor.BusCheck{Kind: c.kind, Config: configs.Bus{Port: c.port}}}
		if got := s.OtherAdapter(&calibration.Joint{Servo: calibration.Servo{Adapter: c.adapter}}); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}
