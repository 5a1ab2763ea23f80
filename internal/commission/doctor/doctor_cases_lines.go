package doctor

import (
	"strings"

	"github.com/halyard-robotics/halyard/drivers/gpio"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// feelerRobot is the made-up robot of lines of a GPIO chip.
const feelerRobot = "feeler"

// FeelerRig is the nodder with a hobby servo, a gate before it, a stop button, a light, and what it feels with.
const FeelerRig = `
name: feeler
buses:
  main: {type: i2c, port: /dev/i2c-nobody}
  io: {type: gpio, port: gpiochip-nobody}
agents:
  - name: feeler
    model: nodder-robot.yaml
    body: emulated
    hardware:
      joints:
        pan: {bus: main, device: pca9685, channel: 2, output_enable: {bus: io, line: 4}}
        tilt: {bus: main, device: pca9685, channel: 3, frequency: 200}
      sensors:
        bump: {bus: io, device: bumper, lines: [17], debounce: 20ms, rate: 100}
      estop: {bus: io, line: BUTTON}
      lights: {headlight: {bus: io, line: 5}}
servers: []
`

// Feeler is the nodder that touches a post with its head when it nods.
func Feeler() string {
	return strings.Replace(Nodder, "  - {name: imu, kind: imu, body: head}\n",
		"  - {name: bump, kind: contact, body: head}\n", 1)
}

// watchingRig is feelerRig with monitors on more lines.
func watchingRig() string {
	return strings.Replace(FeelerRig, "      estop:", "      monitors:\n        far: {bus: io, device: hc-sr04, "+
		"lines: [23, ECHO]}\n        warm: {bus: io, device: pir, lines: [22]}\n      estop:", 1)
}

// lineFault plants a fault of a line of the GPIO chip, by its name or "".
func lineFault(kind wire.Kind, line string) func(*TestRobot) error {
	return tampered(func(_ *TestRobot, e *assembly.Emulation) {
		f := wire.Fault{Kind: kind}
		if line != "" {
			f.Target = e.Gpios["io"].At[line]
		}
		e.Gpios["io"].Fault(f)
	})
}

// holding lets another program have a line of the GPIO chip.
func holding(line string) func(*TestRobot) error {
	return tampered(func(_ *TestRobot, e *assembly.Emulation) {
		other := gpio.NewSwitch(gpio.Pins{Open: e.Gpios["io"].Host().Open, Lines: []string{line}, User: "gpioset"})
		_ = other.Open() // where it cannot be held, the doctor finds nothing, and the line of the matrix is not ok
	})
}

// lineFaultCases are what can be wrong with what is connected to lines of a GPIO chip.
func lineFaultCases() []FaultCase {
	const held = `held by "gpioset"`
	return []FaultCase{
		{"OE pin unwired", nodderUngated, "", nil, nil, "output_enable", StateWarn, noID, 0,
			"goes on pulsing when the program dies", "wire OE"},
		{"GPIO chip unplugged", feelerRobot, "", nil, lineFault(wire.Unplugged, ""), "device", StateFail, noID,
			hal.Absent, "no such file", "gpiochip"},
		{"bumper's line held", feelerRobot, "", nil, holding("17"), "line", StateFail, noID, hal.Busy, held,
			"gpioinfo"},
		{"gate's line held", feelerRobot, "", nil, holding("4"), "line", StateFail, noID, hal.Busy, held, "gpioinfo"},
		{"stop button's wire cut", feelerRobot, "", nil, lineFault(wire.OpenWire, "BUTTON"), "estop", StateFail, noID,
			hal.Unsafe, "circuit is open", "wire is cut"},
		{"sonar without power", feelerRobot, "", nil, lineFault(wire.OpenWire, "ECHO"), "device", StateFail, noID,
			hal.Timeout, "no answer", "power"},
		{"sonar's echo shorted", feelerRobot, "", nil, lineFault(wire.StuckHigh, "ECHO"), "device", StateFail, noID,
			hal.Timeout, "stays high", "wires"},
	}
}
