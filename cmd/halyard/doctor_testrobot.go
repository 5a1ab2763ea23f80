package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halyard-robotics/halyard/configs"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
)

// The ways in which an ailment is planted.

// servo is the emulated servo with an id, of any bus.
func (p *testRobot) servo(id int) (*emulator.Servo, error) {
	for _, b := range p.exam.world.buses {
		for _, s := range b.bus.Servos() {
			if v, _ := s.Register("id"); v == int64(id) {
				return s, nil
			}
		}
	}
	return nil, fmt.Errorf("no servo %d", id)
}

// preset plants a register's value.
func preset(id int, register string, v int64) func(*testRobot) error {
	return func(p *testRobot) error {
		s, err := p.servo(id)
		if err == nil && !s.Preset(register, v) {
			err = fmt.Errorf("servo %d: no %s = %d", id, register, v)
		}
		return err
	}
}

// fault plants a fault of the emulator, by its text.
func fault(text string) func(*testRobot) error {
	return func(p *testRobot) error { return p.exam.world.plant(text) }
}

// physics plants something in the motor of a servo.
func physics(id int, change func(*actuator.Servo)) func(*testRobot) error {
	return func(p *testRobot) error {
		s, err := p.servo(id)
		if err == nil {
			change(s.Actuator())
		}
		return err
	}
}

// refuse lets the opening of a bus fail.
func refuse(err error) func(*testRobot) error {
	return func(p *testRobot) error {
		p.exam.open = func(string, configs.BodyKind) (servo.Line, error) { return nil, err }
		return nil
	}
}

// exchanged puts another servo where the config has joint's.
func exchanged(joint, model string) func(*testRobot) error {
	return func(p *testRobot) error {
		other, err := planFor(p.config, p.dir, configs.Options{Body: string(configs.Emulated),
			Set: []string{"agents[0].hardware.joints." + joint + ".model=" + model}})
		if err == nil {
			p.exam.world, err = emulateWorld(other)
		}
		return err
	}
}

// adapterName is what the made-up machine calls its adapter.
const adapterName = "/dev/serial/by-id/usb-FTDI_U2D2"

// onMachine examines the robot as a real one on a machine with one U2D2 and files more, its lines by adapterName; what is
// behind the port when it opens is emulated.
func onMachine(more map[string]string) func(*testRobot) error {
	return func(p *testRobot) error {
		p.exam.root, p.exam.hypothetic = filepath.Join(p.dir, "machine"), true
		for i := range p.exam.plan.agents[0].joints {
			p.exam.plan.agents[0].joints[i].body = configs.Real
		}
		for name, b := range p.exam.plan.config.Buses {
			b.Port = adapterName
			p.exam.plan.config.Buses[name] = b
		}
		p.exam.open = func(name string, _ configs.BodyKind) (servo.Line, error) { return p.exam.world.bus(name).Open() }
		return makeMachine(p.exam.root, more)
	}
}

// onPort is onMachine with the lines' ports called port, and at baud where that is not 0.
func onPort(port string, baud int, more map[string]string) func(*testRobot) error {
	return func(p *testRobot) error {
		err := onMachine(more)(p)
		for name, b := range p.exam.plan.config.Buses {
			if b.Port = port; baud > 0 {
				b.Baud = baud
			}
			p.exam.plan.config.Buses[name] = b
		}
		return err
	}
}

// makeMachine makes a folder that stands for a machine with one U2D2, with some more files in it: their text, "-> TARGET"
// of a link, or "gone" for one that is not to be there.
func makeMachine(root string, more map[string]string) error {
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
	for name, text := range more {
		files[name] = text
	}
	// Links come last: what they lead to may have files of its own below.
	names := sortedKeys(files)
	slices.SortStableFunc(names, func(a, b string) int {
		return strings.Count(strings.SplitN(files[a], " ", 2)[0], "->") - strings.Count(strings.SplitN(files[b], " ", 2)[0], "->")
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
func slowAdapter(p *testRobot) error {
	p.exam.open = func(n string, _ configs.BodyKind) (servo.Line, error) {
		return slowTimer{p.exam.world.bus(n).Line()}, nil
	}
	return nil
}
