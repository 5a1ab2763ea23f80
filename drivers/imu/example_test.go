package imu_test

import (
	"errors"
	"fmt"
	"log"
	"math"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/serial"
)

// A BNO055 makes its attitude by itself. Here it turns to the left, and has turned 30° so far.
func Example() {
	bus := &i2ctest.Playback{Ops: bno055, DontPanic: true} // on a robot: i2c.Open("/dev/i2c-1") of drivers/i2c
	sensor := imu.NewBNO055(bus, imu.BNO055Config{Compass: false})
	if err := sensor.Open(); err != nil {
		log.Fatal(err)
	}
	values := make([]float64, 10)
	if err := sensor.Read(values); err != nil {
		log.Fatal(err) // of kind hal.Absent where it is gone or was reset: Open it again
	}
	w, x, y, z := values[0], values[1], values[2], values[3]
	yaw := math.Atan2(2*(w*z+x*y), 1-2*(y*y+z*z))
	fmt.Printf("heading %.1f°, %.2f rad/s to the left, %.2f m/s² up\n", yaw*180/math.Pi, values[6], values[9])
	fmt.Println("closed:", errors.Join(sensor.Close(), bus.Close()))
	// Output:
	// heading 30.0°, 0.50 rad/s to the left, 9.81 m/s² up
	// closed: <nil>
}

// On its UART a BNO055 needs no bus that bears a stretched clock. The magnetometer keeps its heading to the north.
func ExampleNewBNO055Serial() {
	sensor := imu.NewBNO055Serial("head", serial.Reopener("/dev/serial0", imu.BNO055Baud, ""),
		imu.BNO055Config{Compass: true})
	if err := sensor.Open(); err != nil {
		log.Fatal(err)
	}
	defer sensor.Close()
	system, gyro, accelerometer, field, err := sensor.Calibrated()
	fmt.Println(system, gyro, accelerometer, field, err) // 3 each when it has been moved enough
}

// An MPU-6050 measures; drivers.AHRS makes an attitude of it.
func ExampleNewMPU() {
	bus := &i2ctest.Playback{Ops: mpu6050, DontPanic: true}
	sensor, err := imu.NewMPU(bus, imu.MPUConfig{Model: "mpu-6050", GyroRange: 500, AccRange: 4})
	if err != nil {
		log.Fatal(err)
	}
	if err := sensor.Open(); err != nil {
		log.Fatal(err)
	}
	values := make([]float64, 10)
	if err := sensor.Read(values); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("rates %.2f rad/s\n", values[0:3])
	fmt.Printf("acceleration %.2f m/s²\n", values[3:6])
	fmt.Printf("field %v T, %.0f °C\n", values[6:9], values[9]) // it has no magnetometer
	fmt.Println("closed:", errors.Join(sensor.Close(), bus.Close()))
	// Output:
	// rates [0.00 0.00 0.50] rad/s
	// acceleration [0.00 0.00 9.81] m/s²
	// field [NaN NaN NaN] T, 25 °C
	// closed: <nil>
}

// An LSM6DSOX is used as an MPU is.
func ExampleNewLSM6() {
	bus := &i2ctest.Playback{Ops: lsm6dsox, DontPanic: true}
	sensor, err := imu.NewLSM6(bus, imu.LSM6Config{}) // ±500 °/s and ±4 g
	if err != nil {
		log.Fatal(err)
	}
	values := make([]float64, 10)
	if err := errors.Join(sensor.Open(), sensor.Read(values)); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f rad/s, %.2f m/s²\n", values[0:3], values[3:6])
	fmt.Println("closed:", errors.Join(sensor.Close(), bus.Close()))
	// Output:
	// [0.00 0.00 0.50] rad/s, [0.00 0.00 9.81] m/s²
	// closed: <nil>
}

// What is said on the bus, transaction by transaction.
var (
	bno055 = []i2ctest.IO{
		// Open
		{Addr: 0x28, W: []byte{0x00}, R: []byte{0xA0}},
		{Addr: 0x28, W: []byte{0x3D, 0x00}},
		{Addr: 0x28, W: []byte{0x3E, 0x00}},
		{Addr: 0x28, W: []byte{0x3B, 0x00}},
		{Addr: 0x28, W: []byte{0x41, 0x24}},
		{Addr: 0x28, W: []byte{0x42, 0x00}},
		{Addr: 0x28, W: []byte{0x3D, 0x08}},
		{Addr: 0x28, W: []byte{0x3D}, R: []byte{0x08}},
		{Addr: 0x28, W: []byte{0x20}, R: []byte{0xD2, 0x3D, 0x00, 0x00, 0x00, 0x00, 0x90, 0x10}},
		// Read
		{Addr: 0x28, W: []byte{0x08}, R: []byte{0x00, 0x00, 0x00, 0x00, 0xD5, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
			0x00, 0x00, 0x00, 0x00, 0xCA, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xD2, 0x3D, 0x00, 0x00, 0x00, 0x00,
			0x90, 0x10}},
		// Close
	}

	mpu6050 = []i2ctest.IO{
		// Open
		{Addr: 0x68, W: []byte{0x75}, R: []byte{0x68}},
		{Addr: 0x68, W: []byte{0x6B, 0x80}},
		{Addr: 0x68, W: []byte{0x6B, 0x01}},
		{Addr: 0x68, W: []byte{0x19, 0x04, 0x03, 0x08, 0x08}},
		// Read
		{Addr: 0x68, W: []byte{0x3B}, R: []byte{0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0xF0, 0xB0, 0x00, 0x00, 0x00, 0x00,
			0x07, 0x54}},
		{Addr: 0x68, W: []byte{0x19}, R: []byte{0x04, 0x03, 0x08, 0x08}},
		// Close
		{Addr: 0x68, W: []byte{0x6B, 0x40}},
	}

	lsm6dsox = []i2ctest.IO{
		// Open
		{Addr: 0x6A, W: []byte{0x0F}, R: []byte{0x6C}},
		{Addr: 0x6A, W: []byte{0x12, 0x01}},
		{Addr: 0x6A, W: []byte{0x10, 0x58}},
		{Addr: 0x6A, W: []byte{0x11, 0x54}},
		{Addr: 0x6A, W: []byte{0x12, 0x44}},
		// Read
		{Addr: 0x6A, W: []byte{0x10}, R: []byte{0x58, 0x54, 0x44}},
		{Addr: 0x6A, W: []byte{0x20}, R: []byte{0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x65, 0x06, 0x00, 0x00, 0x00, 0x00,
			0x05, 0x20}},
		// Close
		{Addr: 0x6A, W: []byte{0x10, 0x00, 0x00}},
	}
)
