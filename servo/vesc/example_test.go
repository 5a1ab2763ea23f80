package vesc_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
	"github.com/halyard-robotics/halyard/servo/vesc"
)

// The controller of a wheel is told a speed, of the motor's shaft, and let go.
func Example() {
	line := servotest.Play(vesc.Baud, session) // on a robot: serial.Open("/dev/serial/by-id/usb-..", vesc.Baud, "")
	wheels := vesc.NewChain(servo.ChainConfig{Name: "wheels", Line: line, Servos: []servo.ServoConfig{
		// at the line's end; others are behind it, on its CAN bus
		{ID: 1, Model: vesc.ModelByName("vesc-6"), Joint: "left"},
	}})
	if err := wheels.Open(); err != nil { // all that is wrong with any of them; nothing moves
		log.Fatal(err)
	}
	for range 4 { // a cycle; the motor stops after a second without one
		wheels.SetGoal(0, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 10, Limit: 1})
		if err := errors.Join(wheels.Send(), wheels.Receive()); err != nil {
			log.Print(err) // the line is lost; with ChainConfig.Reopen the next cycles get it back
		}
		if s := wheels.State(0); s.Err == nil {
			fmt.Printf("%.1f rad/s, %.2f A, %.0f V, torque %v\n", s.Velocity, s.Effort, s.Voltage, s.Torque)
		}
		line.Pass(20 * time.Millisecond) // on a robot: a time.Ticker waits for the next cycle
	}
	fmt.Println("halted:", errors.Join(append(wheels.Halt(), wheels.Close())...))
	// Output:
	// 0.0 rad/s, 0.00 A, 48 V, torque false
	// 0.0 rad/s, 0.00 A, 48 V, torque true
	// 0.0 rad/s, 0.00 A, 48 V, torque true
	// 9.9 rad/s, 1.04 A, 48 V, torque true
	// halted: <nil>
}

// What the chain and a VESC 6 say to each other.
const session = `
# Open: who is there, and how it is set
> 02 05 32 00 02 81 00 0E A4 03
< 02 09 32 00 02 81 00 01 E0 00 01 05 A2 03
> 02 01 00 00 00 03
< 02 0A 00 06 05 36 30 5F 4D 4B 36 00 A0 AC 03
> 02 01 5B EB 9E 03
< 02 32 5B 3F 80 00 00 3F 80 00 00 3F 80 00 00 3F 80 00 00 3F 80 00 00 3F 80 00 00 3F 80 00 00 3F 80 00 00 3F 80 00 00 3F
< 80 00 00 0E 3F 80 00 00 3D CC CC CD 58 EB 03
> 02 01 11 02 10 03
< 02 10 11 1F 2E 3D 4C 01 00 00 03 E8 00 00 00 00 00 00 C7 B3 03
# at rest: where it is
> 02 05 32 00 03 C1 A1 91 93 03
< 02 1B 32 00 03 C1 A1 00 FA 00 00 00 00 00 00 00 00 01 E0 00 00 00 00 00 0A BA 95 00 01 5E 0A 03
# told to go: torque first, the goal where it stands
> 02 05 08 00 00 00 00 02 2D 03
> 02 05 32 00 03 C1 A1 91 93 03
< 02 1B 32 00 03 C1 A1 00 FA 00 00 00 00 00 00 00 00 01 E0 00 00 00 00 00 0A BA 95 00 01 5E 0A 03
# the goal
> 02 05 08 00 00 02 9C 26 7A 03
> 02 05 32 00 03 C1 A1 91 93 03
< 02 1B 32 00 03 C1 A1 00 FA 00 00 00 00 00 00 00 00 01 E0 00 00 00 00 00 0A BA 95 00 01 5E 0A 03
# the goal again, on its way
> 02 05 08 00 00 02 9C 26 7A 03
> 02 05 32 00 03 C1 A1 91 93 03
< 02 1B 32 00 03 C1 A1 00 FA 00 00 00 68 00 00 02 94 01 E0 00 00 00 01 00 0B 49 13 0B 01 8E C6 03
# Halt: off, twice, and seen to be off
> 02 05 06 00 00 00 00 CD 85 03
> 02 05 06 00 00 00 00 CD 85 03
> 02 05 06 00 00 00 00 CD 85 03 02 05 32 00 03 C1 A1 91 93 03
< 02 1B 32 00 03 C1 A1 00 FA 00 00 00 3D 00 00 02 99 01 E0 00 00 00 02 00 0B F6 BF 57 01 8E AF 03
`
