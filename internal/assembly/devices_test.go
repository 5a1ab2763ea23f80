package assembly_test

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/haltest"
	"github.com/halyard-robotics/halyard/internal/builtin"
	"github.com/halyard-robotics/halyard/internal/commission/doctor"
	"github.com/halyard-robotics/halyard/internal/plan"
	"github.com/halyard-robotics/halyard/internal/rigtest"
	"github.com/halyard-robotics/halyard/sim/emulator/chip"
)

// turned is the calibration of an inertial sensor that lies a quarter turn off, whose axes are off too.
const turned = `
sensor: imu
model: DEVICE
method: manual
date: 2026-11-21T14:03:00Z
axes: [y, -x, z]
gyro: {offset: [0.01, -0.02, 0.03]}
accelerometer: {offset: [0.1, 0.2, -0.3], scale: [1.01, 0.99, 1]}
`

// A robot of a smart servo, a hobby servo and an inertial sensor passes the suite of all bodies, and the sensor tells
// the nod that the servo makes, however it lies.
func TestNodder(t *testing.T) {
	for _, device := range []string{"bno055", "mpu-6050", "mpu-9250", "lsm6dsox", "bno055 turned", "mpu-9250 turned"} {
		kind, file, lies := strings.Cut(device, " ")
		if lies {
			file = ", calibration: imu.yaml"
		}
		path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder, "bno055, rate: 100", kind+", rate: 100"+file)
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "imu.yaml"),
			[]byte(strings.Replace(turned, "DEVICE", kind, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(device, func(t *testing.T) {
			s := rigtest.Subject(t, rigtest.PlanOf(t, path, configs.Options{}))
			f := hal.NewFrame(s.Body.Layout())
			cycles(t, s, f, 100*time.Millisecond)
			l := s.Body.Layout()
			tilt, imu := l.Actuators[l.Actuator("tilt")], rigtest.SensorOf(t, l, "imu")
			if tilt.Goal[hal.DutyMode] != hal.None {
				t.Error("a hobby servo takes no duty")
			}
			for i := range f.Enable {
				f.Enable[i] = true
			}
			f.Inputs[tilt.Goal[hal.PositionMode]] = 0.5
			cycles(t, s, f, 4*time.Second)
			v := f.Measured[imu.First:]
			if got := 2 * math.Atan2(v[2], v[0]); math.Abs(got-0.5) > 0.05 {
				t.Errorf("nod by the imu: got %.3f rad, want 0.5", got)
			}
			if math.Abs(v[7]+9.81*math.Sin(0.5)) > 0.5 || math.Abs(v[9]-9.81*math.Cos(0.5)) > 0.5 {
				t.Errorf("gravity in the head's axes: got %v", v[7:10])
			}
			for i := range f.Status {
				if f.Status[i].Err != nil {
					t.Errorf("device %d: %v", i, f.Status[i].Err)
				}
			}
		})
	}
	t.Run("conforms", func(t *testing.T) {
		path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder)
		haltest.Run(t, func(t *testing.T) haltest.Subject {
			return rigtest.Subject(t, rigtest.PlanOf(t, path, configs.Options{}))
		})
	})
}

// cycles lets a body's cycle run for d.
func cycles(t *testing.T, s haltest.Subject, f *hal.Frame, d time.Duration) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range d / s.Period {
		must(s.Body.Write(f))
		for _, b := range s.Buses {
			must(b.Send())
		}
		must(s.World.Advance(s.Period))
		f.Time += s.Period
		for _, b := range s.Buses {
			must(b.Receive())
		}
		must(s.Body.Read(f))
	}
}

