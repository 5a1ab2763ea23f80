package adc_test

import (
	"errors"
	"fmt"
	"log"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/drivers/adc"
)

// An INA219 in the supply's lead says what the robot draws.
func Example() {
	bus := &i2ctest.Playback{Ops: ina219, DontPanic: true} // on a robot: i2c.Open("/dev/i2c-1") of drivers/i2c
	monitor, err := adc.NewINA219(bus, adc.INA219Config{Shunt: 0.1})
	if err != nil {
		log.Fatal(err)
	}
	if err := monitor.Open(); err != nil {
		log.Fatal(err)
	}
	values := make([]float64, 3)
	if err := monitor.Read(values); err != nil {
		log.Fatal(err) // of kind hal.Absent where it is gone or was reset: Open it again
	}
	fmt.Printf("%.1f V, %.2f A, %.1f W\n", values[0], values[1], values[2])
	fmt.Println("closed:", errors.Join(monitor.Close(), bus.Close()))
	// Output:
	// 11.8 V, 1.25 A, 14.7 W
	// closed: <nil>
}

// An ADS1115 with a potentiometer at its first input and a battery behind a divider of 10:1 at its second.
func ExampleNewADS1115() {
	bus := &i2ctest.Playback{Ops: ads1115, DontPanic: true}
	converter, err := adc.NewADS1115(bus, adc.ADS1115Config{Inputs: []adc.ADS1115In{
		{Input: 0},                          // volts, to 4.096
		{Input: 1, Volts: 2.048, Scale: 11}, // volts before the divider
	}})
	if err != nil {
		log.Fatal(err)
	}
	values := make([]float64, 2)
	if err := errors.Join(converter.Open(), converter.Read(values)); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f V and %.2f V\n", values[0], values[1])
	fmt.Println("closed:", errors.Join(converter.Close(), bus.Close()))
	// Output:
	// 1.65 V and 7.70 V
	// closed: <nil>
}

// What is said on the bus, transaction by transaction.
var (
	ina219 = []i2ctest.IO{
		// Open
		{Addr: 0x40, W: []byte{0x00, 0x80, 0x00}},
		{Addr: 0x40, W: []byte{0x00}, R: []byte{0x39, 0x9F}},
		{Addr: 0x40, W: []byte{0x00, 0x39, 0xEF}},
		{Addr: 0x40, W: []byte{0x05, 0x10, 0x62}},
		// Read
		{Addr: 0x40, W: []byte{0x05}, R: []byte{0x10, 0x62}},
		{Addr: 0x40, W: []byte{0x02}, R: []byte{0x5C, 0x32}},
		{Addr: 0x40, W: []byte{0x04}, R: []byte{0x31, 0xFF}},
		// Close
	}

	ads1115 = []i2ctest.IO{
		// Open
		{Addr: 0x48, W: []byte{0x01}, R: []byte{0x85, 0x83}},
		// Read
		{Addr: 0x48, W: []byte{0x01, 0xC3, 0xE3}},
		{Addr: 0x48, W: []byte{0x01}, R: []byte{0xC3, 0xE3}},
		{Addr: 0x48, W: []byte{0x00}, R: []byte{0x33, 0x90}},
		{Addr: 0x48, W: []byte{0x01, 0xD5, 0xE3}},
		{Addr: 0x48, W: []byte{0x01}, R: []byte{0xD5, 0xE3}},
		{Addr: 0x48, W: []byte{0x00}, R: []byte{0x2B, 0xC0}},
		// Close
	}
)
