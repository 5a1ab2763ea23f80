package p2os_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/sim/emulator/p2os"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// A program that drives a Pioneer 3-DX is tried on an emulated one, in no time: two seconds at 0.2 m/s.
func Example() {
	robot, err := base.RobotOf("p3dx")
	if err != nil {
		log.Fatal(err)
	}
	floor := p2os.NewFloor(robot.Difference)
	line := wire.NewLine("base", 9600, 1, p2os.New(robot, "Rosie", 9600, true, floor))
	pioneer, err := base.New(base.Settings{Name: "base", Robot: robot, Line: line.Open, Clock: line})
	if err != nil {
		log.Fatal(err)
	}
	if err := pioneer.Open(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(pioneer.Names().Name, "is there")
	odometry, place := pioneer.Source(base.Odometry), make([]float64, 3)
	for range 40 {
		for wheel := range 2 {
			pioneer.SetGoal(wheel, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 0.2 / robot.Radius,
				Limit: 1})
		}
		if err := errors.Join(pioneer.Send(), floor.Advance(50*time.Millisecond), line.Advance(50*time.Millisecond),
			pioneer.Receive()); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := odometry.Latest(place, 0); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("it says %.1f m, and went %.1f m\n", place[0], floor.X)
	fmt.Println("halted:", errors.Join(append(pioneer.Halt(), pioneer.Close())...))
	// Output:
	// Rosie is there
	// it says 0.2 m, and went 0.2 m
	// halted: <nil>
}