// A config with ten faults of devices reports ten, each with its path; unknown devices list the known ones.
func TestDeviceFaults(t *testing.T) {
	rig := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder,
		"{type: i2c,", "{type: i2c, frequency: 100000,",
		"        tilt: {bus: main, device: pca9685, channel: 3, frequency: 200}\n",
		`        tilt: {bus: line, device: pca9685, channel: 3}
`,
		"{bus: line, id: 1, model: xl430-w250}", "{bus: main, device: pca9686, channel: 0}",
		"        imu: {bus: main, device: bno055, rate: 100}\n", `        imu: {bus: main, device: ms5837-30ba}
        head: {bus: main, device: bno055}
        nose: {bus: main, device: bno055}
      monitors:
        leak: {bus: main, device: ads1115, address: 0x4C}
        wet: {bus: main, device: ads1115, above: 1}
        dry: {bus: main, device: ads1115, below: 1}
        cold: {bus: line, device: ina219}
        hot: {bus: main, device: termometer}
        odd: {bus: main, device: ina219, calibration: x.yaml}
`)
	c, err := configs.Load(rig, configs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = plan.Resolve(c, builtin.Catalog())
	got := strings.ReplaceAll(err.Error(), rig+":", "")
	const want = `12:34: agents[0].hardware.joints.pan.device: got pca9686, want one of kernel-pwm, maestro, pca9685; did you mean "pca9685"?
13:21: agents[0].hardware.joints.tilt.bus: got line, which is dynamixel2, want a bus of type i2c, for pca9685
15:34: agents[0].hardware.sensors.imu.device: got ms5837-30ba, want one of bno055, lsm6dso32, lsm6dsox, mpu-6050, mpu-6500, mpu-9250, mpu-9255, for the sensor is of kind imu
16:35: agents[0].hardware.sensors.head.device: got bno055, want no device: none measures body
17:9: agents[0].hardware.sensors.nose: got nose, want a sensor of the robot: imu, head; monitors watch what no sensor of the robot is
19:53: agents[0].hardware.monitors.leak.address: got 0x4C, want 0x48..0x4B
20:9: agents[0].hardware.monitors.wet.input: got 0, want an input of its own; dry of the same chip has it too
22:21: agents[0].hardware.monitors.cold.bus: got line, which is dynamixel2, want a bus of type i2c, for ina219
23:34: agents[0].hardware.monitors.hot.device: got termometer, want one of ads1115, bme280, bmp280, bno055, bumper, encoder, hc-sr04, hokuyo, ina219, lsm6dso32, lsm6dsox, mpu-6050, mpu-6500, mpu-9250, mpu-9255, ms5837-02ba, ms5837-30ba, pir, pn532, rdm6300, rplidar, sick-lms200, sick-lms291
24:55: agents[0].hardware.monitors.odd.calibration: got x.yaml, want none, for ina219 is no inertial sensor`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A hobby servo goes where it is told on every kind of board.
func TestBoardKinds(t *testing.T) {
	for _, c := range []struct{ board, port string }{
		{"{bus: main, device: pca9685, address: 0x41, channel: 15, frequency: 333, oscillator: 26000000}", ""},
		{"{bus: usb, device: maestro, channel: 11}", "  usb: {type: serial, port: /dev/serial/by-id/nobody-2}\n"},
		{"{bus: usb, device: maestro, address: 12, crc: true, channel: 2}",
			"  usb: {type: serial, port: /dev/serial/by-id/nobody-2}\n"},
		{"{device: kernel-pwm, address: 2, channel: 1}", ""},
	} {
		path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder,
			"{bus: main, device: pca9685, channel: 3, frequency: 200}",
			c.board, "agents:\n", c.port+"agents:\n")
		s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
		s.Inputs[s.Agent.Layout().Actuators[1].Goal[hal.PositionMode]] = 0.3
		s.Run(2 * time.Second)
		if got := s.Sys.Scene.Body("nodder").Joint(1).Servo.Position; math.Abs(got-0.3) > 0.03 ||
			s.Device("tilt").Err != nil {
			t.Errorf("%s: tilt at %.3f rad, want 0.3; %v", c.board, got, s.Device("tilt").Err)
		}
		for _, stop := range s.Sys.Rig.EmergencyStop("test") {
			if stop.Err != nil {
				t.Errorf("%s: stop: %v", c.board, stop.Err)
			}
		}
		s.Run(50 * time.Millisecond)
		if s.Sys.Scene.Body("nodder").Joint(1).Servo.Enable {
			t.Errorf("%s: stopped, and the servo still has pulses", c.board)
		}
	}
}

// An INA219 with another shunt than most boards have measures what flows through that one.
func TestShunt(t *testing.T) {
	path := rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder, "servers: []", `      monitors:
        supply: {bus: main, device: ina219, shunt: 0.01}
servers: []`, "channel: 3, frequency: 200", "channel: 3, address: 0x41")
	s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
	for _, p := range s.Sys.Plan.Sensors {
		if p.Name != "supply" {
			continue
		}
		s.Sys.Emulation.Chips[p].(*chip.INA219).Amps = 12
		s.Run(200 * time.Millisecond)
		var v [3]float64
		if _, err := s.Sys.Pollers[p].Latest(v[:], 0); err != nil || math.Abs(v[1]-12) > 0.05 {
			t.Errorf("got %v, %v; want 12 A", v, err)
		}
	}
}

