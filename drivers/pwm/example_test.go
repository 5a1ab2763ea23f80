package pwm_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/drivers/pwm"
	"github.com/halyard-robotics/halyard/servo"
	"github.com/halyard-robotics/halyard/servo/servotest"
)

// A hobby servo at the first channel of a PCA9685 goes to its middle; the second channel has no pulses. Off says of
// each channel whether it has ended.
func Example() {
	bus := &i2ctest.Playback{Ops: pca9685, DontPanic: true} // on a robot: i2c.Open("/dev/i2c-1") of drivers/i2c
	board, err := pwm.NewPCA9685(bus, pwm.PCA9685Config{Channels: 2})
	if err != nil {
		log.Fatal(err)
	}
	if err := board.Open(); err != nil { // all channels are off now
		log.Fatal(err)
	}
	fmt.Printf("%.1f Hz\n", board.Hertz())
	if err := board.Write([]time.Duration{1500 * time.Microsecond, 0}); err != nil {
		log.Fatal(err) // of kind hal.Absent where it is gone or was reset: Open it again
	}
	fmt.Println("off:", errors.Join(board.Off()...)) // without, it pulses on when the program has ended
	fmt.Println("closed:", errors.Join(board.Close(), bus.Close()))
	// Output:
	// 50.0 Hz
	// off: <nil>
	// closed: <nil>
}

// Two servos of six at a Pololu Maestro.
func ExampleNewMaestro() {
	line := servotest.Play(115200, maestro)
	// on a robot: serial.Reopener("/dev/serial/by-id/usb-Pololu_..", 115200, "")
	open := func() (servo.Line, error) { return line, nil }
	board, err := pwm.NewMaestro(open, pwm.MaestroConfig{Name: "maestro", Channels: 6, Device: -1})
	if err != nil {
		log.Fatal(err)
	}
	pulses := []time.Duration{1500 * time.Microsecond, 1000 * time.Microsecond, 0, 0, 0, 0}
	if err := errors.Join(board.Open(), board.Write(pulses)); err != nil {
		log.Fatal(err)
	}
	fmt.Println("off:", errors.Join(board.Off()...))
	fmt.Println("closed:", board.Close())
	// Output:
	// off: <nil>
	// closed: <nil>
}

// A thruster's ESC at the PWM of a Raspberry Pi, whose device tree has an overlay for it.
func ExampleNewKernel() {
	thruster, err := pwm.NewKernel(pwm.KernelConfig{Channels: []pwm.KernelChannel{{Chip: 0, Output: 0}}})
	if err != nil {
		log.Fatal(err)
	}
	if err := thruster.Open(); err != nil {
		log.Fatal(err)
	}
	defer thruster.Close()
	defer thruster.Off()
	// neutral, until the ESC has armed itself
	if err := thruster.Write([]time.Duration{1500 * time.Microsecond}); err != nil {
		log.Fatal(err)
	}
}

// What is said on the bus, transaction by transaction.
var pca9685 = []i2ctest.IO{
	{Addr: 0x40, W: []byte{0x01}, R: []byte{0x04}},
	{Addr: 0x40, W: []byte{0x00}, R: []byte{0x11}},
	{Addr: 0x40, W: []byte{0xFD, 0x10}},
	{Addr: 0x40, W: []byte{0x00, 0x10}},
	{Addr: 0x40, W: []byte{0xFE, 0x79}},
	{Addr: 0x40, W: []byte{0x01, 0x04}},
	{Addr: 0x40, W: []byte{0x00, 0x20}},
	{Addr: 0x40, W: []byte{0x00, 0xA0}},
	{Addr: 0x40, W: []byte{0xFE}, R: []byte{0x79}},
	{Addr: 0x40, W: []byte{0x00}, R: []byte{0x20}},
	{Addr: 0x40, W: []byte{0x06, 0x00, 0x00, 0x33, 0x01, 0x00, 0x00, 0x00, 0x10}},
	{Addr: 0x40, W: []byte{0xFD, 0x10}},
	{Addr: 0x40, W: []byte{0x09}, R: []byte{0x10}},
	{Addr: 0x40, W: []byte{0x0D}, R: []byte{0x10}},
}

// What the driver and a Maestro say to each other.
const maestro = `
> A1
< 00 00
> 84 00 00 00 84 01 00 00 84 02 00 00 84 03 00 00 84 04 00 00 84 05 00 00
> 90 00
< 00 00
> 90 01
< 00 00
> 90 02
< 00 00
> 90 03
< 00 00
> 90 04
< 00 00
> 90 05
< 00 00
> 84 00 70 2E 84 01 20 1F 84 02 00 00 84 03 00 00 84 04 00 00 84 05 00 00 A1
< 00 00
> 84 00 00 00 84 01 00 00 84 02 00 00 84 03 00 00 84 04 00 00 84 05 00 00
> 90 00
< 00 00
> 90 01
< 00 00
> 90 02
< 00 00
> 90 03
< 00 00
> 90 04
< 00 00
> 90 05
< 00 00
`
