package imu

import "time"

// The two addresses, by the SDO pin.
const (
	LSM6Address    = 0x6A
	LSM6AddressAlt = 0x6B
)

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

// LSM6GyroRanges are those of table 2: 4.375 to 70 mdps a count.
func LSM6GyroRanges() []Range {
	return []Range{{125, 0.004375, 0x02}, {250, 0.00875, 0x00}, {500, 0.0175, 0x04}, {1000, 0.035, 0x08},
		{2000, 0.070, 0x0C}}
}

// LSM6AccRanges are those of the accelerometer: 0.061 to 0.488 mg a count, of an LSM6DSO32 twice that (DocID DS12814).
func LSM6AccRanges(dso32 bool) []Range {
	if dso32 {
		return []Range{{4, 0.000122, 0x00}, {32, 0.000976, 0x04}, {8, 0.000244, 0x08}, {16, 0.000488, 0x0C}}
	}
	return []Range{{2, 0.000061, 0x00}, {16, 0.000488, 0x04}, {4, 0.000122, 0x08}, {8, 0.000244, 0x0C}}
}
