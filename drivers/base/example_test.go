package base_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/drivers/base"
	"github.com/halyard-robotics/halyard/drivers/serial"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
)

// A Pioneer 3-DX drives straight on at 0.2 m/s for two seconds. Its motors go on when a wheel is enabled, and off in
// Halt. The example of sim/emulator/p2os does the same on an emulated one.
func Example() {
	robot, err := base.RobotOf("p3dx")
	if err != nil {
		log.Fatal(err)
	}
	pioneer, err := base.New(base.Settings{Name: "base", Robot: robot,
		Line: serial.Reopener("/dev/serial/by-id/usb-..", 9600, "")})
	if err != nil {
		log.Fatal(err)
	}
	if err := pioneer.Open(); err != nil { // finds its rate, and that it is the robot it should be; nothing moves
		log.Fatal(err)
	}
	defer func() { fmt.Println(errors.Join(append(pioneer.Halt(), pioneer.Close())...)) }()
	odometry, place := pioneer.Source(base.Odometry), make([]float64, 3)
	cycle := time.NewTicker(100 * time.Millisecond)
	defer cycle.Stop()
	for range 20 { // the base stops by itself two seconds after the last
		for wheel := range 2 {
			pioneer.SetGoal(wheel, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 0.2 / robot.Radius,
				Limit: 1})
		}
		<-cycle.C
		if err := errors.Join(pioneer.Send(), pioneer.Receive()); err != nil {
			log.Print(err) // the line is lost; the next cycles get it back
		}
		if age, err := odometry.Latest(place, 0); err == nil {
			fmt.Printf("x %.2f m, y %.2f m, heading %.2f rad, %v ago\n", place[0], place[1], place[2], age)
		}
	}
}

// The battery and what the sonar sees, of a base that stands; the nearest of sixteen echoes.
func ExampleBase_Source() {
	robot, err := base.RobotOf("p3at")
	if err != nil {
		log.Fatal(err)
	}
	pioneer, err := base.New(base.Settings{Name: "base", Robot: robot, Line: serial.Reopener("/dev/ttyS0", 38400, ""),
		Bauds: []int{38400}})
	if err != nil {
		log.Fatal(err)
	}
	if err := pioneer.Open(); err != nil {
		log.Fatal(err)
	}
	defer pioneer.Close()
	volts, ring := pioneer.Source(base.Volts), pioneer.Source(base.Ring)
	v, echoes := make([]float64, volts.Values()), make([]float64, ring.Values())
	for range time.Tick(100 * time.Millisecond) {
		if err := errors.Join(pioneer.Send(), pioneer.Receive()); err != nil {
			log.Print(err)
		}
		_, err := volts.Latest(v, 0)
		age, err2 := ring.Latest(echoes, 0)
		fmt.Println(v, err, echoes, age, err2)
	}
}
