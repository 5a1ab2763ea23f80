package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/sim/emulator/video"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// The made-up robots of devices: a neck of a smart servo and a hobby servo with an inertial sensor in its head, the
// boards on I2C or each at the end of a serial line.
const (
	nodderRobot   = "nodder"
	nodderSPI     = "nodder-spi"
	nodderUngated = "nodder-ungated"
	nodderSerial  = "nodder-serial"
	nodderKernel  = "nodder-kernel"
)

const Nodder = `
name: nodder
title: a neck
supply: {volts: 12, ohms: 0.1}
base: fixed
bodies:
  - {name: post, position_m: [0, 0, 0.2], mass_kg: 5, shapes: [{box: [0.1, 0.1, 0.4]}]}
  - {name: neck, position_m: [0, 0, 0.425], mass_kg: 0.1, shapes: [{box: [0.05, 0.05, 0.05], collides: false}]}
  - {name: head, position_m: [0, 0, 0.475], mass_kg: 0.05, shapes: [{box: [0.05, 0.05, 0.05], collides: false}]}
joints:
  - {name: pan, servo: xl430-w250, modes: [position], limits_deg: [-90, 90], parent: post, child: neck, anchor_m: [0, 0, 0.4], axis: [0, 0, 1]}
  - {name: tilt, servo: xl430-w250, modes: [position, duty], limits_deg: [-45, 45], parent: neck, child: head, anchor_m: [0, 0, 0.45], axis: [0, 1, 0]}
sensors:
  - {name: imu, kind: imu, body: head}
  - {name: head, kind: body, body: head}
`

const NodderRig = `
name: nodder
buses:
  line: {type: dynamixel2, port: /dev/serial/by-id/nobody}
  main: {type: i2c, port: /dev/i2c-nobody}
agents:
  - name: nodder
    model: nodder-robot.yaml
    body: emulated
    hardware:
      joints:
        pan: {bus: line, id: 1, model: xl430-w250}
        tilt: {bus: main, device: pca9685, channel: 3, frequency: 200}
      sensors:
        imu: {bus: main, device: bno055, rate: 100}
servers: []
`

// OnSerial are the changes of nodderRig that put its boards at the ends of serial lines.
func OnSerial() []string {
	return []string{
		"main: {type: i2c, port: /dev/i2c-nobody}",
		"head: {type: serial, port: /dev/no-head}\n  board: {type: serial, port: /dev/no-board}",
		"{bus: main, device: pca9685, channel: 3, frequency: 200}", "{bus: board, device: maestro, channel: 3}",
		"{bus: main, device: bno055, rate: 100}", "{bus: head, device: bno055, rate: 100}",
	}
}

// onSPI are the changes of nodderRig that give it a sensor on SPI.
func onSPI() []string {
	return []string{"  main: {type: i2c", "  head: {type: spi, port: /dev/spidev9.9}\n  main: {type: i2c",
		"{bus: main, device: bno055, rate: 100}", "{bus: head, device: mpu-9250, rate: 100}"}
}

// gated are the changes of nodderRig by which a GPIO chip ends the board's pulses.
func gated() []string {
	return []string{"agents:\n", "  io: {type: gpio, port: gpiochip-nobody}\nagents:\n", "channel: 3, frequency: 200",
		"channel: 3, frequency: 200, output_enable: {bus: io, line: 4}"}
}

// writeNodder writes the robot of devices called name into dir and returns its config's path.
func writeNodder(dir, name string) (string, error) {
	rig, robot, path := NodderRig, Nodder, filepath.Join(dir, name+".yaml")
	switch name {
	case nodderRobot:
		rig = strings.NewReplacer(gated()...).Replace(rig)
	case nodderSPI:
		rig = strings.NewReplacer(append(gated(), onSPI()...)...).Replace(rig)
	case nodderSerial:
		rig = strings.NewReplacer(OnSerial()...).Replace(rig)
	case nodderKernel:
		rig = strings.Replace(rig, "{bus: main, device: pca9685, channel: 3, frequency: 200}",
			"{device: kernel-pwm, address: 1, channel: 3}", 1)
	case feelerRobot:
		rig, robot = watchingRig(), Feeler()
	}
	return path, errors.Join(os.WriteFile(path, []byte(rig), 0o644),
		os.WriteFile(filepath.Join(dir, "nodder-robot.yaml"), []byte(robot), 0o644))
}

