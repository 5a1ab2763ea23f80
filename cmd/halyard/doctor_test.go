package main

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
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// patient is a robot for the doctor, sound until a plant of the matrix touches it.
type patient struct {
	t      *testing.T
	config string
	exam   *examination
}

// servo is the emulated servo with an id, of any bus.
func (p *patient) servo(id int) *emulator.Servo {
	for _, b := range p.exam.world.buses {
		for _, s := range b.bus.Servos() {
			if v, _ := s.Register("id"); v == int64(id) {
				return s
			}
		}
	}
	p.t.Fatalf("no servo %d", id)
	return nil
}

func preset(id int, register string, v int64) func(*patient) {
	return func(p *patient) {
		if !p.servo(id).Preset(register, v) {
			p.t.Fatalf("servo %d: no %s = %d", id, register, v)
		}
	}
}

func fault(text string) func(*patient) {
	return func(p *patient) {
		if err := p.exam.world.plant(text); err != nil {
			p.t.Fatal(err)
		}
	}
}

func physics(change func(*actuator.Servo)) func(*patient) {
	return func(p *patient) { change(p.servo(3).Actuator()) }
}

// refuse lets opening the bus fail.
func refuse(err error) func(*patient) {
	return func(p *patient) {
		p.exam.open = func(string, configs.BodyKind) (servo.Line, error) { return nil, err }
	}
}

// calibrate writes a calibration of joint elbow, changed by change, and returns the option that names it.
func calibrate(t *testing.T, change func(*calibration.Joint)) string {
	t.Helper()
	c := calibration.Nominal("elbow", calibration.Servo{Model: "xm430-w350", ID: 3},
		calibration.Model{TicksPerTurn: 4096, CentreTicks: 2048, MaxTicks: 4095, StallTorque: 4.1, MaxEffort: 3.2})
	c.Method, c.Date = calibration.ByHand, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	change(c)
	path := filepath.Join(t.TempDir(), "elbow.yaml")
	if _, err := calibration.Save(path, c); err != nil {
		t.Fatal(err)
	}
	return "agents[0].hardware.joints.elbow.calibration=" + path
}

