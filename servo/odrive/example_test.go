package odrive_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/drivers/can"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/odrive"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// The axis of an ODrive S1 on its serial port is told a speed, of the motor's shaft, and let go.
func Example() {
	line := servotest.Play(odrive.Baud, session) // on a robot: serial.Open("/dev/serial/by-id/usb-..", odrive.Baud, "")
	wheels := odrive.NewSerialChain(servo.ChainConfig{Name: "wheels", Line: line, Servos: []servo.ServoConfig{
		{ID: 0, Model: odrive.ModelByName("odrive-s1"), Joint: "left"},
	}})
	if err := wheels.Open(); err != nil { // all that is wrong with any of them; nothing moves
		log.Fatal(err)
	}
	u := wheels.Units(0)
	for range 4 { // a cycle; the axis stops after odrive.Watchdog without one
		wheels.SetGoal(0, servo.Goal{Enable: true, Mode: hal.VelocityMode, Velocity: 10, Limit: 1})
		if err := errors.Join(wheels.Send(), wheels.Receive()); err != nil {
			log.Print(err) // the line is lost; with ChainConfig.Reopen the next cycles get it back
		}
		if s := wheels.State(0); s.Err == nil {
			fmt.Printf("%.1f rad/s, %.1f°, torque %v\n", s.Velocity, (s.Position-u.CentreTicks)*360/u.TicksPerTurn,
				s.Torque)
		}
		line.Pass(20 * time.Millisecond) // on a robot: a time.Ticker waits for the next cycle
	}
	fmt.Println("halted:", errors.Join(append(wheels.Halt(), wheels.Close())...))
	// Output:
	// 0.0 rad/s, 0.0°, torque false
	// 0.0 rad/s, 0.0°, torque true
	// 0.0 rad/s, 0.0°, torque true
	// 9.0 rad/s, 7.3°, torque true
	// halted: <nil>
}

// Two axes on a CAN bus, each a node. The cycle is that of the package's example.
func ExampleNewCANChain() {
	line, err := can.Open("can0", odrive.Bitrate)
	if err != nil {
		log.Fatal(err)
	}
	wheels := odrive.NewCANChain(servo.ChainConfig{Name: "wheels", Line: line, Servos: []servo.ServoConfig{
		{ID: 3, Model: odrive.ModelByName("odrive-s1"), Joint: "left"},
		{ID: 4, Model: odrive.ModelByName("odrive-s1"), Joint: "right"},
	}})
	defer wheels.Close() // and line with it
	if err := wheels.Open(); err != nil {
		log.Fatal(err)
	}
}

// What the chain and an ODrive S1 say to each other. Each line ends with the XOR of its characters, in decimal.
const session = `
# Open: who is there, and how it is set
> "r fw_version_major*66\n"
< "0*48\r"
> "r fw_version_minor*78\n"
< "\n6*54\r"
> "r axis0.config.motor.current_soft_max*61\n"
< "\n40.000000*42\r"
> "r axis0.disarm_reason*20\n"
< "\n0*48\r"
> "r axis0.current_state*14\n"
< "\n1*49\r"
> "r axis0.active_errors*23\n"
< "\n0*48\r"
# at rest: where it is
> "f 0*118\n"
< "\n0 0*32\r"
# told to go: torque first, the goal where it stands
> "u 0*101\n"
+ "w axis0.config.watchdog_timeout 0.5*68\n"
+ "r axis0.config.watchdog_timeout*74\n"
< "0.500000*27\r"
> "u 0*101\n"
+ "w axis0.controller.config.input_mode 1*103\n"
+ "r axis0.controller.config.input_mode*115\n"
< "\n1*49\r"
> "u 0*101\n"
+ "w axis0.config.enable_watchdog 1*36\n"
+ "r axis0.config.enable_watchdog*48\n"
< "\n1*49\r"
> "v 0 0 0*102\n"
+ "w axis0.requested_state 8*10\n"
+ "v 0 0 0*102\n"
> "f 0*118\n"
< "0 0*32\r"
> "r vbus_voltage*125\n"
< "\n48*12\r"
> "r axis0.current_state*14\n"
< "\n8*56\r"
> "r axis0.active_errors*23\n"
< "\n0*48\r"
# the goal
> "v 0 1.591549 0*76\n"
> "f 0*118\n"
< "0 0*32\r"
# the goal again, on its way
> "v 0 1.591549 0*76\n"
> "f 0*118\n"
< "0.020203 1.440193*41\r"
# Halt: off, twice, and seen to be off
> "w axis0.requested_state 1*3\n"
> "w axis0.requested_state 1*3\n"
> "r axis0.motor.foc.Iq_measured*53\n"
< "0.888000*22\r"
> "r axis0.current_state*14\n"
< "\n1*49\r"
> "r axis0.active_errors*23\n"
< "\n0*48\r"
`