// The inputs of one ADS1115 are sensors and monitors of their own, each at its rate, in step and in its own goroutine:
// the chip converts one at a time, and none has another's volts.
func TestInputsOfOneChip(t *testing.T) {
	path := rigtest.RigOf(t, strings.Replace(rigtest.RovRig,
		"        battery: {bus: main, device: ina219, address: 0x41, below: 13}\n",
		`        battery: {bus: main, device: ads1115, input: 3, scale: 5, below: 13}
      monitors:
        leak: {bus: main, device: ads1115, input: 0, above: 2.5, rate: 100}
        trunk: {bus: main, device: ads1115, input: 1, scale: 2, rate: 7}
`, 1), "")
	s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
	var of *chip.ADS1115
	for _, p := range s.Sys.Plan.Sensors {
		if c, ok := s.Sys.Emulation.Chips[p].(*chip.ADS1115); ok {
			if of != nil && c != of {
				t.Fatal("two chips at one address")
			}
			of = c
		}
	}
	of.Volts[0], of.Volts[1] = 1.5, 0.75
	s.Run(2 * time.Second)
	for _, p := range s.Sys.Plan.Sensors {
		want := map[string]float64{"leak": 1.5, "trunk": 1.5, "battery": 5 * of.Volts[3]}[p.Name]
		var v [1]float64
		if age, err := s.Sys.Pollers[p].Latest(v[:], 0); want > 0 && (err != nil || age > 200*time.Millisecond ||
			math.Abs(v[0]-want) > 0.01) {
			t.Errorf("%s: got %g, %v old, %v; want %g", p.Name, v[0], age, err, want)
		}
	}
	if s.Saw("/rov/leak/Alarm") || s.Device("battery").Err != nil {
		t.Error("a leak without water, or no battery")
	}
	of.Volts[0] = 3
	s.Run(200 * time.Millisecond)
	if !s.Saw("/rov/leak/Alarm") {
		t.Error("no alarm of the leak")
	}
}

// A monitor is a part like any: a hull is watched by its real sensor while the rest is simulated.
func TestMonitorPart(t *testing.T) {
	path := rigtest.RigOf(t, strings.Replace(rigtest.RovRig, "    body: emulated\n",
		"    body: sim\n    parts: {leak: emulated}\n", 1),
		"",
		"servers: []", "      monitors:\n        leak: {bus: main, device: ads1115, above: 2.5}\n        dry: {bus: "+
			"main, device: ads1115, input: 1}\nservers: []")
	s := rigtest.Step(t, rigtest.PlanOf(t, path, configs.Options{}))
	s.Run(time.Second)
	for _, p := range s.Sys.Plan.Sensors {
		want := map[string]configs.BodyKind{"leak": configs.Emulated}[p.Name]
		if watching := s.Sys.Pollers[p] != nil; watching != (want == configs.Emulated) {
			t.Errorf("%s: got it watched %v", p.Name, watching)
		}
	}
	ids := s.Sys.Rig.Values().Find(regexp.MustCompile("^/rov/leak$"))
	if len(ids) != 1 {
		t.Fatal("no value of the leak")
	}
	if v, err := s.Sys.Rig.Values().Get(ids[0]); err != nil || v.Double != 0 {
		t.Errorf("the leak: got %v, %v; want 0 V", v, err)
	}
}

// An inertial chip has the ranges of its data sheet, and no others.
func TestInertialRanges(t *testing.T) {
	for _, c := range []struct{ device, keys, want string }{
		{"mpu-6050", "gyro_range: 2000, acceleration_range: 16", ""},
		{"lsm6dsox", "gyro_range: 125", ""},
		{"mpu-9250", "gyro_range: 125", "imu.gyro_range: got 125, want one of 250 500 1000 2000"},
		{"lsm6dsox", "acceleration_range: 5", "imu.acceleration_range: got 5, want one of 2 4 8 16"},
	} {
		conf, err := configs.Load(rigtest.RigOf(t, doctor.NodderRig, doctor.Nodder, "bno055, rate: 100",
			c.device+", "+c.keys),
			configs.Options{})
		if err == nil {
			_, err = plan.Resolve(conf, builtin.Catalog())
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %s: got %v, want %q", c.device, c.keys, err, c.want)
		}
	}
}
