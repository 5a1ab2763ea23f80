// Package i2c is what the drivers of I2C chips share: a chip's registers over periph's i2c.Bus, the kernel's buses, and
// the plain clock that their waits go by.
//
// Buses are periph's (periph.io/x/conn/v3/i2c.Bus): one verb, Tx, and its host packages and test doubles fit. Its device
// drivers are not used, but to examine our emulated chips. What they lack here:
//
//	bno055, ms5837, lsm6dsox   periph has none
//	pca9685   sleeps 100 ms twice at the start, sets a prescaler one too high (49.6 Hz for 50), cannot be told the true
//	          oscillator, never reads back what it wrote
//	bmxx80    sleeps inside Sense on a clock that cannot be replaced; loses the sign of a negative H5
//	mpu9250   allocates and sleeps in each call, SPI alone; the MPU-6050 on I2C is another chip to it
//	ads1x15   sleeps for the conversion on a clock that cannot be replaced
//	ina219    does not say that a value overflowed; its units are whole nanos, made for printing
//
// A chip that lost its power comes back silent or with its factory settings; every driver here notices (an error of kind
// hal.Absent), so that whoever polls it opens it anew.
package i2c
