package dynamixel_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/hal"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/dynamixel"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// One XL430-W250 switches its torque on at its position, moves towards 30° and switches it off. A chain of protocol 1.0
// looks the same.
func Example() {
	line := servotest.Play(57600, armSession) // on a robot: serial.Open("/dev/serial/by-id/usb-FTDI_..", 57600, "")
	arm := dynamixel.NewChain(servo.ChainConfig{Name: "arm", Line: line, Servos: []servo.ServoConfig{
		{ID: 1, Model: dynamixel.ModelByName("xl430-w250"), Joint: "elbow"},
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
			fmt.Printf("%.1f°, %.1f rad/s, torque %v\n", (s.Position-u.CentreTicks)*360/u.TicksPerTurn, s.Velocity,
				s.Torque)
		}
		line.Pass(100 * time.Millisecond) // on a robot: a time.Ticker waits for the next cycle
	}
	fmt.Println("halted:", errors.Join(append(arm.Halt(), arm.Close())...))
	// Output:
	// 0.0°, 0.0 rad/s, torque false
	// 0.0°, 0.0 rad/s, torque true
	// 0.0°, 0.0 rad/s, torque true
	// 17.8°, 2.6 rad/s, torque true
	// halted: <nil>
}

// A tool finds who is there and asks one servo at a time, by the names of its control table.
func ExampleClient() {
	line := servotest.Play(57600, toolSession)
	client := dynamixel.NewClient(line, 2)
	all, err := client.PingAll() // protocol 1.0 has none: Scan
	if err != nil {
		log.Fatal(err)
	}
	for _, found := range all {
		model := found.Model(client.Protocol()) // nil where this package knows none
		raw, err := client.ReadRegister(found.ID, model, "present_temperature")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("id %d: %s, firmware %d, %.0f °C\n", found.ID, model.Name, found.Firmware,
			model.Register("present_temperature").SI(raw))
		if err := client.WriteRegister(found.ID, model, "led", 1); err != nil {
			log.Fatal(err)
		}
		fmt.Println(client.WriteRegister(found.ID, model, "present_temperature", 0))
	}
	if err := line.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// id 1: xl430-w250, firmware 52, 25 °C
	// id 1: write present_temperature: it is read-only
}

// What the chain and an XL430-W250 say to each other.
const armSession = `
# Open: who is there, and how it is set
> FF FF FD 00 01 03 00 01 19 4E
< FF FF FD 00 01 07 00 55 00 24 04 34 A1 5F
> FF FF FD 00 01 07 00 02 40 00 01 00 3C DB
< FF FF FD 00 01 05 00 55 00 00 53 21
> FF FF FD 00 01 07 00 02 09 00 01 00 21 EF
< FF FF FD 00 01 05 00 55 00 FA 4F 23
> FF FF FD 00 01 07 00 02 3F 00 01 00 2B 57
< FF FF FD 00 01 05 00 55 00 34 E8 A1
> FF FF FD 00 01 07 00 02 24 00 02 00 2E 01
< FF FF FD 00 01 06 00 55 00 75 03 CA E5
> FF FF FD 00 01 07 00 02 2C 00 04 00 2D 35
< FF FF FD 00 01 08 00 55 00 09 01 00 00 A8 8C
> FF FF FD 00 01 07 00 02 34 00 04 00 28 55
< FF FF FD 00 01 08 00 55 00 00 00 00 00 BF B8
> FF FF FD 00 01 07 00 02 30 00 04 00 2B 85
< FF FF FD 00 01 08 00 55 00 FF 0F 00 00 5B B4
> FF FF FD 00 01 07 00 02 0B 00 01 00 22 47
< FF FF FD 00 01 05 00 55 00 03 59 21
> FF FF FD 00 01 07 00 02 14 00 04 00 24 D5          # homing_offset
< FF FF FD 00 01 08 00 55 00 00 00 00 00 BF B8
> FF FF FD 00 01 07 00 02 40 00 01 00 3C DB
< FF FF FD 00 01 05 00 55 00 00 53 21
# at rest: where it is
> FF FF FD 00 FE 08 00 8A 7E 00 0A 00 01 9C 26
< FF FF FD 00 FE 0F 00 55 00 01 00 00 00 00 00 00 00 08 00 00 C8 89
# commanded to move: first the goal at its position
> FF FF FD 00 FE 09 00 83 62 00 01 00 01 00 3A AF FF FF FD 00 FE 0C 00 83 6C 00 04 00 01 00 00 00 00 DC F6 FF FF FD 00 FE
+ 0C 00 83 70 00 04 00 01 00 00 00 00 5F 3A FF FF FD 00 FE 0A 00 83 64 00 02 00 01 75 03 3A A1 FF FF FD 00 FE 0C 00 83 74
+ 00 04 00 01 00 08 00 00 7F 23
# the goal was received; torque
> FF FF FD 00 01 07 00 02 74 00 04 00 35 D5
< FF FF FD 00 01 08 00 55 00 00 08 00 00 1C 38
> FF FF FD 00 FE 09 00 83 40 00 01 00 01 01 1D DF FF FF FD 00 FE 09 00 83 62 00 01 00 01 0A 06 AF
> FF FF FD 00 FE 08 00 8A 40 00 53 00 01 3B A8
< FF FF FD 00 FE 58 00 55 00 01 01 00 00 00 02 00 00 00 00 00 00 00 E8 03 64 00 A0 0F 00 00 80 02 00 00 00 00 00 00 00 00
< 00 00 00 00 0A 00 75 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 08 00 00 B7 00 00 01 00 00 00 00 00 00 00 00 00 08
< 00 00 00 00 00 00 00 08 00 00 78 00 19 8B EF
# the goal
> FF FF FD 00 FE 0C 00 83 74 00 04 00 01 55 09 00 00 73 27
> FF FF FD 00 FE 08 00 8A 7E 00 0A 00 01 9C 26
< FF FF FD 00 FE 0F 00 55 00 01 00 00 00 00 00 00 00 08 00 00 C8 89
# the goal again, on its way
> FF FF FD 00 FE 0C 00 83 74 00 04 00 01 55 09 00 00 73 27
> FF FF FD 00 FE 08 00 8A 7E 00 0A 00 01 9C 26
< FF FF FD 00 FE 0F 00 55 00 01 23 01 6D 00 00 00 CB 08 00 00 67 E0
# Halt: off, twice, and seen to be off
> FF FF FD 00 FE 09 00 83 40 00 01 00 01 00 18 5F
> FF FF FD 00 FE 09 00 83 40 00 01 00 01 00 18 5F
> FF FF FD 00 01 07 00 02 40 00 01 00 3C DB
< FF FF FD 00 01 05 00 55 00 00 53 21
`

// What the client and the servo say: a broadcast ping, a register read, a register written.
const toolSession = `
> FF FF FD 00 FE 03 00 01 31 42
< FF FF FD 00 01 07 00 55 00 24 04 34 A1 5F
> FF FF FD 00 01 07 00 02 92 00 01 00 1B 33
< FF FF FD 00 01 05 00 55 00 19 06 A1
> FF FF FD 00 01 06 00 03 41 00 01 CC E6
< FF FF FD 00 01 04 00 55 00 A1 0C
`