// machine is a folder that stands for a machine with one U2D2, with some more files in it.
func machine(t *testing.T, more map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"sys/devices/usb1/1-1/idVendor": "0403\n", "sys/devices/usb1/1-1/idProduct": "6014\n",
		"sys/devices/usb1/1-1/1-1:1.0/ttyUSB0/tty/ttyUSB0/dev": "",
		"sys/bus/usb-serial/devices/ttyUSB0/latency_timer":     "16\n",
		"dev/ttyUSB0": "", "proc/1/comm": "systemd\n",
	}
	links := map[string]string{
		"sys/class/tty/ttyUSB0":                                   "../../devices/usb1/1-1/1-1:1.0/ttyUSB0/tty/ttyUSB0",
		"sys/devices/usb1/1-1/1-1:1.0/ttyUSB0/tty/ttyUSB0/device": "../../../ttyUSB0",
		"dev/serial/by-id/usb-FTDI_U2D2":                          "../../ttyUSB0",
	}
	for name, text := range more {
		if to, link := strings.CutPrefix(text, "-> "); link {
			links[name] = to
		} else if text == "gone" {
			delete(files, name)
		} else {
			files[name] = text
		}
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range links {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const adapterName = "/dev/serial/by-id/usb-FTDI_U2D2"

// onMachine examines real ports of a machine with files more; lines that open are the emulated ones.
func onMachine(more map[string]string) func(*patient) {
	return func(p *patient) {
		p.exam.root = machine(p.t, more)
		p.exam.hypothetic = true
		for i := range p.exam.plan.agents[0].joints {
			p.exam.plan.agents[0].joints[i].body = configs.Real
		}
		for name, b := range p.exam.plan.config.Buses {
			b.Port = adapterName
			p.exam.plan.config.Buses[name] = b
		}
		p.exam.open = func(name string, _ configs.BodyKind) (servo.Line, error) { return p.exam.world.bus(name).Open() }
	}
}

// slowTimer is a line whose adapter could not be set to a short latency timer.
type slowTimer struct{ servo.Line }

func (slowTimer) LatencyTimer() (time.Duration, string) { return 16 * time.Millisecond, "denied" }

const anyID = 1000

// The matrix: each fault planted alone is named by its own check, with its exit code, and nothing else complains.
func TestDoctorMatrix(t *testing.T) {
	t.Parallel()
	const arm, humanoid = "xm430-arm", "a-series"
	denied := &hal.Error{Kind: hal.Busy, Op: "open", Err: errors.New(`permission denied: you are not in group "dialout"`), Try: "sudo usermod -aG dialout $USER"}
	for _, c := range []struct {
		name, config string
		set          string
		plant        func(*patient)
		check, state string // "" = nothing is found
		id           int    // -1 = no single servo; anyID = several findings of the check
		code         hal.Kind
		found, fix   string
	}{
		{"sound arm", arm, "", nil, "", "", -1, 0, "", ""},
		{"sound humanoid", humanoid, "", nil, "", "", -1, 0, "", ""},
		{"adapter missing", arm, "", refuse(&hal.Error{Kind: hal.Absent, Op: "open", Err: os.ErrNotExist}),
			"port", stateFail, -1, hal.Absent, "not exist", "halyard ports"},
		{"adapter unplugged", arm, "", fault("unplug bus"), "port", stateFail, -1, hal.Absent, "gone", "plug"},
		{"adapter unplugged in the middle", arm, "", fault("unplug bus from=100ms"),
			"port", stateFail, -1, hal.Absent, "vanished", "cable"},
		{"no permission", arm, "", refuse(denied), "access", stateFail, -1, hal.Busy, "dialout", "usermod"},
		{"port held", arm, "", onMachine(map[string]string{"proc/812/fd/7": "-> /dev/ttyUSB0", "proc/812/cmdline": "lerobot\x00"}),
			"holder", stateFail, -1, hal.Busy, "pid 812 (lerobot)", "kill 812"},
		{"ModemManager runs", arm, "", onMachine(map[string]string{"proc/99/comm": "ModemManager\n"}),
			"meddler", stateWarn, -1, 0, "ModemManager", "systemctl"},
		{"brltty runs", arm, "", onMachine(map[string]string{"proc/99/comm": "brltty\n"}),
			"meddler", stateWarn, -1, 0, "brltty", "systemctl"},
		{"latency timer", arm, "", func(p *patient) {
			p.exam.open = func(n string, _ configs.BodyKind) (servo.Line, error) {
				return slowTimer{p.exam.world.bus(n).Line()}, nil
			}
		}, "latency", stateWarn, -1, 0, "16ms", "udev"},
		{"latency timer emulated", arm, "buses.arm.timing.latency_timer=2ms", nil, "latency", stateWarn, -1, 0, "2ms", "1ms"},
		{"echo", arm, "buses.arm.timing.echo=true", nil, "echo", stateWarn, -1, 0, "hears", "adapter"},
		{"echo, 1.0", humanoid, "buses.upper.timing.echo=true", nil,
			"echo", stateWarn, -1, 0, "hears", "adapter"},
		{"supply off", arm, "", fault("off bus"), "power", stateFail, -1, hal.BusFault, "none of the 6", "supply"},
		{"brown-out", arm, "", fault("brownout bus from=100ms"),
			"power", stateFail, anyID, hal.BusFault, "restarted", "battery"},
		{"servo missing", arm, "", fault("off servo 3"),
			"servo", stateFail, 3, hal.Absent, "no answer", "between id 2 and id 3"},
		{"wrong baud rate", arm, "", preset(3, "baud_rate", 1),
			"baud", stateFail, 3, hal.BusFault, "57600", "--baud 57600 --new-baud 1000000"},
		{"two servos, one id", arm, "", fault("duplicate_id servo 3"),
			"id", stateFail, 3, hal.BusFault, "two servos", "alone"},
		{"two servos, one id, 1.0", humanoid, "", fault("duplicate_id servo 7"),
			"id", stateFail, 7, hal.BusFault, "two servos", "alone"},
		{"wrong model", arm, "", func(p *patient) {
			other := planOf(p.t, arm, configs.Options{Body: "emulated", Set: []string{"agents[0].hardware.joints.elbow.model=xm540-w270"}})
			p.exam.world, _ = emulateWorld(other)
		}, "model", stateFail, 3, hal.BusFault, "xm540-w270, want xm430-w350", "config"},
		{"firmware differs", arm, "", preset(3, "firmware", 41), "firmware", stateWarn, 3, 0, "41, the other 5", "Wizard"},
		{"return delay", arm, "", preset(3, "return_delay", 250),
			"return-delay", stateWarn, 3, 0, "500µs", "return_delay=0"},
		{"return delay, 1.0", humanoid, "", preset(7, "return_delay", 250),
			"return-delay", stateWarn, 7, 0, "500µs", "return_delay=0"},
		{"status level 1", arm, "", preset(3, "status_return", 1),
			"status-return", stateWarn, 3, 0, "not acknowledged", "status_return=2"},
		{"status level 0", humanoid, "", preset(7, "status_return", 0),
			"status-return", stateWarn, 7, 0, "no reads", "serve"},
		{"voltage low", arm, "", physics(func(s *actuator.Servo) { s.Supply = actuator.NewSupply(8.2, 0) }),
			"voltage", stateFail, 3, hal.BusFault, "8.2 V, want 9.5..16.0", "battery"},
		{"voltage high", arm, "", physics(func(s *actuator.Servo) { s.Supply = actuator.NewSupply(19, 0) }),
			"voltage", stateFail, 3, hal.BusFault, "19.0 V", "switch off"},
		{"voltage ebbing", arm, "", physics(func(s *actuator.Servo) { s.Supply = actuator.NewSupply(9.7, 0) }),
			"voltage", stateWarn, 3, 0, "9.7 V", "battery"},
		{"warm", arm, "", physics(func(s *actuator.Servo) { s.Temperature = 75 }),
			"temperature", stateWarn, 3, 0, "75 °C", "cool"},
		{"hot", arm, "", physics(func(s *actuator.Servo) { s.Temperature = 85 }),
			"temperature", stateFail, 3, hal.BusFault, "85 °C", "cool"},
		{"overload latched", arm, "", physics(func(s *actuator.Servo) { s.Alarm = actuator.AlarmOverload }),
			"alarm", stateFail, 3, hal.BusFault, "overload", "load away"},
		{"overload latched, 1.0", humanoid, "", func(p *patient) { p.servo(7).Actuator().Alarm = actuator.AlarmOverload },
			"alarm", stateFail, 7, hal.BusFault, "overload", "load away"},
		{"torque limit 0", humanoid, "", preset(7, "torque_limit", 0),
			"torque-limit", stateFail, 7, hal.BusFault, "torque_limit is 0", "blocks"},
		{"max torque 0", humanoid, "", preset(7, "max_torque", 0),
			"torque-limit", stateFail, 7, hal.BusFault, "max_torque is 0", "max_torque=1023"},
		{"PWM limit 0", arm, "", preset(3, "pwm_limit", 0),
			"torque-limit", stateFail, 3, hal.BusFault, "pwm_limit is 0", "pwm_limit=885"},
		{"watchdog tripped", arm, "", preset(3, "bus_watchdog", -1), "watchdog", stateWarn, 3, 0, "tripped", "serve"},
		{"calibration file missing", arm, "agents[0].hardware.joints.elbow.calibration=none.yaml", nil,
			"calibration", stateWarn, 3, 0, "missing", "measure elbow"},
		{"calibration nominal", arm, calibrate(t, func(c *calibration.Joint) { c.Method = calibration.ByNominal }), nil,
			"calibration", stateWarn, 3, 0, "nominal", "measure elbow"},
		{"calibration of another id", arm, calibrate(t, func(c *calibration.Joint) { c.Servo.ID = 5 }), nil,
			"calibration", stateFail, 3, hal.Uncalibrated, "made with id 5", "measure elbow"},
		{"calibration of another model", arm, calibrate(t, func(c *calibration.Joint) { c.Servo.Model = "ax-12a" }), nil,
			"calibration", stateFail, 3, hal.Uncalibrated, "made with a ax-12a", "measure elbow"},
		{"homing offset changed", arm, calibrate(t, func(c *calibration.Joint) {}), preset(3, "homing_offset", 100),
			"calibration", stateFail, 3, hal.Uncalibrated, "homing offset 0, the servo has 100", "measure elbow"},
		{"firmware since calibration", arm, calibrate(t, func(c *calibration.Joint) { c.Servo.Firmware = "48" }), nil,
			"calibration", stateWarn, 3, 0, "firmware 48", "measure elbow"},
		{"mounted anew", arm, calibrate(t, func(c *calibration.Joint) { c.RangeTicks = [2]float64{1000, 1500}; c.ZeroTicks = 1200 }), physics(func(s *actuator.Servo) { s.Position = 2 }),
			"calibration", stateWarn, 3, 0, "outside", "measure elbow"},
		{"sound calibration", arm, calibrate(t, func(c *calibration.Joint) {}), nil, "", "", -1, 0, "", ""},
		{"bus too slow", arm, "clock.period=1500us", nil, "load", stateFail, -1, hal.BusFault, "of 1.5ms", "4000000 Bd: "},
		{"bus nearly full", arm, "clock.period=2000us", nil, "load", stateWarn, -1, 0, "of 2ms", "two buses: "},
		{"bus too slow, 1.0", humanoid, "clock.period=2ms", nil,
			"load", stateFail, anyID, hal.BusFault, "of 2ms", "fast sync read"},
		{"bad checksums", arm, "", fault("crc servo 3 p=0.3"),
			"answers", stateFail, 3, hal.BusFault, "bad checksum", "baud rate"},
		{"answers cut short", arm, "", fault("truncate servo 3"),
			"answers", stateFail, 3, hal.BusFault, "cut short", "cable"},
		{"loose contact", arm, "", fault("intermittent servo 3"), "answers", stateFail, 3, hal.BusFault, "missing", "plugs"},
		{"slow answers", arm, "", fault("slow servo 3 by=5ms"), "speed", stateFail, 3, hal.BusFault, "later than", "adapter"},
		{"encoder broken", arm, "", fault("garbage servo 3"), "values", stateFail, 3, hal.BusFault, "jumps", "replace"},
		{"values frozen", arm, "", fault("stuck servo 3"),
			"values", stateFail, 3, hal.BusFault, "stands still", "off and on"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &patient{t: t, config: c.config}
			o := configs.Options{Body: "emulated"}
			if c.set != "" {
				o.Set = []string{c.set}
			}
			cfg, err := configs.Load(c.config, o)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := resolve(cfg)
			if err != nil && !uncalibratedAlone(err) {
				t.Fatal(err)
			}
			if p.exam, err = newExamination(plan, "emulated", nil); err != nil {
				t.Fatal(err)
			}
			if c.plant != nil {
				c.plant(p)
			}
			if err := p.exam.run(t.Context()); err != nil {
				t.Fatal(err)
			}
			real := plan.agents[0].joints[0].body == configs.Real
			var bad []finding
			for _, f := range p.exam.found {
				if f.State != stateOK && !(real && f.Check == "calibration") { // those on a machine have no calibrations
					bad = append(bad, f)
				}
			}
			if c.check == "" {
				if len(bad) > 0 {
					t.Errorf("nothing is wrong, got %q", texts(bad))
				}
				return
			}
			if len(bad) == 0 || len(bad) > 1 && c.id != anyID {
				t.Fatalf("got %q, want one %s", texts(bad), c.check)
			}
			f := bad[0]
			id := -1
			if f.ID != nil {
				id = *f.ID
			}
			if f.Check != c.check || f.State != c.state || id != c.id && c.id != anyID || !strings.Contains(f.Found, c.found) || !strings.Contains(f.Fix, c.fix) {
				t.Errorf("got %q, want %s %s id %d %q, fix %q", texts(bad), c.state, c.check, c.id, c.found, c.fix)
			}
			for _, f := range bad {
				if f.Check != c.check {
					t.Errorf("got %q beside %s", texts(bad), c.check)
				}
			}
			if code := p.exam.verdict(true); !real && hal.KindOf(code) != max(c.code, strictOf(c.state)) {
				t.Errorf("exit: got %v, want %v", hal.KindOf(code), c.code)
			}
			t.Logf("%-32s -> %-4s %-13s %s  | %s", c.name, f.State, f.Check, f.Found, f.Fix)
		})
	}
}

// strictOf is the kind that --strict gives a state.
func strictOf(state string) hal.Kind {
	if state == stateWarn {
		return hal.Differs
	}
	return 0
}

func texts(list []finding) []string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprint(f.cells()))
	}
	return out
}

