// Package imu drives inertial sensors: Bosch's BNO055 (I2C and UART), which computes an attitude, and TDK's MPU-6050,
// MPU-9250 and ST's LSM6DSOX, which do not. Each implements drivers.Sensor.
//
// All values are in the chip's own axes, as printed on it; the calibration applies the mounting.
//
//	BNO055                         a hal "imu": attitude w x y z (chip in world, z up), rates x y z rad/s, acceleration x y z m/s²
//	MPU-6050, MPU-9250, LSM6DSOX   rates x y z rad/s, acceleration x y z m/s², field x y z T, °C; the field NaN without a magnetometer
//
// For sessions, ownership and errors see drivers/i2c; a BNO055 on its UART is the only device on the line. Open blocks
// for 30 ms to 0.7 s, Read for 1 ms on a bus of 400 kHz. drivers.AHRS computes the attitude for a chip without fusion.
//
// Acceleration is proper: at rest an axis that points up has +9.81. For each chip X_table.go has its registers and
// units, as in the datasheet, and X.go the driver.
package imu

import (
	"math"
	"slices"
)

// gravity is 1 g of the chips, m/s².
const gravity = 9.80665

// degree is one degree in rad.
const degree = math.Pi / 180

// Range is one range of a gyro, in °/s, or of an accelerometer, in g.
type Range struct {
	Full   float64
	PerLSB float64 // of one count
	Bits   byte    // in its register
}

// rangeOf is the one of ranges with a full scale.
func rangeOf(ranges []Range, full float64) (r Range, ok bool) {
	i := slices.IndexFunc(ranges, func(r Range) bool { return r.Full == full })
	if i < 0 {
		return r, false
	}
	return ranges[i], true
}

// le16 and be16 are signed registers of 16 bits at p[at].
func le16(p []byte, at int) float64 { return float64(int16(uint16(p[at]) | uint16(p[at+1])<<8)) }
func be16(p []byte, at int) float64 { return float64(int16(uint16(p[at])<<8 | uint16(p[at+1]))) }
