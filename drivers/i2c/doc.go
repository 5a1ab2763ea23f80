// Package i2c holds the common parts of I2C drivers: register access over periph's i2c.Bus, the kernel's buses, and the
// clock of their waits.
//
// Buses are periph's (periph.io/x/conn/v3/i2c.Bus): one verb, Tx, and its host packages and test doubles fit. Its device
// drivers are not used, but to examine our emulated chips. What they lack here:
//
//	bno055, ms5837, lsm6dsox   periph has none
//	pca9685   sleeps 100 ms twice at the start, sets a prescaler one too high (49.6 Hz for 50), cannot be set to the true
//	          oscillator, never reads back what it wrote
//	bmxx80    sleeps inside Sense on a clock that cannot be replaced; loses the sign of a negative H5
//	mpu9250   allocates and sleeps in each call, only SPI; the MPU-6050 on I2C is another chip to it
//	ads1x15   sleeps for the conversion on a clock that cannot be replaced
//	ina219    does not report that a value overflowed; its units are whole nanos, made for printing
//
// # A session
//
//	bus, err := i2c.Open("/dev/i2c-1")           shared by any number of chips and goroutines; close it last
//	sensor := imu.NewBNO055(bus, ..)             no I/O
//	sensor.Open()                                finds the chip, refuses any other at its address, configures it
//	sensor.Read(values)                          one measurement, SI units, in the order of its type
//	sensor.Close()                               the bus stays open
//
// One goroutine at a time uses a chip. Open may be called again without a Close, and is how a chip comes back. Each call says
// how long it blocks, by the Clock of its config. In a test the bus is periph's i2ctest.Playback, or sim/emulator/chip's.
//
// Errors are a *hal.Error with the bus, the address and the chip's name: of kind hal.Absent if no chip replies, another
// chip does, or it was reset: Open it again; hal.BusFault if a value is impossible, as after a glitch on the bus;
// hal.Invalid, of New, where the config asks for what it does not have. After an error values mean nothing.
//
// A chip that lost its power comes back silent or with its factory settings; every driver here notices (an error of kind
// hal.Absent), so that its poller opens it again.
package i2c
