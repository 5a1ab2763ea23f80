package cybergear_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/cybergear"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// One CyberGear switches its torque on at its position, moves to 30° at full speed and switches it off.
func Example() {
	line := servotest.Play(cybergear.Bitrate, session) // on a robot: can.Open("can0", cybergear.Bitrate)
	leg := cybergear.NewChain(servo.ChainConfig{Name: "leg", Line: line, Servos: []servo.ServoConfig{
		{ID: 1, Model: cybergear.ModelByName("cybergear"), Joint: "knee"},
	}})
	if err := leg.Open(); err != nil { // all that is wrong with any of them; nothing moves
		log.Fatal(err)
	}
	u := leg.Units(0)
	goal := servo.Goal{Enable: true, Mode: hal.PositionMode, Position: u.CentreTicks + u.TicksPerTurn*30/360, Limit: 1}
	for range 4 { // a cycle
		leg.SetGoal(0, goal)
		if err := errors.Join(leg.Send(), leg.Receive()); err != nil {
			log.Print(err) // the line is lost; with ChainConfig.Reopen the next cycles get it back
		}
		if s := leg.State(0); s.Err == nil {
			fmt.Printf("%.1f°, %.1f rad/s, torque %v\n", (s.Position-u.CentreTicks)*360/u.TicksPerTurn, s.Velocity,
				s.Torque)
		}
		line.Pass(100 * time.Millisecond) // on a robot: a time.Ticker waits for the next cycle
	}
	fmt.Println("halted:", errors.Join(append(leg.Halt(), leg.Close())...))
	// Output:
	// 0.0°, 0.0 rad/s, torque false
	// 0.0°, 0.0 rad/s, torque true
	// 0.0°, 0.0 rad/s, torque true
	// 24.8°, 0.7 rad/s, torque true
	// halted: <nil>
}

// What the chain and a CyberGear say to each other: frames as linux/can.h has them, 16 bytes each.
const session = `
# Open: who is there, and how it is set
> 01 FD 00 80 08 00 00 00 00 00 00 00 00 00 00 00
< FE 01 00 80 08 00 00 00 68 61 6C 79 61 72 64 01
# at rest: where it is
> 01 FD 00 84 08 00 00 00 00 00 00 00 00 00 00 00
< FD 01 00 82 08 00 00 00 80 00 80 00 80 00 00 FA
# told to go: torque first, the goal where it stands
> 01 FD 00 84 08 00 00 00 00 00 00 00 00 00 00 00 01 FD 00 92 08 00 00 00 05 70 00 00 01 00 00 00 01 FD 00 91 08 00 00 00
+ 05 70 00 00 00 00 00 00
< FD 01 00 82 08 00 00 00 80 00 80 00 80 00 00 FA FD 01 00 82 08 00 00 00 80 00 80 00 80 00 00 FA FD 01 00 91 08 00 00 00
< 05 70 00 00 01 00 00 00
> 01 FD 00 92 08 00 00 00 0C 20 00 00 10 27 00 00 01 FD 00 91 08 00 00 00 0C 20 00 00 00 00 00 00
< FD 01 00 82 08 00 00 00 80 00 80 00 80 00 00 FA FD 01 00 91 08 00 00 00 0C 20 00 00 10 27 00 00
# its own torque limit, which is not raised
> 01 FD 00 91 08 00 00 00 0B 70 00 00 00 00 00 00
< FD 01 00 91 08 00 00 00 0B 70 00 00 00 00 40 41
> 01 FD 00 92 08 00 00 00 0B 70 00 00 00 00 40 41 01 FD 00 92 08 00 00 00
+ 16 70 00 00 C8 00 48 39 01 FD 00 83 08 00 00 00 00 00 00 00 00 00 00 00 01 FD 00 92 08 00 00 00 16 70 00 00 C8 00 48 39
< FD 01 00 82 08 00 00 00 80 00 80 00 80 00 00 FA FD 01 00 82 08 00 00 00 80 00 80 00 80 00 00 FA FD 01 80 82 08 00 00 00 80 00 80 00 80 00 00 FA FD 01 80 82 08 00 00 00 80 00 80 00 80 00 00 FA
# the goal
> 01 FD 00 92 08 00 00 00 16 70 00 00 92 0A 06 3F
< FD 01 80 82 08 00 00 00 80 00 80 00 80 00 00 FA
# the goal again, on its way
> 01 FD 00 92 08 00 00 00 16 70 00 00 92 0A 06 3F
< FD 01 80 82 08 00 00 00 84 6D 83 1E 7F 4F 00 FA
# Halt: off, twice, and seen to be off
> 01 FD 00 84 08 00 00 00 00 00 00 00 00 00 00 00
> 01 FD 00 84 08 00 00 00 00 00 00 00 00 00 00 00
> 01 FD 00 91 08 00 00 00 1C 70 00 00 00 00 00 00 01 FD 00 84 08 00 00 00 00 00 00 00 00 00 00 00
< FD 01 00 82 08 00 00 00 84 F0 81 65 80 C7 00 FA FD 01 00 82 08 00 00 00 84 F0 81 65 80 C7 00 FA FD 01 00 91 08 00 00 00
< 1C 70 00 00 00 00 C0 41
`