// chipFault plants a fault of an I2C bus.
func chipFault(bus string, f wire.Fault) func(*TestRobot) error {
	return tampered(func(_ *TestRobot, e *assembly.Emulation) { e.Buses[bus].Fault(f) })
}

// realBoards makes the boards real, on a made-up machine with some files.
func realBoards(files map[string]string) func(*TestRobot) error {
	return func(p *TestRobot) error {
		p.Exam.Root, p.Exam.hypothetic = filepath.Join(p.Dir, "machine"), true
		p.Exam.Tamper = func(*assembly.Emulation) {
			for _, b := range p.Exam.plan.Boards {
				b.Body, b.Root = configs.Real, ""
			}
		}
		return MakeMachine(p.Exam.Root, files)
	}
}

// realSensors makes the sensors real, on a made-up machine; the rest stays as it is.
func realSensors() func(*TestRobot) error {
	return func(p *TestRobot) error {
		p.Exam.Root, p.Exam.hypothetic = filepath.Join(p.Dir, "machine"), true
		for _, s := range p.Exam.plan.Sensors {
			s.Body = configs.Real
		}
		return MakeMachine(p.Exam.Root, nil)
	}
}

// strapped lets the config look for the sensor at another address than it answers at.
func strapped(address int) func(*TestRobot) error {
	return tampered(func(p *TestRobot, _ *assembly.Emulation) {
		for _, s := range p.Exam.plan.Sensors {
			s.Address = address
		}
	})
}

// mistaken lets the config take the inertial sensor for another device.
func mistaken(device string) func(*TestRobot) error {
	return mislabelled("imu", func(s *configs.Sensor) { s.Device = device })
}

// deviceFaultCases are what can be wrong with what is no servo.
func deviceFaultCases() []FaultCase {
	return []FaultCase{
		{"sensor without power", nodderRobot, "", nil,
			chipFault("main", wire.Fault{Kind: wire.PowerLoss, Target: imu.BNO055Address}),
			"device", StateFail, noID, hal.Absent, "no acknowledge", "power"},
		{"board without power", nodderRobot, "", nil,
			chipFault("main", wire.Fault{Kind: wire.PowerLoss, Target: pwm.PCA9685Address}),
			"device", StateFail, noID, hal.BusFault, "no acknowledge", "power"},
		{"I2C bus held low", nodderRobot, "", nil, chipFault("main", wire.Fault{Kind: wire.HeldLow}),
			"device", StateFail, AnyID, hal.Absent, "does not become free", "pull-ups"},
		{"sensor's address strapped otherwise", nodderRobot, "", nil, strapped(imu.BNO055AddressAlt), "device",
			StateFail, noID, hal.Absent, "no acknowledge", fmt.Sprintf("answers at 0x%02X", imu.BNO055Address)},
		{"another chip", nodderRobot, "", nil, mistaken("lsm6dsox"), "device", StateFail, noID, hal.Absent, "identity",
			"set device"},
		{"I2C bus too slow", nodderRobot, "buses.main.frequency=30000", nil, nil, "load", StateFail, noID, hal.BusFault,
			"at 30000 Hz", "400000 Hz (dtparam=i2c_arm_baudrate=400000): "},
		{"I2C bus nearly full", nodderRobot, "buses.main.frequency=60000", nil, nil, "load", StateWarn, noID, 0,
			"at 60000 Hz", "a lower rate of"},
		{"I2C not switched on", nodderRobot, "", nil, realSensors(), "port", StateFail, noID, hal.Absent,
			"not switched on", "raspi-config"},
		{"sensor without power", nodderSPI, "", nil, chipFault("head", wire.Fault{Kind: wire.PowerLoss}),
			"device", StateFail, noID, hal.Absent, "got 0xFF", "MISO"},
		{"another chip", nodderSPI, "", nil, mistaken("mpu-6500"), "device", StateFail, noID, hal.Absent, "identity",
			"set device"},
		{"SPI too slow", nodderSPI, "buses.head.frequency=10000", nil, nil, "load", StateFail, noID, hal.BusFault,
			"at 10000 Hz", "a lower rate of imu"},
		{"SPI not switched on", nodderSPI, "", nil, realSensors(), "port", StateFail, noID, hal.Absent,
			"not switched on", "do_spi"},
		{"sensor without power", nodderSerial, "", nil, wireFault("head", wire.Fault{Kind: wire.PowerLoss}),
			"device", StateFail, noID, hal.Absent, "bno055", "TX to RX"},
		{"PWM chip missing", nodderKernel, "", nil, realBoards(map[string]string{"sys/class/pwm/pwmchip0/export": ""}),
			"device", StateFail, noID, hal.Absent, "no such file", "ls /sys/class/pwm"},
		{"PWM chip with too few outputs", nodderKernel, "", nil,
			realBoards(map[string]string{"sys/class/pwm/pwmchip1/export": "", "sys/class/pwm/pwmchip1/npwm": "2\n"}),
			"device", StateFail, noID, hal.Absent, "got output 2, want 0..1", "set address"},
		{"none, and a PWM chip", nodderKernel, "", nil,
			realBoards(map[string]string{"sys/class/pwm/pwmchip1/export": "", "sys/class/pwm/pwmchip1/npwm": "4\n"}),
			"", "", noID, 0, "", ""},
		{"sensor's adapter missing", nodderSerial, "", nil, realSensors(),
			"port", StateFail, noID, hal.Absent, "/dev/no-head is not there", "buses.head.port"},
	}
}

