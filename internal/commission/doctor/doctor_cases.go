package doctor

import (
	"errors"
	"os"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/drivers/can"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// The robots of Dynamixels: protocol 2.0 and 1.0.
const (
	arm      = "xm430-arm"
	humanoid = "a-series"
)

// supply is a plant: the servo's voltage.
func supply(id int, volts float64) func(*TestRobot) error {
	return physics(id, func(s *actuator.Servo) { s.Supply = actuator.NewSupply(volts, 0) })
}

// heat is a plant: the servo's temperature, °C.
func heat(id int, celsius float64) func(*TestRobot) error {
	return physics(id, func(s *actuator.Servo) { s.Temperature = celsius })
}

// overload is a plant: the servo's latched alarm.
func overload(id int) func(*TestRobot) error {
	return physics(id, func(s *actuator.Servo) { s.Alarm = actuator.AlarmOverload })
}

// servoFaultCases are what can be wrong with a Dynamixel that answers.
func servoFaultCases() []FaultCase {
	return []FaultCase{
		{"wrong model", arm, "", nil, exchanged("elbow", "xm540-w270"),
			"model", StateFail, 3, hal.BusFault, "xm540-w270, want xm430-w350", "config"},
		{"firmware differs", arm, "", nil, preset(3, "firmware", 41), "firmware", StateWarn, 3, 0, "41, the other 5",
			"Wizard"},
		{"return delay", arm, "", nil, preset(3, "return_delay", 250), "return-delay", StateWarn, 3, 0, "500µs",
			"--id 3 return_delay=0"},
		{"return delay", humanoid, "", nil, preset(7, "return_delay", 250), "return-delay", StateWarn, 7, 0, "500µs",
			"--id 7 return_delay=0"},
		{"status level 1", arm, "", nil, preset(3, "status_return", 1),
			"status-return", StateWarn, 3, 0, "not acknowledged", "status_return=2"},
		{"status level 0", humanoid, "", nil, preset(7, "status_return", 0), "status-return", StateWarn, 7, 0,
			"no reads", "serve"},
		{"voltage low", arm, "", nil, supply(3, 8.2), "voltage", StateFail, 3, hal.BusFault, "8.2 V, want 9.5..16.0",
			"battery"},
		{"voltage high", arm, "", nil, supply(3, 19), "voltage", StateFail, 3, hal.BusFault, "19.0 V", "switch off"},
		{"voltage ebbing", arm, "", nil, supply(3, 9.7), "voltage", StateWarn, 3, 0, "9.7 V", "battery"},
		{"warm", arm, "", nil, heat(3, 75), "temperature", StateWarn, 3, 0, "75 °C", "cool"},
		{"hot", arm, "", nil, heat(3, 85), "temperature", StateFail, 3, hal.BusFault, "85 °C", "cool"},
		{"overload latched", arm, "", nil, overload(3), "alarm", StateFail, 3, hal.BusFault, "overload", "load away"},
		{"overload latched", humanoid, "", nil, overload(7), "alarm", StateFail, 7, hal.BusFault, "overload",
			"load away"},
		{"torque limit 0", humanoid, "", nil, preset(7, "torque_limit", 0),
			"torque-limit", StateFail, 7, hal.BusFault, "torque_limit is 0", "blocks"},
		{"max torque 0", humanoid, "", nil, preset(7, "max_torque", 0),
			"torque-limit", StateFail, 7, hal.BusFault, "max_torque is 0", "max_torque=1023"},
		{"no broadcast ping", arm, "buses.arm.quirks=[no_broadcast_ping]", nil, nil, "", "", noID, 0, "", ""},
		{"firmware before fast reads", arm, `buses.arm.firmware="41"`, nil, nil, "", "", noID, 0, "", ""},
		{"wheel mode left", humanoid, "", nil, preset(7, "ccw_angle_limit", 0), "settings", StateWarn, 7, 0,
			"wheel mode", "ccw_angle_limit=1023"},
		{"PWM limit 0", arm, "", nil, preset(3, "pwm_limit", 0),
			"torque-limit", StateFail, 3, hal.BusFault, "pwm_limit is 0", "pwm_limit=885"},
		{"current limit 0", arm, "", nil, preset(3, "current_limit", 0),
			"torque-limit", StateFail, 3, hal.BusFault, "current_limit is 0", "current_limit=1193"},
		{"watchdog tripped", arm, "", nil, preset(3, "bus_watchdog", -1), "watchdog", StateWarn, 3, 0, "tripped",
			"serve"},
		{"encoder broken", arm, "", nil, fault("garbage servo 3"), "values", StateFail, 3, hal.BusFault, "jumps",
			"replace"},
		{"values frozen", arm, "", nil, fault("stuck servo 3"), "values", StateFail, 3, hal.BusFault, "has stopped",
			"off and on"},
	}
}

// answerFaultCases are what can be wrong with the line of Dynamixels and with how they answer.
func answerFaultCases() []FaultCase {
	return []FaultCase{
		{"supply off", arm, "", nil, fault("off bus"), "power", StateFail, noID, hal.BusFault, "none of the 6",
			"supply"},
		{"brown-out", arm, "", nil, fault("brownout bus from=100ms"), "power", StateFail, AnyID, hal.BusFault,
			"restarted", "battery"},
		{"servo missing", arm, "", nil, fault("off servo 3"),
			"servo", StateFail, 3, hal.Absent, "no answer", "between id 2 and id 3"},
		{"wrong baud rate", arm, "", nil, preset(3, "baud_rate", 1),
			"baud", StateFail, 3, hal.BusFault, "57600", "--baud 57600 --new-baud 1000000"},
		{"two servos, one id", arm, "", nil, fault("duplicate_id servo 3"), "id", StateFail, 3, hal.BusFault,
			"two servos", "only one"},
		{"two servos, one id", humanoid, "", nil, fault("duplicate_id servo 7"), "id", StateFail, 7, hal.BusFault,
			"two servos", "only one"},
		{"bad checksums", arm, "", nil, fault("crc servo 3 p=0.3"), "answers", StateFail, 3, hal.BusFault,
			"bad checksum", "baud rate"},
		{"answers cut short", arm, "", nil, fault("truncate servo 3"), "answers", StateFail, 3, hal.BusFault,
			"cut short", "cable"},
		{"loose contact", arm, "", nil, fault("intermittent servo 3"), "answers", StateFail, 3, hal.BusFault, "missing",
			"plugs"},
		{"slow answers", arm, "", nil, fault("slow servo 3 by=5ms"), "speed", StateFail, 3, hal.BusFault, "later than",
			"adapter"},
		{"echo", arm, "buses.arm.timing.echo=true", nil, nil, "echo", StateWarn, noID, 0, "echoes", "adapter"},
		{"echo", humanoid, "buses.upper.timing.echo=true", nil, nil, "echo", StateWarn, noID, 0, "echoes", "adapter"},
		{"bus too slow", arm, "clock.period=1500us", nil, nil, "load", StateFail, noID, hal.BusFault, "of 1.5ms",
			"4000000 Bd: "},
		{"bus nearly full", arm, "clock.period=2000us", nil, nil, "load", StateWarn, noID, 0, "of 2ms", "two buses: "},
		{"bus too slow", humanoid, "clock.period=1500us", nil, nil, "load", StateFail, AnyID, hal.BusFault, "of 1.5ms",
			"fast sync read"},
	}
}

// calibrationFaultCases are what can be wrong with a joint's calibration.
func calibrationFaultCases() []FaultCase {
	const measure = "measure elbow"
	sound := func(*calibration.Joint) {}
	return []FaultCase{
		{"calibration file missing", arm, "agents[0].hardware.joints.elbow.calibration=none.yaml", nil, nil,
			"calibration", StateWarn, 3, 0, "missing", measure},
		{"calibration nominal", arm, "", func(c *calibration.Joint) { c.Method = calibration.ByNominal }, nil,
			"calibration", StateWarn, 3, 0, "nominal", measure},
		{"calibration of another id", arm, "", func(c *calibration.Joint) { c.Servo.ID = 5 }, nil,
			"calibration", StateFail, 3, hal.Uncalibrated, "made with id 5", measure},
		{"calibration of another model", arm, "", func(c *calibration.Joint) { c.Servo.Model = "ax-12a" }, nil,
			"calibration", StateFail, 3, hal.Uncalibrated, "made with a ax-12a", measure},
		{"homing offset changed", arm, "", sound, preset(3, "homing_offset", 100),
			"calibration", StateFail, 3, hal.Uncalibrated, "homing offset 0, the servo has 100", measure},
		{"firmware since calibration", arm, "", func(c *calibration.Joint) { c.Servo.Firmware = "48" }, nil,
			"calibration", StateWarn, 3, 0, "firmware 48", measure},
		{"mounted again", arm, "", func(c *calibration.Joint) {
			c.RangeTicks = [2]float64{1000, 1500}
			c.ZeroTicks = 1200
		},
			physics(3, func(s *actuator.Servo) { s.Position = 2 }), "calibration", StateWarn, 3, 0, "outside", measure},
		{"none, and calibrated", arm, "", sound, nil, "", "", noID, 0, "", ""},
	}
}

// The made-up robots of motor controllers: three VESCs, one behind the other, and three CyberGears on CAN.
const (
	vescs      = "vesc-6-trio"
	cybergears = "cybergear-trio"
)

// motorFaultCases are what can be wrong with motor controllers and with a CAN bus.
func motorFaultCases() []FaultCase {
	down := &can.Link{Name: "can0"}
	off := &can.Link{Name: "can0", Up: true, State: can.BusOff, Bitrate: 1000000}
	slow := &can.Link{Name: "can0", Up: true, Bitrate: 500000}
	list := []FaultCase{
		{"no timeout", vescs, "", nil, preset(2, "timeout", 0), "setting", StateFail, 2, hal.Unsafe, "timeout: got 0s",
			"General, Timeout"},
		{"timeout too long", vescs, "", nil, preset(2, "timeout", 60000), "setting", StateFail, 2, hal.Unsafe,
			"got 1m0s", "General, Timeout"},
		{"firmware 3.40", vescs, `buses.line.firmware="3.40"`, nil, nil, "setting", StateFail, AnyID, hal.BusFault,
			"firmware: got 3.40", "VESC Tool"},
		{"firmware 3.62", vescs, `buses.line.firmware="3.62"`, nil, nil, "setting", StateFail, AnyID, hal.BusFault,
			"firmware: got 3.62", "VESC Tool"},
		{"firmware 5.02", vescs, `buses.line.firmware="5.02"`, nil, nil, "", "", noID, 0, "", ""},
		{"another CAN id", vescs, "", nil, preset(3, "id", 77), "servo", StateFail, 3, hal.Absent, "id 77 answers",
			"another id"},
		{"hot", vescs, "", nil, heat(2, 120), "alarm", StateFail, 2, hal.BusFault, "heat", "cool"},
		{"voltage low", vescs, "", nil, supply(2, 6), "alarm", StateFail, 2, hal.BusFault, "voltage", "supply"},
		{"bus too slow", vescs, "clock.period=2ms", nil, nil, "load", StateFail, noID, hal.BusFault, "of 2ms",
			"two buses"},
		{"other bit rate", cybergears, "", nil, preset(2, "baud_rate", 500000), "servo", StateFail, 2, hal.Absent,
			"no answer", "between id 1 and id 2"},
		{"CAN interface down", cybergears, "", nil, refuse(down.Check(1000000)), "port", StateFail, noID, hal.Absent,
			"is down", "ip link set can0 up type can bitrate 1000000"},
		{"CAN bus-off", cybergears, "", nil, refuse(off.Check(1000000)), "port", StateFail, noID, hal.Absent, "bus-off",
			"ip link set can0 down"},
		{"CAN at another rate", cybergears, "", nil, refuse(slow.Check(1000000)), "port", StateFail, noID, hal.Invalid,
			"got 500000, want 1000000", "bitrate 1000000"},
	}
	for _, robot := range []string{vescs, cybergears} {
		list = append(list,
			FaultCase{"supply off", robot, "", nil, fault("off bus"), "power", StateFail, noID, hal.BusFault,
				"none of the motors", "supply"},
			FaultCase{"motor missing", robot, "", nil, fault("off servo 2"), "servo", StateFail, 2, hal.Absent,
				"no answer", "between id 1 and id 2"})
	}
	return list
}

// wireFault plants a fault of the device at the end of a serial line.
func wireFault(line string, f wire.Fault) func(*TestRobot) error {
	return tampered(func(_ *TestRobot, e *assembly.Emulation) {
		if l, ok := e.Lines[line].(*wire.Line); ok {
			l.Fault(f)
		}
	})
}

// tampered changes the emulated devices before they are examined.
func tampered(with func(*TestRobot, *assembly.Emulation)) func(*TestRobot) error {
	return func(p *TestRobot) error {
		p.Exam.Tamper = func(e *assembly.Emulation) { with(p, e) }
		return nil
	}
}

// baseFaultCases are what can be wrong with a robot base and with a scanner.
func baseFaultCases() []FaultCase {
	const robot = "p2at"
	return []FaultCase{
		{"base switched off", robot, "", nil, wireFault("base", wire.Fault{Kind: wire.PowerLoss}),
			"device", StateFail, noID, hal.Absent, "no base answers", "switch it on"},
		{"base at another rate", robot, "", nil, tampered(func(_ *TestRobot, e *assembly.Emulation) {
			e.Lines["base"] = assembly.SerialEnd{Board: e.Bases[0].Board(19200)}.Line("base", 9600, 1)
		}), "device", StateFail, noID, hal.Absent, "no base answers", "buses.base.baud"},
		{"another robot", robot, "", nil, tampered(func(p *TestRobot, _ *assembly.Emulation) {
			p.Exam.plan.Bases[0].Robot, _ = base.RobotOf("p2dx") // which its table knows
		}), "device", StateFail, noID, hal.Invalid, "got a p2at, want a p2dx", "hardware.base.robot"},
		{"battery nearly empty", robot, "", nil,
			tampered(func(_ *TestRobot, e *assembly.Emulation) { e.Bases[0].Life = 1e9 }),
			"battery", StateWarn, noID, 0, "11.0 V", "charge"},
		{"scanner without power", robot, "", nil, wireFault("laser", wire.Fault{Kind: wire.PowerLoss}),
			"device", StateFail, noID, hal.Absent, "no scanner answers", "power"},
		{"scanner's transmit wire cut", robot, "", nil, wireFault("laser", wire.Fault{Kind: wire.OpenWire}),
			"device", StateFail, noID, hal.Absent, "no scanner answers", "TX to RX"},
	}
}

// hostFaultCases are what can be wrong on the machine's side of a line.
func hostFaultCases() []FaultCase {
	type files = map[string]string
	denied := &hal.Error{Kind: hal.Busy, Op: "open",
		Err: errors.New(`permission denied: you are not in group "dialout"`), Try: "sudo usermod -aG dialout $USER"}
	// A UART of a Raspberry Pi, and a slow adapter in addition to the U2D2.
	uart := files{"sys/class/tty/ttyAMA0/device/driver": "-> ../../../../bus/amba/drivers/uart-pl011",
		"dev/ttyAMA0": "", "proc/cmdline": "root=/dev/mmcblk0p2 console=ttyAMA0,115200 console=tty1\n"}
	const cp2105 = "sys/devices/usb1/1-2/1-2:1.0/ttyUSB1/tty/ttyUSB1/"
	slow := files{"sys/devices/usb1/1-2/idVendor": "10c4\n", "sys/devices/usb1/1-2/idProduct": "ea70\n",
		cp2105 + "dev": "", cp2105 + "device": "-> ../../../ttyUSB1",
		"sys/class/tty/ttyUSB1": "-> ../../devices/usb1/1-2/1-2:1.0/ttyUSB1/tty/ttyUSB1", "dev/ttyUSB1": "",
		"dev/serial/by-path/usb-0:2": "-> ../../ttyUSB1"}
	return []FaultCase{
		{"none, and a machine", arm, "", nil, OnMachine(nil), "", "", noID, 0, "", ""},
		{"adapter missing", arm, "", nil, onPort("/dev/serial/by-id/usb-other", 0, nil),
			"port", StateFail, noID, hal.Absent, "plugged in: " + AdapterName + " (FT232H)", "halyard ports"},
		{"no adapter at all", arm, "", nil,
			OnMachine(files{"dev/serial/by-id/usb-FTDI_U2D2": "gone", "sys/class/tty/ttyUSB0": "gone",
				"sys/class/tty/none": ""}),
			"port", StateFail, noID, hal.Absent, "no adapter is plugged in", "plug"},
		{"adapter refused by the system", arm, "", nil,
			refuse(&hal.Error{Kind: hal.Absent, Op: "open", Err: os.ErrNotExist}),
			"port", StateFail, noID, hal.Absent, "not exist", "halyard ports"},
		{"adapter unplugged", arm, "", nil, fault("unplug bus"), "port", StateFail, noID, hal.Absent, "gone", "plug"},
		{"adapter unplugged in the middle", arm, "", nil, fault("unplug bus from=100ms"), "port", StateFail, noID,
			hal.Absent, "vanished", "cable"},
		{"no permission", arm, "", nil, refuse(denied), "access", StateFail, noID, hal.Busy, "dialout", "usermod"},
		{"node without an adapter", arm, "", nil, OnMachine(files{"dev/ttyUSB0": "gone"}), "access", StateFail, noID,
			hal.Busy, "no such file", "udev"},
		{"port held", arm, "", nil, OnMachine(files{"proc/812/fd/7": "-> /dev/ttyUSB0",
			"proc/812/cmdline": "lerobot\x00"}),
			"holder", StateFail, noID, hal.Busy, "pid 812 (lerobot)", "kill 812"},
		{"kernel's console", arm, "", nil, onPort("/dev/ttyAMA0", 0, uart), "holder", StateFail, noID, hal.Busy,
			"console", "raspi-config"},
		{"ModemManager runs", arm, "", nil, OnMachine(files{"proc/99/comm": "ModemManager\n"}),
			"conflict", StateWarn, noID, 0, "ModemManager", "systemctl"},
		{"brltty runs", arm, "", nil, OnMachine(files{"proc/99/comm": "brltty\n"}), "conflict", StateWarn, noID, 0,
			"brltty", "systemctl"},
		{"name that changes", arm, "", nil, onPort("/dev/ttyUSB0", 0, nil), "name", StateWarn, noID, 0,
			"another adapter", AdapterName},
		{"adapter too slow", arm, "", nil, onPort("/dev/serial/by-path/usb-0:2", 3000000, slow),
			"rate", StateFail, noID, hal.Invalid, "a CP2105 at 2000000", "FT232H"},
		{"latency timer", arm, "", nil, slowAdapter, "latency", StateWarn, noID, 0, "16ms", "udev"},
		{"latency timer, emulated", arm, "buses.arm.timing.latency_timer=2ms", nil, nil, "latency", StateWarn, noID, 0,
			"2ms", "1ms"},
	}
}
