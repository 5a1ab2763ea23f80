package imureg

import (
	"math"
	"time"
)

// Registers of page 0 (Bosch BST-BNO055-DS000, rev. 1.8, section 4.3). Words are little-endian.
const (
	BNO055ChipID      = 0x00 // 0xA0
	BNO055Page        = 0x07
	BNO055Acc         = 0x08 // x y z, int16, 1 m/s² = 100
	BNO055Mag         = 0x0E // x y z, 1 µT = 16
	BNO055Gyro        = 0x14 // x y z, 1 °/s = 16
	BNO055Quaternion  = 0x20 // w x y z, 1 = 16384
	BNO055Temperature = 0x34 // int8, °C
	BNO055Calibration = 0x35 // system, gyro, accelerometer, magnetometer: 2 bits each, 3 = done
	BNO055Status      = 0x39 // 5 = fusion runs
	BNO055Units       = 0x3B
	BNO055Mode        = 0x3D
	BNO055Power       = 0x3E
	BNO055Trigger     = 0x3F // bit 5: reset
	BNO055AxisMap     = 0x41
	BNO055AxisSign    = 0x42
	BNO055Offsets     = 0x55 // 22 bytes to 0x6A: offsets of accelerometer, magnetometer, gyro, and two radii
)

// Values of the registers.
const (
	BNO055ID         = 0xA0
	BNO055ModeConfig = 0x00
	BNO055ModeIMU    = 0x08 // gyro and accelerometer: heading drifts, no iron disturbs it
	BNO055ModeNDOF   = 0x0C // and magnetometer: heading to the north
	BNO055Running    = 5    // of the status
	BNO055SI         = 0x00 // units: m/s², °/s, degrees, °C; Windows' order of angles
	BNO055OffsetSize = 22
)

// Times of the chip (tables 0-2 and 3-6).
const (
	BNO055Boot     = 650 * time.Millisecond // from power-on; 400 ms by the table, more on real chips
	BNO055ToConfig = 19 * time.Millisecond
	BNO055ToFusion = 7 * time.Millisecond
	BNO055Period   = 10 * time.Millisecond // of the fusion
)

// The scales of the units above: one count.
const (
	BNO055AccScale  = 0.01
	BNO055MagScale  = 1e-6 / 16
	BNO055GyroScale = math.Pi / 180 / 16
	BNO055QuatScale = 1.0 / 16384
)

// The serial protocol (section 4.7): 115200 8N1.
//
//	read   AA 01 register length      ->  BB length data..   or  EE status
//	write  AA 00 register length data ->  EE status
const (
	BNO055Start       = 0xAA
	BNO055Reply       = 0xBB
	BNO055Answer      = 0xEE
	BNO055Wrote       = 0x01 // the status of a write that succeeded
	BNO055Overrun     = 0x07 // the chip was busy inside: ask again
	BNO055MaxTransfer = 128  // bytes of one read or write
)