// Real joints without a calibration are refused, with the exit code of that.
func TestDoctorUncalibrated(t *testing.T) {
	p := &patient{t: t}
	var err error
	if p.exam, err = newExamination(planOf(t, "xm430-arm", configs.Options{Body: "emulated"}), "", nil); err != nil {
		t.Fatal(err)
	}
	onMachine(nil)(p)
	if err := p.exam.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	fails := 0
	for _, f := range p.exam.found {
		if f.State == stateFail && f.Check == "calibration" && strings.Contains(f.Found, "none") {
			fails++
		}
	}
	if err := p.exam.verdict(false); fails != 6 || hal.KindOf(err) != hal.Uncalibrated {
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
		d := &examination{note: func(string, ...any) {}}
		for _, k := range c.kinds {
			d.found = append(d.found, finding{State: stateFail, kind: k})
		}
		if c.warn {
			d.found = append(d.found, finding{State: stateWarn})
		}
		err := d.verdict(c.strict)
		if (err == nil) != (c.want == hal.Unexpected) || err != nil && hal.KindOf(err) != c.want {
			t.Errorf("%v: got %v, want %v", c.kinds, err, c.want)
		}
	}
}

// The prediction of a cycle is the time that the driver's bytes take, and what is proposed does help.
func TestBusLoad(t *testing.T) {
	xm := dynamixel.ModelByName("xm430-w350")
	line := trialLine{kind: busTypes["dynamixel2"], baud: 1000000}
	for range 20 {
		line.servos = append(line.servos, xm)
	}
	cycle, err := line.cycle()
	// 14+N(4+1) to write, 14+N to ask, 8+N(4+10) to answer, and every fifth cycle one long answer.
	bare := time.Duration(14+20*5+14+20+8+20*14) * 10 * time.Microsecond
	if err != nil || cycle < bare || cycle > bare*12/10 {
		t.Errorf("20 servos: got %v, %v, want %v and some", cycle, err, bare)
	}
	for _, c := range []struct {
		name   string
		change func(*trialLine)
	}{
		{"4000000 Bd", func(o *trialLine) { o.baud = 4000000 }},
		{"two buses", func(o *trialLine) { o.servos = o.servos[:10] }},
	} {
		other := line
		c.change(&other)
		d, err := other.cycle()
		advice := fmt.Sprintf("%s: %.0f %%", c.name, 100*float64(d)/float64(cycle))
		if err != nil || d > cycle*6/10 || !strings.Contains(line.relief(cycle), advice) {
			t.Errorf("%s: got %v of %v, %v; %s", c.name, d, cycle, err, line.relief(cycle))
		}
	}
	late := line
	late.delay, late.timing.Latency = 500*time.Microsecond, 16*time.Millisecond
	if advice := late.relief(cycle); !strings.HasPrefix(advice, "latency timer 1ms: ") || !strings.Contains(advice, "return delay 0: ") {
		t.Errorf("got %s", advice)
	}
	if _, err := (&trialLine{kind: busTypes["dynamixel2"], baud: 1000000}).cycle(); err != nil {
		t.Errorf("an empty bus: %v", err)
	}
}

