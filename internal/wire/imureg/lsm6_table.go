package imureg

import "time"

// Registers (ST DocID 031998, LSM6DSOX rev. 4, section 9). Words are little-endian.
const (
	LSM6WhoAmI = 0x0F // 0x6C
	LSM6Ctrl1  = 0x10 // accelerometer: rate 7..4, range 3..2
	LSM6Ctrl2  = 0x11 // gyro: rate 7..4, range 3..2
	LSM6Ctrl3  = 0x12 // bit 6 whole samples, bit 2 the pointer runs on, bit 0 reset
	LSM6Status = 0x1E // bit 2 temperature, bit 1 gyro, bit 0 accelerometer: new data
	LSM6Data   = 0x20 // temperature, rates x y z, acceleration x y z: 14 bytes
)

// Values of the registers.
const (
	LSM6ID        = 0x6C
	LSM6Whole     = 0x44 // whole samples, the pointer runs on
	LSM6Reset     = 0x01
	LSM6Rate208   = 0x50 // 208 Hz
	LSM6DataLen   = 14
	LSM6PerDegree = 256 // counts
	LSM6Zero      = 25  // °C at count 0
)

// LSM6Boot is the wait after a reset; LSM6First that for the first samples at 208 Hz.
const (
	LSM6Boot  = 10 * time.Millisecond
	LSM6First = 25 * time.Millisecond
)
