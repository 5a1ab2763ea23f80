package imu

// The two addresses, by the AD0 pin.
const (
	MPUAddress    = 0x68
	MPUAddressAlt = 0x69
)

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
