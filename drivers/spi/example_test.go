package spi_test

import (
	"fmt"
	"log"

	"periph.io/x/conn/v3/conntest"
	"periph.io/x/conn/v3/spi/spitest"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/spi"
)

// On a robot the port is port, err := spi.Open("/dev/spidev0.0", spi.DefaultClock), and goes to the constructor of a
// chip's driver in the place of an I2C bus: imu.NewLSM6(port, imu.LSM6Config{}). Here it is one that says what a chip
// did.
func ExamplePort() {
	chip := &spitest.Playback{Playback: conntest.Playback{DontPanic: true, Ops: []conntest.IO{
		{W: []byte{0x8F, 0x00}, R: []byte{0x00, 0x6C}}, // who are you: an LSM6DSOX
	}}}
	wire, err := chip.Connect(0, 0, 8)
	if err != nil {
		log.Fatal(err)
	}
	port := spi.NewPort("/dev/spidev0.0", wire)
	defer port.Close()
	identity, err := i2c.NewChip(port, 0, "lsm6dsox").Read(0x0F, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("0x%02X\n", identity[0])
	// Output: 0x6C
}
