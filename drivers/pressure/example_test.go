package pressure_test

import (
	"errors"
	"fmt"
	"log"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/drivers/pressure"
)

// How deep an underwater robot is: the pressure above the air's, by the weight of the water over it.
func Example() {
	bus := &i2ctest.Playback{Ops: ms5837, DontPanic: true} // on a robot: i2c.Open("/dev/i2c-1") of drivers/i2c
	sensor, err := pressure.NewMS5837(bus, pressure.MS5837Config{Model: pressure.MS5837_30BA(), Air: pressure.SeaLevel})
	if err != nil {
		log.Fatal(err)
	}
	if err := sensor.Open(); err != nil {
		log.Fatal(err)
	}
	values := make([]float64, 2)
	if err := sensor.Read(values); err != nil {
		log.Fatal(err) // of kind hal.Absent where it is gone or has lost its power: Open it again
	}
	const salt, gravity = 1025, 9.80665 // kg/m³, m/s²
	fmt.Printf("%.2f m deep, %.1f °C\n", values[0]/(salt*gravity), values[1])
	fmt.Println("closed:", errors.Join(sensor.Close(), bus.Close()))
	// Output:
	// 2.50 m deep, 20.0 °C
	// closed: <nil>
}

// A BME280 says what the air is like.
func ExampleNewBMX280() {
	bus := &i2ctest.Playback{Ops: bme280, DontPanic: true}
	sensor := pressure.NewBMX280(bus, pressure.BMX280Config{Humidity: true}) // a BMP280 is refused then
	values := make([]float64, 3)
	if err := errors.Join(sensor.Open(), sensor.Read(values)); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f hPa, %.1f °C, %.0f %% relative humidity\n", values[0]/100, values[1], values[2]*100)
	fmt.Println("closed:", errors.Join(sensor.Close(), bus.Close()))
	// Output:
	// 1013.2 hPa, 20.0 °C, 45 % relative humidity
	// closed: <nil>
}

// What is said on the bus, transaction by transaction. The chips' factory trims are those of the datasheets' examples.
var (
	ms5837 = []i2ctest.IO{
		// Open
		{Addr: 0x76, W: []byte{0x1E}},
		{Addr: 0x76, W: []byte{0xA0}, R: []byte{0x20, 0x00}},
		{Addr: 0x76, W: []byte{0xA2}, R: []byte{0x88, 0xA6}},
		{Addr: 0x76, W: []byte{0xA4}, R: []byte{0x8E, 0x00}},
		{Addr: 0x76, W: []byte{0xA6}, R: []byte{0x4F, 0x68}},
		{Addr: 0x76, W: []byte{0xA8}, R: []byte{0x57, 0x52}},
		{Addr: 0x76, W: []byte{0xAA}, R: []byte{0x68, 0x16}},
		{Addr: 0x76, W: []byte{0xAC}, R: []byte{0x66, 0x22}},
		// Read
		{Addr: 0x76, W: []byte{0x48}},
		{Addr: 0x76, W: []byte{0x00}, R: []byte{0x45, 0x65, 0xF1}},
		{Addr: 0x76, W: []byte{0x58}},
		{Addr: 0x76, W: []byte{0x00}, R: []byte{0x68, 0x16, 0x00}},
		// Close
	}

	bme280 = []i2ctest.IO{
		// Open
		{Addr: 0x76, W: []byte{0xD0}, R: []byte{0x60}},
		{Addr: 0x76, W: []byte{0xE0, 0xB6}},
		{Addr: 0x76, W: []byte{0xF3}, R: []byte{0}},
		{Addr: 0x76, W: []byte{0x88}, R: []byte{0x70, 0x6B, 0x43, 0x67, 0x18, 0xFC, 0x7D, 0x8E, 0x43, 0xD6, 0xD0, 0x0B,
			0x27, 0x0B, 0x8C, 0x00, 0xF9, 0xFF, 0x8C, 0x3C, 0xF8, 0xC6, 0x70, 0x17, 0x00, 0x4B}},
		{Addr: 0x76, W: []byte{0xE1}, R: []byte{0x62, 0x01, 0x00, 0x14, 0x2D, 0x03, 0x1E}},
		{Addr: 0x76, W: []byte{0x88}, R: []byte{0x70, 0x6B, 0x43, 0x67, 0x18, 0xFC, 0x7D, 0x8E, 0x43, 0xD6, 0xD0, 0x0B,
			0x27, 0x0B, 0x8C, 0x00, 0xF9, 0xFF, 0x8C, 0x3C, 0xF8, 0xC6, 0x70, 0x17, 0x00, 0x4B}},
		{Addr: 0x76, W: []byte{0xE1}, R: []byte{0x62, 0x01, 0x00, 0x14, 0x2D, 0x03, 0x1E}},
		{Addr: 0x76, W: []byte{0xF2, 0x01}},
		{Addr: 0x76, W: []byte{0xF5, 0x00}},
		{Addr: 0x76, W: []byte{0xF4, 0x2F}},
		// Read
		{Addr: 0x76, W: []byte{0xF2}, R: []byte{0x01, 0x00, 0x2F, 0x00, 0x00, 0x63, 0x48, 0x20, 0x7A, 0xF7, 0x00, 0x73,
			0xF2}},
		// Close
		{Addr: 0x76, W: []byte{0xF4, 0x00}},
	}
)
