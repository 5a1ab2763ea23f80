package pressurereg

// Commands (TE Connectivity, MS5837-30BA datasheet rev. C2, "Commands"). All are single bytes.
const (
	MS5837Reset     = 0x1E // loads the PROM; wait 10 ms
	MS5837Read      = 0x00 // 3 bytes: the last conversion; 0 if absent
	MS5837ConvertD1 = 0x40 // pressure; plus twice the index of the oversampling
	MS5837ConvertD2 = 0x50 // temperature
	MS5837PROM      = 0xA0 // plus twice the index of a word of 0..6, 2 bytes
	MS5837Words     = 7    // CRC, C1..C6
)

// MS5837CRC is the check of a PROM, 0..15, which word 0 should have in its upper bits (AN520). It does not look at
// them.
func MS5837CRC(prom [MS5837Words]uint16) uint16 {
	words := [8]uint16{}
	copy(words[:], prom[:])
	words[0] &= 0x0FFF
	return Crc4(words)
}

// crc4 is AN520's, over eight words, the high byte of each first.
func Crc4(words [8]uint16) uint16 {
	r := uint16(0)
	for _, w := range words {
		for _, b := range [2]uint16{w >> 8, w & 0xFF} {
			r ^= b
			for range 8 {
				if r&0x8000 != 0 {
					r = r<<1 ^ 0x3000
				} else {
					r <<= 1
				}
			}
		}
	}
	return r >> 12
}
