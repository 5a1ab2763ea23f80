package hiwonder_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/hiwonder"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// One LX-16A switches its torque on at its position, moves towards 30° and switches it off.
func Example() {
	// on a robot: serial.Open("/dev/serial/by-id/usb-..", hiwonder.Baud, "")
	line := servotest.Play(hiwonder.Baud, session)
	arm := hiwonder.NewChain(servo.ChainConfig{Name: "arm", Line: line, Servos: []servo.ServoConfig{
		{ID: 1, Model: hiwonder.ModelByName("lx-16a"), Joint: "elbow"},
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
		if s := arm.State(0); s.Err == nil { // what it does not measure, or has not said yet, is NaN
			fmt.Printf("%.1f°, %.0f °C, torque %v\n", (s.Position-u.CentreTicks)*360/u.TicksPerTurn, s.Temperature,
				s.Torque)
		}
		line.Pass(100 * time.Millisecond) // on a robot: a time.Ticker waits for the next cycle
	}
	fmt.Println("halted:", errors.Join(append(arm.Halt(), arm.Close())...))
	// Output:
	// 0.0°, NaN °C, torque false
	// 0.0°, 25 °C, torque true
	// 0.0°, 25 °C, torque true
	// 21.4°, 25 °C, torque true
	// halted: <nil>
}

// What the chain and an LX-16A say to each other.
const session = `
# Open: who is there, and how it is set
> 55 55 01 03 15 E6
< 55 55 01 07 15 00 00 E8 03 F7
> 55 55 01 03 15 E6
< 55 55 01 07 15 00 00 E8 03 F7
> 55 55 01 03 17 E4
< 55 55 01 07 17 94 11 E0 2E 2D
> 55 55 01 03 17 E4
< 55 55 01 07 17 94 11 E0 2E 2D
> 55 55 01 03 19 E2
< 55 55 01 04 19 55 8C
> 55 55 01 03 1E DD
< 55 55 01 07 1E 00 00 00 00 D9
> 55 55 01 03 20 DB
< 55 55 01 04 20 00 DA
# at rest: where it is
> 55 55 01 03 1C DF
< 55 55 01 05 1C F4 01 E8
# told to go: torque first, the goal where it stands
> 55 55 01 03 1E DD
< 55 55 01 07 1E 00 00 00 00 D9
> 55 55 01 07 01 F4 01 00 00 01 55 55 01 04 1F 01 DA
> 55 55 01 03 1C DF
< 55 55 01 05 1C F4 01 E8
> 55 55 01 03 1A E1
< 55 55 01 04 1A 19 C7
> 55 55 01 03 20 DB
< 55 55 01 04 20 01 D9
# the goal
> 55 55 01 07 01 71 02 00 00 83
> 55 55 01 03 1C DF
< 55 55 01 05 1C F4 01 E8
# the goal again, on its way
> 55 55 01 03 1C DF
< 55 55 01 05 1C 4D 02 8E
# Halt: off, twice, and seen to be off
> 55 55 01 04 1F 00 DB
> 55 55 01 04 1F 00 DB
> 55 55 01 03 1B E0
< 55 55 01 05 1B E8 1C DA
> 55 55 01 03 1E DD
< 55 55 01 07 1E 00 00 00 00 D9
> 55 55 01 03 20 DB
< 55 55 01 04 20 00 DA
`
