package feetech_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/feetech"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// One STS3215 switches its torque on at its position, moves towards 30° and switches it off.
func Example() {
	line := servotest.Play(1_000_000, armSession) // on a robot: serial.Open("/dev/serial/by-id/usb-..", 1_000_000, "")
	arm := feetech.NewChain(servo.ChainConfig{Name: "arm", Line: line, Servos: []servo.ServoConfig{
		{ID: 1, Model: feetech.ModelByName("sts3215"), Joint: "elbow"},
	}})
	if err := arm.Open(); err != nil { // all that is wrong with any of them; nothing moves
		log.Fatal(err)
	}
	u := arm.Units(0)
	goal := servo.Goal{Enable: true, Mode: hal.PositionMode, Position: u.CentreTicks + u.TicksPerTurn*30/360, Limit: 1}
	for range 4 { // a cycle
		arm.SetGoal(0, goal)
		if err := errors.Join(arm.Send(), arm.Receive()); err != nil {
			log.Print(err) // the line is lost; with ChainConfig.Reopen the next cycles get it back
		}
		if s := arm.State(0); s.Err == nil {
			fmt.Printf("%.1f°, torque %v, %.1f V\n", (s.Position-u.CentreTicks)*360/u.TicksPerTurn, s.Torque, s.Voltage)
		}
		line.Pass(100 * time.Millisecond) // on a robot: a time.Ticker waits for the next cycle
	}
	fmt.Println("halted:", errors.Join(append(arm.Halt(), arm.Close())...))
	// Output:
	// 0.0°, torque false, 7.4 V
	// 0.0°, torque true, 7.4 V
	// 0.0°, torque true, 7.4 V
	// 17.2°, torque true, 7.4 V
	// halted: <nil>
}

// A tool asks one servo at a time, by the names of its memory table. The model is what the servo reports.
func ExampleDriver() {
	line := servotest.Play(1_000_000, toolSession)
	tool := feetech.Driver().Tool(line, servo.ToolConfig{})
	found, err := tool.Identify(1)
	if err != nil {
		log.Fatal(err)
	}
	ticks, err := tool.Read(1, "present_position")
	if err != nil {
		log.Fatal(err)
	}
	u := found.Model.Units()
	fmt.Printf("%s at %d of %.0f\n", u.Name, ticks, u.TicksPerTurn)
	if err := tool.Write(1, "torque_enable", 1); err != nil {
		log.Fatal(err)
	}
	if err := tool.Write(1, "goal_position", 2389); err != nil { // it goes there at once
		log.Fatal(err)
	}
	fmt.Println(tool.Write(1, "goal_position", 40000))
	if err := line.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// sts3215 at 2048 of 4096
	// id 1: write goal_position: got 40000, want -32767..32767
}

// What the chain and an STS3215 say to each other.
const armSession = `
# Open: who is there, and how it is set
> FF FF 01 04 02 00 05 F3
< FF FF 01 07 00 03 0A 00 09 03 DE
> FF FF 01 04 02 07 22 CF
< FF FF 01 24 00 00 01 00 00 FF 0F 46 8C 28 E8 03 0C 2C 2F 20 20 00 10 00 01 01 F4 01 01 00 00 00 14 C8 50 0A C8 0A 00 2F
# at rest: where it is
> FF FF FE 05 82 38 08 01 39
< FF FF 01 0A 00 00 08 00 00 00 00 4A 19 89
# commanded to move: first the goal at its position
> FF FF 01 04 02 21 01 D6
< FF FF 01 03 00 00 FB
> FF FF FE 06 83 37 01 01 01 3E FF FF FE 07 83 30 02 01 E8 03 59 FF FF FE 0C 83 29 07 01 00 00 08 00 00 00 10 29
# the goal was received; torque
> FF FF 01 04 02 2A 02 CC
< FF FF 01 04 00 00 08 F2
> FF FF FE 06 83 28 01 01 01 4D
> FF FF FE 05 82 38 08 01 39
< FF FF 01 0A 00 00 08 00 00 00 00 4A 19 89
> FF FF 01 04 02 21 21 B6
< FF FF 01 23 00 00 14 C8 50 0A C8 0A 01 00 00 08 00 00 00 10 E8 03 00 00 00 00 00 01 00 08 00 00 00 00 4A 19 00 00 63
# the goal
> FF FF FE 0C 83 29 07 01 00 55 09 00 00 00 10 D3
> FF FF FE 05 82 38 08 01 39
< FF FF 01 0A 00 00 08 00 00 00 00 4A 19 89
# the goal again, on its way
> FF FF FE 0C 83 29 07 01 00 55 09 00 00 00 10 D3
> FF FF FE 05 82 38 08 01 39
< FF FF 01 0A 00 C4 08 B5 0A DB 01 4A 19 2A
# Halt: off, twice, and seen to be off
> FF FF FE 06 83 28 01 01 00 4E
> FF FF FE 06 83 28 01 01 00 4E
> FF FF 01 04 02 21 21 B6
< FF FF 01 23 00 00 14 C8 50 0A C8 0A 00 00 55 09 00 00 00 10 E8 03 00 00 00 00 00 01 4C 09 63 01 32 04 4A 19 00 00 27
`

// What the client and the servo say: who it is, where it is, and two registers written and read back.
const toolSession = `
> FF FF 01 02 01 FB
< FF FF 01 02 00 FC
> FF FF 01 04 02 00 05 F3
< FF FF 01 07 00 03 0A 00 09 03 DE
> FF FF 01 04 02 38 02 BE
< FF FF 01 04 00 00 08 F2
> FF FF 01 04 03 28 01 CE
< FF FF 01 02 00 FC
> FF FF 01 04 02 28 01 CF
< FF FF 01 03 00 01 FA
> FF FF 01 05 03 2A 55 09 6E
< FF FF 01 02 00 FC
> FF FF 01 04 02 2A 02 CC
< FF FF 01 04 00 55 09 9C
`