// onlookerRobot is the made-up robot with a camera: an ROV whose board ends its pulses by itself.
const onlookerRobot = "onlooker"

// writeOnlooker writes its config into dir and returns its path.
func writeOnlooker(dir string) (string, error) {
	var b strings.Builder
	b.WriteString("name: onlooker\nworld: {scene: pool}\nbuses:\n  thrusters: {type: serial, port: " +
		"/dev/no-board}\nagents:\n" +
		"  - name: onlooker\n    model: okon\n    hardware:\n      joints:\n")
	for i, name := range []string{"flh", "frh", "blh", "brh", "flv", "frv", "blv", "brv"} {
		fmt.Fprintf(&b, "        %s: {bus: thrusters, device: maestro, channel: %d}\n", name, i)
	}
	b.WriteString("      cameras:\n        front: {device: v4l2, port: /dev/no-camera, width: 64, height: " +
		"36}\nservers: []\n")
	path := filepath.Join(dir, onlookerRobot+".yaml")
	return path, os.WriteFile(path, []byte(b.String()), 0o644)
}

// cameraFault plants a fault of a camera.
func cameraFault(kind wire.Kind) func(*TestRobot) error {
	return func(p *TestRobot) error {
		p.Exam.blur = func(c *video.Camera) { c.Fault(wire.Fault{Kind: kind}) }
		return nil
	}
}

func cameraFaultCases() []FaultCase {
	return []FaultCase{
		{"camera not plugged in", onlookerRobot, "", nil, cameraFault(wire.Unplugged), "camera", StateFail, noID,
			hal.Absent, "no such device", "hardware.cameras.front.port"},
		{"camera that this user may not open", onlookerRobot, "", nil, cameraFault(wire.Denied), "camera", StateFail,
			noID, hal.Busy, "permission denied", "usermod -aG video"},
		{"camera of another program", onlookerRobot, "", nil, cameraFault(wire.Busy), "camera", StateFail, noID,
			hal.Busy, "another program has it", "fuser"},
		{"camera that makes another size of it", onlookerRobot, "", nil, cameraFault(wire.Wrong), "camera", StateFail,
			noID, hal.Invalid, "got 32x18 MJPG from it", "hardware.cameras.front"},
	}
}
