package main

import (
	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/sim/emulator/uart"
)

// wireFault plants a fault of a line with what speaks by itself: a base, a scanner.
func wireFault(line string, f uart.Fault) func(*testRobot) error {
	return tampered(func(_ *testRobot, e *emulation) {
		if l, ok := e.lines[line].(*uart.Line); ok {
			l.Fault(f)
		}
	})
}

func tampered(with func(*testRobot, *emulation)) func(*testRobot) error {
	return func(p *testRobot) error {
		p.exam.tamper = func(e *emulation) { with(p, e) }
		return nil
	}
}

// baseFaultCases are what can be wrong with a robot base and with a scanner.
func baseFaultCases() []faultCase {
	const robot = "p2at"
	return []faultCase{
		{"base switched off", robot, "", nil, wireFault("base", uart.Fault{Kind: uart.Off}),
			"device", stateFail, noID, hal.Absent, "no base answers", "switch it on"},
		{"base at another rate", robot, "", nil, tampered(func(_ *testRobot, e *emulation) {
			e.lines["base"] = serialEnd{speaks: e.bases[0].board(19200)}.line("base", 9600, 1)
		}), "device", stateFail, noID, hal.Absent, "no base answers", "buses.base.baud"},
		{"another robot", robot, "", nil, tampered(func(p *testRobot, _ *emulation) {
			p.exam.plan.bases[0].robot, _ = base.RobotOf("p2dx") // which its table knows
		}), "device", stateFail, noID, hal.Invalid, "got a p2at, want a p2dx", "hardware.base.robot"},
		{"battery nearly empty", robot, "", nil, tampered(func(_ *testRobot, e *emulation) { e.bases[0].life = 1e9 }),
			"battery", stateWarn, noID, 0, "11.0 V", "charge"},
		{"scanner without power", robot, "", nil, wireFault("laser", uart.Fault{Kind: uart.Off}),
			"device", stateFail, noID, hal.Absent, "no scanner answers", "power"},
		{"scanner's transmit wire cut", robot, "", nil, wireFault("laser", uart.Fault{Kind: uart.NoReply}),
			"device", stateFail, noID, hal.Absent, "no scanner answers", "TX to RX"},
	}
}
