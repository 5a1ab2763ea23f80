package lidar_test

import (
	"fmt"
	"log"
	"math"

	"github.com/halyard-robotics/halyard/drivers/lidar"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// A SICK LMS200 of 100° by 1° says where the nearest thing is.
func Example() {
	line := servotest.Play(9600, lms200)
	laser, err := lidar.NewSICK(lidar.SICKSettings{
		Name: "laser",
		// on a robot: serial.Reopener("/dev/serial/by-id/usb-..", 9600, "")
		Line:  func() (servo.Line, error) { return line, nil },
		Angle: 100, Resolution: 100,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := laser.Open(); err != nil { // finds its baud rate, and starts its stream
		log.Fatal(err)
	}
	fan := laser.Geometry()
	metres := make([]float64, fan.Count)
	if err := laser.Read(metres); err != nil {
		log.Fatal(err) // of kind hal.Absent where it is gone or was reset: Open it again
	}
	nearest := 0
	for i, m := range metres {
		if m < metres[nearest] { // NaN and +Inf are nearer than nothing
			nearest = i
		}
	}
	angle := fan.First + float64(nearest)*fan.Step
	fmt.Printf("%d rays, the nearest %.3f m at %.0f° to the left\n", fan.Count, metres[nearest], angle*180/math.Pi)
	fmt.Println("closed:", laser.Close())
	// Output:
	// 101 rays, the nearest 1.958 m at 50° to the left
	// closed: <nil>
}

// A Hokuyo on the network, of whose steps 90 at a time make one value.
func ExampleNewHokuyo() {
	model, err := lidar.HokuyoModelOf("UST-10LX")
	if err != nil {
		log.Fatal(err)
	}
	line := servotest.Play(0, ust10lx)
	laser, err := lidar.NewHokuyo(lidar.HokuyoSettings{
		Name:  "laser",
		Line:  func() (servo.Line, error) { return line, nil }, // on a robot: lidar.DialTCP("192.168.0.10:10940")
		Model: model, First: 180, Last: 900, Cluster: 90,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := laser.Open(); err != nil {
		log.Fatal(err)
	}
	metres := make([]float64, laser.Geometry().Count)
	if err := laser.Read(metres); err != nil {
		log.Fatal(err)
	}
	fmt.Println(laser.Serial, metres)
	fmt.Println("closed:", laser.Close())
	// Output:
	// H0500001 [2.5 2.706 3.536 4.5 3.961 2.131 1.627 1.5 1.5]
	// closed: <nil>
}

// An RPLIDAR A1 looks all around; its motor is connected to the line's DTR, which a played line does not have.
func ExampleNewRPLidar() {
	line := servotest.Play(115200, string(a1()))
	laser, err := lidar.NewRPLidar(lidar.RPLidarSettings{
		Name: "laser",
		// on a robot: serial.Reopener("/dev/serial/by-id/usb-..", 115200, "")
		Line: func() (servo.Line, error) { return line, nil },
		Rays: 8, Drive: lidar.RPLidarFree, // on an A1: lidar.RPLidarDTR
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := laser.Open(); err != nil {
		log.Fatal(err)
	}
	metres := make([]float64, laser.Geometry().Count)
	if err := laser.Read(metres); err != nil {
		log.Fatal(err)
	}
	fmt.Println("firmware", laser.Firmware, metres)
	fmt.Println("closed:", laser.Close())
	// Output:
	// firmware 1.29 [2 2 2 2 2 2 2 2]
	// closed: <nil>
}

// What the driver and an LMS200 that has its settings say: found at its 9600 baud, set to 38400, and one scan.
const lms200 = `
> 02 00 02 00 20 25 35 08
> 02 00 02 00 20 25 35 08
< 06 02 80 03 00 A0 00 10 16 0A
> 02 00 02 00 20 40 50 08
< 06 02 80 03 00 A0 00 10 16 0A
> 02 00 02 00 20 25 35 08
< 06 02 80 03 00 A0 00 10 16 0A
> 02 00 01 00 3A 1E 12
< 06 02 80 16 00 BA 4C 4D 53 32 30 30 3B 33 30 31 30 36 3B 56 30 32 2E 33 30 20 10 89 A3
> 02 00 05 00 3B 64 00 64 00 1D 0F
< 06 02 80 07 00 BB 01 64 00 64 00 10 4F BD
> 02 00 01 00 74 50 12
< 06 02 80 24 00 F4 00 00 00 00 00 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
< 10 C2 8D
> 02 00 02 00 20 24 34 08
< 06 02 80 03 00 A0 00 10 16 0A
after 1ms
< 02 80 CE 00 B0 65 40 C0 0C F1 0C 24 0D 5A 0D 93 0D D0 0D 0F 0E 52 0E 98 0E E3 0E 31 0F 85 0F DD 0F 3A 10 9D 10 07 11 77
< 11 EE 11 6E 12 F6 12 88 13 19 14 E9 13 BA 13 8F 13 65 13 3E 13 19 13 F5 12 D4 12 B5 12 97 12 7C 12 62 12 49 12 33 12 1E
< 12 0A 12 F9 11 E8 11 D9 11 CC 11 C0 11 B6 11 AD 11 A5 11 9F 11 9A 11 97 11 95 11 94 11 95 11 97 11 9A 11 9F 11 A5 11 AD
< 11 B6 11 C0 11 CC 11 D9 11 E8 11 F9 11 0A 12 1E 12 33 12 49 12 62 12 7C 12 FF 11 22 11 5A 10 A4 0F FF 0E 68 0E DD 0D 5E
< 0D E8 0C 7B 0C 16 0C B8 0B 60 0B 0F 0B C2 0A 7A 0A 37 0A F8 09 BC 09 84 09 50 09 1E 09 EE 08 C2 08 97 08 6F 08 49 08 25
< 08 03 08 E2 07 C4 07 A6 07 10 A8 D2
> 02 00 02 00 20 25 35 08
< 02 80 CE 00 B0 65 40 C0 0C F1 0C 24 0D 5A 0D 93 0D D0 0D 0F 0E 52 0E 98 0E E3 0E 31 0F 85 0F DD 0F 3A 10 9D 10 07 11 77
< 11 EE 11 6E 12 F6 12 88 13 19 14 E9 13 BA 13 8F 13 65 13 3E 13 19 13 F5 12 D4 12 B5 12 97 12 7C 12 62 12 49 12 33 12 1E
< 12 0A 12 F9 11 E8 11 D9 11 CC 11 C0 11 B6 11 AD 11 A5 11 9F 11 9A 11 97 11 95 11 94 11 95 11 97 11 9A 11 9F 11 A5 11 AD
< 11 B6 11 C0 11 CC 11 D9 11 E8 11 F9 11 0A 12 1E 12 33 12 49 12 62 12 7C 12 FF 11 22 11 5A 10 A4 0F FF 0E 68 0E DD 0D 5E
< 0D E8 0C 7B 0C 16 0C B8 0B 60 0B 0F 0B C2 0A 7A 0A 37 0A F8 09 BC 09 84 09 50 09 1E 09 EE 08 C2 08 97 08 6F 08 49 08 25
< 08 03 08 E2 07 C4 07 A6 07 10 A8 D2 06 02 80 03 00 A0 00 10 16 0A
> 02 00 02 00 20 42 52 08
< 06 02 80 03 00 A0 00 10 16 0A
`

// What the driver and a UST-10LX say.
const ust10lx = `
> "QT\n"
< "QT\n00P\n\n"
> "VV\n"
< "VV\n00P\nVEND:Hokuyo Automatic Co., Ltd.;;\nPROD:UST-10LX;M\nFIRM:3.3.00;:\nPROT:SCIP 2.0;N\nSERI:H0500001;;\n\n"
> "PP\n"
< "PP\n00P\nMODL:UST-10LX;D\nDMIN:20;4\nDMAX:30000;G\nARES:1440;^\nAMIN:0;?\nAMAX:1080;Z\nAFRT:540;0\nSCAN:2400;U\n\n"
> "BM\n"
< "BM\n00P\n\n"
> "MD0180090090000\n"
< "MD0180090090000\n00P\n\nMD0180090090000\n99b\n000::\n0W40ZB0g@16D0mi0QC0IK0GL0GLM\n\n"
after 25ms
< "MD0180090090000\n99b\n000SS\n0W40ZB0g@16D0mi0QC0IK0GL0GLM\n\n"
> "QT\n"
< "QT\n00P\n\n"
`

// a1 is what the driver and an RPLIDAR in the middle of a round room of 4 m say: who it is, how it is, and two turns of
// its express scan.
func a1() []byte {
	text := []byte(`
> A5 25
> A5 50
< A5 5A 14 00 00 00 04 18 1D 01 07 48 41 4C 59 41 52 44 2D 45 4D 55 4C 41 54 4F 52
> A5 52
< A5 5A 03 00 00 00 06 00 00 00
> A5 82 05 00 00 00 00 00 22
< A5 5A 54 00 00 40 82
`)
	for i := range 80 {
		capsule := lidar.RPCapsule{Encoding: lidar.RPLidarExpressed, Start: uint16(i * 1000 % (360 << 6)),
			First: i == 0}
		for k := range capsule.Ranges {
			capsule.Ranges[k] = 2000 // of the 96 an express capsule has 32
		}
		text = fmt.Appendf(text, "after 1ms\n< % X\n", capsule.Append(nil))
	}
	return append(text, "> A5 25\n"...)
}
