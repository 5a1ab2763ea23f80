// Package i2c holds the common parts of I2C drivers: register access over periph's i2c.Bus, the kernel's buses, and the
// clock of their waits.
//
// Buses are periph's (periph.io/x/conn/v3/i2c.Bus): one verb, Tx, and its host packages and test doubles fit. Its
// device drivers are used only to test our emulated chips. Their limitations:
//
//	bno055, ms5837, lsm6dsox   periph has none
//	pca9685   sleeps 100 ms twice at the start, sets a prescaler one too high (49.6 Hz for 50), cannot be set to the true
//	          oscillator, never reads its writes back
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
// One goroutine at a time uses a chip. Open may be called again without a Close, to recover a lost chip. The comment of
// each call gives its blocking time, by the Clock of its config. In a test the bus is periph's i2ctest.Playback, or
// sim/emulator/chip's.
//
// Errors are a *hal.Error with the bus, the address and the chip's name. hal.Absent: no chip replies, another chip
// replies, or it was reset: Open it again. hal.BusFault: an impossible value, as after a glitch on the bus.
// hal.Invalid, of New: an unsupported config. After an error values are undefined.
//
// After a power loss a chip does not reply or has its factory settings. Every driver here detects that (an error of
// kind hal.Absent), so that its poller opens it again.
package i2c
