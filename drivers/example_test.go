package drivers_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/calibration"
	"github.com/halyard-robotics/halyard/drivers"
	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pressure"
	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/hal/kinematics"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/kondo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// A robot of one calibrated joint, in radians. The four calls of its loop are what a hal.Rig makes each period, with a
// guard before them.
func Example() {
	line := servotest.Play(1_250_000, session) // on a robot: see the example of kondo.NewChain
	chain := kondo.NewChain(servo.ChainConfig{Name: "arm", Line: line, Servos: []servo.ServoConfig{
		{ID: 1, Model: kondo.ModelByName("krs-2552"), Joint: "elbow"},
	}})
	if err := chain.Open(); err != nil {
		log.Fatal(err)
	}
	// on a robot: calibration.Load("calibration/elbow.yaml")
	elbow, err := calibration.Parse([]byte(calibrated), "elbow.yaml")
	if err != nil {
		log.Fatal(err)
	}
	body, err := drivers.NewBody(layout(),
		[]drivers.Joint{{Chain: chain, Index: 0, Calibration: elbow, Bus: "arm", ID: 1}})
	if err != nil {
		log.Fatal(err)
	}
	f := hal.NewFrame(body.Layout())
	f.Enable[0], f.Inputs[0] = true, 0.5 // rad
	for range 4 {
		if err := errors.Join(body.Write(f), chain.Send(), chain.Receive(), body.Read(f)); err != nil {
			log.Print(err) // the line is lost
		}
		fmt.Printf("%.2f rad, %v\n", f.Outputs[0], f.Status[0].Err)
		line.Pass(100 * time.Millisecond) // on a robot: a time.Ticker waits for the next cycle
	}
	fmt.Println("halted:", errors.Join(body.Halt(), chain.Close()))
	// Output:
	// 0.07 rad, <nil>
	// 0.07 rad, <nil>
	// 0.07 rad, <nil>
	// 0.40 rad, <nil>
	// halted: <nil>
}

// layout is what the robot offers: a goal and a position, of a joint without other sensors.
func layout() *hal.Layout {
	const least, most = -1.5, 1.5 // rad, the soft limits
	return &hal.Layout{
		Inputs:  []hal.Channel{{Name: "elbow/goal", Quantity: hal.Position, Min: least, Max: most}},
		Outputs: []hal.Channel{{Name: "elbow/position", Quantity: hal.Position, Min: least, Max: most}},
		Actuators: []hal.Actuator{{Name: "elbow",
			Goal: [hal.NumModes]int{hal.PositionMode: 0, hal.VelocityMode: hal.None,
				hal.TorqueMode: hal.None, hal.DutyMode: hal.None}, TorqueLimit: hal.None, Position: 0,
			Velocity: hal.None, Torque: hal.None, Voltage: hal.None, Temperature: hal.None,
			Limits: hal.Limits{MinPosition: least, MaxPosition: most, MaxVelocity: 6, MaxTorque: 1.4}}},
	}
}

// calibrated is a joint whose angle falls as the ticks rise.
const calibrated = `
joint: elbow
servo: {model: krs-2552, id: 1}
method: manual
date: 2026-11-21T14:03:00Z
version: 1
direction: -1
zero_ticks: 7620
ticks_per_turn: 10666.666666666666
range_ticks: [4500, 10500]
`

// A depth read twenty times a second in its own goroutine, which sees the newest one with its age and never waits. A
// sensor that is unplugged is opened again.
func ExampleNewPoller() {
	bus, err := i2c.Open("/dev/i2c-1")
	if err != nil {
		log.Fatal(err)
	}
	defer bus.Close()
	sensor, err := pressure.NewMS5837(bus, pressure.MS5837Config{Air: pressure.SeaLevel})
	if err != nil {
		log.Fatal(err)
	}
	poller := drivers.NewPoller(sensor, drivers.PollerConfig{Name: "depth", Values: 2, Period: 50 * time.Millisecond})
	if err := poller.Open(); err != nil {
		log.Fatal(err)
	}
	defer poller.Close()
	values := make([]float64, 2)
	for range time.Tick(10 * time.Millisecond) {
		age, err := poller.Latest(values, 0)
		fmt.Println(values[0], "Pa", age, err)
	}
}

// An MPU-6050 made into an IMU with an attitude, as a BNO055 is one by itself.
func ExampleNewAHRS() {
	bus, err := i2c.Open("/dev/i2c-1")
	if err != nil {
		log.Fatal(err)
	}
	defer bus.Close()
	chip, err := imu.NewMPU(bus, imu.MPUConfig{})
	if err != nil {
		log.Fatal(err)
	}
	attitude := drivers.NewAHRS(chip, calibration.NominalInertial("imu", "mpu-6050"), hal.WallClock(),
		kinematics.AttitudeConfig{})
	poller := drivers.NewPoller(attitude, drivers.PollerConfig{Name: "imu", Values: 10, Period: 5 * time.Millisecond})
	if err := poller.Open(); err != nil {
		log.Fatal(err)
	}
	defer poller.Close()
	values := make([]float64, 10)
	age, err := poller.Latest(values, 0)
	fmt.Println(values[:4], age, err)
}

// Sixteen hobby servos behind a PCA9685, written in its own goroutine.
func ExampleNewOutputWriter() {
	bus, err := i2c.Open("/dev/i2c-1")
	if err != nil {
		log.Fatal(err)
	}
	defer bus.Close()
	board, err := pwm.NewPCA9685(bus, pwm.PCA9685Config{})
	if err != nil {
		log.Fatal(err)
	}
	feeder := drivers.NewOutputWriter(board, drivers.OutputWriterConfig{Name: "servos", Channels: 16})
	if err := feeder.Open(); err != nil {
		log.Fatal(err)
	}
	defer feeder.Close()
	feeder.Stage(0, 1500*time.Microsecond)
	if err := feeder.Send(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(errors.Join(feeder.Halt()...)) // nil: every channel has acknowledged that it is off
}

// What the chain and a KRS-2552 say to each other.
const session = `
# Open
> A1 01
< 21 01 3C
> 81 00 00
< 01 3A 4C
> 81 3A 4C
< 01 3A 4C
> 81 34 73
< 01 3A 4C
> 81 34 73
< 01 36 17
> 81 00 00
< 01 35 14
> 81 00 00
< 01 35 14
> 81 00 00
< 01 35 14
> A1 03
< 21 03 40
`
