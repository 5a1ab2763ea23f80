package kondo_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// One KRS-2552 switches its torque on at its position, moves towards 30° and switches it off.
func Example() {
	line := servotest.Play(1_250_000, session) // on a robot: see NewChain
	arm := kondo.NewChain(servo.ChainConfig{Name: "arm", Line: line, Servos: []servo.ServoConfig{
		{ID: 1, Model: kondo.ModelByName("krs-2552"), Joint: "elbow"},
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
			fmt.Printf("%.1f°, torque %v\n", (s.Position-u.CentreTicks)*360/u.TicksPerTurn, s.Torque)
		}
		line.Pass(100 * time.Millisecond) // on a robot: a time.Ticker waits for the next cycle
	}
	fmt.Println("halted:", errors.Join(append(arm.Halt(), arm.Close())...))
	// Output:
	// 0.0°, torque false
	// 0.0°, torque true
	// 0.0°, torque true
	// 22.6°, torque true
	// halted: <nil>
}

// Kondo's line has even parity, and on one wire the host hears itself.
func ExampleNewChain() {
	port, err := serial.Open("/dev/serial/by-id/usb-KONDO_..", 1_250_000, "")
	if err != nil {
		log.Fatal(err)
	}
	if err := port.SetEven(true); err != nil {
		log.Fatal(err)
	}
	arm := kondo.NewChain(servo.ChainConfig{Name: "arm", Line: &servo.EchoFilter{Line: port},
		Servos: []servo.ServoConfig{
			{ID: 1, Model: kondo.ModelByName("krs-2552"), Joint: "elbow"},
		}})
	defer arm.Close() // and port with it
}

// What the chain and a KRS-2552 say to each other.
const session = `
# Open: who is there, and how it is set
> A1 01
< 21 01 3C
# at rest: where it is
> 81 00 00
< 01 3A 4C
# told to go: torque first, the goal where it stands
> 81 3A 4C
< 01 3A 4C
# the goal
> 81 41 45
< 01 3A 4C
# the goal again, on its way
> 81 41 45
< 01 3F 69
# Halt: off, twice, and seen to be off
> 81 00 00
< 01 41 1C
> 81 00 00
< 01 41 1C
> 81 00 00
< 01 41 1C
> A1 03
< 21 03 00
`
