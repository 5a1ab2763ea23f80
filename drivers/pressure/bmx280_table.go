package pressure

// The two addresses, by the SDO pin.
const (
	BMX280Address    = 0x76
	BMX280AddressAlt = 0x77
)

// BMP280Samples are the identities of the first BMP280s (BST-BMP280-DS001 rev. 1.26, "chip_id": samples).
func BMP280Samples() []byte { return []byte{0x56, 0x57} }