// Two true servos on one id: their answers lie over each other, equal where both say the same, or follow each other.
func TestDoctorTwins(t *testing.T) {
	for _, delay := range []int64{0, 250} {
		p := &patient{t: t}
		var err error
		if p.exam, err = newExamination(planOf(t, "xm430-arm", configs.Options{Body: "emulated"}), "emulated", nil); err != nil {
			t.Fatal(err)
		}
		twin := p.servo(4)
		twin.Actuator().Reset(0.5)
		twin.Preset("id", 3)
		twin.Preset("return_delay", delay)
		if err := p.exam.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := texts(p.exam.found[:3]); !strings.HasPrefix(got[0], "[fail id arm 3 elbow two servos") ||
			!strings.HasPrefix(got[1], "[fail servo arm 4 ") || !strings.HasPrefix(got[2], "[ok ") {
			t.Errorf("return delay %d: got %q", delay, got)
		}
	}
}

// Tables have a cell under each heading.
func TestRows(t *testing.T) {
	for _, r := range []row{portRow{}, foundServo{}, assignment{}, finding{}, portLine{}} {
		if len(r.header()) != len(r.cells()) {
			t.Errorf("%T: got %d cells under %d headings", r, len(r.cells()), len(r.header()))
		}
	}
}

// A denial that is seen beforehand is not tried.
func TestDoctorUsable(t *testing.T) {
	b := &busExam{examination: &examination{root: t.TempDir()}, name: "arm"}
	if b.usable(&serial.Port{Device: "/dev/ttyUSB0", Denied: `you are not in group "dialout"`}) {
		t.Error("a port that may not be opened is usable")
	}
	if f := b.found[0]; f.Check != "access" || f.kind != hal.Busy || !strings.Contains(f.Fix, "usermod -aG dialout") {
		t.Errorf("got %+v", f)
	}
}
