package doctor

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/internal/report"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The ways in which a fault is planted.

// Servo is the emulated servo with an id, of any bus.
func (p *TestRobot) Servo(id int) (*emulator.Servo, error) {
	for _, b := range p.Exam.world.Buses {
		for _, s := range b.Bus.Servos() {
			if v, _ := s.Register("id"); v == int64(id) {
				return s, nil
			}
		}
	}
	return nil, fmt.Errorf("no servo %d", id)
}

// preset plants a register's value.
func preset(id int, register string, v int64) func(*TestRobot) error {
	return func(p *TestRobot) error {
		s, err := p.Servo(id)
		if err == nil && !s.Preset(register, v) {
			err = fmt.Errorf("servo %d: no %s = %d", id, register, v)
		}
		return err
	}
}

// fault plants a fault of the emulator, by its text.
func fault(text string) func(*TestRobot) error {
	return func(p *TestRobot) error { return p.Exam.world.Plant(text) }
}

// physics plants something in the motor of a servo.
func physics(id int, change func(*actuator.Servo)) func(*TestRobot) error {
	return func(p *TestRobot) error {
		s, err := p.Servo(id)
		if err == nil {
			change(s.Actuator())
		}
		return err
	}
}

// refuse lets the opening of a bus fail.
func refuse(err error) func(*TestRobot) error {
	return func(p *TestRobot) error {
		p.Exam.open = func(n string, kind configs.BodyKind) (servo.Line, error) {
			return p.Exam.through(n, kind, func() (servo.Line, error) { return nil, err })
		}
		return nil
	}
}

// exchanged puts another servo where the config has joint's.
func exchanged(joint, model string) func(*TestRobot) error {
	return replaced("agents[0].hardware.joints." + joint + ".model=" + model)
}

// AdapterName is what the made-up machine calls its adapter.
const AdapterName = "/dev/serial/by-id/usb-FTDI_U2D2"

// OnMachine examines the robot as a real one on a machine with one U2D2 and files more, its lines by adapterName; what
// is behind the port when it opens is emulated.
func OnMachine(more map[string]string) func(*TestRobot) error {
	return func(p *TestRobot) error {
		p.Exam.Root, p.Exam.hypothetic = filepath.Join(p.Dir, "machine"), true
		for i := range p.Exam.plan.Agents[0].Joints {
			p.Exam.plan.Agents[0].Joints[i].Body = configs.Real
		}
		for name, b := range p.Exam.plan.Config.Buses {
			b.Port = AdapterName
			p.Exam.plan.Config.Buses[name] = b
		}
		p.Exam.open = func(name string, kind configs.BodyKind) (servo.Line, error) {
			return p.Exam.through(name, kind, p.Exam.world.Bus(name).Open)
		}
		return MakeMachine(p.Exam.Root, more)
	}
}

// onPort is onMachine with the lines' ports called port, and at baud where that is not 0.
func onPort(port string, baud int, more map[string]string) func(*TestRobot) error {
	return func(p *TestRobot) error {
		err := OnMachine(more)(p)
		for name, b := range p.Exam.plan.Config.Buses {
			if b.Port = port; baud > 0 {
				b.Baud = baud
			}
			p.Exam.plan.Config.Buses[name] = b
		}
		return err
	}
}

// MakeMachine makes a folder that represents a machine with one U2D2, with some more files in it: their text, "->
// TARGET" of a link, or "gone" for one that is not to be there.
func MakeMachine(root string, more map[string]string) error {
	const tty = "sys/devices/usb1/1-1/1-1:1.0/ttyUSB0/tty/ttyUSB0/"
	files := map[string]string{
		"sys/devices/usb1/1-1/idVendor": "0403\n", "sys/devices/usb1/1-1/idProduct": "6014\n", tty + "dev": "",
		"sys/devices/usb1/1-1/serial":                      "FT4THVLA\n",
		"sys/bus/usb-serial/devices/ttyUSB0/latency_timer": "16\n",
		"dev/ttyUSB0": "", "proc/1/comm": "systemd\n",
		"sys/class/tty/ttyUSB0":          "-> ../../devices/usb1/1-1/1-1:1.0/ttyUSB0/tty/ttyUSB0",
		tty + "device":                   "-> ../../../ttyUSB0",
		"dev/serial/by-id/usb-FTDI_U2D2": "-> ../../ttyUSB0",
	}
	maps.Copy(files, more)
	// Links come last: what they lead to may have files of its own below.
	names := report.SortedKeys(files)
	slices.SortStableFunc(names, func(a, b string) int {
		return strings.Count(strings.SplitN(files[a], " ", 2)[0],
			"->") - strings.Count(strings.SplitN(files[b], " ", 2)[0], "->")
	})
	for _, name := range names {
		path, text := filepath.Join(root, name), files[name]
		if text == "gone" {
			continue
		}
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if to, link := strings.CutPrefix(text, "-> "); link {
			err = errors.Join(err, os.Symlink(to, path))
		} else {
			err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// slowTimer is a line whose adapter could not be set to a short latency timer.
type slowTimer struct{ servo.Line }

func (slowTimer) LatencyTimer() (time.Duration, string) { return 16 * time.Millisecond, "denied" }

// slowAdapter gives every line such an adapter.
func slowAdapter(p *TestRobot) error {
	p.Exam.open = func(n string, kind configs.BodyKind) (servo.Line, error) {
		return p.Exam.through(n, kind,
			func() (servo.Line, error) { return slowTimer{p.Exam.world.Bus(n).Line()}, nil })
	}
	return nil
}
