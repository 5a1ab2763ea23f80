package imu

// The two addresses, by the COM3 pin.
const (
	BNO055Address    = 0x28
	BNO055AddressAlt = 0x29
)

// BNO055Baud is the rate of its serial line.
const BNO055Baud = 115200

// bno055Statuses are the statuses after EE, by number.
func bno055Statuses() []string {
	return []string{"", "write success", "read fail", "write fail", "register map: invalid address",
		"register map: write disabled",
		"wrong start byte", "bus overrun", "max length", "min length", "receive character timeout"}
}
