package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/sim/actuator"
	"github.com/halyard-robotics/halyard/sim/emulator"
	"github.com/halyard-robotics/halyard/sim/emulator/servos"
	"github.com/halyard-robotics/halyard/sim/emulator/wire"
)

// Test a program without an arm: two AX-12A with a light load each, which move and measure like real ones, in virtual
// time. One of them loses its power during the run.
func Example() {
	var joints []*emulator.Servo
	for id := 1; id <= 2; id++ {
		spec, _ := actuator.Lookup("ax-12a")
		physics := actuator.NewServo(spec)
		physics.Load.Inertia = 1e-4 // kg·m²
		joints = append(joints, servos.New(dynamixel.ModelByName("ax-12a"), id, physics, emulator.GroundTruth{}))
	}
	bus := emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: 1_000_000, Timing: emulator.FTDI(time.Millisecond)},
		joints...)

	// The program, which has serial.Open(..) for bus.Line() in life.
	model := dynamixel.ModelByName("ax-12a")
	arm := dynamixel.NewChain(servo.ChainConfig{Name: "arm", Line: bus.Line(), Servos: []servo.ServoConfig{
		{ID: 1, Model: model, Joint: "shoulder"}, {ID: 2, Model: model, Joint: "elbow"},
	}})
	if err := arm.Open(); err != nil {
		log.Fatal(err)
	}
	for cycle := range 50 {
		for i, u := range []servo.Units{arm.Units(0), arm.Units(1)} {
			arm.SetGoal(i, servo.Goal{Enable: true, Mode: hal.PositionMode,
				Position: u.CentreTicks + u.TicksPerTurn*30/360, Limit: 1})
		}
		if err := arm.Send(); err != nil {
			log.Fatal(err)
		}
		// The world: 20 ms of it pass.
		if cycle == 25 {
			if err := bus.Fault(wire.Fault{Kind: wire.PowerLoss, Target: 2}); err != nil {
				log.Fatal(err)
			}
		}
		for range 20 {
			joints[0].Actuator().Step(0.001)
			joints[1].Actuator().Step(0.001)
		}
		if err := errors.Join(bus.Advance(20*time.Millisecond), arm.Receive()); err != nil {
			log.Fatal(err)
		}
	}
	for i, joint := range []string{"shoulder", "elbow"} {
		u, s := arm.Units(i), arm.State(i)
		fmt.Printf("%s: %.0f°, torque %v, %v\n", joint, (s.Position-u.CentreTicks)*360/u.TicksPerTurn, s.Torque, s.Err)
	}
	// Output:
	// shoulder: 30°, torque true, <nil>
	// elbow: 30°, torque false, bus "arm": id 2: joint "elbow": read: lost: asked again every fiftieth cycle
}

// Programs in any language: the bus on a pseudo terminal, in the wall's time, behind a link called bench. Linux only.
func ExampleBus_ServePTY() {
	spec, _ := actuator.Lookup("ax-12a")
	elbow := servos.New(dynamixel.ModelByName("ax-12a"), 1, actuator.NewServo(spec), emulator.GroundTruth{})
	bus := emulator.NewBus(emulator.BusConfig{Name: "bench", Baud: 1_000_000}, elbow)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	path, wait, err := bus.ServePTY(ctx, "bench")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("an AX-12A with id 1 at", path)
	if err := wait(); err != nil { // until ctx is done
		log.Fatal(err)
	}
}
