package imu

import "time"

// The two addresses, by the AD0 pin.
const (
	MPUAddress    = 0x68
	MPUAddressAlt = 0x69
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

// MPUModel is one chip of the family: same registers, another thermometer, and a magnetometer or none.
type MPUModel struct {
	Name        string
	WhoAmI      byte
	Power       byte    // of MPUPower after a reset
	PerCelsius  float64 // counts
	ZeroCelsius float64 // °C at count 0
	Compass     bool    // an AK8963 inside
	Clones      []byte  // other values of MPUWhoAmI of chips that are sold as this one and have its registers
}

// MPUModels are the supported chips, by their value of MPUWhoAmI. Boards sold with a 6050 also have a 6500, an
// ICM-20689 (0x98) or chips of no known maker (ElectronicCats/mpu6050#21, kriswiner/MPU9250#378 and #486); a 9250
// without its magnetometer is refused.
func MPUModels() []MPUModel {
	return []MPUModel{
		{"mpu-6050", 0x68, 0x40, 340, 36.53, false, []byte{0x70, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x98}},
		{"mpu-6500", 0x70, 0x01, 333.87, 21, false, nil},
		{"mpu-9250", 0x71, 0x01, 333.87, 21, true, nil},
		{"mpu-9255", 0x73, 0x01, 333.87, 21, true, nil},
	}
}

// MPUGyroRanges and MPUAccRanges are in the order of the registers' values.
func MPUGyroRanges() []Range {
	return []Range{{250, 1 / 131.0, 0 << 3}, {500, 1 / 65.5, 1 << 3}, {1000, 1 / 32.8, 2 << 3},
		{2000, 1 / 16.4, 3 << 3}}
}

// MPUAccRanges are those of the accelerometer, in g.
func MPUAccRanges() []Range {
	return []Range{{2, 1 / 16384.0, 0 << 3}, {4, 1 / 8192.0, 1 << 3}, {8, 1 / 4096.0, 2 << 3}, {16, 1 / 2048.0, 3 << 3}}
}

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
