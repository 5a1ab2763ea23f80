package lidar

// SICKBauds are the modes that set the rate until power-off, by their rates. After power-on it is 9600.
func SICKBauds() []struct {
	Mode byte
	Rate int
} {
	return []struct {
		Mode byte
		Rate int
	}{{0x42, 9600}, {0x40, 38400}, {0x41, 19200}, {0x48, 500000}}
}
