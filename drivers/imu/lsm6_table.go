package imu

// The two addresses, by the SDO pin.
const (
	LSM6Address    = 0x6A
	LSM6AddressAlt = 0x6B
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
