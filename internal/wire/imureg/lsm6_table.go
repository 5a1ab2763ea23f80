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

// Registers (InvenSense RM-MPU-6000A-00 rev. 4.2 and RM-MPU-9250A-00 rev. 1.6). Words are big-endian.
const (
	MPURate        = 0x19 // 1 kHz / (1 + value)
	MPUGyroConfig  = 0x1B // bits 4..3: range
	MPUAccConfig   = 0x1C
	MPUAccConfig2  = 0x1D // MPU-9250: low-pass of the accelerometer
	MPUIntPin      = 0x37 // bit 1: the magnetometer is on the bus itself
	MPUData        = 0x3B // acceleration x y z, temperature, rates x y z: 14 bytes
	MPUUserControl = 0x6A
	MPUPower       = 0x6B // bit 7 reset, bit 6 sleep, bits 2..0 clock; 0x40 at power-on (6050), 0x01 (9250)
	MPUWhoAmI      = 0x75
)

// Values of the registers.
const (
	MPUReset   = 0x80
	MPUWake    = 0x01 // clock of the gyro's PLL
	MPUBypass  = 0x02
	MPUNoI2C   = 0x10 // of MPUUserControl: only SPI (RM-MPU-9250A 4.34)
	MPULowPass = 0x03 // 41..44 Hz, and a rate of 1 kHz to divide
	MPUDataLen = 14
)

// MPUMaxSPIClock is the clock that all registers take on SPI, Hz.
const MPUMaxSPIClock = 1_000_000

// MPUBoot is the wait after a reset and after waking.
const MPUBoot = 100 * time.Millisecond

// The AK8963 (AKM MS1356-E-02), at an address of its own once MPUBypass is set. Words are little-endian. Its axes: x is
// the MPU's y, y its x, z its -z.
const (
	AK8963Address  = 0x0C
	AK8963ID       = 0x00 // 0x48
	AK8963WhoAmI   = 0x48
	AK8963Status1  = 0x02 // bit 0: data ready
	AK8963Data     = 0x03 // x y z
	AK8963Status2  = 0x09 // bit 4: samples of 16 bits, bit 3: overflow; reading it frees the data
	AK8963Control  = 0x0A
	AK8963Run100Hz = 0x16 // 16 bits, continuous mode 2
	AK8963Fuse     = 0x1F // fuse ROM access
	AK8963Adjust   = 0x10 // x y z: field = raw · ((adjust-128)/256 + 1)
	AK8963Scale    = 0.15e-6
	AK8963Overflow = 0x08
	AK8963Whole    = 0x10
)
