package rfid_test

import (
	"fmt"
	"log"
	"time"

	"github.com/halyard-robotics/halyard/drivers/rfid"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// A PN532 on its serial line is asked twice for the tags in its field. On I2C it is rfid.NewPN532I2C(bus, nil).
func Example() {
	line := servotest.Play(rfid.PN532Baud, pn532)
	// on a robot: serial.Reopener("/dev/serial/by-id/usb-..", rfid.PN532Baud, "")
	open := func() (servo.Line, error) { return line, nil }
	reader := rfid.NewPN532("gate", open)
	reader.Listen(func(tag int) { fmt.Printf("tag %08X\n", tag) }) // called by Read
	if err := reader.Open(); err != nil {
		log.Fatal(err)
	}
	count := []float64{0}
	for range 2 {
		if err := reader.Read(count); err != nil {
			log.Fatal(err) // of kind hal.Absent where it is gone: Open it again
		}
		fmt.Println(count[0], "in reach")
	}
	fmt.Println("closed:", reader.Close())
	// Output:
	// tag 04A1B2C3
	// 1 in reach
	// tag 04A1B2C3
	// 1 in reach
	// closed: <nil>
}

// An RDM6300 speaks by itself while a tag is in its field; the number printed on the tag is the one that it says.
func ExampleNewRDM6300() {
	line := servotest.Play(rfid.RDM6300Baud, rdm6300)
	reader := rfid.NewRDM6300("gate", func() (servo.Line, error) { return line, nil })
	reader.Listen(func(tag int) { fmt.Printf("tag %010d\n", tag) })
	if err := reader.Open(); err != nil {
		log.Fatal(err)
	}
	if _, err := line.Write(nil); err != nil { // here a tag comes into reach; the reader is told nothing
		log.Fatal(err)
	}
	count := []float64{0}
	line.Pass(50 * time.Millisecond) // Read does not wait
	if err := reader.Read(count); err != nil {
		log.Fatal(err)
	}
	fmt.Println(count[0], "in reach")
	fmt.Println("closed:", reader.Close())
	// Output:
	// tag 0008604903
	// 1 in reach
	// closed: <nil>
}

// What an RDM6300 says of the tag of its data sheet's example. One telegram alone is not believed.
const rdm6300 = `
> any
< "\x026200834CE74A\x03"
< "\x026200834CE74A\x03"
`

// What the driver and a PN532 say to each other.
const pn532 = `
> 55 55 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 FF 05 FB D4 14 01 14 01 02 00
< 00 00 FF 00 FF 00 00 00 FF 02 FE D5 15 16 00
> 00 00 FF 02 FE D4 02 2A 00
< 00 00 FF 00 FF 00 00 00 FF 06 FA D5 03 32 01 06 07 E8 00
> 00 00 FF 06 FA D4 32 05 FF 01 03 F2 00
< 00 00 FF 00 FF 00 00 00 FF 02 FE D5 33 F8 00
> 00 00 FF 04 FC D4 4A 02 00 E0 00
< 00 00 FF 00 FF 00 00 00 FF 0C F4 D5 4B 01 01 00 04 08 04 04 A1 B2 C3 B4 00
> 00 00 FF 04 FC D4 4A 02 00 E0 00
< 00 00 FF 00 FF 00 00 00 FF 0C F4 D5 4B 01 01 00 04 08 04 04 A1 B2 C3 B4 00
`
