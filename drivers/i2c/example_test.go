package i2c_test

import (
	"fmt"
	"log"

	"periph.io/x/conn/v3/i2c/i2ctest"

	"github.com/halyard-robotics/halyard/drivers/i2c"
	"github.com/halyard-robotics/halyard/drivers/imu"
	"github.com/halyard-robotics/halyard/drivers/pwm"
)

// One bus, two of its chips, each with a goroutine of its own if need be: a transaction is whole.
func ExampleOpen() {
	bus, err := i2c.Open("/dev/i2c-1")
	if err != nil {
		log.Fatal(err) // hal.KindOf: hal.Absent, hal.Busy (no access: group i2c), hal.Invalid
	}
	defer bus.Close()
	sensor := imu.NewBNO055(bus, imu.BNO055Config{})
	board, err := pwm.NewPCA9685(bus, pwm.PCA9685Config{Channels: 16})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sensor.Open(), board.Open())
}

// A chip that no package here drives, by its registers: the identity of an LPS22HB.
func ExampleNewChip() {
	bus := &i2ctest.Playback{Ops: []i2ctest.IO{{Addr: 0x5C, W: []byte{0x0F}, R: []byte{0xB1}}}, DontPanic: true}
	chip := i2c.NewChip(bus, 0x5C, "lps22hb")
	id, err := chip.Expect(0x0F, 0xB1, 0xB3)
	fmt.Printf("%02X %v\n", id, err)
	// Output: B1 <nil>
}
