package doctor

import (
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/internal/assembly"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

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
